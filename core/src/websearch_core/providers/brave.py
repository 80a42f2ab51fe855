"""Brave Search: an independent index of the web.

Needs a key, from ``BRAVE_API_KEY`` or ``BRAVE_SEARCH_API_KEY``. Domain filters are sent
as an inline Goggle. A page has 20 results, of news 50; a larger limit takes more
requests, up to ten. ``images=True`` takes one more request. Brave answers a wrong key
with 422, and both "too fast" and "out of quota" with 429; body and headers distinguish
them. ``llm_context=True`` searches with another endpoint: its results have ``content``,
passages that Brave chose for models.
"""

from __future__ import annotations
from collections.abc import Mapping
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
_PAGES = 10
_LONG = 2_000  # characters: longer filters do not fit into a URL
_SNIPPET = 300  # characters of the passages that are the snippet
_NOT_IN_CONTEXT = ("images", "page", "safe_search", "topic")


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
        "hu is it ja=jp kn ko lv lt ms "
        "ml mr nb pl pt=pt-pt pt-pt pt-br pa ro ru sr sk sl es sv ta te th tr uk vi"
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

    api_key: Annotated[kit.Key, kit.Env("BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY")]
    base_url: kit.BaseUrl = "https://api.search.brave.com/res/v1"
    extra_snippets: bool = False
    goggles: str | None = None
    llm_context: bool = False

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached."""
        kit.check_options(query, self)
        if self.llm_context:
            return (yield from self._search_context(query))
        is_news = query.topic == "news"
        limits = (
            kit.Limits(results_per_request=50, results=500) if is_news else self.limits
        )

        def fetch(number: int, size: int) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
            params = {
                "count": size,
                "offset": number or None,
                "safesearch": query.safe_search,
                "result_filter": None if is_news else "web",
                "text_decorations": "false",
                "extra_snippets": "true" if self.extra_snippets else None,
            }
            body = self._body(
                (
                    yield self._request(
                        "news/search" if is_news else "web/search", query, params
                    )
                )
            )
            return self._parse(query, body, size)

        found = yield from kit.collect_pages(
            query, self, fetch, fixed=query.page > _PAGES, limits=limits
        )
        return (yield from self._add_images(query, found)) if query.images else found

    def _request(
        self, endpoint: str, query: kit.SearchQuery, params: dict[str, Any]
    ) -> kit.Request:
        parameters = {
            "q": query.text,
            "country": kit.find_country(query, self),
            "search_lang": kit.find_language(query, self),
            "freshness": kit.date_span(query, _FRESHNESS),
            "goggles": self._goggles(query) or None,
            **params,
        }
        params = kit.with_extra(parameters, query)
        if isinstance(goggles := params.get("goggles"), list):
            params["goggles"] = _join_goggles(goggles)
        make = (
            kit.post_json
            if len(str(params.get("goggles", ""))) > _LONG
            else kit.get_json
        )
        return make(self, endpoint, params, headers={"Accept": "application/json"})

    def _goggles(self, query: kit.SearchQuery) -> list[str]:
        """Return the domain filters as rules of a Goggle, and that of the caller:
        https://search.brave.com/help/goggles.
        """
        rules = [f"$discard,site={domain}" for domain in query.blocked_domains]
        if query.allowed_domains:
            rules += [
                "$discard",
                *(f"$boost,site={domain}" for domain in query.allowed_domains),
            ]
        return [*rules, self.goggles] if self.goggles else rules

    def _parse(
        self, query: kit.SearchQuery, body: dict[str, Any], size: int
    ) -> tuple[kit.SearchResponse, bool]:
        """Return a page, and whether there is another. News are at the top; ``web`` is
        absent if it has no results.
        """
        is_news = query.topic == "news"
        is_whole = is_news or "results" in body
        is_empty = (
            not is_whole and body.get("web") is None and body.get("type") == "search"
        )
        about = kit.as_object(body.get("query"))
        altered = kit.as_text(about.get("altered"))
        where: dict[str, Any] = (
            {"items": []}
            if is_empty
            else {"path": "results" if is_whole else "web.results"}
        )
        page = kit.parse_search(
            self, query, body, **where, snippet="description", published="page_age",
            content=partial(_passages, "extra_snippets"), markup="html",
            suggestions=(altered,) if altered else (),
            notes=(("brave corrected the spelling of the query: see "
                   "suggestions"),) if altered else (),
        )  # fmt: skip
        # news never do, and of the web only "yes" is written out
        says = about and not is_news
        return page, bool(about.get("more_results_available")) if says else len(
            page.results
        ) >= size

    def _search_context(self, query: kit.SearchQuery) -> kit.Flow[kit.SearchResponse]:
        """https://api-dashboard.search.brave.com/app/documentation/llm-context."""
        if unsupported := [
            option for option in _NOT_IN_CONTEXT if option in query.requested()
        ]:
            message = f"brave: llm_context has no {', '.join(unsupported)}"
            raise UnsupportedOption(message, options=unsupported, provider=self.name)
        count = min(query.limit, 50)
        params = {"count": count, "maximum_number_of_urls": count}
        body = self._body((yield self._request("llm/context", query, params)))
        sources = kit.as_object(body.get("sources"))

        def published(item: Any) -> Any:
            """Return the second of ``["Monday, May 4, 2026", "2026-05-04", "200 days
            ago"]``.
            """
            age = kit.as_object(sources.get(str(item.get("url")))).get("age")
            return age[1] if isinstance(age, list) and len(age) > 1 else None

        items, notes = kit.take_results(body, self.name, "grounding.generic")
        texts = partial(_passages, "snippets")
        results = kit.parse_results(
            items,
            self.name,
            snippet=texts,
            content=texts,
            published=published,
            markup="html",
        )
        results = tuple(
            one.model_copy(update={"snippet": one.snippet[:_SNIPPET]})
            for one in results
        )
        return kit.SearchResponse(
            query=query.text, results=results, provider=self.name, notes=notes, raw=body
        )

    def _add_images(
        self, query: kit.SearchQuery, found: kit.SearchResponse
    ) -> kit.Flow[kit.SearchResponse]:
        """Add the images of another request; if it fails, a note says so, since the
        results are paid for.
        """
        safe = "off" if query.safe_search == "off" else "strict"  # it has only these
        plain = query.without(
            "time_range",
            "after",
            "before",
            "allowed_domains",
            "blocked_domains",
            "extra",
        )
        count = min(query.limit, 200)
        params = {
            "count": count,
            "safesearch": safe if query.safe_search else None,
            "goggles": None,
        }
        try:
            body = self._body((yield self._request("images/search", plain, params)))
        except ServiceError as error:
            return found.with_notes(
                f"brave failed to find images ({error.code})", partial=True
            )
        where = ("properties.url", "thumbnail.src")  # of the image itself
        images = kit.parse_images(
            body.get("results"),
            url=where,
            description=lambda one: kit.plain_text(one.get("title"), "html"),
            page_url="url",
        )
        return found.model_copy(update={"images": images})

    def _body(self, response: kit.Response) -> dict[str, Any]:
        # and not its API
        is_firewall = response.status == 403 and kit.as_json(response) is None
        return kit.decode(
            response, self, kind=_kind, meanings={403: Blocked} if is_firewall else None
        )


def _join_goggles(goggles: list[str]) -> str | list[str]:
    """Return all rules as one Goggle; one that is published somewhere stays on its
    own.
    """
    urls = [one for one in goggles if one.startswith("https://")]
    rules = "\n".join(one for one in goggles if one not in urls)
    several = [*([rules] if rules else []), *urls]
    return several[0] if len(several) == 1 else several


def _kind(body: Any) -> type[ServiceError] | None:
    problem = kit.as_object(kit.as_object(body).get("error")) or next(
        iter(kit.as_objects(kit.as_object(body).get("errors"))), {}
    )
    code, meta = kit.as_text(problem.get("code")), kit.as_object(problem.get("meta"))
    if code in {
        "SUBSCRIPTION_TOKEN_INVALID",
        "SUBSCRIPTION_NOT_FOUND",
    } or "subscription-token" in str(meta):
        return AuthenticationError
    return QuotaExhausted if code == "QUOTA_LIMITED" or _is_used_up(meta) else None


def _is_used_up(meta: dict[str, Any]) -> bool:
    """Return whether the quota is used up; a quota of zero means that there is no
    quota.
    """
    limit, current = meta.get("quota_limit"), meta.get("quota_current")
    return isinstance(limit, int) and isinstance(current, int) and current >= limit > 0


def _passages(key: str, item: Mapping[str, Any]) -> str | None:
    """Return a list of passages as one text; a table is one of them, as JSON."""
    several = item.get(key)
    passages = (
        [kit.plain_text(one, "html") for one in several if isinstance(one, str)]
        if isinstance(several, list)
        else []
    )
    return "\n\n".join(filter(None, passages)) or None
