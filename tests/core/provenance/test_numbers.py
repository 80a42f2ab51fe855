"""One page has one number in a conversation, wherever and whenever it is seen."""

from __future__ import annotations
import pickle
import threading

import pytest

from websearch_core.errors import InvalidOption, UnsafeURL
from websearch_core.models import Page, SearchResponse, SearchResult
from websearch_core.provenance import Ledger


def found(*urls, content=None):
    results = tuple(
        SearchResult(title=url[-1:], url=url, content=content) for url in urls
    )
    return SearchResponse(query="kelp", results=results)


def opened(url, final=""):
    return Page(url=url, final_url=final, title="Page")


def numbers(response):
    return [result.citation_id for result in response.results]


A, B, C, D = (f"https://sea.example/{letter}" for letter in "abcd")


def test_a_page_keeps_its_number_in_later_searches_and_when_it_is_opened():
    ledger = Ledger()

    assert numbers(ledger.number_results(found(A, B))) == [1, 2]
    assert numbers(ledger.number_results(found(C, B, D))) == [3, 2, 4]
    assert ledger.number_page(opened(B)).citation_id == 2
    assert ledger.number_page(opened("https://sea.example/e")).citation_id == 5


@pytest.mark.parametrize(
    "spelling", ["https://SEA.example:443/a", f"{A}#growth", "HTTPS://sea.example/a"]
)
def test_all_spellings_of_a_url_are_one_page(spelling):
    ledger = Ledger()
    ledger.number_results(found(B, A))

    assert numbers(ledger.number_results(found(spelling))) == [2]
    assert ledger.number_page(opened(spelling)).citation_id == 2


def test_two_results_of_one_search_are_two_pages_even_if_services_list_one_page_so():
    ledger = Ledger()

    assert numbers(ledger.number_results(found(A, f"{A}/"))) == [1, 2]
    assert numbers(ledger.number_results(found(f"{A}/"))) == [2]
    # of which of the two, nobody knows
    assert numbers(ledger.number_results(found(f"{A}?utm_source=x"))) == [3]


def test_a_stored_number_is_that_of_the_page_however_it_is_spelled():
    ledger = Ledger()
    stored = [
        {
            "id": 7,
            "title": "Kelp",
            "url": "https://sea.example/Kelp_(alga)",
            "read": False,
        }
    ]

    assert (
        ledger.check("http://sea.example/Kelp_%28alga%29", sources=stored)
        == "https://sea.example/Kelp_(alga)"
    )
    assert numbers(
        ledger.number_results(
            found("https://sea.example/Kelp_%28alga%29"), sources=stored
        )
    ) == [7]


def test_what_is_no_web_url_has_a_number_too():
    ledger = Ledger()

    assert numbers(
        ledger.number_results(found("file:///notes/kelp.md", "not a url"))
    ) == [1, 2]
    assert numbers(
        ledger.number_results(found("not a url", "file:///notes/kelp.md"))
    ) == [2, 1]


def test_a_page_that_redirects_has_the_number_of_both_urls():
    ledger = Ledger()
    ledger.number_results(found(A))

    assert ledger.number_page(opened(A, final=C)).citation_id == 1
    assert numbers(ledger.number_results(found(C, A))) == [1, 1]
    assert [source["url"] for source in ledger.sources()] == [C]  # where the text was


def test_a_snippet_of_one_host_is_not_cited_as_a_page_of_another():
    ledger = Ledger()
    ledger.number_results(found("https://hostile.example/a"))

    assert (
        ledger.number_page(opened("https://hostile.example/a", final=C)).citation_id
        == 2
    )
    assert numbers(ledger.number_results(found("https://hostile.example/a", C))) == [
        1,
        2,
    ]
    assert [source["url"] for source in ledger.sources()] == [
        "https://hostile.example/a",
        C,
    ]
    with_www = C.replace("://", "://www.")
    assert ledger.number_page(opened(with_www, final=C)).citation_id == 2


def test_a_redirect_to_a_page_with_a_number_is_that_page():
    ledger = Ledger()
    ledger.number_results(found(A, B))

    assert ledger.number_page(opened(A, final=B)).citation_id == 2
    assert numbers(ledger.number_results(found(A, B))) == [1, 2]


def test_conversations_have_numbers_of_their_own():
    ledger = Ledger()
    ledger.number_results(found(A, B), ("ann", "1"))

    assert numbers(ledger.number_results(found(B), ("bob", "1"))) == [1]
    assert numbers(ledger.number_results(found(B))) == [1]
    assert [source["url"] for source in ledger.sources(("bob", "1"))] == [B]


def test_a_source_says_whether_it_was_read():
    ledger = Ledger()
    ledger.number_results(found(A, B))
    ledger.number_results(found(C, content="Kelp grows."))
    ledger.number_page(opened(A))
    ledger.number_results(found(A))  # seen again as a snippet

    assert [(source["id"], source["read"]) for source in ledger.sources()] == [
        (1, True),
        (2, False),
        (3, True),
    ]


def test_numbers_are_adopted_from_what_the_program_stored_and_none_is_given_twice():
    before = Ledger()
    before.number_results(found(A, B, C))
    stored = before.sources()
    after = Ledger()

    assert numbers(after.number_results(found(D, C), sources=stored)) == [4, 3]
    assert numbers(after.number_results(found(B), sources=stored[:1])) == [2]


def test_stored_numbers_win_over_those_of_another_conversation_in_memory():
    ledger = Ledger()
    ledger.number_results(found(A, B))
    stored = [
        {"id": 1, "title": "", "url": C, "read": False},
        {"id": 5, "title": "", "url": B, "read": True},
    ]

    assert numbers(ledger.number_results(found(C, B, A), sources=stored)) == [1, 5, 6]
    assert [(source["id"], source["url"]) for source in ledger.sources()] == [
        (1, C),
        (5, B),
        (6, A),
    ]


@pytest.mark.parametrize(
    "junk",
    [
        {}, {"id": "1", "url": A, "title": "", "read": True}, {"id": True, "url": A, "title": "", "read": True},
        {"id": -1, "url": A, "title": "", "read": True}, {"id": 10**9, "url": A, "title": "", "read": True},
        {"id": 7, "url": None, "title": "", "read": True}, {"id": 7, "url": A, "title": 3, "read": True},
        {"id": 7, "url": A, "title": ""}, 7, None, "x", {"id": 7, "url": A * 1_000, "title": "", "read": True},
    ],
)  # fmt: skip
def test_stored_data_of_another_shape_is_ignored(junk):
    assert numbers(Ledger().number_results(found(B), sources=[junk])) == [1]


def test_adopted_numbers_do_not_run_away():
    ledger = Ledger()
    stored = [
        {"id": n, "title": "", "url": f"{A}/{n}", "read": False}
        for n in (10**6, 9_000, 18_000)
    ]

    assert numbers(ledger.number_results(found(B), sources=stored)) == [18_001]
    assert [source["id"] for source in ledger.sources()] == [9_000, 18_000, 18_001]
    again = Ledger()
    assert numbers(
        again.number_results(found(B), sources=[*stored, *ledger.sources()])
    ) == [18_001]


def test_concurrent_searches_get_different_numbers():
    ledger = Ledger()
    ready = threading.Barrier(8)
    given = {}

    def search(n):
        ready.wait()
        urls = [f"https://sea.example/{n}/{m}" for m in range(20)] + [A]
        given[n] = numbers(ledger.number_results(found(*urls), "thread"))

    threads = [threading.Thread(target=search, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len({one[-1] for one in given.values()}) == 1  # the same page
    assert len({number for one in given.values() for number in one}) == 8 * 20 + 1


def test_memory_is_bounded_and_a_number_is_never_used_again():
    ledger = Ledger()
    for n in range(1_500):
        ledger.number_results(found(f"https://sea.example/{n}"))
        ledger.number_page(opened(f"https://sea.example/r{n}", final=A))

    sources = ledger.sources()
    assert len(sources) == 1_000
    assert numbers(ledger.number_results(found("https://sea.example/0"))) == [1_502]
    for n in range(1_100):
        ledger.number_results(found(A), n)
    assert ledger.sources(0) == []


def test_numbers_survive_a_pickle():
    ledger = Ledger()
    ledger.number_results(found(A, B))

    assert numbers(pickle.loads(pickle.dumps(ledger)).number_results(found(C, B))) == [
        3,
        2,
    ]


def test_numbers_that_messages_show_are_skipped_unless_they_are_far_above_all_others():
    ledger = Ledger()

    assert numbers(ledger.number_results(found(A), numbers=[3, 1])) == [4]
    assert numbers(ledger.number_results(found(A, B), numbers=[2])) == [4, 5]
    page = ledger.number_page(opened(C), numbers={8, 999_999})
    assert page.citation_id == 9
    with pytest.raises(InvalidOption, match="has the number 8 that is known here"):
        ledger.check("[8]")


def test_a_page_with_one_number_is_opened_in_a_third_spelling():
    ledger = Ledger("seen")
    for url in (f"{A}/", f"{A}?utm_source=x"):  # found by two searches
        ledger.allow_results(found(url))
        assert numbers(ledger.number_results(found(url))) == [1]

    assert ledger.check(A) == f"{A}/"


def test_pages_with_two_numbers_are_not_opened_in_a_third_spelling():
    ledger = Ledger("seen")
    ledger.allow_results(found(f"{A}/", f"{A}?utm_source=x"))
    ledger.number_results(found(f"{A}/", f"{A}?utm_source=x"))

    with pytest.raises(UnsafeURL, match="only pages"):
        ledger.check(A)
