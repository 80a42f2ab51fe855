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
from itertools import chain
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
    path_of,
)
from .markup import (
    VOID,
    end_of_paragraph,
    end_of_span,
    find_ends,
    read_attributes,
    write_markup,
)
from .text import decode_text, note_hidden

_HEADING = re.compile(r"^#{1,2} +(.+)$", re.MULTILINE)
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
_QUOTATION = re.compile(r'"((?:[^"\\]|\\.)*+)"|\'((?:[^\']|\'\')*+)\'')
_COMMENT = re.compile(r"(?:^|[ \t])#.*")
# Of what is not seen.
_TOKEN = re.compile(
    r"(`+)|<!--|<([a-z][a-z0-9-]{0,30})((?:[\s/][^<>]{0,2000})?)>", re.IGNORECASE
)
_TAG = re.compile(r"<(/?)([a-z][a-z0-9-]{0,30})(?:[\s/][^<>]{0,2000})?>", re.IGNORECASE)


def read_markdown(document: Document) -> Page:
    url = document.url
    decoded = decode_text(document, markup=False)
    text = decoded.text.replace("\r\n", "\n").lstrip("\n")
    values, begin = read_front_matter(text)
    content, hidden = remove_unseen(text[begin:])
    content = write_markup(content, url, document.links)
    facts = dict(_facts(values))
    notes = [*decoded.notes, *note_hidden(hidden, "hidden passage")]
    pages: dict[str, Any] = {}
    note = ""
    if path_of(url).endswith("/llms.txt"):
        pages, note = _read_page_list(content, url)
    if pages:
        facts |= pages
        notes.append(note)
    else:
        heading = _HEADING.search(content)
        if heading:
            facts.setdefault("title", one_line(heading[1], TITLE_LENGTH))
    return document.to_page(
        content,
        truncated=decoded.cut,
        notes=notes,
        **facts,
    )


def _facts(values: Mapping[str, list[str]]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a page that front matter states."""

    def find(keys: str) -> list[str]:
        for key in keys.split():
            texts = [*filter(None, values.get(key, ()))]
            if texts:
                return texts
        return []

    title = one_line(strip_markup(" ".join(find("title"))), TITLE_LENGTH)
    if title:
        yield "title", title
    description = strip_markup(" ".join(find(_DESCRIPTIONS)))
    yield "description", one_line(description, DESCRIPTION_LENGTH) or None
    authors = (
        _MAIL.sub("", strip_markup(author)).strip()
        for author in find(_AUTHORS)[:_MAX_AUTHORS]
    )
    yield "author", one_line(", ".join(filter(None, authors)), NAME_LENGTH) or None
    yield "published", _date(values, _PUBLISHED)
    yield "modified", _date(values, _MODIFIED)
    yield "language", language_of(find("lang language locale"))
    site_name = " ".join(find("site_name sitename site"))
    yield "site_name", one_line(site_name, NAME_LENGTH) or None


def _date(values: Mapping[str, list[str]], keys: str) -> datetime | None:
    for key in keys.split():
        date = parse_date(next(iter(values.get(key, ())), None))
        if date:
            return date
    return None


def _read_page_list(text: str, url: str) -> tuple[dict[str, Any], str]:
    """Read a list of pages (https://llmstxt.org/).

    It has a title, a summary in a quotation, and sections with lists of links. Returns
    what it states, and a note on it; nothing if it has no title, or no link in a list.
    """
    title = _LIST_TITLE.match(text)
    if not title:
        return {}, ""
    targets: dict[str, str | None] = {}  # by how they are written
    summary: list[str] = []
    sections = 0
    for line in text[title.end() :].splitlines():
        item = _LIST_ITEM.match(line)
        quotation = _QUOTED.match(line)
        is_top = not sections and not targets
        if item and len(targets) < MAX_LINKS:
            entry = item[1][:_MAX_ITEM_LENGTH]
            target = _LINK.search(entry) or _BARE.match(entry)
            if target:
                targets.setdefault(target[1], absolute(target[1], url))
        elif quotation and is_top:
            summary.append(quotation[1])
        sections += bool(_SECTION.match(line))
    links = tuple(dict.fromkeys(filter(None, targets.values())))
    if not links:
        return {}, ""
    plain = _LINK_TEXT.sub(r"\1", " ".join(summary)).replace("**", "").replace("`", "")
    facts = {"links": links, "title": one_line(title[1].rstrip(" #"), TITLE_LENGTH)}
    description = one_line(plain, DESCRIPTION_LENGTH)
    if description:
        facts["description"] = description
    note = (
        f"a list of pages for language models: {quantity(len(links), 'link')} in "
        f"{quantity(sections, 'section')}"
    )
    return facts, note


def read_front_matter(text: str) -> tuple[Mapping[str, list[str]], int]:
    """Read the front matter at the beginning of *text*.

    Lines of another form between such marks are text.

    Returns the values of each key, in lower case, and where the text after it begins: 0
    if there is no front matter.
    """
    begin = _BEGIN.match(text)
    if not begin:
        return {}, 0
    end = _ENDS[begin[1]].search(text, begin.end(), begin.end() + _MAX_LENGTH)
    if not end:
        return {}, 0
    lines = text[begin.end() : end.start()]
    if begin[1] == "+++":
        values = _read_toml(lines)
    else:
        values = _read_yaml(lines.splitlines())
    if not values:
        return {}, 0
    return values, end.end()


def _read_toml(lines: str) -> dict[str, list[str]]:
    try:
        table = tomllib.loads(lines)
    except (ValueError, RecursionError):
        return {}
    return {key.lower(): _flatten(value) for key, value in table.items()}


def _flatten(value: object) -> list[str]:
    """Return a value of TOML as texts; of a table, its name."""
    if isinstance(value, list):
        entries = [
            entry for entry in value[:_MAX_VALUES] if not isinstance(entry, list)
        ]
        return [*chain.from_iterable(map(_flatten, entries))]
    if isinstance(value, dict):
        name = value.get("name")
        if not isinstance(name, str):
            return []
        return [name]
    return [str(value)]


def _read_yaml(lines: Iterable[str]) -> dict[str, list[str]]:
    first: dict[str, str] = {}  # the rest of the line of each key
    # the lines below a key that are indented, or items of its list
    below: dict[str, list[str]] = {}
    key = ""
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        belongs = line[0] in " \t" or _ITEM.fullmatch(line)
        if key and belongs:
            below[key].append(line.strip())
            continue
        pair = _KEY.fullmatch(line.rstrip())
        if not pair:
            return {}
        key = _key_of(pair)
        first[key] = (pair[4] or "").strip()
        below[key] = []
    return {key: _values(value, below[key]) for key, value in first.items()}


def _key_of(pair: re.Match[str]) -> str:
    return (pair[1] or pair[2] or pair[3]).lower()


def _values(value: str, below: list[str]) -> list[str]:
    """Return the values of a key, from the rest of its line and the lines below it."""
    if _BLOCK.fullmatch(_COMMENT.sub("", value)):
        return [" ".join(below)]
    value = " ".join([value, *below]) if value else ""
    if value.startswith("[") and value.rstrip().endswith("]"):
        items = _IN_LIST.findall(value.strip()[1:-1])[:_MAX_VALUES]
        return [_scalar(item) for item in map(str.strip, items) if item]
    if value:
        return [_scalar(value)]
    return [*filter(None, map(_name_in, below))][:_MAX_VALUES]


def _name_in(line: str) -> str:
    """Return an item of a list; of a mapping, only its name."""
    item = _ITEM.fullmatch(line)
    if item:
        line = item[1] or ""
    pair = _KEY.fullmatch(line)
    if not pair:
        return _scalar(line)
    if _key_of(pair) != "name":
        return ""
    return _scalar(pair[4] or "")


def _scalar(value: str) -> str:
    if value in {"~", "null"}:
        return ""
    if value[:1] not in {'"', "'"}:
        return _COMMENT.sub("", value).strip()
    quotation = _QUOTATION.match(value)
    if not quotation:
        return value
    if quotation[1] is not None:
        return re.sub(r"\\(.)", r"\1", quotation[1])
    return quotation[2].replace("''", "'")


def remove_unseen(text: str) -> tuple[str, int]:
    """Return Markdown without what its readers do not see.

    Returns the number of hidden elements that were left out as well.
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
    pieces: list[str] = []
    ends: dict[int, int] | None = None  # of elements; looked for once, if one hides
    begin = 0  # of the text that is not in the pieces yet
    position = 0
    count = 0
    token = _TOKEN.search(text)
    while token:
        position = token.end()
        hides = token[2] is not None and _hides(token[2].lower(), token[3])
        if token[1]:
            position = end_of_span(text, token)
            end = position
        elif hides:
            if ends is None:
                ends = find_ends(text, _TAG)
            # one that is never closed ends with its paragraph
            end = ends.get(position) or end_of_paragraph(text, position)
        elif token[2] is None:
            end = _end_of_comment(text, token)
        else:
            end = position
        if end > position:
            pieces.append(text[begin : token.start()])
            begin = end
            position = end
            count += hides
        token = _TOKEN.search(text, position)
    return "".join([*pieces, text[begin:]]), count


def _end_of_comment(text: str, opening: re.Match[str]) -> int:
    """Return the end of a comment.

    One that never ends hides the rest of the text, if it begins a line.
    """
    end = text.find("-->", opening.end())
    if end >= 0:
        return end + 3
    before = text[text.rfind("\n", 0, opening.start()) + 1 : opening.start()]
    if before.strip():
        return opening.end()
    return len(text)


def _hides(name: str, source: str) -> bool:
    if name in VOID:
        return False
    attributes = read_attributes(source)
    if name != "dialog" and MAY_HIDE.isdisjoint(attributes):
        return False
    look = judge_inline_style(attributes.get("style") or "")
    return hiding(name, attributes, look) > 0
