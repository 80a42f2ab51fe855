"""You.com: web search with several extracts of each page, and the contents of pages.

Reading needs a key. A page has up to 100 results, and there are ten. News that You.com
adds to an answer come after its web results; it cannot search for news only.
"""

from __future__ import annotations
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator

from websearch_core import provider as kit
from websearch_core.errors import QuotaExhausted, ServiceError, WebSearchError

_PAGE_SIZE = 100  # results
_MAX_PAGES = 10


@kit.provider
class You:
    """Searches and reads with You.com.

    Args:
        api_key: From https://you.com/platform/api-keys.
        keyless: Use the free allowance without a key, even if a key is set.
        base_url: Where the API is.
        keyless_url: Where the search without a key is.
        extraction: Return more than snippets: ``highlights``, the passages of each page
            that fit the query, or ``full_page``, its text, which costs extra. Needs a
            key.
        max_age: Fetch a page again if the copy is older than this, in seconds; 0
            always. None is any age.
        boost_domains: Rank results from these domains higher. Has no effect with
            ``allowed_domains``.
    """

    name = "you"
    label = "You.com"
    key_header = "X-Api-Key"
    options: ClassVar[frozenset[str]] = kit.FILTERS | {
        "country",
        "language",
        "safe_search",
        "page",
    }
    emulated: ClassVar[frozenset[str]] = frozenset({"limit"})
    countries: ClassVar[Mapping[str, str]] = kit.codes("""
        AR AU AT BE BR CA CL DK FI FR DE HK IN ID IT JP KR MY MX NL NZ NO CN PL PT PH RU
        SA ZA ES SE CH TW TR GB US
    """)
    languages: ClassVar[Mapping[str, str]] = kit.codes("""
        ar=AR eu=EU bn=BN bg=BG ca=CA zh=ZH-HANS zh-hant=ZH-HANT hr=HR cs=CS da=DA nl=NL
        en=EN en-gb=EN-GB et=ET fi=FI fr=FR gl=GL de=DE el=EL gu=GU he=HE hi=HI hu=HU
        is=IS it=IT ja=JA kn=KN ko=KO lv=LV lt=LT ms=MS ml=ML mr=MR nb=NB pl=PL
        pt-br=PT-BR pt-pt=PT-PT pa=PA ro=RO ru=RU sr=SR sk=SK sl=SL es=ES sv=SV ta=TA
        te=TE th=TH tr=TR uk=UK vi=VI
    """)
    limits: ClassVar[kit.Limits] = kit.Limits(
        results_per_request=_PAGE_SIZE,
        results=_PAGE_SIZE * _MAX_PAGES,
        pages_per_request=10,
    )
    about: ClassVar[kit.Service] = kit.Service(
        api_urls=(
            "https://you.com/docs/api-reference/search/v1-search",
            "https://you.com/docs/api-reference/contents/v1-contents",
        ),
        signup_url="https://you.com/platform/api-keys",
        free_allowance="USD 100 once; keyless: about 100 searches a day per address",
        price="USD 5 per 1,000 searches, USD 1 per 1,000 pages",
        prices=(
            kit.Price(usd=0, when={"keyless": True}),
            kit.Price(verb="search", usd=0.005, when={"extraction": None}),
            kit.Price(verb="read", usd=0.001, size=1),
        ),
        as_of="2026-10",
        compared="youdotcom 3.6.0, 2026-11-23",
    )

    api_key: Annotated[
        kit.Key | None, kit.Env("YDC_API_KEY", "YOUDOTCOM_API_KEY", "YOUCOM_API_KEY")
    ] = None
    keyless: bool = False
    base_url: kit.BaseUrl = "https://ydc-index.io/v1"
    keyless_url: kit.BaseUrl = "https://api.you.com/v1/agents"
    extraction: Literal["highlights", "full_page"] | None = None
    max_age: Annotated[int | None, kit.ProjectFile()] = None
    boost_domains: Annotated[
        list[str] | tuple[str, ...], AfterValidator(tuple), kit.ProjectFile()
    ] = ()

    def __post_init__(self) -> None:
        """Require a key, unless ``keyless`` is set."""
        if self.api_key is None and not self.keyless:
            raise kit.missing_field_error(type(self), "api_key")

    @kit.page_by_page
    def search(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> kit.Flow[tuple[kit.SearchResponse, bool]]:
        """Search, page by page until the limit is reached."""
        payload = self._payload(query, number, size)
        body = kit.decode(
            (yield self._request(payload)), self, meanings=self._meanings()
        )
        sections = body.get("results")
        web, _ = kit.take_results(sections, self.name, "web")
        news, _ = kit.take_results(sections, self.name, "news")
        items: list[Any] | None = [*web, *news]
        if sections is None and "metadata" not in body:
            items = None  # for the note that there is no list
        page = kit.parse_search(
            self,
            query,
            body,
            items,
            snippet=_find_snippet,
            content="contents.markdown",
            published="page_age",
            author="authors",
            markup="entities",
            request_id=kit.as_text(kit.find_value(body, "metadata.search_uuid")),
        )
        return page, len(web) >= size and number + 1 < _MAX_PAGES

    def _payload(
        self, query: kit.SearchQuery, number: int, size: int
    ) -> dict[str, Any]:
        payload = {
            "query": query.text,
            "count": size,
            "offset": number or None,
            "freshness": kit.date_span(query),
            "country": kit.find_country(query, self),
            "language": kit.find_language(query, self),
            "safesearch": query.safe_search,
        }
        if query.allowed_domains:  # with these, You.com takes no others
            payload["include_domains"] = list(query.allowed_domains)
        else:
            payload["exclude_domains"] = list(query.blocked_domains) or None
            payload["boost_domains"] = list(self.boost_domains) or None
        if self.extraction:
            payload["extraction"] = {"extraction_mode": self.extraction}
        return kit.with_extra(payload, query)

    def _request(self, payload: dict[str, Any]) -> kit.Request:
        if not self.keyless:
            return kit.post_json(self, "search", payload)
        params = {name: _join_list(value) for name, value in payload.items()}
        return kit.Request(url=f"{self.keyless_url}/search", params=params)

    read = kit.read_alone

    def read_many(
        self, urls: Sequence[str], /
    ) -> kit.Flow[list[kit.Page | WebSearchError]]:
        """Read up to ten pages in one request."""
        if self.keyless:
            raise kit.missing_field_error(type(self), "api_key")
        payload = {
            "urls": [kit.serialize(url) for url in urls],
            "formats": ["markdown", "metadata"],
            "max_age": kit.find_max_age(self.max_age),
        }
        response = yield kit.post_json(self, "contents", payload, target=tuple(urls))
        records = kit.find_records(urls, self._find_pages(response))
        return kit.parse_pages(self._parse_page, urls, records)

    def _parse_page(self, url: str, record: dict[str, Any] | None) -> kit.Page:
        facts = kit.as_object(record)
        text = kit.as_text(facts.get("markdown"))
        if text is None:
            raise kit.page_error(self)  # You.com does not say why
        return kit.parse_page(
            self,
            url,
            text,
            title=facts.get("title"),
            final_url=facts.get("url"),
            site_name=kit.find_value(facts, "metadata.site_name"),
        )

    def _find_pages(self, response: kit.Response) -> list[dict[str, Any]]:
        """Return the pages in the answer, which is a list."""
        is_whole = 200 <= response.status < 300 and not response.truncated
        pages = kit.as_json(response) if is_whole else None
        if isinstance(pages, list):
            return kit.as_objects(pages)
        body = kit.decode(response, self, verb="read", meanings=self._meanings())
        if not isinstance(body.get("results"), list):
            raise kit.unexpected_format(self.name, "read")
        return kit.as_objects(body["results"])

    def _meanings(self) -> dict[int, type[ServiceError]]:
        """Without a key, "too many requests" are those of a day."""
        return {429: QuotaExhausted} if self.keyless else {}


def _join_list(value: Any) -> Any:
    return ",".join(value) if isinstance(value, list) else value


def _find_snippet(result: Mapping[str, Any]) -> str:
    """Return the extracts of a page: highlights come instead of snippets."""
    extracts = kit.as_texts(kit.find_value(result, "contents.highlights"))
    extracts = extracts or kit.as_texts(result.get("snippets"))
    return " … ".join(extracts) or kit.as_text(result.get("description")) or ""
