"""Script-rendered pages, read with the real browser: `tests/browser/site` has the pages
and says how each can be misread.
"""

from __future__ import annotations
import asyncio
import re
from collections import Counter
from typing import NamedTuple

import pytest

from tests.browser.site.cases import CASES
from tests.browser.site.server import serve
from websearch_core import WebSearch
from websearch_core._browser import settle, snapshot
from websearch_core._browser.find import find_browser
from websearch_core._browser.host import host
from websearch_core.errors import (
    ConfigurationError,
    NeedsBrowser,
    UnsupportedContent,
    WebSearchError,
)
from websearch_core.models import Page

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]

LEAST = 0.9  # word F1


class Site(NamedTuple):
    """What the browser read: by name of the page, and the consent walls that it
    accepted.
    """

    pages: dict[str, Page | WebSearchError]
    accepted: list[str]


@pytest.fixture(scope="module")
def origin():
    with serve() as address:
        yield address


@pytest.fixture(scope="module")
def module_monkeypatch():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@pytest.fixture(scope="module")
def site(module_monkeypatch):
    """Read all pages, four at a time, in one browser, with patience for a busy
    machine.
    """
    for name in ("_ANSWER", "_GRANT", "_BUSY", "_STILL", "_STILL_WAITING", "_PATIENT"):
        module_monkeypatch.setattr(settle, name, 4 * getattr(settle, name))
    module_monkeypatch.setattr(snapshot, "_MAX_SECONDS", 8 * snapshot._MAX_SECONDS)
    try:
        find_browser(None)
    except ConfigurationError as error:
        pytest.skip(str(error))
    accepted: list[str] = []

    async def read_all(origin: str) -> dict[str, Page | WebSearchError]:
        web = WebSearch(
            "duckduckgo", reader="browser", internal=["127.0.0.0/8"], timeout=120
        )
        pages = await web.aread_many(
            [origin + case.path for case in CASES], max_length=100_000
        )
        return dict(zip((case.name for case in CASES), pages, strict=True))

    with serve(accepted) as origin:
        yield Site(asyncio.run(read_all(origin)), accepted)
    host.end()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_browser_reads_what_a_person_sees(site, case):
    page = site.pages[case.name]
    if case.truth is None:
        assert isinstance(page, UnsupportedContent)
        return
    assert isinstance(page, Page), page
    assert measure(page.content, case.truth) >= LEAST, page.content


@pytest.mark.parametrize(
    ("name", "note"),
    [
        ("consent-onetrust", "a consent wall was declined (OneTrust)"),
        ("consent-cookiebot", "a consent wall was declined (Cookiebot)"),
        ("consent-usercentrics", "a consent wall was declined (Usercentrics)"),
        (
            "consent-sourcepoint",
            "a consent wall was removed without an answer (Sourcepoint)",
        ),
        ("consent-unknown", "a consent wall was removed without an answer"),
        ("svelte-infinite", "the page was scrolled to load more of it"),
        (
            "react-virtual",
            "the page shows only some rows of a list at a time: those seen while scrolling are included",
        ),
    ],
)
def test_a_note_says_what_was_done_to_a_page(site, name, note):
    assert note in site.pages[name].notes


def test_no_consent_wall_is_accepted(site):
    assert site.accepted == []


def test_what_style_sheets_hide_is_left_out(site):
    page = site.pages["svelte-hidden"]

    assert not re.search(
        "Ignore all|Assistants must|transfer the deposit|closed for good|Reply with|White words",
        page.content,
    )
    assert "8 hidden passages left out" in page.notes


def test_form_values_are_left_out(site):
    assert "ann@site.example" not in site.pages["svelte-modal"].content


def measure(said: str, truth: str) -> float:
    """Return the word F1."""
    found, wanted = (
        Counter(re.findall(r"\w+", said)),
        Counter(re.findall(r"\w+", truth)),
    )
    return 2 * (found & wanted).total() / max(found.total() + wanted.total(), 1)


@pytest.fixture(scope="module")
def unrendered(origin):
    """What the reader ``direct`` makes of the same pages."""

    async def read_all() -> dict[str, Page | WebSearchError]:
        web = WebSearch("duckduckgo", reader="direct", internal=["127.0.0.0/8"])
        pages = await web.aread_many(
            [origin + case.path for case in CASES], max_length=100_000
        )
        return dict(zip((case.name for case in CASES), pages, strict=True))

    return asyncio.run(read_all())


# The HTML of these has words of its own, and no mark of what is missing: only a browser
# can tell.
MISREAD = {"react-hydration"}
READ = {"chunked"}  # needs no scripts


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_without_a_browser_it_is_said_that_one_is_needed(unrendered, case):
    page = unrendered[case.name]

    assert isinstance(page, NeedsBrowser) == (case.name not in MISREAD | READ), page
