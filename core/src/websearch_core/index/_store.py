"""Store the index: one SQLite file, with the words in an FTS5 table and the pages in
another.

Every call opens and closes its own connection. That takes a fraction of a millisecond,
and makes an `Index` a plain value for threads, pickles and forks. In WAL mode, reading
and indexing do not block each other.
"""

from __future__ import annotations
import os
import re
import sqlite3
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO

from pydantic import ValidationError

from .. import errors
from .._runtime.sqlite import (
    ForeignFile,
    check_objects,
    connect,
    is_database,
    read_stamp,
    write_tables,
)
from .._text.quantity import quantity
from .._text.terms import Term, index_text, query_terms, split_terms
from .._text.urls import identify, is_web_url
from ..models import Page, SearchQuery
from ..provider._dates import midnight
from ..provider._results import in_domains

# in the header of the file: "wsix", and the version of the tables and of the words in
# them
_STAMP = 0x77736978, 4
_SCHEMA = (
    (
        "CREATE TABLE pages (id INTEGER PRIMARY KEY, url TEXT UNIQUE, published REAL, "
        "language TEXT, page TEXT)"
    ),
    # Contentless: it stores only where each word is. 'ascii' splits at the spaces that
    # `index_text` writes.
    (
        "CREATE VIRTUAL TABLE words USING fts5 (title, content, content = '', "
        "tokenize = 'ascii')"
    ),
)
_MATCHING = (
    "FROM words JOIN pages ON pages.id = words.rowid WHERE words MATCH ? AND "
    "inside(url)"
)
# a word in the title counts as much as four in the text; lower is better
_RANK = "bm25(words, 4.0, 1.0)"
_MAX_WORDS = 64
_MAX_BYTES = 10 * 2**20  # of a file
_DAYS = {"hour": 1, "day": 1, "week": 7, "month": 30, "year": 365}
_TIMEOUT = 30.0  # seconds to wait while another process writes
_LENGTH = 300  # characters of a snippet
_LEAD = 80  # characters that a snippet may begin earlier, at the start of a sentence

# All repetitions are bounded: pages may be hostile.
_SYNTAX = re.compile(
    # links and pictures, which leave their text
    r"!?\[([^\[\]\n]{0,500})\]\([^()\s]{0,2000}(?: \"[^\"\n]{0,200}\")?\)"
    r"|^[ \t]{0,20}(?:#{1,6}(?=[ \t])|>|[-*+](?=[ "
    r"\t])|`{3,}\S{0,40}|~{3,}\S{0,40}|\|?[ \t]{0,4}:?-{3}[-:| \t]*$)"
    r"|\*\*|`|\|",
    re.MULTILINE,
)
_SENTENCE = re.compile(r"[.!?][ \n]+|\n+|[。！？]")  # noqa: RUF001 - the full stops of Chinese and Japanese


@dataclass(frozen=True)
class SkippedFile:
    """A file or URL that was not indexed, and why."""

    what: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """The result of indexing a folder or a site.

    Args:
        added: Number of pages that are new, or that have another text than before.
        unchanged: Number of pages that were there already, with the same text.
        removed: Number of pages that were removed because they no longer exist.
        skipped: Files and URLs that were not indexed, and why.
        left: Number of links that were not followed because the limit was reached.
    """

    added: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: tuple[SkippedFile, ...] = ()
    left: int = 0


def files(place: Path) -> Iterator[Path | SkippedFile]:
    """Yield the files in the folder *place*, sorted, or *place* itself if it is a file;
    raise if it is neither.

    Hidden files, symbolic links and folders that cannot be listed are yielded as
    `SkippedFile`.
    """
    if place.is_file():
        yield place
        return
    if not place.is_dir():
        raise errors.ConfigurationError(f"{place}: no such file or folder")
    unreadable: list[SkippedFile] = []
    walk = os.walk(
        place,
        onerror=lambda why: unreadable.append(
            SkippedFile(_show(why.filename), str(why.strerror))
        ),
    )
    for folder, below, names in walk:
        for name in sorted([*below, *names]):
            entry = Path(folder, name)
            if name.startswith("."):
                yield SkippedFile(_show(entry), "hidden")
            elif entry.is_symlink():
                yield SkippedFile(_show(entry), "a symbolic link")
            elif name in names:
                yield entry
        below[:] = sorted(name for name in below if not name.startswith("."))
    yield from unreadable


def read_file(file: Path) -> Page:
    """Read a file, given by its absolute path, as a page with a ``file:`` URL.

    Raise `UnsupportedContent` if it has no text, `TooLarge` above 10 MiB, and
    `PageNotFound` if it cannot be opened.
    """
    if not file.is_file():  # reading a pipe would wait forever
        raise errors.PageNotFound("not a regular file")
    try:
        with file.open("rb") as stream:
            return read_stream(stream, file)
    except OSError as error:
        raise errors.PageNotFound(f"cannot be read: {error.strerror}") from error


def read_stream(stream: BinaryIO, file: Path) -> Page:
    """Read an open *file* in the same way."""
    # imports the parser, which a search does not need
    from ..reading import find_media_type, read_bytes

    url = file.as_uri()
    data = stream.read(_MAX_BYTES + 1)
    if len(data) > _MAX_BYTES:
        raise errors.TooLarge(f"larger than {_MAX_BYTES // 2**20} MiB")
    page = read_bytes(data, url, find_media_type(file.as_posix()))
    return page.model_copy(
        update={
            "url": url,
            "final_url": url,
            "title": page.title or _heading(page) or _show(file.name),
        }
    )


def _read_text(file: Path) -> Page:
    """Read a file that has text."""
    page = read_file(file)
    _require_text(page)
    if not page.content.strip():
        raise errors.UnsupportedContent("there is no text in it")
    return page


def _show(name: str | Path) -> str:
    """Return a name of the file system as text; bytes that are no UTF-8 become �."""
    return os.fsencode(name).decode("utf-8", "replace")


def _heading(page: Page) -> str:
    """Return the heading at the start of the page, or an empty string."""
    first = page.content.lstrip().partition("\n")[0]
    return first[2:].strip()[:300] if first.startswith("# ") else ""


@dataclass(frozen=True)
class Hit:
    """A matching page, its score (higher is better), and a few lines of its text
    without markup.
    """

    page: Page
    score: float
    snippet: str


@dataclass(frozen=True)
class SearchHits:
    """The hits of a search, best first, and notes for the caller."""

    hits: tuple[Hit, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Index:
    """Pages on disk that can be searched.

    Every method raises `ConfigurationError` if the file is missing, is not an index or
    cannot be accessed, `Unavailable` if it is busy for too long, and `BadResponse` if
    it is damaged; never an error of SQLite. A file with other tables than ours, views
    or triggers is not an index. What is left at the deadline of a call is `TimedOut`.

    Args:
        path: The file. Adding the first page creates it and its parent folders.
    """

    path: Path

    def add(self, page: Page) -> bool:
        """Add *page*, which must be complete, under its final URL; replace the page
        that was there before.

        Returns:
            Whether the page is new, or has another text than before.

        Raises:
            InvalidOption: Its URL is neither absolute http(s) nor ``file:``.
            UnsupportedContent: It is an image without text, which no search could find.
        """
        _require_text(page)
        url = address(page.final_url or page.url)
        if not _is_indexable(url):
            raise errors.InvalidOption(
                f"{url!r} is neither an absolute http(s) URL nor a file: URL"
            )
        published = page.published.timestamp() if page.published else None
        row = (
            url,
            published,
            (page.language or "").lower().replace("_", "-") or None,
            page.model_dump_json(),
        )
        with self._writing() as db:
            before = db.execute(
                "SELECT page FROM pages WHERE url = ?", (url,)
            ).fetchone()
            self._remove(db, url)
            added = db.execute(
                "INSERT INTO pages (url, published, language, page) VALUES (?, ?, ?, "
                "?)",
                row,
            )
            words = (added.lastrowid, *_index_terms(page))
            db.execute(
                "INSERT INTO words (rowid, title, content) VALUES (?, ?, ?)", words
            )
        old = before and self._parse(before[0])
        return not old or (old.title, old.content) != (page.title, page.content)

    def remove(self, url: str) -> bool:
        """Remove the page at *url*; return False if there was none."""
        with self._writing() as db:
            return self._remove(db, address(url))

    def add_folder(
        self, place: Path, tell: Callable[[str], None] = lambda _: None
    ) -> Report:
        """Add the files of a folder and its subfolders; replace or remove what the
        index had of it before.

        Hidden files, symbolic links and files without text are left out.

        Args:
            place: The folder, or a single file.
            tell: Called with the URL of each file that has been read.

        Raises:
            ConfigurationError: The file or folder does not exist.
        """
        place = place.expanduser().resolve()
        present: set[str] = set()
        skipped: list[SkippedFile] = []
        changed = 0
        for file in files(place):
            if isinstance(file, SkippedFile):
                skipped.append(file)
                continue
            if self._is_own(file):
                continue
            try:
                page = _read_text(file)
            except errors.ServiceError as error:
                skipped.append(SkippedFile(_show(file), str(error)))
                continue
            changed += self.add(page)
            present.add(page.url)
            tell(page.url)
        return Report(
            added=changed,
            unchanged=len(present) - changed,
            removed=self._remove_others(place.as_uri(), present),
            skipped=tuple(skipped),
        )

    def _remove_others(self, folder: str, present: set[str]) -> int:
        """Remove the files of a *folder* that are not *present*; return how many there
        were.
        """
        if not self.path.exists():
            return 0
        removed = 0
        for url in self.urls():
            is_inside = url == folder or url.startswith(f"{folder}/")
            if is_inside and url not in present:
                removed += self.remove(url)
        return removed

    def add_pages(
        self,
        pages: Iterable[tuple[str, Page | errors.WebSearchError]],
        tell: Callable[[str], None] = lambda _: None,
    ) -> Report:
        """Add whole pages (``max_length=sys.maxsize``) as `WebSearch.crawl` yields
        them; remove those that are gone.
        """
        changed = 0
        unchanged = 0
        removed = 0
        skipped: list[SkippedFile] = []
        try:
            for url, page in pages:
                try:
                    if isinstance(page, errors.WebSearchError):
                        raise page
                    is_changed = self.add(page)
                except (
                    errors.ServiceError,
                    errors.UnsafeURL,
                    errors.DisallowedByRobots,
                ) as error:
                    skipped.append(SkippedFile(url, error.summary))
                    is_gone = isinstance(error, errors.PageNotFound)
                    if is_gone and self.path.exists():
                        removed += self.remove(url)
                else:
                    changed += is_changed
                    unchanged += not is_changed
                    tell(url)
        finally:
            # it would read on while somebody looks at the traceback
            if isinstance(pages, Generator):
                pages.close()
        return Report(
            added=changed,
            unchanged=unchanged,
            removed=removed,
            skipped=tuple(skipped),
        )

    def urls(self) -> list[str]:
        """Return the URLs of all pages, sorted."""
        with self._reading() as db:
            rows = db.execute("SELECT url FROM pages ORDER BY url").fetchall()
        urls = [url for (url,) in rows]
        if not all(isinstance(url, str) for url in urls):
            raise _damaged_error(self.path)
        return urls

    def page(self, url: str) -> Page:
        """Return the complete page at *url*, as it was read.

        Raises:
            PageNotFound: The page is not in the index.
        """
        with self._reading() as db:
            row = db.execute(
                "SELECT page FROM pages WHERE url = ?", (address(url),)
            ).fetchone()
        if row is None:
            raise errors.PageNotFound("the page is not in the local index")
        return self._parse(row[0])

    def search(self, query: SearchQuery) -> SearchHits:
        """Find pages: first those with all words of the query and, if there are too
        few, those with any of them.

        A domain includes its subdomains; a month is 30 days; days are in UTC. If the
        query filters by date or language, pages without one are left out, and ``notes``
        says how many.
        """
        terms = query_terms(query.text)
        if not terms:
            return SearchHits(notes=("the query has no words to search for",))
        notes = (
            [f"only the first {_MAX_WORDS} words were looked for"]
            if len(terms) > _MAX_WORDS
            else []
        )
        terms = terms[:_MAX_WORDS]
        end = query.page * query.limit
        with self._reading() as db:
            db.create_function(
                "inside", 1, lambda url: in_domains(url, query), deterministic=True
            )
            matching = _match(terms, "AND")
            ranked = _rank(db, matching, query, end)
            if len(ranked) < end:
                matching = _match(terms, "OR")
                # pages already in it keep their place
                ranked |= _rank(db, matching, query, end)
            chosen = list(ranked.items())[end - query.limit : end]
            pages = [
                db.execute("SELECT page FROM pages WHERE id = ?", (id_,)).fetchone()[0]
                for id_, _ in chosen
            ]
            notes += _note_missing(db, matching, query)
        hits: list[Hit] = []
        for page, (_, score) in zip(map(self._parse, pages), chosen, strict=True):
            hits.append(
                Hit(page, score, make_snippet(strip_markdown(page.content), terms))
            )
        return SearchHits(tuple(hits), tuple(notes))

    def _remove(self, db: sqlite3.Connection, url: str) -> bool:
        row = db.execute("SELECT id, page FROM pages WHERE url = ?", (url,)).fetchone()
        if row is None:
            return False
        # a contentless table needs the old values to delete a row
        old = _index_terms(self._parse(row[1]))
        db.execute(
            "INSERT INTO words (words, rowid, title, content) VALUES ('delete', ?, ?, "
            "?)",
            (row[0], *old),
        )
        db.execute("DELETE FROM pages WHERE id = ?", (row[0],))
        return True

    def _parse(self, stored: str) -> Page:
        try:
            page = Page.model_validate_json(stored)
        except ValidationError:
            raise _damaged_error(self.path) from None
        if not _is_indexable(page.final_url or page.url):
            raise _damaged_error(self.path)
        return page

    def _is_own(self, file: Path) -> bool:
        """Return whether *file* is of the index, or of another database here, whose
        locks reading it would release.
        """
        own = self.path.resolve()
        is_index = file.parent == own.parent and file.name in {
            own.name,
            f"{own.name}-wal",
            f"{own.name}-shm",
        }
        return is_index or is_database(file)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Open a connection that sees one state of the index, whatever is written
        meanwhile.
        """
        path = self.path.absolute()
        if not path.is_file():
            raise errors.ConfigurationError(
                f"there is no local index at {path}: make one with 'websearch index "
                f"PATH_OR_URL', "
                "or set WEB_SEARCH_INDEX to where it is"
            )
        # In WAL mode even a reader writes files beside it. Where the folder is
        # read-only, the file never changes.
        frozen = "" if os.access(path.parent, os.W_OK) else "&immutable=1"
        with _translate_errors(path), connect(path, _TIMEOUT, f"mode=ro{frozen}") as db:
            db.execute("BEGIN")
            if read_stamp(db) != _STAMP:
                raise ForeignFile(path)
            check_objects(db, _SCHEMA)
            yield db

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Open a connection for one transaction; create the index if necessary. It is
        nobody else's business.
        """
        path = self.path.absolute()
        with (
            _translate_errors(path),
            write_tables(path, "the local index at", _TIMEOUT, _SCHEMA, _STAMP) as db,
        ):
            yield db


def _is_indexable(url: str) -> bool:
    return is_web_url(url) or url.startswith("file:///")


def _require_text(page: Page) -> None:
    # one line: its kind and size
    if page.media_type.startswith("image/") and "\n" not in page.content:
        raise errors.UnsupportedContent("an image without text")


def address(url: str) -> str:
    """Return the key of the page at *url*."""
    return identify(url.partition("#")[0].encode(errors="replace").decode())


def _index_terms(page: Page) -> tuple[str, str]:
    return index_text(page.title), index_text(strip_markdown(page.content))


def _match(terms: Sequence[str], how: str) -> str:
    """Write a query in the syntax of FTS5, in which quoted text has no operators."""
    quoted = [f'"{word.removesuffix("*")}"{"*" * word.endswith("*")}' for word in terms]
    return f" {how} ".join(quoted)


def _rank(
    db: sqlite3.Connection, matching: str, query: SearchQuery, limit: int
) -> dict[int, float]:
    """Return the best pages in order, as id and score; the URL breaks ties, so that the
    order is reproducible.
    """
    limits, values = _conditions(query)
    rows = db.execute(
        f"SELECT pages.id, -{_RANK} {_MATCHING} AND {limits} ORDER BY {_RANK}, url "
        f"LIMIT ?",
        (matching, *values, min(limit, 2**63 - 1)),
    )
    return dict(rows.fetchall())


def _conditions(query: SearchQuery) -> tuple[str, list[str | float]]:
    """Write the filters for date and language as SQL; pages without a date or language
    never match.
    """
    conditions: list[str] = ["1"]
    values: list[str | float] = []
    ago = timedelta(days=_DAYS[query.time_range]) if query.time_range else None
    begin = midnight(query.after) if query.after else None
    after = (datetime.now(UTC) - ago).timestamp() if ago else begin
    if after is not None:
        conditions.append("published >= ?")
        values.append(after)
    if query.before:
        conditions.append("published < ?")
        values.append(midnight(query.before) + timedelta(days=1).total_seconds())
    if query.language:
        # a language tag has no wildcards of LIKE
        conditions.append("(language = ? OR language LIKE ?)")
        values += [query.language.lower(), f"{query.language.lower()}-%"]
    return " AND ".join(conditions), values


def _note_missing(
    db: sqlite3.Connection, matching: str, query: SearchQuery
) -> Iterator[str]:
    """Yield notes on how many pages were left out only because they have no date or
    language.
    """
    names: dict[str, str] = {}  # of the columns that the query filters by
    if any((query.time_range, query.after, query.before)):
        names["published"] = "date"
    if query.language:
        names["language"] = "language"
    for column, name in names.items():
        (count,) = db.execute(
            f"SELECT count(*) {_MATCHING} AND {column} IS NULL", (matching,)
        ).fetchone()
        if count:
            yield f"left out {quantity(count, 'matching page')} without a {name}"


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    """Raise our errors instead of SQLite's."""
    try:
        yield
    except (sqlite3.Error, ForeignFile) as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise errors.Unavailable(
                f"the local index at {path} is busy", provider="local"
            ) from error
        if isinstance(error, ForeignFile) or code == sqlite3.SQLITE_NOTADB:
            raise errors.ConfigurationError(
                f"{path} is not an index of this version of websearch: remove it and "
                f"rebuild it with 'websearch index',"
                " or set WEB_SEARCH_INDEX to another place"
            ) from error
        if code in {
            sqlite3.SQLITE_CANTOPEN,
            sqlite3.SQLITE_READONLY,
            sqlite3.SQLITE_PERM,
        } or "fts5" in str(error):
            raise errors.ConfigurationError(
                f"the local index at {path} cannot be used: {error}"
            ) from error
        if code in {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR}:
            failure = errors.Unavailable(
                f"the local index at {path} cannot be used: {error}", provider="local"
            )
            failure.temporary = False
            raise failure from error
        raise _damaged_error(path) from error


def _damaged_error(path: Path) -> errors.BadResponse:
    return errors.BadResponse(
        f"the local index at {path} is damaged: remove it and rebuild it with "
        f"'websearch index'",
        provider="local",
    )


def strip_markdown(markdown: str) -> str:
    """Return the text of *markdown* without its syntax and empty lines."""
    text = _SYNTAX.sub(_replace_mark, markdown)
    lines = (" ".join(line.split()) for line in text.splitlines())
    return "\n".join(filter(None, lines))


def _replace_mark(mark: re.Match[str]) -> str:
    """Return what takes the place of a mark: the text of a link; nothing for one that
    may stand inside a word.
    """
    if mark[1]:
        return mark[1]
    return "" if mark[0] in {"**", "`"} else " "


def make_snippet(text: str, terms: Sequence[str]) -> str:
    """Return about 300 characters of plain text with the most query terms, from the
    start of a sentence if it is near.

    It has "…" where text is left out at its ends.
    """
    if len(text) <= _LENGTH:
        return " ".join(text.split())
    start = _find_start(text, _find_densest(_find_terms(text, terms)))
    end = min(start + _LENGTH, len(text))
    if end < len(text):
        blank = max(text.rfind(" ", start, end + 1), text.rfind("\n", start, end + 1))
        # cut no word, if there is whitespace at all
        end = blank if blank > start + _LENGTH // 2 else end
    snippet = " ".join(text[start:end].split())
    if start > 0:
        snippet = f"…{snippet}"
    if end < len(text):
        snippet = f"{snippet}…"
    return snippet


def _find_terms(text: str, terms: Sequence[str]) -> list[Term]:
    forms = {term for term in terms if not term.endswith("*")}
    prefixes = tuple(term[:-1] for term in terms if term.endswith("*"))
    matches: list[Term] = []
    for word in split_terms(text):
        # an empty tuple is the beginning of no word
        if word.form in forms or word.form.startswith(prefixes):
            matches.append(word)
    return matches


def _find_densest(matches: list[Term]) -> int:
    """Return the start of the window with the most terms; each counts once, and more if
    rare on this page.
    """
    counts = Counter(word.form for word in matches)
    inside: Counter[str] = Counter()  # of the words in the window
    weight = 0.0  # of these
    first = 0  # the place of the first of them
    best = 0
    best_weight = 0.0
    for word in matches:
        inside[word.form] += 1
        if inside[word.form] == 1:
            weight += 1 / counts[word.form]
        while word.end - matches[first].start > _LENGTH - _LEAD:
            form = matches[first].form
            inside[form] -= 1
            if inside[form] == 0:
                weight -= 1 / counts[form]
            first += 1
        if weight > best_weight + 1e-9:
            best = matches[first].start
            best_weight = weight
    return best


def _find_start(text: str, place: int) -> int:
    """Return the start of the sentence around *place*, or else of a word shortly before
    it.
    """
    earliest = max(0, place - _LEAD)
    if earliest == 0:
        return 0
    starts = [mark.end() for mark in _SENTENCE.finditer(text, earliest, place)]
    if starts:
        return starts[-1]
    blank = text.find(" ", place - _LEAD // 2, place)
    return blank + 1 if blank >= 0 else place
