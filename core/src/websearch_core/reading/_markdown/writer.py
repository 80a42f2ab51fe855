"""
A tree -> Markdown, by markdownify's converter, which walks over the tree itself: no soup is made of it.

Nothing that a front end would fetch or run survives: images become their alternative text, links lead to http(s) or
become text, and text that merely looks like a link, an image, a tag, a heading or a fence of code is kept from being
one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from typing import ClassVar
from urllib.parse import urlsplit

from markdownify import ATX, MarkdownConverter

from ..._text.invisible import one_line
from .._element import BLOCKS, HEADINGS, Element
from .codeblock import code_text, is_gutter, language
from .fences import code_fence
from .footnotes import footnotes, leads_back, mark, place, without_mark
from .lines import (
    BOLD,
    BREAK,
    CELL,
    CODE,
    END,
    HASH,
    INDENT,
    LINK,
    QUOTE,
    TAG,
    TICK,
    TO,
    finished,
    tidy,
)
from .table import caption, cell, is_data, row, table

_ITEM = re.compile(f"(?:{HASH}+|-|{QUOTE}|[0-9]+\\.) ")
_STRUCTURE = re.compile(f"[{CODE}{HASH}{QUOTE}|]|(?:-|[0-9]+\\.) ")
_MARGIN = re.compile(r"(?:[ >]|- |[0-9]+\. )*")
_CODE_LINE = re.compile(f"^(.*){CODE}([0-9]+){CODE}$", re.MULTILINE)
_EXPONENT = re.compile(r"[+\u2212-]?[0-9n]{1,3}")
_NUMBER = re.compile("[0-9]{1,9}")
_PICTURE = re.compile(r"\.(?:avif|bmp|gif|jpe?g|png|svg|tiff?|webp)$", re.IGNORECASE)
_TEX_PICTURES = frozenset({"latex", "tex", "mwe-math-fallback-image-inline", "mwe-math-fallback-image-display"})
_ALT_LENGTH = 300  # characters
_ALT_WORDS = 3  # fewer name the picture and do not describe it
_TABLE_PARTS = frozenset({"tr", "td", "th", "caption"})
_COPY = frozenset({"copy", "copy code", "copy to clipboard", "copied", "copied!", "copy link"})

# What a converter of markdownify holds, once for all: to collect its options takes as long as to write a short page.
_SET_UP = vars(MarkdownConverter(heading_style=ATX, bullets="-", escape_asterisks=False, escape_underscores=False))

Context = frozenset[str]
_PLAIN: Context = frozenset()
_UNMARKED: Context = frozenset({"heading", "_noformat", "th"})  # where bold and the like say nothing more
_INLINE: Context = frozenset({"_inline"})
_NO_FORMAT: Context = frozenset({"_noformat"})
_ONE_LINE: Context = frozenset({"_inline", "_noformat", "a"})
# What markdownify calls the parent tags: of these it and we want to know that they are around.
_AROUND: dict[str, Context] = {
    **dict.fromkeys(HEADINGS, _INLINE | {"heading"}),
    **dict.fromkeys(("code", "kbd", "samp", "tt", "math"), _NO_FORMAT),
    "td": _INLINE | {"td"},
    "th": _INLINE | {"td", "th"},
    "tr": _PLAIN,
    "dt": _INLINE,
    "caption": _INLINE,
    "pre": _NO_FORMAT,
    **{name: frozenset({name}) for name in ("a", "dd", "li", "sup", "table")},
}


def to_markdown(root: Element, links: Mapping[str, str]) -> str:
    """
    Write the tree as Markdown.

    Args:
        root: What to write.
        links: The absolute URL of each ``href`` that may be kept; every other link becomes text.

    """
    converter = _Converter(root, links)
    return converter.with_code(finished(converter.process_tag(root)))


class _Converter(MarkdownConverter):
    """
    markdownify's converter for one page.

    Its functions of conversion, and ours in their place, write each element from the text of what is inside. The walk
    that calls them is ours: it takes our tree as it is, and takes each string once.
    """

    convert_div: ClassVar[Callable[..., str]]  # markdownify's

    def __init__(self, root: Element, links: Mapping[str, str]) -> None:
        vars(self).update(_SET_UP)
        self.root = root
        self.links = links
        self.footnotes = footnotes(root, links)
        self.numbers: Counter[Element] = Counter()  # the last of each list
        self.titles = 0
        self.pictured: Element | None = None  # the last link that is a picture alone
        self.code: list[str] = []
        self.speaking: dict[Element, bool] = {}  # of what has pictures in it
        self.captions: dict[Element, str] = {}  # of figures

    def process_tag(self, node: Element, parent_tags: Context = _PLAIN) -> str:
        """
        Convert the element and all inside it; without recursion, so that no depth of it is too much.

        Half of all elements hold nothing or one text, and are written at once. Of boxes that hold nothing but one
        another only one is written, since all would come to the same. Neither is done where any may be a footnote.
        """
        waiting: list[tuple[Element, str, Context, Context, Iterator[Element | str], list[str]]] = []
        element, name, around, inside = node, "div", parent_tags, parent_tags
        children, pieces = iter(node.children), list[str]()
        direct = not self.footnotes
        while True:
            for child in children:
                if isinstance(child, str):
                    pieces.append(TAG.sub("&lt;", child) if "<" in child and "_noformat" not in inside else child)
                    continue
                tag, held, within = child.name, child.children, inside
                if tag in _AROUND:
                    tag, held, within = self._entered(child, inside)
                elif direct and tag in _BOXES:
                    while len(held) == 1 and isinstance(box := held[0], Element) and box.name in _WITHIN_BOXES:
                        held = box.children
                text = held[0] if held else ""
                if direct and len(held) < 2 and isinstance(text, str):
                    if "<" in text and "_noformat" not in within:
                        text = TAG.sub("&lt;", text)
                    if convert := _CONVERSIONS.get(tag):
                        text = convert(self, child, text, inside) or ("\n" if tag in _PARTING else "")
                    pieces.append(text)
                    continue
                waiting.append((element, name, around, inside, children, pieces))
                element, name, around, inside, children, pieces = child, tag, inside, within, iter(held), []
                break
            else:
                text = "".join(pieces)
                if convert := _CONVERSIONS.get(name):
                    text = convert(self, element, text, around) or ("\n" if name in _PARTING else "")
                if not direct and element.get("id") in self.footnotes and name != "li":
                    text = f"{_edges(text)[0]}{self._note(element, text.lstrip())}"
                if not waiting:
                    return text
                element, name, around, inside, children, pieces = waiting.pop()
                pieces.append(text)

    def _entered(self, element: Element, around: Context) -> tuple[str, list[Element | str], Context]:
        """Return as what an element is written, from which children, and what these are in."""
        name = element.name
        if name == "pre":
            return name, [code_text(element)], _NO_FORMAT
        if (name in _TABLE_PARTS and "table" not in around) or (name == "table" and not is_data(element)):
            return "div", [] if is_gutter(element) else element.children, around
        return name, element.children, around | _AROUND[name]

    def with_code(self, text: str) -> str:
        """Put each block of code where it belongs, as far to the right as what is around it."""
        return _CODE_LINE.sub(self._fenced, text) if self.code else text

    def _fenced(self, place: re.Match[str]) -> str:
        before = place[1]
        margin = re.sub("[^>]", " ", before)
        if not _MARGIN.fullmatch(before):  # on a line of its own then
            before, margin = f"{before.rstrip()}\n", ""
        first, *rest = self.code[int(place[2])].split("\n")
        return "\n".join([before + first, *(margin + line if line else margin.rstrip() for line in rest)])

    def convert_a(self, el: Element, text: str, parent_tags: Context) -> str:
        label = text.strip()
        href = el.get("href")
        if not label:
            return " " if text else ""
        before, after = _edges(text) if len(label) < len(text) else ("", "")
        if "#" in href and (note := self._reference(el, label, parent_tags)) is not None:
            return f"{before}{note}{after}"
        url = self.links.get(href)
        pictured = self.pictured is el
        if pictured and (href.startswith("#") or _PICTURE.search(urlsplit(url or "").path)):
            return text if len(label.split()) >= _ALT_WORDS else " "
        if ("heading" in parent_tags or href.startswith("#")) and not any(map(str.isalnum, label)):
            return " "  # the mark beside a heading, or the way back up
        if url is None or LINK in label or CODE in label or CELL in label or "_noformat" in parent_tags:
            return text
        if ("[" in label or "]" in label) and label.count("[") != label.count("]"):
            label = label.replace("[", "\\[").replace("]", "\\]")
        if _has_blocks(label):
            inner = tidy(label).split("\n")
            if "" in inner or any(map(_STRUCTURE.match, inner)):
                return _linked(inner, url)
            label = " ".join(inner)
        return f"{before}{LINK}{label}{TO}{url}{END}{after}"

    def _reference(self, el: Element, label: str, parent_tags: Context) -> str | None:
        """Return the mark of a footnote instead of a link to it, nothing instead of the way back, else None."""
        if self.footnotes and leads_back(el, label):
            return ""
        found = mark(el, label)
        return found if found and (place(el) in self.footnotes or "sup" in parent_tags) else None

    def _note(self, el: Element, text: str) -> str:
        """Begin a note with the mark that refers to it."""
        return f"{self.footnotes[el.get('id')]} {without_mark(text)}"

    @cached_property
    def _worded(self) -> set[str]:
        """Where the links lead that say so in words."""
        links = (element for element in self.root.elements() if element.name == "a")
        return {self.links.get(link.get("href"), "") for link in links if self._speaks(link)}

    def _speaks(self, el: Element) -> bool:
        """Whether there is any text in an element."""
        if el not in self.speaking:
            self.speaking[el] = _has_text(el)
        return self.speaking[el]

    @cached_property
    def _lines(self) -> set[str]:
        """What the page says, line by line, and what its pictures say, in small letters."""
        return {" ".join(line.split()) for line in self.root.text().casefold().split("\n")}

    def _is_said(self, line: str) -> bool:
        """Whether the page says this somewhere, or another picture before; note that from now on it does."""
        known = line in self._lines
        self._lines.add(line)
        return known

    def _caption(self, figure: Element) -> str:
        """What is written in a figure, in small letters."""
        if figure not in self.captions:
            self.captions[figure] = figure.text().casefold()
        return self.captions[figure]

    def convert_img(self, el: Element, text: str, parent_tags: Context) -> str:
        """Images are their alternative text, where it says something that neither the text nor an image before does."""
        alt = one_line(el.get("alt"), _ALT_LENGTH)
        if not alt:
            return ""
        if not _TEX_PICTURES.isdisjoint(el.get("class").split()):
            return self.convert_math(el, alt, parent_tags)
        link = _enclosing(el, "a") if "a" in parent_tags else None
        if link is not None:
            if self._speaks(link) or self.links.get(link.get("href")) in self._worded:
                return ""
            self.pictured = link
        elif len(alt.split()) < _ALT_WORDS or ("table" not in parent_tags and self._is_said(alt.casefold())):
            return ""
        elif figure := _enclosing(el, "figure"):
            caption = self._caption(figure)
            if caption and (alt.casefold() in caption or caption in alt.casefold()):
                return ""
        if "heading" in parent_tags and (heading := _enclosing(el, *HEADINGS)) and self._speaks(heading):
            return ""
        return f" {TAG.sub('&lt;', alt)} "

    def convert_math(self, el: Element, text: str, parent_tags: Context) -> str:
        tex = TAG.sub("< ", text.strip()).replace("](", "] (").replace("![", "! [")
        if not tex:
            return ""
        if "td" in parent_tags:
            tex = tex.replace("\\|", "\\Vert ").replace("|", "\\vert ")
        if el.get("display") == "block" and "_inline" not in parent_tags:
            return f"\n\n$${tex}$$\n\n"
        return f"${tex}$"

    def convert_pre(self, el: Element, text: str, parent_tags: Context) -> str:
        code = text.rstrip().strip("\n")
        if not code or is_gutter(el) or (el.parent is not None and is_gutter(el.parent)):
            return ""
        if "_noformat" in parent_tags:
            return f"\n{code}\n"
        if "_inline" in parent_tags:
            return self.convert_code(el, " ".join(code.split()), parent_tags)
        return self._block(code, language(el))

    def _block(self, code: str, written_in: str) -> str:
        code = code.strip("\n")
        ticks = code_fence(code)
        self.code.append(f"{ticks}{written_in}\n{code}\n{ticks}")
        return f"\n\n{CODE}{len(self.code) - 1}{CODE}\n\n"

    def convert_code(self, el: Element, text: str, parent_tags: Context) -> str:
        code = text.strip()
        if not code or "_noformat" in parent_tags:
            return text
        if _has_blocks(code):  # what is inside was written for a text
            code = code_text(el)
            if parent_tags.isdisjoint(_ONE_LINE):
                return self._block("\n".join(map(str.strip, code.split("\n"))), language(el))
        before, after = _edges(text)
        code = " ".join(code.split())
        if "`" not in code:
            return f"{before}{TICK}{code}{TICK}{after}"
        ticks = code_fence(code, least=1)
        return f"{before}{ticks} {code} {ticks}{after}"

    def convert_list(self, el: Element, text: str, parent_tags: Context) -> str:
        items = text.strip()
        if "_inline" in parent_tags:
            return f" {items.rstrip('; ')} "
        if not items:
            return ""
        return f"{BREAK}{items}\n\n" if "li" in parent_tags else f"\n\n{items}\n\n"

    def convert_li(self, el: Element, text: str, parent_tags: Context) -> str:
        holder = el.parent
        bullet = f"{self._number(el, holder)}. " if holder is not None and holder.name == "ol" else "- "
        if "_inline" in parent_tags:
            item = text.strip()
            return f"{item}; " if item else ""
        item = tidy(text)
        if not item:
            return ""
        if self.footnotes and self.footnotes.get(el.get("id"), f"[{bullet[:-2]}]") != f"[{bullet[:-2]}]":
            item = self._note(el, item)
        if "\n" not in item and CODE not in item:
            return f"{BREAK}{bullet}{item}{BREAK}"
        indent = INDENT * len(bullet)
        first, _, rest = item.partition("\n")
        if rest:
            item = f"{first}\n{_indented(rest, indent)}"
        if CODE in first and first[0] != CODE:  # a fence has one bullet before it, at most
            bullet = f"{bullet.rstrip()}\n{indent}"
        # Right below a text, only a list from 1 on is one, and else a fence in it none.
        edge = "\n\n" if CODE in first and bullet[:2] not in {"- ", "1."} else BREAK
        return f"{edge}{bullet}{item}{BREAK}"

    def _number(self, el: Element, holder: Element) -> int:
        if holder not in self.numbers:
            self.numbers[holder] = int(holder.get("start")) - 1 if _NUMBER.fullmatch(holder.get("start")) else 0
        stated = el.get("value")
        self.numbers[holder] = int(stated) if _NUMBER.fullmatch(stated) else self.numbers[holder] + 1
        return self.numbers[holder]

    def convert_input(self, el: Element, text: str, parent_tags: Context) -> str:
        """The boxes of a list of tasks: the tree keeps no others."""
        return ("[x] " if "checked" in el.attributes else "[ ] ") if "li" in parent_tags else ""

    def convert_hN(self, n: int, el: Element, text: str, parent_tags: Context) -> str:  # noqa: N802 (markdownify's name)
        title = " ".join(text.split())
        if not title or "_inline" in parent_tags:
            return f" {title} "
        self.titles += n == 1
        deeper = self.titles > 1  # a text has one title: what else is written as one is a part of it
        return f"\n\n{HASH * min(6, n + deeper)} {title}\n\n"

    def convert_heading(self, el: Element, text: str, parent_tags: Context) -> str:
        return self.convert_hN(int(el.name[1]), el, text, parent_tags)

    def convert_b(self, el: Element, text: str, parent_tags: Context) -> str:
        return _marked(BOLD, text, parent_tags)

    def convert_em(self, el: Element, text: str, parent_tags: Context) -> str:
        return _marked("*", text, parent_tags)

    def convert_del(self, el: Element, text: str, parent_tags: Context) -> str:
        return _marked("~~", text, parent_tags)

    def convert_summary(self, el: Element, text: str, parent_tags: Context) -> str:
        """What can be unfolded below it: no heading, but set apart."""
        label = text.strip()
        bold = label if LINK in label or BOLD in label else _marked(BOLD, label, parent_tags)
        return self.convert_div(el, bold, parent_tags)

    def convert_sup(self, el: Element, text: str, parent_tags: Context) -> str:
        return f"^{text}" if _EXPONENT.fullmatch(text) else text

    def convert_br(self, el: Element, text: str, parent_tags: Context) -> str:
        return " " if "_inline" in parent_tags else "\n"

    def convert_hr(self, el: Element, text: str, parent_tags: Context) -> str:
        return " " if "_inline" in parent_tags else "\n\n---\n\n"

    def convert_rt(self, el: Element, text: str, parent_tags: Context) -> str:
        """How a word is read, after it; the page's own brackets for that (``rp``) are left out."""
        reading = text.strip()
        return f"({reading})" if reading else ""

    def convert_rp(self, el: Element, text: str, parent_tags: Context) -> str:
        return ""

    def convert_button(self, el: Element, text: str, parent_tags: Context) -> str:
        return "" if text.strip().lower() in _COPY else text

    def convert_blockquote(self, el: Element, text: str, parent_tags: Context) -> str:
        if "_inline" in parent_tags:
            return f" {text.strip()} "
        quoted = tidy(text)
        marked = (f"{QUOTE} {line}" if line else QUOTE for line in quoted.split("\n"))
        return "\n\n" + "\n".join(marked) + "\n\n" if quoted else ""

    def convert_dt(self, el: Element, text: str, parent_tags: Context) -> str:
        term = " ".join(text.split())
        if "_inline" in parent_tags:
            return f" {term}: " if term else ""
        return f"\n\n{term}{BREAK}" if term else ""

    def convert_dd(self, el: Element, text: str, parent_tags: Context) -> str:
        if "_inline" in parent_tags:
            return f" {text.strip()} "
        meaning = tidy(text)
        if not meaning or _STRUCTURE.match(meaning):
            return f"\n\n{meaning}\n\n"
        first, _, rest = meaning.partition("\n")
        if rest and "dd" not in parent_tags:  # else it would be as far to the right as code
            rest = _indented(rest, INDENT * 2)
        return f"{BREAK}: {first}\n{rest}\n\n" if rest else f"{BREAK}: {first}{BREAK}"

    def convert_td(self, el: Element, text: str, parent_tags: Context) -> str:
        return cell(el, text)

    def convert_tr(self, el: Element, text: str, parent_tags: Context) -> str:
        return row(text)

    def convert_caption(self, el: Element, text: str, parent_tags: Context) -> str:
        return caption(text)

    def convert_table(self, el: Element, text: str, parent_tags: Context) -> str:
        return f"\n\n{table(el, text)}\n\n"

    convert_strong, convert_i, convert_s, convert_strike = convert_b, convert_em, convert_del, convert_del
    convert_kbd = convert_samp = convert_tt = convert_code
    convert_ul = convert_ol = convert_menu = convert_dir = convert_list
    convert_th = convert_td


_Conversion = Callable[[_Converter, Element, str, Context], str]
_OWN = (
    "a b blockquote br button caption code dd del dir dt em figcaption hr i img input kbd li math menu ol p pre q rp "
    "rt s samp strike strong summary sup table td th tr tt ul"
)
_PARTING = BLOCKS - frozenset(
    "caption dd dt li table tbody td tfoot th thead tr ul ol menu dir".split()
)  # though empty
# Only what is named here: a page can give its elements any name, such as that of some other method.
_CONVERSIONS: dict[str, _Conversion] = {
    **dict.fromkeys(BLOCKS - {"tbody", "tfoot", "thead"}, _Converter.convert_div),
    **{name: getattr(_Converter, f"convert_{name}") for name in _OWN.split()},
    **dict.fromkeys(HEADINGS, _Converter.convert_heading),
}
_BOXES = frozenset(name for name, convert in _CONVERSIONS.items() if convert is _Converter.convert_div)
_WITHIN_BOXES = _BOXES | {"p"}


def _marked(sign: str, text: str, parent_tags: Context) -> str:
    inner = text.strip()
    if not inner or inner.startswith(sign) or _has_blocks(inner) or not parent_tags.isdisjoint(_UNMARKED):
        return text
    before, after = _edges(text)
    return f"{before}{sign}{inner}{sign}{after}"


def _has_blocks(text: str) -> bool:
    return "\n" in text or BREAK in text or CODE in text


def _edges(text: str) -> tuple[str, str]:
    """What parts a text from what is before and after it."""
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


def _linked(lines: list[str], url: str) -> str:
    """A link around whole blocks: its heading or its first line carries it, so that each block stays what it is."""
    first = next((n for n, line in enumerate(lines) if line[:1] == HASH), 0)
    item = _ITEM.match(lines[first])
    begin = item.end() if item else 0
    line = lines[first][begin:]
    if line and line[0] != "|" and line != "---":
        lines[first] = f"{lines[first][:begin]}{LINK}{line}{TO}{url}{END}"
    return "\n\n" + "\n".join(lines) + "\n\n"


def _indented(text: str, indent: str) -> str:
    return "\n".join(f"{indent}{line}" if line else "" for line in text.split("\n"))


def _enclosing(element: Element, *names: str) -> Element | None:
    around = element.parent
    while around is not None and around.name not in names:
        around = around.parent
    return around


def _has_text(element: Element) -> bool:
    """Whether there is any text in an element; sooner told than what it is."""
    waiting = [element]
    while waiting:
        for child in waiting.pop().children:
            if not isinstance(child, str):
                waiting.append(child)
            elif child and not child.isspace():
                return True
    return False
