"""
Tools for writing a provider.

A provider is a frozen value; nothing is inherited. Its fields are its options, and say where each may come from::

    @provider
    class Brave:
        name: ClassVar[str] = "brave"
        options: ClassVar[frozenset[str]] = frozenset({"time_range", ...})

        api_key: Annotated[Key, Env("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")]
        base_url: BaseUrl = "https://api.search.brave.com/res/v1"

A settings file that was merely found, in a folder that anybody may have written, sets only fields with the note
`FoundFile`. `Key` and `BaseUrl` have it; they are judged together, so that no key goes where such a file says.

Any other class that meets the ports of `websearch_core.ports` is a provider too, and `from_function` makes one of
functions, blocking or async.
"""

from __future__ import annotations

import dataclasses as dc
import functools
import inspect
import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Annotated, Any, TypeAlias, TypeVar, cast, dataclass_transform, get_args, get_type_hints, overload
from urllib.parse import urlsplit

from pydantic import AfterValidator, ConfigDict, PlainValidator, SecretStr, ValidationError
from pydantic.dataclasses import dataclass

from .errors import ConfigurationError, MissingKey, ServiceError, TimedOut, Unavailable, WebSearchError
from .flow import Call, Flow
from .keys import ApiKey
from .models import Page, SearchQuery, SearchResponse, SearchResult, explain
from .ports import PageReader, Provider, SearchProvider

T = TypeVar("T")
Found: TypeAlias = SearchResponse | Iterable[SearchResult | Mapping[str, Any]]
SearchFunction: TypeAlias = Callable[[SearchQuery], Found | Awaitable[Found]]
ReadFunction: TypeAlias = Callable[[str], Page | str | Awaitable[Page | str]]


class Env:
    """Names the environment variables that a field may come from; the first one that is set wins."""

    def __init__(self, *names: str) -> None:
        self.names = names


@dc.dataclass(frozen=True)
class FoundFile:
    """
    Lets a settings file that was merely found set a field; without this note it may not.

    Whoever wrote the folder that a program runs in wrote such a file. So give the note only to a field whose every
    value is harmless: one that cannot send anything elsewhere, open the guard, name a file or a module, or cost more.

    Args:
        at_most: The highest value that such a file may set, unless a trusted source sets a limit of its own.
        replaces: The field that this one takes the place of: if a trusted source sets that, the file may not set this.

    """

    at_most: float | None = None
    replaces: str | None = None


def _base_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError("not an absolute http(s) URL without credentials, query or fragment")
    return value.rstrip("/")


class Destination:
    """Marks a field that says where keys and queries are sent."""


Key = Annotated[SecretStr, PlainValidator(ApiKey.of), FoundFile()]
BaseUrl = Annotated[str, AfterValidator(_base_url), FoundFile(), Destination()]


@dataclass_transform(frozen_default=True, kw_only_default=True)
def provider(cls: type[T]) -> type[T]:
    """
    Make *cls* a frozen, keyword-only dataclass whose values are checked.

    Constructing one with something wrong raises `ConfigurationError`, or `MissingKey` that names the variable to set.
    """
    config = ConfigDict(extra="forbid", hide_input_in_errors=True, arbitrary_types_allowed=True)
    made = dataclass(frozen=True, kw_only=True, config=config)(cls)
    checked = made.__init__

    @functools.wraps(checked)
    def init(self: Any, **values: Any) -> None:
        try:
            checked(self, **values)
        except ValidationError as error:
            raise _misconfigured(made, error) from None  # pydantic's own text may show the value
        for name, names in _key_variables(made):
            key = getattr(self, name)
            if isinstance(key, SecretStr):  # a plain SecretStr would be in every pickle
                object.__setattr__(self, name, ApiKey.hiding(key).owned(self.name, name, names))

    made.__init__ = init  # type: ignore[method-assign]
    return cast("type[T]", made)


def environment(cls: type[Any]) -> dict[str, tuple[str, ...]]:
    """
    Return the environment variables of each field of a provider that has any.

    Those are the ones that its `Env` names, and for each `BaseUrl` the provider's name with the field's, such as
    ``TAVILY_BASE_URL``, so that every service can be reached through a gateway.
    """
    if not hasattr(cls, "__dataclass_fields__"):
        return _environment_of_plain(cls)
    found = {}
    for name, notes in declared(cls).items():
        names = [variable for note in notes if isinstance(note, Env) for variable in note.names]
        if any(isinstance(note, Destination) for note in notes):
            names.append(re.sub("[^A-Z0-9]", "_", f"{cls.name}_{name}".upper()))
        if names:
            found[name] = tuple(dict.fromkeys(names))
    return found


def is_vendor(provider: Any) -> bool:
    """
    Tell whether *provider* talks to its vendor's own server: the default of ``base_url``.

    A reader asks before it hands over the URL of a page. Any other server may stand inside the network of whoever set
    it up, so the guard has to judge where the page is: ``Request(target=url, judge_target=not is_vendor(self))``.
    """
    (default,) = (field.default for field in dc.fields(provider) if field.name == "base_url")
    return _server(provider.base_url) == _server(default)


def _server(url: Any) -> tuple[str, str] | None:
    """Return scheme, host and port; None for the missing default of a provider that has no vendor."""
    parts = urlsplit(url) if isinstance(url, str) else None
    return (parts.scheme, parts.netloc.lower()) if parts else None


def declared(cls: type[Any]) -> dict[str, tuple[Any, ...]]:
    """Return the fields of a provider, each with its types and the notes on them; none for a class without fields."""
    if not dc.is_dataclass(cls):
        return {}
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: tuple(_parts(hints[field.name])) for field in dc.fields(cls) if field.init}


def is_secret(notes: tuple[Any, ...]) -> bool:
    """Tell whether a field that was `declared` with *notes* holds a key."""
    return any(isinstance(note, type) and issubclass(note, SecretStr) for note in notes)


def _environment_of_plain(cls: type[Any]) -> dict[str, tuple[str, ...]]:
    try:
        hints = get_type_hints(cls, include_extras=True)
    except (NameError, TypeError):  # it may be annotated with what is imported for type checkers only, or be no class
        return {}
    notes = {name: getattr(hint, "__metadata__", ()) for name, hint in hints.items()}
    found = {name: [note.names for note in some if isinstance(note, Env)] for name, some in notes.items()}
    return {name: sum(names, ()) for name, names in found.items() if names}


def construct(cls: type[Any], name: str, options: Mapping[str, Any]) -> Any:
    """
    Make a provider of any class.

    Args:
        cls: The class.
        name: The name it is registered under.
        options: Its options.

    Raises:
        MissingKey: An option that it needs is not among them.
        ConfigurationError: An option is wrong.

    """
    try:
        return cls(**options)
    except ConfigurationError:
        raise
    except Exception as error:  # a class that does not use `provider`, and may raise anything
        lacking = _required(cls) - set(options)
        if isinstance(error, TypeError) and lacking:
            raise missing(cls, min(lacking), name) from error
        text = str(error)
        for option, value in options.items():
            if "key" in option and isinstance(value, str) and value:
                text = text.replace(value, "[key]")
        raise ConfigurationError(f"{name}: {type(error).__name__}: {text}") from None


def missing(cls: Any, field: str, name: str | None = None) -> MissingKey:
    """Make the error for a *field* of provider *cls* that has to be given: what, which variable, which file entry."""
    name = name or cls.name
    names = environment(cls).get(field, ())
    ways = [f"set {' or '.join(names)}"] if names else []
    ways += [f"pass {field}=...", f"put {field} under [providers.{name}] in websearch.toml"]
    return MissingKey(f"{name} has no {field}: {', or '.join(ways)}", variables=names)


def _required(cls: type[Any]) -> set[str]:
    takes = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    parameters = inspect.signature(cls).parameters.values()
    return {one.name for one in parameters if one.default is inspect.Parameter.empty and one.kind in takes}


class _Function:
    def __init__(
        self,
        name: str,
        options: AbstractSet[str],
        allow: Sequence[str],
        search: SearchFunction | None,
        read: ReadFunction | None,
    ) -> None:
        from .guard import Guard

        self.name, self.options = name, frozenset(options)
        self._guard = Guard.allowing(allow)
        self._search, self._read = search, read

    def __repr__(self) -> str:
        return f"from_function({self.name!r})"

    def _ask(self, verb: str, function: Callable[[Any], Any], argument: Any) -> Flow[Any]:
        try:
            answer = yield Call(function, argument)
            if inspect.isawaitable(answer):  # a lambda, a partial or an object may hide that it is async
                answer = yield Call(_awaited, answer)
        except WebSearchError:
            raise
        except Exception as error:
            kinds = {TimeoutError: TimedOut, ConnectionError: Unavailable}
            kind = next((ours for theirs, ours in kinds.items() if isinstance(error, theirs)), ServiceError)
            # Not its words: they may hold a key.
            raise kind(f"{self.name} {verb} failed: {type(error).__name__}", provider=self.name) from error
        return answer


class _Searches(_Function):
    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search with the function."""
        from .results import found
        from .service import check_options

        check_options(query, self)
        assert self._search is not None
        answer = yield from self._ask("search", self._search, query)
        if isinstance(answer, SearchResponse):
            return answer.model_copy(update={"query": query.text, "provider": self.name})
        results: list[SearchResult] = []
        for item in _items(answer, self.name):
            results += [item] if isinstance(item, SearchResult) else found([dict(item)], self.name)
        numbered = [result.model_copy(update={"provider": self.name}) for result in results]
        return SearchResponse(query=query.text, results=tuple(numbered), provider=self.name)


class _Reads(_Function):
    def read(self, url: str, /) -> Flow[Page]:
        """Read with the function."""
        assert self._read is not None
        self._guard.check(url)
        answer = yield from self._ask("read", self._read, url)
        if isinstance(answer, str):
            answer = Page(url=url, final_url=url, content=answer, media_type="text/markdown")
        if not isinstance(answer, Page):
            raise _unusable(self.name, "read", "a Page or a text", answer)
        return answer.model_copy(update={"url": url, "provider": self.name})


class FunctionProvider(_Searches, _Reads):
    """A provider that searches and reads with functions; `from_function` makes it."""


@overload
def from_function(name: str, *, search: SearchFunction, options: AbstractSet[str] = ...) -> SearchProvider: ...
@overload
def from_function(name: str, *, read: ReadFunction, allow: Sequence[str] = ...) -> PageReader: ...
@overload
def from_function(
    name: str,
    *,
    search: SearchFunction,
    read: ReadFunction,
    options: AbstractSet[str] = ...,
    allow: Sequence[str] = ...,
) -> FunctionProvider: ...
def from_function(
    name: str,
    *,
    search: SearchFunction | None = None,
    read: ReadFunction | None = None,
    options: AbstractSet[str] = frozenset(),
    allow: Sequence[str] = (),
) -> Provider:
    """
    Make a provider of plain functions, such as calls of a vendor's SDK. Each may block, or be async.

    ::

        def search(query):
            return [{"title": hit.name, "url": hit.link, "snippet": hit.text} for hit in client.find(query.text)]

        web = WebSearch(from_function("harbour", search=search))

    A blocking function runs in a thread, so that it holds up no event loop. Past the time allowed nobody waits for it,
    but it goes on by itself. It opens its own connections, so the guard cannot see where they lead: it checks the URL
    before *read* is called, and no more. Give *read* only functions that let a service open the page.

    Args:
        name: The name of the provider.
        search: Takes a `SearchQuery` and returns a `SearchResponse`, or results: each a `SearchResult`, or a mapping
            with ``url``, ``title``, ``snippet``, ``score`` and ``published``, of which only ``url`` is needed.
        read: Takes a URL and returns a `Page`, or its text as Markdown.
        options: The fields of `SearchQuery` that *search* honours; a query with others is refused.
        allow: Networks and origins that *read* may be given although they are not public, as for `WebSearch`.

    Raises:
        ConfigurationError: There is no function, an option that no query has, or something wrong in *allow*.

    """
    if not name or not isinstance(name, str):
        raise ConfigurationError("from_function: give the provider a name")
    if not all(function is None or callable(function) for function in (search, read)):
        raise ConfigurationError(f"from_function({name!r}): search and read have to be functions")
    if search is None and read is None:
        raise ConfigurationError(f"from_function({name!r}): give search, read, or both")
    if unknown := sorted(set(options) - set(SearchQuery.model_fields)):
        raise ConfigurationError(f"from_function({name!r}): not a field of SearchQuery: {', '.join(unknown)}")
    kind = FunctionProvider if search and read else _Searches if search else _Reads
    return kind(name, options, allow, search, read)


async def _awaited(answer: Awaitable[T]) -> T:
    return await answer


def _items(answer: Any, name: str) -> list[Any]:
    if isinstance(answer, str | bytes | Mapping) or not isinstance(answer, Iterable):
        raise _unusable(name, "search", "a SearchResponse or a list of results", answer)
    items = list(answer)
    for item in items:
        if not isinstance(item, SearchResult | Mapping):
            raise _unusable(name, "search", "results", item)
    return items


def _unusable(name: str, verb: str, wanted: str, answer: Any) -> ServiceError:
    got = type(answer).__name__
    return ServiceError(f"{name} {verb} failed: the function has to return {wanted}, not {got}", provider=name)


def _misconfigured(cls: Any, error: ValidationError) -> ConfigurationError:
    problems = error.errors()
    for problem in problems:
        own = problem.get("ctx", {}).get("error")
        if isinstance(own, ConfigurationError):
            return own
    if all(problem["type"].startswith("missing") or "is empty" in problem["msg"] for problem in problems):
        return missing(cls, str(problems[0]["loc"][0]))
    return ConfigurationError(f"{cls.name}: {explain(error)}")


def _parts(hint: Any) -> Iterator[Any]:
    """Go through what a type is made of: ``Annotated[X | None, note]`` is X, None and the note."""
    yield hint
    yield from getattr(hint, "__metadata__", ())
    for part in get_args(hint):
        if part not in getattr(hint, "__metadata__", ()):
            yield from _parts(part)


@functools.cache
def _key_variables(cls: type[Any]) -> tuple[tuple[str, tuple[str, ...]], ...]:
    variables = environment(cls)
    return tuple((name, variables.get(name, ())) for name, notes in declared(cls).items() if is_secret(notes))
