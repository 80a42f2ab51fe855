"""Check the arguments of a call to `WebSearch`."""

from __future__ import annotations
from collections.abc import Callable, Collection, Container, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from .._text.quantity import is_whole_number
from .._text.suggestion import check_names
from .._text.urls import is_web_url, serialize
from .._text.vocabulary import OTHER_NAMES
from ..errors import ConfigurationError, InvalidOption, WebSearchError
from ..models import SearchOptions, SearchQuery, Unsupported
from ..settings._names import find_aliases, find_home, find_line
from ..tokens import estimate_tokens
from ._signature import WebSearchOptions

# characters of each page that a search reads, unless the call says otherwise
PASSAGE_LENGTH = 1_500
# characters of the passages for a query: as many facts as in 4,000, and nearly as many
# as in 15,000
QUERY_LENGTH = 3_000
# the options of a page that each call chooses
CALL_OPTIONS = ("offset", "query", "find", "outline")
_NAMES = ("provider", *WebSearchOptions.__annotations__)
_SEARCH_OPTIONS = frozenset(SearchOptions.__annotations__) | {"read_top"}
# The methods of other clients, and what to write instead.
_SEARCH = "web.search(query, limit=5).results"
_READ = "web.read(url).content"
_READ_MANY = "web.read_many(urls)"
METHODS: Mapping[str, str] = MappingProxyType(
    {
        "answer": _SEARCH,
        "batch_scrape": _READ_MANY,
        "contents": _READ_MANY,
        "crawl_url": "web.crawl(url)",
        "extract": _READ_MANY,
        "fetch": _READ,
        "get": _READ,
        "get_contents": _READ_MANY,
        "get_search_context": _SEARCH,
        "images": "web.search(query, images=True).images",
        "invoke": _SEARCH,
        "load": _READ,
        "load_data": _READ_MANY,
        "map_url": "web.map(url)",
        "news": 'web.search(query, topic="news").results',
        "open_page": _READ,
        "qna_search": _SEARCH,
        "raw_results": _SEARCH,
        "results": _SEARCH,
        "scrape": _READ,
        "scrape_url": _READ,
        "search_and_contents": _SEARCH,
        "text": _SEARCH,
        "web_search": _SEARCH,
    }
)
# Of these options, one replaces the others.
_PERIOD = {"time_range", "after", "before"}


def merge_options(
    options: Mapping[str, Any], *defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return *options*, and of those that they lack, the first of the *defaults*.

    This is how the options of a call, a run, a developer and the settings become one
    mapping, for searches and pages. None stands for an option that is not set.
    """
    merged: dict[str, Any] = {}
    for level in (options, *defaults):
        has_period = not _PERIOD.isdisjoint(merged)
        for name, value in level.items():
            if value is None or name in merged:
                continue
            if not has_period or name not in _PERIOD:
                merged[name] = value
    return merged


def choose_limits(
    options: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """Return ``max_length``, ``max_tokens`` and ``count`` for the text of a page.

    Limits among the *options* replace those of the *defaults*, of which a limit in
    tokens replaces one in characters. Passages for a ``query`` have a default of their
    own: a page that would fit whole is not what is wanted then.
    """
    limits: dict[str, Any] = {}
    for name in ("max_length", "max_tokens"):
        if options.get(name) is not None:
            limits[name] = options[name]
    if not limits:
        unit = "max_tokens" if defaults.get("max_tokens") else "max_length"
        limits[unit] = defaults[unit]
        if options.get("query"):
            limits["max_length"] = min(QUERY_LENGTH, defaults["max_length"])
    counter = options.get("token_counter") or defaults.get("token_counter")
    limits["count"] = counter or estimate_tokens
    return limits


def make_query(
    query: str | SearchQuery,
    options: SearchOptions,
    unsupported: Unsupported | None,
    defaults: Mapping[str, Any],
) -> SearchQuery:
    """Return the `SearchQuery` that the arguments of a search mean, with the *defaults*
    where they are silent.
    """
    own: Mapping[str, Any] = options
    if isinstance(query, SearchQuery):
        if options:
            raise InvalidOption("give a SearchQuery or options, not both")
        if unsupported is None and not defaults:
            return query
        own = {name: getattr(query, name) for name in query.model_fields_set - {"text"}}
        text = query.text
    else:
        if not isinstance(query, str):
            raise InvalidOption(f"query: must be text, not {type(query).__name__}")
        if not query.strip():
            raise InvalidOption("query: it is empty; give the words to search for")
        check_placed(options, _SEARCH_OPTIONS)
        text = query
    fields = merge_options(own, defaults)
    if unsupported:
        fields["unsupported"] = unsupported
    return SearchQuery.of(text, **fields)


def check_arguments(
    arguments: Mapping[str, Any],
    names: Collection[str] = _NAMES,
    find_home: Callable[[str], str] = find_home,
) -> None:
    """Check the names of the arguments of a `WebSearch`, or of a class that takes them,
    against its *names*.

    *find_home* returns which of these an option of a search or a page belongs to. The
    `ConfigurationError` says what to write for a name that is known elsewhere, and
    never shows a value, which may be a key: ``api_ky="..."``.
    """
    providers = arguments.get("provider")
    for name in arguments:
        if name in names:
            continue
        line = find_line(name, names, providers=providers, find_home=find_home)
        if line:
            raise ConfigurationError(f"{name}: write {line}")
    check_names(arguments, names, ConfigurationError, find_aliases(names))


def check_placed(options: Iterable[str], names: Container[str]) -> None:
    """Raise `InvalidOption` if one of *options* is none of *names*, but is one of the
    whole `WebSearch`.
    """
    for name in options:
        if name in names:
            continue
        ours = OTHER_NAMES.get(name, name)
        if ours in names:
            raise InvalidOption(f"{name}: write {ours}=...")
        line = find_line(name, _NAMES)
        if not line:
            continue
        is_argument = line.partition("=")[0].isidentifier()
        advice = f"give it to WebSearch({line})" if is_argument else f"write {line}"
        raise InvalidOption(f"{name}: not an option of this call; {advice}")


def check_number(
    name: str,
    value: Any,
    minimum: int,
    error: type[WebSearchError] = ConfigurationError,
) -> int:
    """Return *value*, the argument *name*; raise an *error* if it is not a whole number
    of at least *minimum*.
    """
    if is_whole_number(value) and value >= minimum:
        return int(value)
    raise error(f"{name}: must be a whole number of at least {minimum}")


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
    target, mark = url.partition("#")[:2]
    if mark and is_web_url(target):
        serialize(url)  # check the fragment too, since `Page.url` still shows it
    return target
