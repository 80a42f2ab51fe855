"""Pages as documents for loaders and readers: several at a time, also if some cannot be
read.
"""

from __future__ import annotations
import asyncio
import logging

import pytest

from websearch_core import WebSearch
from websearch_core.errors import (
    AuthenticationError,
    BudgetExceeded,
    InvalidOption,
    PageNotFound,
    QuotaExhausted,
)
from websearch_core.flow import Sleep
from websearch_core.testing import FakeWeb
from websearch_core.tools import Loading

URLS = [f"https://sea.example/{n}" for n in range(40)]


@pytest.fixture
def web():
    return FakeWeb(pages=dict.fromkeys(URLS, "Kelp."))


@pytest.fixture(params=["blocking", "async"])
def load(request):
    async def collect(loading, urls):
        return [document async for document in loading.aload(urls)]

    if request.param == "blocking":
        return lambda loading, urls: list(loading.load(urls))
    return lambda loading, urls: asyncio.run(collect(loading, urls))


def test_documents_come_in_the_order_of_the_urls(web, load):
    assert [document.id for document in load(Loading(WebSearch(web)), URLS)] == URLS
    assert [document.id for document in load(Loading(WebSearch(web)), URLS[0])] == URLS[
        :1
    ]


class SlowFromTheThird(FakeWeb):
    """A web whose first two pages come at once, and all others much later."""

    def read(self, url, /):
        if url not in URLS[:2]:
            self.urls.append(url)
            yield Sleep(300)
        return (yield from super().read(url))


def test_a_page_that_fails_ends_the_rest(load):
    web = SlowFromTheThird(pages={URLS[0]: "Kelp."})
    with pytest.raises(PageNotFound):
        load(Loading(WebSearch(web, timeout=600)), URLS * 3)

    # two have ended, and `iter_read` promises at most 32 at a time
    assert len(web.urls) <= 2 + 32


def test_a_page_that_fails_is_left_out_with_its_url_in_the_log(web, load, caplog):
    del web.pages[URLS[1]]
    with caplog.at_level(logging.WARNING):
        assert len(load(Loading(WebSearch(web), on_error="skip"), URLS)) == 39
    assert caplog.messages == [
        f"left out a page: fake read failed: 404 Not Found ({URLS[1]})"
    ]


@pytest.mark.parametrize("error", [AuthenticationError, BudgetExceeded, QuotaExhausted])
def test_what_keeps_every_page_from_being_read_is_raised(error, web, load):
    web.errors[f"{URLS[0]}*"] = error("not today")
    with pytest.raises(error):
        load(Loading(WebSearch(web), on_error="skip"), URLS)


@pytest.mark.parametrize(
    "options", [{"on_error": "ignore"}, {"read_options": {"max_length": 0}}], ids=str
)
def test_wrong_options_are_refused_at_once(options, web):
    with pytest.raises(InvalidOption, match=next(iter(options))):
        Loading(WebSearch(web), **options)
