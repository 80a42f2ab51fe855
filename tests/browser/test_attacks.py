"""No page makes the browser reach an internal address, whatever it tries. Without the gate, most of them do."""

from __future__ import annotations

import asyncio
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.browser.hostile.attacks import ATTACKS
from tests.browser.hostile.site import SECRET
from tests.browser.hostile.unguarded import open_unguarded
from websearch_core.errors import WebSearchError

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]


def test_no_attack_reaches_an_internal_address(site, render):
    def attack(name):
        try:
            response = render(site.url(name))
        except WebSearchError as error:
            return error
        return response.content.decode()

    with ThreadPoolExecutor(12) as threads:
        outcomes = dict(zip(ATTACKS, threads.map(attack, ATTACKS), strict=True))

    opened = {path for path, _ in site.seen if path.startswith("/page/")}
    assert len(opened) >= len(ATTACKS) - 1  # all but the one on another host
    time.sleep(0.3)  # for what is sent when a page closes
    assert site.reached == {}
    assert [name for name, text in site.leaks.items() if SECRET in text or "root:" in text] == []
    shown = {name: text for name, text in outcomes.items() if not isinstance(text, WebSearchError)}
    assert [name for name, text in shown.items() if SECRET in text or "root:x:0" in text] == []
    unsafe = {name for name, error in outcomes.items() if getattr(error, "code", "") == "unsafe_url"}
    assert {"redirect", "location", "meta refresh", "refresh header", "form: post", "history"} <= unsafe


def test_without_the_gate_they_do(site, chromium):
    names = [
        *("image", "script", "iframe", "fetch", "xhr", "event source", "beacon", "web socket", "worker: web socket"),
        *("shared worker", "prefetch", "location", "meta refresh", "redirect", "redirect of a fetch", "form: post"),
        *("popup", "download", "report: csp", "localhost names", "numeric hosts"),
    ]
    urls = {site.url(name): name for name in names}
    opening = open_unguarded(chromium, list(urls), at_once=8, seconds=60, is_done=lambda url: urls[url] in site.reached)
    asyncio.run(opening)

    reached = set(site.reached)
    site.reached.clear()
    assert set(names) <= reached
