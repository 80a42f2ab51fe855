"""No page makes the browser reach an internal address, whatever it tries. Without the
gate, most of them do.
"""

from __future__ import annotations
import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.browser.hostile.attacks import ATTACKS
from tests.browser.hostile.site import PUBLIC, SECRET
from tests.browser.hostile.unguarded import open_unguarded
from tests.faults.proxy import Proxy as LocalProxy
from tests.whole import WHOLE
from websearch_core._browser.render import Renderer
from websearch_core._net import proxy as proxies
from websearch_core._net.credentials import OriginCredentials
from websearch_core._net.sender import Sender
from websearch_core._text.urls import is_this_machine
from websearch_core.errors import WebSearchError
from websearch_core.flow import Request
from websearch_core.keys import Credentials

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]

# A proxy and a login make a difference at the gate only: one of each kind of request
# that arrives there, of each way to go elsewhere, and all names and numbers. The others
# send the same requests in other ways, or fail in the browser.
AT_THE_GATE = (
    *(
        "image",
        "fetch",
        "web socket",
        "web socket: secure",
        "worker: web socket",
        "popup",
        "redirect",
        "location",
    ),
    *(
        "meta refresh",
        "refresh header",
        "redirect of a fetch",
        "form: post",
        "history",
        "file: redirect",
    ),
    *(
        "webrtc: turn over tcp",
        "rebinding name",
        "rebinding fetch",
        "name of public and internal",
        "name of internal",
    ),
    *(
        "numeric hosts",
        "ipv6 and mapped hosts",
        "localhost names",
        "credentials in the URL",
        "protocol upgrade",
    ),
    *("origin that plays the proxy", "the proxy itself"),
)
BEHIND = list(ATTACKS) if WHOLE else AT_THE_GATE


@pytest.fixture(params=["here", "proxy"])
def behind(request, site, launch, guard, monkeypatch):
    """``behind(url)`` renders as `render` does, with a login for the site, and through
    a proxy that knows it alone.
    """
    monkeypatch.setattr(
        proxies,
        "is_this_machine",
        lambda host: host != PUBLIC and is_this_machine(host),
    )
    proxy = LocalProxy({f"{name}.example": PUBLIC for name in ("shop", "other", "www")})
    login = OriginCredentials(
        {site.origin: Credentials(bearer="sesame-0123456789")}, guard
    )
    sender = Sender(
        guard, proxies=proxies.Proxies.of(proxy.url, request.param), credentials=login
    )
    yield lambda url: sender.send(
        Request(url=url, guarded=True, transport=Renderer(launch=launch))
    )
    proxy.close()
    assert len(proxy.asked) > len(BEHIND)


def test_no_attack_reaches_an_internal_address_with_a_login_and_through_a_proxy(
    site, behind
):
    attack_all(BEHIND, site, behind)


def test_no_attack_reaches_an_internal_address(site, render):
    attack_all(ATTACKS, site, render)


def attack_all(names, site, render):
    def attack(name):
        try:
            response = render(site.url(name))
        except WebSearchError as error:
            return error
        return response.content.decode()

    outcomes, left = {}, list(names)
    site.seen.clear()
    # a busy machine opens some so late that their time is over
    for at_once in (12, 4, 1):
        with ThreadPoolExecutor(at_once) as threads:
            outcomes |= zip(left, threads.map(attack, left), strict=True)
        opened = {site.origin + path for path, _ in site.seen}
        left = [name for name in left if site.url(name) not in opened]
    assert len(left) <= 1  # the one on another host
    time.sleep(0.3)  # for what is sent when a page closes
    assert site.reached == {}
    assert [
        name for name, text in site.leaks.items() if SECRET in text or "root:" in text
    ] == []
    shown = {
        name: text
        for name, text in outcomes.items()
        if not isinstance(text, WebSearchError)
    }
    assert [
        name for name, text in shown.items() if SECRET in text or "root:x:0" in text
    ] == []
    unsafe = {
        name
        for name, error in outcomes.items()
        if getattr(error, "code", "") == "unsafe_url"
    }
    assert {
        "redirect",
        "location",
        "meta refresh",
        "refresh header",
        "form: post",
        "history",
    } <= unsafe


def test_without_the_gate_they_do(site, chromium):
    names = [
        *(
            "image",
            "script",
            "iframe",
            "fetch",
            "xhr",
            "event source",
            "beacon",
            "web socket",
            "worker: web socket",
        ),
        *(
            "shared worker",
            "prefetch",
            "location",
            "meta refresh",
            "redirect",
            "redirect of a fetch",
            "form: post",
        ),
        *("popup", "download", "report: csp", "localhost names", "numeric hosts"),
    ]
    urls = {site.url(name): name for name in names}
    opening = open_unguarded(
        chromium,
        list(urls),
        at_once=8,
        seconds=60,
        is_done=lambda url: urls[url] in site.reached,
    )
    asyncio.run(opening)

    reached = set(site.reached)
    site.reached.clear()
    assert set(names) <= reached
