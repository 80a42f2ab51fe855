"""
How near the Markdown of a reader comes to what a page says.

Text is compared as bags of words of the *rendered* Markdown, so that marks, targets of links and alternative texts
neither help nor harm; structure as bags of the headings, links, pieces of code, cells and list items.
"""

from __future__ import annotations

import html
import random
import re
import statistics
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from urllib.parse import unquote, urljoin

from bs4 import BeautifulSoup, Tag
from bs4.element import NavigableString
from markdown_it import MarkdownIt
from markdown_it.token import Token

from training.corpus import Page

PARTS = ("headings", "links", "code", "cells", "items")
_LITTLE = 25  # characters: less is as good as nothing

_TEXT_ALONE = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_WORD = re.compile(rf"{_TEXT_ALONE.pattern}|[^\W{_TEXT_ALONE.pattern[1:-1]}]+")  # Chinese has no blanks
_FRONT_MATTER = re.compile(r"\A\ufeff?---[ \t]*\n.*?\n(---|\.\.\.)[ \t]*\n", re.DOTALL)
_TAG = re.compile(r"<!--.*?-->|<[^>]*>", re.DOTALL)
_PIECES = {"heading": "headings", "td": "cells", "th": "cells", "list_item": "items"}
_ELEMENTS = {**dict.fromkeys(("h1", "h2", "h3", "h4", "h5", "h6"), "headings"), "pre": "code", "td": "cells",
             "th": "cells", "li": "items"}  # fmt: skip
_BLOCKS = frozenset(
    "article aside blockquote br dd div dl dt figcaption figure h1 h2 h3 h4 h5 h6 header hr li ol p pre section table "
    "td th tr ul".split()
)


@dataclass
class Text:
    """What a page says, and its *parts*: for each of `PARTS`, what there is of it."""

    words: str
    parts: dict[str, list[Hashable]] = field(default_factory=lambda: {part: [] for part in PARTS})


@dataclass(frozen=True)
class Score:
    """
    How good one page was read.

    Args:
        precision: The share of the words read that are true.
        recall: The share of the true words that were read.
        f1: The harmonic mean of both.
        empty: Whether next to nothing was read of a page that says something.
        must: How many of the passages that must be there are there, and how many there are.
        must_not: The same for those that must not be there.
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
    """Compare *markdown* with the truth about *page*."""
    read = rendered(markdown, page.url)
    truth = structured(page.html, page.url) if page.html else Text(page.text)
    precision, recall, f1 = agreement(words(read.words), words(truth.words))
    text = plain(read.words)
    return Score(
        precision=precision,
        recall=recall,
        f1=f1,
        empty=len(text) < _LITTLE <= len(truth.words.strip()),
        must=(sum(plain(passage) in text for passage in page.must), len(page.must)),
        must_not=(sum(plain(passage) in text for passage in page.must_not), len(page.must_not)),
        parts={part: agreement(read.parts[part], true)[2] for part, true in truth.parts.items() if true},
    )


def agreement(read: Iterable[Hashable], true: Iterable[Hashable]) -> tuple[float, float, float]:
    """Return precision, recall and F1 of two bags. Two empty ones agree."""
    one, other = Counter(read), Counter(true)
    if not one and not other:
        return 1.0, 1.0, 1.0
    common = (one & other).total()
    return (
        common / one.total() if one else 0.0,
        common / other.total() if other else 0.0,
        2 * common / (one.total() + other.total()),
    )


def words(text: str) -> list[str]:
    """Split *text* into words without their case; every Chinese or Japanese character is one."""
    return _WORD.findall(text.lower())


def plain(text: str) -> str:
    """Return *text* without its case, its blanks made one each."""
    return " ".join(text.lower().split())


def rendered(markdown: str, url: str) -> Text:
    """Return what a reader of the rendered *markdown* sees."""
    text = Text("")
    pieces: list[str] = []
    unclosed: list[tuple[str, list[str]]] = []
    for token in _markdown().parse(_FRONT_MATTER.sub("", markdown.replace("\x00", ""))):
        name, _, step = token.type.rpartition("_")
        if name in _PIECES and step == "open":
            unclosed.append((_PIECES[name], []))
        elif name in _PIECES and step == "close":
            part, found = unclosed.pop()
            if said := plain(" ".join(found)):
                text.parts[part].append(said)
        elif token.type in ("fence", "code_block"):
            pieces.append(token.content)
            text.parts["code"].append(plain(token.content))
        elif token.type == "html_block":
            pieces.append(html.unescape(_TAG.sub(" ", token.content)))
        elif token.type == "inline":
            said = _inline(token.children or [], url, text.parts["links"])
            pieces.append(said)
            item = max((place for place, (part, _) in enumerate(unclosed) if part == "items"), default=None)
            for place, (part, found) in enumerate(unclosed):
                if part != "items" or place == item:  # an item is not what the items within it say
                    found.append(said)
    text.words = "\n".join(pieces)
    return text


def _inline(tokens: Sequence[Token], url: str, links: list[Hashable]) -> str:
    """Return what they say, adding the links among them to *links*."""
    said: list[str] = []
    link: tuple[str, int] | None = None
    for token in tokens:
        if token.type in ("text", "code_inline"):
            said.append(token.content)
        elif token.type in ("softbreak", "hardbreak"):
            said.append("\n")
        elif token.type == "html_inline" and re.match(r"</?(br|td|th|tr|li|p|div)\b", token.content, re.IGNORECASE):
            said.append(" ")
        elif token.type == "link_open":
            link = str(token.attrGet("href") or ""), len(said)
        elif token.type == "link_close" and link:
            if words_of_link := plain("".join(said[link[1] :])):
                links.append((_address(link[0], url), words_of_link))
            link = None
    return "".join(said)


def structured(source: str, url: str) -> Text:
    """Return the same of HTML that has nothing but what is true."""
    soup = BeautifulSoup(source, "html.parser")
    text = Text("".join(_texts(soup)))
    for element in soup.find_all():
        part = _ELEMENTS.get(element.name)
        said = plain(_own(element) if part == "items" else "".join(_texts(element)))
        if said and part:
            text.parts[part].append(said)
        elif said and element.name == "a" and element.get("href"):
            text.parts["links"].append((_address(str(element["href"]), url), said))
    return text


def _texts(element: Tag) -> Iterator[str]:
    """The text of an element, its blocks apart."""
    for child in element.children:
        if isinstance(child, Tag):
            apart = "\n" if child.name in _BLOCKS else ""
            yield apart
            yield from _texts(child)
            yield apart
        elif type(child) is NavigableString:  # no comment
            yield str(child)


def _own(item: Tag) -> str:
    """The text of a list item without the lists in it."""
    return "".join(
        _own(child) if isinstance(child, Tag) else str(child)
        for child in item.children
        if not (isinstance(child, Tag) and child.name in ("ul", "ol"))
    )


def _address(href: str, url: str) -> str:
    """Write a URL so that two ways to write the same are the same."""
    try:
        href = urljoin(url, href.strip())
    except ValueError:  # it is none
        return href
    return unquote(href).rstrip("/").replace(" ", "")


@cache
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": 200}).enable(["table", "strikethrough"])


def mean(numbers: Iterable[float]) -> float:
    """Return the mean, or not a number where there are none."""
    some = list(numbers)
    return statistics.fmean(some) if some else float("nan")


def share(counts: Iterable[tuple[int, int]]) -> float:
    """Return what is found of what there is."""
    found, there = (sum(column) for column in zip(*counts, strict=True))
    return found / there if there else float("nan")


def interval(differences: Sequence[float], resamples: int = 2000) -> tuple[float, float]:
    """Return what the mean of *differences* lies between with 95 % confidence, by the bootstrap over the pages."""
    choose = random.Random(0).choices
    means = sorted(statistics.fmean(choose(differences, k=len(differences))) for _ in range(resamples))
    return means[round(resamples * 0.025)], means[round(resamples * 0.975) - 1]
