"""Which files of a folder are worth indexing, and their text."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from ..errors import ConfigurationError, PageNotFound, TooLarge
from ..models import Page

_MOST_BYTES = 10 * 2**20
# Ours and not those of `mimetypes`, which reads the tables of the machine it runs on. What is not here is sniffed.
_TYPES = {
    ".csv": "text/csv",
    ".htm": "text/html",
    ".html": "text/html",
    ".json": "application/json",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".rst": "text/plain",
    ".txt": "text/plain",
    ".xhtml": "application/xhtml+xml",
    ".xml": "application/xml",
}


def files(place: Path) -> Iterator[Path]:
    """
    Yield the files in *place*, sorted; *place* itself if it is one. Hidden ones and symbolic links are passed over.

    Raises:
        ConfigurationError: There is no such file or folder.

    """
    if place.is_file():
        yield place
        return
    if not place.is_dir():
        raise ConfigurationError(f"{place}: no such file or folder")
    for folder, below, names in os.walk(place):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            file = Path(folder, name)
            if not name.startswith(".") and not file.is_symlink():
                yield file


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
    try:
        if not file.is_file():
            raise PageNotFound("not a regular file")
        with file.open("rb") as stream:
            data = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise PageNotFound(f"cannot be read: {error.strerror}") from error
    if len(data) > _MOST_BYTES:
        raise TooLarge(f"larger than {_MOST_BYTES // 2**20} MiB")
    page = read_bytes(data, url, _TYPES.get(file.suffix.lower()))
    return page.model_copy(update={"url": url, "final_url": url, "title": page.title or _heading(page) or file.name})


def _heading(page: Page) -> str:
    """The heading that Markdown begins with."""
    first = page.content.lstrip().partition("\n")[0]
    return first.lstrip("#").strip()[:300] if first.startswith("# ") else ""
