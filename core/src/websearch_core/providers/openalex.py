"""OpenAlex: an open catalogue of scholarly works, with abstracts.

A free key, from ``OPENALEX_API_KEY``, has a daily allowance of about 1000 searches;
without a key there is a tenth of that for each address. OpenAlex takes the key only in
the URL. It reports what each search cost and what is left of the allowance, in US
dollars. It is faster for programs with an email address as the ``contact`` of `Http`.
Status 429 means either that the allowance is used up or that requests come too fast;
the body and headers tell which.
"""

from __future__ import annotations
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from websearch_core import provider as kit
from websearch_core.errors import QuotaExhausted, ServiceError
from websearch_core.provider._codes import LANGUAGES
from websearch_core.provider._http import as_json, find_message


@kit.provider
class OpenAlex:
    """Searches the works that OpenAlex knows.

    Args:
        api_key: Optional, but without one the allowance is small.
        base_url: Where the API is.
    """

    name = "openalex"
    key_parameter = "api_key"
    options: ClassVar[frozenset[str]] = frozenset(
        {"topic", "time_range", "after", "before", "language", "page"}
    )
    emulated: ClassVar[frozenset[str]] = frozenset({"time_range"})  # sent as dates
    topics: ClassVar[frozenset[str]] = frozenset({"academic"})
    languages: ClassVar[Mapping[str, str]] = LANGUAGES
    limits: ClassVar[kit.Limits] = kit.Limits(results_per_request=100, results=10_000)
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://developers.openalex.org/api-reference/works/list-works",
            "https://developers.openalex.org/api-reference/authentication",
        ),
        signup_url="https://openalex.org/settings/api",
        free_allowance="USD 1 a day with a free key, a tenth of that without: about "
        "1,000 and 100 searches",
        price="USD 1 per 1,000 searches",
        as_of="2026-09",
        compared="the pages of its API, 2026-09",
        terms="Data is in the public domain (CC0).",
    )

    api_key: Annotated[kit.Key | None, kit.Env("OPENALEX_API_KEY")] = None
    base_url: kit.BaseUrl = "https://api.openalex.org"

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        first, last = kit.date_range(query)
        filters = {
            "from_publication_date": first,
            "to_publication_date": last,
            "language": kit.find_language(query, self),
        }
        params = {
            "search": query.text,
            "per_page": size,
            "page": number + 1 if number else None,
            "filter": [f"{name}:{value}" for name, value in filters.items() if value]
            or None,
        }
        response = yield kit.get_json(self, "works", params, query, join=",")
        if response.status == 429:
            raise self._too_many(response)
        body = kit.decode(response, self)
        meta = kit.as_object(body.get("meta"))
        total = meta.get("count")
        page = kit.parse_search(
            self, query, body, body.get("results"), title=("title", "display_name"),
            url=("doi", "primary_location.landing_page_url", "id"), snippet=_abstract,
            score="relevance_score",
            published="publication_date", author=_authors, markup="html",
            cost=kit.as_number(meta.get("cost_usd", response.headers.get("x-ratelimit-cost-usd"))),
            usage=kit.drop_none({"usd_remaining": kit.as_number(response.headers.get("x-ratelimit-remaining-usd"))}),
        )  # fmt: skip
        return page, isinstance(total, int) and (number + 1) * size < total

    def _too_many(self, response: kit.Response) -> ServiceError:
        """Distinguish a used-up allowance, which returns at midnight UTC, from a pace
        that is too fast.
        """
        words = find_message(as_json(response)) or ""
        left = kit.as_number(response.headers.get("x-ratelimit-remaining-usd"))
        is_used_up = (
            "budget" in words.lower()
            or response.headers.get("x-ratelimit-remaining") == "0"
            or left == 0
        )
        return kit.error_for(
            response, self, detail=words, kind=QuotaExhausted if is_used_up else None
        )


def _authors(work: Mapping[str, Any]) -> list[Any]:
    return [
        kit.as_object(one.get("author")).get("display_name")
        for one in kit.as_objects(work.get("authorships"))
    ]


def _abstract(work: Mapping[str, Any]) -> str:
    """Return the abstract, which is sent as an index of its words: ``{"Kelp": [0, 7],
    "forests": [1]}``.
    """
    index = kit.as_object(work.get("abstract_inverted_index"))
    placed = {
        place: word
        for word, places in index.items()
        if isinstance(places, list)
        for place in places
        if type(place) is int
    }
    return " ".join(placed[place] for place in sorted(placed))
