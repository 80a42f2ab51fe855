"""Find the author and the dates that a page shows: in microdata, or in the few lines
around the headline.
"""

from __future__ import annotations
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from ..._text.dates import find_date, find_dates, parse_date
from .phrases import PHRASES

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_CHANGED = re.compile(PHRASES["changed"], re.IGNORECASE)
_PUBLISHED = re.compile(PHRASES["published"], re.IGNORECASE)
# Words that may stand beside the date in a line that is nothing but a date: time of
# day, weekday, time to read.
_BESIDE = frozenset(
    "am pm a p m t z h hrs uhr utc gmt est edt cst cdt mst mdt pst pdt bst cet cest "
    "ist jst "
    "at on um le den kl the el il min mins minute minutes read reading "
    "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat "
    "saturday sun sunday".split()
)
_WORD = re.compile(r"[^\W\d_]+")
_BY_SOMEONE = re.compile(
    r"\b(?:by|par|von|por)\b(?:\s*:)?(?:\s+[\w.-]+){0,6}", re.IGNORECASE
)
_RANGE = re.compile(
    r"\s*(?:[-–—~]|to|until|till|through|and|bis|und|au|al|à|y|et|do|до|по)\s*",  # noqa: RUF001
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"\b(?:valid|until|till|expir\w+|deadline|due)\b|\bfrom\b[^.]*\d[^.]*\bto\b",
    re.IGNORECASE,
)
_OTHER_LABEL = re.compile(r":\s*$")
_NEAR = 80  # nodes to look at from the headline on
_BEFORE = 60  # nodes to look at before it
_ABOVE = 3  # levels above it to begin at
_MAX_PROPERTIES = 200
_MAX_LENGTH = 100  # characters of a line with an author
_MAX_LINE_LENGTH = 200  # characters of a line, or a class, that are searched for one
_MAX_LEVELS = 20
_MAX_PIECES = 8  # of a line before a date
_MIN_SENTENCE = 4  # words in lower case
_LEVELS_OF_FACTS = 3  # elements around a date, one of which may be the value of a label
_LABEL_OF_FACT = re.compile(r"[^\W\d_][^\d]{0,40}")
_MAX_NODES = 100  # in an element whose text is read as a line
_MAX_TEXT_LENGTH = 6_000  # characters
_MAX_WORDS = 12  # of a name, or a list of names
_SPACES = range(1, 4)  # in a name before a comma
# names: with fewer, what follows the first may be a title or an employer
_MIN_LISTED = 4

_UNSEEN = frozenset(
    "script style nav svg button select form template iframe picture img rt rp".split()
)
_APART = frozenset({"br", "div", "li", "p"})
_INLINE = frozenset({"a", "abbr", "b", "em", "i", "small", "span", "strong", "time"})
_HEADINGS = frozenset({"h2", "h3", "h4"})
_CELLS = frozenset({"td", "th"})
# Inside these, authors and dates are not those of the page.
_OTHERS = re.compile(
    r"comment|review|answer|hasPart|itemListElement|related", re.IGNORECASE
)
# Common names of classes: byline, post-author, authorName, c-author__name, username.
_BY_CLASS = re.compile(
    r"(?:^|[\s_-])(?:post|entry|article|page|blog|story|meta|c|m)?[_-]*(?:authors?|by-?line|writers?|user-?name|posted-?by)"
    r"(?:[_-]*(?:names?|links?|text|titles?|info|url|label|value|lists?(?:[_-]*items?)?))?(?:__?\w{5,6})?(?=\s|$)"
    r"|[aA]uthor_?Name|PostUser-name|(?<=[a-z])Authors?(?:Links?|Lists?|Info|Text)?(?=[\s_-]|$)",
    re.ASCII,
)
_VERB = r"(?:written|posted|published|reported|created|authored|submitted|asked|started|words|story|article)"
# in other languages, where it begins many other lines too
_OTHER_BY = r"(?:von|par|por|door|av|af)"
_NOUN = r"(?:authors?|autor(?:in|a|e|es|as)?|auteure?s?|yazar|автор|penulis)"
_BY = re.compile(
    rf"^(?:{_VERB}\s+)?by\b[\s:]*|^(?:author|authors|writer|par|von|por)\b\s*:?\s*|^(?:{_OTHER_BY}|{_NOUN})\s*:\s*",
    re.IGNORECASE,
)
_LABEL = re.compile(
    rf"(?:{_VERB}\s+)?by\s*:?|thread starter|topic author|topic "
    rf"starter|(?:{_OTHER_BY}|di|{_NOUN})\s*:?",
    re.IGNORECASE,
)
_NAME_FOLLOWS = r"(?=[^\W\d_])(?![a-z])"
_BY_NAME = re.compile(
    rf"(?:(?i:{_VERB})\s+)?(?:by|By|BY)\b[\s:]+{_NAME_FOLLOWS}|(?i:{_OTHER_BY}|{_NOUN})\s*:\s*{_NAME_FOLLOWS}"
    r"|(?:Von|Par|Por)(?:\s+[^\W\d_a-z][\w.'’-]*){2,4}\s*$"  # noqa: RUF001 - as names have them
)
_END = re.compile(
    r"\s*[|·•»«]\s*|\s+[-–—/]\s+"  # noqa: RUF001 - as pages have them
    r"|,?\s*\b(?:published|last updated|updated "
    r"on|updated|posted|on)\b[\s:]*(?=\w*\W*\d|$)",
    re.IGNORECASE,
)
_BEFORE_DATE = re.compile(
    r"(?:,|\s+on)\s+(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s*$|,\s*$", re.IGNORECASE
)
# Between two full names: "Ada Lovelace and Mary Shelley", but "Smith and Sons" is one
# name.
_AND = re.compile(r"(?<=\w\w)(?: and | und | et | & )(?=[^\W\d_]\S* [^\W\d_])(?![a-z])")
_INITIALS = re.compile(r"(?<=\w) \(\w{1,5}\.?\)(?=$|,)")  # "Ada Lovelace (al)"
_YEAR = re.compile(r"[12]\d{3}")
_NO_NAME = re.compile(
    r"https?:|www\.|@\S+\.\w|[{}<>\[\]]|[.!?]\s+\w+\s+\w+\s+\w+|^\W*$|^\d+\b"
    r"|^(?:the )?(?:authors?|by|admin|administrator|unknown|anonymous|guest|editor|user-?name|name)$"
    r"|^(?:share|follow|more|reviews?|home|category|google\+?)$",
    re.IGNORECASE,
)


@dataclass
class Byline:
    """The author and dates found; any of them may be missing."""

    author: str | None = None
    published: datetime | None = None
    modified: datetime | None = None

    @property
    def complete(self) -> bool:
        """Whether the search can end. *modified* does not count, since few pages have
        all three.
        """
        return bool(self.author and self.published)

    def date(self, date: datetime | None, words: str) -> None:
        """Add a date, as published or modified depending on the *words* around it."""
        if date and says_changed(words):
            self.modified = self.modified or date
        elif date:
            self.published = self.published or date


def read_byline(headline: LexborNode | None, marked: Sequence[LexborNode]) -> Byline:
    """Find the author and the dates of a page: in the microdata of the *marked*
    elements, and near its *headline*.
    """
    found = Byline()
    _read_microdata(marked, found)
    if headline is not None and not found.complete:
        _read_lines(headline, found)
    return found


def person(text: str) -> str | None:
    """Return the name in a line such as ``By Ada Lovelace | May 4``, or None; several
    names come with commas.
    """
    whole = " ".join(text[:_MAX_LINE_LENGTH].split())
    line = _BY.sub("", whole)
    begin = next((start for _, start, _ in find_dates(line)), 0) if line != whole else 0
    if lead := _BEFORE_DATE.search(line[:begin]):
        line = line[: lead.start()]
    line = _AND.sub(", ", _INITIALS.sub("", _END.split(line, maxsplit=1)[0])).strip(
        " ,;:-–—"  # noqa: RUF001
    )
    if len(line) > _MAX_LENGTH or line.count(" ") >= _MAX_WORDS:
        line = _first_names(line)
    if not 2 <= len(line) <= _MAX_LENGTH or _NO_NAME.search(line) or find_date(line):
        return None
    return line


def _first_names(line: str) -> str:
    """Return those names of a long list that fit, or the name before ``, professor of
    ...``; maybe an empty string.
    """
    whole = (
        line if len(line) <= _MAX_LENGTH else line[: _MAX_LENGTH + 1].rpartition(",")[0]
    )
    names = [name.strip() for name in whole.split(",")]
    fit = [name.count(" ") in _SPACES and not name[0].islower() for name in names]
    if all(fit) and len(names) >= _MIN_LISTED:
        return ", ".join(names)
    return names[0] if fit[0] else ""


def _read_microdata(marked: Sequence[LexborNode], found: Byline) -> None:
    for node in marked[:_MAX_PROPERTIES]:
        kind = node.attributes.get("itemprop")
        if kind not in {
            "author",
            "creator",
            "datePublished",
            "dateCreated",
            "dateModified",
        } or _is_of_other_page(node):
            continue
        if kind.startswith("date"):
            value = _value(node)
            found.date(parse_date(value) or find_date(value), kind)
        elif not found.author:
            found.author = person(_value(node.css_first('[itemprop="name"]') or node))


def _value(node: LexborNode) -> str:
    attributes = node.attributes
    return attributes.get("content") or attributes.get("datetime") or line_of(node)


def _is_of_other_page(node: LexborNode) -> bool:
    around = (above.attributes for above in enclosing(node.parent, _MAX_LEVELS))
    return any(
        _OTHERS.search(f"{one.get('itemprop')} {one.get('itemtype')}") for one in around
    )


def enclosing(node: LexborNode | None, most: int) -> Iterator[LexborNode]:
    """Yield an element and those around it, below the body: at most so many."""
    while node is not None and node.tag != "body" and most:
        yield node
        node, most = node.parent, most - 1


def _read_lines(headline: LexborNode, found: Byline) -> None:
    title = line_of(headline)
    before, labelled = "", False
    for node, tag, below in _around(headline):
        if not tag:
            line = (node.text_content or "")[:_MAX_LINE_LENGTH].strip()
            if not line:
                continue
            if len(line) <= _MAX_LENGTH:
                if not found.author and (labelled or _BY_NAME.match(line)):
                    found.author = person(line)
                if (
                    _YEAR.search(line)
                    and fits_before_date(
                        _lead(node.parent), found.author, same_line=True
                    )
                    and _may_date(node.parent, f"{before} {line}")
                    and not _ends_sentence(node, found.author)
                ):
                    for date, words in dates_of_line(line, before, found.author):
                        found.date(date, words)
            labelled = bool(_LABEL.fullmatch(line))
            before = line[-40:]
        elif tag == "time":
            attributes = node.attributes
            stated = parse_date((attributes.get("datetime") or "").strip())
            fits = fits_before_date(
                _lead(node), found.author, same_line=True
            ) and fits_before_date(before)
            if stated and fits and is_past(stated) and _may_date(node, before):
                found.date(stated, f"{before} {attributes.get('class')}")
        elif below and tag in _HEADINGS and _leads_on(node, title):
            return
        elif (
            not found.author
            and (attributes := node.attributes)
            and (
                "author" in (attributes.get("rel") or "")
                or _BY_CLASS.search((attributes.get("class") or "")[:_MAX_LINE_LENGTH])
            )
        ):
            found.author = person(line_of(node))
        if found.complete:
            return


def _may_date(node: LexborNode | None, words: str) -> bool:
    """Return whether a date in an element may be that of the page: not a fact, such as
    the day on which a person was born, unless the *words* say so.
    """
    return _says_when(words) or not any(
        map(_is_value, enclosing(node, _LEVELS_OF_FACTS))
    )


def _ends_sentence(node: LexborNode, author: str | None) -> bool:
    """Return whether a text goes on with a sentence that elements in the same line
    interrupt, as in ``It stood in the <i>Gazette</i>, May 4``.
    """
    before: list[str] = []
    beside = node.prev
    while beside is not None and len(before) < _MAX_PIECES:
        if beside.is_text_node:
            before.append((beside.text_content or "")[:_MAX_LINE_LENGTH])
        elif beside.tag in _INLINE:
            before.append(line_of(beside)[:_MAX_LINE_LENGTH])
        else:
            break
        beside = beside.prev
    words = " ".join(reversed(before))
    if _says_when(words) or _is_bare(words, author):
        return False
    lower = [word for word in _WORD.findall(words) if word.islower()]
    return len(lower) >= _MIN_SENTENCE


def _is_value(node: LexborNode) -> bool:
    """Return whether an element has the value of a label: in a list of definitions, in
    a row of a table, or in one of several rows of the same form.
    """
    if node.tag == "dd":
        return True
    label = _element_beside(node, after=False)
    if label is None or node.parent is None:
        return False
    if not _LABEL_OF_FACT.fullmatch(line_of(label)):
        return False
    if node.tag in _CELLS:
        return True
    row = node.parent
    for other in (
        _element_beside(row, after=False),
        _element_beside(row, after=True),
    ):
        if other is not None and other.tag == row.tag:
            first = _first_element(other)
            if first is not None and _look(first) == _look(label):
                return True
    return False


def _look(node: LexborNode) -> tuple[str, str]:
    return node.tag or "", node.attributes.get("class") or ""


def _element_beside(node: LexborNode, *, after: bool) -> LexborNode | None:
    """Return the element before or after another, if only white space parts them."""
    beside = node.next if after else node.prev
    while beside is not None and beside.is_empty_text_node:
        beside = beside.next if after else beside.prev
    return beside if beside is not None and beside.is_element_node else None


def _first_element(node: LexborNode) -> LexborNode | None:
    child = node.first_child
    while child is not None and child.is_empty_text_node:
        child = child.next
    return child if child is not None and child.is_element_node else None


def _lead(node: LexborNode | None) -> str:
    """Return the text right before an inline element, in the same line: ``Posted on``
    in ``Posted on <b>May 4</b>``.
    """
    before = node.prev if node is not None and node.tag in _INLINE else None
    return (
        (before.text_content or "").strip()
        if before is not None and before.is_text_node
        else ""
    )


def _leads_on(heading: LexborNode, title: str) -> bool:
    """Return whether a heading links to another page: what follows is about other
    pages.
    """
    text = line_of(heading)
    return (
        heading.css_first("a") is not None and text not in title and title not in text
    )


def _around(headline: LexborNode) -> Iterator[tuple[LexborNode, str, bool]]:
    """Yield the elements and texts around the headline, in the order of the page.

    Each comes with the name of the element, empty for text, and whether the headline
    has begun.
    """
    start = headline
    for _ in range(_ABOVE):
        above = start.parent
        if above is None or above.tag in {"body", "html", "main", None}:
            break
        start = above
    goal = headline.mem_id
    node: LexborNode | None = start
    left, passed = _BEFORE, False
    while node is not None and left:
        if not passed and node.mem_id == goal:
            left, passed = _NEAR, True
        left -= 1
        if not left and not passed:  # too many nodes before the headline
            node, left, passed = headline, _NEAR, True
        following = None
        if node.is_text_node:
            if not node.is_empty_text_node:
                yield node, "", passed
        elif node.is_element_node and (tag := node.tag or "") not in _UNSEEN:
            yield node, tag, passed
            following = node.first_child
        while following is None and node is not None:
            following = node.next
            if following is None:
                node = node.parent
        node = following


def line_of(node: LexborNode) -> str:
    """Return the text of an element on one line; only its beginning, if it contains
    many elements.
    """
    return " ".join("".join(_pieces(node)).split())


def begins(node: LexborNode, line: str) -> bool:
    """Return whether the text of an element begins with *line*."""
    # The first piece decides in most cases, and is quick to get.
    first = " ".join(
        next((piece for piece in _pieces(node) if not piece.isspace()), "").split()
    )
    return (line.startswith(first) or first.startswith(line)) and line_of(
        node
    ).startswith(line)


def _pieces(node: LexborNode) -> Iterator[str]:
    """Yield the texts in an element, and a space where a block begins."""
    waiting, left = [node.first_child], _MAX_NODES
    while waiting and left:
        child = waiting.pop()
        if child is None:
            continue
        left -= 1
        waiting.append(child.next)
        if child.is_text_node:
            yield (child.text_content or "")[:_MAX_TEXT_LENGTH]
        elif child.is_element_node and (tag := child.tag) not in _UNSEEN:
            if tag in _APART:
                yield " "
            waiting.append(child.first_child)


def says_changed(words: str) -> bool:
    """Return whether *words* around a date say that the page was changed then, rather
    than published.
    """
    return _CHANGED.search(words) is not None


def is_past(date: datetime) -> bool:
    """Return whether a page can have been published at *date*, in whatever zone its
    clock runs.
    """
    return date <= datetime.now(UTC) + timedelta(days=1)


def fits_before_date(
    words: str, author: str | None = None, *, same_line: bool = False
) -> bool:
    """Return whether a date after *words* may be that of the page: after ``Posted on``,
    not ``Show on``.

    If they are not in the *same_line*, they may be about anything, unless they end with
    a colon.
    """
    fits = _says_when(words) or (
        _is_bare(words, author) if same_line else _OTHER_LABEL.search(words) is None
    )
    return fits and _PERIOD.search(words) is None


def dates_of_line(
    line: str, before: str = "", author: str | None = None
) -> list[tuple[datetime, str]]:
    """Return the dates that a line near the headline states, each with the words that
    tell what it is.

    *before* is the end of the text before the line, which may be its label.
    """
    found = list(find_dates(line))
    if not found or not fits_before_date(before) or _PERIOD.search(line):
        return []
    starts, ends = [start for _, start, _ in found], [end for _, _, end in found]
    between = [line[end:start] for end, start in zip(ends, starts[1:], strict=False)]
    if any(map(_RANGE.fullmatch, between)):
        return []
    if not _says_when(line) and not _is_bare(
        line[: starts[0]] + line[ends[0] :], author
    ):
        return []
    words = [f"{before} {line[: starts[0]]}", *between]
    words[-1] += line[ends[-1] :]
    return [
        (date, said)
        for (date, _, _), said in zip(found, words, strict=True)
        if is_past(date)
    ]


def _is_bare(words: str, author: str | None) -> bool:
    """Return whether the *words* beside a date are nothing but a byline, a time of day
    and the like.
    """
    rest = _BY_SOMEONE.sub(
        " ", words.replace(author, " ") if author else words, count=1
    )
    return all(word.casefold() in _BESIDE for word in _WORD.findall(rest))


def _says_when(words: str) -> bool:
    return _PUBLISHED.search(words) is not None or says_changed(words)
