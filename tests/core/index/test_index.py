"""The index: words, snippets, the file, folders, robots.txt and crawling."""

from __future__ import annotations
import json
import multiprocessing
import os
import pickle
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.corpora import CORPORA, needs
from websearch_core._text.terms import index_text, query_terms, split_terms
from websearch_core.errors import (
    BadResponse,
    BudgetExceeded,
    ConfigurationError,
    InvalidOption,
    PageNotFound,
    Unavailable,
    UnsafeURL,
)
from websearch_core.index import Index
from websearch_core.index._store import address, make_snippet, strip_markdown
from websearch_core.models import Page, SearchQuery

XQUAD = CORPORA / "ir" / "xquad"


@pytest.fixture
def index(tmp_path):
    return Index(tmp_path / "index.db")


def page(name, content="", **facts):
    url = f"https://sea.example/{name}"
    return Page(
        url=url, final_url=url, title=facts.pop("title", name), content=content, **facts
    )


def names(index, text, **options):
    """Search, and return the last parts of the URLs found, in order."""
    return [
        hit.page.final_url.rsplit("/", 1)[-1]
        for hit in index.search(SearchQuery(text=text, **options)).hits
    ]


@pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")
def test_a_new_index_is_for_its_owner_only_and_an_old_one_stays_as_it_is(tmp_path):
    index = Index(tmp_path / "new" / "index.db")
    index.add(page("kelp", "kelp"))
    assert {
        file.stat().st_mode & 0o077 for file in (index.path, index.path.parent)
    } == {0}
    index.path.chmod(0o644)
    index.add(page("tide", "tide"))
    assert index.path.stat().st_mode & 0o777 == 0o644


# Words


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Configuration", "configures"),
        ("café", "CAFE"),
        ("Straße", "STRASSE"),
        ("Ｐｙｔｈｏｎ", "python"),
        ("Ελλάδα", "ελλαδα"),
        ("مُحَمَّد", "محمد"),
        ("جامعة", "الجامعة"),
        ("جامعة", "وبالجامعة"),
        ("للجامعة", "جامعه"),
        ("مصطفى", "مصطفي"),
        ("キー", "ｷｰ"),
        ("한국어", "한국어"),
    ],
)
def test_spellings_of_a_word_have_the_same_form(one, other):
    assert index_text(one) == index_text(other) != ""


@pytest.mark.parametrize("word", ["والد", "بالغ", "ألم"])
def test_what_only_begins_like_an_arabic_article_stays(word):
    assert len(index_text(word)) == len(word)


def test_numbers_and_identifiers_are_kept_whole():
    assert index_text("HK-409 20261121 20261122") == "hk 409 20261121 20261122"


def test_scripts_without_spaces_are_split_into_pairs():
    assert index_text("東京タワー") == "東京 京タ タワ ワー ー"
    assert query_terms("東京タワー") == ["東京", "京タ", "タワ", "ワー"]


def test_a_single_character_matches_pairs_that_begin_with_it():
    assert query_terms("猫 犬") == ["猫*", "犬*"]


def test_a_repeated_word_is_one_term():
    assert query_terms("key keys Key") == ["key", "keys"]


@pytest.mark.parametrize(
    "alone", ["\u0300", "\u0640", "\u064b", "\u05b0", "a \u0301\u0301 b"]
)
def test_a_mark_on_its_own_is_not_a_word(alone):
    assert [word.form for word in split_terms(alone)] == [
        letter for letter in alone if letter in "ab"
    ]
    assert "" not in query_terms(alone)
    assert index_text(alone) == " ".join(letter for letter in alone if letter in "ab")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("\U0001d400\U0001d401", "ab"),
        ("\u2474", "1"),
        ("\u2488", "1"),
        ("\u212a", "k"),
        ("\uff21\uff42", "ab"),
        ("\u037a", "\u03b9"),
    ],
    ids=[
        "mathematical",
        "in brackets",
        "with a full stop",
        "Kelvin",
        "wide",
        "with a blank",
    ],
)
def test_compatibility_forms_of_a_letter_are_that_letter(text, form):
    assert [word.form for word in split_terms(text)] == [form]
    assert query_terms(text) == [form]


@pytest.mark.parametrize(
    "text",
    ["oʻzbek soʼz", "naïve café_aúlait", "क्या การx́", "الكتاب 한국어는 a語1"],
)
def test_the_forms_of_a_text_are_those_of_its_words(text):
    assert index_text(text).split() == [word.form for word in split_terms(text)] != []


@given(st.text())
def test_every_word_lies_within_its_text(text):
    for word in split_terms(text):
        assert word.form
        assert not any(map(str.isspace, word.form))
        assert 0 <= word.start <= word.end <= len(text)


# Snippets


def test_markdown_is_stripped_to_its_text():
    marked = '# Kelp\n\nA **brown** [alga](https://sea.example/a "t") in `code`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```py\nx\n```'

    assert strip_markdown(marked) == "Kelp\nA brown alga in code.\na b\n1 2\nx"


def test_a_snippet_shows_the_place_with_most_of_the_terms():
    text = (
        "Nothing here. " * 100 + "Kelp grows in cold water. " + "Nothing here. " * 100
    )

    shown = make_snippet(text, query_terms("cold kelp"))

    assert "Kelp grows in cold water." in shown
    assert len(shown) <= 302
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_a_snippet_prefers_the_rare_word_to_the_frequent_one():
    text = "The sea is wide. " * 50 + "A bascule bridge. " + "The sea is wide. " * 50

    assert "bascule" in make_snippet(text, query_terms("the bascule"))


def test_a_page_without_the_words_of_the_query_shows_its_beginning():
    assert make_snippet(
        "First words. " + "More of it. " * 100, query_terms("kelp")
    ).startswith("First words.")


def test_a_snippet_in_a_script_without_spaces_begins_at_a_sentence():
    text = "海は広い。" * 100 + "東京タワーは赤い。" + "海は広い。" * 100

    assert "東京タワーは赤い。" in make_snippet(text, query_terms("東京タワー"))


@given(st.text(), st.text())
def test_no_text_and_no_query_break_a_snippet(text, query):
    assert len(make_snippet(strip_markdown(text), query_terms(query))) <= 302


# The file


def test_a_page_that_was_added_is_found_and_returned_unchanged(index):
    kelp = page(
        "kelp",
        "# Kelp\n\nBrown algae.",
        title="Kelp",
        published=datetime(2026, 5, 4, tzinfo=UTC),
        language="en",
        author="Ines",
        links=("https://sea.example/dulse",),
    )
    index.add(kelp)

    assert index.page(kelp.url) == kelp
    assert index.page(kelp.url + "#forests") == kelp
    assert names(index, "algae") == ["kelp"]


def test_adding_a_url_again_replaces_it(index):
    index.add(page("a", "kelp"))
    index.add(page("a", "dulse"))

    assert index.urls() == ["https://sea.example/a"]
    assert names(index, "kelp") == []
    assert names(index, "dulse") == ["a"]


def test_a_removed_page_is_not_found(index):
    index.add(page("a", "kelp"))

    assert index.remove("https://sea.example/a")
    assert not index.remove("https://sea.example/a")
    assert names(index, "kelp") == []
    with pytest.raises(PageNotFound):
        index.page("https://sea.example/a")


def test_replacing_and_removing_leave_no_words_behind(index, tmp_path):
    for n in range(20):
        index.add(page("a", f"kelp {n} " * n))
    index.add(page("b", "kelp"))
    index.remove("https://sea.example/a")
    fresh = Index(tmp_path / "fresh.db")
    fresh.add(page("b", "kelp"))
    query = SearchQuery(text="kelp")

    assert index.search(query) == fresh.search(query)
    with closing(sqlite3.connect(index.path)) as db, db:
        db.execute("INSERT INTO words (words) VALUES ('integrity-check')")
    db.close()


def test_the_order_of_ties_does_not_depend_on_the_order_of_adding(tmp_path):
    pages = [page(name, "kelp and dulse") for name in "abcde"]
    forwards, backwards = (
        Index(tmp_path / "forwards.db"),
        Index(tmp_path / "backwards.db"),
    )
    for one in pages:
        forwards.add(one)
    for one in reversed(pages):
        backwards.add(one)

    assert (
        names(forwards, "kelp") == names(backwards, "kelp") == ["a", "b", "c", "d", "e"]
    )


@pytest.mark.parametrize(
    "url", ["notes/1", "ftp://sea.example/", "file:relative", "http://[", ""]
)
def test_a_page_without_a_usable_url_is_refused(index, url):
    with pytest.raises(InvalidOption):
        index.add(Page(url=url, content="kelp"))


@pytest.mark.parametrize("url", ["http://[", "\ud800", "", "x" * 100_000])
def test_a_malformed_url_is_not_found(index, url):
    index.add(page("a"))

    with pytest.raises(PageNotFound):
        index.page(url)


def test_an_origin_without_a_path_is_its_first_page():
    assert address("https://sea.example#top") == "https://sea.example/"


def test_a_page_is_one_however_its_url_is_spelled(index):
    for url in (
        "https://Sea.example/~x",
        "https://sea.example:443/%7Ex",
        "https://sea.example/a/../%7ex#top",
    ):
        index.add(Page(url=url, final_url=url, title="Kelp", content="kelp"))

    assert index.urls() == ["https://sea.example/~x"]
    assert (
        index.page("https://sea.example/%7Ex").final_url
        == "https://sea.example/a/../%7ex#top"
    )
    assert index.remove("HTTPS://sea.example/~x")


@pytest.mark.parametrize("stated", ["en", "en-US", "en_US", "EN_us"])
def test_a_page_is_found_by_its_language_however_it_states_it(index, stated):
    index.add(page("kelp", "kelp", language=stated))

    assert names(index, "kelp", language="en") == ["kelp"]
    assert names(index, "kelp", language="de") == []


def test_an_index_does_what_a_list_of_pages_would(index):
    """Add, replace, remove and search at random, and compare with pages in a
    dictionary.
    """
    random, words = Random(20261122), "kelp tide reef gull wrack 海藻 Тюлень".split()
    model: dict[str, list[str]] = {}
    for _ in range(100):
        name, kind = f"p{random.randrange(12)}", random.random()
        if kind < 0.5:
            model[name] = random.choices(words, k=random.randrange(1, 6))
            index.add(page(name, " ".join(model[name]), title="Page"))
        elif kind < 0.7 and model:
            spelled = random.choice(
                [name, f"x/../{name}", f"%70{name[1:]}", f"{name}#part"]
            )
            assert index.remove(f"https://SEA.example/{spelled}") == (
                model.pop(name, None) is not None
            )
        elif model:
            wanted = random.sample(words, 2)
            both = {one for one, text in model.items() if set(wanted) <= set(text)}
            either = {one for one, text in model.items() if set(wanted) & set(text)}
            found = names(index, " ".join(wanted), limit=50)
            assert (set(found), set(found[: len(both)])) == (either, both)


def test_the_error_for_a_missing_index_says_how_to_make_one(index):
    with pytest.raises(ConfigurationError, match="websearch index PATH_OR_URL"):
        index.search(SearchQuery(text="kelp"))
    assert not index.path.exists()


@pytest.mark.parametrize(
    "content", [b"not a database, " * 500, b"SQLite format 3\x00" + b"\xff" * 5000]
)
def test_a_file_that_is_not_an_index_is_refused_and_not_changed(index, content):
    index.path.write_bytes(content)

    for use in (
        lambda: index.search(SearchQuery(text="kelp")),
        lambda: index.add(page("a")),
    ):
        with pytest.raises((ConfigurationError, BadResponse), match="rebuild it"):
            use()
    assert index.path.read_bytes() == content


def test_the_database_of_another_application_is_refused_and_not_changed(index):
    with closing(sqlite3.connect(index.path)) as db, db:
        db.execute("CREATE TABLE customers (name)")
    db.close()
    before = index.path.read_bytes()

    for use in (
        lambda: index.search(SearchQuery(text="kelp")),
        lambda: index.add(page("a")),
    ):
        with pytest.raises(ConfigurationError, match="not an index of this version"):
            use()
    assert index.path.read_bytes() == before


def test_damage_inside_is_a_bad_response(index):
    for n in range(20):
        index.add(page(str(n), f"kelp {n} " * 200))
    with closing(sqlite3.connect(index.path)) as db, db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    db.close()
    data = bytearray(index.path.read_bytes())
    data[4096:] = b"\x55" * (len(data) - 4096)
    index.path.write_bytes(data)

    with pytest.raises(BadResponse, match="damaged"):
        index.search(SearchQuery(text="kelp"))


def test_a_stored_page_that_cannot_be_read_is_a_bad_response(index):
    index.add(page("a", "kelp"))
    with closing(sqlite3.connect(index.path)) as db, db:
        db.execute("UPDATE pages SET page = '{'")
    db.close()

    for use in (
        lambda: index.search(SearchQuery(text="kelp")),
        lambda: index.add(page("a")),
    ):
        with pytest.raises(BadResponse, match="damaged"):
            use()


def test_a_folder_in_place_of_the_file_is_a_configuration_error(tmp_path):
    with pytest.raises(ConfigurationError):
        Index(tmp_path).add(page("a"))


def test_a_file_in_place_of_its_folder_is_a_configuration_error(tmp_path):
    (tmp_path / "file").touch()

    with pytest.raises(ConfigurationError):
        Index(tmp_path / "file" / "index.db").add(page("a"))


def test_an_index_that_is_busy_for_too_long_is_unavailable(index, monkeypatch):
    monkeypatch.setattr("websearch_core.index._store._TIMEOUT", 0.05)
    index.add(page("a"))
    other = sqlite3.connect(index.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        with pytest.raises(Unavailable, match="busy") as caught:
            index.add(page("b"))
        assert caught.value.temporary
        assert names(index, "a") == ["a"]  # reading does not wait
    finally:
        other.close()


@pytest.mark.parametrize(
    ("code", "error", "temporary"),
    [
        (sqlite3.SQLITE_BUSY, Unavailable, True),
        (sqlite3.SQLITE_FULL, Unavailable, False),
        (sqlite3.SQLITE_IOERR, Unavailable, False),
        (sqlite3.SQLITE_IOERR_READ, Unavailable, False),
        (sqlite3.SQLITE_CANTOPEN, ConfigurationError, None),
        (sqlite3.SQLITE_READONLY, ConfigurationError, None),
        (sqlite3.SQLITE_CORRUPT, BadResponse, False),
    ],
)
def test_every_failure_of_the_database_is_an_error_of_this_library(
    index, monkeypatch, code, error, temporary
):
    index.add(page("a"))

    def connect(*_, **__):
        failure = sqlite3.OperationalError("it does not work")
        failure.sqlite_errorcode = code
        raise failure

    monkeypatch.setattr(sqlite3, "connect", connect)
    for use in (
        lambda: index.search(SearchQuery(text="a")),
        lambda: index.add(page("b")),
        index.urls,
    ):
        with pytest.raises(error) as caught:
            use()
        assert getattr(caught.value, "temporary", None) is temporary
        assert str(index.path) in str(caught.value)


def test_an_index_in_a_folder_that_cannot_be_written_is_read(index, monkeypatch):
    index.add(page("a", "kelp"))
    monkeypatch.setattr(os, "access", lambda *_: False)

    assert names(index, "kelp") == ["a"]
    assert [index.path] == list(index.path.parent.iterdir())


def test_threads_write_and_read_at_the_same_time(index):
    def write(n):
        index.add(page(str(n), f"kelp number{n}"))

    stop = threading.Event()
    found = []

    def search():
        while not stop.is_set():
            if index.path.exists():
                try:
                    found.append(len(names(index, "kelp", limit=100)))
                except ConfigurationError:
                    assert not found, (
                        "the index is only unfinished before its first page"
                    )

    with ThreadPoolExecutor(5) as threads:
        searching = threads.submit(search)
        list(threads.map(write, range(40)))
        stop.set()
        searching.result()

    assert len(names(index, "kelp", limit=100)) == 40
    assert found == sorted(found)


# threads that other tests left behind
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_an_index_is_carried_into_other_processes(index, start):
    index.add(page("a", "kelp"))
    assert pickle.loads(pickle.dumps(index)) == index

    other = multiprocessing.get_context(start).Process(
        target=index.add, args=(page("b", "kelp"),)
    )
    other.start()
    other.join()

    assert other.exitcode == 0
    assert names(index, "kelp") == ["a", "b"]


# Folders


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "docs"
    (place / "sub").mkdir(parents=True)
    (place / ".git").mkdir()
    (place / ".git" / "config").write_text("kelp")
    (place / "a.md").write_text("# Seaweed\n\nkelp")
    (place / "b.txt").write_text("kelp in plain text")
    (place / "c.html").write_text(
        "<title>Dulse</title><h1>Dulse</h1><p>A red alga, not kelp, of cold coasts."
    )
    (place / "d.json").write_text('{"alga": "kelp"}')
    (place / "e.csv").write_text("name,colour\nkelp,brown\n")
    (place / "f.rst").write_text("Kelp\n====\n\nkelp")
    (place / "h.py").write_text("def grow(kelp): ...")
    (place / "g.png").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (place / "sub" / "ä b.md").write_text("kelp below")
    (place / "link.md").symlink_to(place / "a.md")
    return place


def test_a_folder_is_indexed_and_skipped_files_are_reported(index, folder):
    urls = []

    report = index.add_folder(folder, urls.append)

    assert (report.added, report.removed) == (8, 0)
    assert {Path(one.what).name for one in report.skipped} == {
        ".git",
        "g.png",
        "link.md",
    }
    assert [one for one in report.skipped if not one.why] == []
    assert sorted(urls) == index.urls()
    assert (folder / "sub" / "ä b.md").resolve().as_uri() in index.urls()
    assert len(names(index, "kelp", limit=20)) == 8


def test_documents_and_pictures_with_words_are_indexed(index, tmp_path):
    pypdf, openpyxl = pytest.importorskip("pypdf"), pytest.importorskip("openpyxl")
    paper = pypdf.PdfWriter()
    paper.add_blank_page(99, 99)
    paper.write(tmp_path / "paper.pdf")
    book = openpyxl.Workbook()
    book.active.append(["kelp", "brown"])
    book.save(tmp_path / "algae.xlsx")
    (tmp_path / "shore.svg").write_text("<svg><title>Kelp at ebb</title></svg>")
    (tmp_path / "plain.svg").write_text("<svg width='9' height='9'/>")

    report = index.add_folder(tmp_path)

    assert sorted(names(index, "kelp", limit=20)) == ["algae.xlsx", "shore.svg"]
    assert {Path(one.what).name: one.why for one in report.skipped} == {
        "paper.pdf": "there is no text in it",
        "plain.svg": "an image without text",
    }


def test_files_have_titles(index, folder):
    index.add_folder(folder)

    titles = {Path(url).name: index.page(url).title for url in index.urls()}

    assert (titles["a.md"], titles["c.html"], titles["b.txt"]) == (
        "Seaweed",
        "Dulse",
        "b.txt",
    )


def test_indexing_a_folder_again_follows_its_changes(index, folder):
    index.add(page("elsewhere", "kelp"))
    index.add_folder(folder)
    (folder / "a.md").unlink()
    (folder / "b.txt").write_text("only dulse now")

    report = index.add_folder(folder)

    assert (report.added, report.unchanged, report.removed) == (1, 6, 1)
    assert "elsewhere" in names(index, "kelp", limit=20)
    assert "b.txt" not in names(index, "kelp", limit=20)
    assert "b.txt" in names(index, "dulse", limit=20)


def test_a_folder_whose_name_begins_the_same_is_not_touched(index, tmp_path):
    for name in ("docs", "docs-old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a.md").write_text("kelp")
        index.add_folder(tmp_path / name)

    assert index.add_folder(tmp_path / "docs").removed == 0
    assert len(index.urls()) == 2


def test_a_single_file_is_indexed_too(index, folder):
    assert index.add_folder(folder / "a.md").added == 1
    assert index.urls() == [(folder / "a.md").resolve().as_uri()]


def test_an_index_within_the_folder_does_not_index_itself(folder):
    index = Index(folder / "index.db")
    index.add_folder(folder)

    report = index.add_folder(folder)

    assert [one for one in report.skipped if "index.db" in one.what] == []
    assert [url for url in index.urls() if "index.db" in url] == []


def test_a_folder_that_is_not_there_is_a_configuration_error(index, tmp_path):
    with pytest.raises(ConfigurationError, match="no such file or folder"):
        index.add_folder(tmp_path / "nowhere")


def test_pipes_and_large_files_are_skipped(index, tmp_path, monkeypatch):
    monkeypatch.setattr("websearch_core.index._store._MAX_BYTES", 2**20)
    place = tmp_path / "docs"
    place.mkdir()
    os.mkfifo(place / "pipe.txt")
    (place / "large.txt").write_bytes(b"x" * (2**20 + 1))

    report = index.add_folder(place)

    assert [one.why for one in report.skipped] == [
        "larger than 1 MiB",
        "not a regular file",
    ]
    assert not index.path.exists()


# Pages of a crawl


def test_pages_of_a_crawl_are_added_and_those_that_are_gone_removed(index):
    urls = []
    read = [
        (f"https://sea.example/{name}", page(name, f"kelp {name}")) for name in "abc"
    ]
    first = index.add_pages(read, urls.append)
    errors = [PageNotFound("gone"), Unavailable("down"), UnsafeURL("no")]

    second = index.add_pages(
        [
            read[0],
            *(
                (f"https://sea.example/{name}", one)
                for name, one in zip("bcd", errors, strict=True)
            ),
        ]
    )

    assert (first.added, first.unchanged, first.removed, first.skipped) == (3, 0, 0, ())
    assert len(urls) == 3
    assert (second.added, second.unchanged, second.removed) == (0, 1, 1)
    assert [(one.what[-1], one.why) for one in second.skipped] == [
        ("b", "gone"),
        ("c", "down"),
        ("d", "no"),
    ]


def test_a_generator_of_pages_is_closed_by_an_error_that_ends_it(index):
    ended = []

    def crawl():
        try:
            yield "https://sea.example/a", page("a", "kelp")
            yield "https://sea.example/b", BudgetExceeded("nothing is left")
            yield "https://sea.example/c", page("c", "dulse")
        finally:
            ended.append("crawl")

    # a name, as in the frame of a traceback, so that it is not closed because nothing
    # refers to it
    pages = crawl()
    with pytest.raises(BudgetExceeded):
        index.add_pages(pages)

    assert ended == ["crawl"]
    assert list(pages) == []
    assert index.urls() == ["https://sea.example/a"]


def test_a_page_that_is_gone_makes_no_index(index):
    assert (
        index.add_pages([("https://sea.example/a", PageNotFound("gone"))]).removed == 0
    )
    assert not index.path.exists()


# Measured


@pytest.mark.parametrize(
    ("language", "least"), [("en", 0.94), ("ru", 0.91), ("zh", 0.94), ("th", 0.89)]
)
@needs(XQUAD)
@pytest.mark.no_cover
def test_the_paragraph_that_answers_a_question_is_near_the_top(index, language, least):
    corpus = XQUAD / f"xquad.{language}.json"
    paragraphs = [
        one
        for article in json.loads(corpus.read_text())["data"]
        for one in article["paragraphs"]
    ][::2]
    for n, paragraph in enumerate(paragraphs):
        index.add(page(str(n), paragraph["context"], title=""))
    ranks = []
    for n, paragraph in enumerate(paragraphs):
        found = names(index, paragraph["qas"][0]["question"], limit=10)
        ranks.append(1 / (found.index(str(n)) + 1) if str(n) in found else 0.0)

    assert sum(ranks) / len(ranks) >= least


FOREIGN = {
    "a view in place of the pages": [
        "DROP TABLE pages",
        """CREATE VIEW pages AS WITH RECURSIVE up(n) AS (
            SELECT 1 UNION ALL SELECT n + 1 FROM up
        ) SELECT n AS id, 'x' AS url, 1.0 AS published, '' AS language, '' AS page
        FROM up""",
    ],
    "a trigger": [
        "CREATE TRIGGER more AFTER INSERT ON pages BEGIN DELETE FROM pages; END"
    ],
    "a table of something else": ["CREATE TABLE notes (text)"],
    "columns that compute": [
        "ALTER TABLE pages ADD COLUMN size AS (length(page)) VIRTUAL"
    ],
    "another virtual table": ["CREATE VIRTUAL TABLE words_x USING fts5 (text)"],
}


@pytest.mark.parametrize("statements", FOREIGN.values(), ids=FOREIGN)
def test_a_file_with_objects_that_are_not_ours_is_no_index(index, statements):
    index.add(page("kelp", "kelp grows"))
    with closing(sqlite3.connect(index.path, isolation_level=None)) as db:
        for statement in statements:
            db.execute(statement)

    for use in (
        index.urls,
        lambda: names(index, "kelp"),
        lambda: index.page("https://sea.example/kelp"),
        lambda: index.add(page("dulse", "dulse grows")),
        lambda: index.remove("https://sea.example/kelp"),
    ):
        with pytest.raises(ConfigurationError, match="is not an index"):
            use()


@pytest.mark.parametrize(
    "change",
    [
        "url = NULL",
        "url = x'00'",
    ],
)
def test_a_url_that_is_no_text_is_damage(index, change):
    index.add(page("kelp", "kelp grows"))
    with closing(sqlite3.connect(index.path, isolation_level=None)) as db:
        db.execute(f"UPDATE pages SET {change}")

    with pytest.raises(BadResponse, match="is damaged"):
        index.urls()


@pytest.mark.parametrize("url", ["javascript:alert(1)", "ftp://sea.example/", "x"])
def test_a_row_does_not_lead_elsewhere_than_to_pages_and_files(index, url):
    index.add(page("kelp", "kelp grows"))
    other = Page(url=url, final_url=url, title="kelp").model_dump_json()
    with closing(sqlite3.connect(index.path, isolation_level=None)) as db:
        db.execute("UPDATE pages SET page = ?", (other,))

    with pytest.raises(BadResponse, match="is damaged"):
        names(index, "kelp")


@pytest.mark.skipif(os.name != "posix", reason="names elsewhere are always Unicode")
def test_a_file_whose_name_is_no_unicode_is_indexed_with_the_others(index, tmp_path):
    folder = tmp_path / "old"
    (folder / os.fsdecode(b"stra\xdfe")).mkdir(parents=True)
    for name in (b"first.txt", b"gr\xfc\xdfe.txt", b"last.txt", b".\xe9", b"\xe9.bin"):
        text = b"\0\1\2" if name.endswith(b"bin") else b"seaweed"
        (folder / os.fsdecode(name)).write_bytes(text)
    (folder / os.fsdecode(b"stra\xdfe/x.txt")).write_bytes(b"seaweed")

    report = index.add_folder(folder)

    assert report.added == 4
    assert sorted(name for name in names(index, "seaweed")) == [
        "first.txt",
        "gr%FC%DFe.txt",
        "last.txt",
        "x.txt",
    ]
    titles = [hit.page.title for hit in index.search(SearchQuery(text="seaweed")).hits]
    assert "gr\ufffd\ufffde.txt" in titles
    assert [Path(one.what).name for one in report.skipped] == [".\ufffd", "\ufffd.bin"]
    assert index.add_folder(folder).unchanged == 4


def test_a_page_that_comes_twice_with_different_texts_is_counted_twice(index):
    url = "https://sea.example/a"
    texts = ("one", "two", "two")

    report = index.add_pages([(url, page("a", text)) for text in texts])

    assert (report.added, report.unchanged) == (2, 1)
