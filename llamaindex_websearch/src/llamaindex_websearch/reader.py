"""Web pages as LlamaIndex documents."""

from __future__ import annotations
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Never, Unpack, cast

from llama_index.core.readers.base import BasePydanticReader
from llama_index.core.schema import Document
from pydantic import Field, PrivateAttr

from websearch_core import WebSearch
from websearch_core.client import CommonArguments
from websearch_core.errors import ConfigurationError, InvalidOption
from websearch_core.tools import (
    Loading,
    OnError,
    OptionMapping,
    make_web,
    show_arguments,
)

from .documents import as_document
from .events import report

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions

# The arguments of other readers and of their methods, and what to write instead.
_URLS = 'write WebPageReader().load_data(["https://docs.python.org/3/"]), or one URL'
_SEARCH = "write WebSearchRetriever(k=5).retrieve(query)"
_ELSEWHERE = MappingProxyType(
    {
        **dict.fromkeys(("urls", "url", "web_path", "web_paths"), _URLS),
        **dict.fromkeys(("query", "search_query", "params"), _SEARCH),
        **dict.fromkeys(
            ("sitemap_url", "start_url"),
            'write WebPageReader(crawl={"depth": 1}).load_data([url])',
        ),
        "filter": "write WebPageReader().load_data([each for each in "
        "WebSearch().map(url) if ...])",
        "pages": "write WebPageReader().load_data(urls), or "
        'WebSearchRetriever(provider="wikipedia").retrieve(query)',
        "prefix": 'write crawl={"scope": "path"}, and load_data([prefix])',
        **dict.fromkeys(
            ("wait_until", "browser"),
            'write reader="auto": a browser is used for pages that need one',
        ),
        "continue_on_failure": 'write on_error="skip" or "raise"',
        "fail_on_error": 'write on_error="raise" or "skip"',
        "html_to_text": "leave it out: a document is always Markdown",
        "include_url_in_text": "leave it out: models see the url in the metadata",
        "limit": 'write crawl={"limit": ...}',
        "max_depth": 'write crawl={"depth": ...}',
        "metadata_fn": "change the metadata of the documents that load_data returns",
        "mode": 'write reader="firecrawl"; add crawl=True for a site',
        "proxies": 'write http=Http(proxy="http://proxy.corp:3128", resolve="here")',
        "show_progress": "leave it out: each page is a WebSearchEvent",
        "text_splitter": "write text_splitter.get_nodes_from_documents(documents)",
        "website_extractor": "leave it out: the main part is found on any site",
    }
)


class WebPageReader(BasePydanticReader):
    """Reads web pages as Markdown, from public addresses only.

    ::

        documents = WebPageReader().load_data(["https://docs.python.org/3/"])

    A document has the URL of the page, after redirects, as its id. Its metadata has
    ``url``, ``title`` and everything else known about the page. An error page is never
    a document. ``IngestionPipeline(readers=...)`` takes the reader, too.

    Args:
        web: The `WebSearch` to read with.
        read_options: The options of each page, such as ``{"max_length": 8_000}``. By
            default, pages are whole.
        crawl: Read the pages of the sites that begin at the URLs: True, or options of
            `WebSearch.crawl`, such as ``{"limit": 500}``.
        on_error: What to do about a page that cannot be read: ``skip`` it, and log a
            warning with its URL; or ``raise`` its error. What concerns all pages, such
            as a wrong key or an exhausted budget, is always raised.
        arguments: The arguments of `WebSearch`, instead of *web*.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        ConfigurationError: An argument is invalid, or *web* is combined with arguments
            of `WebSearch`.
    """

    is_remote: bool = True
    web: Any = Field(exclude=True)
    read_options: OptionMapping | None = None
    crawl: Any = False
    on_error: OnError = "skip"
    _loading: Loading = PrivateAttr()

    @show_arguments(make_web)
    def __init__(
        self,
        *,
        web: WebSearch | None = None,
        read_options: ReadOptions | None = None,
        crawl: Mapping[str, Any] | bool = False,
        on_error: OnError = "skip",
        **arguments: Unpack[CommonArguments],
    ) -> None:
        options = cast("dict[str, Any]", arguments)
        options.pop("is_remote", None)  # what LlamaIndex has stored
        options.pop("class_name", None)
        for name in options.keys() & _ELSEWHERE.keys():
            raise ConfigurationError(f"{name}: {_ELSEWHERE[name]}")
        web = make_web(web, ("read_options", "crawl", "on_error"), **arguments)
        loading = Loading(web, read_options, on_error, crawl)
        values: dict[str, Any] = {
            "web": web,
            "read_options": read_options,
            "crawl": crawl,
            "on_error": on_error,
        }
        super().__init__(**values)
        self._loading = loading

    @classmethod
    def class_name(cls) -> str:
        """Return the name of the class, which LlamaIndex stores."""
        return "WebPageReader"

    def load_data(
        self, urls: str | Sequence[str] | None = None, **others: Never
    ) -> list[Document]:
        """Read pages, up to 32 at a time.

        Args:
            urls: One absolute http(s) URL, or several.
            others: Arguments of other readers; the error says what to write instead.

        Raises:
            InvalidOption: There are no *urls*, or there are *others*.
            UnsafeURL: With ``on_error="raise"``: a URL may not be opened from here.
            ServiceError: With ``on_error="raise"``: a page cannot be read; or no page
                can, as with a wrong key. The subclasses are in `websearch_core.errors`.
        """
        return list(self.lazy_load_data(urls, **others))

    def lazy_load_data(
        self, urls: str | Sequence[str] | None = None, **others: Never
    ) -> Iterator[Document]:
        """Read pages as their documents are requested, some of them ahead."""
        documents = self._loading.load(_check_urls(urls, others))
        while True:
            with report():
                document = next(documents, None)
            if document is None:
                return
            yield as_document(document)

    async def aload_data(
        self, urls: str | Sequence[str] | None = None, **others: Never
    ) -> list[Document]:
        """Do the same as `load_data` on the running event loop."""
        urls = _check_urls(urls, others)
        with report():
            return [as_document(page) async for page in self._loading.aload(urls)]

    async def alazy_load_data(
        self, urls: str | Sequence[str] | None = None, **others: Never
    ) -> list[Document]:
        """Same as `aload_data`: LlamaIndex awaits an iterable here, so the pages cannot
        be read lazily.
        """
        return await self.aload_data(urls, **others)


def _check_urls(
    urls: str | Sequence[str] | None, others: Mapping[str, object]
) -> str | Sequence[str]:
    for name in others:
        raise InvalidOption(f"{name}: {_ELSEWHERE.get(name, _URLS)}")
    if urls is None:
        raise InvalidOption(f"urls: must be a URL or a list of URLs, not None: {_URLS}")
    return urls
