"""Check the arguments of a call to `WebSearch`."""

from __future__ import annotations

import inspect
import ssl
from collections.abc import Callable, Collection, Container, Iterable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

from .._text.choices import OTHER_NAMES
from .._text.suggestion import check_names
from .._text.urls import is_web_url, serialize
from ..errors import ConfigurationError, InvalidOption, WebSearchError
from ..models import SearchOptions, SearchQuery, Unsupported
from ._signature import WebSearchArguments

P = ParamSpec("P")
R = TypeVar("R")


def make_query(query: str | SearchQuery, options: SearchOptions, unsupported: Unsupported | None) -> SearchQuery:
    """
    Return the `SearchQuery` that the arguments of a search stand for.

    Raises:
        InvalidOption: An option is wrong or unknown, or was given besides a `SearchQuery`.

    """
    if not isinstance(query, SearchQuery):
        check_text(query)
        check_placed(options, SearchOptions.__annotations__)
        return SearchQuery.of(query, **options, unsupported=unsupported)
    if options:
        raise InvalidOption("give a SearchQuery or options, not both")
    if unsupported is None:
        return query
    fields: dict[str, Any] = {**dict(query), "unsupported": unsupported}
    return SearchQuery.of(**fields)


def check_arguments(given: Iterable[str], known: Collection[str] = WebSearchArguments.__annotations__.keys()) -> None:
    """
    Check the names of the arguments of a `WebSearch`, or of a class that takes them.

    Raises:
        ConfigurationError: One is unknown. If it is an option of a search, the message says where it belongs.

    """
    for name in given:
        option = OTHER_NAMES.get(name, name)
        if name not in known and option in SearchOptions.__annotations__:
            ways = f'search(..., {option}=...), or search_options={{"{option}": ...}} of a tool or retriever'
            also = "; a retriever calls it k" if option == "limit" else ""
            raise ConfigurationError(f"{name}: an option of a search: {ways}{also}")
    check_names(given, known, ConfigurationError)


def named(function: Callable[P, R]) -> Callable[P, R]:
    """Make a method raise what `check_arguments` does, instead of a bare `TypeError`, for an unknown argument."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        check_arguments(kwargs)
        return function(*args, **kwargs)

    return call


def check_text(query: Any) -> None:
    """
    Check the words to search for.

    Raises:
        InvalidOption: They are empty, or not text.

    """
    if not isinstance(query, str):
        raise InvalidOption(f"query: must be text, not {type(query).__name__}")
    if not query.strip():
        raise InvalidOption("query: it is empty; give the words to search for")


def check_placed(options: Iterable[str], known: Container[str]) -> None:
    """
    Check that no option of a call is one of the whole `WebSearch`.

    Raises:
        InvalidOption: One is; the message says where it belongs.

    """
    for name in options:
        if name not in known and name in WebSearchArguments.__annotations__:
            raise InvalidOption(f"{name}: not an option of a call; give it to WebSearch({name}=...)")


def check_connection(verify: Any, client: Any, async_client: Any) -> None:
    """
    Check how a `WebSearch` is to connect, before the first request does.

    Raises:
        ConfigurationError: *verify* is not an ``SSLContext``, or a client is not of the right kind.

    """
    if verify is not None and not isinstance(verify, ssl.SSLContext):
        raise ConfigurationError("verify: must be an ssl.SSLContext; ssl.create_default_context(cafile=...) makes one")
    clients = {"http_client": (client, False, "Client"), "http_async_client": (async_client, True, "AsyncClient")}
    for name, (given, is_async, kind) in clients.items():
        send = getattr(given, "send", None)
        if given is not None and (not callable(send) or inspect.iscoroutinefunction(send) is not is_async):
            raise ConfigurationError(f"{name}: must be an httpx.{kind}, not {type(given).__name__}")


def check_number(name: str, value: Any, least: int, error: type[WebSearchError] = ConfigurationError) -> int:
    """
    Return *value*, the argument *name*.

    Raises:
        WebSearchError: An *error*, if it is not a whole number, or is less than *least*.

    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise error(f"{name}: must be a whole number of at least {least}")
    return value


def as_urls(urls: Iterable[str]) -> list[str]:
    """
    Return *urls* as a list.

    Raises:
        InvalidOption: It is one URL, whose characters would be taken for URLs, or not iterable.

    """
    if isinstance(urls, str):
        raise InvalidOption("urls: must be a list of URLs; to read one page, use read")
    if not isinstance(urls, Iterable):
        raise InvalidOption(f"urls: must be a list of URLs, not {type(urls).__name__}")
    return list(urls)


def strip_fragment(url: str) -> str:
    """
    Return *url* without its fragment, which a reading service could pass on to the scripts of the page.

    Raises:
        InvalidOption: *url* is not text.
        UnsafeURL: The fragment contains characters that are not allowed in a URL.

    """
    if not isinstance(url, str):
        raise InvalidOption(f"url: must be text, not {type(url).__name__}")
    target, mark, _ = url.partition("#")
    if mark and is_web_url(target):
        serialize(url)  # check the fragment too, since `Page.url` still shows it
    return target
