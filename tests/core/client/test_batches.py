"""Readers that read many pages in one request, and texts that services return with
their results.
"""

from __future__ import annotations
import asyncio
from dataclasses import dataclass, field
from functools import partial

import pytest

from websearch_core import Page, SearchResponse, SearchResult, WebSearch
from websearch_core.errors import (
    AllProvidersFailed,
    BadResponse,
    PageNotFound,
    QuotaExhausted,
    Unavailable,
    UnsafeURL,
    WebSearchError,
)
from websearch_core.flow import Gather
from websearch_core.layers import Layer, ProviderWrapper, Retry
from websearch_core.provider import Limits

URLS = [f"https://page.example/{n}" for n in range(5)]


def page_of(url, text="Brown algae of the northern seas."):
    return Page(url=url, final_url=url, content=text, cost=0.5)


@dataclass
class Batches:
    """Reads three pages at once; *lost* are missing, *failures* fail a whole request
    each.
    """

    name: str = "batches"
    lost: tuple[str, ...] = ()
    failures: list[WebSearchError] = field(default_factory=list)
    calls: list[list[str]] = field(default_factory=list)
    limits = Limits(pages_per_request=3)

    def read(self, url, /):
        self.calls.append([url])
        yield from ()
        if url in self.lost:
            raise PageNotFound("lost", provider=self.name)
        return page_of(url)

    def read_many(self, urls, /):
        self.calls.append(list(urls))
        yield from ()
        if self.failures:
            raise self.failures.pop(0)
        return [
            PageNotFound("lost", provider=self.name)
            if url in self.lost
            else page_of(url)
            for url in urls
        ]


@dataclass
class Single:
    name: str = "single"
    calls: list[str] = field(default_factory=list)

    def read(self, url, /):
        self.calls.append(url)
        yield from ()
        return page_of(url)


def read(reader, urls=URLS, **options):
    return WebSearch("duckduckgo", reader=reader, **options).read_many(urls)


def kinds(answers):
    return [type(answer) for answer in answers]


def test_pages_are_read_in_as_few_requests_as_the_service_allows():
    reader = Batches()
    answers = read(reader)

    assert sorted(map(len, reader.calls)) == [2, 3]
    assert [page.url for page in answers] == URLS


def test_async_callers_get_the_same():
    reader = Batches(lost=(URLS[1],))
    answers = asyncio.run(WebSearch("duckduckgo", reader=reader).aread_many(URLS))

    assert kinds(answers) == [Page, PageNotFound, Page, Page, Page]


def test_each_page_is_requested_once_and_cut_to_its_part():
    reader = Batches()
    web = WebSearch("duckduckgo", reader=reader)
    first, same = web.read_many([URLS[0], f"{URLS[0]}#top"], max_length=5)

    assert reader.calls == [[URLS[0]]]
    assert (first.content, same.content) == ("Brown", "Brown")
    assert (first.url, same.url) == (URLS[0], f"{URLS[0]}#top")


def test_a_request_that_failed_is_tried_again():
    reader = Batches(failures=[Unavailable("busy")])
    answers = read(reader, URLS[:2], retry=Retry(wait_initial=0))

    assert kinds(answers) == [Page, Page]
    assert len(reader.calls) == 2


def test_a_request_that_fails_for_good_is_the_error_of_each_page():
    assert (
        kinds(read(Batches(failures=[QuotaExhausted("empty")] * 2), URLS[:2]))
        == [QuotaExhausted] * 2
    )


def test_the_next_reader_gets_only_what_the_first_could_not_read():
    first, second = Batches(lost=(URLS[1], URLS[4])), Single()
    answers = read([first, second])

    assert sorted(second.calls) == [URLS[1], URLS[4]]  # both at once
    assert answers[1].notes == ("batches failed (page_not_found); answered by single",)
    assert answers[0].notes == ()


def test_a_reader_of_batches_may_come_second():
    second = Batches(name="second")
    answers = read([Batches(failures=[QuotaExhausted("empty")] * 2), second], URLS[:3])

    assert kinds(answers) == [Page] * 3
    assert second.calls == [URLS[:3]]


def test_a_page_that_nobody_can_read_names_all_reasons():
    (lost,) = read(
        [Batches(lost=(URLS[0],)), Batches(name="second", lost=(URLS[0],))], URLS[:1]
    )

    assert type(lost) is AllProvidersFailed
    assert kinds(lost.exceptions) == [PageNotFound, PageNotFound]


def test_one_unsafe_url_does_not_cost_the_others():
    class Guarded(Batches):
        def read_many(self, urls, /):
            yield from ()
            raise UnsafeURL("no")

    reader = Guarded(lost=(URLS[1],))
    assert kinds(read(reader, URLS[:2])) == [Page, PageNotFound]
    assert sorted(reader.calls) == [[URLS[0]], [URLS[1]]]


def test_a_wrong_number_of_answers_is_a_bad_response():
    class Short(Batches):
        def read_many(self, urls, /):
            yield from ()
            return []

    assert kinds(read(Short(), URLS[:2])) == [BadResponse] * 2


def test_a_bug_is_the_error_of_the_pages_and_ends_nothing():
    class Broken(Batches):
        def read_many(self, urls, /):
            yield from ()
            raise KeyError("url")

    assert kinds(read(Broken(), URLS[:2])) == [BadResponse] * 2


class Counter(ProviderWrapper):
    """What a layer of another package puts around a reader to see each page alone."""

    def read(self, url, /):
        self.layer.seen.append(url)
        return (yield from super().read(url))

    def read_many(self, urls, /):
        return (yield Gather([self.read(url) for url in urls]))


@dataclass(frozen=True)
class Counting(Layer):
    seen: list[str] = field(default_factory=list)

    def start(self):
        return partial(Counter, self)


def test_a_layer_that_reads_pages_of_a_batch_alone_sees_each():
    counting, reader = Counting(), Batches()
    answers = read(reader, layers=[counting])

    assert sorted(counting.seen) == URLS
    assert sorted(reader.calls) == [[url] for url in URLS]
    assert kinds(answers) == [Page] * 5


def test_what_may_not_be_read_is_not_sent():
    reader = Batches()
    answers = read(
        reader, [URLS[0], "https://closed.example/"], blocked_domains=["closed.example"]
    )

    assert reader.calls == [[URLS[0]]]
    assert isinstance(answers[1], UnsafeURL)


TEXT = "\n\n".join(
    [
        *(f"Paragraph {n} is about ropes." for n in range(40)),
        "The kelp forest grows by the mole.",
    ]
)


@dataclass
class Finding:
    contents: tuple[str | None, ...]
    name = "finding"

    def search(self, query, /):
        yield from ()
        results = [
            SearchResult(title="t", url=URLS[n], content=content, provider=self.name)
            for n, content in enumerate(self.contents)
        ]
        return SearchResponse(
            query=query.text, results=tuple(results), provider=self.name
        )


def test_long_texts_of_a_service_are_cut_to_the_passages_that_answer():
    web = WebSearch(Finding((TEXT, "Short.", None)))
    for response in (
        web.search("kelp forest", passage_length=200),
        asyncio.run(web.asearch("kelp forest", passage_length=200)),
    ):
        long, short, none = (result.content for result in response.results)
        assert "kelp forest" in long
        assert len(long) <= 200
        assert (short, none) == ("Short.", None)


def test_a_long_text_without_the_words_is_cut_to_its_beginning():
    (result,) = WebSearch(Finding((TEXT,))).search("zebra", passage_length=100).results

    assert result.content.startswith("Paragraph 0")
    assert len(result.content) <= 100


def test_read_top_does_not_read_again_what_the_service_returned():
    reader = Single()
    response = WebSearch(Finding(("Kelp it is.", None, None)), reader=reader).search(
        "algae", read_top=2
    )

    assert reader.calls == [URLS[1]]
    assert [result.content for result in response.results] == [
        "Kelp it is.",
        "Brown algae of the northern seas.",
        None,
    ]


def test_a_text_that_is_markup_is_made_safe_before_it_is_cut():
    (result,) = (
        WebSearch(Finding((f"![x](https://spy.example/p.png)\n\n{TEXT}",)))
        .search("kelp")
        .results
    )

    assert "![" not in result.content


@pytest.mark.parametrize("length", [1, 7, 50])
def test_no_text_is_longer_than_asked_for(length):
    (result,) = (
        WebSearch(Finding((TEXT,))).search("kelp", passage_length=length).results
    )

    assert len(result.content) <= length


@pytest.mark.parametrize("kind", [Single, Batches])
def test_a_url_that_is_listed_twice_is_read_once(kind):
    reader = kind()
    asked = [URLS[0], URLS[1], URLS[0], None, URLS[1], None, ["x"], URLS[0]]
    answers = read(reader, asked)
    waiting = asyncio.run(WebSearch("duckduckgo", reader=reader).aread_many(asked))

    assert sorted(
        url
        for call in reader.calls
        for url in ([call] if isinstance(call, str) else call)
    ) == sorted([URLS[0], URLS[1]] * 2)
    for pages in (answers, waiting):
        assert [page.url if isinstance(page, Page) else None for page in pages] == [
            url if isinstance(url, str) else None for url in asked
        ]


@pytest.mark.parametrize("kind", [Single, Batches])
def test_a_page_that_is_listed_with_several_fragments_is_read_and_paid_for_once(kind):
    reader = kind()
    refused = f"{URLS[0]}#a\x00b"
    asked = [f"{URLS[0]}#kelp", URLS[0], refused, f"{URLS[0]}#kelp", f"{URLS[0]}#reef"]
    pages = read(reader, asked)

    assert reader.calls in ([URLS[0]], [[URLS[0]]])
    assert [
        page.url if isinstance(page, Page) else page for page in pages[:2] + pages[3:]
    ] == asked[:2] + asked[3:]
    assert isinstance(pages[2], UnsafeURL)
    assert [page.cost for page in pages if isinstance(page, Page)] == [
        0.5,
        0.0,
        0.0,
        0.0,
    ]
