"""Which URLs a model may open."""

from __future__ import annotations
import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from websearch_core import provenance
from websearch_core._text import urls as _urls
from websearch_core._text.escaping import link_target
from websearch_core.errors import ConfigurationError, InvalidOption, UnsafeURL
from websearch_core.models import Page, SearchResponse, SearchResult
from websearch_core.provenance import Ledger

FOUND = SearchResponse(
    query="kelp",
    results=(SearchResult(title="Kelp", url="https://sea.example/kelp?a=b#top"),),
)


def may_open(ledger, url, conversation=None):
    try:
        ledger.check(url, conversation)
    except (InvalidOption, UnsafeURL):
        return False
    return True


@pytest.fixture
def seen():
    ledger = Ledger("seen")
    ledger.allow_results(FOUND)
    return ledger


def test_by_default_every_url_may_be_opened():
    assert may_open(Ledger(), "https://anywhere.example/")


@pytest.mark.parametrize(
    "url",
    [
        "https://sea.example/kelp?a=b",
        "https://SEA.example:443/kelp?a=b#other",
        "https://sea.example./kelp?a=b",
    ],
)
def test_what_a_search_returned_may_be_opened_however_it_is_spelt(seen, url):
    assert may_open(seen, url)


SPELLINGS = [  # of one page: the one that was found, and another
    (
        "https://sea.example/wiki/Kelp_(alga)",
        "https://sea.example/wiki/Kelp_%28alga%29",
    ),
    (
        "https://sea.example/wiki/Kelp_%28alga%29",
        "https://sea.example/wiki/Kelp_(alga)",
    ),
    ("https://sea.example/%e6%97%a5", "https://sea.example/日"),
    ("https://sea.example/%7Eada", "https://sea.example/~ada"),
    ("https://sea.example/C%2B%2B", "https://sea.example/C++"),
    ("https://sea.example/it's", "https://sea.example/it%27s"),
    ("https://sea.example/a?x[]=(1)", "https://sea.example/a?x%5B%5D=%281%29"),
    ("https://sea.example/a", "https://sea.example/b/%2e%2e/./a"),
    ("https://sea.example/a", "https://sea.example/a/"),
    ("https://sea.example/a", "http://sea.example/a"),
    ("https://www.sea.example/a", "https://sea.example/a"),
    ("https://sea.example/a", "https://sea.example/a?utm_source=secret"),
]


@pytest.mark.parametrize(("found", "spelled"), SPELLINGS)
def test_a_page_is_opened_as_it_was_found_however_it_is_spelled(found, spelled):
    response = SearchResponse(
        query="kelp", results=(SearchResult(title="Kelp", url=found),)
    )
    strict, open_to_all = Ledger("seen"), Ledger()
    strict.allow_results(response)
    open_to_all.number_results(response)

    assert strict.check(spelled) == found
    assert open_to_all.check(spelled) == found
    assert open_to_all.number_page(Page(url=spelled, title="Kelp")).citation_id == 1


def test_a_page_found_without_encryption_can_be_opened_with_it():
    found, secure = "http://sea.example/a", "https://sea.example/a"
    response = SearchResponse(
        query="kelp", results=(SearchResult(title="Kelp", url=found),)
    )
    strict, open_to_all = Ledger("seen"), Ledger()
    strict.allow_results(response)
    open_to_all.number_results(response)

    assert open_to_all.check(secure) == secure
    assert open_to_all.number_page(Page(url=secure, title="Kelp")).citation_id == 1
    # by a choice between the two, a model could send a bit
    assert strict.check(secure) == found


def test_what_no_number_knows_is_opened_as_it_is_written():
    assert (
        Ledger().check("https://sea.example/%7eada?utm_source=a")
        == "https://sea.example/%7eada?utm_source=a"
    )


def test_an_address_that_may_be_of_two_pages_is_of_neither():
    ledger = Ledger("seen")
    ledger.allow_text("https://sea.example/kelp http://sea.example/kelp")

    assert ledger.check("http://sea.example/kelp") == "http://sea.example/kelp"
    assert ledger.check("https://sea.example/kelp") == "https://sea.example/kelp"
    assert not may_open(ledger, "https://www.sea.example/kelp")


def test_what_the_writer_prints_can_be_opened(seen):
    for found in ("https://sea.example/a_(b)", "https://sea.example/a!*'b?q=[1](2)"):
        seen.allow_results(
            SearchResponse(query="a", results=(SearchResult(title="A", url=found),))
        )
        printed = link_target(found)

        assert printed != found
        assert seen.check(printed) == found


@pytest.mark.parametrize(
    "url",
    [
        "https://sea.example/kelp", "https://sea.example/kelp?a=b&leak=secret", "https://sea.example/kelp?a=b/",
        "https://sea.example/", "https://x.sea.example/kelp?a=b",
        "https://sea.example:8443/kelp?a=b", "https://evil.example/?q=secret", "nonsense",
    ],
)  # fmt: skip
def test_nothing_else_may_be_opened_not_even_a_little_else(seen, url):
    assert not may_open(seen, url)


def test_the_refusal_tells_the_model_what_to_do(seen):
    with pytest.raises(UnsafeURL, match="search for the page first"):
        seen.check("https://evil.example/")


def test_what_the_user_named_may_be_opened():
    ledger = Ledger("seen")
    ledger.allow_text(
        "Read <https://a.example/x>, (https://b.example/y) and https://c.example/z."
    )

    assert [
        url
        for url in ("https://a.example/x", "https://b.example/y", "https://c.example/z")
        if not may_open(ledger, url)
    ] == []
    assert not may_open(ledger, "https://a.example/")


def test_what_the_caller_named_may_be_opened_in_every_conversation():
    ledger = Ledger("seen", named=["https://wiki.example/"])

    assert may_open(ledger, "https://wiki.example/", "one")
    assert may_open(ledger, "https://wiki.example/", "two")


@pytest.mark.parametrize("mode", ["any", "seen"])
def test_a_page_is_opened_by_its_number_in_its_conversation(mode):
    ledger = Ledger(mode)
    ledger.allow_results(FOUND, "1")
    ledger.number_results(FOUND, "1")

    assert [ledger.check(number, "1") for number in ("1", "[1]", " [1] ")] == [
        FOUND.results[0].url
    ] * 3
    with pytest.raises(
        InvalidOption,
        match="no page of this conversation has the number 2: they go from 1 to 1",
    ):
        ledger.check("[2]", "1")
    with pytest.raises(
        InvalidOption, match="has the number 1 yet: search first, or give a URL"
    ):
        ledger.check("1", "2")


def test_what_the_program_stored_may_be_opened_in_another_process():
    stored = [{"id": 3, "url": "https://sea.example/kelp", "title": "", "read": False}]
    read = {"id": 3, "url": "https://sea.example/kelp/", "title": "", "read": True}
    ledger = Ledger("seen")

    assert (
        ledger.check("https://sea.example/kelp", "1", [*stored, read])
        == "https://sea.example/kelp"
    )
    assert (
        ledger.check("http://www.sea.example/kelp/", "1") == "https://sea.example/kelp"
    )
    assert ledger.check("[3]", "1") == "https://sea.example/kelp/"
    assert not may_open(ledger, "https://sea.example/kelp?q=secret", "1")
    assert not may_open(ledger, "https://sea.example/kelp", "2")


def test_a_refusal_says_why_more_may_be_known_elsewhere(seen):
    with pytest.raises(
        UnsafeURL,
        match="this process knows of no page that was found or named in this conversation",
    ):
        seen.check("https://sea.example/kelp", "2")
    stored = [{"id": 1, "url": "https://sea.example/kelp", "title": "", "read": False}]
    with pytest.raises(
        UnsafeURL,
        match="this conversation began in another process, which may know of more that the user",
    ):
        seen.check("https://sea.example/dulse", "3", stored)
    with pytest.raises(
        UnsafeURL, match=r"search for the page first \(the state has no messages\)"
    ):
        seen.check("https://evil.example/", why="the state has no messages")


def test_a_page_to_which_a_redirect_led_has_a_number_and_can_be_opened_again(seen):
    seen.number_page(
        Page(url="https://sea.example/kelp?a=b", final_url="https://other.example/kelp")
    )

    assert (
        seen.check("https://other.example/kelp")
        == seen.check("[1]")
        == "https://other.example/kelp"
    )


def test_one_conversation_knows_nothing_of_another():
    ledger = Ledger("seen")
    ledger.allow_results(FOUND, "one")

    assert may_open(ledger, FOUND.results[0].url, "one")
    assert not may_open(ledger, FOUND.results[0].url, "two")
    assert not may_open(ledger, FOUND.results[0].url)


def test_tenants_with_the_same_thread_are_kept_apart():
    ledger = Ledger("seen")
    ledger.allow_results(FOUND, ("acme", "1"))

    assert may_open(ledger, FOUND.results[0].url, ("acme", "1"))
    assert not may_open(ledger, FOUND.results[0].url, ("other", "1"))
    assert not may_open(ledger, FOUND.results[0].url, "1")


def page(url, *links):
    return Page(url=url, final_url=url, links=links)


def test_links_lead_on_only_if_the_mode_says_so_within_the_host_and_one_step():
    start, inside, outside = (
        "https://sea.example/kelp?a=b",
        "https://sea.example/more",
        "https://evil.example/",
    )
    for mode in ("seen", "seen+links"):
        ledger = Ledger(mode)
        ledger.allow_results(FOUND)
        ledger.allow_links(page(start, inside, outside))
        assert may_open(ledger, inside) is (mode == "seen+links")
        assert not may_open(ledger, outside)
        ledger.allow_links(page(inside, "https://sea.example/third"))
        assert not may_open(ledger, "https://sea.example/third")


@pytest.mark.parametrize(
    "final",
    [
        "https://evil.example/",
        "https://evil.sea.example/",
        "https://sea.example.evil.example/",
    ],
)
def test_a_page_that_redirects_to_another_host_adds_no_links(final):
    ledger = Ledger("seen+links")
    ledger.allow_results(FOUND)
    links = (f"{final}a", "https://sea.example/away?to=a")
    ledger.allow_links(Page(url=FOUND.results[0].url, final_url=final, links=links))

    assert [link for link in links if may_open(ledger, link)] == []


def test_a_page_that_redirects_within_its_host_adds_its_links_however_the_host_is_spelt():
    ledger = Ledger("seen+links")
    ledger.allow_results(FOUND)
    links = (
        "https://sea.example/a",
        "https://SEA.example./b",
        "https://sea.example.evil.example/",
    )
    ledger.allow_links(
        Page(
            url="https://SEA.example.:443/kelp?a=b",
            final_url="http://sea.example/new",
            links=links,
        )
    )

    assert [may_open(ledger, link) for link in links] == [True, True, False]


def test_a_link_that_is_no_url_is_passed_over():
    ledger = Ledger("seen+links")
    ledger.allow_results(FOUND)
    ledger.allow_links(
        page(
            "https://sea.example/kelp?a=b",
            "http://[",
            "//℀.example",
            "https://sea.example/more",
        )
    )

    assert may_open(ledger, "https://sea.example/more")


def test_links_of_a_page_that_nobody_named_lead_nowhere():
    ledger = Ledger("seen+links")
    ledger.allow_links(page("https://sea.example/", "https://sea.example/a"))

    assert not may_open(ledger, "https://sea.example/a")


def test_what_was_found_again_leads_on_even_if_it_was_a_link_first():
    ledger = Ledger("seen+links")
    ledger.allow_results(FOUND)
    ledger.allow_links(page("https://sea.example/kelp?a=b", "https://sea.example/more"))
    ledger.allow_results(
        SearchResponse(
            query="q",
            results=(SearchResult(title="t", url="https://sea.example/more"),),
        )
    )
    ledger.allow_links(page("https://sea.example/more", "https://sea.example/third"))

    assert may_open(ledger, "https://sea.example/third")


def test_it_forgets_the_oldest_first():
    ledger = Ledger("seen")
    for n in range(11_000):
        ledger.allow_text(f"https://a.example/{n}")
    for n in range(1_001):
        ledger.allow_text("https://b.example/", str(n))

    assert not may_open(ledger, "https://a.example/0")
    assert not may_open(ledger, "https://b.example/", "0")
    assert may_open(ledger, "https://b.example/", "1000")


@pytest.mark.parametrize(
    "attacker", [("eve", None), (None, "eve")], ids=["tenant", "user"]
)
def test_many_conversations_of_one_tenant_cost_another_none(attacker):
    ledger = Ledger("seen")
    named = [("acme", "ann", "1"), (None, "bob", "1"), "thread", None]
    for conversation in named:
        ledger.allow_text("https://a.example/", conversation)
        ledger.number_results(FOUND, conversation)
    for n in range(1_100):
        ledger.allow_text("https://b.example/", (*attacker, str(n)))
        ledger.number_results(FOUND, (*attacker, str(n)))

    for conversation in named:
        assert may_open(ledger, "https://a.example/", conversation)
        assert len(ledger.sources(conversation)) == 1
    assert not may_open(ledger, "https://b.example/", (*attacker, "0"))
    assert may_open(ledger, "https://b.example/", (*attacker, "1099"))


def test_as_many_tenants_as_are_kept_leave_the_one_used_last():
    ledger = Ledger("seen")
    for n in range(1_005):
        ledger.allow_text("https://a.example/", (f"tenant {n}", "1"))
        ledger.allow_text("https://a.example/", ("tenant 0", "1"))

    open_ = [
        n
        for n in range(1_005)
        if may_open(ledger, "https://a.example/", (f"tenant {n}", "1"))
    ]
    assert open_ == [0, *range(6, 1_005)]


def test_a_text_without_a_url_takes_no_place():
    ledger = Ledger("seen")
    ledger.allow_text("https://a.example/", "one")
    for n in range(1_100):
        ledger.allow_text("Hello.", str(n))
        ledger.allow_results(SearchResponse(query="kelp"), str(n))

    assert may_open(ledger, "https://a.example/", "one")


def test_a_long_text_of_one_tenant_keeps_no_other_waiting(monkeypatch, seen):
    def canonical(url):
        assert not seen._lock.locked()
        return _urls.canonicalize(url)

    monkeypatch.setattr(provenance, "canonicalize", canonical)
    seen.allow_text("https://a.example/ https://b.example/", "one")

    assert may_open(seen, "https://b.example/", "one")


def test_copies_go_their_own_way(seen):
    for twin in (pickle.loads(pickle.dumps(seen)), copy.deepcopy(seen)):
        assert may_open(twin, "https://sea.example/kelp?a=b")
        twin.allow_text("https://new.example/")
        assert not may_open(seen, "https://new.example/")


def test_an_unknown_mode_is_reported():
    with pytest.raises(ConfigurationError, match="any, seen, seen"):
        Ledger("sene")


@given(st.text(max_size=60), st.text(alphabet="abc/?=&.%#@:", max_size=20))
def test_nothing_added_to_a_seen_url_gets_through(prefix, added):
    ledger = Ledger("seen")
    ledger.allow_results(FOUND)
    base = "https://sea.example/kelp?a=b"

    for url in (base + added, prefix):
        if may_open(ledger, url):
            assert ledger.check(url) == base


@pytest.mark.parametrize(
    "url", ["https://a.example/Key_(lock)", "https://a.example/a[1]"]
)
def test_a_bracket_that_belongs_to_a_url_stays(url):
    ledger = Ledger("seen")
    ledger.allow_text(f"(see {url}), please")

    assert may_open(ledger, url)


def test_what_an_index_of_your_own_holds_may_be_opened():
    ledger = Ledger("seen")
    ledger.allow_results(
        SearchResponse(
            query="q", results=(SearchResult(title="t", url="file:///docs/a.md"),)
        )
    )

    assert may_open(ledger, "file:///docs/a.md")
    assert not may_open(ledger, "file:///docs/b.md")


class Counted(str):
    """A text that counts the characters that are looked at or copied."""

    __slots__ = ("work",)

    def __new__(cls, text, work):
        made = super().__new__(cls, text)
        made.work = work
        return made

    def __getitem__(self, place):
        part = super().__getitem__(place)
        self.work.append(len(part))
        return Counted(part, self.work)

    def count(self, *args):
        self.work.append(len(self))
        return super().count(*args)

    def __iter__(self):
        return (self[n] for n in range(len(self)))


@pytest.mark.parametrize("tail", [")", ".", ")]", "(]", ".)", "a)"])
def test_naming_urls_takes_work_in_proportion_to_the_text(tail):
    work = []
    text = Counted("https://a.example/" + tail * (80_000 // len(tail)), work)
    _urls._strip_punctuation(text)

    assert sum(work) < 10 * len(text)


@pytest.mark.parametrize("tail", [")", ".", "]).,"])
def test_a_url_is_found_before_any_length_of_punctuation(tail):
    ledger = Ledger("seen")
    ledger.allow_text("https://a.example/x" + tail * 20_000)

    assert may_open(ledger, "https://a.example/x")


def test_a_url_too_long_to_be_opened_is_not_kept():
    ledger = Ledger("seen")
    ledger.allow_text(f"https://a.example/{'x' * 9_000} https://b.example/")

    assert may_open(ledger, "https://b.example/")
    assert not may_open(ledger, f"https://a.example/{'x' * 9_000}")
    assert not may_open(ledger, f"https://a.example/{'x' * 8_000}")


@given(st.text(alphabet="a()[].,;!", max_size=30))
def test_what_is_cut_off_a_url_does_not_depend_on_how(tail):
    def one_by_one(url):
        while url[-1:] in tuple(".,;:!?*") or any(
            url.endswith(closing) and url.count(closing) > url.count(opening)
            for opening, closing in ("()", "[]")
        ):
            url = url[:-1]
        return url

    assert _urls._strip_punctuation(f"https://a.example/{tail}") == one_by_one(
        f"https://a.example/{tail}"
    )
