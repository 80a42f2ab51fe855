"""The reader `browser` with a real Chromium."""

from __future__ import annotations
import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from tests.browser.hostile.site import PUBLIC
from tests.waiting import await_until, ended_by, wait_until
from websearch_core import WebSearch, errors
from websearch_core._browser.host import find_descendants, host, is_renderer
from websearch_core._runtime.deadline import time_limit
from websearch_core.flow import Sleep
from websearch_core.providers import Browser

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]


def run_script(code, *arguments):
    """Run a program that reads pages, and return what it printed."""
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=200)


def is_a_page_open():
    return any(browser._tabs for browser in list(host._browsers.values()))


def browser_pids():
    return [one._process.popen.pid for one in host._browsers.values() if one._process]


@pytest.mark.smoke
def test_a_page_is_read_as_its_scripts_show_it(web, site):
    page = web.read(f"{site.origin}/cookie")

    assert page.content.startswith("visible text: found &lt;")
    assert (page.provider, page.rendered, page.final_url) == (
        "browser",
        True,
        f"{site.origin}/cookie",
    )


@pytest.mark.parametrize(
    ("path", "error"),
    [
        ("status/404", errors.PageNotFound),
        ("status/401", errors.AccessDenied),
        ("status/403", errors.Blocked),
        ("status/503", errors.Unavailable),
        ("empty", errors.BadResponse),
        ("redirect/http://10.1.2.3/", errors.UnsafeURL),
        ("redirect/file:///etc/passwd", errors.UnsafeURL),
        ("redirect/http://nowhere.test/", errors.Unavailable),
    ],
)
def test_what_keeps_a_page_from_being_read_is_the_error_that_direct_raises(
    web, site, path, error
):
    with pytest.raises(error) as caught:
        web.read(f"{site.origin}/{path}")

    assert type(caught.value) is error


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://169.254.169.254/latest/",
        "http://inside.example/",
        "ftp://a.example/",
    ],
)
@pytest.mark.smoke
def test_what_direct_may_not_open_this_may_not_either(web, url):
    with pytest.raises(errors.UnsafeURL):
        web.read(url)


@pytest.mark.smoke
def test_a_redirect_is_followed(web, site):
    page = web.read(f"{site.origin}/redirect/{site.origin}/ok")

    assert (page.url, page.final_url) == (
        f"{site.origin}/redirect/{site.origin}/ok",
        f"{site.origin}/ok",
    )


@pytest.mark.smoke
def test_https_is_read_and_a_wrong_certificate_is_refused(web, site):
    good, bad = site.secure

    assert "all is well" in web.read(f"{good}/ok").content
    with pytest.raises(
        errors.Unavailable, match="ERR_CERT_AUTHORITY_INVALID"
    ) as caught:
        web.read(f"{bad}/ok")
    assert not caught.value.temporary


@pytest.mark.smoke
def test_nothing_is_kept_between_pages(web, site):
    site.seen.clear()

    first, second = (web.read(f"{site.origin}/cookie").content for _ in range(2))

    assert first == second
    visits = [fields for path, fields in site.seen if path == "/cookie"]
    assert len(visits) == 2, "the second came from a cache"
    assert [fields for fields in visits if "cookie" in fields] == []


@pytest.mark.parametrize(
    ("path", "text"),
    [("text/plain", "Plain text, all is well."), ("csv/a.csv", "giant")],
)
@pytest.mark.smoke
def test_what_is_not_html_is_read_too(web, site, path, text):
    page = web.read(f"{site.origin}/{path}")

    assert text in page.content
    assert not page.rendered


@pytest.mark.smoke
def test_the_domain_policy_holds_for_everything_a_page_loads(
    launch, guard, site, monkeypatch
):
    monkeypatch.setattr(Browser, "_make_launch", lambda self: launch)
    web = WebSearch(
        reader=Browser(),
        internal=[f"{PUBLIC}/32"],
        allowed_domains=["shop.example"],
        retry=1,
    )
    web._sender.guard = type(guard)(
        guard.networks, domains=web._sender.guard.domains, resolve=guard.resolve
    )
    shop = f"http://shop.example:{site.port}"
    site.seen.clear()

    page = web.read(f"{shop}/elsewhere")

    assert "1 request was refused" in page.notes
    assert not [path for path, _ in site.seen if path.startswith("/js/")]
    with pytest.raises(errors.DomainNotAllowed):
        web.read(f"http://other.example:{site.port}/ok")
    with pytest.raises(errors.DomainNotAllowed):
        web.read(f"{shop}/redirect/http://other.example:{site.port}/ok")


def test_a_page_that_never_answers_ends_with_the_deadline(web, site):
    with ended_by(1.5), time_limit(1.5), pytest.raises(errors.TimedOut):
        web.read(f"{site.origin}/silence")


@pytest.mark.smoke
def test_event_loops_and_blocking_callers_share_one_browser(web, site):
    async def read():
        return await web.aread_many([f"{site.origin}/ok"] * 3)

    pages = [*asyncio.run(read()), *asyncio.run(read()), web.read(f"{site.origin}/ok")]

    assert {page.title for page in pages} == {"ok"}
    assert len(set(browser_pids())) == len(browser_pids())


@pytest.mark.smoke
async def test_a_cancelled_read_leaves_no_page_open(web, site):
    site.seen.clear()
    reading = asyncio.create_task(web.aread(f"{site.origin}/silence"))
    await await_until(lambda: site.seen)
    assert is_a_page_open()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading

    await await_until(lambda: not is_a_page_open())


def test_a_browser_that_dies_is_replaced(web, site):
    web.read(f"{site.origin}/ok")

    async def read_while_it_dies():
        site.seen.clear()
        reading = asyncio.create_task(web.aread(f"{site.origin}/silence"))
        await await_until(lambda: site.seen)
        for pid in browser_pids():
            os.killpg(pid, signal.SIGKILL)
        return await asyncio.gather(reading, return_exceptions=True)

    (outcome,) = asyncio.run(read_while_it_dies())

    assert isinstance(outcome, errors.Unavailable)
    assert web.read(f"{site.origin}/ok").title == "ok"


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_pages_run_in_the_sandbox_and_not_as_root(web, site):
    def find_facts():
        """Return what the system says about the processes of pages, by line: once each
        has shut itself in.
        """
        pids = [
            pid
            for parent in browser_pids()
            for pid in find_descendants(parent)
            if is_renderer(pid)
        ]
        found = [Path(f"/proc/{pid}/status").read_text() for pid in pids]
        return [
            dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
            for status in found
        ]

    async def look():
        site.seen.clear()
        reading = asyncio.create_task(web.aread(f"{site.origin}/page/dripping-html"))
        await await_until(lambda: site.seen)
        await await_until(
            lambda: (
                (found := find_facts())
                and all(facts["Seccomp"] != "0" for facts in found)
            )
        )
        found = await asyncio.to_thread(find_facts)
        reading.cancel()
        return found

    found = asyncio.run(look())

    assert found
    for facts in found:
        assert facts["Seccomp"] == "2", "no filter of system calls"
        assert "0" not in facts["Uid"].split(), "root"


READ = """
    import os, sys
    from websearch_core import WebSearch
    from websearch_core._browser.host import host
    web = WebSearch(reader="browser", internal=["127.0.0.2/32"], timeout=90)
    print(web.read(sys.argv[1]).title)
    (browser,) = host._browsers.values()
    print(browser._process.popen.pid, browser._process.profile, flush=True)
"""


def test_a_program_that_ends_leaves_nothing_behind(site, chromium):
    done = run_script(READ, f"{site.origin}/ok")
    title, pid, profile = done.stdout.split()

    assert (title, done.stderr) == ("ok", "")
    assert not Path(profile).exists()
    assert not Path(f"/proc/{pid}").exists()


def test_a_browser_ends_with_a_program_that_is_killed(site, chromium):
    done = run_script(READ + "\n    os.kill(os.getpid(), 9)", f"{site.origin}/ok")
    _, pid, _ = done.stdout.split()

    def has_ended():
        try:
            return "State:\tZ" in Path(f"/proc/{pid}/status").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return True

    wait_until(has_ended)


def test_a_forked_child_starts_a_browser_of_its_own(site, chromium):
    done = run_script(
        READ
        + """
    if (child := os.fork()) == 0:
        print(web.read(sys.argv[1]).title, len(host._browsers), flush=True)
        host.end()
        os._exit(0)
    os.waitpid(child, 0)
    print(web.read(sys.argv[1]).title)
    """,
        f"{site.origin}/ok",
    )

    assert [line for line in done.stdout.splitlines() if "/" not in line] == [
        "ok",
        "ok 1",
        "ok",
    ], done.stderr


def test_pages_wait_for_their_turn(render, site, launch):
    from dataclasses import replace

    narrow = replace(launch, pages_at_once=1)

    async def both():
        from websearch_core._browser.render import Renderer

        assert Renderer(launch=narrow).launch.pages_at_once == 1
        started = [
            asyncio.to_thread(render, f"{site.origin}/ok", launch=narrow)
            for _ in range(3)
        ]
        return await asyncio.gather(*started)

    assert [answer.status for answer in asyncio.run(both())] == [200, 200, 200]


def test_a_browser_without_pages_ends(render, site, launch, monkeypatch):
    from dataclasses import replace

    monkeypatch.setattr("websearch_core._browser.host._MAX_IDLE", 0.1)
    short = replace(launch, pages_at_once=2)

    render(f"{site.origin}/ok", launch=short)

    wait_until(lambda: not host._browsers[short].is_usable)


def test_a_screenshot_a_pdf_and_the_dom_come_with_the_page_if_they_are_asked_for(
    launch, guard, site, monkeypatch
):
    monkeypatch.setattr(Browser, "_make_launch", lambda self: launch)
    web = WebSearch(
        reader=Browser(screenshot=True, pdf=True, dom=True),
        internal=[f"{PUBLIC}/32"],
        retry=1,
    )

    files = web.read(f"{site.origin}/ok").files

    assert sorted(files) == ["dom.html", "page.pdf", "screenshot.png"]
    assert files["screenshot.png"].startswith(b"\x89PNG")
    assert files["page.pdf"].startswith(b"%PDF")
    assert b"visible text, all is well" in files["dom.html"]


def test_a_flow_may_render_beside_other_effects(web, site):
    def flow():
        yield Sleep(0)
        return (yield from Browser().read(f"{site.origin}/ok"))

    assert web.run(flow()).title == "ok"


HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_mcp_server_that_a_signal_ends_leaves_nothing_behind(site, chromium):
    pytest.importorskip("mcp", reason="the extra mcp is not installed")
    settings = {
        "WEB_SEARCH_READER": "browser",
        "WEB_SEARCH_INTERNAL": f"{PUBLIC}/32",
        "WEB_SEARCH_TIMEOUT": "90",
    }
    command = [
        sys.executable,
        "-m",
        "websearch_core",
        "mcp",
        "--provider",
        "duckduckgo",
    ]
    with subprocess.Popen(
        command,
        env={**os.environ, **settings},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as child:

        def send(**message):
            child.stdin.write(
                json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
            )
            child.stdin.flush()

        def open_page(number, path):
            arguments = {"url": f"{site.origin}/{path}"}
            send(
                id=number,
                method="tools/call",
                params={"name": "open_page", "arguments": arguments},
            )

        send(id=1, method="initialize", params=HELLO)
        child.stdout.readline()
        send(method="notifications/initialized")
        open_page(2, "ok")
        result = json.loads(child.stdout.readline())["result"]
        assert not result["isError"], result
        site.seen.clear()
        open_page(3, "silence")
        wait_until(lambda: site.seen)
        begun = find_descendants(child.pid)
        commands = b" ".join(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in begun)
        profile = re.search(rb"--user-data-dir=([^\0 ]+)", commands)[1].decode()
        assert Path(profile).is_dir()
        child.send_signal(signal.SIGTERM)
        assert child.wait(120) == 143

    assert len(begun) > 2
    wait_until(lambda: not any(is_running(pid) for pid in begun))
    assert not Path(profile).exists()


def is_running(pid):
    try:
        return "State:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
