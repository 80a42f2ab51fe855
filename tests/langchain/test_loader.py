from __future__ import annotations
import logging

import pytest
from langchain_core.document_loaders import BaseLoader

from langchain_websearch import (
    WebPageLoader,
    WebSearchRetriever,
    WebSearchTool,
    to_document,
)
from websearch_core import WebSearch
from websearch_core.errors import (
    BudgetExceeded,
    ConfigurationError,
    InvalidOption,
    PageNotFound,
    UnsafeURL,
)
from websearch_core.testing import FakeWeb

pytestmark = pytest.mark.enable_socket

SHORE = "https://sea.example/shore"
KELP = """<!doctype html><html lang="en"><head><title>Kelp</title><meta name="author" content="A. Phycologist"><meta property="og:type" content="article">
<meta name="description" content="What kelp is."><meta property="article:modified_time" content="2026-05-04">
<meta property="og:site_name" content="The Sea"><link rel="canonical" href="/kelp"></head><body><main><h1>Kelp</h1>
<p>Kelp is a large brown alga that grows in shallow, cold and nutrient-rich seas all over the world.</p></main></body></html>"""


@pytest.fixture
def site(service, answer):
    """A page, a way to it, and a long text."""
    service.pages["/kelp"] = answer(body=KELP, headers={"Content-Type": "text/html"})
    service.pages["/seaweed"] = answer(status=301, headers={"Location": "/kelp"})
    service.pages["/long"] = answer(
        body="kelp and more kelp\n\n" * 5_000, headers={"Content-Type": "text/plain"}
    )
    return service


async def test_a_page_is_a_document_whose_source_is_its_final_url(site):
    loader = WebPageLoader(f"{site.url}/seaweed", web=site.web())

    (document,) = loader.load()

    assert isinstance(loader, BaseLoader)
    assert await loader.aload() == [document]
    assert "large brown alga" in document.page_content
    assert document.id == f"{site.url}/kelp"
    assert document.metadata == {
        "source": f"{site.url}/kelp",
        "url": f"{site.url}/kelp",
        "requested_url": f"{site.url}/seaweed",
        "title": "Kelp",
        "author": "A. Phycologist",
        "modified": "2026-05-04T00:00:00+00:00",
        "description": "What kelp is.",
        "canonical_url": f"{site.url}/kelp",
        "site_name": "The Sea",
        "language": "en",
        "media_type": "text/html",
        "provider": "direct",
        "truncated": False,
    }


async def test_the_whole_page_is_loaded_by_default(site):
    (whole,) = WebPageLoader([f"{site.url}/long"], web=site.web()).load()
    (cut,) = await WebPageLoader(
        [f"{site.url}/long"], web=site.web(), read_options={"max_length": 500}
    ).aload()

    assert len(whole.page_content) > 90_000
    assert whole.metadata["truncated"] is False
    assert 0 < len(cut.page_content) <= 500
    assert cut.metadata["truncated"] is True


async def test_pages_are_read_lazily(site):
    loader = WebPageLoader([f"{site.url}/kelp?{n}" for n in range(40)], web=site.web())

    blocking = loader.lazy_load()
    assert site.requests == []
    next(blocking)
    assert 1 <= len(site.requests) <= 28

    del blocking
    site.requests.clear()
    documents = loader.alazy_load()
    await anext(documents)
    assert 1 <= len(site.requests) <= 28
    await documents.aclose()


async def test_an_error_page_is_never_a_document(site):
    loader = WebPageLoader([f"{site.url}/missing", f"{site.url}/kelp"], web=site.web())

    with pytest.raises(PageNotFound):
        loader.load()
    with pytest.raises(PageNotFound):
        await loader.aload()


async def test_pages_that_fail_can_be_skipped_with_a_warning(site, caplog):
    urls = [f"{site.url}/missing?token=sekret", f"{site.url}/kelp"]
    loader = WebPageLoader(urls, web=site.web(), on_error="skip")

    with caplog.at_level(logging.WARNING):
        documents = loader.load()
        assert await loader.aload() == documents

    assert [document.metadata["title"] for document in documents] == ["Kelp"]
    assert [record.getMessage() for record in caplog.records] == [
        f"left out a page: direct read failed: 404 Not Found ({site.url}/missing?token=...)"
    ] * 2


def test_a_page_of_this_machine_is_refused(site):
    with pytest.raises(UnsafeURL):
        WebPageLoader([f"{site.url}/kelp"], provider="brave", api_key="k").load()


@pytest.mark.parametrize("on_error", ["raise", "skip"])
async def test_what_no_page_can_be_read_with_is_never_skipped(on_error):
    loader = WebPageLoader(
        [SHORE, SHORE + "2"],
        provider=FakeWeb(errors={f"{SHORE}*": BudgetExceeded("spent")}),
        on_error=on_error,
    )

    with pytest.raises(BudgetExceeded):
        loader.load()
    with pytest.raises(BudgetExceeded):
        await loader.aload()


def test_what_to_do_about_errors_is_raise_or_skip():
    with pytest.raises(
        InvalidOption, match="on_error: 'ignore' is not one of raise, skip"
    ):
        WebPageLoader(SHORE, on_error="ignore")
    with pytest.raises(
        ConfigurationError, match='continue_on_failure: write on_error="skip"'
    ):
        WebPageLoader(SHORE, continue_on_failure=True)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("web_path", "write urls="),
        ("web_paths", "write urls="),
        ("url", "write urls="),
        ("query", r"write WebSearchRetriever\(k=5\).invoke\(query\)"),
        ("pages", r"write WebSearchRetriever\(k=5\).invoke\(query\)"),
        ("bs_kwargs", "leave it out: the main part"),
        ("bs_get_text_kwargs", "leave it out: the main part"),
        ("default_parser", "leave it out: the main part"),
        ("autoset_encoding", "leave it out: pages are decoded as browsers do"),
        ("show_progress", "leave it out: on_event="),
        ("raise_for_status", "leave it out: an error page is never a document"),
        ("proxies", "write http=Http.proxy="),
        ("header_template", "write http=.*Credentials.headers="),
        (
            "requests_per_second",
            "write throttle=.*host_requests_per_second=2 for pages",
        ),
        ("verify_ssl", "write http=Http.verify=context"),
    ],
)
def test_an_argument_of_another_loader_is_answered_with_the_line_to_write(name, says):
    with pytest.raises(ConfigurationError, match=f"^{name}: {says}"):
        WebPageLoader(SHORE, **{name: 1})


@pytest.mark.parametrize("name", ["scrape", "scrape_all", "fetch_all"])
def test_a_method_of_another_loader_is_answered_with_the_line_to_write(site, name):
    loader = WebPageLoader(f"{site.url}/kelp", web=site.web())
    with pytest.raises(
        AttributeError, match=f"^'WebPageLoader' has no attribute '{name}': write "
    ) as caught:
        getattr(loader, name)
    assert eval(str(caught.value).partition(": write ")[2], {"loader": loader})
    with pytest.raises(
        AttributeError, match="^'WebPageLoader' has no attribute 'anything'$"
    ):
        _ = loader.anything


def test_a_loader_without_urls_says_where_they_stand():
    with pytest.raises(
        ConfigurationError,
        match=r"^web_path: write urls=\.\.\., or pass it first: WebPageLoader",
    ):
        WebPageLoader(web_path=SHORE)
    with pytest.raises(
        InvalidOption,
        match=r"^urls: must be a URL or a list of URLs, not None: write urls=",
    ):
        WebPageLoader()


def test_invalid_arguments_are_refused(site):
    with pytest.raises(ConfigurationError, match="not both"):
        WebPageLoader([], web=site.web(), timeout=3)
    with pytest.raises(InvalidOption, match="max_length"):
        WebPageLoader(
            [f"{site.url}/kelp"], web=site.web(), read_options={"max_length": 0}
        ).load()


def test_the_arguments_of_a_web_search_are_accepted(site):
    loader = WebPageLoader(
        f"{site.url}/kelp", provider="brave", api_key="k", internal=[site.url]
    )

    assert isinstance(loader.web, WebSearch)
    assert len(loader.load()) == 1


def test_what_is_not_a_list_of_urls_says_so():
    with pytest.raises(InvalidOption, match="urls: must be a list of URLs, not int"):
        WebPageLoader(5)


def test_an_option_of_a_search_is_answered_with_where_it_belongs():
    with pytest.raises(ConfigurationError, match="^k: write limit=..."):
        WebSearchTool(k=3)
    with pytest.raises(ConfigurationError, match="^limit: write k=..."):
        WebSearchRetriever(limit=3)


async def test_a_site_is_loaded_by_its_links(site, answer):
    links = (
        '<a href="/kelp">kelp</a> <a href="/lost">lost</a> <a href="/seaweed">more</a>'
    )
    site.pages["/"] = answer(
        body=f"<h1>Sea</h1><p>All of it.</p>{links}",
        headers={"Content-Type": "text/html"},
    )
    loader = WebPageLoader(f"{site.url}/", web=site.web(), crawl=True, on_error="skip")
    one = WebPageLoader(f"{site.url}/", web=site.web(), crawl={"limit": 1})

    assert [document.id for document in loader.load()] == [
        f"{site.url}/",
        f"{site.url}/kelp",
    ]
    assert [document.id for document in await one.aload()] == [f"{site.url}/"]


def test_a_page_that_you_read_yourself_is_the_same_document(site):
    web, url = WebSearch(internal=[site.url], timeout=60), f"{site.url}/seaweed"

    assert to_document(web.read(url)) == WebPageLoader(url, web=web).load()[0]
