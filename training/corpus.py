"""
Pages whose main content is known.

Two layouts are read: that of WCXB (``metadata.json``, ``*/html/ID.html.gz``, ``*/ground-truth/ID.json``; CC BY 4.0),
with the main content as text, and that of the test pages of Mozilla's Readability (``NAME/source.html``,
``expected.html``; Apache 2.0), with the main content as HTML.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "reading"
CONTENT_TYPE = "text/html; charset=utf-8"  # of all pages


class Page(NamedTuple):
    """
    A page and the truth about it.

    Args:
        name: Its name in the corpus.
        kind: ``article``, ``forum``, ``product`` ...
        url: Its address.
        data: Its bytes, in UTF-8.
        text: The main content as text; empty if *html* has it.
        html: The main content as HTML; empty if *text* has it.
        must: Passages of the main content.
        must_not: Passages of the page that are not part of the main content.

    """

    name: str
    kind: str
    url: str
    data: bytes
    text: str = ""
    html: str = ""
    must: tuple[str, ...] = ()
    must_not: tuple[str, ...] = ()


def wcxb(folder: Path) -> list[Page]:
    """Return the pages of a *folder* in WCXB's layout, from all of its parts."""
    kinds = json.loads((folder / "metadata.json").read_text("utf-8"))["files"]
    pages = []
    for path in sorted(folder.glob("*/ground-truth/*.json")):
        record = json.loads(path.read_text("utf-8"))
        truth = record["ground_truth"]
        data = gzip.decompress((path.parents[1] / "html" / f"{path.stem}.html.gz").read_bytes())
        pages.append(
            Page(
                name=path.stem,
                kind=kinds[path.stem]["page_type"],
                url=record["url"],
                data=data,
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
            url="http://fakehost/test/page.html",  # the base of the links in the expected pages
            data=path.read_bytes(),
            html=(path.parent / "expected.html").read_text("utf-8"),
        )
        for path in sorted(folder.rglob("source.html"))
    ]
