"""
A tree -> Markdown, by markdownify's converter, fed with the kept part of the page alone.

Nothing that a front end would fetch or run survives: images become their alternative text, links lead to http(s) or
become text, and text that merely looks like a link, an image, a tag or a fence of code is kept from being one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

from bs4.element import NavigableString, Tag
from markdownify import ATX, MarkdownConverter

from ..clean import one_line
from .tree import BLOCKS, HEADINGS, Element

# Our own marks while the text is made. `tree` lets no page write these characters.
_FENCE, _LINK, _TO, _END = "\ue000", "\ue001", "\ue002", "\ue003"

_FENCED = re.compile(f"({_FENCE}{{3,}}[^{_FENCE}]*{_FENCE}{{3,}})")
_MARKS = str.maketrans({_FENCE: "`", _LINK: "[", _END: ")"})
_LANGUAGE = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source|highlight|brush:?)[-\s]?([A-Za-z][\w+#.-]{0,19})(?=\s|$)"
)
_NO_LANGUAGE = frozenset({"none", "text", "default", "plain", "plaintext", "nohighlight", "notranslate"})
_EXPONENT = re.compile(r"[+\u2212-]?[0-9n]{1,3}")
_ALT_LENGTH = 300  # characters
_ALT_WORDS = 3  # fewer name the picture and do not describe it
_MOST_COLUMNS = 50  # that one cell may span
_SAME_NAME = frozenset("p blockquote ul ol li dl dt dd table caption tr td th pre hr".split()) | HEADINGS
_COMPLEX = HEADINGS | {"table", "ul", "ol", "pre", "blockquote", "section", "article"}


def to_markdown(root: Element, links: Mapping[str, str]) -> str:
    """
    Write the tree as Markdown.

    Args:
        root: What to write.
        links: The absolute URL of each ``href`` that may be kept; every other link becomes text.

    Raises:
        RecursionError: The caller's own stack is nearly used up.

    """
    text = _Converter(links).convert_soup(_tag(root))
    pieces = _FENCED.split(text)
    pieces[::2] = [_prose(piece) for piece in pieces[::2]]
    return "".join(pieces).translate(_MARKS).replace(_TO, "](").strip()


def _prose(text: str) -> str:
    text = text.replace("](", "]\\(").replace("![", "! [").replace(f"!{_LINK}", f"! {_LINK}")
    text = re.sub(r"^([ >]*)(?=```|~~~)", r"\1\\", text, flags=re.MULTILINE)
    text = re.sub(r"(?<=\S) {2,}(?=\S)", " ", text)
    text = re.sub(r"^ (?=\S)", "", text, flags=re.MULTILINE)
    text = re.sub(r"(?<![ \t])[ \t]+$", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text)


class _Text(NavigableString):
    """A string of the tree that the converter walks, without BeautifulSoup's bookkeeping."""

    __slots__ = ("next_sibling", "parent", "previous_sibling")  # a page has tens of thousands

    def __new__(cls, text: str) -> Self:
        string = str.__new__(cls, text)
        string.parent = string.next_sibling = string.previous_sibling = None
        return string


class _Tag(Tag):
    """An element of that tree. It answers what the converter asks, and nothing else."""

    __slots__ = ("contents", "element", "name", "next_sibling", "ordinal", "parent", "previous_sibling")
    attrs: ClassVar[dict[str, Any]] = {}  # type: ignore[misc]  # the converters ask `element`

    def __init__(self, name: str, element: Element) -> None:
        self.name = name
        self.element = element
        self.contents = []
        self.parent = self.next_sibling = self.previous_sibling = None
        self.ordinal = 0

    def __bool__(self) -> bool:
        return True

    @property
    def children(self) -> Iterator[Any]:
        return iter(self.contents)

    def find_parent(self, name: Any = None, *_: Any, **__: Any) -> Any:
        parent: Any = self.parent
        while parent is not None and parent.name != name:
            parent = parent.parent
        return parent

    def add(self, child: _Tag | _Text) -> None:
        if self.contents:
            child.previous_sibling = self.contents[-1]
            self.contents[-1].next_sibling = child
        child.parent = self
        self.contents.append(child)


def _tag(root: Element) -> _Tag:
    """Mirror the tree. Code becomes one string; tables that only lay out the page become plain blocks."""
    top = _Tag("div", root)
    waiting: list[tuple[Element, _Tag, bool]] = [(root, top, False)]
    while waiting:
        element, tag, laid_out = waiting.pop()
        if element.name == "table":
            laid_out = _is_layout(element)
            tag.name = "div" if laid_out else "table"
        if element.name == "pre":
            tag.add(_Text(_code(element)))
            continue
        number = 0
        for child in element.children:
            if isinstance(child, str):
                tag.add(_Text(child))
                continue
            mirrored = _Tag(_name(child.name, laid_out), child)
            if child.name == "li":
                number += 1
                mirrored.ordinal = number
            tag.add(mirrored)
            waiting.append((child, mirrored, laid_out))
    return top


def _name(name: str, laid_out: bool) -> str:
    if laid_out and name in {"tr", "td", "th", "caption"}:
        return "div"
    if name in {"menu", "dir"}:
        return "ul"
    return "div" if name in BLOCKS and name not in _SAME_NAME else {"tt": "code"}.get(name, name)


def _is_layout(table: Element) -> bool:
    """A table of data has rows of several cells, and no page inside a cell."""
    rows = [element for element in table.elements() if element.name == "tr"]
    if table.get("role") in {"presentation", "none"} or len(rows) < 2:
        return True
    widest = max(sum(isinstance(c, Element) and c.name in {"td", "th"} for c in row.children) for row in rows)
    return widest < 2 or any(e.name in _COMPLEX for e in table.elements() if e is not table)


def _code(pre: Element) -> str:
    """The text of a code block, where each block element and each ``<br>`` is a line."""
    pieces: list[str] = []
    waiting: list[Element | str] = list(reversed(pre.children))
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            pieces.append(node)
        elif node.name == "br":
            pieces.append("\n")
        else:
            waiting += [*(["\n"] if node.name in BLOCKS else []), *reversed(node.children)]
    return "".join(pieces)


def _language(pre: Element) -> str:
    """From the class of the code block, of the code in it, or of what is around it."""
    inner = next((e for e in pre.elements() if e.name == "code"), None)
    around = (pre.parent, pre.parent.parent if pre.parent else None)
    for element in (inner, pre, *around):
        if element is not None:
            for found in _LANGUAGE.findall(element.get("class")[:500]):
                if found.lower() not in _NO_LANGUAGE:
                    return str(found.lower())
    return ""


class _Converter(MarkdownConverter):
    def __init__(self, links: Mapping[str, str]) -> None:
        super().__init__(heading_style=ATX, bullets="-", escape_asterisks=False, escape_underscores=False)
        self.links = links

    def escape(self, text: str, parent_tags: set[str]) -> str:
        return re.sub(r"<(?=[A-Za-z/!?]|$)", "&lt;", text)

    def convert_a(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        label = text.strip()
        url = self.links.get(el.element.get("href"))
        if not label or (parent_tags & HEADINGS and not any(map(str.isalnum, label))):
            return " " if text else ""  # an empty link, or the mark beside a heading
        if url is None or _LINK in label or _FENCE in label or "_noformat" in parent_tags:
            return text
        if label.count("[") != label.count("]"):
            label = label.replace("[", "\\[").replace("]", "\\]")
        before, after = (" " if text[0] == " " else ""), (" " if text[-1] == " " else "")
        first, newline, rest = label.partition("\n")
        if not newline:
            return f"{before}{_LINK}{label}{_TO}{url}{_END}{after}"
        # A link around whole blocks: its first line carries it, so that headings and lists stay what they are.
        mark, line = re.fullmatch(r"(#{1,6} |- |> |\d+\. |\|)?(.*)", first.strip(), re.DOTALL).groups("")  # type: ignore[union-attr]
        linked = first if mark == "|" else f"{mark}{_LINK}{line}{_TO}{url}{_END}"
        return f"\n\n{linked}\n{rest}\n\n"

    def convert_img(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        """Images are their alternative text, where it says something that the text beside them does not."""
        alt = one_line(el.element.get("alt"), _ALT_LENGTH)
        link = el.find_parent("a")
        wanted = link.element.letters == 0 if link is not None else len(alt.split()) >= _ALT_WORDS
        return f" {self.escape(alt, parent_tags)} " if alt and wanted else ""

    def convert_pre(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        code = text.rstrip().strip("\n")
        if not code:
            return ""
        if "_inline" in parent_tags:
            return " ".join(code.split())
        longest = max(map(len, re.findall("`+", code)), default=0)
        fence = _FENCE * max(3, longest + 1)
        return f"\n\n{fence}{_language(el.element)}\n{code}\n{fence}\n\n"

    def convert_li(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        text = text.strip()
        if not text:
            return ""
        bullet = "- "
        if isinstance(el.parent, _Tag) and el.parent.name == "ol":
            start = el.parent.element.get("start")
            bullet = f"{(int(start) if re.fullmatch('[0-9]{1,9}', start) else 1) + el.ordinal - 1}. "
        indent = "\n" + " " * len(bullet)
        return bullet + re.sub(r"\n(?!\n|$)", indent, text) + "\n"

    def convert_hN(self, n: int, el: _Tag, text: str, parent_tags: set[str]) -> str:  # noqa: N802 (markdownify's name)
        title = " ".join(text.split())
        if not title or "_inline" in parent_tags:
            return title
        return f"\n\n{'#' * max(1, min(6, n))} {title}\n\n"

    def convert_b(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        return _around("**", text, parent_tags)

    def convert_em(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        return _around("*", text, parent_tags)

    def convert_del(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        return _around("~~", text, parent_tags)

    convert_strong, convert_i, convert_s = convert_b, convert_em, convert_del

    def convert_sup(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        return f"^{text}" if _EXPONENT.fullmatch(text) else text

    def convert_br(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        return " " if "_inline" in parent_tags else "\n"

    def convert_td(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        span = el.element.get("colspan")
        columns = min(_MOST_COLUMNS, max(1, int(span))) if re.fullmatch("[0-9]{1,4}", span) else 1
        return f" {' '.join(text.split())} ".replace("|", "\\|") + "|" + "  |" * (columns - 1)

    convert_th = convert_td

    def convert_tr(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        return f"|{text.rstrip()}\n" if text.strip("| \n") else ""

    def convert_table(self, el: _Tag, text: str, parent_tags: set[str]) -> str:
        """Every row gets as many cells as the widest, since what is beyond the first row's is not shown."""
        lines = text.strip().split("\n")
        first = next((i for i, line in enumerate(lines) if line.startswith("|")), len(lines))
        rows = [line for line in lines[first:] if line.startswith("|")]
        widths = [len(re.findall(r"(?<!\\)\|", row)) - 1 for row in rows]
        if not rows:
            return text
        rows[0] += "  |" * (max(widths) - widths[0])
        table = [rows[0], "|" + " --- |" * max(widths), *rows[1:]]
        return "\n\n" + "\n".join([*lines[:first], *([""] if first else []), *table]) + "\n\n"


def _around(mark: str, text: str, parent_tags: set[str]) -> str:
    inner = text.strip()
    if not inner or "\n" in inner or parent_tags & (HEADINGS | {"_noformat", "th"}):
        return text
    before, after = text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]
    return f"{before}{mark}{inner}{mark}{after}"
