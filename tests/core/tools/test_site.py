"""The pages of a site as a tool lists them."""

from __future__ import annotations

import pytest

from tests.core.client.test_crawl import SEA, SITE, Sites, html, urlset
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import (
    BudgetExceeded,
    DisallowedByRobots,
    DomainNotAllowed,
    InvalidOption,
    TimedOut,
    UnsafeURL,
)
from websearch_core.tools import Run, WebTools, collect_texts

RUN = Run(name="run", conversation="chat")
BOTH = pytest.mark.parametrize("is_async", [False, True], ids=["blocking", "async"])
LIST = {
    f"{SEA}/": html("/a"),
    f"{SEA}/robots.txt": f"Sitemap: {SEA}/pages.xml",
    f"{SEA}/pages.xml": urlset(
        *(f"{SEA}/guide/step-{number}" for number in range(300)), f"{SEA}/Grüße-an-alle"
    ),
    f"{SEA}/guide/": html("/guide/more"),
}


def make_tools(pages=LIST, web=None, **options):
    sites = Sites(pages)
    return WebTools(sites.open(**(web or {})), **options), sites


async def list_pages(tools, is_async, arguments, run=RUN):
    if is_async:
        return await tools.alist_pages(arguments, run)
    return tools.list_pages(arguments, run)


def addresses(output):
    return [source["url"].removeprefix(SEA) for source in output.artifact["sources"]]


@BOTH
async def test_pages_are_numbered_as_results_are_and_open_by_number(is_async):
    tools, sites = make_tools()

    output = await list_pages(tools, is_async, {"url": SEA, "limit": 3})
    page = tools.open_page({"url": "[1]"}, RUN)

    assert addresses(output) == ["/", "/a", "/guide/step-0"]
    assert [one["id"] for one in output.artifact["sources"]] == [1, 2, 3]
    assert f"3. step-0 — {SEA}/guide/step-0" in output.content
    assert output.artifact["notes"] == [
        "there are more pages: list a folder, or use contains"
    ]
    assert page.artifact["sources"][0]["id"] == 1
    assert f"{SEA}/guide/step-0" not in sites.asked  # it is listed, and not read
    texts = list(collect_texts(output.content, output.artifact))
    assert texts[2]["text"] == f"step-0 — {SEA}/guide/step-0"


@BOTH
async def test_words_of_the_address_pick_pages_beyond_the_limit(is_async):
    tools, _ = make_tools()

    output = await list_pages(tools, is_async, {"url": SEA, "contains": "step 299"})
    other = await list_pages(tools, is_async, {"url": SEA, "contains": "GRÜSSE"})
    none = await list_pages(tools, is_async, {"url": SEA, "contains": "kelp"})

    assert addresses(output) == ["/guide/step-299"]
    assert addresses(other) == ["/Gr%C3%BC%C3%9Fe-an-alle"]
    assert "No results found" in none.content
    assert none.artifact["notes"] == ["no address of this site has all these words"]


@pytest.mark.parametrize(
    ("sent", "count", "note"),
    [
        ({"limit": 1_000}, 200, "limit: 200 is the maximum here"),
        ({"limit": 0}, 50, "limit: 1 is the minimum, so the usual 50 was used"),
        ({}, 50, "there are more pages: list a folder, or use contains"),
    ],
)
def test_the_number_of_pages_is_bounded(sent, count, note):
    tools, _ = make_tools()

    output = tools.list_pages({"url": SEA, **sent}, RUN)

    assert len(output.artifact["sources"]) == count
    assert note in output.artifact["notes"]


def test_the_number_of_a_page_lists_its_folder():
    tools, _ = make_tools()
    tools.list_pages({"url": f"{SEA}/guide/"}, RUN)

    output = tools.list_pages({"url": "[1]", "limit": 9}, RUN)

    assert all(path.startswith("/guide/") for path in addresses(output)), addresses(
        output
    )
    assert addresses(output)[:2] == ["/guide/", "/guide/more"]


@pytest.mark.parametrize(
    "url", ["sea.example", "<https://sea.example>", "sea.example/"]
)
def test_a_site_is_understood_as_models_write_it(url):
    tools, _ = make_tools()

    assert addresses(tools.list_pages({"site": url, "max_results": 2}, RUN)) == [
        "/",
        "/a",
    ]


def test_what_robots_txt_disallows_is_not_read():
    tools, sites = make_tools(SITE)

    output = tools.list_pages({"url": SEA}, RUN)
    with pytest.raises(DisallowedByRobots):
        tools.list_pages({"url": f"{SEA}/staff/rota"}, RUN)

    assert "https://other.example/" not in addresses(output)
    assert f"{SEA}/staff/rota" not in sites.asked


def test_each_list_is_a_call_of_the_run():
    tools, _ = make_tools(max_uses=2)
    tools.list_pages({"url": SEA}, RUN)
    tools.open_page({"url": f"{SEA}/"}, RUN)

    with pytest.raises(BudgetExceeded):
        tools.list_pages({"url": SEA}, RUN)


def test_the_domain_policy_holds():
    tools, sites = make_tools(web={"allowed_domains": ["land.example"]})

    with pytest.raises(DomainNotAllowed):
        tools.list_pages({"url": SEA}, RUN)

    assert sites.asked == []


def test_with_provenance_only_seen_sites_are_listed_and_their_pages_may_be_opened():
    tools, sites = make_tools(provenance="seen")

    with pytest.raises(UnsafeURL):
        tools.list_pages({"url": SEA}, RUN)
    tools.provenance.allow_text(f"look at {SEA}/", "chat")
    tools.list_pages({"url": f"{SEA}/"}, RUN)
    with pytest.raises(UnsafeURL):
        tools.open_page({"url": f"{SEA}/guide/"}, RUN)
    sites.pages[f"{SEA}/a"] = html(text="a")

    assert tools.open_page({"url": f"{SEA}/a"}, RUN).artifact["status"] == "success"


def test_a_list_that_cannot_be_read_is_noted():
    pages = {**LIST, f"{SEA}/pages.xml": TimedOut("slow")}
    tools, _ = make_tools(pages)

    output = tools.list_pages({"url": SEA}, RUN)

    assert addresses(output) == ["/", "/a"]
    assert output.artifact["notes"] == [
        "a part of the site cannot be read: pages may be missing"
    ]


def test_a_list_has_a_time_for_all_of_it(monkeypatch):
    limits = []

    def note(seconds):
        limits.append(seconds)
        return time_limit(seconds)

    monkeypatch.setattr("websearch_core.tools._web_tools.time_limit", note)
    tools, _ = make_tools()
    tools.list_pages({"url": SEA}, RUN)

    assert limits == [60.0]


@pytest.mark.parametrize("sent", [{}, {"url": "two words"}, {"url": "[7]"}])
def test_an_address_that_is_none_is_an_error(sent):
    tools, _ = make_tools()

    with pytest.raises((InvalidOption, UnsafeURL)):
        tools.list_pages(sent, RUN)
