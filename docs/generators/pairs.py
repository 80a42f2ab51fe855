"""Code for other packages, and what it becomes.

The last line of either side is the value that a program takes. The blocks of
docs/for-coding-agents.md are made of these pairs. The old side of
each was run once with the old package, and outcomes.json has what it gave; tests run the
new side against the same server. A pair that is added needs its outcome there, by hand or
by the benchmark in the git tag benchmarks-once.
"""

from __future__ import annotations
import re
from dataclasses import dataclass
from pathlib import Path

OUTCOMES = Path(__file__).with_name("outcomes.json")  # what the old packages gave

# Where the old names are: the module that people import them from.
OLD_IMPORTS = {
    "TavilySearch": "langchain_tavily",
    "TavilyExtract": "langchain_tavily",
    "TavilyMap": "langchain_tavily",
    "TavilyCrawl": "langchain_tavily",
    "ExaSearchResults": "langchain_exa",
    "ExaSearchRetriever": "langchain_exa",
    "PerplexitySearchResults": "langchain_perplexity",
    "PerplexitySearchRetriever": "langchain_perplexity",
    "ParallelSearchTool": "langchain_parallel",
    "ParallelExtractTool": "langchain_parallel",
    "ParallelSearchRetriever": "langchain_parallel",
    "YouSearchTool": "langchain_youdotcom",
    "YouContentsTool": "langchain_youdotcom",
    "YouRetriever": "langchain_youdotcom",
    "FireCrawlLoader": "langchain_community.document_loaders.firecrawl",
    "GoogleSearchAPIWrapper": "langchain_google_community",
    "GoogleSearchRun": "langchain_google_community",
    "GoogleSearchResults": "langchain_google_community",
    "TavilySearchResults": "langchain_community.tools.tavily_search",
    "TavilySearchAPIRetriever": "langchain_community.retrievers",
    "BraveSearch": "langchain_community.tools",
    "BraveSearchLoader": "langchain_community.document_loaders",
    "DuckDuckGoSearchRun": "langchain_community.tools",
    "DuckDuckGoSearchResults": "langchain_community.tools",
    "DuckDuckGoSearchAPIWrapper": "langchain_community.utilities",
    "SearxSearchWrapper": "langchain_community.utilities",
    "SearxSearchResults": "langchain_community.tools.searx_search.tool",
    "GoogleSerperAPIWrapper": "langchain_community.utilities",
    "GoogleSerperRun": "langchain_community.tools",
    "GoogleSerperResults": "langchain_community.tools",
    "SerpAPIWrapper": "langchain_community.utilities",
    "BingSearchAPIWrapper": "langchain_community.utilities",
    "BingSearchResults": "langchain_community.tools.bing_search",
    "WikipediaQueryRun": "langchain_community.tools",
    "WikipediaAPIWrapper": "langchain_community.utilities",
    "WikipediaRetriever": "langchain_community.retrievers",
    "WikipediaLoader": "langchain_community.document_loaders",
    "ArxivQueryRun": "langchain_community.tools",
    "ArxivAPIWrapper": "langchain_community.utilities",
    "ArxivRetriever": "langchain_community.retrievers",
    "StackExchangeTool": "langchain_community.tools.stackexchange.tool",
    "StackExchangeAPIWrapper": "langchain_community.utilities.stackexchange",
    "JinaSearch": "langchain_community.tools.jina_search",
    "MojeekSearch": "langchain_community.tools",
    "WebBaseLoader": "langchain_community.document_loaders",
    "AsyncHtmlLoader": "langchain_community.document_loaders",
    "RecursiveUrlLoader": "langchain_community.document_loaders",
    "SitemapLoader": "langchain_community.document_loaders",
    "PlaywrightURLLoader": "langchain_community.document_loaders",
    "SeleniumURLLoader": "langchain_community.document_loaders",
    "UnstructuredURLLoader": "langchain_community.document_loaders",
    "AsyncChromiumLoader": "langchain_community.document_loaders",
    "Html2TextTransformer": "langchain_community.document_transformers",
    "BeautifulSoupTransformer": "langchain_community.document_transformers",
    "TavilyToolSpec": "llama_index.tools.tavily_research",
    "BraveSearchToolSpec": "llama_index.tools.brave_search",
    "DuckDuckGoSearchToolSpec": "llama_index.tools.duckduckgo",
    "ExaToolSpec": "llama_index.tools.exa",
    "GoogleSearchToolSpec": "llama_index.tools.google",
    "BingSearchToolSpec": "llama_index.tools.bing_search",
    "WikipediaToolSpec": "llama_index.tools.wikipedia",
    "ArxivToolSpec": "llama_index.tools.arxiv",
    "ParallelWebSystemsToolSpec": "llama_index.tools.parallel_web_systems",
    "WikipediaReader": "llama_index.readers.wikipedia",
    "SimpleWebPageReader": "llama_index.readers.web",
    "AsyncWebPageReader": "llama_index.readers.web",
    "BeautifulSoupWebReader": "llama_index.readers.web",
    "TrafilaturaWebReader": "llama_index.readers.web",
    "ReadabilityWebPageReader": "llama_index.readers.web",
    "SitemapReader": "llama_index.readers.web",
    "FireCrawlWebReader": "llama_index.readers.web",
    "SoupStrainer": "bs4",
    "TavilyClient": "tavily",
    "DDGS": "ddgs",
    "Exa": "exa_py",
    "Firecrawl": "firecrawl",
    "GoogleSearch": "serpapi",
    "AsyncWebCrawler": "crawl4ai",
}

# Where the new names are.
NEW_IMPORTS = {
    **dict.fromkeys(
        ("OpenPageTool", "WebPageLoader", "WebSearchTool", "WebSearchToolkit"),
        "langchain_websearch",
    ),
    **dict.fromkeys(
        ("WebPageReader", "WebSearchToolSpec", "to_document"), "llamaindex_websearch"
    ),
    **dict.fromkeys(("Credentials", "Http", "WebSearch"), "websearch_core"),
    **dict.fromkeys(
        ("Exa", "Firecrawl", "SearXNG", "Tavily"), "websearch_core.providers"
    ),
    "Throttle": "websearch_core.layers",
    "Page": "websearch_core",
    "SearchResponse": "websearch_core",
}


@dataclass(frozen=True)
class Pair:
    """What one use of another package becomes.

    Args:
        before: The old code, whose last line is an expression. The names ``q``,
            ``key``, ``url``, ``urls`` and ``searx`` are given.
        now: The new code. A ``WebSearchRetriever`` stands in the module of its
            framework.
        differs: Why the values differ, if they do: a clause for a comment.
        framework: ``langchain``, ``llamaindex`` or ``clients``.
        kind: ``search`` or ``pages``.
    """

    before: str
    now: str
    differs: str = ""
    framework: str = "langchain"
    kind: str = "search"

    @property
    def name(self) -> str:
        """The old code in one line, which names the pair in tests and in the record."""
        return " ".join(self.before.split())

    def imports(self, *, old: bool = False) -> list[str]:
        """Return the lines that import the names of the old or the new code."""
        homes = (
            OLD_IMPORTS
            if old
            else NEW_IMPORTS | {"WebSearchRetriever": f"{self.framework}_websearch"}
        )
        words = set(
            re.findall(r"\b[A-Z]\w+(?=[(.)])", self.before if old else self.now)
        )
        by_module: dict[str, list[str]] = {}
        for name in sorted(words & set(homes)):
            by_module.setdefault(homes[name], []).append(name)
        return [
            f"from {module} import {', '.join(names)}"
            for module, names in sorted(by_module.items())
        ]


_SEARCH = (
    # Tavily
    Pair(
        'TavilySearch(max_results=2, topic="news").invoke({"query": q})["results"][0]["content"]',
        'WebSearch("tavily").search(q, limit=2, topic="news").results[0].snippet',
    ),
    Pair(
        '[(r["title"], r["url"], r["content"]) for r in TavilySearch().invoke({"query": q})["results"]]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("tavily").search(q).results]',
    ),
    Pair(
        'tool = TavilySearch(max_results=3, include_domains=["harbour.example"])\ntool.invoke({"query": q})',
        'tool = WebSearchTool(provider="tavily", limit=3, allowed_domains=["harbour.example"])\ntool.invoke({"query": q})',
        "a text with numbered sources, for a model",
    ),
    Pair(
        'TavilySearch(search_depth="advanced", include_answer=True).invoke({"query": q})["answer"]',
        'WebSearch(Tavily(api_key=key, search_depth="advanced", include_answer=True)).search(q).answer',
    ),
    Pair(
        'tool = TavilySearchResults(max_results=3)\n[r["content"] for r in tool.invoke({"query": q})]',
        'tool = WebSearch("tavily")\n[r.snippet for r in tool.search(q, limit=3).results]',
    ),
    Pair(
        '[(d.metadata["title"], d.metadata["source"], d.page_content) for d in TavilySearchAPIRetriever(k=3).invoke(q)]',
        '[(d.metadata["title"], d.metadata["source"], d.page_content) '
        'for d in WebSearchRetriever(provider="tavily", k=3).invoke(q)]',
    ),
    Pair(
        'TavilySearch(include_raw_content=True).invoke({"query": q})["results"][0]["raw_content"]',
        "WebSearch(Tavily(api_key=key, include_raw_content=True)).search(q).results[0].content",
    ),
    # Brave
    Pair(
        'BraveSearch.from_api_key(key, search_kwargs={"count": 3}).run(q)',
        'WebSearchTool(provider="brave", api_key=key, limit=3).run(q)',
        "a text with numbered sources, where JSON was",
    ),
    Pair(
        '[(d.metadata["link"], d.page_content) for d in BraveSearchLoader(q, key).load()]',
        '[(d.metadata["url"], d.page_content) for d in WebSearchRetriever(provider="brave", api_key=key).invoke(q)]',
    ),
    # DuckDuckGo
    Pair(
        "DuckDuckGoSearchRun().run(q)",
        'WebSearchTool(provider="duckduckgo").run(q)',
        "with titles and numbered sources, not only snippets",
    ),
    Pair(
        'DuckDuckGoSearchResults(output_format="list").run(q)[0]["link"]',
        'WebSearch("duckduckgo").search(q).results[0].url',
    ),
    Pair(
        '[(r["title"], r["link"], r["snippet"]) for r in DuckDuckGoSearchAPIWrapper(backend="duckduckgo").results(q, 3)]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("duckduckgo").search(q, limit=3).results]',
    ),
    # SearXNG
    Pair(
        '[(r["title"], r["link"], r["snippet"]) for r in SearxSearchWrapper(searx_host=searx).results(q, num_results=3)]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("searxng", base_url=searx).search(q, limit=3).results]',
    ),
    Pair(
        'SearxSearchWrapper(searx_host=searx, engines=["bing"], categories=["it"]).run(q)',
        'tool = WebSearchTool(provider=SearXNG(base_url=searx, engines=["bing"]), '
        'search_options={"extra": {"categories": "it"}})\ntool.run(q)',
        "with titles and numbered sources, not only snippets",
    ),
    Pair(
        "SearxSearchResults(wrapper=SearxSearchWrapper(searx_host=searx), num_results=3).run(q)",
        'WebSearchTool(provider="searxng", base_url=searx, limit=3).run(q)',
        "a text with numbered sources, where the text of a list was",
    ),
    # Google's results
    Pair(
        '[(r["title"], r["link"], r["snippet"]) for r in GoogleSerperAPIWrapper().results(q)["organic"]]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("serper").search(q).results]',
    ),
    Pair(
        'GoogleSerperAPIWrapper().results(q)["answerBox"]["answer"]',
        'WebSearch("serper").search(q).answer',
    ),
    Pair(
        '[(r["title"], r["link"]) for r in GoogleSerperAPIWrapper(type="news").results(q)["news"]]',
        '[(r.title, r.url) for r in WebSearch("serper").search(q, topic="news").results]',
    ),
    Pair(
        'asyncio.run(GoogleSerperAPIWrapper().aresults(q))["organic"][0]["link"]',
        'asyncio.run(WebSearch("serper").asearch(q)).results[0].url',
    ),
    Pair(
        "GoogleSerperRun(api_wrapper=GoogleSerperAPIWrapper()).run(q)",
        'WebSearchTool(provider="serper").run(q)',
        "with titles and numbered sources, not only snippets",
    ),
    Pair(
        "GoogleSerperResults(api_wrapper=GoogleSerperAPIWrapper()).run(q)",
        'WebSearchTool(provider="serper").run(q)',
        "a text with numbered sources, where the text of a dictionary was",
    ),
    Pair(
        '[(r["title"], r["link"], r["snippet"]) for r in SerpAPIWrapper().results(q)["organic_results"]]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("serpapi").search(q).results]',
    ),
    Pair(
        'SerpAPIWrapper(params={"engine": "google", "gl": "us", "hl": "en"}).run(q)',
        'WebSearchTool(provider="serpapi", search_options={"country": "US", "language": "en"}).run(q)',
        "with titles and numbered sources, not only snippets",
    ),
    Pair(
        '[(r["title"], r["link"], r["snippet"]) '
        'for r in GoogleSearchAPIWrapper(google_api_key=key, google_cse_id="1").results(q, 3)]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("serper").search(q, limit=3).results]',
    ),
    Pair(
        'wrapper = GoogleSearchAPIWrapper(google_api_key=key, google_cse_id="1")\nGoogleSearchRun(api_wrapper=wrapper).run(q)',
        'WebSearchTool(provider="serper").run(q)',
        "with titles and numbered sources, not only snippets",
    ),
    Pair(
        'wrapper = GoogleSearchAPIWrapper(google_api_key=key, google_cse_id="1")\n'
        "GoogleSearchResults(api_wrapper=wrapper, num_results=3).run(q)",
        'WebSearchTool(provider="serper", limit=3).run(q)',
        "a text with numbered sources, where the text of a list was",
    ),
    # Bing, whose API Microsoft has shut down
    Pair(
        'wrapper = BingSearchAPIWrapper(bing_subscription_key=key, bing_search_url="https://api.bing.microsoft.com/v7.0/search")\n'
        '[(r["title"], r["link"], r["snippet"]) for r in wrapper.results(q, 3)]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("brave").search(q, limit=3).results]',
    ),
    Pair(
        'wrapper = BingSearchAPIWrapper(bing_subscription_key=key, bing_search_url="https://api.bing.microsoft.com/v7.0/search")\n'
        "BingSearchResults(api_wrapper=wrapper, num_results=3).run(q)",
        'WebSearchTool(provider="brave", limit=3).run(q)',
        "a text with numbered sources, where the text of a list was",
    ),
    # Exa
    Pair(
        "[(r.title, r.url, r.text) for r in ExaSearchResults(exa_api_key=key)._run(q, num_results=3).results]",
        '[(r.title, r.url, r.snippet) for r in WebSearch("exa", api_key=key).search(q, limit=3).results]',
    ),
    Pair(
        '[(d.metadata["title"], d.metadata["url"], d.page_content) '
        "for d in ExaSearchRetriever(exa_api_key=key, k=3).invoke(q)]",
        '[(d.metadata["title"], d.metadata["url"], d.page_content) '
        'for d in WebSearchRetriever(provider="exa", api_key=key, k=3).invoke(q)]',
    ),
    # Perplexity, Parallel, You, Jina, Mojeek
    Pair(
        '[(r["title"], r["url"], r["snippet"]) for r in PerplexitySearchResults().invoke({"query": q})]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("perplexity").search(q).results]',
    ),
    Pair(
        '[(d.metadata["title"], d.metadata["url"], d.page_content) for d in PerplexitySearchRetriever(k=3).invoke(q)]',
        '[(d.metadata["title"], d.metadata["url"], d.page_content) '
        'for d in WebSearchRetriever(provider="perplexity", k=3).invoke(q)]',
    ),
    Pair(
        '[r["url"] for r in PerplexitySearchResults().invoke({"query": [q, "fees"]})]',
        'answers = WebSearch("perplexity").search_many([q, "fees"])\n[r.url for found in answers if isinstance(found, SearchResponse) for r in found.results]',
        "each query has an answer of its own",
    ),
    Pair(
        "tool = ParallelSearchTool()\n"
        '[(r["title"], r["url"], r["excerpts"][0]) for r in tool.invoke({"objective": q, "search_queries": [q]})["results"]]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("parallel").search(q).results]',
    ),
    Pair(
        '[(d.metadata["title"], d.metadata["url"], d.page_content) for d in ParallelSearchRetriever(max_results=3).invoke(q)]',
        '[(d.metadata["title"], d.metadata["url"], d.page_content) '
        'for d in WebSearchRetriever(provider="parallel", k=3).invoke(q)]',
    ),
    Pair(
        "YouSearchTool().run(q)",
        'WebSearchTool(provider="you").run(q)',
        "with titles and numbered sources",
    ),
    Pair(
        '[(d.metadata["title"], d.metadata["url"]) for d in YouRetriever(k=3).invoke(q)]',
        '[(d.metadata["title"], d.metadata["url"]) for d in WebSearchRetriever(provider="you", k=3).invoke(q)]',
    ),
    Pair(
        "JinaSearch().run(q)",
        'WebSearchTool(provider="jina").run(q)',
        "a text with numbered sources, where JSON was",
    ),
    Pair(
        'MojeekSearch.config(api_key=key, search_kwargs={"t": 3}).run(q)',
        'WebSearchTool(provider="mojeek", api_key=key, limit=3).run(q)',
        "a text with numbered sources, where JSON was",
    ),
    # Wikipedia, arXiv, Stack Exchange
    Pair(
        "WikipediaQueryRun(api_wrapper=WikipediaAPIWrapper(top_k_results=3)).run(q)",
        'WebSearchTool(provider="wikipedia", limit=3).run(q)',
        "the passages that answer, not the beginnings of articles; `read_top=3` reads the articles",
    ),
    Pair(
        '[d.metadata["title"] for d in WikipediaRetriever(top_k_results=3).invoke(q)]',
        '[d.metadata["title"] for d in WebSearchRetriever(provider="wikipedia", k=3).invoke(q)]',
    ),
    Pair(
        '[d.metadata["title"] for d in WikipediaLoader(q, load_max_docs=3).load()]',
        '[d.metadata["title"] for d in WebSearchRetriever(provider="wikipedia", k=3).invoke(q)]',
    ),
    Pair(
        '[d.metadata["title"] for d in WikipediaAPIWrapper(top_k_results=3, lang="en").load(q)]',
        '[d.metadata["title"] for d in '
        'WebSearchRetriever(provider="wikipedia", k=3, search_options={"language": "en"}).invoke(q)]',
    ),
    Pair(
        "ArxivQueryRun(api_wrapper=ArxivAPIWrapper(top_k_results=3)).run(q)",
        'WebSearchTool(provider="arxiv", limit=3).run(q)',
        "with URLs and numbered sources",
    ),
    Pair(
        '[(d.metadata["Title"], d.page_content) for d in ArxivRetriever(top_k_results=3).invoke(q)]',
        '[(d.metadata["title"], d.page_content) for d in WebSearchRetriever(provider="arxiv", k=3).invoke(q)]',
    ),
    Pair(
        "StackExchangeTool(api_wrapper=StackExchangeAPIWrapper()).run(q)",
        'WebSearchTool(provider="stackexchange").run(q)',
        "with URLs and numbered sources",
    ),
)

_PAGES = (
    Pair(
        "[d.page_content for d in WebBaseLoader(urls).load()]",
        "[d.page_content for d in WebPageLoader(urls).load()]",
        "Markdown of the main part, without menus",
    ),
    Pair(
        '[d.metadata["source"] for d in WebBaseLoader(urls, continue_on_failure=True).load()]',
        '[d.metadata["source"] for d in WebPageLoader(urls, on_error="skip").load()]',
    ),
    Pair(
        'len(WebBaseLoader([*urls, "http://harbour.example/broken"]).load())',
        'len(WebPageLoader([*urls, "http://harbour.example/broken"], on_error="skip").load())',
        "an error page is never a document",
    ),
    Pair(
        'WebBaseLoader(url, bs_kwargs={"parse_only": SoupStrainer("main")}).load()[0].page_content',
        "WebPageLoader(url).load()[0].page_content",
        "the main part is found without a selector, as Markdown",
    ),
    Pair(
        'WebBaseLoader("https://harbour.example/tides", header_template={"X-Key": key}).load()[0].metadata["title"]',
        'login = Http(credentials={"https://harbour.example": Credentials(headers={"X-Key": key})})\n'
        'WebPageLoader("https://harbour.example/tides", http=login).load()[0].metadata["title"]',
    ),
    Pair(
        'WebBaseLoader(urls, requests_per_second=2).load()[0].metadata["title"]',
        'WebPageLoader(urls, throttle=Throttle(host_requests_per_second=2)).load()[0].metadata["title"]',
    ),
    Pair(
        "[d.page_content for d in Html2TextTransformer().transform_documents(AsyncHtmlLoader(urls).load())]",
        "[d.page_content for d in WebPageLoader(urls).load()]",
        "Markdown of the main part, without menus",
    ),
    Pair(
        "pages = AsyncHtmlLoader(urls).load()\n"
        'BeautifulSoupTransformer().transform_documents(pages, tags_to_extract=["p"])[0].page_content',
        "WebPageLoader(urls).load()[0].page_content",
        "Markdown of the main part, without menus",
    ),
    Pair(
        'sorted({d.metadata["title"] for d in RecursiveUrlLoader("http://harbour.example/", max_depth=2).load()})',
        'sorted({d.metadata["title"] for d in '
        'WebPageLoader("http://harbour.example/", crawl={"depth": 1}, on_error="skip").load()})',
        "an error page is never a document",
    ),
    Pair(
        'sorted(d.metadata["source"] for d in SitemapLoader("http://harbour.example/sitemap.xml").load())',
        'sorted(d.metadata["source"] for d in '
        'WebPageLoader("http://harbour.example/sitemap.xml", crawl={"depth": 1}, on_error="skip").load())',
    ),
    Pair(
        'loader = SitemapLoader("http://harbour.example/sitemap.xml", filter_urls=["http://harbour.example/t"])\n'
        '[d.metadata["source"] for d in loader.load()]',
        'listed = WebSearch().map("http://harbour.example/sitemap.xml")\n'
        'loader = WebPageLoader([each for each in listed if each.startswith("http://harbour.example/t")])\n'
        '[d.metadata["source"] for d in loader.load()]',
    ),
    Pair(
        '[d.metadata["url"] for d in FireCrawlLoader("", api_key=key, mode="search", params={"query": q}).load()]',
        '[d.metadata["url"] for d in WebSearchRetriever(provider="firecrawl", api_key=key).invoke(q)]',
    ),
    Pair(
        'FireCrawlLoader(url, api_key=key, mode="scrape").load()[0].page_content',
        "WebPageLoader(url, reader=Firecrawl(api_key=key)).load()[0].page_content",
    ),
    Pair(
        '[d.page_content for d in FireCrawlLoader("http://harbour.example/", api_key=key, mode="crawl").load()]',
        "[d.page_content for d in "
        'WebPageLoader("http://harbour.example/", reader=Firecrawl(api_key=key), crawl=True, on_error="skip").load()]',
        "the first page, too",
    ),
    Pair(
        "PlaywrightURLLoader(urls).load()[0].page_content",
        'WebPageLoader(urls, reader="auto").load()[0].page_content',
        "Markdown of the main part; a browser only for pages that need one",
    ),
    Pair(
        "SeleniumURLLoader(urls).load()[0].page_content",
        'WebPageLoader(urls, reader="auto").load()[0].page_content',
        "Markdown of the main part; a browser only for pages that need one",
    ),
    Pair(
        "AsyncChromiumLoader(urls).load()[0].page_content",
        'WebPageLoader(urls, reader="auto").load()[0].page_content',
        "Markdown of the main part, not HTML; a browser only for pages that need one",
    ),
    Pair(
        "UnstructuredURLLoader(urls).load()[0].page_content",
        "WebPageLoader(urls).load()[0].page_content",
        "Markdown of the main part, without menus",
    ),
    Pair(
        'TavilyExtract().invoke({"urls": urls})["results"][0]["raw_content"]',
        'WebPageLoader(urls, reader="tavily").load()[0].page_content',
    ),
    Pair(
        'TavilyMap().invoke({"url": "http://harbour.example/"})["results"]',
        'list(WebSearch(reader="tavily").map("http://harbour.example/"))',
        "the first page, too",
    ),
    Pair(
        '[r["raw_content"] for r in TavilyCrawl().invoke({"url": "http://harbour.example/"})["results"]]',
        "[d.page_content for d in "
        'WebPageLoader("http://harbour.example/", reader="tavily", crawl=True, on_error="skip").load()]',
        "the first page, too",
    ),
    Pair(
        'ParallelExtractTool().invoke({"urls": urls})[0]["content"]',
        'WebPageLoader(urls, reader="parallel").load()[0].page_content',
    ),
    Pair(
        'YouContentsTool().run({"urls": urls})',
        'tool = OpenPageTool(reader="you")\n[tool.run({"url": each}) for each in urls]',
        "one page for each call",
    ),
)

_LLAMAINDEX = (
    Pair(
        "[d.text for d in TavilyToolSpec(api_key=key).search(q, max_results=3)]",
        '[d.text for d in WebSearchToolSpec(provider="tavily", api_key=key).web_search(q, limit=3)]',
    ),
    Pair(
        '[(d.metadata["url"], d.text) for d in TavilyToolSpec(api_key=key).extract(urls)]',
        '[(d.metadata["url"], d.text) for d in WebPageReader(reader=Tavily(api_key=key)).load_data(urls)]',
        kind="pages",
    ),
    Pair(
        "results = BraveSearchToolSpec(api_key=key).brave_search(q, num_results=3)\n"
        '[(r["title"], r["url"], r["description"]) for d in results for r in json.loads(d.text)["web"]["results"]]',
        'results = WebSearchToolSpec(provider="brave", api_key=key).web_search(q, limit=3)\n'
        '[(d.metadata["title"], d.metadata["url"], d.text) for d in results]',
    ),
    Pair(
        '[(r["title"], r["href"], r["body"]) for r in DuckDuckGoSearchToolSpec().duckduckgo_full_search(q, max_results=3)]',
        '[(d.metadata["title"], d.metadata["url"], d.text) '
        'for d in WebSearchToolSpec(provider="duckduckgo").web_search(q, limit=3)]',
    ),
    Pair(
        "[(d.text) for d in ExaToolSpec(api_key=key).search_and_retrieve_documents(q, num_results=3)]",
        '[(d.text) for d in WebSearchToolSpec(provider="exa", api_key=key).web_search(q, limit=3)]',
    ),
    Pair(
        '[(r["title"], r["url"]) for r in ExaToolSpec(api_key=key).search(q, num_results=3)]',
        '[(d.metadata["title"], d.metadata["url"]) '
        'for d in WebSearchToolSpec(provider="exa", api_key=key).web_search(q, limit=3)]',
    ),
    Pair(
        "[d.text for d in ExaToolSpec(api_key=key).retrieve_documents(urls)]",
        "[d.text for d in WebPageReader(reader=Exa(api_key=key)).load_data(urls)]",
        kind="pages",
    ),
    Pair(
        'found = GoogleSearchToolSpec(key=key, engine="1").google_search(q)\n[(r["title"], r["link"], r["snippet"]) for r in found]',
        '[(d.metadata["title"], d.metadata["url"], d.text) for d in WebSearchToolSpec(provider="serper").web_search(q)]',
    ),
    Pair(
        "[(title, url, text) for title, text, url in BingSearchToolSpec(api_key=key).bing_news_search(q)]",
        'spec = WebSearchToolSpec(provider="brave", search_options={"topic": "news"})\n'
        '[(d.metadata["title"], d.metadata["url"], d.text) for d in spec.web_search(q)]',
    ),
    Pair(
        "WikipediaToolSpec().search_data(q)",
        'str(WebSearchToolSpec(provider="wikipedia").web_search(q))',
        "a text with numbered sources, where one article was",
    ),
    Pair(
        "[d.text for d in ArxivToolSpec(max_results=3).arxiv_query(q)]",
        '[(d.metadata["title"], d.text) for d in WebSearchToolSpec(provider="arxiv").web_search(q, limit=3)]',
        "the title is in the metadata",
    ),
    Pair(
        '[d.metadata["url"] for d in asyncio.run(ParallelWebSystemsToolSpec(api_key=key).search(objective=q))]',
        '[d.metadata["url"] for d in WebSearchToolSpec(provider="parallel", api_key=key).web_search(q)]',
    ),
    Pair(
        'WikipediaReader().load_data(pages=["Tide tables of Ellersund"])[0].text',
        'WebPageReader().load_data(["https://en.wikipedia.org/wiki/Tide_tables_of_Ellersund"])[0].text',
        "the page as Markdown",
        kind="pages",
    ),
    *(
        Pair(
            f"{old}.load_data(urls)[0].text",
            "WebPageReader().load_data(urls)[0].text",
            why,
            kind="pages",
        )
        for old, why in (
            (
                "SimpleWebPageReader(html_to_text=True)",
                "Markdown of the main part, without menus",
            ),
            (
                "AsyncWebPageReader(html_to_text=True)",
                "Markdown of the main part, without menus",
            ),
            ("BeautifulSoupWebReader()", "Markdown of the main part, without menus"),
            ("TrafilaturaWebReader()", "Markdown of the main part"),
        )
    ),
    Pair(
        "ReadabilityWebPageReader().load_data(url)[0].text",
        'WebPageReader(reader="auto").load_data([url])[0].text',
        "Markdown; a browser only for pages that need one",
        kind="pages",
    ),
    Pair(
        'sorted(d.metadata["Source"] for d in SitemapReader().load_data("http://harbour.example/sitemap.xml"))',
        'sorted(d.metadata["url"] for d in WebPageReader(crawl={"depth": 1}).load_data(["http://harbour.example/sitemap.xml"]))',
        kind="pages",
    ),
    Pair(
        'FireCrawlWebReader(api_key=key, mode="scrape").load_data(url)[0].text',
        "WebPageReader(reader=Firecrawl(api_key=key)).load_data([url])[0].text",
        kind="pages",
    ),
)

_CLIENTS = (
    Pair(
        '[(r["title"], r["url"], r["content"]) for r in TavilyClient(key).search(q, max_results=3)["results"]]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("tavily", api_key=key).search(q, limit=3).results]',
    ),
    Pair(
        '[r["raw_content"] for r in TavilyClient(key).search(q, max_results=3, include_raw_content=True)["results"]]',
        "found = WebSearch(Tavily(api_key=key, include_raw_content=True)).search(q, limit=3)\n"
        "[r.content for r in found.results]",
    ),
    Pair(
        '[r["raw_content"] for r in TavilyClient(key).extract(urls)["results"]]',
        'pages = WebSearch("tavily", reader="tavily", api_key=key).read_many(urls)\n[page.content for page in pages if isinstance(page, Page)]',
        kind="pages",
    ),
    Pair(
        '[(r["title"], r["href"], r["body"]) '
        'for r in DDGS().text(q, max_results=3, timelimit="w", backend="duckduckgo")]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("duckduckgo").search(q, limit=3, time_range="week").results]',
    ),
    Pair(
        "[(r.title, r.url, r.text) for r in Exa(key).search_and_contents(q, num_results=3, text=True).results]",
        '[(r.title, r.url, r.snippet) for r in WebSearch("exa", api_key=key).search(q, limit=3).results]',
    ),
    Pair(
        "Firecrawl(api_key=key).scrape(url).markdown",
        "WebSearch(reader=Firecrawl(api_key=key)).read(url).content",
        kind="pages",
    ),
    Pair(
        'found = GoogleSearch({"q": q, "api_key": key}).get_dict()\n'
        '[(r["title"], r["link"], r["snippet"]) for r in found["organic_results"]]',
        '[(r.title, r.url, r.snippet) for r in WebSearch("serpapi", api_key=key).search(q).results]',
    ),
    Pair(
        "async def crawl():\n    async with AsyncWebCrawler() as crawler:\n        return (await crawler.arun(url)).markdown\n"
        "asyncio.run(crawl())",
        'WebSearch(reader="auto").read(url).content',
        "without menus; a browser only for pages that need one",
        kind="pages",
    ),
    Pair(
        "import requests, trafilatura\ntrafilatura.extract(requests.get(url).text)",
        "WebSearch().read(url).content",
        "Markdown, with headings",
        kind="pages",
    ),
)

PAIRS = (
    *_SEARCH,
    *(Pair(p.before, p.now, p.differs, kind="pages") for p in _PAGES),
    *(Pair(p.before, p.now, p.differs, "llamaindex", p.kind) for p in _LLAMAINDEX),
    *(Pair(p.before, p.now, p.differs, "clients", p.kind) for p in _CLIENTS),
)
