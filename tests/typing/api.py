"""The public types, checked by mypy and never run."""

from __future__ import annotations
import ssl
from typing import Annotated, assert_type

import httpx
import httpx2
from pydantic import SecretStr

import websearch_core
from websearch_core import (
    Http,
    Page,
    SearchQuery,
    SearchResponse,
    SearchResult,
    Timeout,
    WebSearch,
    WebSearchError,
    providers,
)
from websearch_core.errors import AllProvidersFailed, RateLimited
from websearch_core.flow import Flow, Request
from websearch_core.layers import Fallback, Layer, Relax, Retry
from websearch_core.provenance import Ledger
from websearch_core.provider import (
    REQUIRED,
    BaseUrl,
    Env,
    Key,
    PageReader,
    Provider,
    SearchProvider,
    from_function,
    key_text,
    provider,
)
from websearch_core.provider._ports import can
from websearch_core.providers import (
    Brave,
    Browser,
    Ddgs,
    Direct,
    External,
    Local,
    ProviderInfo,
    SearXNG,
    Tavily,
    You,
    get_all,
    get_default,
)
from websearch_core.settings import Settings
from websearch_core.tools import make_web

web = WebSearch()
assert_type(
    web.search("kelp", limit=3, time_range="week", allowed_domains=["python.org"]),
    SearchResponse,
)
assert_type(web.search(SearchQuery(text="kelp")).results, tuple[SearchResult, ...])
assert_type(web.read("https://a.example/", max_length=100), Page)
assert_type(web.read("https://a.example/", query="kelp", max_tokens=100), Page)
assert_type(
    web.search("kelp", read_top=3, passage_length=500).results[0].content, str | None
)
web.read("https://a.example/", qurey="kelp")  # type: ignore[call-arg]
assert_type(web.read_many(["https://a.example/"]), list[Page | WebSearchError])
web.search("kelp", limti=3)  # type: ignore[call-arg]
web.search("kelp", time_range="decade")  # type: ignore[arg-type]
WebSearch(
    ["tavily", Fallback()(Retry()(Direct()))], reader="direct", internal=["10.0.0.0/8"]
)


async def concurrent() -> None:
    """Both colours have the same types."""
    async with WebSearch("brave", api_key="key") as other:
        assert_type(await other.asearch("kelp"), SearchResponse)
        assert_type(await other.aread("https://a.example/"), Page)


class Mine:
    """A provider needs no base class."""

    name = "mine"

    def search(self, query: SearchQuery, /) -> Flow[SearchResponse]:
        """Search."""
        response = yield Request(url="https://a.example/", params={"q": query.text})
        return SearchResponse(query=query.text, request_id=str(response.status))


searcher: SearchProvider = Mine()
reader: PageReader = Direct()
both: SearchProvider | PageReader = Tavily(keyless=True)
Brave(key="key")  # type: ignore[call-arg]
WebSearch(Mine(), reader=reader)

layers: list[Layer] = [Retry(attempts=5), Relax(), Fallback()]
WebSearch(Mine(), layers=layers, retry=None)
WebSearch(Mine(), layers=None)
WebSearch(Mine(), layers=[Mine()])  # type: ignore[list-item]
web.search("kelp", unsupported="note")
web.search("kelp", unsupported="ignore")  # type: ignore[arg-type]
Retry(5)(Mine())
Retry()("brave")  # type: ignore[arg-type]

WebSearch(
    "brave",
    api_key=SecretStr("key"),
    http=Http(verify=ssl.create_default_context(), library="httpx2"),
)
WebSearch(http=Http(client=httpx.Client(), async_client=httpx.AsyncClient()))
WebSearch(http=Http(client=httpx2.Client(), async_client=httpx2.AsyncClient()))
WebSearch(http=Http(client=httpx.AsyncClient()))  # type: ignore[arg-type]
WebSearch(http=Http(library="requests"))  # type: ignore[arg-type]
WebSearch(http=Http(verify=False))  # type: ignore[arg-type]
WebSearch("brave", api_key=3)  # type: ignore[arg-type]
WebSearch(read_options={"links": "hide"})  # type: ignore[arg-type]
assert_type(make_web(None, (), timeout=3, rate_limiter=None), WebSearch)
Settings(
    provider="brave",
    reader=["direct", "jina"],
    internal=["10.0.0.0/8"],
    budget="1 USD/day",
    allowed_domains=["a.example"],
)
assert_type(Settings(timeout=5, retry=5).timeout, Timeout)
assert_type(
    SearchQuery(text="kelp", allowed_domains=["a.example"]).allowed_domains,
    tuple[str, ...],
)
make_web(None, (), timeuot=3)  # type: ignore[call-arg]
assert_type(get_all(), list[ProviderInfo])
assert_type(get_default().limits.get("results"), int | None)
assert_type(websearch_core.__version__, str)
_ = websearch_core.errors.nonsense  # type: ignore[attr-defined]
_ = providers.Brvae  # type: ignore[attr-defined]


async def find(query: SearchQuery) -> list[SearchResult]:
    """An async function is as welcome as a blocking one."""
    return [SearchResult(title=query.text, url="https://a.example/")]


assert_type(from_function("mine", search=find), SearchProvider)
assert_type(from_function("mine", read=lambda url: url), PageReader)
WebSearch(from_function("mine", search=find, read=lambda url: url))
from_function("mine", search=lambda query: 3)  # type: ignore[arg-type, return-value]


def searches(provider: Provider) -> None:
    """What a provider can do is known after asking."""
    provider.search(SearchQuery(text="kelp"))  # type: ignore[union-attr]
    if can(provider, "search"):
        assert_type(provider.search(SearchQuery(text="kelp")), Flow[SearchResponse])


assert_type(Ledger("seen").check("https://a.example/"), str)
assert_type(Ledger("seen").check("https://a.example/", ("tenant", "thread")), str)
assert_type(RateLimited("slow").retry_after, float | None)
assert_type(AllProvidersFailed("all", [RateLimited("slow")]).code, str)

# A provider takes a key as text, and what is required may be in the environment.
Tavily(api_key="text")
Tavily(api_key=SecretStr("text"))
Tavily(api_key=lambda: "text", search_depth="advanced")
Brave(extra_snippets=True)
SearXNG(engines=["bing"])
SearXNG(engines=("bing",), base_url="http://localhost:8888")
You(api_key="text", boost_domains=["a.example"])
External(base_url="https://search.example", api_key="text")
Local(path="notes.db")
Browser(browser_path="/usr/bin/chromium")
Ddgs(proxy="socks5h://localhost:1080")
Tavily(api_key=3)  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]
Tavily(serach_depth="advanced")  # type: ignore[call-arg] # pyright: ignore[reportCallIssue]
SearXNG(engines="bing")  # type: ignore[arg-type] # pyright: ignore[reportArgumentType]


@provider
class Lighthouse:
    """A provider of a plug-in."""

    name = "lighthouse"

    api_key: Annotated[Key, Env("LIGHTHOUSE_API_KEY")] = REQUIRED
    base_url: BaseUrl = "https://lighthouse.example"


assert_type(key_text(Lighthouse().api_key), str)
assert_type(Lighthouse(api_key="text").base_url, str)
