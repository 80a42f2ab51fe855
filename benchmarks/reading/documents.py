"""Measure how many words of documents a reader keeps, and in which order.

The words of a PDF are those that ``pdftotext`` of poppler writes; those of a Word file,
of slides or of a sheet are those in its XML. pdftotext makes mistakes: it repeats
what is painted twice, and writes some Arabic letters in the wrong order. So a column
counts only those words of PDFs that pymupdf writes as well.
"""

from __future__ import annotations
import html
import io
import json
import re
import statistics
import subprocess
import unicodedata
import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from benchmarks.reading.candidates import DOCUMENTS, PYMUPDF, Candidate
from benchmarks.reading.process import Reader
from benchmarks.report import Goal, Section, Table
from training.corpus import ROOT

CORPUS = ROOT.parent / "documents"
_GOAL = 0.97
_IDEOGRAPH = r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]"
_WORD = re.compile(rf"{_IDEOGRAPH}|(?:(?!{_IDEOGRAPH})[^\W_])+")
_PARTS = {
    ".docx": re.compile(r"word/document\.xml"),
    ".pptx": re.compile(r"ppt/slides/slide\d+\.xml"),
}
_UNSEEN = re.compile(
    r"<mc:Fallback>.*?</mc:Fallback>|<w:del\b.*?</w:del>|<w:instrText[^>]*>[^<]*<",
    re.DOTALL,
)
_END = re.compile(r"<(?:/(?:w|a):p|(?:w|a):(?:br|tab)/)>")
_TEXT = re.compile(r"<(?:w|a|m):t(?:\s[^>]*)?>([^<]*)</|(\n)")


class Score(NamedTuple):
    """Shares of the words of a file, of those that were written, and of its pairs."""

    recall: float
    precision: float
    pairs: float


def list_words(text: str) -> list[str]:
    """Return the words of a text in their order; of Chinese and the like, its signs."""
    text = unicodedata.normalize("NFKC", text).casefold()
    text = re.sub(r"\]\(https?://[^)]*\)", "]", text)
    text = re.sub(r"[\u00ad\u200b\ufeff]", "", text)
    return _WORD.findall(re.sub(r"-\s*\n\s*", "", text))


def score(truth: str, text: str) -> Score:
    """Compare a text with the truth."""
    known = list_words(truth)
    written = list_words(text)
    common = _count_common(known, written)
    pairs = [*pairwise(known)]
    in_order = _count_common(pairs, [*pairwise(written)])
    return Score(
        common / max(1, len(known)),
        common / max(1, len(written)),
        in_order / max(1, len(pairs)),
    )


def _count_common(known: Sequence[object], written: Sequence[object]) -> int:
    return (Counter(known) & Counter(written)).total()


def agree(truth: str, other: str, text: str) -> float:
    """Return the share of the words that two readers both know, that a third writes."""
    known = Counter(list_words(truth)) & Counter(list_words(other))
    common = known & Counter(list_words(text))
    return common.total() / max(1, known.total())


def read_truth(path: Path) -> str:
    """Return the words that a file has; empty if nobody knows them."""
    if path.suffix == ".pdf":
        done = subprocess.run(
            ["pdftotext", "-q", path, "-"], capture_output=True, check=False, timeout=60
        )
        return done.stdout.decode("utf-8", "replace")
    if path.suffix == ".xlsx":
        from openpyxl import load_workbook

        sheets = load_workbook(path, data_only=True).worksheets
        rows = [
            row
            for sheet in sheets
            if sheet.sheet_state == "visible"
            for row in sheet.values
        ]
        cells = [str(cell) for row in rows for cell in row if cell is not None]
        return "\n".join(cells)
    if path.suffix not in _PARTS:
        return ""
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        names = filter(_PARTS[path.suffix].fullmatch, archive.namelist())
        sources = [archive.read(name).decode("utf-8", "replace") for name in names]
    source = _END.sub("\n", _UNSEEN.sub("", "".join(sources)))
    return html.unescape("".join(text or line for text, line in _TEXT.findall(source)))


def measure(
    installed: Mapping[Candidate, str], corpus: Path = CORPUS
) -> dict[tuple[str, str], str]:
    """Return what each candidate writes of each file."""
    names = [entry["id"] for entry in json.loads((corpus / "index.json").read_text())]
    texts: dict[tuple[str, str], str] = {}
    for candidate, python in installed.items():
        with Reader(candidate, python) as reader:
            for name in names:
                data = (corpus / name).read_bytes()
                answer = reader.read(data, f"https://page.example/{name}", None)
                texts[candidate.name, name] = answer["markdown"]
    return texts


def section(
    texts: Mapping[tuple[str, str], str], measured: str, corpus: Path = CORPUS
) -> Section:
    """Report the *texts* that were written; *measured* says when and by which versions."""
    truths = {name: read_truth(corpus / name) for _, name in texts}
    truths = {name: truth for name, truth in truths.items() if list_words(truth)}
    rows: list[list[str]] = []
    goals: list[Goal] = []
    readers = {reader for reader, _ in texts}
    for kind, label in ((True, "PDF"), (False, "office")):
        names = [name for name in truths if name.endswith(".pdf") == kind]
        for reader in [one.name for one in DOCUMENTS if one.name in readers]:
            if not kind and reader == PYMUPDF.name:
                continue
            scores = [score(truths[name], texts[reader, name]) for name in names]
            row = [
                f"{statistics.fmean(column):.3f}"
                for column in zip(*scores, strict=True)
            ]
            shared = "-"
            if kind and PYMUPDF.name in readers - {reader}:
                shares = [
                    agree(truths[name], texts[PYMUPDF.name, name], texts[reader, name])
                    for name in names
                ]
                shared = f"{statistics.fmean(shares):.3f}"
            rows.append([label, str(len(names)), reader, *row, shared])
            if kind and reader == DOCUMENTS[0].name:
                recall = statistics.fmean(one.recall for one in scores)
                claim = f"{_GOAL} of the words that pdftotext writes of PDFs are there"
                goals.append(Goal(claim, f"{recall:.3f}", recall >= _GOAL))
    return Section(
        title="Reading documents",
        method=(
            "Files from the test suites of public libraries. The words of a PDF are "
            "those that pdftotext writes, those of the others are in their XML; *both* "
            "is the share of the words that pdftotext and pymupdf agree on, since each "
            "of them also writes words that nobody sees, or that are spelled "
            "otherwise. Nearly all that we lack is in five files in which pdftotext "
            "repeats what is painted twice (1), turns Arabic ligatures (3), or parts "
            "words whose letters are set far apart (1): a reader that does not would "
            f"get about 0.944. Pairs are words that follow each other. {measured}"
        ),
        tables=[
            Table(
                ("kind", "files", "reader", "recall", "precision", "pairs", "both"),
                rows,
            )
        ],
        goals=goals,
    )
