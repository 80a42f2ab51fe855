"""
Pages of which it is known what they say.

Two layouts: that of WCXB (``metadata.json``, ``*/html/ID.html.gz``, ``*/ground-truth/ID.json``; CC BY 4.0), with the
main content as text, and that of the test pages of Mozilla's Readability (``NAME/source.html``, ``expected.html``;
Apache 2.0), with the main content as HTML.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2] / "shared" / "corpora" / "reading"
CONTENT_TYPE = "text/html; charset=utf-8"  # of all of them


class Page(NamedTuple):
    """
    A page, and the truth about it.

    Args:
        name: It in its corpus.
        kind: ``article``, ``forum``, ``product`` ...
        url: Where it came from.
        data: Its bytes, in UTF-8.
        text: Its main content as text; empty where *html* has it.
        html: Its main content as HTML; empty where *text* has it.
        must: Passages of the main content.
        must_not: Passages of the page that are no part of it.

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
    """Return the pages of a *folder* in WCXB's layout, whatever its halves are called."""
    kinds = json.loads((folder / "metadata.json").read_text("utf-8"))["files"]
    pages = []
    for path in sorted(folder.glob("*/ground-truth/*.json")):
        said = json.loads(path.read_text("utf-8"))
        truth = said["ground_truth"]
        data = gzip.decompress((path.parents[1] / "html" / f"{path.stem}.html.gz").read_bytes())
        pages.append(
            Page(
                name=path.stem,
                kind=kinds[path.stem]["page_type"],
                url=said["url"],
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
            url="http://fakehost/test/page.html",  # what the links of the expected pages are relative to
            data=path.read_bytes(),
            html=(path.parent / "expected.html").read_text("utf-8"),
        )
        for path in sorted(folder.rglob("source.html"))
    ]
