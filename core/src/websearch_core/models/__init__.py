"""Queries, results and pages. Values: frozen, comparable, and JSON when dumped with
``mode="json"``.
"""

from __future__ import annotations
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import lru_cache
from importlib import import_module
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypedDict, Unpack

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from .._text.lists import NO_TEXTS
from .._text.problems import describe_problem
from .._text.quantity import Size, count, shorten
from .._text.suggestion import suggest_name
from .._text.vocabulary import (
    OTHER_NAMES,
    Kind,
    SafeSearch,
    TimeRange,
    Topic,
    parse_time_range,
)
from ..errors import InvalidOption
from ._data import Item, PageData
from ._domains import DomainNames
from ._outcomes import Outcome
from ._value import Value

__all__ = [
    "Image", "Item", "Outcome", "Page", "PageData", "Passage", "SafeSearch",
    "SearchOptions", "SearchQuery",
    "SearchResponse", "SearchResult", "TimeRange", "Topic", "Unsupported",
    "describe_problems",
]  # fmt: skip

Unsupported = Literal["raise", "note"]

# Fields of a query that the library itself sees to, whatever the service.
_ALWAYS_SUPPORTED = {"text", "limit", "extra", "unsupported", "max_snippet_chars"}
# by its name: it stands on these models, and is imported when one is shown
_RENDER = "websearch_core.render"
_MAX_PROBLEMS = 5  # named in one message: a model may send a list of thousands


def _drop_bool(value: Any) -> Any:
    """Return what a service charged without values that are true or false, which Python
    takes for numbers.
    """
    if isinstance(value, Mapping):
        return {
            unit: amount
            for unit, amount in value.items()
            if not isinstance(amount, bool)
        }
    return None if isinstance(value, bool) else value


_Cost = Annotated[float | None, BeforeValidator(_drop_bool)]
_Usage = Annotated[dict[str, float], BeforeValidator(_drop_bool)]


def _country(value: str) -> str:
    if not re.fullmatch(r"[A-Za-z]{2}", value):
        raise ValueError(f"{value!r} is not an ISO 3166 country code such as 'US'")
    # ISO 3166 reserves UK for the same country
    return "GB" if value.upper() == "UK" else value.upper()


def _language(value: str) -> str:
    value = value.replace("_", "-")  # as in the names of locales
    if not re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{2,8})*", value):
        raise ValueError(
            f"{value!r} is not a BCP 47 language tag such as 'en' or 'pt-BR'"
        )
    return value


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _number(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("must be a number, not true or false")  # noqa: TRY004 - for pydantic
    return value


class SearchOptions(TypedDict, total=False):
    """The fields of a `SearchQuery` beyond its text, as keyword arguments."""

    limit: int
    allowed_domains: Sequence[str]
    blocked_domains: Sequence[str]
    time_range: (
        Literal["hour", "day", "week", "month", "year", "h", "d", "w", "m", "y", "all"]
        | None
    )
    after: date | str | None
    before: date | str | None
    country: str | None
    language: str | None
    safe_search: SafeSearch | None
    topic: Topic
    images: bool
    page: int
    extra: Mapping[str, Any]
    max_snippet_chars: int | None


class SearchQuery(Value):
    """What to search for. No field is dropped silently: a provider that does not
    support one reports it.

    A field that is None has its default.

    Args:
        text: The words to look for.
        limit: Maximum number of results.
        allowed_domains: Only results from these domains and their subdomains; empty
            means anywhere. A leading ``www.`` is ignored.
        blocked_domains: No results from these domains and their subdomains.
        time_range: Only results of the last day, week, month or year (``d w m y`` and
            ``all`` are understood too), or of the last ``hour``, which few services
            know.
        after: Only results published on or after this date.
        before: Only results published on or before this date.
        country: Results for readers in this country, as an ISO 3166 code.
        language: Results in this language, as a BCP 47 tag.
        safe_search: How strictly to filter out adult content.
        topic: What kind of pages to search: ``news``, ``finance``, ``academic``
            (papers) or ``code`` searches only those.
        images: Also return images.
        page: Which page of results, from 1.
        extra: Parameters of the service itself, sent to it verbatim, beside those of
            the other fields. If several providers are asked, by their names:
            ``{"tavily": {"max_age_hours": 24}}``.
        unsupported: What to do about options that the provider does not support:
            ``raise``, or ignore them and ``note`` it in the response. None lets the
            layers decide, which raise by default.
        max_snippet_chars: Maximum characters of each snippet; by default, only texts
            cut it, to 1,000.
    """

    text: str = Field(min_length=1)
    limit: Annotated[int, BeforeValidator(_number)] = Field(default=5, ge=1)
    allowed_domains: DomainNames = NO_TEXTS
    blocked_domains: DomainNames = NO_TEXTS
    time_range: Annotated[TimeRange | None, BeforeValidator(parse_time_range)] = None
    after: date | None = None
    before: date | None = None
    country: Annotated[str, AfterValidator(_country)] | None = None
    language: Annotated[str, AfterValidator(_language)] | None = None
    safe_search: Annotated[SafeSearch | None, BeforeValidator(_lower)] = None
    topic: Annotated[Topic, BeforeValidator(_lower)] = "general"
    images: bool = False
    page: Annotated[int, BeforeValidator(_number)] = Field(default=1, ge=1)
    extra: dict[str, Any] = Field(default_factory=dict)
    unsupported: Unsupported | None = None
    max_snippet_chars: Annotated[int | None, BeforeValidator(_number)] = Field(
        default=None, ge=1
    )

    @classmethod
    def of(
        cls,
        text: str,
        *,
        unsupported: Unsupported | None = None,
        **options: Unpack[SearchOptions],
    ) -> SearchQuery:
        """Make a query, or raise `InvalidOption` with what is wrong with it."""
        try:
            return cls.model_validate(
                {"text": text, "unsupported": unsupported, **options}
            )
        except ValidationError as error:
            raise InvalidOption(
                describe_problems(error, SearchOptions.__annotations__, OTHER_NAMES)
            ) from error

    @model_validator(mode="before")
    @classmethod
    def _normalize(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        data = {name: value for name, value in data.items() if value is not None}
        text = data.get("text")
        if isinstance(text, str):
            data["text"] = text.strip()
        return data

    @model_validator(mode="after")
    def _agree(self) -> SearchQuery:
        has_dates = self.after or self.before
        if self.time_range and has_dates:
            raise ValueError("give time_range or after/before, not both")
        if not (self.after and self.before):
            return self
        if self.after > self.before:
            raise ValueError("after is later than before")
        return self

    def requested(self) -> frozenset[str]:
        """Return the names of the options that a provider has to support.

        They are the fields that differ from their defaults.
        """
        defaults = _find_defaults(type(self))
        return frozenset(
            name
            for name in self.model_fields_set - _ALWAYS_SUPPORTED
            if getattr(self, name) != defaults[name]
        )

    def without(self, *options: str) -> SearchQuery:
        """Return the same query with *options* at their defaults."""
        others = {name: value for name, value in self if name not in options}
        return SearchQuery(**others)


@lru_cache(maxsize=16)
def _find_defaults(model: type[SearchQuery]) -> dict[str, Any]:
    """Return the defaults of *model*, which may be the caller's own."""
    return {
        name: field.get_default(call_default_factory=True)
        for name, field in model.model_fields.items()
    }


class Image(Value):
    """An image that a search found.

    Args:
        url: Absolute http(s) URL of the image.
        description: Plain text: what it shows, if the service says so.
        page_url: Absolute http(s) URL of the page that it is on, if the service names
            it.
    """

    url: str
    description: str = ""
    page_url: str | None = None


class SearchResult(Value):
    """One result.

    Args:
        title: Plain text.
        url: Absolute http(s) URL (a local index may also hold ``file:`` URLs).
        snippet: Plain text: the service's extract or summary, not the page itself.
        content: Markdown: the passages of the page that answer the query, if it was
            read (``read_top``) or the service returned its text.
        author: One name, or several separated by commas, if the service states them.
        score: The service's own relevance score, if it gives one; not comparable
            between services. Of results that were fused or reranked, the score that
            decided their order.
        published: The publication date, if the service gives one that can be parsed, or
            the day that it means by ``3 days ago``; always with a time zone.
        published_text: The date in the words of the service, if they are not a date by
            themselves: ``3 days ago``.
        provider: The name of the provider that found it.
        rank: Its position in the response, from 1.
        found_by: Who found it, and at which rank, if the results of several providers
            were fused: ``("brave", 3)``.
        citation_id: The number to cite it by, as in ``[1]``: its position, or the
            number of its page in a conversation.
        raw: The service's own record of it, verbatim.
    """

    title: str
    url: str
    snippet: str = ""
    content: str | None = None
    author: str | None = None
    score: float | None = None
    published: datetime | None = None
    published_text: str = ""
    provider: str = ""
    rank: int = 0
    found_by: tuple[tuple[str, int], ...] = ()
    citation_id: int = 0
    raw: Any = Field(default=None, repr=False)

    def __repr_args__(self) -> Iterator[tuple[str, object]]:
        """Show what identifies it, in a line: its text may be long."""
        yield "title", shorten(self.title)
        yield "url", shorten(self.url)
        if self.provider:
            yield "provider", self.provider


class SearchResponse(Value):
    """What a search found. Finding nothing is an answer, with an empty ``results``.

    As a string, it is the text for a model, marked as data from the web; so is a
    `Page`. `websearch_core.render` writes it.

    Args:
        query: The text of the query.
        results: The results, most relevant first.
        provider: The name of the provider that answered.
        answer: A direct answer, if the service gives one.
        images: The images found, if the query asked for them.
        suggestions: Other queries that the service proposes.
        notes: What the caller should know about how this was found, as sentences.
        outcomes: How asking each provider ended, in order, with those that failed; of a
            response that did not come from a `WebSearch`, empty.
        request_id: The service's ID of this request, to quote to its support.
        cost: The cost in US dollars, as reported by the service, or else by its list of
            prices.
        is_cost_estimated: Whether it is by the list.
        usage: What else the service says it charged or consumed, by unit: ``{"credits":
            2}``, ``{"tokens": 812}``. Of a fused search, the units have the name of
            their provider: ``{"tavily.credits": 2}``.
        elapsed: Seconds from the call to the answer.
        raw: The service's own answer, verbatim; for several requests, that of the
            first; of a fused search, by the names of the providers.
    """

    query: str
    results: tuple[SearchResult, ...] = ()
    provider: str = ""
    answer: str | None = None
    images: tuple[Image, ...] = ()
    suggestions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    request_id: str | None = None
    cost: _Cost = None
    is_cost_estimated: bool = False
    usage: _Usage = Field(default_factory=dict)
    elapsed: float | None = None
    raw: Any = Field(default=None, repr=False)
    _is_partial: bool = PrivateAttr(default=False)

    def __repr_args__(self) -> Iterator[tuple[str, object]]:
        """Show what it holds, in a line."""
        yield "query", shorten(self.query)
        yield "results", count(self.results, "result")
        if self.provider:
            yield "provider", self.provider
        if self.images:
            yield "images", count(self.images, "image")
        if self.notes:
            yield "notes", count(self.notes, "note")

    def __str__(self) -> str:
        """Return the text for a model: frameworks show it what a function returns as a
        string.
        """
        text: str = import_module(_RENDER).search_for_model(self)
        return text

    def _repr_html_(self) -> str:
        from .._text.notebook import response_as_html

        return response_as_html(self)

    def with_notes(self, *notes: str, partial: bool = False) -> SearchResponse:
        """Return the same response with *notes* added.

        Args:
            notes: The notes, as sentences.
            partial: Whether something is missing that the next call may find, such as a
                page of results whose request failed. A cache keeps such a response only
                for a moment.
        """
        response = self.model_copy(update={"notes": (*self.notes, *notes)})
        response._is_partial = self._is_partial or partial  # noqa: SLF001 - of the same class
        return response


class Passage(Value):
    """A part of a page, selected by its content.

    Args:
        offset: Where it begins in the whole text, in characters: reading from there
            returns it and what follows.
        length: Its length in characters.
        headings: The headings above it, outermost first, without the title of the page.
        link: A URL that takes a person to its most relevant sentence, by a text
            fragment, if that is unambiguous.
    """

    offset: int
    length: int
    headings: tuple[str, ...] = ()
    link: str | None = None


class Page(Value):
    """A page as text, or a part of it: a window, the passages for a query, or the
    places of a phrase.

    Args:
        url: The requested URL.
        final_url: Its URL after redirects.
        title: Plain text.
        content: Markdown: the window that starts at ``offset``, or the ``passages``,
            with marks between them that say how much is left out.
        rest: What else a person sees on a whole page, as a reader returns it, menus
            left out: `query` and `find` search it too. The beginning of a page, as
            `WebSearch.read` returns it, has those passages of it that state something
            which ``content`` lacks, 2,000 characters at most; other parts have none.
        content_length: Characters in ``content``.
        original_length: Characters in the whole text.
        offset: Where ``content`` begins in the whole text, or where the text that
            passages were selected from begins.
        truncated: True if text is missing in or after ``content``, or the page was cut
            before it was read.
        next_offset: The ``offset`` to continue from, or for the next places of a
            phrase; None at the end, and for the passages for a query, which are
            selected from all of the text.
        passages: The parts selected for a query or a phrase; empty if nothing matches.
        outline: The main parts of the whole text, each named by the last of its
            ``headings``; with the option ``outline``, all sections.
        media_type: Such as ``text/html``.
        kind: What kind of page it is, if it says so: ``article``, ``collection`` (of
            products), ``documentation``, ``forum`` or ``product``.
        language: BCP 47 tag, if the page states one.
        author: One name, or several separated by commas, if the page states them.
        published: The publication date, if the page states one; always with a time
            zone.
        modified: The date of the last change, if the page states one; always with a
            time zone.
        description: The page's own summary.
        canonical_url: The canonical URL that the page declares, if it is on the same
            site.
        site_name: The name of the site, if the page states one.
        data: What the page states about its thing, such as the price of a product, or
            shows as a grid of things.
        links: Absolute http(s) URLs that the page links to.
        fetched_at: When it was read from its site or the service, with a time zone; of
            a page from the cache, when that was last done, or the site last said that
            the page has not changed.
        status: The HTTP status that the page answered with, if the reader knows it. One
            of 400 or above is an error.
        provider: The name of the provider that read it.
        rendered: True if our browser ran its scripts.
        files: What was asked for besides the text, by file name, such as
            ``screenshot.png``; base64 in JSON.
        citation_id: The number to cite it by, as in ``[1]``; 0 if it has none, as
            outside a conversation.
        cost: The cost in US dollars, as reported by the service, or else by its list of
            prices.
        is_cost_estimated: Whether it is by the list.
        usage: What else the service says it charged or consumed, by unit, as for
            `SearchResponse`.
        notes: What the caller should know about how this was read, as sentences.
        outcomes: How asking each reader ended, in order, as for `SearchResponse`.
    """

    url: str
    final_url: str = ""
    title: str = ""
    content: str = ""
    rest: str = Field(default="", repr=False)
    content_length: int = 0
    original_length: int = 0
    offset: int = 0
    truncated: bool = False
    next_offset: int | None = None
    passages: tuple[Passage, ...] = ()
    outline: tuple[Passage, ...] = Field(default=(), repr=False)
    media_type: str = ""
    kind: Kind | None = None
    language: str | None = None
    author: str | None = None
    published: datetime | None = None
    modified: datetime | None = None
    description: str | None = None
    canonical_url: str | None = None
    site_name: str | None = None
    data: PageData | None = Field(default=None, repr=False)
    links: tuple[str, ...] = Field(default=(), repr=False)
    fetched_at: datetime | None = None
    status: int | None = None
    provider: str = ""
    rendered: bool = False
    files: dict[str, bytes] = Field(default_factory=dict, repr=False)
    citation_id: int = 0
    cost: _Cost = None
    is_cost_estimated: bool = False
    usage: _Usage = Field(default_factory=dict)
    notes: tuple[str, ...] = ()
    outcomes: tuple[Outcome, ...] = ()

    def __repr_args__(self) -> Iterator[tuple[str, object]]:
        """Show which page it is and how much of it this is, in a line."""
        yield "url", shorten(self.final_url or self.url)
        yield "title", shorten(self.title)
        length = len(self.content)
        size = f"{self.original_length or length} characters"
        if self.truncated or self.offset:
            size = f"{self.offset}-{self.offset + length} of {size}"
        yield "content", Size(size)
        if self.provider:
            yield "provider", self.provider
        if self.notes:
            yield "notes", count(self.notes, "note")

    def __str__(self) -> str:
        """Return the text for a model, as that of a `SearchResponse`."""
        text: str = import_module(_RENDER).page_for_model(self)
        return text

    def _repr_html_(self) -> str:
        from .._text.notebook import page_as_html

        return page_as_html(self)

    def with_notes(self, *notes: str) -> Page:
        """Return the same page with *notes* added."""
        return self.model_copy(update={"notes": (*self.notes, *notes)})


def describe_problems(
    error: ValidationError,
    names: Iterable[str] = (),
    aliases: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Describe the first few problems in one line, without the values, which may be
    secret.

    Args:
        error: The error of pydantic.
        names: The right names, to suggest one for a misspelled name.
        aliases: Other names for some of them.
    """
    problems = error.errors(
        include_url=False, include_context=False, include_input=False
    )
    lines: list[str] = []
    for problem in problems[:_MAX_PROBLEMS]:
        what = describe_problem(problem)
        if problem["type"] in {"extra_forbidden", "unexpected_keyword_argument"}:
            hint = suggest_name(str(problem["loc"][-1]), names, aliases)
            what = f"not an option{hint}"
        place = ".".join(map(str, problem["loc"]))
        if place:
            what = f"{place}: {what}"
        lines.append(what)
    more = len(problems) - len(lines)
    if more:
        lines.append(f"and {more} more")
    return "; ".join(lines)
