"""Brave Search: an independent index of the web.

A page has 20 results, of news 50; a larger limit takes more requests, up to ten.
``images=True`` takes one more. ``llm_context=True`` searches with another endpoint,
whose results have ``content``: passages that Brave chose for models.
"""

from __future__ import annotations
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, ClassVar

from websearch_core import provider as kit
from websearch_core.errors import (
    AuthenticationError,
    Blocked,
    QuotaExhausted,
    ServiceError,
    UnsupportedOption,
)

_FRESHNESS = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}
_MAX_PAGES = 10
_MAX_URL_GOGGLES = 2_000  # characters: longer filters do not fit into a URL
_SNIPPET_LENGTH = 300  # characters of the passages that are the snippet
_NOT_IN_CONTEXT = ("images", "page", "safe_search", "topic")
_BAD_KEY_CODES = {"SUBSCRIPTION_TOKEN_INVALID", "SUBSCRIPTION_NOT_FOUND"}
_CORRECTED = "brave corrected the spelling of the query: see suggestions"


@kit.provider
class Brave:
    """Searches with Brave.

    Args:
        api_key: Subscription token.
        base_url: Where the API is.
        extra_snippets: Also request up to five more excerpts of each page; they are its
            ``content``.
        goggles: A Goggle, which ranks and discards pages: its rules, or the URL that it
            is published at.
        llm_context: Search for passages instead of pages. Has no pages, topics, images
            or safe search.
    """

    name = "brave"
    key_header = "X-Subscription-Token"
    label = "Brave Search"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {
        "country",
        "language",
        "safe_search",
        "topic",
        "images",
        "page",
    }
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=20, results=200, query_length=400, query_words=50
    )
    countries: ClassVar[Mapping[str, str]] = kit.codes(
        "AR AU AT BE BR CA CL CN DE DK ES FI FR GB HK ID IN IT JP KR MX MY NL NO NZ PH "
        "PL PT RU SA SE CH TR TW US ZA"
    )
    languages: ClassVar[Mapping[str, str]] = kit.codes(
        "ar eu bn bg ca zh-hans zh-hant hr cs da nl en en-gb et fi fr gl de gu he hi "
        "hu is it ja=jp kn ko lv lt ms ml mr nb pl pt=pt-pt pt-pt pt-br pa ro ru sr sk "
        "sl es sv ta te th tr uk vi"
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://api-dashboard.search.brave.com/app/documentation/web-search/get-started",
        ),
        signup_url="https://api-dashboard.search.brave.com/register",
        free_allowance="USD 5 of credit a month, about 1,000 searches; needs a card",
        price="USD 5 per 1,000 requests",
        prices=(kit.Price(usd=0.005, by_request=True),),
        as_of="2026-09",
        compared="the pages of version 1 of its API, 2026-09",
        terms="results may not be kept beyond transient use",
    )
    terms_forbid_recording = "its terms do not allow keeping its results"

    api_key: Annotated[kit.Key, kit.Env("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")] = (
        kit.REQUIRED
    )
    base_url: kit.BaseUrl = "https://api.search.brave.com/res/v1"
    extra_snippets: bool = False
    goggles: str | None = None
    llm_context: bool = False

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached."""
        kit.check_options(query, self)
        if self.llm_context:
            return (yield from self._search_context(query))
        fetch = partial(self._fetch_web, query)
        limits = self.limits
        if query.topic == "news":
            fetch = partial(self._fetch_news, query)
            limits = kit.Limits(results_per_request=50, results=500)
        response = yield from kit.collect_pages(
            query, self, fetch, fixed=query.page > _MAX_PAGES, limits=limits
        )
        if query.images:
            response = yield from self._add_images(query, response)
        return response

    def _fetch_web(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Return a page of results, and whether there is another."""
        params = self._page_params(query, number, size)
        params["result_filter"] = "web"
        body = self._decode((yield self._request("web/search", query, params)))
        if "results" in body:
            page = self._parse(query, body, path="results")
        elif body.get("web") is None and body.get("type") == "search":
            page = self._parse(query, body, items=[])  # without results, no ``web``
        else:
            page = self._parse(query, body, path="web.results")
        about_query = kit.as_object(body.get("query"))
        if about_query:  # it names ``more_results_available`` only if there are some
            return page, bool(about_query.get("more_results_available"))
        return page, len(page.results) >= size

    def _fetch_news(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Return a page of news, and whether there may be another."""
        params = self._page_params(query, number, size)
        body = self._decode((yield self._request("news/search", query, params)))
        page = self._parse(query, body, path="results")
        return page, len(page.results) >= size

    def _page_params(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> dict[str, Any]:
        return {
            "count": size,
            "offset": number or None,
            "safesearch": query.safe_search,
            "text_decorations": "false",
            "extra_snippets": "true" if self.extra_snippets else None,
        }

    def _parse(
        self, query: kit.SearchQuery, body: dict[str, Any], **where: Any
    ) -> kit.SearchResponse:
        altered = kit.as_text(kit.find_value(body, "query.altered"))
        return kit.parse_search(
            self,
            query,
            body,
            **where,
            snippet="description",
            published="page_age",
            content=_join_snippets,
            markup="html",
            suggestions=(altered,) if altered else (),
            notes=(_CORRECTED,) if altered else (),
        )

    def _search_context(self, query: kit.SearchQuery) -> kit.Flow[kit.SearchResponse]:
        """https://api-dashboard.search.brave.com/app/documentation/llm-context."""
        requested = query.requested()
        unsupported = [option for option in _NOT_IN_CONTEXT if option in requested]
        if unsupported:
            why = f"has no {', '.join(unsupported)} with llm_context"
            raise UnsupportedOption.by(self, why, *unsupported)
        count = min(query.limit, 50)
        params = {"count": count, "maximum_number_of_urls": count}
        body = self._decode((yield self._request("llm/context", query, params)))
        items, notes = kit.take_results(body, self.name, "grounding.generic")
        results = kit.parse_results(
            items,
            self.name,
            snippet=lambda item: _join_passages(item.get("snippets")),
            content=lambda item: _join_passages(item.get("snippets")),
            published=partial(_find_age, kit.as_object(body.get("sources"))),
            markup="html",
        )
        shortened = [
            result.model_copy(update={"snippet": result.snippet[:_SNIPPET_LENGTH]})
            for result in results
        ]
        return kit.SearchResponse(
            query=query.text,
            results=tuple(shortened),
            provider=self.name,
            notes=notes,
            raw=body,
        )

    def _add_images(
        self, query: kit.SearchQuery, response: kit.SearchResponse
    ) -> kit.Flow[kit.SearchResponse]:
        """Add the images of another request.

        If it fails, a note says so: the results are paid for, and are kept.
        """
        plain = query.without(
            "time_range",
            "after",
            "before",
            "allowed_domains",
            "blocked_domains",
            "extra",
        )
        params = {
            "count": min(query.limit, 200),
            "safesearch": _find_image_safety(query),
            "goggles": None,
        }
        try:
            body = self._decode((yield self._request("images/search", plain, params)))
        except ServiceError as error:
            note = f"brave failed to find images ({error.code})"
            return response.with_notes(note, partial=True)
        images = kit.parse_images(
            body.get("results"),
            url=("properties.url", "thumbnail.src"),
            description=lambda item: kit.plain_text(item.get("title"), "html"),
            page_url="url",
        )
        return response.model_copy(update={"images": images})

    def _request(
        self, endpoint: str, query: kit.SearchQuery, params: Mapping[str, Any]
    ) -> kit.Request:
        options = {
            "q": query.text,
            "country": kit.find_country(query, self),
            "search_lang": kit.find_language(query, self),
            "freshness": kit.date_span(query, _FRESHNESS),
            "goggles": self._goggles(query) or None,
            **params,
        }
        params = kit.with_extra(options, query)
        goggles = params.get("goggles")
        if isinstance(goggles, list):
            params["goggles"] = _join_goggles(goggles)
        headers = {"Accept": "application/json"}
        if len(str(params.get("goggles", ""))) > _MAX_URL_GOGGLES:
            return kit.post_json(self, endpoint, params, headers=headers)
        return kit.get_json(self, endpoint, params, headers=headers)

    def _goggles(self, query: kit.SearchQuery) -> list[str]:
        """Return the domain filters as rules of a Goggle, and that of the caller.

        https://search.brave.com/help/goggles.
        """
        rules = [f"$discard,site={domain}" for domain in query.blocked_domains]
        if query.allowed_domains:
            rules.append("$discard")  # all sites but these
            rules += [f"$boost,site={domain}" for domain in query.allowed_domains]
        if self.goggles:
            rules.append(self.goggles)
        return rules

    def _decode(self, response: kit.Response) -> dict[str, Any]:
        # Its API answers 403 with JSON; a page of HTML is from the firewall before it.
        is_firewall = response.status == 403 and kit.as_json(response) is None
        meanings = {403: Blocked} if is_firewall else None
        return kit.decode(response, self, kind=_classify_error, meanings=meanings)


def _find_age(sources: dict[str, Any], item: Mapping[str, Any]) -> Any:
    """Return the second of ``["Monday, May 4, 2026", "2026-05-04", "200 days ago"]``,
    the age of the page that an item is of.
    """
    source = kit.as_object(sources.get(str(item.get("url"))))
    age = source.get("age")
    if isinstance(age, list) and len(age) > 1:
        return age[1]
    return None


def _find_image_safety(query: kit.SearchQuery) -> str | None:
    """Return one of the two levels that images have."""
    if query.safe_search is None:
        return None
    return "off" if query.safe_search == "off" else "strict"


def _join_goggles(goggles: Sequence[str]) -> str | list[str]:
    """Return all rules as one Goggle; one that is published somewhere stays apart."""
    urls = [goggle for goggle in goggles if goggle.startswith("https://")]
    rules = [goggle for goggle in goggles if goggle not in urls]
    joined = list(urls)
    if rules:
        joined.insert(0, "\n".join(rules))
    return joined[0] if len(joined) == 1 else joined


def _classify_error(body: Any) -> type[ServiceError] | None:
    problem = kit.as_object(kit.find_value(body, "error"))
    if not problem:
        problems = kit.as_objects(kit.find_value(body, "errors"))
        problem = next(iter(problems), {})
    code = kit.as_text(problem.get("code"))
    meta = kit.as_object(problem.get("meta"))
    if code in _BAD_KEY_CODES or "subscription-token" in str(meta):
        return AuthenticationError
    if code == "QUOTA_LIMITED" or _is_used_up(meta):
        return QuotaExhausted
    return None


def _is_used_up(meta: Mapping[str, Any]) -> bool:
    """Return whether the quota is used up. A quota of zero means that there is none."""
    limit = meta.get("quota_limit")
    current = meta.get("quota_current")
    if not isinstance(limit, int) or not isinstance(current, int):
        return False
    return limit > 0 and current >= limit


def _join_snippets(item: Mapping[str, Any]) -> str | None:
    """Return the description and the further excerpts; None if there are no further
    ones.
    """
    excerpts = item.get("extra_snippets")
    if not isinstance(excerpts, list) or _join_passages(excerpts) is None:
        return None
    return _join_passages([item.get("description"), *excerpts])


def _join_passages(passages: Any) -> str | None:
    """Return a list of passages as one text; a table is one of them, as JSON."""
    if not isinstance(passages, list):
        return None
    texts = [kit.plain_text(passage, "html") for passage in passages]
    return "\n\n".join(filter(None, texts)) or None
