"""Jina: turns a URL into Markdown, rendering JavaScript, and searches the web.

Reading works without a key. A CAPTCHA instead of the page, or a page without text, is
an error. Jina caches what it reads for all its users unless ``private`` is set. At the
``base_url`` of your own server, the address of a page is checked here first. A page of
results has up to 20, from Google.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from math import isfinite
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit
from websearch_core.errors import Blocked, ServiceError, TooLarge
from websearch_core.provider.google import GOOGLE_LANGUAGES

_MEANINGS: dict[int, type[ServiceError]] = {
    403: Blocked,
    409: TooLarge,
    413: TooLarge,
    451: Blocked,
}

# AssertionFailureError: a 422 about the page, which cannot be opened or has no content
_UNREADABLE = 42206
# characters: a page with more text than that has content besides a CAPTCHA
_CHALLENGE_LENGTH = 1_000

_WARNINGS = {
    "cached snapshot": "This is a cached snapshot",
    "captcha": "The page may require a CAPTCHA",
    "not yet fully loaded": "The page may not have loaded completely",
    "shadow dom": "The page has parts in a shadow DOM that were not read",
    "iframe": "The page has frames that were not read",
}


@kit.provider
class Jina:
    """Reads and searches with Jina.

    Args:
        api_key: Starts with ``jina_``; optional for reading.
        base_url: Where the reader is.
        search_url: Where the search is.
        private: Ask Jina not to keep a copy of the page.
        no_cache: Fetch the page again even if Jina has a copy.
        engine: How Jina opens pages: with a ``browser``, or ``direct``, without
            scripts. By default, it chooses.
        target_selector: Only the parts of pages that this CSS selector matches.
        remove_selector: Leave out the parts of pages that this CSS selector matches.
        wait_for: Wait until a page has something that this CSS selector matches.
        read_results: Also read every result of a search.
    """

    name = "jina"
    options: ClassVar[frozenset[str]] = frozenset(
        {"allowed_domains", "blocked_domains", "country", "language", "topic", "page"}
    )
    emulated: ClassVar[frozenset[str]] = frozenset(
        {"limit", "allowed_domains", "blocked_domains"}
    )
    countries: ClassVar[Mapping[str, str]] = kit.LOWER_COUNTRIES
    languages: ClassVar[Mapping[str, str]] = GOOGLE_LANGUAGES
    limits: ClassVar[kit.Limits] = kit.Limits(results_per_request=20)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://github.com/jina-ai/reader", "https://jina.ai/reader"),
        signup_url="https://jina.ai/api-dashboard",
        free_allowance="keyless: about 20 pages a minute",
        price="by tokens; a search costs at least 10,000",
        prices=(kit.Price(verb="read", usd=0, when={"api_key": None}),),
        as_of="2026-09",
        compared="the pages of its API, 2026-09",
        terms="it keeps a copy of what it reads for other callers, unless private is "
        "set",
    )

    api_key: Annotated[kit.Key | None, kit.Env("JINA_API_KEY")] = None
    base_url: kit.BaseUrl = "https://r.jina.ai"
    search_url: kit.BaseUrl = "https://s.jina.ai"
    private: bool = False
    no_cache: bool = False
    engine: Literal["browser", "direct", "cf-browser-rendering"] | None = None
    target_selector: str | None = None
    remove_selector: str | None = None
    wait_for: str | None = None
    read_results: bool = False

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached; needs a key."""
        if self.api_key is None:
            raise kit.missing_field_error(type(self), "api_key")
        kit.check_options(query, self)
        return (
            yield from kit.collect_pages(
                query, self, partial(self._fetch, query), is_short=True
            )
        )

    def _fetch(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Return a page of results, and whether there may be another."""
        payload = {
            "q": kit.with_sites(query),
            "num": size,
            "page": number + 1 if number else None,
            "type": "news" if query.topic == "news" else None,
            "gl": kit.find_country(query, self),
            "hl": kit.find_language(query, self),
        }
        key, _ = kit.place_key(self)
        headers = self._headers() | key
        if not self.read_results:
            headers["X-Respond-With"] = "no-content"
        answer = yield kit.Request(
            method="POST",
            url=f"{self.search_url}/",
            json=kit.with_extra(payload, query),
            headers=headers,
        )
        response = _with_own_status(answer)
        if response.status == 422 and b"No search results" in response.content:
            return kit.SearchResponse(query=query.text, provider=self.name), False
        body = kit.decode(response, self, detail=_find_message)
        page = kit.parse_search(
            self,
            query,
            body,
            path="data",
            snippet="description",
            content="content",
            published=("date", "publishedTime"),
            usage=_count_tokens(body),
        )
        # Google's page of ten may have come
        return page, len(page.results) >= min(size, 10)

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Read the page at *url*."""
        # in a path, Jina would take the query of the page's URL for its own
        payload = {"url": kit.serialize(url)}
        headers = self._headers() | self._reading_headers()
        response = yield kit.post_json(self, "", payload, headers=headers, target=url)
        return self._parse_page(_with_own_status(response), url)

    def _reading_headers(self) -> dict[str, str]:
        """Return the headers that say how to read a page."""
        headers = {
            "X-Retain-Images": "alt",
            "X-With-Links-Summary": "all",
            "X-Engine": self.engine,
            "X-Target-Selector": self.target_selector,
            "X-Remove-Selector": self.remove_selector,
            "X-Wait-For-Selector": self.wait_for,
        }
        own_limit = 0 if self.no_cache else None
        max_age = kit.find_max_age(own_limit)
        if max_age is not None:
            headers["X-Cache-Tolerance"] = str(max_age)
        seconds = kit.time_left()
        if isfinite(seconds):  # Jina should give up on a page before we do
            headers["X-Timeout"] = str(max(1, min(180, int(seconds * 0.8))))
        return {name: value for name, value in headers.items() if value}

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json"}
        if self.private:
            headers["DNT"] = "1"
        return headers

    def _parse_page(self, response: kit.Response, url: str) -> kit.Page:
        problem = kit.as_json(response) if response.status == 422 else None
        if kit.find_value(problem, "status") == _UNREADABLE:
            raise kit.page_error(self, detail=_find_message(problem))
        body = kit.decode(
            response, self, verb="read", meanings=_MEANINGS, detail=_find_message
        )
        data = kit.as_object(body.get("data"))
        text = data.get("content")
        warning = kit.as_text(data.get("warning")) or ""
        self._check_warning(warning, text)
        usage = data.get("usage") or kit.find_value(body, "meta.usage")
        return kit.parse_page(
            self,
            url,
            text,
            title=data.get("title"),
            final_url=data.get("url"),
            description=data.get("description"),
            published=data.get("publishedTime"),
            language=kit.as_text(kit.find_value(data, "metadata.lang")),
            links=_find_links(data.get("links")),
            usage=kit.parse_usage(usage, tokens="tokens"),
            notes=(_translate_warning(warning),) if warning else (),
        )

    def _check_warning(self, warning: str, text: Any) -> None:
        """Raise the error of the page that Jina only warns of."""
        status = re.search(r"returned error (\d{3})", warning)
        if status:
            raise kit.page_error(self, status=int(status[1]), detail=warning)
        if "captcha" not in warning.casefold() or not isinstance(text, str):
            return
        if len(text) < _CHALLENGE_LENGTH:
            raise kit.page_error(self, kind=Blocked, detail=warning)


def _with_own_status(response: kit.Response) -> kit.Response:
    """Return *response* with the status in its body: a failure may be sent as a
    success, with 200.
    """
    if response.status != 200:
        return response
    body = kit.as_object(kit.as_json(response))
    code = body.get("code")
    if body.get("data") is not None or not isinstance(code, int):
        return response
    return replace(response, status=code) if 400 <= code < 600 else response


def _translate_warning(warning: str) -> str:
    """Return a note in our own words: the warning may have words of the page."""
    folded = warning.casefold()
    for phrase, words in _WARNINGS.items():
        if phrase in folded:
            return f"jina: {words}"
    return "jina: there is a warning about this page"


def _count_tokens(body: dict[str, Any]) -> dict[str, float]:
    """Return the tokens of a search: what it says about all of it, or else about each
    result.
    """
    total = kit.parse_usage(kit.find_value(body, "meta.usage"), tokens="tokens")
    if total:
        return total
    usages = [
        kit.parse_usage(item.get("usage"), tokens="tokens")
        for item in kit.as_objects(body.get("data"))
    ]
    numbers = [usage["tokens"] for usage in usages if usage]
    return {"tokens": sum(numbers)} if numbers else {}


def _find_message(body: Any) -> Any:
    problem = kit.as_object(body)
    return problem.get("readableMessage") or problem.get("message")


def _find_links(links: Any) -> tuple[str, ...]:
    """Return the URLs: *links* is an object of text to URL, or a list of such pairs."""
    if isinstance(links, dict):
        urls = list(links.values())
    else:
        pairs = links if isinstance(links, list) else []
        pairs = [pair for pair in pairs if isinstance(pair, list)]
        urls = [pair[-1] for pair in pairs if pair]
    return tuple(dict.fromkeys(kit.as_links(urls)))
