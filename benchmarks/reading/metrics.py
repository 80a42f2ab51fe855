"""Compare the Markdown of a reader with the true content of a page.

Text is compared as bags of words of the *rendered* Markdown, so that syntax, link
targets and alternative texts neither help nor harm. Structure is compared as bags of
headings, links, code blocks, table cells and list items. Each counts by its words, so
that the sign after a heading that links to it (``¶``), or back from a footnote (``^``),
does not count.
"""

from __future__ import annotations
import html
import random
import re
import statistics
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import unquote, urljoin

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString
from markdown_it import MarkdownIt
from markdown_it.token import Token

from training.corpus import Page
from training.words import agreement, words

PARTS = ("headings", "links", "code", "cells", "items")
_MIN_LENGTH = 25  # characters: less counts as empty

_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n.*?\n(---|\.\.\.)[ \t]*\n", re.DOTALL)
_TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
_PIECES = {"heading": "headings", "td": "cells", "th": "cells", "list_item": "items"}
_ELEMENTS = {**dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "headings"), "pre": "code", "td": "cells",
             "th": "cells", "li": "items"}  # fmt: skip
_BLOCKS = frozenset(
    "article aside blockquote br dd div dl dt figcaption figure h1 h2 h3 h4 h5 h6 "
    "header hr li ol p pre section table "
    "td th tr ul".split()
)
_LISTS = frozenset({"ol", "ul"})


@dataclass
class Text:
    """The words of a page, and its *parts*: the items of each of `PARTS`."""

    words: str
    parts: dict[str, list[Hashable]] = field(
        default_factory=lambda: {part: [] for part in PARTS}
    )


@dataclass(frozen=True)
class Score:
    """How well one page was read.

    Args:
        precision: The share of the words read that are in the truth.
        recall: The share of the words of the truth that were read.
        f1: The harmonic mean of both.
        empty: Whether the result is nearly empty although the truth is not.
        must: Required passages: how many were found, and how many there are.
        must_not: The same for forbidden passages.
        parts: The F1 of each part of the structure that the truth has.
    """

    precision: float
    recall: float
    f1: float
    empty: bool
    must: tuple[int, int]
    must_not: tuple[int, int]
    parts: dict[str, float]


def score(page: Page, markdown: str) -> Score:
    """Score *markdown* against the truth about *page*."""
    read = render(markdown, page.url)
    truth = extract_structure(page.html, page.url) if page.html else Text(page.text)
    precision, recall, f1 = agreement(words(read.words), words(truth.words))
    text = normalize(read.words)
    return Score(
        precision=precision,
        recall=recall,
        f1=f1,
        empty=len(text) < _MIN_LENGTH <= len(truth.words.strip()),
        must=(sum(normalize(passage) in text for passage in page.must), len(page.must)),
        must_not=(
            sum(normalize(passage) in text for passage in page.must_not),
            len(page.must_not),
        ),
        parts={
            part: agreement(read.parts[part], true)[2]
            for part, true in truth.parts.items()
            if true
        },
    )


def normalize(text: str) -> str:
    """Return *text* in lowercase, with single spaces."""
    return " ".join(text.lower().split())


def render(markdown: str, url: str) -> Text:
    """Return the text and the parts of the rendered *markdown*."""
    text = Text("")
    pieces: list[str] = []
    unclosed: list[tuple[str, list[str]]] = []
    for token in _parser().parse(_FRONT_MATTER.sub("", markdown.replace("\x00", ""))):
        name, _, step = token.type.rpartition("_")
        if name in _PIECES and step == "open":
            unclosed.append((_PIECES[name], []))
        elif name in _PIECES and step == "close":
            part, found = unclosed.pop()
            if content := _key(" ".join(found)):
                text.parts[part].append(content)
        elif token.type in ("fence", "code_block"):
            pieces.append(token.content)
            text.parts["code"].append(normalize(token.content))
        elif token.type == "html_block":
            pieces.append(html.unescape(_TAG.sub(" ", token.content)))
        elif token.type == "inline":
            content = _render_inline(token.children or [], url, text.parts["links"])
            pieces.append(content)
            item = max(
                (place for place, (part, _) in enumerate(unclosed) if part == "items"),
                default=None,
            )
            for place, (part, found) in enumerate(unclosed):
                # the text of an item excludes the items nested in it
                if part != "items" or place == item:
                    found.append(content)
    text.words = "\n".join(pieces)
    return text


def _render_inline(tokens: Sequence[Token], url: str, links: list[Hashable]) -> str:
    """Return the text of inline *tokens*, and append their links to *links*."""
    pieces: list[str] = []
    link: tuple[str, int] | None = None
    for token in tokens:
        if token.type in ("text", "code_inline"):
            pieces.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            pieces.append("\n")
        elif token.type == "html_inline" and re.match(
            r"</?(br|td|th|tr|li|p|div)\b", token.content, re.IGNORECASE
        ):
            pieces.append(" ")
        elif token.type == "link_open":
            link = str(token.attrGet("href") or ""), len(pieces)
        elif token.type == "link_close" and link:
            if words_of_link := tuple(words("".join(pieces[link[1] :]))):
                links.append((_normalize_url(link[0], url), words_of_link))
            link = None
    return "".join(pieces)


def extract_structure(source: str, url: str) -> Text:
    """Return the text and the parts of HTML that has only the main content."""
    soup = BeautifulSoup(source, "html.parser")
    text = Text("".join(_texts(soup)))
    for element in soup.find_all():
        part = _ELEMENTS.get(element.name)
        content = "".join(
            _texts(element, without=_LISTS if part == "items" else frozenset())
        )
        if part and (key := normalize(content) if part == "code" else _key(content)):
            text.parts[part].append(key)
        elif (
            element.name == "a"
            and element.get("href")
            and (words_of_link := tuple(words(content)))
        ):
            text.parts["links"].append(
                (_normalize_url(str(element["href"]), url), words_of_link)
            )
    return text


def _texts(element: Tag, without: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the text of an element, with line breaks around blocks; leave out the
    elements named in *without*.
    """
    for child in element.children:
        if isinstance(child, Tag):
            if child.name in without:
                continue
            separator = "\n" if child.name in _BLOCKS else ""
            yield separator
            yield from _texts(child, without)
            yield separator
        elif type(child) is NavigableString:  # not a comment
            yield str(child)


def _key(text: str) -> Hashable:
    """Return what two equal headings, cells or items have in common: their words, or
    their signs if they have none.
    """
    return tuple(words(text)) or normalize(text)


def _normalize_url(href: str, url: str) -> str:
    """Return the absolute URL in one spelling, so that equal URLs compare equal."""
    try:
        href = urljoin(url, href.strip())
    except ValueError:  # not a URL
        return href
    return unquote(href).rstrip("/").replace(" ", "")


@cache
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": 200}).enable(
        ["table", "strikethrough"]
    )


def mean(numbers: Iterable[float]) -> float:
    """Return the mean, or NaN if there are no numbers."""
    some = list(numbers)
    return statistics.fmean(some) if some else float("nan")


def share(counts: Iterable[tuple[int, int]]) -> float:
    """Return the share found, over all pairs of a number found and a total; NaN if the
    total is 0.
    """
    found, total = (sum(column) for column in zip(*counts, strict=True))
    return found / total if total else float("nan")


def interval(
    differences: Sequence[float], resamples: int = 2000
) -> tuple[float, float]:
    """Return the 95 % confidence interval of the mean of *differences*, by a bootstrap
    over the pages.
    """
    choose = random.Random(0).choices
    means = sorted(
        statistics.fmean(choose(differences, k=len(differences)))
        for _ in range(resamples)
    )
    return means[round(resamples * 0.025)], means[round(resamples * 0.975) - 1]
