"""One page, where nobody chose a reader: a browser that is installed renders it if it
needs its scripts.
"""

from __future__ import annotations
import asyncio
import copy
import logging
import pickle

import pytest

from websearch_core import WebSearch
from websearch_core.client import _selection
from websearch_core.errors import (
    AllProvidersFailed,
    Blocked,
    NeedsBrowser,
    PageNotFound,
    UnsupportedContent,
)
from websearch_core.events import Failover
from websearch_core.layers import charge_to
from websearch_core.models import Page
from websearch_core.providers import Browser, Direct
from websearch_core.render import render_error
from websearch_core.settings import Settings
from websearch_core.tools import Run, WebTools

URL = "https://app.example/"


@pytest.fixture(autouse=True)
def reads(monkeypatch):
    """The readers that were asked, in order; what `direct` says, and whether a browser
    is installed, can be changed.
    """

    class Reads(list):
        problem = None
        says = NeedsBrowser(
            "direct read failed: it needs its scripts", provider="direct"
        )
        shows = Page(
            url=URL,
            final_url=URL,
            content="What the scripts wrote.",
            provider="browser",
        )

    reads = Reads()

    def read(name):
        def flow(self, url):
            yield from ()
            reads.append(name)
            said = reads.says if name == "direct" else reads.shows
            if isinstance(said, Exception):
                raise copy.copy(said)
            return said.model_copy(update={"url": url, "final_url": url})

        return flow

    _selection._log_once.cache_clear()
    monkeypatch.setattr(Direct, "read", read("direct"))
    monkeypatch.setattr(Browser, "read", read("browser"))
    monkeypatch.setattr(Browser, "problem", lambda self: reads.problem)
    return reads


def test_a_page_that_needs_its_scripts_is_rendered(reads):
    heard = []
    page = WebSearch(on_event=heard.append).read(URL)
    assert page.content == "What the scripts wrote."
    assert page.notes == ("direct failed (needs_browser); answered by browser",)
    assert [(one.provider, one.code) for one in page.outcomes] == [
        ("direct", "needs_browser"),
        ("browser", None),
    ]
    assert [type(event.error) for event in heard if isinstance(event, Failover)] == [
        NeedsBrowser
    ]
    assert reads == ["direct", "browser"]


def test_a_page_that_needs_its_scripts_is_rendered_async(reads):
    assert asyncio.run(WebSearch().aread(URL)).provider == "browser"
    assert reads == ["direct", "browser"]


def test_a_page_that_a_model_opens_is_rendered(reads):
    output = WebTools().open_page({"url": URL})
    assert "What the scripts wrote." in output.content
    assert reads == ["direct", "browser"]


def test_a_page_that_was_rendered_is_kept_for_its_conversation(reads):
    tools, run = WebTools(), Run(conversation="1")
    for more in ({}, {"find": "scripts"}):
        output = tools.open_page({"url": URL, **more}, run)
    assert "What the scripts wrote." in output.content
    assert reads == ["direct", "browser"]


def test_a_searched_index_comes_first(reads, monkeypatch, tmp_path):
    monkeypatch.setenv("WEB_SEARCH_INDEX", str(tmp_path / "index.db"))
    from websearch_core.index import Index

    Index(tmp_path / "index.db").add(
        Page(url=URL, final_url=URL, content="An indexed page.")
    )
    assert WebSearch("local").read(URL).content == "An indexed page."
    assert WebSearch("local").read("https://app.example/other").provider == "browser"
    assert reads == ["direct", "browser"]


@pytest.mark.parametrize(
    "error",
    [Blocked("a challenge"), PageNotFound("gone"), UnsupportedContent("a video")],
)
def test_only_a_page_that_needs_its_scripts_is_rendered(reads, error):
    reads.says = error
    with pytest.raises(type(error)):
        WebSearch().read(URL)
    assert reads == ["direct"]


@pytest.mark.parametrize(
    "make",
    [
        lambda: WebSearch(reader="direct"),
        lambda: WebSearch(reader=Direct()),
        lambda: WebSearch(settings=Settings(reader="direct")),
        lambda: WebSearch(settings=Settings(providers={"browser": {"enabled": False}})),
    ],
)
def test_whoever_chooses_a_reader_or_switches_the_browser_off_starts_none(reads, make):
    with pytest.raises(NeedsBrowser):
        make().read(URL)
    assert reads == ["direct"]


def test_many_pages_and_those_of_a_search_start_no_browser(reads):
    web = WebSearch(_Searcher())
    assert isinstance(web.read_many([URL])[0], NeedsBrowser)
    assert "needs_browser" in web.search("app", read_top=1).notes[0]
    assert set(reads) == {"direct"}


def test_the_page_of_a_tenant_starts_no_browser(reads):
    with charge_to("acme"), pytest.raises(NeedsBrowser):
        WebSearch().read(URL)
    tools = WebTools(configurable=["timeout"])
    for run in (Run(tenant="acme"), Run(options={"timeout": 20})):
        with pytest.raises(NeedsBrowser):
            tools.open_page({"url": URL}, run)
    assert reads == ["direct"] * 3


def test_without_a_browser_the_model_reads_what_to_do_and_the_developer_what_to_install(
    reads, caplog
):
    reads.problem = "found none: apt-get install chromium-headless-shell"
    web = WebSearch()
    for _ in range(2):
        with pytest.raises(NeedsBrowser) as caught:
            web.read(URL)
    assert "apt-get" not in render_error(caught.value)
    assert any("apt-get install" in note for note in caught.value.__notes__)
    assert [
        record.levelname for record in caplog.records if "apt-get" in record.message
    ] == ["WARNING"]


def test_the_text_for_the_model_is_about_the_page(reads):
    del reads  # only the text of the real reader
    from websearch_core.providers import direct

    assert "try another source" in direct._SILENT
    assert "install" not in direct._SILENT


def test_a_browser_that_does_not_start_leaves_the_error_of_the_page(reads, caplog):
    from websearch_core.errors import ConfigurationError

    reads.shows = ConfigurationError("no sandbox can be made")
    with pytest.raises(NeedsBrowser):
        WebSearch().read(URL)
    assert "no sandbox can be made" in caplog.text


def test_the_first_start_is_logged_once(reads, caplog):
    with caplog.at_level(logging.INFO, "websearch_core.client._selection"):
        for _ in range(2):
            WebSearch().read(URL)
    said = [record for record in caplog.records if record.name.endswith("_selection")]
    assert [(one.levelname, 'reader="direct"' in one.message) for one in said] == [
        ("INFO", True)
    ]
    assert len(reads) == 4


def test_if_the_browser_fails_too_both_causes_are_there(reads):
    reads.shows = UnsupportedContent(
        "browser read failed: the page has no text", provider="browser"
    )
    with pytest.raises(AllProvidersFailed) as caught:
        WebSearch().read(URL)
    assert [cause.code for cause in caught.value.exceptions] == [
        "needs_browser",
        "unsupported_content",
    ]


def test_a_copy_and_a_pickle_render_too(reads):
    web = WebSearch()
    for twin in (copy.copy(web), copy.deepcopy(web), pickle.loads(pickle.dumps(web))):
        assert twin.read(URL).provider == "browser"


def test_rules_of_the_caller_hold_for_the_browser_too(reads):
    """The browser is in the same layers, such as a cache."""
    web = WebSearch(cache=True)
    assert web.read(URL).provider == "browser"
    assert web.read(URL).provider == "browser"
    assert reads == ["direct", "browser", "direct"]


class _Searcher:
    """Finds the page, and cannot read."""

    name = "finds"
    options = frozenset()

    def search(self, query):
        yield from ()
        from websearch_core import SearchResponse, SearchResult

        return SearchResponse(
            query=query.text,
            results=(SearchResult(title="App", url=URL),),
            provider=self.name,
        )
