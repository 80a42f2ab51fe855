"""Find the files of a folder that can be indexed, and read them."""

from __future__ import annotations
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ..errors import ConfigurationError, PageNotFound, TooLarge
from ..models import Page

_MAX_BYTES = 10 * 2**20


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
    """Yield the files in the folder *place*, sorted, or *place* itself if it is a file; raise if it is neither.

    Hidden files, symbolic links and folders that cannot be listed are yielded as `SkippedFile`.
    """
    if place.is_file():
        yield place
        return
    if not place.is_dir():
        raise ConfigurationError(f"{place}: no such file or folder")
    unreadable: list[SkippedFile] = []
    walk = os.walk(place, onerror=lambda why: unreadable.append(SkippedFile(str(why.filename), str(why.strerror))))
    for folder, below, names in walk:
        for name in sorted([*below, *names]):
            entry = Path(folder, name)
            if name.startswith("."):
                yield SkippedFile(str(entry), "hidden")
            elif entry.is_symlink():
                yield SkippedFile(str(entry), "a symbolic link")
            elif name in names:
                yield entry
        below[:] = sorted(name for name in below if not name.startswith("."))
    yield from unreadable


def read_file(file: Path) -> Page:
    """Read a file, given by its absolute path, as a page with a ``file:`` URL.

    Raise `UnsupportedContent` if it has no text, `TooLarge` above 10 MiB, and `PageNotFound` if it cannot be opened.
    """
    if not file.is_file():  # reading a pipe would wait forever
        raise PageNotFound("not a regular file")
    try:
        with file.open("rb") as stream:
            return read_stream(stream, file)
    except OSError as error:
        raise PageNotFound(f"cannot be read: {error.strerror}") from error


def read_stream(stream: BinaryIO, file: Path) -> Page:
    """Read an open *file* in the same way."""
    from ..reading import find_media_type, read_bytes  # imports the parser, which a search does not need

    url = file.as_uri()
    if len(data := stream.read(_MAX_BYTES + 1)) > _MAX_BYTES:
        raise TooLarge(f"larger than {_MAX_BYTES // 2**20} MiB")
    page = read_bytes(data, url, find_media_type(file.as_posix()))
    return page.model_copy(update={"url": url, "final_url": url, "title": page.title or _heading(page) or file.name})


def _heading(page: Page) -> str:
    """Return the heading at the start of the page, or an empty string."""
    first = page.content.lstrip().partition("\n")[0]
    return first[2:].strip()[:300] if first.startswith("# ") else ""
