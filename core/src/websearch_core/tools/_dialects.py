"""What models send, in the names and the shapes that the arguments have here.

A model knows the tools of other libraries, too, and wraps, quotes or abbreviates what
it sends. What has one meaning is understood, in every framework alike: a refusal costs
a turn, and small models repeat what was refused.
"""

from __future__ import annotations
import ast
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from .._text.quantity import is_whole_number
from .._text.urls import find_urls
from .._text.vocabulary import OTHER_NAMES, parse_time_range

Notes: TypeAlias = list[str]  # what the model should know about its arguments
Reader: TypeAlias = Callable[[Any, Notes], Any]

_MAX_JSON = 100_000  # characters of arguments in one text
_MAX_SHORT = 200  # characters of what is not a text
_MAX_WRAPS = 2  # how often a value or all arguments may be wrapped
# What models call an argument, besides what developers call it.
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "query": "q queries question input text prompt term keyword keywords "
        "search_query search_term search_terms search_string search_text query_text",
        "queries": "query q questions search_queries query_list",
        "url": "urls link links href uri address page_url page_link "
        "web_page website site source source_id id citation number input",
        "limit": "n size number max_items max_count page_size num_of_results "
        "number_of_results result_count results_count results_limit",
        "allowed_domains": "domain domains site sites website websites "
        "include_domain include_sites included_domains allowed_sites domain_filter "
        "search_domain_filter",
        "blocked_domains": "exclude_domain excluded_domains exclude_sites "
        "blocked_sites disallowed_domains",
        "time_range": "time recency period timeframe time_frame time_period "
        "date_range date_filter recency_filter search_recency_filter time_filter "
        "date_restrict tbs",
        "max_length": "length max_chars max_characters max_content_length char_limit",
        "offset": "start start_index start_offset position cursor",
        "find": "phrase pattern search_for",
        "contains": "filter pattern query search words keywords path",
        "outline": "headings toc table_of_contents",
        "conversation": "conversation_id",
    }
)
# How models write that they leave an argument out.
_NOTHING = frozenset(
    "null none nil undefined n/a any anything anywhere anytime unlimited".split()
) | {"", "*", "{}", "[]"}
# Instead of a number, of a time, of domains.
_USUAL = frozenset({"default", "auto", "automatic"})
_ALWAYS = frozenset({"all time", "alltime", "all_time", "any time", "any_time", "ever"})
_NO_DOMAINS = _NOTHING | _USUAL | {"all", "everywhere", "or", "and"}
_BETWEEN_DOMAINS = re.compile("[,;|]")
_ADDRESS = re.compile("[/:]")
_QUOTES = "\"'`<>()[]{}"
_OPERATOR = re.compile(r"\A(?:site|domain|host):", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?", re.ASCII)
_PERIOD = re.compile(
    r"(?:qdr:|p(?=[dwmy]\Z))?(?:(?:the|within|in|this|past|last|previous)[ _-]*)*"
    r"(?P<count>\d{1,4}|an?|one)?[ _-]*"
    r"(?P<unit>h|hrs?|hours?|d|days?|w|wks?|weeks?|m|mo|months?|y|yrs?|years?|today)"
    r"(?:[ _-]ago)?",
    re.ASCII,
)
# by the first letter of the unit; t: today
_DAYS = {"h": 1 / 24, "d": 1, "t": 1, "w": 7, "m": 31, "y": 366}
_RANGES = {"day": 1, "week": 7, "month": 31, "year": 366}
# of days that are one of the ranges
_WHOLE = frozenset({1, 7, 28, 30, 31, 365, 366})
_UNIT_FIRST = re.compile(r"([dwmy])(\d{1,3})", re.ASCII)  # as Google has it: m6
_LINK = re.compile(r"!?\[[^\]\n]*\]\(\s*(\S+?)\s*\)")
_PAIRS = {"<": ">", '"': '"', "'": "'", "`": "`", "(": ")", "[": "]", "{": "}"}
# without a scheme, with a path or "www."
_BARE = re.compile(
    r"(?=www\.|[^/]+/)(?:[\w-]{1,63}\.){1,9}[^\W\d_]{2,63}(?::\d{1,5})?(?:[/?#]\S*)?",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?:[\w-]{1,63}\.){1,9}[^\W\d_]{2,63}(?::\d{1,5})?")
_BEFORE_URL = re.compile(
    r"(?<![ \t\r\n<\"'`(\[])[ \t\r\n<\"'`(\[]++(?=https?://)", re.IGNORECASE
)
_BLANKS = " \t\r\n"  # and no control characters, which a URL may not have
_SOURCE = re.compile(
    r"(?:source|result|page|citation|id|number)?[ #:]*[\[(【]*(\d{1,6})[\])】.]*",
    re.IGNORECASE | re.ASCII,
)


class Refusal(ValueError):
    """What a model sent has no single meaning; the text says so to the model."""


def is_left_out(value: object) -> bool:
    """Return whether a model that sent *value* meant to leave the argument out.

    That is nothing, an empty text or list, or a word such as ``null`` or ``any``.
    """
    if value is None:
        return True
    if isinstance(value, str):
        word = value.strip().lower()
        return word in _NOTHING
    return isinstance(value, list | tuple | dict) and not value


class Names(NamedTuple):
    """The names of the arguments of a tool."""

    main: str  # of the argument that is always sent
    own: frozenset[str]
    injected: frozenset[str]  # of those that a framework adds
    # by all that models call them, in small letters without anything between them
    by_word: Mapping[str, str]

    @classmethod
    def of(cls, main: str, own: Iterable[str], injected: frozenset[str]) -> Names:
        """Return the names of the arguments that are called *own* here."""
        names = list(dict.fromkeys(own))
        by_word = {_squeeze(name): name for name in names}
        for other, name in OTHER_NAMES.items():
            if name in names:
                by_word.setdefault(_squeeze(other), name)
        for name in names:
            for other in _WORDS.get(name, "").split():
                by_word.setdefault(_squeeze(other), name)
        return cls(main, frozenset(names), injected, by_word)

    def open(self, sent: Any) -> Any:
        """Return the arguments that a model *sent*, by our names.

        All of them may be wrapped: they are one text in JSON, or are inside of another
        argument.
        """
        arguments = _parse_object(sent)
        if arguments is None:
            return sent
        arguments = self._rename(arguments)
        for _ in range(_MAX_WRAPS):
            wrapper = self._find_wrapper(arguments)
            if wrapper is None:
                break
            inner = _parse_object(arguments.pop(wrapper)) or {}
            arguments = {**self._rename(inner), **arguments}
        return arguments

    def _rename(self, arguments: Mapping[Any, Any]) -> dict[str, Any]:
        """Return *arguments* by our names; one that has two has the value of ours."""
        renamed: dict[str, Any] = {}
        others: list[Any] = []
        for name, value in arguments.items():
            if name not in self.own:
                others.append(name)
            elif value is not None:
                renamed[name] = value
        for word in others:
            value = arguments[word]
            if value is None:
                continue
            name = self.by_word.get(_squeeze(str(word)), str(word))
            if is_left_out(renamed.get(name)):
                renamed[name] = value
            elif name == self.main and not is_left_out(value):
                raise Refusal(f"{word}: not an argument; write {name}")
        return renamed

    def _find_wrapper(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the name of the argument that has all the others inside."""
        wrapper = self.main
        if wrapper not in arguments:
            unknown = arguments.keys() - self.own - self.injected
            if len(unknown) != 1:
                return None
            wrapper = unknown.pop()
        return wrapper if self._has_main(arguments[wrapper]) else None

    def _has_main(self, value: Any, depth: int = 1) -> bool:
        """Return whether *value* has the main argument inside, at most so deep."""
        inner = _parse_object(value)
        if inner is None:
            return False
        words = [_squeeze(str(name)) for name in inner]
        if any(self.by_word.get(word) == self.main for word in words):
            return True
        if len(inner) != 1 or not depth:
            return False
        (only_value,) = inner.values()
        return self._has_main(only_value, depth - 1)


def _squeeze(name: str) -> str:
    return name.replace("_", "").replace("-", "").replace(" ", "").lower()


def _parse_object(value: Any) -> Mapping[Any, Any] | None:
    """Return *value* if it is a mapping, or the one that it is as JSON."""
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, str) or len(value) > _MAX_JSON:
        return None
    if not value.lstrip().startswith("{"):
        return None
    try:
        parsed = json.loads(value)
    except (ValueError, RecursionError):
        return None
    return parsed if isinstance(parsed, Mapping) else None


def _unwrap(value: Any) -> Any:
    """Return what is inside of a list of one, or of an object with one value, beside
    which the object may name its type.
    """
    if isinstance(value, str):
        return value
    for _ in range(_MAX_WRAPS):
        items = [value]
        if isinstance(value, list | tuple):
            items = list(value)
        elif isinstance(value, Mapping):
            items = [item for name, item in value.items() if name != "type"]
        if len(items) != 1:
            return value
        value = items[0]
    return value


def read_text(value: Any, _: Notes) -> Any:
    """Understand a text that is wrapped, and a number."""
    if isinstance(value, str):
        return value
    value = _unwrap(value)
    if is_whole_number(value) or isinstance(value, float):
        return str(value)
    return value


def read_query(value: Any, notes: Notes) -> Any:
    """Understand a query as a text; several are an error."""
    if isinstance(value, list | tuple) and len(value) > 1:
        raise Refusal("query: one text a call; call the tool once for each")
    return read_text(value, notes)


def find_sites(query: Any) -> list[str]:
    """Return the domains of a query that has nothing but ``site:`` and domains."""
    if not isinstance(query, str) or "site:" not in query[:_MAX_SHORT].lower():
        return []
    domains: list[str] = []
    for word in query.split():
        if word.lower() in {"or", "and"}:
            continue
        # for a part of a site, there is no filter
        if not word.lower().startswith("site:") or "/" in word:
            return []
        domains.extend(_list_domains(word))
    return domains


def read_queries(value: Any, notes: Notes) -> Any:
    """Understand one query, and a list that was sent as text; leave out ``null`` and
    empty ones.

    A query may begin with a bracket, as in ``[Solved] disk is full``.
    """
    if isinstance(value, Mapping):
        value = _unwrap(value)
    if isinstance(value, str):
        value = _parse_list(value) or [value]
    if not isinstance(value, list | tuple):
        value = [value]
    queries = [read_text(item, notes) for item in value]
    return [query for query in queries if not _is_blank(query)]


def _is_blank(query: Any) -> bool:
    return query is None or not str(query).strip()


def read_number(value: Any, _: Notes) -> Any:
    """Understand a number in a text, such as ``5 results``, if there is only one."""
    if is_whole_number(value):
        return value
    value = _unwrap(value)
    if isinstance(value, str):
        numbers: list[str] = []
        if len(value) <= _MAX_SHORT:
            numbers = _NUMBER.findall(value.replace(",", "").replace("_", ""))
        if len(numbers) != 1:
            return None if value.strip().lower() in _USUAL else value
        value = float(numbers[0])
    if isinstance(value, float) and math.isfinite(value):
        return int(value)
    return value


def read_truth(value: Any, _: Notes) -> Any:
    """Understand true or false that is wrapped."""
    return _unwrap(value)


def read_domains(value: Any, _: Notes) -> Any:
    """Understand domains in one text, their URLs and ``site:``; leave out what names no
    domain, such as ``anywhere``.
    """
    if isinstance(value, Mapping):
        value = _unwrap(value)
    if isinstance(value, str):
        value = _parse_list(value) or [value]
    if not isinstance(value, list | tuple):
        return value
    domains: list[Any] = []
    for item in value:
        name = _unwrap(item)
        if name is None:
            continue
        names = [name]
        if isinstance(name, str):
            names = list(_list_domains(name))
        domains.extend(names)
    return domains


def _list_domains(text: str) -> Iterator[str]:
    """Yield the domains in *text*, with what follows the domain of a URL."""
    for part in _BETWEEN_DOMAINS.split(text):
        words = [word.strip(_QUOTES) for word in part.split()]
        names = [word for word in words if word.lower() not in _NO_DOMAINS]
        if len(names) > 1 and not all("." in name for name in names):
            names = [part]  # an error says that it is no domain
        for name in names:
            yield _shorten_url(name)


def _shorten_url(name: str) -> str:
    """Return a URL without its scheme and its port, a domain without ``site:``."""
    name = _OPERATOR.sub("", name).strip(_QUOTES)
    if len(name) > _MAX_SHORT or _ADDRESS.search(name) is None:
        return name
    address = name if "//" in name else f"//{name}"
    try:
        parts = urlsplit(address)
        host = parts.hostname
        parts.port  # noqa: B018 - it raises what is wrong with the port
    except ValueError:
        return name
    if not host or "@" in parts.netloc:
        return name
    if parts.scheme.lower() not in {"", "http", "https"}:
        return name
    path = parts.path.strip("/*")
    return f"{host}/{path}" if path else host


def _parse_list(text: str) -> list[Any] | None:
    """Return the list that *text* is in JSON or in Python."""
    text = text.strip()
    if not text.startswith("["):
        return None
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        if isinstance(value, list):
            return value
    return None


def read_time_range(value: Any, notes: Notes) -> Any:
    """Understand words such as ``past week``, ``24h`` and ``qdr:w``, and a number of
    days: as the shortest range that has all of the time.
    """
    value = _unwrap(value)
    if is_whole_number(value):
        value = f"{value}d"
    if not isinstance(value, str) or len(value) > _MAX_SHORT:
        return value
    word = " ".join(value.lower().split())
    if word in _USUAL or word in _ALWAYS:
        return "all"
    span = parse_time_range(word)
    if span is None:
        return "all"
    if span in _RANGES:
        return span
    days = _count_days(word)
    if days is None:
        return value
    for name, length in _RANGES.items():
        if days <= length:
            if days not in _WHOLE:
                notes.append(f"time_range: {name} is the shortest that has all of it")
            return name
    return value


def _count_days(word: str) -> float | None:
    """Return how many days a period has, such as ``past 2 weeks``."""
    if word.isdecimal():
        word += "d"
    period = _PERIOD.fullmatch(_UNIT_FIRST.sub(r"\2\1", word))
    if period is None:
        return None
    days = _DAYS[period["unit"][0]]
    count = period["count"]
    if count is not None and count.isdecimal():
        days *= int(count)
    return round(days, 3)


def read_site(value: Any, notes: Notes) -> Any:
    """Understand a URL as `read_url` does, and a host alone."""
    url = read_url(value, notes)
    if isinstance(url, str) and _HOST.fullmatch(url):
        return f"https://{url}"
    return url


def read_url(value: Any, _: Notes) -> Any:
    """Understand a URL in brackets, quotes or a link, one without ``https://``, and the
    number of a source.
    """
    if isinstance(value, list | tuple) and len(value) > 1:
        raise Refusal("url: one page a call; call the tool once for each")
    value = _unwrap(value)
    if is_whole_number(value):
        return str(value)
    if not isinstance(value, str):
        return value
    text = _strip_pairs(value.strip(_BLANKS))
    source = _SOURCE.fullmatch(text)
    if source is not None:
        return f"[{source[1]}]"
    link = _LINK.fullmatch(text)
    if link is not None:
        return _strip_pairs(link[1])
    text = text.removeprefix("//")
    if _BARE.fullmatch(text):
        return f"https://{text}"
    # what has no blank before the URL belongs to it: an error says what is wrong
    if _BEFORE_URL.search(text) is None:
        return text
    urls = set(find_urls(text))
    return urls.pop() if len(urls) == 1 else text


def _strip_pairs(text: str) -> str:
    """Return *text* without quotes and brackets around all of it."""
    while len(text) > 1 and _PAIRS.get(text[0]) == text[-1]:
        if text[0] in text[1:-1] or text[-1] in text[1:-1]:
            break
        text = text[1:-1].strip(_BLANKS)
    return text
