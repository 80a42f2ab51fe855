"""Write the HTML inside Markdown as Markdown, so that all of it reads the same.

Blocks and spans of HTML are found as in CommonMark 0.31 (4.6, 6.6), except that a table
or a list continues to its closing tag, as people write them. What HTML does not define,
such as a component or ``<your name>``, stays.
"""

from __future__ import annotations
import re
from html import escape, unescape

from .._html.fragment import read_fragment
from .._links import Links
from .._markdown.fences import outside_fences

_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl "
    "dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 head header hr html "
    "legend li main menu nav ol p pre section summary table tbody td tfoot th thead "
    "title tr ul".split()
)
_SPANS = frozenset(
    "a abbr acronym b bdi bdo big br cite code del dfn em font i img ins kbd label "
    "mark picture q s samp small source span strike strong sub sup time tt u var "
    "wbr".split()
)
# that have no end
VOID = frozenset(
    "area base br col embed hr img input link meta source track wbr".split()
)
_EMPTY = frozenset({"img"})
# Elements that people write with empty lines inside.
_WHOLE = frozenset({"dl", "ol", "pre", "table", "ul"})
_BLOCK = re.compile(
    r"^ {0,3}<(/?)([a-z][a-z0-9]{0,9}|[A-Z][A-Z0-9]{0,9})(?=[\s/>])", re.MULTILINE
)
_TAG = re.compile(
    r"<(/?)([a-z][a-z0-9]{0,9}|[A-Z][A-Z0-9]{0,9})((?:[\s/][^<>]{0,2000})?)>"
)
_TOKEN = re.compile(rf"(`+)|{_TAG.pattern}")
_ATTRIBUTE = re.compile(
    r"([^\s\"'=/>]{1,50})(?:\s{0,9}=\s{0,9}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?"
)
_BLANK_LINE = re.compile(r"\n[ \t]*(?=\n)")
_MAX_SPAN = 2_000  # characters of a code span
_MAX_LINE = 500  # characters that are looked at, for the bars of a table
_MAX_PIECES = 2_000  # of HTML, in one text
_IMAGE = re.compile(r"!\[([^\[\]]*+)\]\([^()\s]*+[^()]*+\)")
_LINK = re.compile(r"\[([^\[\]]*+)\]\(\s*+<?([^\s<>()]*+)>?[^()]*+\)")
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^`\n]{1,500})\1(?!`)")


def write_markup(text: str, base: str, links: Links) -> str:
    """Return Markdown whose HTML is written as Markdown, links resolved to *base*."""
    if "<" not in text:
        return text
    writer = _Writer(base, links)
    return outside_fences(text, writer.write)


def end_of_span(text: str, ticks: re.Match[str]) -> int:
    """Return the end of the code span that begins with *ticks*.

    Their own end if there is no such span.
    """
    begin = ticks.end()
    same = re.compile(rf"(?<!`)`{{{len(ticks[1])}}}(?!`)")
    closing = same.search(text, begin, begin + _MAX_SPAN)
    if closing is None:
        return begin
    return closing.end()


def read_attributes(tag: str) -> dict[str, str]:
    """Return the attributes in a tag by their names, in lower case."""
    return {
        match[1].lower(): unescape(match[2] or match[3] or match[4] or "")
        for match in _ATTRIBUTE.finditer(tag)
    }


class _Writer:
    def __init__(self, base: str, links: Links) -> None:
        self._base = base
        self._links: Links = links
        self._pieces = 0

    def write(self, text: str) -> str:
        """Return a text between code blocks without HTML."""
        parts: list[str] = []
        ends = find_ends(text, _TAG)
        begin = 0
        for opening in _BLOCK.finditer(text):
            is_foreign = opening[2].lower() not in _BLOCKS
            if is_foreign or opening.start() < begin:
                continue
            end = _end_of_block(text, opening, ends)
            before = text[begin : opening.start()]
            parts.append(self._write_spans(before))
            source = text[opening.start() : end]
            if "\n\n" in source:  # Markdown may stand between the empty lines
                source = _to_html(source)
            parts.append(self._read(source))
            begin = end
        if not parts:
            return self._write_spans(text)
        parts.append(self._write_spans(text[begin:]))
        before = text.removesuffix(text.lstrip("\n"))
        after = text.removeprefix(text.rstrip("\n"))
        parts = [part.strip("\n") for part in parts]
        middle = "\n\n".join(filter(None, parts))
        return f"{before}{middle}{after}"

    def _write_spans(self, text: str) -> str:
        if "<" not in text:
            return text
        out: list[str] = []
        ends = find_ends(text, _TAG)
        begin = 0  # of the text that is not written yet
        token = _TOKEN.search(text)
        while token:
            end = token.end()
            if token[1]:
                end = end_of_span(text, token)
            elif token[3].lower() in _SPANS:
                end = _end_of_element(text, token, ends)
                out.append(text[begin : token.start()])
                out.append(self._write_span(text, token, end))
                begin = end
            token = _TOKEN.search(text, end)
        out.append(text[begin:])
        return "".join(out)

    def _write_span(self, text: str, tag: re.Match[str], end: int) -> str:
        name = tag[3].lower()
        if name == "br":
            near = max(0, tag.start() - _MAX_LINE)
            before = text[near : tag.start()]
            line = before.rpartition("\n")[2]
            if "|" in line or text.startswith("\n", end):
                return " "
            return "\n"
        if end == tag.end() and name not in _EMPTY:
            return ""  # it is never closed, or closes nothing
        source = _to_html(text[tag.start() : end])
        return " ".join(self._read(source).split())

    def _read(self, source: str) -> str:
        self._pieces += 1
        if self._pieces > _MAX_PIECES:
            return source
        return read_fragment(source, self._base, links=self._links)[0]


def find_ends(text: str, tags: re.Pattern[str]) -> dict[int, int]:
    """Map the end of the opening tag of each element to the end of its closing tag.

    *tags* matches a tag; its groups are the slash of a closing one, and the name.
    """
    opened: dict[str, list[int]] = {}
    ends: dict[int, int] = {}
    for tag in tags.finditer(text):
        places = opened.setdefault(tag[2].lower(), [])
        if not tag[1]:
            places.append(tag.end())
        elif places:
            ends[places.pop()] = tag.end()
    return ends


def _end_of_block(text: str, opening: re.Match[str], ends: dict[int, int]) -> int:
    """Return where a block of HTML ends: at a blank line."""
    place = opening.end()
    if opening[2].lower() in _WHOLE:
        tag = _TAG.match(text, text.index("<", opening.start()))
        if tag:
            place = ends.get(tag.end(), place)
    return end_of_paragraph(text, place)


def end_of_paragraph(text: str, begin: int) -> int:
    """Return where a paragraph ends: at the next blank line."""
    blank = _BLANK_LINE.search(text, begin)
    if blank is None:
        return len(text)
    return blank.start()


def _end_of_element(text: str, tag: re.Match[str], ends: dict[int, int]) -> int:
    """Return where an element ends that begins with a tag, in its paragraph."""
    end = ends.get(tag.end())
    if end is None or tag[2]:
        return tag.end()
    if _BLANK_LINE.search(text, tag.end(), end):
        return tag.end()
    return end


def _to_html(source: str) -> str:
    """Return HTML with the Markdown in it as HTML: its code, pictures and links."""
    source = _CODE.sub(lambda code: f"<code>{escape(code[2])}</code>", source)
    source = _IMAGE.sub(lambda image: f'<img alt="{escape(image[1])}">', source)
    return _LINK.sub(lambda link: f'<a href="{escape(link[2])}">{link[1]}</a>', source)
