"""Keenable: a search engine for agents, and pages as Markdown.

A used-up allowance is ``QuotaExhausted``. The number of results cannot be set, and only
one domain can be allowed. Results have the text of the page that fits the query.
"""

from __future__ import annotations
from typing import Annotated, ClassVar

from websearch_core import provider as kit
from websearch_core.errors import QuotaExhausted, ServiceError

# without it, requests without a key are refused
_HEADERS = {"X-Keenable-Title": "websearch-core"}


@kit.provider
class Keenable:
    """Searches and reads with Keenable.

    Args:
        api_key: From https://keenable.ai/console. None uses the free allowance.
        base_url: Where the API is.
    """

    name = "keenable"
    key_header = "X-Api-Key"
    options: ClassVar[frozenset[str]] = frozenset(
        {"allowed_domains", "time_range", "after", "before"}
    )
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})
    limits: ClassVar[kit.Limits] = kit.Limits(allowed_domains=1)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=("https://github.com/keenableai/keenable-sdk",),
        signup_url="https://keenable.ai/console",
        free_allowance="keyless: a limit by the hour for each address",
        prices=(kit.Price(usd=0, when={"api_key": None}),),
        as_of="2026-08",
        compared="keenable 0.1.1, 2026-11-23",
    )

    api_key: Annotated[kit.Key | None, kit.Env("KEENABLE_API_KEY")] = None
    base_url: Annotated[kit.BaseUrl, kit.Env("KEENABLE_API_URL")] = (
        "https://api.keenable.ai"
    )

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search."""
        kit.check_options(query, self)
        after, before = kit.date_range(query)
        payload = {
            "query": query.text,
            "mode": "pro",
            "site": next(iter(query.allowed_domains), None),
            "published_after": after and after.isoformat(),
            "published_before": before and before.isoformat(),
        }
        response = yield kit.post_json(
            self, self._endpoint("search"), payload, query, headers=_HEADERS
        )
        body = kit.decode(response, self, meanings=self._meanings())
        return kit.parse_search(
            self,
            query,
            body,
            snippet=("snippet", "description"),
            published="published_at",
        )

    def read(self, url: str, /) -> kit.Flow[kit.Page]:
        """Read the page at *url*, as Markdown."""
        params = {"url": kit.serialize(url)}
        response = yield kit.get_json(
            self, self._endpoint("fetch"), params, headers=_HEADERS, target=url
        )
        body = kit.decode(response, self, verb="read", meanings=self._meanings())
        return kit.parse_page(
            self,
            url,
            body.get("content"),
            title=body.get("title"),
            description=body.get("description"),
            author=body.get("author"),
            final_url=body.get("url"),
            published=body.get("published_at"),
        )

    def _endpoint(self, name: str) -> str:
        return f"v1/{name}" if self.api_key else f"v1/{name}/public"

    def _meanings(self) -> dict[int, type[ServiceError]]:
        """Without a key, "too many requests" are those of an hour."""
        return {} if self.api_key else {429: QuotaExhausted}
