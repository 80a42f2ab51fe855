"""Mojeek: an independent index of the web, without tracking.

Pages of a country or in a language are preferred, but others are not left out. It
searches one domain or all. It takes the key only in the URL.
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
    countries: ClassVar[Mapping[str, str]] = kit.COUNTRIES
    languages: ClassVar[Mapping[str, str]] = kit.LANGUAGES
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

    api_key: Annotated[kit.Key, kit.Env("MOJEEK_API_KEY")] = kit.REQUIRED
    base_url: kit.BaseUrl = "https://api.mojeek.com"

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        params = {
            "q": kit.with_sites(query.without("allowed_domains")),
            "site": next(iter(query.allowed_domains), None),
            "fmt": "json",
            "t": size,
            "s": number * size + 1 if number else None,
            **self._filters(query),
            "date": 1,
        }
        body = self._decode((yield kit.get_json(self, "search", params, query)))
        total = kit.as_number(kit.find_value(body, "head.results"))
        items = body.get("results")
        if "results" not in body and total == 0:
            items = []  # nothing was found: it leaves out the list
        page = kit.parse_search(
            self,
            query,
            body,
            items,
            snippet="desc",
            published=_find_date,
            markup="html",
        )
        if not page.results or total is None:
            return page, False
        return page, (number + 1) * size < total

    def _filters(self, query: kit.SearchQuery) -> dict[str, Any]:
        first, last = kit.date_range(query)
        country = kit.find_country(query, self)
        language = kit.find_language(query, self)
        filters: dict[str, Any] = {}
        if first:
            filters["since"] = f"{first:%Y%m%d}"
        if last:  # that day itself is left out
            filters["before"] = f"{last + timedelta(days=1):%Y%m%d}"
        if country:
            filters |= {"rb": country, "rbb": _COUNTRY_BOOST}
        if language:
            filters |= {"lb": language.upper(), "lbb": _LANGUAGE_BOOST}
        if query.safe_search:
            filters["safe"] = int(query.safe_search != "off")
        return filters

    def _decode(self, response: kit.Response) -> dict[str, Any]:
        whole = kit.decode(response, self)
        body = kit.as_object(whole.get("response")) or whole
        status = kit.as_text(body.get("status"))
        if status is None or status.startswith("OK"):
            return body
        kind = kit.find_kind(f" {status} ", _KINDS) or ServiceError
        raise kit.error_for(response, self, detail=status, kind=kind)


def _find_date(item: Mapping[str, Any]) -> Any:
    """Return when the page was published, in seconds since 1970 or as text; None where
    Mojeek does not know, which it says as 0.
    """
    stamp = item.get("pdate") or item.get("date")
    seconds = kit.as_number(stamp)
    if seconds is None:
        return stamp
    return seconds or None
