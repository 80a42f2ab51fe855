"""A provider that says after which errors it can help is asked only after those;
`reader="auto"` is built on it.
"""

from __future__ import annotations

import pytest

from websearch_core import WebSearch
from websearch_core.errors import (
    AllProvidersFailed,
    Blocked,
    ConfigurationError,
    DomainNotAllowed,
    NeedsBrowser,
    PageNotFound,
    Unavailable,
)
from websearch_core.events import Failover, listen
from websearch_core.flow import Sleep
from websearch_core.layers import Fallback, Retry
from websearch_core.models import Page
from websearch_core.providers import Browser, Local
from websearch_core.reading import read_html
from websearch_core.settings import Settings

URL = "https://sea.example/kelp"


class Reader:
    def __init__(self, name, fails=None, *, helps_after=(), slow=False):
        self.name, self.fails, self.helps_after, self.slow = (
            name,
            fails,
            helps_after,
            slow,
        )
        self.asked = []

    def read(self, url):
        self.asked.append(url)
        if self.slow:
            yield Sleep(0.2)
        if fails := self.fails.get(url) if isinstance(self.fails, dict) else self.fails:
            raise fails
        return Page(url=url, provider=self.name)
        yield


def browser(fails=None):
    return Reader("browser", fails, helps_after=(NeedsBrowser, Blocked))


def read(reader):
    return WebSearch(reader=reader, layers=None).read(URL)


def read_many(reader, urls):
    return WebSearch(reader=reader, layers=None).read_many(urls)


def statuses(answer):
    return [(one.provider, one.status) for one in answer.outcomes]


@pytest.mark.parametrize("failure", [NeedsBrowser("scripts"), Blocked("robots")])
def test_it_is_asked_where_it_can_help(failure):
    page = read(Fallback()(Reader("direct", failure), browser()))

    assert page.provider == "browser"


def test_it_is_not_asked_where_it_cannot_and_the_only_failure_is_raised_as_it_is():
    late = browser()
    heard = []
    with listen(heard.append), pytest.raises(PageNotFound, match="gone"):
        read(Fallback()(Reader("direct", PageNotFound("gone")), late))

    assert not late.asked
    assert not [event for event in heard if isinstance(event, Failover)]


def test_the_one_after_it_is_asked_and_the_outcomes_say_who_was_skipped():
    chain = Fallback()(
        Reader("direct", PageNotFound("gone")), browser(), Reader("wayback")
    )
    page = read(chain)

    assert statuses(page) == [
        ("direct", "failed"),
        ("browser", "skipped"),
        ("wayback", "ok"),
    ]
    assert page.notes == ("direct failed (page_not_found); answered by wayback",)


def test_an_earlier_failure_than_the_last_counts_too():
    chain = Fallback()(
        Reader("direct", NeedsBrowser("scripts")),
        Reader("jina", Unavailable("down")),
        browser(),
    )

    assert read(chain).provider == "browser"


def test_several_failures_are_raised_together():
    chain = Fallback()(
        Reader("local", PageNotFound("no")),
        Reader("direct", PageNotFound("gone")),
        browser(),
    )
    with pytest.raises(AllProvidersFailed) as caught:
        read(chain)

    assert [failure.message for failure in caught.value.exceptions] == ["no", "gone"]


def test_it_is_the_first_if_it_is_named_first():
    assert read(Fallback()(browser(), Reader("direct"))).provider == "browser"


def test_a_layer_around_it_changes_nothing():
    late = browser()
    with pytest.raises(PageNotFound):
        read(Fallback()(Reader("direct", PageNotFound("gone")), Retry()(late)))

    assert not late.asked


def test_each_page_of_a_batch_goes_on_only_where_it_helps():
    needs, gone, fine = f"{URL}/needs", f"{URL}/gone", f"{URL}/fine"
    late = browser()
    direct = Reader(
        "direct", {needs: NeedsBrowser("scripts"), gone: PageNotFound("gone")}
    )
    pages = read_many(Fallback()(direct, late), [needs, gone, fine])

    assert late.asked == [needs]
    assert (pages[0].provider, pages[2].provider) == ("browser", "direct")
    assert isinstance(pages[1], PageNotFound)


def test_a_slow_reader_is_not_hedged_with_it():
    late = browser()
    page = WebSearch(
        reader=Fallback(hedge=0.01)(Reader("direct", slow=True), late), layers=None
    ).read(URL)

    assert page.provider == "direct"
    assert not late.asked


@pytest.fixture
def installed(monkeypatch):
    monkeypatch.setattr(Browser, "problem", lambda self: None)


@pytest.fixture
def missing(monkeypatch):
    monkeypatch.setattr(Browser, "problem", lambda self: "no browser")


def readers(web):
    return web.reader.name


def test_auto_is_direct_and_an_installed_browser(installed):
    assert readers(WebSearch(reader="auto")) == "direct|browser"


def test_auto_is_direct_where_no_browser_is_installed(missing):
    assert readers(WebSearch(reader="auto")) == "direct"


def test_auto_begins_with_an_index_that_is_searched(installed, tmp_path):
    web = WebSearch(Local(path=tmp_path / "notes.db"), reader="auto")

    assert readers(web) == "local|direct|browser"


def test_a_reader_named_after_auto_is_asked_last_and_none_is_asked_twice(installed):
    assert readers(WebSearch(reader="auto,wayback,direct")) == "direct|browser|wayback"


def test_auto_may_stand_in_the_settings(installed, monkeypatch):
    monkeypatch.setenv("WEB_SEARCH_READER", "auto")

    assert readers(WebSearch()) == "direct|browser"


def test_a_browser_that_is_switched_off_is_not_used(installed):
    settings = Settings.from_mapping(
        {"reader": "auto", "providers": {"browser": {"enabled": False}}}
    )

    assert readers(WebSearch(settings=settings)) == "direct"


def test_no_browser_is_used_unless_asked_for(installed):
    assert readers(WebSearch()) == "direct"


def test_auto_cannot_search():
    with pytest.raises(ConfigurationError, match="auto"):
        WebSearch("auto")


HIDDEN = Page(
    url=URL,
    content="Kelp.",
    notes=("9 hidden passages left out: 900 characters, more than are here",),
)


class Answers:
    """Reads every page as the one given."""

    def __init__(self, name, page, *, helps_after=()):
        self.name, self.page, self.helps_after = name, page, helps_after

    def read(self, url):
        return self.page.model_copy(update={"url": url, "provider": self.name})
        yield


def test_a_page_that_hides_more_than_it_shows_is_read_by_the_browser_that_follows():
    page = read(Fallback()(Answers("direct", HIDDEN), browser()))

    assert page.provider == "browser"
    assert page.notes == (
        "direct left out more of the page, as hidden, than it kept; answered by browser",
    )
    assert statuses(page) == [("direct", "ok"), ("browser", "ok")]


@pytest.mark.parametrize(
    "failure",
    [Unavailable("crashed"), PageNotFound("gone"), DomainNotAllowed("policy")],
)
def test_a_page_that_hides_more_than_it_shows_stays_the_answer_where_the_browser_fails(
    failure,
):
    chain = Fallback()(Answers("direct", HIDDEN), browser(failure))
    page = read(chain)
    (batch,) = read_many(chain, [URL])

    assert (page.provider, page.content, page.notes[0]) == (
        "direct",
        "Kelp.",
        HIDDEN.notes[0],
    )
    assert page.notes[1].endswith(
        f"; browser failed ({failure.code}); answered by direct"
    )
    assert (batch.provider, batch.content, batch.notes) == (
        page.provider,
        page.content,
        page.notes,
    )


def test_a_page_that_hides_more_than_it_shows_is_the_answer_where_no_browser_follows():
    jina = Reader("jina")

    assert read(Fallback()(Answers("direct", HIDDEN), jina)).notes == HIDDEN.notes
    assert (
        read(Fallback(on=(Blocked,))(Answers("direct", HIDDEN), browser())).notes
        == HIDDEN.notes
    )
    assert not jina.asked


def test_only_the_pages_of_a_batch_that_hide_more_than_they_show_are_read_by_the_browser():
    class Both(Reader):
        def read(self, url):
            page = yield from super().read(url)
            return (
                page.model_copy(update={"notes": HIDDEN.notes}) if url == URL else page
            )

    late = browser()
    found = read_many(Fallback()(Both("direct"), late), [URL, f"{URL}/2"])

    assert [page.provider for page in found] == ["browser", "direct"]
    assert late.asked == [URL]


def test_the_reader_of_this_package_says_that_more_is_hidden_as_the_chain_expects():
    direct = read_html(
        f"<p>Kelp.</p><p hidden>{'Kelp grows in cold seas. ' * 40}</p>".encode(), URL
    )

    assert read(Fallback()(Answers("direct", direct), browser())).provider == "browser"
