"""The metrics, labels and reports of the reading benchmarks."""

from __future__ import annotations
import gzip
import sys
import zipfile
import zlib
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from websearch_core.reading._html.model import MAX_EDGES

ROOT = Path(__file__).parents[2]
URL = "https://example.org/a/b"


@pytest.fixture
def benchmark_path(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(ROOT))
    yield
    for name in set(sys.modules) - before:
        if name.partition(".")[0] in {"benchmarks", "training"}:
            del sys.modules[name]


@pytest.fixture
def metrics(benchmark_path: None) -> ModuleType:
    return import_module("benchmarks.reading.metrics")


@pytest.fixture
def page(metrics: ModuleType) -> Any:
    return metrics.Page


def test_words_are_lowercase_and_every_chinese_character_is_a_word(
    metrics: ModuleType,
) -> None:
    assert metrics.words("Tea, TEA & 茶水 for 2") == [
        "tea",
        "tea",
        "茶",
        "水",
        "for",
        "2",
    ]


def test_agreement_counts_repeated_words(metrics: ModuleType) -> None:
    precision, recall, f1 = metrics.agreement(
        ["tea", "tea", "cup"], ["tea", "cup", "milk", "milk"]
    )
    assert precision == pytest.approx(2 / 3)
    assert recall == pytest.approx(2 / 4)
    assert f1 == pytest.approx(2 * 2 / 7)


def test_an_empty_bag_agrees_only_with_an_empty_bag(metrics: ModuleType) -> None:
    assert metrics.agreement([], []) == (1.0, 1.0, 1.0)
    assert metrics.agreement([], ["tea"]) == (0.0, 0.0, 0.0)
    assert metrics.agreement(["tea"], []) == (0.0, 0.0, 0.0)


def test_syntax_link_targets_and_images_are_not_words(metrics: ModuleType) -> None:
    markdown = "---\ntitle: x\n---\n## Tea & [cups](/shop)\n\n![a picture](/p.png) is **hot**\n<!-- y -->\n"
    assert metrics.words(metrics.render(markdown, URL).words) == [
        "tea",
        "cups",
        "is",
        "hot",
    ]


def test_structure_is_found_in_markdown(metrics: ModuleType) -> None:
    markdown = (
        "# Tea\n\nSee [the *shop*](../shop/).\n\n- one\n  - two\n- three\n\n"
        "| a | b |\n|---|---|\n| 1 |  |\n\n```python\nx = 1\n```\n"
    )
    assert metrics.render(markdown, URL).parts == {
        "headings": [("tea",)],
        "links": [("https://example.org/shop", ("the", "shop"))],
        "code": ["x = 1"],
        "cells": [("a",), ("b",), ("1",)],
        "items": [("two",), ("one",), ("three",)],
    }


def test_the_same_structure_is_found_in_html(metrics: ModuleType) -> None:
    html = (
        "<h1>Tea</h1><p>See <a href='/shop'>the <i>shop</i></a>.<!-- no --></p><ul><li>one<ul><li>two</li></ul></li>"
        "<li>three</li></ul><table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td></td></tr></table><pre>x = 1\n</pre>"
    )
    found = metrics.extract_structure(html, URL)
    assert (
        metrics.words(found.words) == "tea see the shop one two three a b 1 x 1".split()
    )
    assert {part: sorted(those) for part, those in found.parts.items()} == {
        "headings": [("tea",)],
        "links": [("https://example.org/shop", ("the", "shop"))],
        "code": ["x = 1"],
        "cells": [("1",), ("a",), ("b",)],
        "items": [("one",), ("three",), ("two",)],
    }


def test_signs_that_link_to_a_heading_or_back_from_a_note_are_no_structure(
    metrics: ModuleType,
) -> None:
    html = "<h2>Tea <a href='#tea'>¶</a></h2><ol><li><a href='#ref'>^</a> A note<br>on <p>tea</p></li></ol><li>✓</li>"
    read = metrics.render("## Tea\n\n1. A note\n   on\n\n   tea\n\n- ✓", URL)
    assert metrics.extract_structure(html, URL).parts == read.parts
    assert read.parts["items"] == [("a", "note", "on", "tea"), "✓"]


def test_a_page_is_scored_by_its_text_and_its_passages(
    metrics: ModuleType, page: Any
) -> None:
    truth = page(
        "x",
        "article",
        URL,
        b"",
        text="Tea is hot and rather good",
        must=("tea is  HOT", "good"),
        must_not=("buy now", "log in"),
    )
    score = metrics.score(truth, "Tea is **hot**\n\nbuy now")
    assert (score.precision, score.recall) == (3 / 5, 3 / 6)
    assert (score.must, score.must_not, score.empty) == ((1, 2), (1, 2), True)
    assert not metrics.score(truth, truth.text).empty


def test_a_page_is_scored_by_the_parts_that_the_truth_has(
    metrics: ModuleType, page: Any
) -> None:
    truth = page(
        "x",
        "article",
        URL,
        b"",
        html="<h2>One</h2><h2>Two</h2><p>and <a href=/c>c</a></p>",
    )
    score = metrics.score(
        truth, "## One\n\n## Three\n\nand [c](https://example.org/c)\n\n- more"
    )
    assert score.parts == {"headings": 0.5, "links": 1.0}


def test_an_invalid_url_is_compared_unchanged(metrics: ModuleType) -> None:
    assert metrics.extract_structure("<a href='http://[/'>x</a>", URL).parts[
        "links"
    ] == [("http://[/", ("x",))]


def test_the_share_of_passages_is_taken_over_all_pages_together(
    metrics: ModuleType,
) -> None:
    assert metrics.share([(1, 2), (0, 0), (0, 2)]) == pytest.approx(1 / 4)


def test_the_interval_contains_the_mean_and_is_reproducible(
    metrics: ModuleType,
) -> None:
    differences = [0.0, 0.1, 0.2, 0.3] * 10
    low, high = metrics.interval(differences)
    assert 0.1 < low < 0.15 < high < 0.2
    assert (low, high) == metrics.interval(differences)


@pytest.fixture
def labels(benchmark_path: None) -> Any:
    return import_module("training.labels").label_texts


TRUTH = (
    "How tea is made\n\nPick the two upper leaves and the bud early in the morning, and let them wither in the shade for a "
    "day.\n\nRoll them by hand until they are bruised all over.\n\nServe hot"
)


@pytest.mark.parametrize(
    ("texts", "shares"),
    [
        (TRUTH.split("\n\n"), [1, 1, 1, 1]),
        (["Log in", *TRUTH.split("\n\n"), "Write to us"], [0, 1, 1, 1, 1, 0]),
        # A word of the menu that also occurs in the truth is not content.
        (
            ["Tea", "Coffee", "How tea is made", TRUTH.split("\n\n")[1], "Tea"],
            [0, 0, 1, 1, 0],
        ),
        # A text of the page may be partly content.
        (["Menu " * 10 + TRUTH.replace("\n\n", " ")], [38 / 48]),
        (["HOW TEA is Made!"], [1]),
        (["", "...", "How tea is made"], [0, 0, 1]),
        ([], []),
    ],
)
def test_a_text_is_labelled_by_the_share_of_it_that_is_content(
    labels: Any, texts: list[str], shares: list[float]
) -> None:
    assert labels(texts, TRUTH) == pytest.approx(shares, abs=1e-9)


def test_content_in_another_order_is_found(labels: Any) -> None:
    title, pick, roll, serve = TRUTH.split("\n\n")
    assert labels([serve, roll, pick, title], TRUTH)[1:3] == [1, 1]


def test_content_that_occurs_twice_is_content_both_times(labels: Any) -> None:
    assert labels([TRUTH.split("\n\n")[1]] * 2, TRUTH) == [1, 1]


def test_a_short_line_of_the_truth_in_the_wrong_place_is_half_content(
    labels: Any,
) -> None:
    assert labels(
        ["Serve hot", "Buy now", "Roll them by hand until they are bruised all over."],
        TRUTH,
    ) == [0.5, 0, 1]


def test_without_truth_nothing_is_content(labels: Any) -> None:
    assert labels(["How tea is made", "Serve hot"], "") == [0, 0]


@pytest.mark.parametrize(("power", "expected"), [(1, 1.0), (2, 2.0)])
def test_the_exponent_is_the_power_of_the_size(
    benchmark_path: None, power: int, expected: float
) -> None:
    size = import_module("benchmarks.reading.size")
    seconds = {bytes_: 1e-9 * bytes_**power for bytes_ in (10**5, 10**6, 10**7)}
    assert size.exponent(seconds) == pytest.approx(expected)
    assert size.steepest(seconds) == pytest.approx(expected)


def test_a_single_steep_step_shows_even_if_the_rest_is_flat(
    benchmark_path: None,
) -> None:
    size = import_module("benchmarks.reading.size")
    seconds = {10**5: 0.1, 10**6: 10.0, 10**7: 10.0}
    assert size.steepest(seconds) == pytest.approx(2)
    assert size.exponent(seconds) == pytest.approx(1)


def test_sections_are_replaced_by_title_and_goals_counted_again(
    benchmark_path: None,
) -> None:
    report = import_module("benchmarks.report")
    page = "# Benchmarks\n\n**1 of 1 goals were met.**\n\n## A\n\nold\n\n- **met**: x. Measured: y.\n\n## B\n\nstays\n"
    section = report.Section(
        "A",
        "new",
        [],
        [report.Goal("fast", "slow", met=False), report.Goal("ok", "1", met=True)],
    )
    assert report.put(page, [section]) == (
        "# Benchmarks\n\n**1 of 2 goals were met.**\n\n"
        "## A\n\nnew\n\n- **missed**: fast. Measured: slow.\n- **met**: ok. Measured: 1.\n\n## B\n\nstays\n"
    )


@pytest.fixture
def candidate(
    benchmark_path: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Any:
    (tmp_path / "odd.py").write_text(
        "import os, time\n"
        "def read(data, url, content_type):\n"
        "    print('no answer')\n"
        "    if b'Some words' in data: return 'warm'\n"
        "    return {b'crash': lambda: os._exit(3), b'hang': lambda: time.sleep(60), b'raise': lambda: 1 / 0}.get(\n"
        "        data, lambda: f'{data.decode()} {url} {content_type}')()\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    return import_module("benchmarks.reading.candidates").Candidate("odd", "odd:read")


def test_a_crash_a_hang_or_an_exception_costs_only_that_page(candidate: Any) -> None:
    with import_module("benchmarks.reading.process").Reader(
        candidate, sys.executable, timeout=4
    ) as reader:
        answers = [
            reader.read(data, URL, None)
            for data in (b"crash", b"well", b"hang", b"raise", b"well")
        ]
        assert reader.memory() > 1
    assert [answer["error"] for answer in answers] == [
        "Crashed",
        "",
        "TooSlow",
        "ZeroDivisionError",
        "",
    ]
    assert [answer["markdown"] for answer in answers] == [
        "",
        f"well {URL} None",
        "",
        "",
        f"well {URL} None",
    ]


def test_a_candidate_that_is_not_installed_is_absent(candidate: Any) -> None:
    process = import_module("benchmarks.reading.process")
    for missing in (
        candidate._replace(function="nowhere:read"),
        candidate._replace(distributions=("not-there",)),
    ):
        with pytest.raises(process.Absent):
            process.Reader(missing, sys.executable)


def test_our_reader_reads_every_encoding_correctly(benchmark_path: None) -> None:
    encodings = import_module("benchmarks.reading.encodings")
    ours = encodings.OURS
    right = encodings.measure({ours: sys.executable})[ours.name]
    assert [
        case.what
        for case, is_right in zip(encodings.make_cases(), right, strict=True)
        if not is_right
    ] == []


def test_pages_are_loaded_from_every_layout(
    benchmark_path: None, tmp_path: Path
) -> None:
    corpus = import_module("training.corpus")
    mine, wcxb, mozilla = (tmp_path / name for name in ("mine", "wcxb", "mozilla"))
    for folder in (
        mine / "html",
        wcxb / "dev" / "html",
        wcxb / "dev" / "ground-truth",
        mozilla / "fox",
    ):
        folder.mkdir(parents=True)
    (mine / "truth.json").write_text(
        '{"a": {"url": "https://www.sea.example/a", "text": "Tee für zwei"}}'
    )
    (mine / "html" / "a.html").write_bytes(
        "<meta charset=latin1><p>Tee für zwei".encode("latin1")
    )
    (wcxb / "metadata.json").write_text('{"files": {"7": {"page_type": "forum"}}}')
    (wcxb / "dev" / "ground-truth" / "7.json").write_text(
        '{"url": null, "ground_truth": {"main_content": "Tea"}}'
    )
    (wcxb / "dev" / "html" / "7.html.gz").write_bytes(gzip.compress(b"<p>Tea"))
    (mozilla / "fox" / "source.html").write_bytes(b"<p>Fox")
    (mozilla / "fox" / "expected.html").write_text("<p>Fox")
    pages = [
        page for folder in corpus.find_folders(tmp_path) for page in corpus.load(folder)
    ]
    assert [(page.kind, page.url, page.text or page.html) for page in pages] == [
        ("news", "https://www.sea.example/a", "Tee für zwei"),
        ("article", "http://fakehost/test/page.html", "<p>Fox"),
        ("forum", "", "Tea"),
    ]
    assert "für" in pages[0].data.decode()


def test_a_folder_without_pages_is_refused(
    benchmark_path: None, tmp_path: Path
) -> None:
    corpus = import_module("training.corpus")
    with pytest.raises(ValueError, match=r"neither truth\.json nor metadata\.json"):
        corpus.load(tmp_path)
    with pytest.raises(ValueError, match="--corpus"):
        corpus.find_folders(tmp_path)


@pytest.mark.parametrize(
    ("url", "source", "site"),
    [
        ("https://www.kelp.com/a", b"", "kelp.com"),
        ("https://blog.kelp.com/", b"", "kelp.com"),
        ("https://news.sea.co.uk/", b"", "sea.co.uk"),
        ("", b'<link href="https://www.kelp.com/a" rel="canonical">', "kelp.com"),
        (
            "http://fakehost/test/page.html",
            b"<link rel=canonical href=https://sea.example/>",
            "sea.example",
        ),
        ("", b"<p>Tea", f"{zlib.crc32(b'<p>Tea'):08x}"),
    ],
)
def test_pages_of_a_site_are_known_by_their_address(
    benchmark_path: None, url: str, source: bytes, site: str
) -> None:
    assert import_module("training.corpus").find_site(source, url) == site


def test_models_of_folds_depend_on_files_that_exist(benchmark_path: None) -> None:
    pytest.importorskip("lightgbm")
    train = import_module("training.train")
    assert [source for source in train._find_sources() if not source.is_file()] == []


def test_the_features_that_trees_are_trained_on_are_those_of_the_reader(
    benchmark_path: None, page: Any
) -> None:
    pytest.importorskip("lightgbm")
    train = import_module("training.train")
    sample = train.make_sample(
        page(
            "x",
            "article",
            URL,
            b"<main><p>Tea is hot.</p></main><p>Us",
            text="Tea is hot.",
        )
    )
    names, values = train.compute_features(sample, {"<p>": 1.5})
    assert sample.labels == [1.0, 0.0]
    assert [value > 0 for value in values[:, names.index(("block", "in main", 0))]] == [
        True,
        False,
    ]


@pytest.mark.parametrize("count", [MAX_EDGES, MAX_EDGES + 1])
def test_a_trait_has_at_most_the_edges_that_the_reader_takes(
    benchmark_path: None, count: int
) -> None:
    pytest.importorskip("lightgbm")
    train = import_module("training.train")
    # an element and the one above it: their edges are counted together
    features = [train.Feature("element", "depth", level) for level in (0, 1)]
    trees = [
        {
            "tree_structure": {
                "split_feature": edge % 2,
                "threshold": float(edge),
                "left_child": {"leaf_value": 0.0},
                "right_child": {"leaf_value": 1.0},
            }
        }
        for edge in range(count)
    ]
    if count <= MAX_EDGES:
        tables = train._to_tables({"tree_info": trees}, features, {})
        assert tables["edges"]["element"] == {"depth": [*map(float, range(count))]}
        return
    with pytest.raises(ValueError, match=f"'depth' of element has {count} edges"):
        train._to_tables({"tree_info": trees}, features, {})


def test_metadata_of_news_is_judged_by_words_names_and_days(
    metrics: ModuleType, page: Any
) -> None:
    news = import_module("benchmarks.reading.news")
    truth = page(
        "x",
        "news",
        URL,
        b"",
        title="Tea: hot!",
        authors=("Ada Lovelace", "Mary S."),
        published="2026-05-04T23:30+02:00",
    )
    found = [
        {
            "title": "Tea - HOT",
            "author": "Mary S, Ada Lovelace",
            "date": "2026-05-04T21:30+00:00",
        },
        {"title": "Tea", "author": "Ada Lovelace", "date": "2026-05-05"},
        {},
    ]
    facts = news._judge_facts(found, [truth] * 3)
    assert facts == news.Facts(
        title=1 / 3, an_author=2 / 3, all_authors=1 / 3, date=1 / 3
    )


def test_news_are_reported_by_language_and_publisher(
    metrics: ModuleType, page: Any
) -> None:
    news, quality = (
        import_module("benchmarks.reading.news"),
        import_module("benchmarks.reading.quality"),
    )
    pages = [
        page(str(n), "news", URL, b"", text="tea is hot", publisher=f"p{n % 3}")
        for n in range(12)
    ]
    ours = quality.Scores(
        ["news"] * 12, [metrics.score(one, "tea is hot") for one in pages], {}
    )
    theirs = quality.Scores(
        ["news"] * 12, [metrics.score(one, "tea is cold and old") for one in pages], {}
    )
    section = news.section(
        {"websearch-core": ours, "trafilatura": theirs},
        {},
        pages,
        ["en"] * 7 + ["other"] * 5,
        measured="Now.",
    )
    assert [goal.met for goal in section.goals] == [True, True, True]
    assert section.tables[1].head == ("F1 by language", "en (7)", "other (5)")
    assert section.tables[0].rows[1] == (
        "trafilatura", "0.500", "0.400", "0.667", "0.500", "+0.500", "+0.500 to +0.500", "+0.500 to +0.500"
    )  # fmt: skip


def test_the_words_of_a_document_count_once_each_and_in_order():
    documents = import_module("benchmarks.reading.documents")

    assert documents.score("a b c d", "a b c d") == (1, 1, 1)
    assert documents.score("a b c d", "b a x") == (0.5, 2 / 3, 0)
    assert documents.score("hy-\nphen [a](https://a.example/b)", "hyphen a") == (
        1,
        1,
        1,
    )
    assert documents.list_words("表の2列 Kelp") == ["表", "の", "2", "列", "kelp"]
    assert documents.agree("a a b", "a b c", "a c") == 0.5


def test_the_words_of_office_files_are_those_of_their_xml(tmp_path):
    documents = import_module("benchmarks.reading.documents")
    path = tmp_path / "kelp.docx"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "word/document.xml",
            "<w:p><w:r><w:t>Kelp &amp; </w:t></w:r><w:r><w:t>dulse</w:t></w:r></w:p>"
            "<w:p><w:del><w:t>gone</w:t></w:del><w:t xml:space='a'>Laver</w:t></w:p>",
        )

    assert documents.read_truth(path).split() == ["Kelp", "&", "dulse", "Laver"]
    assert documents.read_truth(tmp_path / "kelp.epub") == ""
