"""OpenAlex: an open catalogue of scholarly works, with abstracts.

It reports what each search cost and what is left of the allowance, in US dollars. It is
faster for programs with an email address as the ``contact`` of ``Http``. It takes the
key only in the URL.
"""

from __future__ import annotations
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from websearch_core import provider as kit
from websearch_core.errors import QuotaExhausted, ServiceError


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
    languages: ClassVar[Mapping[str, str]] = kit.LANGUAGES
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
        terms = [f"{name}:{value}" for name, value in filters.items() if value]
        params = {
            "search": query.text,
            "per_page": size,
            "page": number + 1 if number else None,
            "filter": terms or None,
        }
        response = yield kit.get_json(self, "works", params, query, join=",")
        if response.status == 429:
            raise self._make_429_error(response)
        body = kit.decode(response, self)
        meta = kit.as_object(body.get("meta"))
        headers = response.headers
        cost = meta.get("cost_usd", headers.get("x-ratelimit-cost-usd"))
        left = kit.as_number(headers.get("x-ratelimit-remaining-usd"))
        page = kit.parse_search(
            self,
            query,
            body,
            title=("title", "display_name"),
            url=("doi", "primary_location.landing_page_url", "id"),
            snippet=_write_abstract,
            score="relevance_score",
            published="publication_date",
            author=_find_authors,
            markup="html",
            cost=kit.as_number(cost),
            usage=kit.drop_none({"usd_remaining": left}),
        )
        total = meta.get("count")
        return page, isinstance(total, int) and (number + 1) * size < total

    def _make_429_error(self, response: kit.Response) -> ServiceError:
        """Distinguish a used-up allowance, which returns at midnight UTC, from a pace
        that is too fast.
        """
        words = kit.find_message(kit.as_json(response)) or ""
        headers = response.headers
        is_used_up = (
            "budget" in words.lower()
            or headers.get("x-ratelimit-remaining") == "0"
            or kit.as_number(headers.get("x-ratelimit-remaining-usd")) == 0
        )
        kind = QuotaExhausted if is_used_up else None
        return kit.error_for(response, self, detail=words, kind=kind)


def _find_authors(work: Mapping[str, Any]) -> list[Any]:
    records = kit.as_objects(work.get("authorships"))
    return [kit.find_value(record, "author.display_name") for record in records]


def _write_abstract(work: Mapping[str, Any]) -> str:
    """Return the abstract, which is sent as an index of its words: ``{"Kelp": [0, 7],
    "forests": [1]}``.
    """
    words: dict[int, str] = {}
    index = kit.as_object(work.get("abstract_inverted_index"))
    for word, places in index.items():
        if not isinstance(places, list):
            continue
        for place in places:
            if type(place) is int:  # not a bool
                words[place] = word
    return " ".join(words[place] for place in sorted(words))
