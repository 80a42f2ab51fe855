"""A real SearX, searching invented services on 127.0.0.1, and a real Redis.

SearX comes from the Debian package ``searx``; tests that need it are skipped if it is
not installed. The services behind it are defined here, so that every answer is known in
advance:

=========== ======== ================================
engine      category format
=========== ======== ================================
``garden``  general  JSON, five results a page
``library`` general  JSON, one page, suggestions
``almanac`` news     the JSON of YaCy
``lexicon`` words    an SQLite file, without HTTP
=========== ======== ================================

A title of ``garden`` has markup and entities. ``library`` shares results with it, and
knows time ranges. Results of ``almanac`` have dates, those of ``lexicon`` no URL.

A query finds the topics it names (``kelp``, ``sourdough``); other words are ignored.
``boom`` makes every service answer HTTP 500, ``boom-library`` only that one.
"""

from __future__ import annotations
import json
import re
import secrets
import shutil
import socket
import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

import pytest

from tests import server

StartSearx = Callable[..., AbstractContextManager[str]]

STARTUP_SECONDS = 120  # an idle machine needs half a second
PAGE_SIZE = 5


class Entry(NamedTuple):
    """One page of the invented web."""

    url: str
    title: str
    content: str
    date: str


TOPICS = {
    "kelp": [
        Entry(
            "https://marine.example/kelp",
            "<b>Kelp</b> forests &amp; their keepers",
            "Sea otters eat the urchins that would otherwise graze a kelp forest down to bare rock.",
            "Tue, 17 Feb 2026 08:30:00 +0000",
        ),
        Entry(
            "https://tidal.example/guides/kelp?season=spring&depth=10",
            "How kelp grows",
            "Giant kelp adds up to half a metre a day in cold, bright, nutrient-rich water.",
            "Mon, 02 Mar 2026 12:00:00 +0000",
        ),
        Entry(
            "https://kitchen.example/kelp-broth",
            "Kelp broth in twenty minutes",
            "Dried kelp, water just below the boil, and patience: the base of many soups.",
            "Wed, 11 Mar 2026 17:45:00 +0100",
        ),
        Entry(
            "https://www.coast.example/farming/kelp",
            "Farming kelp on ropes",
            "Seeded lines go out in autumn and come back heavy in May.",
            "Fri, 20 Mar 2026 09:10:00 +0000",
        ),
        Entry(
            "https://papers.example/2026/kelp-carbon.pdf",
            "How much carbon does kelp store?",
            "A review of forty field studies finds estimates that differ by a factor of ten.",
            "Thu, 02 Apr 2026 00:00:00 +0000",
        ),
        Entry(
            "https://marine.example/kelp/divers",
            "Counting kelp: a handbook for divers",
            "Transects, quadrats, and what to do when the surge moves both.",
            "Sun, 12 Apr 2026 06:20:00 +0000",
        ),
        Entry(
            "https://history.example/kelp-ash",
            "When kelp ash made glass",
            "For two centuries, islanders burned kelp for the soda that glassmakers needed.",
            "Sat, 25 Apr 2026 20:00:00 +0000",
        ),
    ],
    "sourdough": [
        Entry(
            "https://kitchen.example/sourdough",
            "A sourdough starter in seven days",
            "Flour, water, and a warm corner: wild yeast does the rest.",
            "Mon, 05 Jan 2026 07:00:00 +0000",
        ),
        Entry(
            "https://papers.example/2025/sourdough-microbes",
            "The microbes of 500 sourdough starters",
            "Neither geography nor age explains much of what lives in a jar.",
            "Tue, 09 Dec 2025 10:00:00 +0000",
        ),
    ],
}


def find(query: str) -> list[Entry]:
    """Return the pages of the invented web about the topics that the query names."""
    words = query.lower().split()
    return [
        entry
        for topic, entries in TOPICS.items()
        if topic in words
        for entry in entries
    ]


def garden(parameters: dict[str, str]) -> object:
    first = (int(parameters["page"]) - 1) * PAGE_SIZE
    return {
        "hits": [
            entry._asdict()
            for entry in find(parameters["q"])[first : first + PAGE_SIZE]
        ]
    }


def library(parameters: dict[str, str]) -> object:
    found = find(parameters["q"])[:2]
    related = [
        f"{topic} recipes"
        for topic in TOPICS
        if topic in parameters["q"].lower().split()
    ]
    return {
        "hits": [entry._asdict() for entry in found],
        "related": [{"query": phrase} for phrase in related],
    }


def almanac(parameters: dict[str, str]) -> object:
    first, count = int(parameters["startRecord"]), int(parameters["maximumRecords"])
    items = [
        {
            "link": entry.url,
            "title": entry.title,
            "description": entry.content,
            "pubDate": entry.date,
        }
        for entry in find(parameters["query"])[first : first + count]
    ]
    return {"channels": [{"items": items}]}


SERVICES: dict[str, Callable[[dict[str, str]], object]] = {
    "garden": garden,
    "library": library,
    "almanac": almanac,
}


def answer(request: server.Received) -> bytes:
    """Answer a request to an invented service, named by the first segment of the path."""
    url = urlsplit(request[0])
    parameters = {name: values[0] for name, values in parse_qs(url.query).items()}
    name = url.path.split("/")[1]
    words = (parameters.get("q") or parameters.get("query", "")).lower().split()
    if name not in SERVICES:
        return server.http("", "404 Not Found")
    if {"boom", f"boom-{name}"} & set(words):
        return server.http("", "500 Oops")
    body = json.dumps(SERVICES[name](parameters))
    return server.http(body, "200 OK", "Content-Type: application/json")


def settings(upstream: str, lexicon: Path, formats: Sequence[str]) -> dict[str, Any]:
    """Return the minimal settings with which SearX 1.1 serves searches and
    ``/config``, with the four engines.

    Args:
        upstream: Base URL of the invented services.
        lexicon: The SQLite file of the engine ``lexicon``.
        formats: The value of ``search.formats``.

    """
    # without enable_http, http:// is refused
    engine = {"timeout": 5.0, "enable_http": True}
    hits = {
        "engine": "json_engine",
        "results_query": "hits",
        "url_query": "url",
        "title_query": "title",
        "content_query": "content",
        "categories": "general",
    }
    return {
        "general": {"instance_name": "SearX of the tests"},
        "search": {
            "formats": list(formats),
            "safe_search": 0,
            "autocomplete": "",
            # Do not suspend a failed engine: one test would silence it for the next.
            "ban_time_on_fail": 0,
            "max_ban_time_on_fail": 0,
        },
        "server": {
            "port": 0,
            "bind_address": "127.0.0.1",
            "base_url": False,
            "secret_key": secrets.token_hex(),
        },
        "ui": {
            "static_path": "/usr/share/python3-searx/static",
            "templates_path": "/usr/share/python3-searx/templates",
            "default_theme": "oscar",
            "default_locale": "",
        },
        "outgoing": {"request_timeout": 5.0},
        "locales": {"en": "English", "de": "Deutsch"},
        "doi_resolvers": {"none": "https://doi.example/"},
        "default_doi_resolver": "none",
        "engines": [
            engine
            | hits
            | {
                "name": "garden",
                "shortcut": "ga",
                "search_url": f"{upstream}/garden?q={{query}}&page={{pageno}}",
            }
            | {"paging": True},
            engine
            | hits
            | {
                "name": "library",
                "shortcut": "li",
                "search_url": f"{upstream}/library?q={{query}}",
            }
            | {"suggestion_query": "related/query", "time_range_support": True},
            engine
            | {
                "name": "almanac",
                "shortcut": "al",
                "engine": "yacy",
                "base_url": f"{upstream}/almanac",
            }
            | {"categories": "news"},
            {
                "name": "lexicon",
                "shortcut": "le",
                "engine": "sqlite",
                "database": str(lexicon),
                "categories": "words",
            }
            | {"query_str": "SELECT title, content FROM words WHERE title = :query"},
        ],
    }


def address(process: subprocess.Popen[bytes], log: Path) -> str:
    """
    Wait until a SearX on a free port listens, and return its base URL.

    Raises:
        RuntimeError: It ended or took too long; the message has its log.

    """
    deadline = time.monotonic() + STARTUP_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        if listening := re.search(
            r"Running on (http://127\.0\.0\.1:\d+)", log.read_text()
        ):
            return listening[1]
        time.sleep(0.05)
    raise RuntimeError(
        f"SearX does not listen (exit status {process.poll()}):\n{log.read_text()}"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "e2e: talks to a real server on this machine")


@pytest.fixture(scope="session")
def upstream() -> Iterator[str]:
    """Base URL of the invented services."""
    with server.Server(reply=answer) as services:
        yield services.url


@pytest.fixture(scope="session")
def start_searx(upstream: str, tmp_path_factory: pytest.TempPathFactory) -> StartSearx:
    """``with start_searx(formats=[...]) as base_url`` runs a separate SearX."""
    executable = shutil.which("searx-run")
    if executable is None:
        pytest.skip(
            "SearX is not installed: apt-get install --no-install-recommends searx"
        )

    @contextmanager
    def start(*, formats: Sequence[str]) -> Iterator[str]:
        folder = tmp_path_factory.mktemp("searx")
        with closing(sqlite3.connect(folder / "lexicon.db")) as words, words:
            words.execute("CREATE TABLE words (title, content)")
            words.execute("INSERT INTO words VALUES ('kelp', 'A large brown seaweed.')")
        settings_file = folder / "settings.yml"
        # JSON is YAML
        settings_file.write_text(
            json.dumps(settings(upstream, folder / "lexicon.db", formats))
        )
        log = folder / "searx.log"
        # A clean environment: SearX runs outside our virtual environment, and would use
        # HTTP_PROXY.
        environment = {
            "PATH": "/usr/bin:/bin",
            "SEARX_SETTINGS_PATH": str(settings_file),
        }
        with (
            log.open("wb") as output,
            subprocess.Popen(
                [executable], env=environment, stdout=output, stderr=output, cwd=folder
            ) as process,
        ):
            try:
                yield address(process, log)
            finally:
                process.kill()  # it has nothing to save, and it cannot ignore this

    return start


@pytest.fixture(scope="session")
def searx(start_searx: StartSearx) -> Iterator[str]:
    """Base URL of a SearX that answers in HTML and JSON."""
    with start_searx(formats=["html", "json"]) as base_url:
        yield base_url


@pytest.fixture(scope="module")
def start_redis(tmp_path_factory) -> Callable[[int], object]:
    """``with start_redis(port)`` runs a Redis without a file of its own."""
    executable = shutil.which("redis-server")
    if executable is None:
        pytest.skip(
            "Redis is not installed: apt-get install --no-install-recommends redis-server"
        )
    redis = pytest.importorskip(
        "redis", reason="redis-py is not installed: pip install 'websearch-core[redis]'"
    )

    @contextmanager
    def start(port: int) -> Iterator[None]:
        folder = tmp_path_factory.mktemp("redis")
        options = [
            "--port",
            str(port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            str(folder),
        ]
        with subprocess.Popen(
            [executable, *options], stdout=subprocess.DEVNULL
        ) as process:
            try:
                _wait(redis, port, process)
                yield
            finally:
                process.kill()

    return start


def _wait(redis, port: int, process) -> None:
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        try:
            with redis.Redis(port=port) as client:
                client.ping()
        except redis.exceptions.ConnectionError:
            time.sleep(0.05)
        else:
            return
    raise RuntimeError(f"Redis does not listen (exit status {process.poll()})")


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]
