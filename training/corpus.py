"""Pages whose main content is known.

A folder has one of three layouts, which `load` distinguishes:

- articles: ``truth.json``, and ``html/NAME.html`` or ``html/NAME.html.gz`` for each
  name in it. The truth about a page is an object with its ``url`` and ``text``, and
  optionally ``publisher``, ``title``, ``authors`` (a list) and ``published``. This is
  the layout for [pages of your own](README.md#pages-of-your-own).
- WCXB (Murrough Foley, 2026, CC BY 4.0): ``metadata.json``, ``*/html/ID.html.gz``,
  ``*/ground-truth/ID.json``, with the main content as text.
- the test pages of Mozilla's Readability (Apache 2.0): ``**/NAME/source.html`` and
  ``expected.html``, with the main content as HTML.
"""

from __future__ import annotations
import gzip
import json
import re
import zlib
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from websearch_core.reading._charset import to_utf8

ROOT = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "reading"
CONTENT_TYPE = "text/html; charset=utf-8"  # of all pages
ARTICLES = "news"  # the kind of the pages in the first layout
_MAX_SIZE = 10 * 2**20  # bytes
_MOZILLA_HOST = "fakehost"
_CANONICAL = re.compile(rb"""<link\b[^>]*\brel=["']?canonical\b[^>]*>""", re.IGNORECASE)
_TARGET = re.compile(rb"""\bhref=["']?([^"'\s>]+)""", re.IGNORECASE)


class Page(NamedTuple):
    """A page and the truth about it.

    Args:
        name: Its name in the corpus.
        kind: ``article``, ``forum``, ``product`` ..., or `ARTICLES`.
        url: Its address; may be empty.
        data: Its bytes, in UTF-8.
        text: The main content as text; empty if *html* has it.
        html: The main content as HTML; empty if *text* has it.
        must: Passages of the main content.
        must_not: Passages of the page that are not part of the main content.
        publisher: Who publishes it; may be empty.
        title: Its title; empty if it is not known.
        authors: Its authors; none if they are not known.
        published: When it was published, in ISO 8601; empty if it is not known.
    """

    name: str
    kind: str
    url: str
    data: bytes
    text: str = ""
    html: str = ""
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()
    publisher: str = ""
    title: str = ""
    authors: tuple[str, ...] = ()
    published: str = ""


def load(folder: Path) -> list[Page]:
    """Return the pages of a *folder*, whichever layout it has.

    Raises:
        ValueError: It has none of the layouts.
    """
    if (folder / "truth.json").is_file():
        return articles(folder)
    if (folder / "metadata.json").is_file():
        return wcxb(folder)
    if pages := mozilla(folder):
        return pages
    raise ValueError(
        f"{folder} has neither truth.json nor metadata.json, and no source.html in any "
        f"folder"
    )


def find_folders(root: Path) -> list[Path]:
    """Return the folders of pages in *root*, in a fixed order.

    Raises:
        ValueError: There are none.
    """
    folders = [folder for folder in sorted(root.glob("*/")) if folder.is_dir()]
    if not folders:
        raise ValueError(
            f"there are no folders of pages in {root}: name the folder that contains "
            f"them with --corpus"
        )
    return folders


def articles(folder: Path) -> list[Page]:
    """Return the pages of a *folder* that has ``truth.json``."""
    truth: dict[str, dict[str, Any]] = json.loads(
        (folder / "truth.json").read_text("utf-8")
    )
    return [
        Page(
            name=name,
            kind=ARTICLES,
            url=known.get("url") or "",
            data=_read(folder / "html" / f"{name}.html"),
            text=known["text"],
            publisher=known.get("publisher") or "",
            title=known.get("title") or "",
            authors=tuple(known.get("authors") or ()),
            published=known.get("published") or "",
        )
        for name, known in sorted(truth.items())
    ]


def wcxb(folder: Path) -> list[Page]:
    """Return the pages of a *folder* in WCXB's layout, from all of its parts."""
    kinds = json.loads((folder / "metadata.json").read_text("utf-8"))["files"]
    pages = []
    for path in sorted(folder.glob("*/ground-truth/*.json")):
        record = json.loads(path.read_text("utf-8"))
        truth = record["ground_truth"]
        pages.append(
            Page(
                name=path.stem,
                kind=kinds[path.stem]["page_type"],
                url=record.get("url") or "",
                data=_read(path.parents[1] / "html" / f"{path.stem}.html"),
                text=truth.get("main_content") or "",
                must=tuple(truth.get("with") or ()),
                must_not=tuple(truth.get("without") or ()),
            )
        )
    return pages


def mozilla(folder: Path) -> list[Page]:
    """Return the pages of a *folder* in Readability's layout."""
    return [
        Page(
            name=path.parent.name,
            kind="article",
            # the base of the links in the expected pages
            url=f"http://{_MOZILLA_HOST}/test/page.html",
            # all were stored in UTF-8, whatever they declare
            data=_read(path, CONTENT_TYPE),
            html=(path.parent / "expected.html").read_text("utf-8"),
        )
        for path in sorted(folder.rglob("source.html"))
    ]


def _read(path: Path, content_type: str | None = None) -> bytes:
    """Return a page in UTF-8, compressed or not."""
    data = (
        path.read_bytes()
        if path.exists()
        else gzip.decompress(path.with_name(f"{path.name}.gz").read_bytes())
    )
    return to_utf8(data, content_type, limit=_MAX_SIZE)[0]


def find_site(data: bytes, url: str) -> str:
    """Return a name that all pages of a site share: the part of the host that somebody
    registered.

    It is that of the canonical address if *url* is empty or invented, and the page's
    own if it has none.
    """
    host = urlsplit(url).hostname or ""
    if host in ("", _MOZILLA_HOST):
        link = _CANONICAL.search(data)
        target = _TARGET.search(link[0]) if link else None
        host = (
            (urlsplit(target[1].decode("utf-8", "replace")).hostname or "")
            if target
            else ""
        )
    labels = host.split(".")
    longer = len(labels) > 2 and len(labels[-2]) <= 3  # as in bbc.co.uk
    return ".".join(labels[-3 if longer else -2 :]) or f"{zlib.crc32(data):08x}"
