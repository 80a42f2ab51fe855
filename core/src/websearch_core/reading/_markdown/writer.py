"""Tree -> Markdown, with conversions like those of markdownify, which walk the tree
directly, without BeautifulSoup; the rare ones are markdownify's own.

The output has nothing that a front end would fetch or run: images become their
alternative text, links lead to http(s) or become text, and text that merely looks like
a link, image, tag, heading or code fence is escaped.
"""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, cached_property
from itertools import islice
from typing import Any
from urllib.parse import urlsplit

from ..._text.invisible import one_line
from ..._text.terms import list_terms
from .._element import BLOCKS, HEADINGS, Element
from .fences import code_fence, code_text, is_gutter, language
from .lines import (
    BOLD,
    BREAK,
    CELL,
    CODE,
    EM,
    END,
    HASH,
    INDENT,
    LINK,
    POINT,
    QUOTE,
    ROW,
    SCRIPT,
    SPAN,
    STRIKE,
    TAG,
    TICK,
    TO,
    find_footnotes,
    finish,
    leads_back,
    mark,
    place,
    strip_mark,
    tidy,
)
from .table import is_data, spanning, table

_ITEM = re.compile(f"(?:{HASH}+|-|{QUOTE}|[0-9]+[.{POINT}]) ")
_STRUCTURE = re.compile(f"[{CODE}{HASH}{QUOTE}|]|(?:-|[0-9]+[.{POINT}]) ")
_MARGIN = re.compile(r"(?:[ >]|- |[0-9]+\. )*")
_CODE_LINE = re.compile(f"^(.*){CODE}([0-9]+){CODE}$", re.MULTILINE)
# a parser would drop these signs at the end of a heading
_CLOSING = re.compile(r"(?<= )#+\Z|\A#+\Z")
_SIGNS = "-+\u2212\u2013"  # with minus and dash
_EXPONENT = re.compile(rf"[{_SIGNS}]?(?:[0-9n]{{1,3}}|[0-9]*[ijkmnpqtxyz])")
# An expression: single letters and numbers, joined by operators.
_EXPRESSION = re.compile(
    rf"[{_SIGNS}]?(?:\d+|[^\W\d]{{1,2}})[\d²³^]*(?:[{_SIGNS}*/.,·=](?:\d+|[^\W\d]{{1,2}})[\d²³^]*){{0,6}}"
)
_NUMBER = re.compile("-?[0-9]{1,9}")
_ROMAN = tuple(
    zip(
        (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1),
        "m cm d cd c xc l xl x ix v iv i".split(),
        strict=True,
    )
)
_PICTURE = re.compile(r"\.(?:avif|bmp|gif|jpe?g|png|svg|tiff?|webp)$", re.IGNORECASE)
_TEX_PICTURES = frozenset(
    {
        "latex",
        "tex",
        "mwe-math-fallback-image-inline",
        "mwe-math-fallback-image-display",
    }
)
_MAX_ALT_LENGTH = 300  # characters
_NEAR = 600  # characters before and after a picture
_REPEATS = 0.6  # share of the words of a description that make it a repetition
_MAX_COMPARED = 200  # pictures: the descriptions of others are written as they are
_MIN_ALT_WORDS = 3  # fewer name the picture without describing it
# words: an alternative text this long would read like one of the text's own sentences
_MIN_SENTENCE = 7
# pictures: a name that more share, such as "Screenshot", does not say where their links
# lead
_MAX_NAMESAKES = 2
_LISTS = frozenset({"dir", "menu", "ol", "ul"})
_TABLE_PARTS = frozenset({"tr", "td", "th", "caption"})
# elements that are not always written as what they are
_DOUBTFUL = _TABLE_PARTS | {"table", "pre"}
_UNLINKED = frozenset({LINK, CODE, CELL})  # what no link goes around
_COPY = frozenset(
    {"copy", "copy code", "copy to clipboard", "copied", "copied!", "copy link"}
)

Context = frozenset[str]
_PLAIN: Context = frozenset()
# where bold and the like add nothing
_UNMARKED: Context = frozenset({"heading", "_noformat", "th"})
_INLINE: Context = frozenset({"_inline"})
_NO_FORMAT: Context = frozenset({"_noformat"})
_ONE_LINE: Context = frozenset({"_inline", "_noformat", "a"})
# The parent tags, in markdownify's sense, that its conversions and those here ask
# about.
_AROUND: dict[str, Context] = {
    **dict.fromkeys(HEADINGS, _INLINE | {"heading"}),
    **dict.fromkeys(("code", "kbd", "samp", "tt", "math"), _NO_FORMAT),
    "td": _INLINE | {"td"},
    "th": _INLINE | {"td", "th"},
    "tr": _PLAIN,
    "dt": _INLINE,
    "caption": _INLINE,
    "pre": _NO_FORMAT,
    **dict.fromkeys(("b", "strong"), frozenset({BOLD})),
    **dict.fromkeys(("em", "i"), frozenset({EM})),
    **dict.fromkeys(("del", "s", "strike"), frozenset({STRIKE})),
    **{name: frozenset({name}) for name in ("a", "dd", "li", "sup", "table")},
}


def to_markdown(root: Element, links: Mapping[str, str]) -> str:
    """Write the tree as Markdown; *links* has the absolute URL of each ``href`` to
    keep.
    """
    written = _Converter(root, links).write()
    if not written and any(
        element.name == "img" and element.get("alt") for element in root.elements()
    ):
        written = _Converter(root, links, only_pictures=True).write()
    return written


class _Converter:
    """A converter for one page.

    The ``convert_`` methods, with the signature of markdownify's, write each element
    from the text inside it. `process_tag`, which calls them, walks the `Element` tree
    as it is, and handles each string once.
    """

    def __init__(
        self, root: Element, links: Mapping[str, str], *, only_pictures: bool = False
    ) -> None:
        self.root = root
        self.links = links
        # whether their alternative texts are all that there is to write
        self.only_pictures = only_pictures
        self.footnotes = find_footnotes(root, links)
        self.numbers: Counter[Element] = Counter()  # the latest number of each list
        self.begun: set[Element | None] = set()  # parents of the items written so far
        self.titles = 0
        # the latest link with only a picture inside
        self.picture_link: Element | None = None
        self.code: list[str] = []
        self._join = cache(frozenset[str].union)
        self._contains_text = cache(_has_text)
        self._caption = cache(lambda figure: figure.text().casefold())

    def write(self) -> str:
        """Return the whole page."""
        text = finish(self.process_tag(self.root))
        return _CODE_LINE.sub(self._insert_code, text) if self.code else text

    def process_tag(self, node: Element, parent_tags: Context = _PLAIN) -> str:
        """Convert the element and all inside it, without recursion, so that no depth is
        too much.

        Half of all elements contain nothing or a single text; they are written at once.
        Of boxes that contain nothing but each other only one is written, since the
        result is the same. Neither is done if the page has footnotes.
        """
        waiting: list[
            tuple[Element, str, Context, Context, Iterator[Element | str], list[str]]
        ] = []
        element, name, around, inside = node, "div", parent_tags, parent_tags
        children, pieces = iter(node.children), list[str]()
        direct, join = not self.footnotes, self._join
        while True:
            for child in children:
                if isinstance(child, str):
                    pieces.append(
                        _escape(child, inside)
                        if "<" in child or "*" in child
                        else child
                    )
                    continue
                tag, held, within = child.name, child.children, inside
                if (own := _AROUND.get(tag)) is not None:
                    if tag in _DOUBTFUL and not (
                        "table" in inside and tag in _TABLE_PARTS
                    ):
                        tag, held, within = self._enter(child, inside)
                    else:
                        within = join(inside, own)
                elif direct and tag in _BOXES:
                    while (
                        len(held) == 1
                        and isinstance(box := held[0], Element)
                        and box.name in _WITHIN_BOXES
                    ):
                        held = box.children
                text = held[0] if held else ""
                if direct and len(held) < 2 and isinstance(text, str):
                    if "<" in text or "*" in text:
                        text = _escape(text, within)
                    if convert := _CONVERSIONS.get(tag):
                        text = convert(self, child, text, inside) or (
                            "\n" if tag in _SEPARATING else ""
                        )
                    pieces.append(text)
                    continue
                waiting.append((element, name, around, inside, children, pieces))
                element, name, around, inside, children, pieces = (
                    child,
                    tag,
                    inside,
                    within,
                    iter(held),
                    [],
                )
                break
            else:
                text = "".join(pieces)
                if convert := _CONVERSIONS.get(name):
                    text = convert(self, element, text, around) or (
                        "\n" if name in _SEPARATING else ""
                    )
                if not direct and element.get("id") in self.footnotes and name != "li":
                    text = f"{_edges(text)[0]}{self._note(element, text.lstrip())}"
                if not waiting:
                    return text
                element, name, around, inside, children, pieces = waiting.pop()
                pieces.append(text)

    def _enter(
        self, element: Element, around: Context
    ) -> tuple[str, list[Element | str], Context]:
        """Return the name to write code or a table as, the children to write, and their
        context.
        """
        name = element.name
        if name == "pre":
            return name, [code_text(element)], _NO_FORMAT
        if name in _TABLE_PARTS or not is_data(element):
            return "div", [] if is_gutter(element) else element.children, around
        return name, element.children, self._join(around, _AROUND[name])

    def _insert_code(self, place: re.Match[str]) -> str:
        """Return a code block to put in its place, indented like the text around it."""
        before = place[1]
        margin = re.sub("[^>]", " ", before)
        if not _MARGIN.fullmatch(before):  # then put it on its own line
            before, margin = f"{before.rstrip()}\n", ""
        first, *rest = self.code[int(place[2])].split("\n")
        return "\n".join(
            [
                before + first,
                *(margin + line if line else margin.rstrip() for line in rest),
            ]
        )

    def convert_div(self, el: Element, text: str, parent_tags: Context) -> str:
        return _separate(text.strip(), parent_tags)

    def convert_p(self, el: Element, text: str, parent_tags: Context) -> str:
        return _separate(text.strip(" \t\r\n"), parent_tags)

    def convert_br(self, el: Element, text: str, parent_tags: Context) -> str:
        return f"{text} " if "_inline" in parent_tags else f"  \n{text}"

    def convert_q(self, el: Element, text: str, parent_tags: Context) -> str:
        written: str = _load_markdownify().convert_q(el, text, parent_tags)
        return written

    def convert_figcaption(self, el: Element, text: str, parent_tags: Context) -> str:
        written: str = _load_markdownify().convert_figcaption(el, text, parent_tags)
        return written

    def convert_a(self, el: Element, text: str, parent_tags: Context) -> str:
        label = text.strip()
        href = el.get("href")
        if not label:
            return " " if text else ""
        before, after = _edges(text) if len(label) < len(text) else ("", "")
        if (
            "#" in href
            and (note := self._reference(el, label, parent_tags)) is not None
        ):
            return f"{before}{note}{after}"
        url = self.links.get(href)
        if self.picture_link is el and (
            href.startswith("#") or _PICTURE.search(urlsplit(url or "").path)
        ):
            return text if len(label.split()) >= _MIN_ALT_WORDS else " "
        if ("heading" in parent_tags or href.startswith("#")) and not any(
            map(str.isalnum, label)
        ):
            return " "  # the anchor of a heading, or a link to the top
        is_plain = label.isprintable()  # without any mark or end of a line
        if (
            url is None
            or "_noformat" in parent_tags
            or not (is_plain or _UNLINKED.isdisjoint(label))
        ):
            return text
        if ("[" in label or "]" in label) and label.count("[") != label.count("]"):
            label = label.replace("[", "\\[").replace("]", "\\]")
        if not is_plain and _has_blocks(label):
            inner = tidy(label).split("\n")
            if "" in inner or any(map(_STRUCTURE.match, inner)):
                return _link_blocks(inner, url)
            label = " ".join(inner)
        if label[-1] == "\\" and (len(label) - len(label.rstrip("\\"))) % 2:
            label += "\\"  # else it would escape the bracket
        return f"{before}{LINK}{label}{TO}{url}{END}{after}"

    def _reference(self, el: Element, label: str, parent_tags: Context) -> str | None:
        """Return the mark of a footnote for a link to it, an empty string for a link
        back, else None.
        """
        label = label.strip(f"{SCRIPT}^")
        if self.footnotes and leads_back(el, label):
            return ""
        found = mark(el, label)
        return (
            found
            if found and (place(el) in self.footnotes or "sup" in parent_tags)
            else None
        )

    def _note(self, el: Element, text: str) -> str:
        """Put the mark of a note before its text."""
        return f"{self.footnotes[el.get('id')]} {strip_mark(text)}"

    @cached_property
    def _text_urls(self) -> set[str]:
        """The targets of links with text."""
        links = (element for element in self.root.elements() if element.name == "a")
        return {
            self.links.get(link.get("href"), "")
            for link in links
            if self._contains_text(link)
        }

    @cached_property
    def _names_of_pictures(self) -> Counter[str]:
        """How many pictures have each alternative text."""
        pictures = (
            element for element in self.root.elements() if element.name == "img"
        )
        return Counter(
            one_line(picture.get("alt"), _MAX_ALT_LENGTH).casefold()
            for picture in pictures
        )

    @cached_property
    def _lines(self) -> set[str]:
        """The lines of the page and the descriptions of its pictures, in lower case."""
        return {
            " ".join(line.split()) for line in self.root.text().casefold().split("\n")
        }

    def _is_repeated(self, line: str) -> bool:
        """Return whether a line is in the text or describes an earlier picture;
        remember it.
        """
        known = line in self._lines
        self._lines.add(line)
        return known

    @cached_property
    def _texts_near(self) -> dict[Element, str]:
        """The text before and after each picture."""
        places: dict[Element, int] = {}
        pieces: list[str] = []
        waiting: list[Element | str] = [self.root]
        length = 0
        while waiting:
            node = waiting.pop()
            if isinstance(node, str):
                pieces.append(node)
                length += len(node)
                continue
            if node.name == "img" and node.get("alt"):
                places[node] = length
            edge = " " if node.name in BLOCKS else ""
            waiting += [*edge, *reversed(node.children), *edge]
        text = "".join(pieces)
        some = islice(places.items(), _MAX_COMPARED)
        return {
            picture: text[max(0, place - _NEAR) : place + _NEAR]
            for picture, place in some
        }

    def _says_text_near(self, picture: Element, alt: str) -> bool:
        """Return whether most words of a description are in the text around the
        picture.
        """
        near = set(list_terms(self._texts_near.get(picture, "")))
        words = list_terms(alt)
        return bool(near) and sum(word in near for word in words) >= _REPEATS * len(
            words
        )

    def convert_img(self, el: Element, text: str, parent_tags: Context) -> str:
        """Write an image as its alternative text, unless the text or an earlier image
        says the same.
        """
        alt = one_line(el.get("alt"), _MAX_ALT_LENGTH)
        if not alt:
            return ""
        if not _TEX_PICTURES.isdisjoint(el.get("class").split()):
            return self.convert_math(el, alt, parent_tags)
        link = _ancestor(el, "a") if "a" in parent_tags else None
        if link is None and _PICTURE.search(alt):  # the name of a file
            return ""
        if self.only_pictures:
            place = self.links.get(link.get("href"), "") if link is not None else ""
            return (
                ""
                if self._is_repeated(f"{alt.casefold()} {place}")
                else f" {TAG.sub('&lt;', alt)} "
            )
        if link is not None:
            if (
                self._contains_text(link)
                or self.links.get(link.get("href")) in self._text_urls
            ):
                return ""
            if (
                len(alt.split()) < _MIN_ALT_WORDS
                and self._names_of_pictures[alt.casefold()] > _MAX_NAMESAKES
            ):
                return ""
            self.picture_link = link
        elif len(alt.split()) < _MIN_ALT_WORDS or (
            "table" not in parent_tags and self._is_repeated(alt.casefold())
        ):
            return ""
        elif figure := _ancestor(el, "figure"):
            caption = self._caption(figure)
            if caption and (alt.casefold() in caption or caption in alt.casefold()):
                return ""
        if (
            "heading" in parent_tags
            and (heading := _ancestor(el, *HEADINGS))
            and self._contains_text(heading)
        ):
            return ""
        if self._says_text_near(el, alt):
            return ""
        is_name = (
            link is not None
            or "table" in parent_tags
            or len(alt.split()) < _MIN_SENTENCE
        )
        alt = TAG.sub("&lt;", alt)
        return f" {alt} " if is_name else f" (Image: {alt}) "

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
        if (
            not code
            or is_gutter(el)
            or (el.parent is not None and is_gutter(el.parent))
        ):
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
        if _has_blocks(code):  # its inside was written as text
            code = code_text(el)
            if parent_tags.isdisjoint(_ONE_LINE):
                return self._block(
                    "\n".join(map(str.strip, code.split("\n"))), language(el)
                )
        before, after = _edges(text)
        code = " ".join(code.split())
        if "`" not in code:
            return f"{before}{TICK}{code}{TICK}{after}"
        ticks = code_fence(code, least=1)
        return f"{before}{SPAN * len(ticks)} {code} {SPAN * len(ticks)}{after}"

    def convert_list(self, el: Element, text: str, parent_tags: Context) -> str:
        items = text.strip()
        if "_inline" in parent_tags:
            return f" {items.rstrip('; ')} "
        if not items:
            return ""
        holder = el.parent
        # it is part of the item before it
        if holder in self.begun and holder is not None and holder.name in _LISTS:
            bullet = (
                f"{self.numbers[holder]}. "
                if self.numbers.get(holder, -1) >= 0
                else "- "
            )
            nested = tidy(items)
            edge = BREAK if _ITEM.match(nested) else "\n\n"
            return f"{edge}{_indent(nested, INDENT * len(bullet))}{BREAK}"
        # Right below text, only a list that starts with 1 is a list.
        edge = (
            BREAK if "li" in parent_tags and items.startswith(("-", "1.")) else "\n\n"
        )
        return f"{edge}{items}\n\n"

    def convert_li(self, el: Element, text: str, parent_tags: Context) -> str:
        holder = el.parent
        bullet, label = (
            self._number(el, holder)
            if holder is not None and holder.name == "ol"
            else ("- ", "")
        )
        if "_inline" in parent_tags:
            item = text.strip()
            return f"{item}; " if item else ""
        item = tidy(text)
        if not item:
            return ""
        self.begun.add(holder)
        if (
            self.footnotes
            and self.footnotes.get(el.get("id"), f"[{bullet[:-2]}]")
            != f"[{bullet[:-2]}]"
        ):
            item = self._note(el, item)
        if label:
            item = (
                f"{label} {item}"
                if item[0] != CODE and not _ITEM.match(item)
                else f"{label}\n\n{item}"
            )
        if "\n" not in item and CODE not in item:
            return f"{BREAK}{bullet}{item}{BREAK}"
        indent = INDENT * len(bullet)
        first, _, rest = item.partition("\n")
        if rest:
            item = f"{first}\n{_indent(rest, indent)}"
        if CODE in first and first[0] != CODE:  # a fence can follow only one bullet
            bullet = f"{bullet.rstrip()}\n{indent}"
        # In a list that starts with another number right below text, a fence would not
        # be one.
        edge = "\n\n" if CODE in first and bullet[:2] not in {"- ", "1."} else BREAK
        return f"{edge}{bullet}{item}{BREAK}"

    def _number(self, el: Element, holder: Element) -> tuple[str, str]:
        """Return the bullet of an item, and what the page shows instead of the number
        that Markdown can give it.
        """
        falls = "reversed" in holder.attributes
        step = -1 if falls else 1
        if holder not in self.numbers:
            items = sum(
                isinstance(child, Element) and child.name == "li"
                for child in holder.children
            )
            stated = holder.get("start")
            self.numbers[holder] = (
                int(stated) if _NUMBER.fullmatch(stated) else items if falls else 1
            ) - step
        stated = el.get("value")
        number = self.numbers[holder] = (
            int(stated) if _NUMBER.fullmatch(stated) else self.numbers[holder] + step
        )
        style = el.get("type") or holder.get("type")
        if style in {"a", "A", "i", "I"} and 0 < number < 4000:
            return "- ", f"{_letters(number, style)}."
        if falls or number < 0:
            return "- ", f"{number}{POINT}"
        return f"{number}{POINT if number > 999 else '.'} ", ""

    def convert_input(self, el: Element, text: str, parent_tags: Context) -> str:
        """Write the checkbox of a task: the tree keeps no other inputs."""
        return (
            ("[x] " if "checked" in el.attributes else "[ ] ")
            if "li" in parent_tags
            else ""
        )

    def convert_heading(self, el: Element, text: str, parent_tags: Context) -> str:
        title = " ".join(text.split())
        if not title or "_inline" in parent_tags:
            return f" {title} "
        self.titles += el.name == "h1"
        deeper = self.titles > 1  # a text has one title: others become sections
        title = _CLOSING.sub(r"\\\g<0>", title)
        return f"\n\n{HASH * min(6, int(el.name[1]) + deeper)} {title}\n\n"

    def convert_b(self, el: Element, text: str, parent_tags: Context) -> str:
        return _wrap(BOLD, text, parent_tags)

    def convert_em(self, el: Element, text: str, parent_tags: Context) -> str:
        return _wrap(EM, text, parent_tags)

    def convert_del(self, el: Element, text: str, parent_tags: Context) -> str:
        return _wrap(STRIKE, text, parent_tags)

    def convert_summary(self, el: Element, text: str, parent_tags: Context) -> str:
        """Write the label of a collapsible part: bold on its own line, since it is not
        a heading.
        """
        label = text.strip()
        bold = (
            label if LINK in label or BOLD in label else _wrap(BOLD, label, parent_tags)
        )
        return self.convert_div(el, bold, parent_tags)

    def convert_sup(self, el: Element, text: str, parent_tags: Context) -> str:
        exponent = text.strip().replace(SCRIPT, "")
        if _EXPONENT.fullmatch(exponent) or (
            len(exponent) > 2 and _EXPRESSION.fullmatch(exponent)
        ):
            return f"{SCRIPT}^{exponent}{SCRIPT}"
        return text

    def convert_sub(self, el: Element, text: str, parent_tags: Context) -> str:
        index = text.strip()
        return f"{SCRIPT}_{index}{SCRIPT}" if _EXPRESSION.fullmatch(index) else text

    def convert_hr(self, el: Element, text: str, parent_tags: Context) -> str:
        return " " if "_inline" in parent_tags else "\n\n---\n\n"

    def convert_rt(self, el: Element, text: str, parent_tags: Context) -> str:
        """Write the reading of a word in brackets after it; the page's own brackets
        (``rp``) are left out.
        """
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
        if rest and "dd" not in parent_tags:  # deeper, it would be indented like code
            rest = _indent(rest, INDENT * 2)
        return f"{BREAK}: {first}\n{rest}\n\n" if rest else f"{BREAK}: {first}{BREAK}"

    def convert_td(self, el: Element, text: str, parent_tags: Context) -> str:
        content = " ".join(text.split()).replace("|", "\\|")
        # most cells have no attributes
        return spanning(el, content) if el.attributes else content + CELL

    def convert_tr(self, el: Element, text: str, parent_tags: Context) -> str:
        return text.rpartition(CELL)[0] + CELL + ROW  # without text outside its cells

    def convert_caption(self, el: Element, text: str, parent_tags: Context) -> str:
        return " ".join(text.split()) + ROW

    def convert_table(self, el: Element, text: str, parent_tags: Context) -> str:
        return f"\n\n{table(el, text)}\n\n"

    convert_strong, convert_i, convert_s, convert_strike = (
        convert_b,
        convert_em,
        convert_del,
        convert_del,
    )
    convert_kbd = convert_samp = convert_tt = convert_code
    convert_ul = convert_ol = convert_menu = convert_dir = convert_list
    convert_th = convert_td


_Conversion = Callable[[_Converter, Element, str, Context], str]
_OWN = (
    "a b blockquote br button caption code dd del dir dt em figcaption hr i img input "
    "kbd li math menu ol p pre q rp "
    "rt s samp strike strong sub summary sup table td th tr tt ul"
)
# Blocks that separate their neighbours even if empty.
_SEPARATING = BLOCKS - frozenset(
    "caption dd dt li table tbody td tfoot th thead tr ul ol menu dir".split()
)
# Only these names: a page can name an element after any other method.
_CONVERSIONS: dict[str, _Conversion] = {
    **dict.fromkeys(BLOCKS - {"tbody", "tfoot", "thead"}, _Converter.convert_div),
    **{name: getattr(_Converter, f"convert_{name}") for name in _OWN.split()},
    **dict.fromkeys(HEADINGS, _Converter.convert_heading),
}
_BOXES = frozenset(
    name for name, convert in _CONVERSIONS.items() if convert is _Converter.convert_div
)
_WITHIN_BOXES = _BOXES | {"p"}


@cache
def _load_markdownify() -> Any:
    """Import markdownify for the first page that needs it: with BeautifulSoup, that
    takes longer than to read most pages.
    """
    from markdownify import MarkdownConverter

    return MarkdownConverter()


def _separate(text: str, parent_tags: Context) -> str:
    """Return *text* as a block of its own, where there can be blocks."""
    if "_inline" in parent_tags:
        return f" {text} "
    return f"\n\n{text}\n\n" if text else ""


def _escape(text: str, around: Context) -> str:
    if "_noformat" in around:
        return text
    text = TAG.sub("&lt;", text)
    return text.replace("*", "\\*") if BOLD in around or EM in around else text


def _wrap(sign: str, text: str, parent_tags: Context) -> str:
    inner = text.strip()
    if not inner or sign in parent_tags or not parent_tags.isdisjoint(_UNMARKED):
        return text
    if _has_blocks(inner):
        lines = inner.split("\n")
        if (
            CODE in inner
            or BREAK in inner
            or any(not line.strip() or _STRUCTURE.match(line) for line in lines)
        ):
            return text
    before, after = _edges(text)
    return f"{before}{sign}{inner}{sign}{after}"


def _letters(number: int, style: str) -> str:
    """Write the number of a list item in letters or in Roman numerals."""
    written, letters = number, ""
    if style.lower() == "i":
        for value, sign in _ROMAN:
            letters += sign * (written // value)
            written %= value
    else:
        while written:
            written, rest = divmod(written - 1, 26)
            letters = chr(ord("a") + rest) + letters
    return letters.upper() if style.isupper() else letters


def _has_blocks(text: str) -> bool:
    return "\n" in text or BREAK in text or CODE in text or text.startswith(HASH)


def _edges(text: str) -> tuple[str, str]:
    """Return the whitespace before and after a text."""
    return text[: len(text) - len(text.lstrip())], text[len(text.rstrip()) :]


def _link_blocks(lines: list[str], url: str) -> str:
    """Write a link around whole blocks on their heading or first line, so that each
    block stays what it is.
    """
    first = next((n for n, line in enumerate(lines) if line[:1] == HASH), 0)
    item = _ITEM.match(lines[first])
    begin = item.end() if item else 0
    line = lines[first][begin:]
    if line and line[0] != "|" and line != "---":
        lines[first] = f"{lines[first][:begin]}{LINK}{line}{TO}{url}{END}"
    return "\n\n" + "\n".join(lines) + "\n\n"


def _indent(text: str, indent: str) -> str:
    return "\n".join(f"{indent}{line}" if line else "" for line in text.split("\n"))


def _ancestor(element: Element, *names: str) -> Element | None:
    around = element.parent
    while around is not None and around.name not in names:
        around = around.parent
    return around


def _has_text(element: Element) -> bool:
    """Return whether an element contains text; faster than getting the text."""
    waiting = [element]
    while waiting:
        for child in waiting.pop().children:
            if not isinstance(child, str):
                waiting.append(child)
            elif child and not child.isspace():
                return True
    return False
