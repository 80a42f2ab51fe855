"""Which files of a folder are worth indexing, and their text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import ConfigurationError, PageNotFound, TooLarge
from ..models import Page
from ._report import Skipped

_MAX_BYTES = 10 * 2**20
# Ours and not those of `mimetypes`, which reads the tables of the machine it runs on. What is not here is sniffed.
_TYPES = {
    ".csv": "text/csv",
    ".htm": "text/html",
    ".html": "text/html",
    ".json": "application/json",
    ".jsonl": "application/jsonl",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".ndjson": "application/x-ndjson",
    ".rst": "text/plain",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".xhtml": "application/xhtml+xml",
    ".xml": "application/xml",
}


def files(place: Path) -> Iterator[Path | Skipped]:
    """
    Yield the files in *place*, sorted, or *place* itself if it is one; hidden ones and symbolic links as skipped.

    Raises:
        ConfigurationError: There is no such file or folder.

    """
    if place.is_file():
        yield place
        return
    if not place.is_dir():
        raise ConfigurationError(f"{place}: no such file or folder")
    locked: list[Skipped] = []
    walk = os.walk(place, onerror=lambda error: locked.append(Skipped(str(error.filename), str(error.strerror))))
    for folder, below, names in walk:
        for name in sorted([*below, *names]):
            entry = Path(folder, name)
            if name.startswith("."):
                yield Skipped(str(entry), "hidden")
            elif entry.is_symlink():
                yield Skipped(str(entry), "a symbolic link")
            elif name in names:
                yield entry
        below[:] = sorted(name for name in below if not name.startswith("."))
    yield from locked


def read_file(file: Path) -> Page:
    """
    Read a file as a page; its URL begins with ``file:``.

    Raises:
        UnsupportedContent: It has no text for us.
        TooLarge: It has more than 10 MiB.
        PageNotFound: It cannot be read.

    """
    from ..reading import read_bytes  # brings the parser, which a search does not need

    url = file.as_uri()
    if not file.is_file():  # a pipe would be waited for without end
        raise PageNotFound("not a regular file")
    try:
        with file.open("rb") as stream:
            data = stream.read(_MAX_BYTES + 1)
    except OSError as error:
        raise PageNotFound(f"cannot be read: {error.strerror}") from error
    if len(data) > _MAX_BYTES:
        raise TooLarge(f"larger than {_MAX_BYTES // 2**20} MiB")
    page = read_bytes(data, url, _TYPES.get(file.suffix.lower()))
    return page.model_copy(update={"url": url, "final_url": url, "title": page.title or _heading(page) or file.name})


def _heading(page: Page) -> str:
    """The heading that Markdown begins with."""
    first = page.content.lstrip().partition("\n")[0]
    return first[2:].strip()[:300] if first.startswith("# ") else ""
