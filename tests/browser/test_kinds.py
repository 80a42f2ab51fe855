"""Twenty ways in which scripts make a page: right with the browser, and never a shell
as a success where it may help.
"""

from __future__ import annotations
import asyncio

import pytest

from tests.browser.site.kinds import FILES, KINDS, WALLS
from tests.browser.site.server import serve
from websearch_core import WebSearch
from websearch_core._browser import settle, snapshot
from websearch_core._browser.find import find_browser
from websearch_core._browser.host import host
from websearch_core.errors import ConfigurationError, NeedsBrowser, WebSearchError
from websearch_core.models import Page

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]

GOES_ON = "the page goes on: it was not scrolled to its end"
STOPPED = "the page asks for consent and offers no way to decline: it was not answered"


def read(origin, reader, paths):
    async def read_all():
        web = WebSearch(
            "duckduckgo", reader=reader, internal=["127.0.0.0/8"], timeout=120
        )
        return await web.aread_many(
            [origin + path for path in paths], max_length=100_000
        )

    return asyncio.run(read_all())


def is_right(page, kind):
    if isinstance(page, WebSearchError):
        return not kind.says
    found = all(text in page.content for text in kind.says) and not any(
        text in page.content for text in kind.never
    )
    return bool(kind.says) and found


@pytest.fixture(scope="module")
def origin():
    with serve(more=FILES) as address:
        yield address


@pytest.fixture(scope="module")
def rendered(origin):
    """What the browser reads, with patience for a busy machine."""
    try:
        find_browser(None)
    except ConfigurationError as error:
        pytest.skip(str(error))
    kinds = [f"/kinds/{name}{kind.route}" for name, kind in KINDS.items()]
    with pytest.MonkeyPatch.context() as patch:
        for name in (
            "_ANSWER",
            "_GRANT",
            "_BUSY",
            "_STILL",
            "_STILL_WAITING",
            "_PATIENT",
        ):
            patch.setattr(settle, name, 4 * getattr(settle, name))
        patch.setattr(snapshot, "_MAX_SECONDS", 20.0)
        pages = read(origin, "browser", [*kinds, *(f"/walls/{name}" for name in WALLS)])
    yield dict(zip([*KINDS, *WALLS], pages, strict=True))
    host.end()


@pytest.fixture(scope="module")
def plain(origin):
    """What the reader ``direct`` makes of the same pages."""
    return dict(
        zip(
            KINDS,
            read(
                origin,
                "direct",
                [f"/kinds/{name}{kind.route}" for name, kind in KINDS.items()],
            ),
            strict=True,
        )
    )


@pytest.mark.parametrize("name", KINDS)
def test_the_browser_reads_what_a_script_makes_of_a_page(rendered, name):
    assert is_right(rendered[name], KINDS[name]), rendered[name]


@pytest.mark.parametrize("name", KINDS)
def test_no_shell_is_a_success(plain, name):
    page = plain[name]

    # `auto` asks the browser then
    assert isinstance(page, NeedsBrowser) or is_right(page, KINDS[name]), page


def test_a_list_that_goes_on_for_ever_has_a_note(rendered):
    assert GOES_ON in rendered["infinite"].notes


@pytest.mark.parametrize("name", [name for name, wall in WALLS.items() if wall.says])
def test_a_wall_of_its_own_make_is_declined_where_it_offers_that(rendered, name):
    page = rendered[name]

    assert is_right(page, WALLS[name]), page
    assert "a consent wall was declined" in page.notes


def test_a_wall_without_that_is_left_as_it_is_and_a_note_says_so(rendered):
    page = rendered["only-accept"]

    assert isinstance(page, Page)
    assert STOPPED in page.notes
    assert "You have agreed" not in page.content


def test_two_routes_of_a_page_are_two_pages(rendered, origin):
    first, second = read(
        origin, "browser", ["/kinds/hash-route#/", "/kinds/hash-route#/b"]
    )

    assert (
        "This is the first page" in first.content,
        "This is the first page" in second.content,
    ) == (True, False)
    assert second.url == second.final_url == f"{origin}/kinds/hash-route#/b"
