"""Stack Exchange: questions of Stack Overflow and its 180 sister sites, with the text
of the question.

If the service asks for a pause before the next page, there is one. Every answer says
how many requests are left for the day: see ``usage``. It takes the key only in the URL.
"""

from __future__ import annotations
import re
from datetime import timedelta
from typing import Annotated, Any, ClassVar, Literal

from websearch_core import provider as kit
from websearch_core.errors import (
    AuthenticationError,
    QuotaExhausted,
    RateLimited,
    ServiceError,
    Unavailable,
)
from websearch_core.flow import Sleep

_KINDS: dict[str, type[ServiceError]] = {
    "throttle_violation": RateLimited, "temporarily_unavailable": Unavailable,
    "internal_error": Unavailable,
    "key_required": AuthenticationError, "access_token_required": AuthenticationError,
    "invalid_access_token": AuthenticationError, "access_denied": AuthenticationError,
}  # fmt: skip
_MAX_BACKOFF = 60.0
_HOUR = 3600


@kit.provider
class StackExchange:
    """Searches Stack Overflow, or another site of Stack Exchange.

    Args:
        api_key: Optional; raises the daily number of requests.
        base_url: Where the API is.
        site: The site: ``stackoverflow``, ``superuser``, ``math``, or a domain such as
            ``askubuntu.com``.
        sort: The order of the results.
    """

    name = "stackexchange"
    label = "Stack Exchange"
    key_parameter = "key"
    options: ClassVar[frozenset[str]] = frozenset(
        {"topic", "time_range", "after", "before", "page"}
    )
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})  # sent as dates
    topics: ClassVar[frozenset[str]] = frozenset({"code"})
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=100, requests_per_second=30
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://api.stackexchange.com/docs/advanced-search",
            "https://api.stackexchange.com/docs/throttle",
        ),
        signup_url="https://stackapps.com/apps/oauth/register",
        free_allowance="300 requests a day without a key, 10,000 with one",
        price="free",
        prices=kit.FREE,
        as_of="2026-11",
        compared="the pages of version 2.3 of its API, 2026-11",
        terms="Posts are under CC BY-SA: name the author and link the post where you "
        "show them.",
    )

    api_key: Annotated[kit.Key | None, kit.Env("STACKEXCHANGE_API_KEY")] = None
    base_url: kit.BaseUrl = "https://api.stackexchange.com/2.3"
    site: Annotated[str, kit.ProjectFile()] = "stackoverflow"
    sort: Annotated[
        Literal["relevance", "activity", "votes", "creation"], kit.ProjectFile()
    ] = "relevance"

    def search(self, query: kit.SearchQuery, /) -> kit.Flow[kit.SearchResponse]:
        """Search, page by page until the limit is reached."""
        kit.check_options(query, self)
        pause = 0.0  # seconds that the service wants before the next request

        def fetch(number: int, size: int) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
            nonlocal pause
            if pause:
                yield Sleep(pause)
            params = {
                **self._params(query),
                "pagesize": size,
                "page": number + 1 if number else None,
            }
            request = kit.get_json(self, "search/advanced", params, query)
            body = self._decode((yield request))
            pause = min(kit.as_number(body.get("backoff")) or 0.0, _MAX_BACKOFF)
            return self._parse(query, body), body.get("has_more") is True

        return (yield from kit.collect_pages(query, self, fetch))

    def _params(self, query: kit.SearchQuery) -> dict[str, Any]:
        first, last = kit.date_range(query)
        params: dict[str, Any] = {
            "q": query.text,
            "site": self.site,
            "sort": self.sort,
            "order": "desc",
            "filter": "withbody",
        }
        if first:
            params["fromdate"] = kit.midnight(first)
        if last:
            params["todate"] = kit.midnight(last + timedelta(days=1)) - 1
        return params

    def _parse(
        self, query: kit.SearchQuery, body: dict[str, Any]
    ) -> kit.SearchResponse:
        left = kit.as_number(body.get("quota_remaining"))
        return kit.parse_search(
            self,
            query,
            body,
            path="items",
            url="link",
            snippet="body",
            snippet_length=600,
            published="creation_date",
            author="owner.display_name",
            markup="html",
            usage=kit.drop_none({"requests_remaining": left}),
        )

    def _decode(self, response: kit.Response) -> dict[str, Any]:
        """Return the answer, or raise the error in it: nearly all have status 400, and
        a name.
        """
        body = kit.as_object(kit.as_json(response))
        name = kit.as_text(body.get("error_name"))
        if name is None and response.status == 200:
            return kit.decode(response, self)
        message = kit.as_text(body.get("error_message")) or ""
        kind = _KINDS.get(name or "")
        if "`key`" in message:
            kind = AuthenticationError
        match = re.search(r"available in (\d{1,8}) seconds", message)
        wait = float(match[1]) if match else 0.0
        if kind is RateLimited and wait > _HOUR:
            kind = QuotaExhausted  # the requests of this day are used up
        error = kit.error_for(response, self, detail=message, kind=kind)
        if match and error.retry_after is None:
            error.retry_after = wait
        raise error
