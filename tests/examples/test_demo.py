"""The demo, and the questions that the example site answers."""

from __future__ import annotations
import importlib.util
import re
import subprocess
import sys
from pathlib import Path

import pytest

from websearch_core import WebSearch
from websearch_core.index import Index
from websearch_core.settings import Settings

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
TABLE = (EXAMPLES / "site" / "README.md").read_text("utf-8")
QUESTIONS = [
    (question.strip(), path.strip("` "), answer.strip())
    for question, path, answer in re.findall(
        r"^\| ([^|]+\?) \| ([^|]+) \| ([^|]+) \|$", TABLE, re.MULTILINE
    )
]

pytestmark = pytest.mark.enable_socket


@pytest.fixture(scope="module")
def site():
    spec = importlib.util.spec_from_file_location("serve", EXAMPLES / "serve.py")
    serve = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(serve)
    with serve.Site() as running:
        yield running


@pytest.fixture
def web(site, tmp_path):
    path = tmp_path / "index.db"
    with WebSearch(
        "local",
        reader="direct",
        settings=Settings.load(providers={"local": {"path": path}}),
        internal=[site.url],
    ) as web:
        Index(path).add_pages(web.crawl(f"{site.url}/", max_length=sys.maxsize))
        yield web


def test_both_agents_search_open_the_right_page_and_cite_it():
    done = subprocess.run(
        [sys.executable, "demo.py"],
        cwd=EXAMPLES,
        capture_output=True,
        text=True,
        timeout=600,
    )
    shown = re.sub(r"\s+", " ", done.stdout)

    assert done.returncode == 0, done.stderr
    assert (
        "keep two versions valid at once and retire the old one only after every consumer has acknowledged"
        in shown
    )
    assert "On Sundays only line 2 to Norrholm runs" in shown
    assert len(re.findall(r"\[1\] (?:Rotate a key|Ferry timetable)", shown)) == 2
    assert shown.count("ERROR [unsafe_url]") == 4
    assert "No results found for: marlinspike" in shown
    assert "MARLINSPIKE" not in shown


def test_every_question_is_answered_on_a_page_that_the_search_finds(web, site):
    assert len(QUESTIONS) == 8
    for question, path, answer in QUESTIONS:
        found = [result.url for result in web.search(question).results]
        assert site.url + path in found, question
        page = web.read(site.url + path, max_length=200_000)
        assert answer in page.content, question


def test_text_hidden_from_people_is_hidden_from_models(web, site):
    page = web.read(f"{site.url}/blog/release-4-2/")

    assert "MARLINSPIKE" not in page.content
    assert any("hidden" in note for note in page.notes)


def test_pages_that_robots_txt_disallows_are_not_indexed(web):
    assert web.search("rota staff").results == () or all(
        "/staff/" not in result.url
        for result in web.search("rota staff", limit=20).results
    )
