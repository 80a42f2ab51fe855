"""Marginalia: a search engine for the small, text-heavy and non-commercial part of the
web.

Without a key it uses the shared key ``public``, which is often over its limit. Your own
key comes by email. Words are matched, not meanings: short queries find more.
"""

from __future__ import annotations
from typing import Annotated, Any, ClassVar

from websearch_core import provider as kit


@kit.provider
class Marginalia:
    """Searches with Marginalia.

    Args:
        api_key: Optional; the key that all callers without one share is often over its
            limit.
        base_url: Where the API is.
    """

    name = "marginalia"
    key_header = "API-Key"
    options: ClassVar[frozenset[str]] = frozenset(
        {"allowed_domains", "safe_search", "page"}
    )
    emulated: ClassVar[frozenset[str]] = frozenset({"allowed_domains"})
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=100, allowed_domains=1
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://about.marginalia-search.com/article/api/",),
        signup_url="https://about.marginalia-search.com/article/api/",
        free_allowance="keyless, with a limit that all callers share; your own key for "
        "non-commercial use",
        price="a commercial key is metered",
        prices=(kit.Price(usd=0, when={"api_key": None}),),
        as_of="2025-12",
        compared="the pages of its API, 2025-12",
        terms="Results are under CC BY-NC-SA 4.0, except with a commercial key.",
    )

    api_key: Annotated[kit.Key | None, kit.Env("MARGINALIA_API_KEY")] = None
    base_url: kit.BaseUrl = "https://api2.marginalia-search.com"

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        params: dict[str, Any] = {
            "query": kit.with_sites(query),
            "count": size,
            "page": number + 1 if number else None,
        }
        if query.safe_search:
            params["nsfw"] = int(query.safe_search != "off")
        headers = {"API-Key": "public"}  # replaced by your own key, if there is one
        request = kit.get_json(self, "search", params, query, headers=headers)
        body = kit.decode((yield request), self)
        page = kit.parse_search(
            self,
            query,
            body,
            snippet="description",
            score="quality",
            markup="entities",
        )
        pages = kit.as_number(body.get("pages"))
        if pages is None:
            return page, len(page.results) >= size
        return page, number + 1 < pages
