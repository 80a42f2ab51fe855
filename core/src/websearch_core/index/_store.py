"""
The index: one SQLite file, with the words in an FTS5 table and each page beside it as it was read.

Every call opens a connection of its own and closes it. That costs a fraction of a millisecond, and makes an `Index` a
plain value: it may be shared by threads, pickled, and carried through a fork. The file is in WAL mode, so that reading
and indexing do not wait for one another.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

from pydantic import ValidationError

from .._text.terms import index_text, query_terms
from .._urls import is_web_url
from ..errors import (
    BadResponse,
    ConfigurationError,
    InvalidOption,
    PageNotFound,
    ServiceError,
    Unavailable,
    UnsupportedContent,
)
from ..models import Page, SearchQuery
from ..provider._results import in_domains
from ._folder import files, read_file
from ._report import Report, Skipped
from ._snippet import make_snippet, strip_markdown

_OURS = 0x77736978  # in the header of the file: "wsix"
_VERSION = 2  # of the tables, and of how words are spelled in them
_SCHEMA = (
    "CREATE TABLE pages (id INTEGER PRIMARY KEY, url TEXT UNIQUE, published REAL, language TEXT, page TEXT)",
    # It holds no text, only where each word is. 'ascii' splits at the blanks between what `spelled` writes.
    "CREATE VIRTUAL TABLE words USING fts5 (title, content, content = '', tokenize = 'ascii')",
    f"PRAGMA application_id = {_OURS}",
    f"PRAGMA user_version = {_VERSION}",
)
_MATCHING = "FROM words JOIN pages ON pages.id = words.rowid WHERE words MATCH ? AND inside(url)"
_RANK = "bm25(words, 4.0, 1.0)"  # a word in the title weighs as much as four in the text; the best is the lowest
_MAX_WORDS = 64
_DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
_TIMEOUT = 30.0  # seconds to wait while somebody else writes


@dataclass(frozen=True)
class Hit:
    """A page that was found: its score (higher is better), and a few lines of its text as plain text."""

    page: Page
    score: float
    snippet: str


@dataclass(frozen=True)
class Found:
    """What a search found, best first, and what the asker should know about it."""

    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Index:
    """
    Pages on disk that can be searched.

    Every method raises `ConfigurationError` if the file is not there, is no index or may not be used, `Unavailable`
    if it is busy for too long, and `BadResponse` if it is damaged; never an error of SQLite's.

    Args:
        path: The file. Adding the first page makes it, and the folders it is in.

    """

    path: Path

    def add(self, page: Page) -> None:
        """
        Take in *page*, a whole one, under the URL where it was found, in place of what was there before.

        Raises:
            InvalidOption: Its URL is neither absolute http(s) nor ``file:``.
            UnsupportedContent: It is a picture whose file has no words, so that nothing could find it.

        """
        _must_have_words(page)
        url = address(page.final_url or page.url)
        if not is_web_url(url) and not url.startswith("file:///"):
            raise InvalidOption(f"{url!r} is neither an absolute http(s) URL nor a file: URL")
        published = page.published.timestamp() if page.published else None
        row = (url, published, (page.language or "").lower() or None, page.model_dump_json())
        with self._writing() as db:
            self._remove(db, url)
            added = db.execute("INSERT INTO pages (url, published, language, page) VALUES (?, ?, ?, ?)", row)
            db.execute("INSERT INTO words (rowid, title, content) VALUES (?, ?, ?)", (added.lastrowid, *_spelled(page)))

    def remove(self, url: str) -> bool:
        """Take out the page at *url*; False if there was none."""
        with self._writing() as db:
            return self._remove(db, address(url))

    def add_folder(self, place: Path, tell: Callable[[str], None] = lambda _: None) -> Report:
        """
        Take in the files of a folder and of those below it. What the index held of it before is replaced or removed.

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
            if isinstance(file, Skipped):
                skipped.append(file)
            elif not self._is_own(file):
                try:
                    page = read_file(file)
                    _must_have_words(page)
                except ServiceError as error:
                    skipped.append(Skipped(str(file), str(error)))
                    continue
                self.add(page)
                kept.add(page.url)
                tell(page.url)
        here = place.as_uri()
        known = [url for url in self.urls() if url == here or url.startswith(f"{here}/")] if self.path.exists() else []
        removed = sum(self.remove(url) for url in known if url not in kept)
        return Report(added=len(kept), removed=removed, skipped=tuple(skipped))

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
            row = db.execute("SELECT page FROM pages WHERE url = ?", (address(url),)).fetchone()
        if row is None:
            raise PageNotFound("the page is not in the local index")
        return self._parsed(row[0])

    def search(self, query: SearchQuery) -> Found:
        """
        Find pages: first those with all the words of the query and, if these are too few, those with any of them.

        A domain stands for its subdomains too; a month is 30 days; days are those of UTC. Pages that do not tell the
        date or language asked for are left out, and ``notes`` says how many.
        """
        asked = query_terms(query.text)
        if not asked:
            return Found(notes=("the query holds no word to look for",))
        notes = [f"only the first {_MAX_WORDS} words were looked for"] if len(asked) > _MAX_WORDS else []
        asked = asked[:_MAX_WORDS]
        end = query.page * query.limit
        with self._reading() as db:
            db.create_function("inside", 1, lambda url: in_domains(url, query), deterministic=True)
            matching = _match(asked, "AND")
            ranked = _ranked(db, matching, query, end)
            if len(ranked) < end:
                matching = _match(asked, "OR")
                ranked |= _ranked(db, matching, query, end)  # those that are there keep their place
            chosen = list(ranked.items())[end - query.limit : end]
            pages = [db.execute("SELECT page FROM pages WHERE id = ?", (id_,)).fetchone()[0] for id_, _ in chosen]
            notes += _silent(db, matching, query)
        hits = [self._hit(page, score, asked) for page, (_, score) in zip(pages, chosen, strict=True)]
        return Found(tuple(hits), tuple(notes))

    def _remove(self, db: sqlite3.Connection, url: str) -> bool:
        row = db.execute("SELECT id, page FROM pages WHERE url = ?", (url,)).fetchone()
        if row is None:
            return False
        old = _spelled(self._parsed(row[1]))  # a table that holds no text has to be told what it forgets
        db.execute("INSERT INTO words (words, rowid, title, content) VALUES ('delete', ?, ?, ?)", (row[0], *old))
        db.execute("DELETE FROM pages WHERE id = ?", (row[0],))
        return True

    def _hit(self, stored: str, score: float, asked: Sequence[str]) -> Hit:
        page = self._parsed(stored)
        return Hit(page, score, make_snippet(strip_markdown(page.content), asked))

    def _parsed(self, stored: str) -> Page:
        try:
            return Page.model_validate_json(stored)
        except ValidationError:
            raise _damaged(self.path) from None

    def _is_own(self, file: Path) -> bool:
        """Tell whether *file* is the index itself, or one of the two that SQLite keeps beside it."""
        own = self.path.resolve()
        return file.parent == own.parent and file.name in {own.name, f"{own.name}-wal", f"{own.name}-shm"}

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Look at one state of the index, whatever others write meanwhile."""
        path = self.path.absolute()
        if not path.is_file():
            raise ConfigurationError(
                f"there is no local index at {path}: make one with 'websearch index PATH_OR_URL', "
                "or set WEBSEARCH_INDEX to where it is"
            )
        # Even a reader of a WAL wants to write beside it; where nobody can, nobody changes the file either.
        frozen = "" if os.access(path.parent, os.W_OK) else "&immutable=1"
        with (
            _translated(path),
            closing(sqlite3.connect(f"{path.as_uri()}?mode=ro{frozen}", uri=True, timeout=_TIMEOUT)) as db,
        ):
            db.isolation_level = None
            db.execute("BEGIN")
            if _made_by(db) != (_OURS, _VERSION):
                raise _foreign(path)
            yield db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Change the index, as a whole or not at all. Makes it if need be."""
        path = self.path.absolute()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(f"no folder for the local index at {path}: {error.strerror}") from error
        with _translated(path), closing(sqlite3.connect(path, timeout=_TIMEOUT, isolation_level=None)) as db:
            if _made_by(db) == (0, 0) and path.stat().st_size == 0:
                db.execute("PRAGMA journal_mode = WAL")
            db.execute("PRAGMA synchronous = NORMAL")  # a crash of the machine may lose the last pages, no more
            db.execute("BEGIN IMMEDIATE")
            try:
                _prepare(db, path)
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")


def _must_have_words(page: Page) -> None:
    if page.media_type.startswith("image/") and "\n" not in page.content:  # one line: its kind and size
        raise UnsupportedContent("a picture without words")


def address(url: str) -> str:
    """Return *url* as pages are kept under: without the fragment, an origin alone with its slash."""
    url = url.partition("#")[0].encode(errors="replace").decode()
    return f"{url}/" if re.fullmatch(r"https?://[^/?]+", url, re.IGNORECASE) else url


def _prepare(db: sqlite3.Connection, path: Path) -> None:
    """Make the tables in an empty file; refuse one that is somebody else's."""
    if _made_by(db) == (0, 0) and not db.execute("SELECT 1 FROM sqlite_master").fetchone():
        for statement in _SCHEMA:
            db.execute(statement)
    elif _made_by(db) != (_OURS, _VERSION):
        raise _foreign(path)


def _made_by(db: sqlite3.Connection) -> tuple[int, int]:
    (owner,) = db.execute("PRAGMA application_id").fetchone()
    (version,) = db.execute("PRAGMA user_version").fetchone()
    return owner, version


def _spelled(page: Page) -> tuple[str, str]:
    return index_text(page.title), index_text(strip_markdown(page.content))


def _match(asked: Sequence[str], how: str) -> str:
    """Write a query in the language of FTS5; between quotes nothing has a meaning to it."""
    quoted = [f'"{word.removesuffix("*")}"{"*" * word.endswith("*")}' for word in asked]
    return f" {how} ".join(quoted)


def _ranked(db: sqlite3.Connection, matching: str, query: SearchQuery, most: int) -> dict[int, float]:
    """The best pages: id and score, in order; the URL decides between equals, not who was there first."""
    limits, values = _limits(query)
    rows = db.execute(
        f"SELECT pages.id, -{_RANK} {_MATCHING} AND {limits} ORDER BY {_RANK}, url LIMIT ?",
        (matching, *values, min(most, 2**63 - 1)),
    )
    return dict(rows.fetchall())


def _limits(query: SearchQuery) -> tuple[str, list[str | float]]:
    """The date and language asked for, as conditions, which no page fulfils that does not tell."""
    conditions: list[str] = ["1"]
    values: list[str | float] = []
    after = datetime.now(UTC) - timedelta(days=_DAYS[query.time_range]) if query.time_range else _midnight(query.after)
    if after:
        conditions.append("published >= ?")
        values.append(after.timestamp())
    if before := _midnight(query.before):
        conditions.append("published < ?")
        values.append((before + timedelta(days=1)).timestamp())
    if query.language:
        conditions.append("(language = ? OR language LIKE ?)")  # a tag has no character that LIKE takes for its own
        values += [query.language.lower(), f"{query.language.lower()}-%"]
    return " AND ".join(conditions), values


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None


def _silent(db: sqlite3.Connection, matching: str, query: SearchQuery) -> Iterator[str]:
    """Say how many pages were left out only because they do not tell what was asked for."""
    dated = query.time_range or query.after or query.before
    for column, wish in (("published", dated), ("language", query.language)):
        if wish:
            (count,) = db.execute(f"SELECT count(*) {_MATCHING} AND {column} IS NULL", (matching,)).fetchone()
            what = "date" if column == "published" else column
            if count:
                yield f"left out, for want of a {what}: {count} matching page{'s' * (count > 1)}"


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Raise our errors instead of SQLite's."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise Unavailable(f"the local index at {path} is busy", provider="local") from error
        if code == sqlite3.SQLITE_NOTADB:
            raise _foreign(path) from error
        if code in {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM} or "fts5" in str(error):
            raise ConfigurationError(f"the local index at {path} cannot be used: {error}") from error
        if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
            failure = Unavailable(f"the local index at {path} cannot be used: {error}", provider="local")
            failure.temporary = False
            raise failure from error
        raise _damaged(path) from error


def _damaged(path: Path) -> BadResponse:
    return BadResponse(
        f"the local index at {path} is damaged: remove it and make it anew with 'websearch index'", provider="local"
    )


def _foreign(path: Path) -> ConfigurationError:
    return ConfigurationError(
        f"{path} is no index of this version of websearch: remove it and make it anew with 'websearch index', "
        "or set WEBSEARCH_INDEX to another place"
    )
