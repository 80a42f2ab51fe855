"""Read Markdown: its front matter becomes metadata, and ``/llms.txt`` is read as the
list that it is.

Front matter is lines of YAML between ``---``, or of TOML between ``+++``. Only the part
of YAML that it is made of is understood: one key a line, with a text, a list or a block
of text. There is no tag, anchor or alias, so nothing can be constructed, repeated or
included.
"""

from __future__ import annotations
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from html import unescape
from typing import Any

from ..._text.dates import parse_date
from ..._text.invisible import one_line
from ..._text.markup import strip_markup
from ..._text.quantity import quantity
from ...models import Page
from .._html.css.look import judge_inline_style
from .._html.hidden import MAY_HIDE, hiding
from .._links import MAX_LINKS, absolute
from .._markdown.fences import outside_fences
from .._types import (
    DESCRIPTION_LENGTH,
    NAME_LENGTH,
    TITLE_LENGTH,
    Document,
    language_of,
    make_page,
    path_of,
)
from .text import decode_text

_HEADING = re.compile(r"^#{1,2} +(.+)$", re.MULTILINE)
# Collapsible parts: their label becomes bold, and they are shown open.
_SUMMARY = re.compile(
    r"^( {0,3}(?:<details(?: [^<>\n]{0,200})?>)?[ \t]*)<summary>([^<>*\n]++)</summary>",
    re.MULTILINE | re.IGNORECASE,
)
_DETAILS = re.compile(
    r"^ {0,3}</?details(?: [^<>\n]{0,200})?>|</details>[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_MAIL = re.compile(r"<[^<>@\s]+@[^<>\s]+>")
_DESCRIPTIONS = "description summary excerpt abstract subtitle"
_AUTHORS = "author authors creator byline"
_PUBLISHED = (
    "date published datepublished published_at publishdate pubdate publish_date "
    "publication_date published_time "
    "created created_at"
)
_MODIFIED = (
    "modified updated lastmod last_updated last_modified lastupdated lastmodified "
    "datemodified updated_at last-updated "
    "last-modified modified_time"
)
_MAX_AUTHORS = 10

# Of ``/llms.txt``.
_LIST_TITLE = re.compile(r"\s*#[ \t]+(\S.*)")
_QUOTED = re.compile(r" {0,3}> ?(.*)")
_SECTION = re.compile(r" {0,3}#{2,6}[ \t]+\S")
_LIST_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(.+)")
_LINK = re.compile(
    r"\[(?:[^\[\]]|\[[^\[\]]*+\])*+\]\(\s*+<?([^\s<>()]*+(?:\([^\s<>()]*+\)[^\s<>()]*+)*+)>?[^()]*+\)"
)
_BARE = re.compile(r"<?(https?://[^\s<>]+)>?")
_MAX_ITEM_LENGTH = 5_000  # characters
_LINK_TEXT = re.compile(r"\[([^\[\]]*+)\]\([^()]*+\)")
# Of front matter.
_MAX_LENGTH = 20_000  # characters; a longer one is text between two lines
_MAX_VALUES = 50  # of one key
_BEGIN = re.compile(r"(---|\+\+\+)[ \t]*\n")
_ENDS = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE),
}
_KEY = re.compile(
    r"(?:\"([^\"\n]{1,80})\"|'([^'\n]{1,80})'|([A-Za-z_][\w.:-]{0,79}))[ \t]*:(?:[ "
    r"\t]+(.*)|[ \t]*)"
)
_ITEM = re.compile(r"-(?:[ \t]+(.*))?")
_BLOCK = re.compile(r"[|>][+-]?[1-9]?[+-]?")
_IN_LIST = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^']|'')*+'|[^,]+")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
# Of what is not seen.
_MAX_SPAN = 2_000  # characters of a code span
_TOKEN = re.compile(
    r"(`+)|<!--|<([a-z][a-z0-9-]{0,30})((?:[\s/][^<>]{0,2000})?)>", re.IGNORECASE
)
_TAG = re.compile(r"<(/?)([a-z][a-z0-9-]{0,30})(?:[\s/][^<>]{0,2000})?>", re.IGNORECASE)
_ATTRIBUTE = re.compile(
    r"([^\s\"'=/>]{1,50})(?:\s{0,5}=\s{0,5}(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+)))?"
)
_BLANK_LINE = re.compile(r"\n[ \t]*\n|\Z")
_VOID = frozenset(
    "area base br col embed hr img input link meta source track wbr".split()
)


def read_markdown(document: Document) -> Page:
    url = document.url
    text, cut, notes = decode_text(document, markup=False)
    text = text.replace("\r\n", "\n").lstrip("\n")
    values, begin = read_front_matter(text)
    content, hidden = remove_unseen(text[begin:])
    if _DETAILS.search(content):
        content = outside_fences(content, _open_details)
    facts = dict(_facts(values))
    notes += (f"{quantity(hidden, 'hidden passage')} left out",) if hidden else ()
    if path_of(url).rpartition("/")[2] == "llms.txt" and (
        listed := _read_page_list(content, url)
    ):
        facts |= listed[0]
        notes += (listed[1],)
    elif "title" not in facts and (heading := _HEADING.search(content)):
        facts["title"] = one_line(heading[1], TITLE_LENGTH)
    return make_page(
        url, document.media_type, content, truncated=cut, notes=notes, **facts
    )


def _open_details(text: str) -> str:
    return _DETAILS.sub(
        "", _SUMMARY.sub(lambda found: f"{found[1]}**{found[2].strip()}**", text)
    )


def _facts(values: Mapping[str, list[str]]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a page that front matter states."""

    def find(keys: str) -> list[str]:
        return next(
            (
                found
                for key in keys.split()
                if (found := [one for one in values.get(key, ()) if one])
            ),
            [],
        )

    if title := one_line(strip_markup(" ".join(find("title"))), TITLE_LENGTH):
        yield "title", title
    yield (
        "description",
        one_line(strip_markup(" ".join(find(_DESCRIPTIONS))), DESCRIPTION_LENGTH)
        or None,
    )
    authors = (
        _MAIL.sub("", strip_markup(author)).strip()
        for author in find(_AUTHORS)[:_MAX_AUTHORS]
    )
    yield "author", one_line(", ".join(filter(None, authors)), NAME_LENGTH) or None
    yield "published", _date(values, _PUBLISHED)
    yield "modified", _date(values, _MODIFIED)
    yield "language", language_of(find("lang language locale"))
    yield (
        "site_name",
        one_line(" ".join(find("site_name sitename site")), NAME_LENGTH) or None,
    )


def _date(values: Mapping[str, list[str]], keys: str) -> datetime | None:
    dates = (
        parse_date(value) for key in keys.split() for value in values.get(key, ())[:1]
    )
    return next(filter(None, dates), None)


def _read_page_list(text: str, url: str) -> tuple[dict[str, Any], str] | None:
    """Read a list of pages (https://llmstxt.org/): a title, a summary in a quotation,
    sections with lists of links.

    Returns the facts that it states, and a note; None if it has no title, or no link in
    a list.
    """
    title = _LIST_TITLE.match(text)
    if not title:
        return None
    links: dict[str, str | None] = {}  # by how they are written
    summary: list[str] = []
    sections = 0
    for line in text[title.end() :].splitlines():
        if len(links) < MAX_LINKS and (item := _LIST_ITEM.match(line)):
            entry = item[1][:_MAX_ITEM_LENGTH]
            target = _LINK.search(entry) or _BARE.match(entry)
            if target and target[1] not in links:
                links[target[1]] = absolute(target[1], url)
        elif not sections and not links and (quoted := _QUOTED.match(line)):
            summary.append(quoted[1])
        sections += bool(_SECTION.match(line))
    found = tuple(dict.fromkeys(filter(None, links.values())))
    if not found:
        return None
    plain = _LINK_TEXT.sub(r"\1", " ".join(summary)).replace("**", "").replace("`", "")
    facts = {"links": found, "title": one_line(title[1].rstrip(" #"), TITLE_LENGTH)}
    if about := one_line(plain, DESCRIPTION_LENGTH):
        facts["description"] = about
    return facts, (
        f"a list of pages for language models: {quantity(len(found), 'link')} in "
        f"{quantity(sections, 'section')}"
    )


def read_front_matter(text: str) -> tuple[Mapping[str, list[str]], int]:
    """Read the front matter at the beginning of *text*; lines of another form between
    such marks are text.

    Returns the values of each key, in lower case, and where the text after it begins: 0
    if there is no front matter.
    """
    begin = _BEGIN.match(text)
    end = begin and _ENDS[begin[1]].search(text, begin.end(), begin.end() + _MAX_LENGTH)
    if not begin or not end:
        return {}, 0
    lines = text[begin.end() : end.start()]
    values = _read_toml(lines) if begin[1] == "+++" else _read_yaml(lines.splitlines())
    return (values, end.end()) if values else ({}, 0)


def _read_toml(lines: str) -> dict[str, list[str]]:
    try:
        table = tomllib.loads(lines)
    except (ValueError, RecursionError):
        return {}
    return {key.lower(): _flatten(value) for key, value in table.items()}


def _flatten(value: object) -> list[str]:
    """Return a value of TOML as texts; of a table, its name."""
    if isinstance(value, list):
        return [
            text
            for one in value[:_MAX_VALUES]
            for text in ([] if isinstance(one, list) else _flatten(one))
        ]
    if isinstance(value, dict):
        name = value.get("name")
        return [name] if isinstance(name, str) else []
    return [str(value)]


def _read_yaml(lines: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    # the lines below a key that are indented, or items of its list
    below: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        if key and (line[0] in " \t" or _ITEM.fullmatch(line)):
            below[key].append(line.strip())
        elif pair := _KEY.fullmatch(line.rstrip()):
            key = (pair[1] or pair[2] or pair[3]).lower()
            found[key], below[key] = [pair[4] or ""], []
        else:
            return {}
    return {key: _values(found[key][0].strip(), below[key]) for key in found}


def _values(value: str, below: list[str]) -> list[str]:
    """Return the values of a key, from the rest of its line and the lines below it."""
    if _BLOCK.fullmatch(_COMMENT.sub("", value)):
        return [" ".join(below)]
    value = " ".join([value, *below]) if value else ""
    if value.startswith("[") and value.rstrip().endswith("]"):
        return [
            _scalar(one.strip())
            for one in _IN_LIST.findall(value.strip()[1:-1])[:_MAX_VALUES]
            if one.strip()
        ]
    if value:
        return [_scalar(value)]
    items = (
        (item[1] or "") if (item := _ITEM.fullmatch(line)) else line for line in below
    )
    return [name for name in map(_named, items) if name][:_MAX_VALUES]


def _named(item: str) -> str:
    """Return an item of a list; of a mapping, only its name."""
    pair = _KEY.fullmatch(item)
    if not pair:
        return _scalar(item)
    return (
        _scalar(pair[4] or "")
        if (pair[1] or pair[2] or pair[3]).lower() == "name"
        else ""
    )


def _scalar(value: str) -> str:
    if value[:1] in {'"', "'"}:
        end = re.match(r'"((?:[^"\\]|\\.)*+)"|\'((?:[^\']|\'\')*+)\'', value)
        if not end:
            return value
        return (
            re.sub(r"\\(.)", r"\1", end[1])
            if end[1] is not None
            else end[2].replace("''", "'")
        )
    return "" if value in {"~", "null"} else _COMMENT.sub("", value).strip()


def remove_unseen(text: str) -> tuple[str, int]:
    """Return Markdown without what its readers do not see, and the number of hidden
    elements that were left out.
    """
    if "<" not in text:
        return text, 0
    count = 0

    def clean(part: str) -> str:
        nonlocal count
        part, hidden = _clean(part)
        count += hidden
        return part

    return outside_fences(text, clean), count


def _clean(text: str) -> tuple[str, int]:
    kept: list[str] = []
    ends: dict[int, int] | None = None
    begin = position = count = 0
    while token := _TOKEN.search(text, position):
        position = token.end()
        if token[1]:
            position = _end_of_span(text, token)
            continue
        hides = token[2] is not None and _hides(token[2].lower(), token[3])
        if token[2] is not None and not hides:
            continue
        if hides and ends is None:
            ends = _find_ends(text)
        end = (
            (ends or {}).get(position) or _end_of_block(text, position)
            if hides
            else _end_of_comment(text, token)
        )
        if end > position:
            kept.append(text[begin : token.start()])
            begin = position = end
            count += hides
    return "".join([*kept, text[begin:]]), count


def _end_of_span(text: str, ticks: re.Match[str]) -> int:
    """Return the end of the code span that begins with *ticks*, or their own end if
    there is no such span.
    """
    most = min(ticks.end() + _MAX_SPAN, len(text))
    closing = re.compile(rf"(?<!`)`{{{len(ticks[1])}}}(?!`)").search(
        text, ticks.end(), most
    )
    return closing.end() if closing else ticks.end()


def _end_of_comment(text: str, opening: re.Match[str]) -> int:
    """Return the end of a comment. One that never ends hides the rest of the text, if
    it begins a line.
    """
    end = text.find("-->", opening.end())
    if end >= 0:
        return end + 3
    before = text[text.rfind("\n", 0, opening.start()) + 1 : opening.start()]
    return opening.end() if before.strip() else len(text)


def _hides(name: str, source: str) -> bool:
    found = _ATTRIBUTE.finditer(source)
    attributes = {
        one[1].lower(): unescape(one[2] or one[3] or one[4] or "") for one in found
    }
    if name in _VOID or (name != "dialog" and MAY_HIDE.isdisjoint(attributes)):
        return False
    return (
        hiding(name, attributes, judge_inline_style(attributes.get("style") or "")) > 0
    )


def _find_ends(text: str) -> dict[int, int]:
    """Map the end of the opening tag of each element to the end of its closing tag."""
    opened: dict[str, list[int]] = {}
    ends: dict[int, int] = {}
    for tag in _TAG.finditer(text):
        places = opened.setdefault(tag[2].lower(), [])
        if not tag[1]:
            places.append(tag.end())
        elif places:
            ends[places.pop()] = tag.end()
    return ends


def _end_of_block(text: str, begin: int) -> int:
    """Return where an element that is never closed ends: at the next blank line."""
    over = _BLANK_LINE.search(text, begin)
    return over.start() if over else len(text)
