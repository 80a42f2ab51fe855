"""Mojeek: an independent index of the web, without tracking.

Mojeek takes the key only in the URL. Pages of a country or in a language are preferred,
but others are not left out. It searches one domain or all; blocked domains become
``-site:`` in the query. Errors have status 200, and a message that says whether the key
is wrong or the allowance used up. Its terms allow keeping results for an hour.
"""

from __future__ import annotations
from collections.abc import Mapping
from datetime import timedelta
from typing import Annotated, Any, ClassVar

from websearch_core import provider as kit
from websearch_core.errors import (
    AuthenticationError,
    QuotaExhausted,
    RateLimited,
    ServiceError,
)
from websearch_core.provider._codes import COUNTRIES, LANGUAGES
from websearch_core.provider._http import find_kind

_LANGUAGE_BOOST = 100  # of 100: as much as Mojeek can
_COUNTRY_BOOST = 10  # of 100: what Mojeek recommends
_KINDS: dict[str, type[ServiceError]] = {
    **dict.fromkeys(("limit reached", "quota", "credit"), QuotaExhausted),
    **dict.fromkeys(
        ("key", "authoris", "authoriz", "access denied"), AuthenticationError
    ),
    **dict.fromkeys(("too many", " rate "), RateLimited),
}


@kit.provider
class Mojeek:
    """Searches with Mojeek.

    Args:
        api_key: From Mojeek.
        base_url: Where the API is.
    """

    name = "mojeek"
    key_parameter = "api_key"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {
        "country",
        "language",
        "safe_search",
        "page",
    }
    emulated: ClassVar[frozenset[str]] = frozenset({"blocked_domains", "time_range"})
    countries: ClassVar[Mapping[str, str]] = COUNTRIES
    languages: ClassVar[Mapping[str, str]] = LANGUAGES
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=100, allowed_domains=1
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://www.mojeek.com/support/api/search/request_parameters.html",),
        signup_url="https://www.mojeek.com/services/search/web-search-api/",
        as_of="2026-10",
        compared="the pages of its API, 2026-10",
        terms="Below the Business plan, results may be kept for an hour.",
    )
    terms_forbid_recording = "its terms allow keeping its results for an hour only"

    api_key: Annotated[kit.Key, kit.Env("MOJEEK_API_KEY")]
    base_url: kit.BaseUrl = "https://api.mojeek.com"

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        first, last = kit.date_range(query)
        country, language = (
            kit.find_country(query, self),
            kit.find_language(query, self),
        )
        params = {
            "q": kit.with_sites(query.without("allowed_domains")),
            "site": next(iter(query.allowed_domains), None),
            "fmt": "json",
            "t": size,
            "s": number * size + 1 if number else None,
            "since": f"{first:%Y%m%d}" if first else None,
            # that day itself is left out
            "before": f"{last + timedelta(days=1):%Y%m%d}" if last else None,
            "rb": country,
            "rbb": _COUNTRY_BOOST if country else None,
            "lb": language and language.upper(),
            "lbb": _LANGUAGE_BOOST if language else None,
            "safe": None
            if query.safe_search is None
            else int(query.safe_search != "off"),
            "date": 1,
        }
        body = self._body((yield kit.get_json(self, "search", params, query)))
        total = kit.as_number(kit.as_object(body.get("head")).get("results"))
        items = body.get("results", [] if total == 0 else None)
        page = kit.parse_search(
            self,
            query,
            body,
            items,
            snippet="desc",
            published=_published,
            markup="html",
        )
        return page, bool(page.results) and total is not None and (
            number + 1
        ) * size < total

    def _body(self, response: kit.Response) -> dict[str, Any]:
        whole = kit.decode(response, self)
        body = kit.as_object(whole.get("response")) or whole
        status = kit.as_text(body.get("status")) or ""
        if not status or status.startswith("OK"):
            return body
        raise kit.error_for(
            response,
            self,
            detail=status,
            kind=find_kind(f" {status} ", _KINDS) or ServiceError,
        )


def _published(item: Mapping[str, Any]) -> Any:
    """Return when the page was published, in seconds since 1970 or as text; 0 where
    Mojeek does not know.
    """
    stamp = item.get("pdate") or item.get("date")
    return kit.as_number(stamp) or (None if kit.as_number(stamp) == 0 else stamp)
