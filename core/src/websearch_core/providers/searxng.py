"""
SearXNG: a metasearch server of your own.

https://docs.searxng.org/dev/search_api.html

Needs ``base_url``, from ``SEARXNG_URL``, ``SEARXNG_BASE_URL`` or ``SEARX_HOST``. JSON is off by default and answered
with 403: add ``json`` under ``search: formats:`` in the server's ``settings.yml``. Public servers discourage programs
and allow four calls an hour. The number of results cannot be set, so a larger limit requests more pages. Domain filters
are sent as ``site:`` in the query and work as well as the engines support it. No results while engines failed is
`Unavailable`, not an empty response.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from websearch_core.provider import (
    AuthenticationError,
    BaseUrl,
    Env,
    Flow,
    FoundFile,
    Key,
    Request,
    Response,
    SearchQuery,
    SearchResponse,
    SearchResult,
    ServiceError,
    Unavailable,
    UnsupportedOption,
    as_object,
    check_options,
    decode,
    error_for,
    parse_results,
    plain_text,
    provider,
    redact,
    with_sites,
)

_SAFE_SEARCH = {"off": 0, "moderate": 1, "strict": 2}
_MAX_PAGES = 10
_ENGINES = frozenset({
    "arxiv", "ask", "baidu", "bing", "bing news", "brave", "brave.news", "crowdview", "crossref", "duckduckgo",
    "duckduckgo news", "github", "google", "google news", "google scholar", "mojeek", "mojeek news", "mwmbl", "naver",
    "openalex", "presearch", "pubmed", "qwant", "qwant news", "reuters", "right dao", "searchmysite",
    "semantic scholar", "seznam", "sogou", "stackoverflow", "startpage", "startpage news", "stract", "wikidata",
    "wikinews", "wikipedia", "yacy", "yahoo", "yahoo news", "yandex", "yep",
})  # fmt: skip
_REASONS = frozenset({
    "CAPTCHA", "HTTP connection error", "HTTP error", "HTTP protocol error",
    "SSL error: certificate validation has failed", "access denied", "network error", "parsing error", "proxy error",
    "server API error", "timeout", "too many requests", "unexpected crash",
})  # fmt: skip


@provider
class SearXNG:
    """
    Searches with a SearXNG server.

    Args:
        base_url: Where the server is, with its path if it has one.
        api_key: Sent as a bearer token, for servers behind a proxy that needs one.
        engines: The engines to use; if empty, the server chooses.

    """

    name = "searxng"
    label = "SearXNG"
    options = frozenset({
        "allowed_domains", "blocked_domains", "time_range", "country", "language", "safe_search", "topic", "page",
    })  # fmt: skip

    base_url: Annotated[BaseUrl, Env("SEARXNG_URL", "SEARXNG_BASE_URL", "SEARX_HOST")]
    api_key: Annotated[Key | None, Env("SEARXNG_API_KEY")] = None
    engines: Annotated[tuple[str, ...], FoundFile()] = ()

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search, page by page until the limit is reached or a page has nothing new."""
        check_options(query, self)
        results: dict[str, SearchResult] = {}
        body: dict[str, Any] = {}
        notes: list[str] = []
        end = query.page * query.limit  # counted here: the server does not say how many results a page has
        for page in range(1, _MAX_PAGES + 1):
            response = yield self._request(query, page)
            try:
                body = self._body(response)
            except ServiceError as error:
                if not results:
                    raise
                notes.append(f"searxng failed on a later page ({error.code})")
                break
            new = parse_results(body.get("results"), self.name, snippet="content", published=_published)
            before = len(results)
            results.update((result.url, result) for result in new if result.url not in results)
            if len(results) >= end or len(results) == before:
                break
        found = self._response(query, tuple(results.values()), body)
        return found.model_copy(update={"results": found.results[end - query.limit :]}).with_notes(*notes)

    def _request(self, query: SearchQuery, page: int) -> Request:
        params = {
            "q": with_sites(query),
            "format": "json",
            "categories": query.topic,
            "engines": ",".join(self.engines) or None,
            "language": _language(query),
            "time_range": query.time_range,
            "safesearch": _SAFE_SEARCH[query.safe_search] if query.safe_search else None,
            "pageno": page if page > 1 else None,
            **query.extra,
        }
        # The limiter of a server takes clients for bots that accept no HTML or send no language.
        headers = {"Accept": "application/json, text/html;q=0.5", "Accept-Language": "en"}
        if self.api_key is not None:
            headers["Authorization"] = f"Bearer {self.api_key.get_secret_value()}"
        return Request(
            url=f"{self.base_url}/search",
            params={name: value for name, value in params.items() if value is not None},
            headers=headers,
        )

    def _body(self, response: Response) -> dict[str, Any]:
        if response.status == 403 and b"<" in response.content[:200]:
            hint = "the server does not answer in JSON; add json under 'search: formats:' in its settings.yml"
            raise error_for(response, self, hint=hint, kind=AuthenticationError)
        if 300 <= response.status < 400:
            raise error_for(response, self, hint="a redirect; words that begin with ! are commands to SearXNG")
        return decode(response, self, detail=lambda body: as_object(body).get("error"))

    def _response(self, query: SearchQuery, results: tuple[SearchResult, ...], body: dict[str, Any]) -> SearchResponse:
        direct = _answer(body)
        unresponsive = _unresponsive(body)
        failed = _describe_failed(unresponsive, self.engines)
        if failed and not results and not direct:
            words = redact(", ".join(f"{name} ({reason})" for name, reason in unresponsive), self)
            message = f"searxng search failed: its engines did not answer: {failed}"
            error = Unavailable(message, provider=self.name, detail=words)
            error.temporary = False  # engines are suspended for minutes to hours; a retry makes it worse
            raise error
        return SearchResponse(
            query=query.text,
            results=results,
            provider=self.name,
            answer=direct,
            suggestions=(*_strings(body, "suggestions"), *_strings(body, "corrections")),
            notes=(f"engines that did not answer: {failed}",) if failed else (),
        )


def _published(item: Mapping[str, Any]) -> Any:
    """Return ``pubdate``, made for programs; in old versions ``publishedDate`` is text in the user's language."""
    return item.get("pubdate") or item.get("publishedDate")


def _language(query: SearchQuery) -> str | None:
    if query.language is None:
        if query.country:
            raise UnsupportedOption("searxng needs a language together with the country", options=["country"])
        return None
    language = query.language.partition("-")[0].lower()
    return f"{language}-{query.country}" if query.country else query.language


def _answer(body: dict[str, Any]) -> str | None:
    """Return the first answer; answers are objects, in old versions plain strings."""
    answers = body.get("answers")
    for item in answers if isinstance(answers, list) else []:
        if text := plain_text(item.get("answer") if isinstance(item, dict) else item):
            return text
    return None


def _unresponsive(body: dict[str, Any]) -> list[tuple[str, str]]:
    pairs = body.get("unresponsive_engines")
    return [
        (str(pair[0])[:40], str(pair[1])[:60])
        for pair in (pairs if isinstance(pairs, list) else [])
        if isinstance(pair, list) and len(pair) == 2
    ]


def _describe_failed(unresponsive: Iterable[tuple[str, str]], configured: Iterable[str]) -> str:
    """Name the known engines and reasons only: the words of a server may come from a page."""
    known = _ENGINES.union(configured)
    named, others = [], 0
    for name, reason in unresponsive:
        suspended = "Suspended: " if reason.startswith("Suspended: ") else ""
        why = reason.removeprefix(suspended)
        if name in known:
            named.append(f"{name} ({suspended}{why})" if why in _REASONS else name)
        else:
            others += 1
    return ", ".join([*named, *([f"{others} unknown engine{'s' * (others > 1)}"] if others else [])])


def _strings(body: dict[str, Any], name: str) -> list[str]:
    items = body.get(name)
    return [item for item in items if isinstance(item, str)] if isinstance(items, list) else []
