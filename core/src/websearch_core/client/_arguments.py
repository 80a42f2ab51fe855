"""Check the arguments of a call to `WebSearch`."""

from __future__ import annotations
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from .._text.suggestion import check_names
from .._text.urls import is_web_url, serialize
from .._text.vocabulary import OTHER_NAMES
from ..errors import ConfigurationError, InvalidOption, WebSearchError
from ..models import SearchOptions, SearchQuery, Unsupported
from ..settings._names import find_aliases, find_home, find_line
from ._signature import WebSearchOptions

# characters of each page that a search reads, unless the call says otherwise
PASSAGE_LENGTH = 1_500
_KNOWN = ("provider", *WebSearchOptions.__annotations__)
# The methods of other clients, and what to write instead.
METHODS: Mapping[str, str] = MappingProxyType(
    dict.fromkeys(
        ["answer", "get_search_context", "invoke", "qna_search", "raw_results", "results", "search_and_contents",
         "text", "web_search"], "web.search(query, limit=5).results",
    )
    | dict.fromkeys(["fetch", "get", "load", "open_page", "scrape", "scrape_url"], "web.read(url).content")
    | dict.fromkeys(["batch_scrape", "contents", "extract", "get_contents", "load_data"], "web.read_many(urls)")
    | {"crawl_url": "web.crawl(url)", "images": "web.search(query, images=True).images", "map_url": "web.map(url)",
       "news": 'web.search(query, topic="news").results'}
)  # fmt: skip
_PERIOD = {"time_range", "after", "before"}  # one of them replaces the others


def make_query(
    query: str | SearchQuery,
    options: SearchOptions,
    unsupported: Unsupported | None,
    usual: Mapping[str, Any],
) -> SearchQuery:
    """Return the `SearchQuery` that the arguments of a search mean, with the *usual*
    options where they are silent.
    """
    given: dict[str, Any]
    if isinstance(query, SearchQuery):
        if options:
            raise InvalidOption("give a SearchQuery or options, not both")
        if unsupported is None and not usual:
            return query
        given = {name: getattr(query, name) for name in query.model_fields_set}
        text: str = given.pop("text")
    else:
        if not isinstance(query, str):
            raise InvalidOption(f"query: must be text, not {type(query).__name__}")
        if not query.strip():
            raise InvalidOption("query: it is empty; give the words to search for")
        check_placed(options, {*SearchOptions.__annotations__, "read_top"})
        text, given = (
            query,
            {name: value for name, value in options.items() if value is not None},
        )
    if usual:
        replaced = given.keys() | (_PERIOD if given.keys() & _PERIOD else set())
        given |= {name: value for name, value in usual.items() if name not in replaced}
    if unsupported:
        given["unsupported"] = unsupported
    return SearchQuery.of(text, **given)


def check_arguments(
    given: Mapping[str, Any],
    known: Collection[str] = _KNOWN,
    find_home: Callable[[str], str] = find_home,
) -> None:
    """Check the names of the arguments of a `WebSearch`, or of a class that takes them,
    against the *known* ones.

    *find_home* returns which of them an option of a search or of a page belongs to. The
    `ConfigurationError` says what to write for a name that is known elsewhere, and
    never shows a value, which may be a key: ``api_ky="..."``.
    """
    for name in given:
        if name not in known and (
            line := find_line(
                name, known, asked=given.get("provider"), find_home=find_home
            )
        ):
            raise ConfigurationError(f"{name}: write {line}")
    check_names(given, known, ConfigurationError, find_aliases(known))


def check_placed(options: Iterable[str], known: Container[str]) -> None:
    """Raise `InvalidOption` if one of *options* is not *known*, but is one of the whole
    `WebSearch`.
    """
    for name in [name for name in options if name not in known]:
        if (ours := OTHER_NAMES.get(name, name)) in known:
            raise InvalidOption(f"{name}: write {ours}=...")
        if line := find_line(name, _KNOWN):
            raise InvalidOption(
                f"{name}: not an option of a call; give it to WebSearch({line})"
            )


def check_number(
    name: str, value: Any, least: int, error: type[WebSearchError] = ConfigurationError
) -> int:
    """Return *value*, the argument *name*; raise an *error* if it is not a whole number
    of at least *least*.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise error(f"{name}: must be a whole number of at least {least}")
    return value


def check_urls(urls: Any, *kinds: type) -> Any:
    """Return *urls*; raise `InvalidOption` for a single URL, whose characters would be
    taken for URLs.

    *kinds* are those of iterables that will do besides the blocking one.
    """
    return _check_list("urls", "URLs", urls, "to read one page, use read", kinds)


def check_queries(queries: Any, *kinds: type) -> Any:
    """Return *queries*; raise `InvalidOption` for a single one."""
    return _check_list(
        "queries", "queries", queries, "to search for one, use search", kinds
    )


def _check_list(
    name: str, what: str, items: Any, use: str, kinds: tuple[type, ...]
) -> Any:
    if isinstance(items, str | SearchQuery):
        raise InvalidOption(f"{name}: must be a list of {what}; {use}")
    if not isinstance(items, (Iterable, *kinds)):
        raise InvalidOption(
            f"{name}: must be a list of {what}, not {type(items).__name__}"
        )
    return items


def strip_fragment(url: str) -> str:
    """Return *url* without its fragment, for services; the browser here gets it as
    `WantedContent.route`.
    """
    if not isinstance(url, str):
        raise InvalidOption(f"url: must be text, not {type(url).__name__}")
    target, mark, _ = url.partition("#")
    if mark and is_web_url(target):
        serialize(url)  # check the fragment too, since `Page.url` still shows it
    return target
