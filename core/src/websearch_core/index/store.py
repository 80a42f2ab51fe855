"""
The index: one SQLite file, with the words in an FTS5 table and each page beside it as it was read.

Every call opens a connection of its own and closes it. That costs a fraction of a millisecond, and makes an `Index` a
plain value: it may be shared by threads, pickled, and carried through a fork. The file is in WAL mode, so that reading
and indexing do not wait for one another.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

from pydantic import ValidationError

from ..errors import BadResponse, ConfigurationError, PageNotFound, ServiceError, Unavailable, WebSearchError
from ..models import Page, SearchQuery
from ..results import in_domains
from .folder import files, read_file
from .report import Report, Skipped
from .snippet import bare, snippet
from .words import spelled, wanted

_OURS = 0x77736978  # in the header of the file: "wsix"
_VERSION = 1  # of the tables, and of how words are spelled in them
_SCHEMA = f"""
    CREATE TABLE pages (
        id INTEGER PRIMARY KEY, url TEXT NOT NULL UNIQUE, published REAL, language TEXT, page TEXT NOT NULL
    );
    CREATE VIRTUAL TABLE words USING fts5 (title, content, content = '', tokenize = 'ascii');
    PRAGMA application_id = {_OURS};
    PRAGMA user_version = {_VERSION};
"""  # `words` holds no text, only where each word is; 'ascii' splits at the blanks between what `spelled` writes
_RANK = "bm25(words, 4.0, 1.0)"  # a word in the title weighs as much as four in the text
_MOST_WORDS = 64
_PATIENCE = 30.0  # seconds to wait while somebody else writes
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}


@dataclass(frozen=True)
class Hit:
    """A page that was found: the score (higher is better), and a few lines of its text as plain text."""

    page: Page
    score: float
    snippet: str


@dataclass(frozen=True)
class Found:
    """What a search found, best first, and what the asker should know about it."""

    hits: tuple[Hit, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Index:
    """
    Pages on disk that can be searched.

    Every method raises `ConfigurationError` if the file is not there, is not an index or may not be used,
    `Unavailable` if it is busy for too long, and `BadResponse` if it is damaged; never an error of SQLite's.

    Args:
        path: The file. Adding the first page makes it, and the folders it is in.

    """

    path: Path

    def add(self, page: Page) -> None:
        """Take in *page*, a whole one, under the URL where it was found, in place of what was there before."""
        url = _key(page.final_url or page.url)
        with self._writing() as db:
            _remove(db, url)
            published = page.published.timestamp() if page.published else None
            added = db.execute(
                "INSERT INTO pages (url, published, language, page) VALUES (?, ?, ?, ?)",
                (url, published, (page.language or "").lower() or None, page.model_dump_json()),
            )
            db.execute(
                "INSERT INTO words (rowid, title, content) VALUES (?, ?, ?)", (added.lastrowid, *_spelled(page))
            )

    def remove(self, url: str) -> bool:
        """Take out the page at *url*; False if there was none."""
        with self._writing() as db:
            return _remove(db, _key(url))

    def add_folder(self, place: Path, tell: Callable[[str], None] = lambda _: None) -> Report:
        """
        Take in the files of a folder and those below it; afterwards the index knows of it what is there now, no more.

        Hidden files, symbolic links and what is not text are left out.

        Args:
            place: The folder, or a single file.
            tell: Called with the URL of each file that has been read.

        Raises:
            ConfigurationError: There is no such file or folder.

        """
        place = place.expanduser().resolve()
        kept: set[str] = set()
        skipped: list[Skipped] = []
        for file in files(place):
            if self.path.resolve() in {file, Path(str(file).removesuffix("-wal")), Path(str(file).removesuffix("-shm"))}:
                continue
            try:
                page = read_file(file)
            except ServiceError as error:
                skipped.append(Skipped(str(file), str(error)))
                continue
            self.add(page)
            kept.add(page.url)
            tell(page.url)
        if not kept and not self.path.exists():
            return Report(skipped=tuple(skipped))
        before = [url for url in self.urls() if url == place.as_uri() or url.startswith(place.as_uri() + "/")]
        gone = sum(self.remove(url) for url in before if url not in kept)
        return Report(added=len(kept), removed=gone, skipped=tuple(skipped))

    def urls(self) -> list[str]:
        """Return the URLs of all pages, sorted."""
        with self._reading() as db:
            return [url for (url,) in db.execute("SELECT url FROM pages ORDER BY url")]

    def page(self, url: str) -> Page:
        """
        Return the page at *url*, whole, as it was read.

        Raises:
            PageNotFound: It is not in the index.

        """
        with self._reading() as db:
            row = db.execute("SELECT page FROM pages WHERE url = ?", (_key(url),)).fetchone()
        if row is None:
            raise PageNotFound("the page is not in the local index")
        return self._parsed(row[0])

    def search(self, query: SearchQuery) -> Found:
        """
        Find pages: first those with all the words of the query, and if they are too few, those with any of them.

        A domain stands for its subdomains too; ``month`` is 30 days; days are those of UTC. Pages that do not tell
        the date or language that is asked for are left out, and ``notes`` says how many.
        """
        asked = wanted(query.text)
        if not asked:
            return Found((), ("the query holds no word to look for",))
        notes = [f"looked for the first {_MOST_WORDS} words only"] if len(asked) > _MOST_WORDS else []
        asked = asked[:_MOST_WORDS]
        limits, values, told = _limits(query)
        needed = query.page * query.limit
        with self._reading() as db:
            db.create_function("wanted", 1, lambda url: in_domains(url, query), deterministic=True)
            ranked: dict[int, float] = {}
            for match in dict.fromkeys(_match(asked, how) for how in ("AND", "OR")):
                if len(ranked) < needed:
                    rows = db.execute(
                        f"SELECT id, -{_RANK} FROM words JOIN pages ON id = words.rowid "  # noqa: S608 - our own text
                        f"WHERE words MATCH ? AND {limits} ORDER BY {_RANK}, url LIMIT ?",
                        (match, *values, needed),
                    )
                    ranked = {**dict(rows), **ranked} if not ranked else ranked | {
                        id_: score for id_, score in rows if id_ not in ranked
                    }
                    widest = match
            chosen = list(ranked.items())[needed - query.limit : needed]
            stored = [
                (db.execute("SELECT page FROM pages WHERE id = ?", (id_,)).fetchone()[0], score)
                for id_, score in chosen
            ]
            for column, what in told.items():
                (silent,) = db.execute(
                    "SELECT count(*) FROM words JOIN pages ON id = words.rowid "  # noqa: S608
                    f"WHERE words MATCH ? AND wanted(url) AND {column} IS NULL",
                    (widest,),
                ).fetchone()
                if silent:
                    notes.append(f"{silent} matching page{'s' * (silent > 1)} that tell{'s' * (silent == 1)} no {what} left out")
        return Found(tuple(self._hit(text, score, asked) for text, score in stored), tuple(notes))
