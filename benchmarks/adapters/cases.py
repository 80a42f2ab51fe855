"""Which of our cassettes each captured answer is compared with, and what an adapter
must make of it.
"""

from __future__ import annotations
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from benchmarks.adapters.shapes import Captured, Inventor

READ = "https://harbour.example/keys"
# folders whose services have other names here
PROVIDERS = {"mediawiki": "wikipedia", "searchapi_io": "searchapi"}
RETIRED = {
    "bing_retired": "the service has ended",
    "google_cse": "the service ends on 2027-01-01",
}


@dataclass(frozen=True)
class Facts:
    """Where the facts of an answer are: paths, as the service's documentation names
    them, not as the adapter does.

    ``{}`` in *link* stands for the value, if the URL is made of it.
    """

    items: str
    url: str = "url"
    title: str = "title"
    text: str = ""
    date: str = ""
    link: str = "{}"


@dataclass(frozen=True)
class Case:
    """A kind of captured answers.

    Args:
        shapes: Their names, with ``*`` for any part.
        scenario: Our cassette that they are compared with.
        facts: Where the results are; None for a page or an error.
        status: The HTTP status.
        error: The code of the error that it is.
        page: Where the facts of a page are.
        given: Values that the adapter acts on, and which a shape does not have.
        cassette: The name of the cassette that is written from it, if one is.
        skipped: Why it is not played: it is an answer of another API of the service.
        tag: How the service marks a word.
    """

    shapes: str
    scenario: str = "search"
    facts: Facts | None = None
    status: int = 200
    error: str = ""
    page: Mapping[str, str] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    cassette: str = ""
    skipped: str = ""
    tag: str = ""

    @property
    def provider(self) -> str:
        """The provider that it is played to."""
        folder = self.shapes.partition("/")[0]
        return PROVIDERS.get(folder, folder)

    @property
    def reads(self) -> bool:
        """Whether it is an answer to reading a page."""
        return self.scenario.startswith("read") or self.scenario == "anonymous_blocked"

    def invent(self, shape: Any, *, longest: int = 12_000, whole: bool = True) -> Any:
        """Return an answer of this *shape*."""
        return Inventor(self.given, longest=longest, whole=whole, tag=self.tag).make(
            shape
        )


def _jina_error(scenario: str, error: str, number: int, name: str) -> Case:
    """Return the case of an error, whose *number* begins with its HTTP status."""
    status = number // 100
    given = {"code": status, "status": number, "name": name}
    return Case(
        f"jina/*{status}*",
        scenario,
        status=status,
        error=error,
        cassette=scenario,
        given=given,
    )


_BRAVE = Facts("web.results", text="description", date="page_age")
_BRAVE_ERROR = {"type": "ErrorResponse"}
_FULL = {
    "error.meta.rate_limit": 1,
    "error.meta.rate_current": 1,
    "error.meta.quota_limit": 2000,
    "error.meta.quota_current": 15,
}
_TAVILY = Facts("results", text="content")
_SERPER = Facts("organic", url="link", text="snippet")
_WIKI = Facts("query.search", url="title", text="snippet", date="timestamp", link="")
_MARK = '<span class="searchmatch">{}</span>'
_PAPERS = {"message.items[].DOI": "10.5555/{n}"}

CASES = (
    Case(
        "brave/*_422_validation",
        "bad_request",
        status=422,
        error="bad_request",
        given={**_BRAVE_ERROR, "error.status": 422},
    ),
    Case(
        "brave/*_422_missing_q",
        "bad_request",
        status=422,
        error="bad_request",
        cassette="bad_request",
        given={
            **_BRAVE_ERROR,
            "error.status": 422,
            "error.meta.errors[].loc": ["query", "q"],
        },
    ),
    Case(
        "brave/*_422_token_invalid",
        "wrong_key",
        status=422,
        error="authentication_failed",
        cassette="wrong_key",
        given={
            **_BRAVE_ERROR,
            "error.status": 422,
            "error.code": "SUBSCRIPTION_TOKEN_INVALID",
        },
    ),
    Case(
        "brave/*_429_search_plan",
        "rate_limited",
        status=429,
        error="rate_limited",
        cassette="rate_limited",
        given={
            **_BRAVE_ERROR,
            **_FULL,
            "error.status": 429,
            "error.code": "RATE_LIMITED",
        },
    ),
    Case(
        "brave/*_429_rate_limited",
        "quota",
        status=429,
        error="quota_exhausted",
        cassette="quota",
        given={
            **_BRAVE_ERROR,
            **_FULL,
            "error.status": 429,
            "error.code": "RATE_LIMITED",
            "error.meta.quota_current": 2000,
        },
    ),
    Case(
        "brave/Hrishubh__*",
        facts=_BRAVE,
        cassette="search_with_news",
        given={"type": "search", "web.type": "search"},
    ),
    Case(
        "brave/*larallama__brave_search",
        facts=_BRAVE,
        cassette="search",
        given={"type": "search", "web.type": "search"},
    ),
    Case("brave/*", facts=_BRAVE, given={"type": "search", "web.type": "search"}),
    Case(
        "crossref/zhangyee__*",
        facts=Facts(
            "message.items",
            url="DOI",
            title="title[0]",
            text="abstract",
            date="published",
            link="https://doi.org/{}",
        ),
        given={**_PAPERS, "status": "ok", "message-type": "work-list"},
        cassette="search",
    ),
    Case(
        "exa/*_400",
        "bad_request",
        status=400,
        error="bad_request",
        given={"tag": "INVALID_REQUEST_BODY"},
        cassette="bad_request",
    ),
    Case(
        "exa/*_401",
        "wrong_key",
        status=401,
        error="authentication_failed",
        given={"tag": "INVALID_API_KEY"},
        cassette="wrong_key",
    ),
    Case("exa/lzyoook__*", skipped="a program has rearranged the results"),
    Case(
        "firecrawl/Arceus30__*",
        facts=Facts("data.web", text="description"),
        cassette="search",
    ),
    Case(
        "firecrawl/Abu-BakarYasir__*",
        "read",
        page={"content": "data.markdown", "title": "data.metadata.title"},
        cassette="read",
        given={
            "data.metadata.statusCode": 200,
            "data.metadata.url": READ,
            "data.metadata.contentType": "text/html; charset=utf-8",
            "data.metadata.language": "en",
        },
    ),
    Case(
        "hackernews/*",
        facts=Facts("hits", date="created_at"),
        cassette="search",
        given={"hits[].objectID": "4{n}"},
        tag="<em>{}</em>",
    ),
    Case(
        "jina/calebl__*",
        "read",
        page={
            "content": "data.content",
            "title": "data.title",
            "published": "data.publishedTime",
        },
        cassette="read",
        given={"code": 200, "status": 20000, "data.url": READ},
    ),
    _jina_error("anonymous_blocked", "blocked", 45102, "SecurityCompromiseError"),
    _jina_error("quota", "quota_exhausted", 40203, "InsufficientBalanceError"),
    _jina_error("read_failed", "unavailable", 42206, "AssertionFailureError"),
    Case(
        "linkup/*",
        facts=Facts("results", title="name", text="content"),
        given={"results[].type": "text"},
        cassette="search",
    ),
    Case("mediawiki/*_interwiki", facts=_WIKI, cassette="search_interwiki", tag=_MARK),
    Case("mediawiki/*_rewrittenquery", facts=_WIKI, cassette="search", tag=_MARK),
    Case(
        "mediawiki/*_timestamp",
        facts=Facts("query.search", url="title", date="timestamp", link=""),
        cassette="search_without_snippets",
    ),
    Case(
        "mediawiki/*_snippet",
        facts=Facts("query.search", url="title", text="snippet", link=""),
        tag=_MARK,
    ),
    Case("mediawiki/*", facts=_WIKI, tag=_MARK),
    Case(
        "openalex/zhangyee__*",
        facts=Facts("results", url="doi", date="publication_date"),
        cassette="search",
    ),
    Case(
        "parallel/*_cost_1772663275",
        "bad_request",
        status=422,
        error="bad_request",
        given={"type": "error"},
        cassette="bad_request",
    ),
    Case(
        "parallel/*parallel_search_results",
        "bad_request",
        status=422,
        error="bad_request",
        given={"type": "error"},
    ),
    Case(
        "parallel/*extract*",
        "read_extracts",
        page={
            "content": "results[0].excerpts[0]",
            "title": "results[0].title",
            "published": "results[0].publish_date",
        },
        given={"results[].url": READ, "warnings[].type": "warning"},
        cassette="read",
    ),
    Case(
        "parallel/*_fresh_*",
        facts=Facts("results", text="excerpts[0]", date="publish_date"),
        cassette="search",
    ),
    Case("parallel/*", facts=Facts("results", text="excerpts[0]", date="publish_date")),
    Case(
        "perplexity/*_429",
        "rate_limited",
        status=429,
        error="rate_limited",
        given={"error.code": 429},
        cassette="rate_limited",
    ),
    Case("perplexity/*", skipped="an answer of its chat API"),
    Case(
        "searchapi_io/*",
        facts=Facts("organic_results", url="link", text="snippet"),
        cassette="search",
        given={"search_metadata.status": "Success"},
    ),
    Case("searxng/*_autocomplete", skipped="an answer of its suggestions"),
    Case(
        "searxng/*_videos",
        facts=Facts("results", text="content"),
        cassette="videos",
        given={"results[].template": "videos.html"},
    ),
    Case(
        "searxng/*_news",
        facts=Facts("results", text="content"),
        cassette="news",
        given={"results[].template": "default.html"},
    ),
    Case(
        "searxng/stevezau__*",
        facts=Facts("results", text="content"),
        cassette="search",
        given={"results[].template": "default.html"},
    ),
    Case(
        "searxng/*",
        facts=Facts("results", text="content"),
        given={"results[].template": "default.html"},
    ),
    Case(
        "semanticscholar/zhangyee__*",
        facts=Facts("data", text="abstract"),
        cassette="search",
        given={"data[].year": 2024},
    ),
    Case(
        "serpapi/*",
        facts=Facts("organic_results", url="link", text="snippet"),
        given={"search_metadata.status": "Success"},
        cassette="search",
    ),
    Case("serper/iqlab*", facts=_SERPER, cassette="search_with_videos"),
    Case(
        "serper/deepset*",
        facts=_SERPER,
        cassette="search",
        given={"organic[].date": "Mar 3, 2026"},
    ),
    Case("serper/*", facts=_SERPER),
    Case("stackexchange/*", facts=Facts("items", url="link"), cassette="search"),
    Case("tavily/*what_is_the_semantic_kernel", facts=_TAVILY, cassette="everything"),
    Case("tavily/Chris7Ji__*", facts=_TAVILY, cassette="search"),
    Case("tavily/*", facts=_TAVILY),
)


@dataclass(frozen=True)
class Chain:
    """Captured exchanges that follow each other, of whose answers only headers and
    length are known.

    They are of the archive, and ask for a copy. An answer with a ``Location``
    redirects.

    Args:
        name: What the names of the exchanges have in common.
        cassette: The name of the cassette that is written from them.
        location: What a ``Location`` begins with that is not a whole URL.
        returns: How many copies are redirected to, if the redirects go round; by
            default, there is another each time.
        status: The HTTP status of the last answer, if it does not redirect.
        error: The code of the error that the call ends with.
    """

    name: str
    cassette: str
    location: str = "https://web.archive.org"
    returns: int = 0
    status: int = 200
    error: str = ""

    def find(self, shapes: Iterable[Captured]) -> list[Captured]:
        """Return the exchanges, in order."""
        return [one for one in shapes if one.name.rpartition("__")[0] == self.name]


_ARCHIVE = "wayback/edgi-govdata-archiving__wayback__test_get_memento"
CHAINS = (
    Chain(f"{_ARCHIVE}_with_redirects", "redirects"),
    Chain(f"{_ARCHIVE}_with_path_based_redirects", "path_redirects", location=""),
    Chain(
        f"{_ARCHIVE}_with_schemeless_redirects",
        "schemeless_redirects",
        location="//web.archive.org",
    ),
    Chain(f"{_ARCHIVE}_follows_historical_redirects", "many_redirects"),
    Chain(
        f"{_ARCHIVE}_raises_for_mementos_that_redirect_in_a_loop",
        "loop",
        returns=2,
        error="bad_response",
    ),
    Chain(f"{_ARCHIVE}_raises_blocked_error", "blocked", status=403, error="blocked"),
    Chain(
        f"{_ARCHIVE}_raises_no_memento_error",
        "not_found",
        status=404,
        error="page_not_found",
    ),
)


def find_case(captured: Captured) -> Case | None:
    """Return the case of a captured answer; None if it has no adapter, or only its
    headers are known.
    """
    if captured.service in RETIRED or captured.is_exchange:
        return None
    return next(case for case in CASES if fnmatchcase(captured.name, case.shapes))
