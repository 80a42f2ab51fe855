"""Credentials in a real browser: to their origin, when its own pages ask for something,
and nowhere else.
"""

from __future__ import annotations

import pytest

from tests.faults.proxy import Proxy as LocalProxy
from tests.server import Server, http
from websearch_core._browser.render import Capture, Renderer
from websearch_core._net.credentials import OriginCredentials
from websearch_core._net.guard import Guard
from websearch_core._net.proxy import Proxies
from websearch_core._net.sender import Sender
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import MissingKey
from websearch_core.flow import Request
from websearch_core.keys import Credentials

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]

SECRET = "sesame-0123456789"
OPEN = Guard.allowing(["127.0.0.0/8"], resolve=lambda host, port: ["127.0.0.1"])
TEXT = "<p>" + "High water at noon. " * 20 + "</p>"


def page(html, *headers):
    return http(
        f"<!doctype html><html><body><h1>Tides</h1>{TEXT}{html}",
        "200 OK",
        "Content-Type: text/html",
        *headers,
    )


def move(location, status="302 Found"):
    return http(b"", status, f"Location: {location}")


class Web:
    """A wiki that wants a login, and a hostile site."""

    def __init__(self, launch):
        script = http("console.log(1)", "200 OK", "Content-Type: text/javascript")
        self.wiki = Server([http("<p>none", "200 OK", "Content-Type: text/html")])
        self.evil = Server(
            [
                http(
                    "<p>none",
                    "200 OK",
                    "Content-Type: text/html",
                    "Access-Control-Allow-Origin: *",
                )
            ]
        )
        self.wiki.answers["/own.js"] = script
        self._launch = launch

    def render(self, url, credentials=None, **options):
        login = {
            "bearer": SECRET,
            "headers": {"X-Wiki": SECRET},
            "cookies": {"sid": SECRET},
        }
        given = (
            {self.wiki.url: Credentials(**login)}
            if credentials is None
            else credentials
        )
        sender = Sender(OPEN, credentials=OriginCredentials(given, OPEN), **options)
        captures: tuple[Capture, ...] = ("dom.html",)
        with time_limit(60):
            return sender.send(
                Request(
                    url=url,
                    guarded=True,
                    transport=Renderer(launch=self._launch, captures=captures),
                )
            )

    def logged_in(self):
        """The paths at the wiki that came with the credentials, and those that came
        without.
        """
        with_, without = set(), set()
        for path, headers, _ in self.wiki.requests:
            count = repr(headers).count(SECRET)
            assert count in {0, 3}
            (with_ if count else without).add(path)
        return with_, without

    def strayed(self):
        return [
            path
            for path, headers, body in self.evil.requests
            if SECRET in f"{path} {headers} {body!r}"
        ]

    def close(self):
        self.wiki.close()
        self.evil.close()


@pytest.fixture
def web(launch, chromium):
    running = Web(launch)
    yield running
    running.close()


@pytest.mark.smoke
def test_a_page_of_the_origin_and_what_it_loads_get_them_and_others_do_not(web):
    evil = web.evil.url
    html = f"""<script src="/own.js"></script><link rel="stylesheet" href="/moved.css"><iframe src="/frame"></iframe>
        <iframe src="{evil}/frame"></iframe><script src="{evil}/script.js"></script>
        <script>fetch("/api"); fetch("/posted", {{method: "POST", body: "x"}}); new Worker("/worker.js");
        fetch("/moved"); fetch("/moved-no-cors", {{mode: "no-cors"}}); navigator.sendBeacon("{evil}/beacon");
        fetch("{evil}/fetched", {{mode: "no-cors"}}); fetch("{evil}/back", {{mode: "no-cors"}});
        fetch("{evil}/post-back", {{method: "POST", mode: "no-cors"}})</script>"""
    web.wiki.answers["/"] = page(html, "Set-Cookie: own=1")
    web.wiki.answers["/worker.js"] = http(
        f'fetch("/of-worker"); fetch("{evil}/of-worker")',
        "200 OK",
        "Content-Type: text/javascript",
    )
    web.wiki.answers["/moved.css"] = move(f"{evil}/moved.css")
    web.wiki.answers["/moved"] = move(f"{evil}/moved")
    web.wiki.answers["/moved-no-cors"] = move(
        f"{evil}/moved-no-cors", "307 Temporary Redirect"
    )
    web.evil.answers["/back"] = move(f"{web.wiki.url}/delete?from=evil")
    web.evil.answers["/post-back"] = move(
        f"{web.wiki.url}/delete?posted=1", "307 Temporary Redirect"
    )

    response = web.render(f"{web.wiki.url}/")
    with_, without = web.logged_in()

    assert response.status == 200
    assert {
        "/",
        "/own.js",
        "/api",
        "/posted",
        "/moved",
        "/moved-no-cors",
        "/moved.css",
    } <= with_
    assert {"/frame", "/delete?from=evil", "/delete?posted=1"} <= without
    assert not with_ & without
    assert {
        "/moved",
        "/moved.css",
        "/moved-no-cors",
        "/frame",
        "/script.js",
        "/fetched",
        "/back",
    } <= set(web.evil.paths)
    assert web.strayed() == []


@pytest.mark.parametrize(
    "status",
    ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"],
)
def test_a_redirect_of_the_page_takes_them_nowhere_else(web, status):
    web.wiki.answers["/go"] = move(f"{web.evil.url}/landing", status)
    web.evil.answers["/landing"] = page("")

    assert web.render(f"{web.wiki.url}/go").url == f"{web.evil.url}/landing"
    assert web.logged_in()[0] == {"/go"}
    assert web.evil.paths[0] == "/landing"
    assert web.strayed() == []


def test_another_site_cannot_use_them(web):
    """Forms, images, frames, scripts; and requests in the moment in which the page
    gives way to one of the origin.
    """
    wiki = web.wiki.url
    web.wiki.answers["/slow"] = page("")
    html = f"""<iframe src="{wiki}/framed"></iframe><script src="{wiki}/script"></script>
        <link rel="stylesheet" href="{wiki}/style"><link rel="prefetch" href="{wiki}/prefetched">
        <form id="f" method="post" target="x" action="{wiki}/form"></form><iframe name="x"></iframe>
        <script>f.submit(); navigator.sendBeacon("{wiki}/beacon");
        fetch("{wiki}/posted", {{method: "POST", mode: "no-cors"}}); fetch("{wiki}/cors").catch(() => 0);
        for (let n = 0; n < 40; n++) setTimeout(() => fetch("{wiki}/race" + n, {{method: "POST", mode: "no-cors"}}), n);
        setTimeout(() => location = "{wiki}/slow", 15)</script>"""
    web.evil.answers["/"] = page(html)

    web.render(f"{web.evil.url}/")
    with_, without = web.logged_in()

    assert with_ <= {"/slow", "/favicon.ico"}
    assert {"/framed", "/posted", "/script"} <= without
    assert web.strayed() == []


def test_a_form_of_another_site_that_leads_there_is_not_logged_in(web):
    form = f"<form id=f method=post action={web.wiki.url}/delete></form><script>f.submit()</script>"
    web.evil.answers["/"] = page(form)
    web.wiki.answers["/delete"] = page("")

    web.render(f"{web.evil.url}/")
    assert "/delete" in web.logged_in()[1]


def test_a_page_that_shows_what_it_was_sent_shows_no_secret(web):
    def echo(request):
        said = "; ".join(f"{name}: {value}" for name, value in request[1].items())
        return page(f"<pre>{said}</pre>")

    web.wiki._reply = echo
    response = web.render(f"{web.wiki.url}/echo")

    assert b"x-wiki" in response.content.lower()
    assert SECRET.encode() not in response.content
    assert SECRET.encode() not in response.files["dom.html"]
    assert SECRET not in repr(response)


def test_a_missing_secret_is_named(web, monkeypatch):
    monkeypatch.delenv("WIKI_TOKEN", raising=False)

    with pytest.raises(MissingKey, match="WIKI_TOKEN"):
        web.render(
            f"{web.wiki.url}/", {web.wiki.url: Credentials(bearer="env:WIKI_TOKEN")}
        )
    assert web.wiki.requests == []


@pytest.mark.parametrize("resolve", ["here", "proxy"])
def test_a_page_is_rendered_through_a_proxy(web, resolve):
    proxy = LocalProxy({"site.example": "127.0.0.1"}, login=f"ann:{SECRET}")
    web.wiki.answers["/"] = page('<script>fetch("/api")</script>')
    proxies = Proxies.of(f"http://ann:{SECRET}@127.0.0.1:{proxy.port}", resolve)

    response = web.render(f"http://site.example:{web.wiki.port}/", proxies=proxies)

    assert b"High water" in response.content
    assert {"/", "/api"} <= set(web.wiki.paths)
    assert len(proxy.asked) >= 2
    kind = "CONNECT 127.0.0.1:" if resolve == "here" else "GET http://site.example:"
    assert [asked for asked in proxy.asked if not asked.startswith(kind)] == []
    assert SECRET not in repr(web.wiki.requests)
    proxy.close()
