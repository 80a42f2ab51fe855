"""A document loader for web pages."""

from __future__ import annotations
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Unpack

from langchain_core.document_loaders import BaseLoader
from langchain_core.documents import Document

from websearch_core import Page, WebSearch
from websearch_core.client import CommonArguments
from websearch_core.errors import ConfigurationError, InvalidOption
from websearch_core.tools import (
    Loading,
    OnError,
    PlainDocument,
    list_urls,
    make_document,
    make_web,
    show_arguments,
)

if TYPE_CHECKING:  # it would import the parsers of pages
    from websearch_core.reading import ReadOptions

_URLS = (
    'write urls=..., or pass it first: WebPageLoader("https://docs.python.org/3/"), or '
    "a list of URLs"
)
_FOREIGN_ARGUMENTS = {
    **dict.fromkeys(("web_path", "web_paths", "url", "sitemap_url"), _URLS),
    **dict.fromkeys(
        (
            "bs_kwargs",
            "bs_get_text_kwargs",
            "default_parser",
            "extractor",
            "evaluator",
            "remove_selectors",
            "parsing_function",
        ),
        "leave it out: the main part of a page is found without it",
    ),
    **dict.fromkeys(
        ("headless", "wait_until", "browser", "executable_path", "binary_location"),
        'write reader="auto": a browser is used for pages that need one',
    ),
    **dict.fromkeys(
        ("filter_urls", "link_regex", "exclude_dirs", "blocksize", "blocknum"),
        "write WebPageLoader([each for each in WebSearch().map(url) if ...])",
    ),
    **dict.fromkeys(
        (
            "use_async",
            "check_response_status",
            "prevent_outside",
            "restrict_to_same_domain",
        ),
        "leave it out: this is always on",
    ),
    **dict.fromkeys(
        ("continue_on_failure", "ignore_load_errors"), 'write on_error="skip"'
    ),
    **dict.fromkeys(
        ("meta_function", "metadata_extractor"),
        "change the metadata of the documents that load returns",
    ),
    **dict.fromkeys(
        ("encoding", "autoset_encoding"),
        "leave it out: pages are decoded as browsers do",
    ),
    **dict.fromkeys(
        ("show_progress", "show_progress_bar"),
        "leave it out: on_event=... takes a function that is called for each page",
    ),
    **dict.fromkeys(
        ("query", "search_query", "pages", "load_max_docs"),
        "write WebSearchRetriever(k=5).invoke(query)",
    ),
    "text_splitter": "write WebPageLoader(urls).load_and_split(text_splitter)",
    "is_local": "read the file, and give its URLs to WebPageLoader",
    "max_depth": 'write crawl={"depth": ...}, one less than max_depth, and '
    'on_error="skip"',
    "mode": 'write reader="firecrawl"; add crawl=True for a site, or take '
    'WebSearchRetriever(provider="firecrawl")',
    "requests_kwargs": "write http=Http(...): credentials, proxy and verify",
    "header_template": 'write http=Http(credentials={"https://wiki.corp": '
    'Credentials(headers={"X-Key": "env:KEY"})})',
    "proxies": 'write http=Http(proxy="http://proxy.corp:3128", resolve="here")',
    "raise_for_status": "leave it out: an error page is never a document, and "
    'on_error="skip" skips it',
}  # the arguments of other loaders
_METHODS = dict.fromkeys(
    ("scrape", "scrape_all", "ascrape_all", "fetch_all"),
    "[document.page_content for document in loader.load()]",
)  # and their methods


class WebPageLoader(BaseLoader):
    """Loads pages as Markdown, one document each.

    ::

        WebPageLoader(["https://docs.python.org/3/"]).load()

    In the metadata, ``source`` and ``url`` are the URL of the page after redirects, and
    ``requested_url`` is the requested one if it differs. An error page is never a
    document. The metadata depends on the page alone, so indexing it twice
    (``langchain_core.indexing.index``) does nothing the second time.

    Args:
        urls: One absolute http(s) URL, or several.
        web: The `WebSearch` to read with; or pass its arguments instead, such as
            ``internal`` for pages of your own network.
        read_options: The options of each page, such as ``{"max_length": 8_000}``. By
            default, pages are whole. The metadata of a longer page has ``truncated``.
        crawl: Load the pages of the sites that begin at *urls*: True, or options of
            `WebSearch.crawl`, such as ``{"limit": 500}``. Then write
            ``on_error="skip"``, too: few sites have no broken link.
        on_error: What to do about a page that cannot be read: ``raise`` its error, or
            ``skip`` the page, and log a warning with its URL. What concerns all pages,
            such as a wrong key or an exhausted budget, is always raised.

    Raises:
        InvalidOption: One of the options is unknown or wrong.
        ConfigurationError: An argument is invalid, or *web* is combined with arguments
            of `WebSearch`.
    """

    @show_arguments(make_web)
    def __init__(
        self,
        urls: str | Sequence[str] | None = None,
        *,
        web: WebSearch | None = None,
        read_options: ReadOptions | None = None,
        crawl: Mapping[str, Any] | bool = False,
        on_error: OnError = "raise",
        **arguments: Unpack[CommonArguments],
    ) -> None:
        for name in _FOREIGN_ARGUMENTS.keys() & arguments:
            raise ConfigurationError(f"{name}: {_FOREIGN_ARGUMENTS[name]}")
        if urls is None:
            raise InvalidOption(
                f"urls: must be a URL or a list of URLs, not None: {_URLS}"
            )
        self.urls: list[str] = list_urls(urls)
        own = ("read_options", "crawl", "on_error")
        self.web: WebSearch = make_web(web, own, **arguments)
        self._loading = Loading(self.web, read_options, on_error, crawl)

    # hidden from type checkers: with it, they would accept any name
    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            line = f": write {_METHODS[name]}" if name in _METHODS else ""
            raise AttributeError(
                f"{type(self).__name__!r} has no attribute {name!r}{line}"
            )

    def lazy_load(self) -> Iterator[Document]:
        """Read the pages as their documents are requested, some of them ahead.

        Raises:
            UnsafeURL: A URL may not be opened from here.
            ServiceError: A page or the reading service failed.
        """
        return map(_as_document, self._loading.load(self.urls))

    async def alazy_load(self) -> AsyncIterator[Document]:
        """Async version of `lazy_load`."""
        async for document in self._loading.aload(self.urls):
            yield _as_document(document)


def to_document(page: Page) -> Document:
    """Return a page as a document, as `WebPageLoader` makes it.

    ::

        pages = WebSearch().read_many(urls)
        documents = [to_document(page) for page in pages if isinstance(page, Page)]

    Args:
        page: What `WebSearch.read` returned, or `websearch_core.reading.read_bytes`.
    """
    return _as_document(make_document(page=page))


def _as_document(document: PlainDocument) -> Document:
    return Document(
        id=document.id, page_content=document.text, metadata=document.metadata
    )
