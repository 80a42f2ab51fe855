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
from typing import Any, TypeGuard
from urllib.parse import urlsplit

from ..._text.invisible import one_line
from ..._text.terms import list_terms
from .._element import BLOCKS, HEADINGS, Element
from .fences import code_fence, code_text, fence_code, is_gutter, language
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
_EMPHASIS = {
    **dict.fromkeys(("b", "strong"), BOLD),
    **dict.fromkeys(("em", "i"), EM),
    **dict.fromkeys(("del", "s", "strike"), STRIKE),
}
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
    **{name: frozenset({sign}) for name, sign in _EMPHASIS.items()},
    **{name: frozenset({name}) for name in ("a", "dd", "li", "sup", "table")},
}


def to_markdown(root: Element, links: Mapping[str, str]) -> str:
    """Write the tree as Markdown; *links* has the absolute URL of each ``href`` to
    keep.
    """
    text = _Converter(root, links).write()
    if text:
        return text
    if any(picture.get("alt") for picture in root.elements("img")):
        return _Converter(root, links, only_pictures=True).write()
    return ""


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
        text = finish(self.process_tag())
        if self.code:
            return _CODE_LINE.sub(self._insert_code, text)
        return text

    # Measured: each string and element of the page passes once. The state is the
    # element being written, its name and context, the rest of its children, and the
    # pieces of its text; `waiting` has the same of the elements around it:
    #
    #     <div>  <p>one <b>two</b> three</p>  </div>
    #                      ^ element b, pieces []
    #            ^ waiting: p, pieces ["one "], children [" three"]
    #     ^ waiting: div
    def process_tag(self) -> str:  # noqa: C901, PLR0912 - see above
        """Convert the root and all inside it.

        Without recursion, so that no depth is too much. Half of all elements contain
        nothing or a single text; they are written at once. Of boxes that contain
        nothing but each other only one is written, since the result is the same.
        Neither is done if the page has footnotes.
        """
        waiting: list[
            tuple[Element, str, Context, Context, Iterator[Element | str], list[str]]
        ] = []
        element = self.root
        name = "div"
        around = _PLAIN
        inside = _PLAIN
        children = iter(element.children)
        pieces: list[str] = []
        direct = not self.footnotes
        join = self._join
        while True:
            for child in children:
                if isinstance(child, str):
                    if "<" in child or "*" in child:
                        pieces.append(_escape(child, inside))
                    else:
                        pieces.append(child)
                    continue
                tag = child.name
                held = child.children
                within = inside
                own = _AROUND.get(tag)
                if own is not None:
                    is_cell = "table" in inside and tag in _TABLE_PARTS
                    if tag in _DOUBTFUL and not is_cell:
                        tag, held, within = self._enter(child, inside)
                    else:
                        within = join(inside, own)
                elif direct and tag in _BOXES:
                    held = _inside_boxes(held)
                if direct and len(held) < 2:
                    text = _text_of(held)
                    if text is not None:
                        if "<" in text or "*" in text:
                            text = _escape(text, within)
                        pieces.append(self._convert(child, tag, text, inside))
                        continue
                waiting.append((element, name, around, inside, children, pieces))
                element = child
                name = tag
                around = inside
                inside = within
                children = iter(held)
                pieces = []
                break
            else:
                text = "".join(pieces)
                text = self._convert(element, name, text, around)
                if not direct and name != "li":
                    text = self._begin_note(element, text)
                if not waiting:
                    return text
                element, name, around, inside, children, pieces = waiting.pop()
                pieces.append(text)

    def _convert(self, element: Element, name: str, text: str, around: Context) -> str:
        """Write an element as one of that *name*, from the text inside it."""
        convert = _CONVERSIONS.get(name)
        if convert is None:
            return text
        text = convert(self, element, text, around)
        if not text and name in _SEPARATING:
            return "\n"
        return text

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
            if is_gutter(element):
                return "div", [], around
            return "div", element.children, around
        return name, element.children, self._join(around, _AROUND[name])

    def _insert_code(self, place: re.Match[str]) -> str:
        """Return a code block to put in its place, indented like the text around it."""
        before = place[1]
        margin = re.sub("[^>]", " ", before)
        if not _MARGIN.fullmatch(before):  # then put it on its own line
            before = f"{before.rstrip()}\n"
            margin = ""
        code = self.code[int(place[2])]
        first, *rest = code.split("\n")
        lines = [before + first]
        for line in rest:
            if line:
                lines.append(margin + line)
            else:
                lines.append(margin.rstrip())
        return "\n".join(lines)

    def convert_div(self, el: Element, text: str, parent_tags: Context) -> str:
        return _separate(text.strip(), parent_tags)

    def convert_p(self, el: Element, text: str, parent_tags: Context) -> str:
        return _separate(text.strip(" \t\r\n"), parent_tags)

    def convert_br(self, el: Element, text: str, parent_tags: Context) -> str:
        if "_inline" in parent_tags:
            return f"{text} "
        return f"  \n{text}"

    def convert_rare(self, el: Element, text: str, parent_tags: Context) -> str:
        convert = getattr(_load_markdownify(), f"convert_{el.name}")
        return str(convert(el, text, parent_tags))

    def convert_a(self, el: Element, text: str, parent_tags: Context) -> str:
        label = text.strip()
        href = el.get("href")
        if not label:
            return text[:1] and " "
        if "#" in href:
            note = self._reference(el, label, parent_tags)
            if note is not None:
                before, after = _edges(text)
                return f"{before}{note}{after}"
        url = self.links.get(href)
        if self._leads_to_picture(el, url):
            is_name = len(label.split()) >= _MIN_ALT_WORDS
            if is_name:
                return text
            return " "
        may_be_anchor = href.startswith("#") or "heading" in parent_tags
        if may_be_anchor and not any(map(str.isalnum, label)):
            return " "  # the anchor of a heading, or a link to the top
        if url is None or "_noformat" in parent_tags:
            return text
        return _write_link(text, url)

    def _leads_to_picture(self, link: Element, url: str | None) -> bool:
        """Return whether a link around a picture only leads to that, or nowhere."""
        if self.picture_link is not link:
            return False
        if link.get("href").startswith("#"):
            return True
        return _PICTURE.search(urlsplit(url or "").path) is not None

    def _reference(self, el: Element, label: str, parent_tags: Context) -> str | None:
        """Return the mark of a footnote for a link to it.

        An empty string for a link back, None for any other.
        """
        label = label.strip(f"{SCRIPT}^")
        if self.footnotes and leads_back(el, label):
            return ""
        if "sup" in parent_tags or place(el) in self.footnotes:
            return mark(el, label) or None
        return None

    def _begin_note(self, el: Element, text: str) -> str:
        """Put the mark of a note before its text, if the element is one."""
        if el.get("id") not in self.footnotes:
            return text
        before, _ = _edges(text)
        return before + self._note(el, text.lstrip())

    def _note(self, el: Element, text: str) -> str:
        """Put the mark of a note before its text."""
        return f"{self.footnotes[el.get('id')]} {strip_mark(text)}"

    @cached_property
    def _text_urls(self) -> set[str]:
        """The targets of links with text."""
        links = filter(self._contains_text, self.root.elements("a"))
        return {self.links.get(link.get("href"), "") for link in links}

    @cached_property
    def _names_of_pictures(self) -> Counter[str]:
        """How many pictures have each alternative text."""
        return Counter(
            one_line(picture.get("alt"), _MAX_ALT_LENGTH).casefold()
            for picture in self.root.elements("img")
        )

    @cached_property
    def _lines(self) -> set[str]:
        """The lines of the page and the descriptions of its pictures, in lower case."""
        text = self.root.text().casefold()
        return {" ".join(line.split()) for line in text.split("\n")}

    def _is_repeated(self, line: str) -> bool:
        """Return whether a line is in the text or describes an earlier picture;
        remember it.
        """
        is_old = line in self._lines
        self._lines.add(line)
        return is_old

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
            if node.name in BLOCKS:
                pieces.append(" ")
                length += 1
                waiting.append(" ")
            waiting += reversed(node.children)
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
        if not near:
            return False
        words = list_terms(alt)
        return sum(word in near for word in words) >= _REPEATS * len(words)

    def convert_img(self, el: Element, text: str, parent_tags: Context) -> str:
        """Write an image as its alternative text.

        Unless the text or an earlier image says the same.
        """
        alt = one_line(el.get("alt"), _MAX_ALT_LENGTH)
        if not alt:
            return ""
        if not _TEX_PICTURES.isdisjoint(el.get("class").split()):
            return self.convert_math(el, alt, parent_tags)
        link = None
        if "a" in parent_tags:
            link = _ancestor(el, "a")
        if link is None and _PICTURE.search(alt):  # the name of a file
            return ""
        if self.only_pictures:
            return self._write_alone(link, alt)
        if not self._is_needed(el, link, alt, parent_tags):
            return ""
        is_name = link is not None or "table" in parent_tags
        is_short = len(alt.split()) < _MIN_SENTENCE
        alt = TAG.sub("&lt;", alt)
        if is_name or is_short:
            return f" {alt} "
        return f" (Image: {alt}) "

    def _write_alone(self, link: Element | None, alt: str) -> str:
        """Write a picture of a page that is nothing but pictures."""
        target = ""
        if link is not None:
            target = self.links.get(link.get("href"), "")
        if self._is_repeated(f"{alt.casefold()} {target}"):
            return ""
        return f" {TAG.sub('&lt;', alt)} "

    def _is_needed(
        self, picture: Element, link: Element | None, alt: str, parent_tags: Context
    ) -> bool:
        """Return whether a text of a picture says what nothing else says."""
        if link is None:
            if not self._describes(picture, alt, parent_tags):
                return False
        elif self._names_link(link, alt):
            self.picture_link = link
        else:
            return False
        if self._is_in_heading(picture, parent_tags):
            return False
        return not self._says_text_near(picture, alt)

    def _names_link(self, link: Element, alt: str) -> bool:
        """Return whether it says where the link around a picture leads."""
        url = self.links.get(link.get("href"))
        if self._contains_text(link) or url in self._text_urls:
            return False
        if len(alt.split()) >= _MIN_ALT_WORDS:
            return True
        return self._names_of_pictures[alt.casefold()] <= _MAX_NAMESAKES

    def _describes(self, picture: Element, alt: str, parent_tags: Context) -> bool:
        """Return whether it says more than the page and a caption of the picture."""
        if len(alt.split()) < _MIN_ALT_WORDS:
            return False
        alt = alt.casefold()
        if "table" not in parent_tags and self._is_repeated(alt):
            return False
        figure = _ancestor(picture, "figure")
        if figure is None:
            return True
        caption = self._caption(figure)
        if not caption:
            return True
        return alt not in caption and caption not in alt

    def _is_in_heading(self, picture: Element, parent_tags: Context) -> bool:
        """Return whether a picture is in a heading that has text."""
        if "heading" not in parent_tags:
            return False
        heading = _ancestor(picture, *HEADINGS)
        return heading is not None and self._contains_text(heading)

    def convert_math(self, el: Element, text: str, parent_tags: Context) -> str:
        tex = TAG.sub("< ", text.strip())
        if not tex:
            return ""
        tex = tex.replace("](", "] (")
        tex = tex.replace("![", "! [")
        if "td" in parent_tags:
            tex = tex.replace("\\|", "\\Vert ").replace("|", "\\vert ")
        if el.get("display") == "block" and "_inline" not in parent_tags:
            return f"\n\n$${tex}$$\n\n"
        return f"${tex}$"

    def convert_pre(self, el: Element, text: str, parent_tags: Context) -> str:
        code = text.rstrip().strip("\n")
        if not code or is_gutter(el):
            return ""
        if el.parent is not None and is_gutter(el.parent):
            return ""
        if "_noformat" in parent_tags:
            return f"\n{code}\n"
        if "_inline" in parent_tags:
            return self.convert_code(el, " ".join(code.split()), parent_tags)
        return self._block(code, language(el))

    def _block(self, code: str, name: str) -> str:
        """Write a block of code in the language of that *name*."""
        self.code.append(fence_code(code.strip("\n"), name))
        return f"\n\n{CODE}{len(self.code) - 1}{CODE}\n\n"

    def convert_code(self, el: Element, text: str, parent_tags: Context) -> str:
        code = text.strip()
        if not code or "_noformat" in parent_tags:
            return text
        if _has_blocks(code):  # its inside was written as text
            code = code_text(el)
            if parent_tags.isdisjoint(_ONE_LINE):
                lines = map(str.strip, code.split("\n"))
                return self._block("\n".join(lines), language(el))
        before, after = _edges(text)
        code = " ".join(code.split())
        if "`" not in code:
            return f"{before}{TICK}{code}{TICK}{after}"
        ticks = code_fence(code, minimum=1)
        return f"{before}{SPAN * len(ticks)} {code} {SPAN * len(ticks)}{after}"

    def convert_list(self, el: Element, text: str, parent_tags: Context) -> str:
        items = text.strip()
        if "_inline" in parent_tags:
            return f" {items.rstrip('; ')} "
        if not items:
            return ""
        holder = el.parent
        if holder in self.begun and _is_list(holder):  # it is part of an item
            number = self.numbers.get(holder, -1)
            width = 2  # of "- "
            if number >= 0:
                width += len(str(number))
            nested = _indent(tidy(items), INDENT * width)
            if _ITEM.match(nested, width):
                return f"{BREAK}{nested}{BREAK}"
            return f"\n\n{nested}{BREAK}"
        # Right below text, only a list that starts with 1 is a list.
        if "li" in parent_tags and items.startswith(("-", "1.")):
            return f"{BREAK}{items}\n\n"
        return f"\n\n{items}\n\n"

    def convert_li(self, el: Element, text: str, parent_tags: Context) -> str:
        bullet, label = self._number(el)
        if "_inline" in parent_tags:
            item = text.strip()
            return item and f"{item}; "
        item = tidy(text)
        if not item:
            return ""
        self.begun.add(el.parent)
        number = f"[{bullet[:-2]}]"
        note = self.footnotes.get(el.get("id"), number)
        if note != number:
            item = self._note(el, item)
        if label:
            begins_block = item[0] == CODE or _ITEM.match(item)
            item = f"{label}\n\n{item}" if begins_block else f"{label} {item}"
        if "\n" not in item and CODE not in item:
            return f"{BREAK}{bullet}{item}{BREAK}"
        return _write_item(bullet, item)

    def _number(self, el: Element) -> tuple[str, str]:
        """Return the bullet of an item, and the number that the page shows.

        That is empty if Markdown can give the item its number.
        """
        holder = el.parent
        if holder is None or holder.name != "ol":
            return "- ", ""
        falls = "reversed" in holder.attributes
        value = el.get("value")
        if _NUMBER.fullmatch(value):
            number = int(value)
        elif holder not in self.numbers:
            number = _first_number(holder, falls=falls)
        elif falls:
            number = self.numbers[holder] - 1
        else:
            number = self.numbers[holder] + 1
        self.numbers[holder] = number
        style = el.get("type") or holder.get("type")
        if style in {"a", "A", "i", "I"} and 0 < number < 4000:
            return "- ", f"{write_letters(number, style)}."
        if falls or number < 0:
            return "- ", f"{number}{POINT}"
        if number > 999:
            return f"{number}{POINT} ", ""
        return f"{number}. ", ""

    def convert_input(self, el: Element, text: str, parent_tags: Context) -> str:
        """Write the checkbox of a task: the tree keeps no other inputs."""
        if "li" not in parent_tags:
            return ""
        if "checked" in el.attributes:
            return "[x] "
        return "[ ] "

    def convert_heading(self, el: Element, text: str, parent_tags: Context) -> str:
        title = " ".join(text.split())
        if not title or "_inline" in parent_tags:
            return f" {title} "
        self.titles += el.name == "h1"
        deeper = self.titles > 1  # a text has one title: others become sections
        title = _CLOSING.sub(r"\\\g<0>", title)
        return f"\n\n{HASH * min(6, int(el.name[1]) + deeper)} {title}\n\n"

    def convert_emphasis(self, el: Element, text: str, parent_tags: Context) -> str:
        return _wrap(_EMPHASIS[el.name], text, parent_tags)

    def convert_summary(self, el: Element, text: str, parent_tags: Context) -> str:
        """Write the label of a collapsible part: bold on its own line, since it is not
        a heading.
        """
        label = text.strip()
        if LINK not in label and BOLD not in label:
            label = _wrap(BOLD, label, parent_tags)
        return self.convert_div(el, label, parent_tags)

    def convert_sup(self, el: Element, text: str, parent_tags: Context) -> str:
        exponent = text.strip().replace(SCRIPT, "")
        is_expression = len(exponent) > 2 and _EXPRESSION.fullmatch(exponent)
        if is_expression or _EXPONENT.fullmatch(exponent):
            return f"{SCRIPT}^{exponent}{SCRIPT}"
        return text

    def convert_sub(self, el: Element, text: str, parent_tags: Context) -> str:
        index = text.strip()
        if _EXPRESSION.fullmatch(index):
            return f"{SCRIPT}_{index}{SCRIPT}"
        return text

    def convert_hr(self, el: Element, text: str, parent_tags: Context) -> str:
        if "_inline" in parent_tags:
            return " "
        return "\n\n---\n\n"

    def convert_rt(self, el: Element, text: str, parent_tags: Context) -> str:
        """Write the reading of a word in brackets after it; the page's own brackets
        (``rp``) are left out.
        """
        reading = text.strip()
        return reading and f"({reading})"

    def convert_button(self, el: Element, text: str, parent_tags: Context) -> str:
        if text.strip().lower() in _COPY:
            return ""
        return text

    def convert_blockquote(self, el: Element, text: str, parent_tags: Context) -> str:
        if "_inline" in parent_tags:
            return f" {text.strip()} "
        quotation = tidy(text)
        if not quotation:
            return ""
        lines = [f"{QUOTE}{line and f' {line}'}" for line in quotation.split("\n")]
        return "\n\n" + "\n".join(lines) + "\n\n"

    def convert_dt(self, el: Element, text: str, parent_tags: Context) -> str:
        term = " ".join(text.split())
        if not term:
            return ""
        if "_inline" in parent_tags:
            return f" {term}: "
        return f"\n\n{term}{BREAK}"

    def convert_dd(self, el: Element, text: str, parent_tags: Context) -> str:
        if "_inline" in parent_tags:
            return f" {text.strip()} "
        meaning = tidy(text)
        if not meaning or _STRUCTURE.match(meaning):
            return f"\n\n{meaning}\n\n"
        first, *rest = meaning.split("\n", 1)
        if not rest:
            return f"{BREAK}: {first}{BREAK}"
        more = rest[0]
        if "dd" not in parent_tags:  # deeper, it would be indented like code
            more = _indent(more, INDENT * 2)
        return f"{BREAK}: {first}\n{more}\n\n"

    def convert_td(self, el: Element, text: str, parent_tags: Context) -> str:
        content = " ".join(text.split())
        content = content.replace("|", "\\|")
        if el.attributes:  # most cells have none
            return spanning(el, content)
        return content + CELL

    def convert_tr(self, el: Element, text: str, parent_tags: Context) -> str:
        return text.rpartition(CELL)[0] + CELL + ROW  # without text outside its cells

    def convert_caption(self, el: Element, text: str, parent_tags: Context) -> str:
        return " ".join(text.split()) + ROW

    def convert_table(self, el: Element, text: str, parent_tags: Context) -> str:
        return f"\n\n{table(el, text)}\n\n"


_Conversion = Callable[[_Converter, Element, str, Context], str]
_OWN = (
    "a blockquote br button caption code dd dt hr img input li math p pre rt sub "
    "summary sup table td tr"
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
    **dict.fromkeys(_LISTS, _Converter.convert_list),
    **dict.fromkeys(("kbd", "samp", "tt"), _Converter.convert_code),
    **dict.fromkeys(_EMPHASIS, _Converter.convert_emphasis),
    **dict.fromkeys(("figcaption", "q"), _Converter.convert_rare),
    "rp": lambda *_: "",
    "th": _Converter.convert_td,
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


def _inside_boxes(children: list[Element | str]) -> list[Element | str]:
    """Return what is in the innermost of boxes that contain nothing but each other."""
    while len(children) == 1:
        box = children[0]
        if isinstance(box, str) or box.name not in _WITHIN_BOXES:
            break
        children = box.children
    return children


def _text_of(children: list[Element | str]) -> str | None:
    """Return the only text, empty if there is nothing, None if there is an element."""
    if not children:
        return ""
    first = children[0]
    if isinstance(first, str):
        return first
    return None


def _separate(text: str, parent_tags: Context) -> str:
    """Return *text* as a block of its own, where there can be blocks."""
    if "_inline" in parent_tags:
        return f" {text} "
    return text and f"\n\n{text}\n\n"


def _escape(text: str, around: Context) -> str:
    if "_noformat" in around:
        return text
    text = TAG.sub("&lt;", text)
    if BOLD in around or EM in around:
        return text.replace("*", "\\*")
    return text


def _wrap(sign: str, text: str, parent_tags: Context) -> str:
    inner = text.strip()
    if not inner or sign in parent_tags:
        return text
    if not parent_tags.isdisjoint(_UNMARKED):
        return text
    if _has_blocks(inner) and not _is_lines(inner):
        return text
    before, after = _edges(text)
    return f"{before}{sign}{inner}{sign}{after}"


def _is_lines(text: str) -> bool:
    """Return whether a text is lines of one paragraph."""
    if CODE in text or BREAK in text:
        return False
    lines = text.split("\n")
    if any(map(_STRUCTURE.match, lines)):
        return False
    return all(map(str.strip, lines))


def _write_item(bullet: str, item: str) -> str:
    """Write an item of several lines, or with code."""
    indent = INDENT * len(bullet)
    first, *rest = item.split("\n", 1)
    if rest:
        item = f"{first}\n{_indent(rest[0], indent)}"
    if CODE not in first:
        return f"{BREAK}{bullet}{item}{BREAK}"
    if first[0] != CODE:  # a fence can follow only one bullet
        bullet = f"{bullet.rstrip()}\n{indent}"
    if bullet[:2] in {"- ", "1."}:
        return f"{BREAK}{bullet}{item}{BREAK}"
    # in a list that starts with another number right below text, a fence would not be
    # one
    return f"\n\n{bullet}{item}{BREAK}"


def _first_number(holder: Element, *, falls: bool) -> int:
    """Return the number of the first item of an ordered list."""
    start = holder.get("start")
    if _NUMBER.fullmatch(start):
        return int(start)
    if not falls:
        return 1
    return len([*holder.inner({"li"})])


def _write_link(text: str, url: str) -> str:
    """Write a link around a text, or around what is in its blocks."""
    label = text.strip()
    is_plain = label.isprintable()  # without any mark or end of a line
    if not is_plain and not _UNLINKED.isdisjoint(label):
        return text
    if label.count("[") != label.count("]"):
        label = label.replace("[", "\\[").replace("]", "\\]")
    if not is_plain and _has_blocks(label):
        lines = tidy(label).split("\n")
        if "" in lines or any(map(_STRUCTURE.match, lines)):
            return _link_blocks(lines, url)
        label = " ".join(lines)
    # the last sign must not escape the bracket after it
    escapes = len(label) - len(label.rstrip("\\"))
    label += "\\" * (escapes % 2)
    before, after = _edges(text)
    return f"{before}{LINK}{label}{TO}{url}{END}{after}"


def _is_list(element: Element | None) -> TypeGuard[Element]:
    return element is not None and element.name in _LISTS


def write_letters(number: int, style: str) -> str:
    """Write the number of a list item in letters or in Roman numerals."""
    letters = ""
    if style.lower() == "i":
        for value, sign in _ROMAN:
            letters += sign * (number // value)
            number %= value
    else:
        while number:
            number, rest = divmod(number - 1, 26)
            letters = chr(ord("a") + rest) + letters
    if style.isupper():
        return letters.upper()
    return letters


def _has_blocks(text: str) -> bool:
    if "\n" in text or BREAK in text:
        return True
    return CODE in text or text.startswith(HASH)


def _edges(text: str) -> tuple[str, str]:
    """Return the whitespace before and after a text."""
    begin = len(text) - len(text.lstrip())
    end = len(text.rstrip())
    return text[:begin], text[end:]


def _link_blocks(lines: list[str], url: str) -> str:
    """Write a link around whole blocks on their heading or first line, so that each
    block stays what it is.
    """
    first = 0
    headings = [n for n, line in enumerate(lines) if line.startswith(HASH)]
    if headings:
        first = headings[0]
    bullet = ""
    line = lines[first]
    item = _ITEM.match(line)
    if item:
        bullet = item[0]
        line = line[item.end() :]
    if line not in {"", "---"} and line[0] != "|":
        lines[first] = f"{bullet}{LINK}{line}{TO}{url}{END}"
    return "\n\n" + "\n".join(lines) + "\n\n"


def _indent(text: str, indent: str) -> str:
    lines = text.split("\n")
    return "\n".join([line and f"{indent}{line}" for line in lines])


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
