"""Crawling: which pages of a site are read, in what order, and what is reported of
them.
"""

from __future__ import annotations
import asyncio
import gzip
import random
import sys
import threading
import time
from itertools import count
from typing import Any

import pytest

from websearch_core import WebSearch
from websearch_core._text.urls import is_web_url
from websearch_core.client._crawl import Crawl
from websearch_core.errors import (
    BudgetExceeded,
    DisallowedByRobots,
    InvalidOption,
    PageNotFound,
    Unavailable,
    UnsafeURL,
    WebSearchError,
)
from websearch_core.flow import Request, Response
from websearch_core.layers import Robots
from websearch_core.models import Page
from websearch_core.providers.direct import Direct
from websearch_core.reading._html.parse import find_followed

SEA = "https://sea.example"


def html(*links, text="kelp", head="", rel=""):
    anchors = " ".join(f'<a href="{link}"{rel}>a link to {link}</a>' for link in links)
    said = f"{text} is what this page speaks of at some length"
    return f"<title>{text}</title>{head}<main><p>{said}.</p><p>{anchors}</p></main>"


def urlset(*urls, tag="urlset"):
    return f"<{tag}>{''.join(f'<url><loc>{url}</loc></url>' for url in urls)}</{tag}>"


class Sites:
    """A web in memory: each URL has a body, a status, an error, a redirect, or a
    function of the URL.
    """

    def __init__(self, pages):
        self.pages = pages
        self.asked = []

    def send(self, request: Request) -> Response:
        if not is_web_url(request.url):
            raise UnsafeURL("the guard says so")
        self.asked.append(request.url)
        answer = self.pages.get(request.url, self.pages.get("*", 404))
        answer = answer(request.url) if callable(answer) else answer
        if isinstance(answer, Exception):
            raise answer
        if isinstance(answer, int):
            return Response(status=answer, url=request.url)
        if isinstance(answer, str) and answer.startswith("-> "):
            return Response(
                status=301, url=request.url, headers={"location": answer[3:]}
            )
        path = request.url.partition("?")[0]
        kind = {
            "txt": "text/plain",
            "xml": "application/xml",
            "gz": "application/gzip",
        }.get(path.rpartition(".")[2])
        content = answer if isinstance(answer, bytes) else str(answer).encode()
        return Response(
            status=200,
            url=request.url,
            headers={"content-type": kind or "text/html"},
            content=content,
        )

    def open(self, reader=None, **options) -> Any:
        usual = (
            {"retry": 1, "throttle": False}
            if options.get("layers", ()) is not None
            else {}
        )
        web = WebSearch(
            "duckduckgo", reader=reader or Direct(isolate=False), **usual, **options
        )

        async def asend(request):
            return self.send(request)

        web._send, web._asend = self.send, asend
        return web


def crawl(pages, start=f"{SEA}/", **options):
    """Return the rows of a crawl by URL, with codes for errors."""
    rows = list(Sites(pages).open().crawl(start, **options))
    assert len(rows) == len(dict(rows))
    return {
        url: row.code if isinstance(row, WebSearchError) else row.title
        for url, row in rows
    }


def paths(pages, start=f"{SEA}/", **options):
    return sorted(url.removeprefix(SEA) for url in crawl(pages, start, **options))


SITE = {
    f"{SEA}/": html(
        "/a",
        "/b#part",
        "https://other.example/",
        "/staff/rota",
        "/a",
        "mailto:x@y.example",
    ),
    f"{SEA}/a": html("/c", "/", "https://sea.example:8443/plain", text="a"),
    f"{SEA}/b": html("/gone", "/away", text="b"),
    f"{SEA}/c": html(text="c"),
    f"{SEA}/away": "-> https://other.example/",
    f"{SEA}/staff/rota": html(text="secret"),
    f"{SEA}/robots.txt": "User-agent: *\nDisallow: /staff/",
    "https://other.example/": html(text="elsewhere"),
}
ROWS = {
    f"{SEA}/": "kelp",
    f"{SEA}/a": "a",
    f"{SEA}/b": "b",
    f"{SEA}/c": "c",
    f"{SEA}/staff/rota": "disallowed_by_robots",
    f"{SEA}/gone": "page_not_found",
    f"{SEA}/away": "unsafe_url",
}


def test_a_site_is_crawled_within_its_origin_and_robots_txt():
    sites = Sites(SITE)

    rows = dict(sites.open().crawl(SEA))

    assert {
        url: getattr(row, "code", None) or row.title for url, row in rows.items()
    } == ROWS
    assert sites.asked[0] == f"{SEA}/robots.txt"
    assert len(sites.asked) == len(set(sites.asked))
    assert f"{SEA}/staff/rota" not in sites.asked


async def test_a_site_is_crawled_on_an_event_loop_too():
    rows = [row async for row in Sites(SITE).open().acrawl(SEA)]

    assert {url: getattr(row, "code", None) or row.title for url, row in rows} == ROWS


def test_pages_come_before_those_that_they_link_to():
    order = list(crawl(SITE))

    assert order[0] == f"{SEA}/"
    assert order.index(f"{SEA}/c") > order.index(f"{SEA}/a")


def test_the_limit_counts_pages_of_each_site_and_what_is_left_is_known():
    pages = SITE | {
        "https://land.example/": html("/x", "/y"),
        "https://land.example/x": html(text="x"),
    }
    crawl = Crawl(
        Sites(pages).open(), [f"{SEA}/", "https://land.example/"], {"limit": 2}
    )

    rows = dict(crawl.rows())

    assert sorted(rows) == [
        "https://land.example/",
        "https://land.example/x",
        f"{SEA}/",
        f"{SEA}/a",
    ]
    assert crawl.left == 4


def test_the_depth_counts_links_from_the_start():
    assert paths(SITE, depth=0) == ["/"]
    assert paths(SITE, depth=1) == ["/", "/a", "/b", "/staff/rota"]


@pytest.mark.parametrize(
    ("start", "scope", "read"),
    [
        ("/guide/", "path", ["/guide/", "/guide/a"]),
        ("/guide/intro.html", "path", ["/guide/", "/guide/a", "/guide/intro.html"]),
        ("/guide", "path", ["/guide/a", "/guide"]),
        ("/guide/", "host", ["/", "/guide/", "/guide/a", "/guidebook"]),
        (
            "/guide/",
            "domain",
            ["/", "/guide/", "/guide/a", "/guidebook", "https://docs.sea.example/"],
        ),
    ],
)
def test_the_scope_is_the_path_of_the_start_its_host_or_its_domain(start, scope, read):
    links = (
        "/",
        "/guide/",
        "/guide/a",
        "/guidebook",
        "https://docs.sea.example/",
        "https://notsea.example/",
    )
    other = ("sitemap.xml", "robots.txt", "llms.txt", "docs.sea.example/guide/")
    pages = {
        "*": lambda url: (
            404
            if url.endswith(other)
            else html(
                *(f"{SEA}{one}" if one[0] == "/" else one for one in links), text=url
            )
        )
    }

    assert paths(pages, f"{SEA}{start}", scope=scope) == sorted(read)


@pytest.mark.parametrize(
    ("options", "read"),
    [
        ({"include": ["/guide/*"]}, ["/", "/guide/a", "/guide/b/print"]),
        ({"include": "/guide/?"}, ["/", "/guide/a"]),
        ({"exclude": ["*/print", "/tags*"]}, ["/", "/Guide", "/guide/a", "/p?page=2"]),
        ({"exclude": ["*page=[0-9]*", "/[gt]*"]}, ["/", "/Guide"]),
        ({"include": ["/guide/*", "/tags*"], "exclude": ["*/print"]},
         ["/", "/guide/a", "/tags/caf%C3%A9"]),
        ({"include": ["/tags/café"]}, ["/", "/tags/caf%C3%A9"]),
        ({"include": ["/none"]}, ["/"]),
    ],
)  # fmt: skip
def test_patterns_say_which_pages_are_read(options, read):
    pages = {
        f"{SEA}/": html("/guide/a", "/guide/b/print", "/Guide"),
        f"{SEA}/sitemap.xml": urlset(f"{SEA}/tags/café", f"{SEA}/p?page=2"),
        "*": lambda url: html(text=url),
    }

    assert paths(pages, **options) == read
    listed = Sites(pages).open().map(f"{SEA}/", **options)
    assert sorted(url.removeprefix(SEA) for url in listed) == read


def test_a_redirect_to_what_the_patterns_leave_out_is_not_read():
    pages = {f"{SEA}/": html("/a", "/b"), f"{SEA}/a": "-> /b/print", "*": html()}

    assert crawl(pages, exclude=["*/print"])[f"{SEA}/a"] == "unsafe_url"


def test_patterns_are_bounded_whatever_an_address_is():
    address = f"{SEA}/" + "a" * 900
    pages = {f"{SEA}/": html(address), "*": html(text=address)}
    pattern = "*a" * 30 + "b*"

    assert paths(pages, include=[pattern]) == ["/"]


def test_a_redirect_of_the_start_decides_the_site():
    pages = {
        f"{SEA}/": "-> https://ocean.example/en/",
        "https://ocean.example/en/": html("/en/a", "/de/", f"{SEA}/b"),
        "https://ocean.example/en/a": html(text="a"),
    }

    assert list(crawl(pages)) == [f"{SEA}/", "https://ocean.example/en/a"]


WWW = "https://www.sea.example"


@pytest.mark.parametrize("start", [SEA, WWW, "http://sea.example"])
def test_http_and_www_are_of_the_site_and_spelled_like_its_start(start):
    pages = {
        f"{start}/": html(
            "http://sea.example/a", f"{WWW}/b", "http://sea.example:8080/c"
        ),
        f"{start}/sitemap.xml": urlset("http://www.sea.example/d", f"{SEA}/a"),
        **{f"{start}/{name}": html(text=name) for name in "abd"},
    }

    assert crawl(pages, f"{start}/") == {
        f"{start}/": "kelp", f"{start}/a": "a", f"{start}/b": "b", f"{start}/d": "d",
    }  # fmt: skip


def test_pages_are_spelled_as_where_the_start_leads():
    pages = {
        "http://sea.example/": f"-> {WWW}/en/",
        f"{WWW}/en/": html("http://sea.example/a"),
        f"{WWW}/a": html(text="a"),
    }

    assert list(crawl(pages, "http://sea.example/")) == [
        "http://sea.example/",
        f"{WWW}/a",
    ]


def test_a_page_that_only_its_own_spelling_has_is_asked_for_so():
    pages = {f"{SEA}/": html(f"{WWW}/a", "/gone"), f"{WWW}/a": html(text="a")}

    assert crawl(pages) == {
        f"{SEA}/": "kelp",
        f"{WWW}/a": "a",
        f"{SEA}/gone": "page_not_found",
    }


_SHELL = "<html><body><div id=root></div><script src=/a.js></script></body></html>"


def test_a_start_from_a_cache_does_not_hide_the_sitemaps_that_robots_txt_names(
    tmp_path,
):
    pages = {
        f"{SEA}/": html("/a"),
        f"{SEA}/robots.txt": f"Sitemap: {SEA}/list.xml",
        f"{SEA}/list.xml": urlset(f"{SEA}/b"),
    }
    listed = []
    for _ in range(2):
        web = Sites(pages).open(cache=tmp_path / "cache")
        listed.append(web.map(SEA))

    assert listed[0] == listed[1] == [f"{SEA}/", f"{SEA}/a", f"{SEA}/b"]


@pytest.mark.parametrize("start", [403, 404, 500, "", _SHELL, b"%PDF-1.7 broken"])
@pytest.mark.parametrize("places", ["robots.txt", "usual"])
def test_a_start_that_cannot_be_read_still_gives_its_sitemap(start, places):
    pages = {
        f"{SEA}/": start,
        f"{SEA}/a": html(text="a"),
        f"{SEA}/sitemap.xml": urlset(f"{SEA}/a"),
    }
    if places == "robots.txt":
        pages[f"{SEA}/robots.txt"] = f"Sitemap: {SEA}/list.xml"
        pages[f"{SEA}/list.xml"] = pages.pop(f"{SEA}/sitemap.xml")

    rows = crawl(pages)
    assert list(rows) == [f"{SEA}/", f"{SEA}/a"]
    assert rows[f"{SEA}/"] != "kelp"
    assert Sites(pages).open().map(f"{SEA}/") == [f"{SEA}/", f"{SEA}/a"]


@pytest.mark.parametrize(
    "error", [UnsafeURL("no"), Unavailable("the host name does not resolve")]
)
def test_a_site_that_cannot_be_reached_is_asked_for_no_lists(error):
    sites = Sites({f"{SEA}/robots.txt": 404, "*": error})

    assert [url for url, _ in sites.open().crawl(f"{SEA}/")] == [f"{SEA}/"]
    assert sites.asked == [f"{SEA}/robots.txt", f"{SEA}/"]


@pytest.mark.parametrize("place", ["/sitemap_index.xml", "/wp-sitemap.xml"])
@pytest.mark.parametrize("missing", [404, html("/not-a-page", text="Not found")])
def test_a_sitemap_is_looked_for_in_the_usual_places(place, missing):
    pages = {
        f"{SEA}/": html(),
        f"{SEA}/sitemap.xml": missing.encode() if missing != 404 else 404,
        f"{SEA}{place}": urlset(f"{SEA}/a"),
        f"{SEA}/a": html(text="a"),
    }

    assert paths(pages) == ["/", "/a"]


def test_a_start_that_redirects_into_its_own_scope_keeps_it():
    pages = {
        f"{SEA}/": "-> /en/latest/",
        f"{SEA}/en/latest/": html("/de/"),
        f"{SEA}/de/": html(text="de"),
    }

    assert paths(pages) == ["/", "/de/"]


def test_the_site_that_a_start_redirects_to_may_refuse():
    pages = {
        "http://sea.example/": "-> https://www.sea.example/",
        "https://www.sea.example/": html(),
        "https://www.sea.example/robots.txt": "User-agent: *\nDisallow: /",
    }

    assert crawl(pages, "http://sea.example/") == {
        "http://sea.example/": "disallowed_by_robots"
    }


@pytest.mark.parametrize("where", ["//[", "http://[", "//℀.example"])
def test_a_page_that_redirects_to_no_url_is_an_error(where):
    assert crawl({**SITE, f"{SEA}/c": f"-> {where}"})[f"{SEA}/c"] == "unsafe_url"


def test_a_page_that_robots_txt_closes_is_not_fetched_after_a_redirect_either():
    sites = Sites({**SITE, f"{SEA}/c": "-> /staff/rota"})

    rows = dict(sites.open().crawl(SEA))

    assert isinstance(rows[f"{SEA}/c"], DisallowedByRobots)
    assert f"{SEA}/staff/rota" not in sites.asked


def test_a_bug_in_the_reader_is_the_error_of_its_page():
    assert crawl({**SITE, f"{SEA}/c": KeyError()})[f"{SEA}/c"] == "bad_response"


@pytest.mark.parametrize(
    ("pages", "error"),
    [
        ({f"{SEA}/robots.txt": 503}, Unavailable),
        ({f"{SEA}/robots.txt": Unavailable("down")}, Unavailable),
        ({}, PageNotFound),
    ],
)
def test_a_start_that_cannot_be_read_is_a_row_and_the_error_of_a_map(pages, error):
    ((url, row),) = Sites(pages).open().crawl(SEA)

    assert (url, type(row)) == (f"{SEA}/", error)
    with pytest.raises(error):
        Sites(pages).open().map(SEA)


@pytest.mark.parametrize(
    "start",
    ["sea.example", "file:///etc/passwd", "http://[", "https://a:b@sea.example/"],
)
def test_a_start_that_is_not_a_web_url_is_a_row(start):
    rows = dict(Sites(SITE).open().crawl([start, SEA], limit=1))

    assert isinstance(rows[start], UnsafeURL)
    assert isinstance(rows[f"{SEA}/"], Page)


# Lists of pages


LISTED = {
    f"{SEA}/": html(),
    f"{SEA}/robots.txt": f"User-agent: *\nDisallow: /x\n sitemap : {SEA}/maps/one.xml # ours\nSitemap: /two.xml.gz",
    f"{SEA}/maps/one.xml": urlset(
        f"{SEA}/maps/sub.xml", "https://other.example/evil.xml", tag="sitemapindex"
    ),
    f"{SEA}/maps/sub.xml": urlset(f"{SEA}/one", "https://other.example/no"),
    f"{SEA}/two.xml.gz": gzip.compress(urlset(f"{SEA}/two").encode()),
    f"{SEA}/llms.txt": "# Sea\n\n## Pages\n\n- [Three](/three): about it\n",
    **{f"{SEA}/{name}": html(text=name) for name in ("one", "two", "three")},
}


def test_sitemaps_of_robots_txt_and_llms_txt_are_starts_too():
    sites = Sites(LISTED)

    rows = dict(sites.open().crawl(SEA))

    assert sorted(page.title for page in rows.values()) == [
        "kelp",
        "one",
        "three",
        "two",
    ]
    assert not [url for url in sites.asked if "other.example" in url]
    assert f"{SEA}/sitemap.xml" not in sites.asked


def test_without_a_sitemap_in_robots_txt_the_usual_place_is_looked_at():
    assert paths({**LISTED, f"{SEA}/robots.txt": 404, f"{SEA}/sitemap.xml": urlset(f"{SEA}/one")}) == [
        "/", "/one", "/three",
    ]  # fmt: skip


def test_lists_may_be_left_out():
    sites = Sites(LISTED)

    assert len(list(sites.open().crawl(SEA, sitemaps=False))) == 1
    assert sites.asked == [f"{SEA}/robots.txt", f"{SEA}/"]


def test_a_list_may_be_the_start():
    assert paths(LISTED, f"{SEA}/maps/sub.xml", scope="host") == ["/one"]


def test_llms_txt_of_the_folder_is_read_and_only_the_path_counts():
    pages = {
        f"{SEA}/docs/": html(),
        f"{SEA}/docs/llms.txt": "# Docs\n\n## Pages\n\n- [a](/docs/a)\n- [b](/b)\n",
        f"{SEA}/docs/a": html(text="a"),
    }

    assert paths(pages, f"{SEA}/docs/") == ["/docs/", "/docs/a"]


def test_sitemaps_without_end_are_given_up(monkeypatch):
    monkeypatch.setattr("websearch_core.client._crawl._MAX_LISTS", 7)
    numbers = count()

    def more(_):
        return urlset(
            *(f"{SEA}/sitemap{next(numbers)}.xml" for _ in range(2)), tag="sitemapindex"
        )

    sites = Sites(
        {f"{SEA}/": html(), f"{SEA}/robots.txt": 404, f"{SEA}/llms.txt": 404, "*": more}
    )

    assert len(list(sites.open().crawl(SEA))) == 1
    assert len([url for url in sites.asked if "sitemap" in url]) <= 7


def test_a_bomb_of_a_sitemap_is_cut_and_the_crawl_goes_on():
    bomb = gzip.compress(
        b"<urlset>" + f"<url><loc>{SEA}/one</loc></url>".encode() * 400_000
    )
    assert len(bomb) < 100_000

    assert paths({**LISTED, f"{SEA}/two.xml.gz": bomb}) == ["/", "/one", "/three"]


def test_entities_of_a_sitemap_are_not_expanded():
    entities = f'<!DOCTYPE x [<!ENTITY a "{SEA}/one">]>' + urlset("&a;")

    assert paths({**LISTED, f"{SEA}/maps/sub.xml": entities}) == ["/", "/three", "/two"]


_LIST = urlset(f"{SEA}/one")


@pytest.mark.parametrize(
    "content",
    [
        _LIST,
        f"<?xml version='1.0'?>{_LIST}",
        f"<br />\n<b>Warning</b>: too old in <b>/a.php</b> on line <b>5</b>\n{_LIST}",
    ],
    ids=["bare", "declared", "after a warning"],
)
@pytest.mark.parametrize("path", ["/maps.txt", "/maps.html"])
def test_a_sitemap_is_one_whatever_its_server_declares(path, content):
    pages = {
        f"{SEA}/": html(),
        f"{SEA}/robots.txt": f"Sitemap: {SEA}{path}",
        f"{SEA}{path}": content,
        f"{SEA}/one": html(text="one"),
    }

    assert paths(pages) == ["/", "/one"]


def test_a_page_about_sitemaps_is_none():
    page = f"<!doctype html>{html('/two')}<pre>{_LIST}</pre>"

    assert paths({f"{SEA}/": page, f"{SEA}/two": html()}) == ["/", "/two"]


@pytest.mark.apart
def test_all_of_a_long_sitemap_is_read_and_what_is_left_out_is_said(caplog):
    def answer(size):
        pages = {f"{SEA}/": html()}
        pages[f"{SEA}/sitemap.xml"] = urlset(*(f"{SEA}/{n}" for n in range(size)))
        return Sites(pages).open().map(f"{SEA}/", limit=100_000)

    assert len(answer(50_000)) == 50_001
    assert not caplog.messages
    assert len(answer(50_001)) == 50_001
    assert "some of its links were left out" in caplog.text


def test_a_list_may_have_fifty_mebibytes():
    sizes = {}

    class Noting(Sites):
        def send(self, request):
            sizes[request.url] = request.max_bytes
            return super().send(request)

    pages = {f"{SEA}/": html(), f"{SEA}/sitemap.xml": _LIST, f"{SEA}/one": html()}
    list(Noting(pages).open().crawl(f"{SEA}/"))
    assert sizes[f"{SEA}/sitemap.xml"] == 50 * 2**20
    assert sizes[f"{SEA}/one"] == 10 * 2**20


def test_all_links_of_a_page_are_followed_and_those_of_image_maps_and_frames():
    extra = "<map><area href=/map><area href=/no rel=nofollow></map>"
    page = html(*(f"/{n}" for n in range(1_100)), head=extra)
    frames = "<noframes>An old site about kelp, of which this is the start.</noframes>"
    old = f"<frameset><frame src=/menu>{frames}</frameset>"

    urls = Sites({f"{SEA}/": page}).open().map(f"{SEA}/")
    assert f"{SEA}/map" in urls
    assert len(urls) == 1_102
    assert find_followed((), old.encode(), f"{SEA}/") == (f"{SEA}/menu",)


def test_once_there_are_enough_pages_no_more_lists_are_read():
    sites = Sites(LISTED | {f"{SEA}/": html("/one", "/two")})

    assert len(list(sites.open().crawl(SEA, limit=3))) == 3
    assert f"{SEA}/maps/one.xml" not in sites.asked


# One page, many URLs


def test_urls_with_one_canonical_form_are_one_page():
    same = [
        "/a?utm_source=x",
        "/a#top",
        "/%61",
        "/a?PHPSESSID=1",
        "/a;jsessionid=2",
        "//sea.example/a",
        "/a",
    ]
    sites = Sites({"*": lambda url: 404 if "." in url[-5:] else html(*same, text="a")})

    assert len(list(sites.open().crawl(f"{SEA}/"))) == 2


def test_pages_that_declare_one_canonical_url_and_begin_alike_are_one():
    head = '<link rel="canonical" href="/a">'
    pages = {
        f"{SEA}/": html("/a?view=print", "/a", "/list?page=2"),
        f"{SEA}/a": html(text="a", head=head),
        f"{SEA}/a?view=print": html(text="a", head=head),
        # a site that declares the same for all pages
        f"{SEA}/list?page=2": html(text="other", head=head),
    }

    assert len(crawl(pages)) == 3


def test_what_redirects_to_a_page_that_was_read_is_not_reported_again():
    pages = {
        f"{SEA}/": html("/new", "/old"),
        f"{SEA}/new": html(text="new"),
        f"{SEA}/old": "-> /new",
    }

    assert len(crawl(pages)) == 2


# Traps


def test_links_that_ask_not_to_be_followed_are_not():
    pages = {
        f"{SEA}/": html("/a", "/b") + '<a rel="noopener NoFollow" href="/c">c</a>',
        f"{SEA}/a": html(
            "/d", text="a", head='<meta name="Robots" content="index, NOFOLLOW">'
        ),
        f"{SEA}/b": html(text="b"),
    }

    assert paths(pages) == ["/", "/a", "/b"]


TRAPS = {
    "a calendar": lambda url: html(
        f"/cal?day={int(url.partition('=')[2] or 0) + 1}", text=url
    ),
    "repeated folders": lambda url: html(f"{url.rstrip('/')}/deeper/", text=url),
    "long URLs": lambda url: html(f"{url}{'x' * 400}", text=str(len(url))),
    "sessions": lambda url: html(f"/?sid={len(url)}{url[-1]}", text="same"),
}


@pytest.mark.parametrize(
    ("trap", "most"), list(zip(TRAPS.values(), [11, 4, 4, 1], strict=True)), ids=TRAPS
)
def test_a_trap_ends(trap, most):
    pages = {f"{SEA}/{name}": 404 for name in ("robots.txt", "sitemap.xml", "llms.txt")}

    assert 1 <= len(crawl({**pages, "*": trap}, limit=50)) <= most


def test_one_path_has_so_many_queries(monkeypatch):
    monkeypatch.setattr("websearch_core.client._crawl._MAX_QUERIES", 5)

    assert len(crawl({f"{SEA}/": html(*(f"/cal?day={n}" for n in range(9)))})) == 6


# Maps


def test_a_map_lists_what_the_start_links_to_and_sitemaps_have_and_reads_no_more():
    sites = Sites({**SITE, f"{SEA}/sitemap.xml": urlset(f"{SEA}/d")})

    assert sites.open().map(SEA) == [
        f"{SEA}/{path}" for path in ("", "a", "b", "staff/rota", "d")
    ]
    assert f"{SEA}/a" not in sites.asked


async def test_a_map_with_more_depth_reads_the_pages_on_the_way():
    urls = await Sites(SITE).open().amap(SEA, depth=2)

    assert sorted(urls) == sorted(ROWS)


# Readers and options


class Service:
    """A reader whose service maps sites."""

    name = "lighthouse"

    def __init__(self, links=(), error=None):
        self.links, self.error, self.sites = links, error, []

    def read(self, url, /):
        yield from ()
        return Page(url=url, title=url, content="text")

    def map(self, site, /):
        self.sites.append(site)
        yield from ()
        if self.error:
            raise self.error
        return Page(url=site.url, links=self.links)


def test_a_service_that_maps_sites_says_what_there_is():
    service = Service([f"{SEA}/a", f"{SEA}/a#b", "https://other.example/", "nonsense"])
    web = Sites({}).open(service)

    assert web.map(SEA, limit=9) == [f"{SEA}/", f"{SEA}/a"]
    assert sorted(dict(web.crawl(SEA))) == [f"{SEA}/", f"{SEA}/a"]
    assert [(site.url, site.limit) for site in service.sites] == [
        (f"{SEA}/", 9),
        (f"{SEA}/", 200),
    ]
    assert len(list(web.crawl(SEA, sitemaps=False))) == 1


def test_a_map_of_a_service_is_charged_and_its_error_raised():
    with pytest.raises(BudgetExceeded):
        Sites({}).open(Service([f"{SEA}/a"]), budget="0 calls").map(SEA)
    with pytest.raises(Unavailable):
        Sites({}).open(Service(error=Unavailable("down"))).map(SEA)


def test_a_site_outside_the_domain_policy_is_not_mapped():
    service = Service([f"{SEA}/a"])

    with pytest.raises(UnsafeURL):
        Sites({}).open(service, blocked_domains=["sea.example"]).map(SEA)
    assert service.sites == []


def test_robots_that_are_switched_on_already_are_used():
    sites = Sites(SITE)

    rows = dict(sites.open(robots=Robots("OtherBot")).crawl(SEA))

    assert len(rows) == len(ROWS)
    assert sites.asked.count(f"{SEA}/robots.txt") == 1


def test_a_reader_with_layers_of_its_own_obeys_robots_too():
    class Around:
        name = "around"

        def __init__(self, inner):
            self.inner = inner

        def read(self, url, /):
            return self.inner.read(url)

        def read_many(self, urls, /):
            raise NotImplementedError

    rows = dict(
        Sites(SITE).open(Around(Direct(isolate=False)), layers=None).crawl(SEA, limit=4)
    )

    assert isinstance(rows[f"{SEA}/staff/rota"], DisallowedByRobots)


@pytest.mark.parametrize(
    "options",
    [
        {"limit": 0},
        {"depth": -1},
        {"scope": "all"},
        {"links": "drop"},
        {"concurrency": 0},
        {"lmit": 3},
        {"limit": "3"},
        {"include": "guide/*"},
        {"exclude": ["https://sea.example/a"]},
        {"exclude": [3]},
        {"include": 3},
    ],
)
def test_a_wrong_option_is_an_error(options):
    with pytest.raises(InvalidOption):
        list(Sites(SITE).open().crawl(SEA, **options))


def test_links_that_the_settings_drop_are_followed_all_the_same():
    web = Sites(SITE).open(read_options={"links": "drop"})

    assert len(list(web.crawl(SEA))) == len(ROWS)


def test_the_part_of_a_page_is_that_of_a_read():
    pages = dict(Sites(SITE).open().crawl(SEA, limit=1, max_length=9))

    assert len(pages[f"{SEA}/"].content) <= 9
    assert sys.getsizeof(pages[f"{SEA}/"].content) < 200


def test_known_pages_are_not_read_again_and_their_links_are_followed():
    sites = Sites(SITE)
    known = {
        f"{SEA}/a": Page(url=f"{SEA}/a", title="a", content="old", links=(f"{SEA}/c",))
    }

    rows = dict(Crawl(sites.open(), SEA, {}, look_up=known.get).rows())

    assert rows.keys() == ROWS.keys() - known.keys()
    assert f"{SEA}/a" not in sites.asked


def test_from_the_second_page_on_a_host_is_asked_for_four_at_once():
    together, lock, now, most = threading.Barrier(4), threading.Lock(), [0], [0]

    def answer(url):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        # seconds until the test fails; four at once do not wait for anything else
        together.wait(60)
        with lock:
            now[0] -= 1
        return html(text=url)

    names = [str(number) for number in range(8)]
    sites = Sites(
        {f"{SEA}/": html(*names)} | {f"{SEA}/{name}": answer for name in names}
    )

    rows = dict(sites.open().crawl(SEA, sitemaps=False))

    assert sorted(row.title for row in rows.values()) == [
        *(f"{SEA}/{name}" for name in names),
        "kelp",
    ]
    assert most == [4]


def test_a_crawl_that_is_closed_asks_no_more():
    sites = Sites(SITE)
    rows = sites.open().crawl(SEA, concurrency=1)

    next(rows)
    rows.close()

    asked = len(sites.asked)
    assert asked < len(SITE)
    assert len(sites.asked) == asked


async def test_a_crawl_on_an_event_loop_can_be_closed():
    sites = Sites(SITE)
    rows = sites.open().acrawl(SEA, concurrency=1)

    await anext(rows)
    await rows.aclose()

    assert len(asyncio.all_tasks()) == 1
    assert len(sites.asked) < len(SITE)


def draw_site(seed):
    """Return the links of each page of a random site."""
    chance = random.Random(seed)
    names = [f"/{number}" for number in range(1, chance.randint(40, 60))]
    return {name: chance.sample(names, chance.randint(1, 3)) for name in ["/", *names]}


def walk_breadth_first(links, depth):
    """Return what is at most *depth* links from the start, as a naive crawl has it."""
    depths = {"/": 0}
    waiting = ["/"]
    for name in waiting:
        for link in links[name]:
            if link not in depths and depths[name] < depth:
                depths[link] = depths[name] + 1
                waiting.append(link)
    return sorted(depths)


class Slow:
    """A page that answers after a while."""

    def __init__(self, seconds, body):
        self.seconds = seconds
        self.body = body

    def __call__(self, url):
        time.sleep(self.seconds)
        return self.body


@pytest.mark.parametrize("only_urls", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_pages_of_a_crawl_do_not_depend_on_which_answers_first(seed, only_urls):
    links = draw_site(seed)
    chance = random.Random(seed)
    pages = {
        f"{SEA}{name}": Slow(
            chance.choice([0.0, 0.0, 0.0, 0.15]),
            html(*(f"{SEA}{link}" for link in linked), text=f"page {name}"),
        )
        for name, linked in links.items()
    }
    depth = chance.randint(3, 4)
    crawling = Crawl(
        Sites(pages).open(),
        f"{SEA}/",
        {"depth": depth, "sitemaps": False},
        only_urls=only_urls,
    )
    urls = [url for url, _ in crawling.rows()]

    reached = sorted(url.removeprefix(SEA) for url in crawling.urls)
    assert reached == walk_breadth_first(links, depth)
    if not only_urls:
        assert sorted(url.removeprefix(SEA) for url in urls) == reached
