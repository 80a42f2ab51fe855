"""Find the author and the dates that a page shows: in microdata, or in the few lines
around the headline.
"""

from __future__ import annotations
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import takewhile
from typing import TYPE_CHECKING

from ..._text.dates import find_date, find_dates, parse_date
from .nodes import element_beside, first_element
from .phrases import COMMENTS, PHRASES, REVIEWS

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
_TO = r"(?:[-–—~]|to|until|till|through|and|bis|und|au|al|à|y|et|do|до|по)"  # noqa: RUF001
_RANGE = re.compile(rf"\s*{_TO}\s*", re.IGNORECASE)
# The first day of several, as in "9 to 16 October 2026".
_FIRST_DAY = re.compile(
    rf"(?<![:.\d])\d{{1,2}}\.?\s{{0,3}}{_TO}\s{{0,3}}$", re.IGNORECASE
)
_PERIOD = re.compile(
    r"\b(?:valid|until|till|expir\w+|deadline|due)\b|\bfrom\b[^.]*\d[^.]*\bto\b"
    # from one time of day to another; after a hyphen alone comes the offset of a zone
    r"|\d[:.]\d\d(?: ?[ap]\.?m\b\.?)?(?: - | ?[–—] ?)\d",  # noqa: RUF001
    re.IGNORECASE,
)
# Before the date of something else than the page, such as a birth or a deadline.
_OTHER_DATE_LABEL = re.compile(rf"\b(?:{PHRASES['other dates']})\W*$", re.IGNORECASE)
_FIRST_YEAR = 1991  # of the Web: what is older is the subject of a page
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
_MAX_BETWEEN = 150  # characters of a text between two rows of a list
_LEVELS_OF_FACTS = 3  # elements around a date, one of which may be the value of a label
_LEVELS_OF_ROWS = 4  # a cell, its row, the body and the table
_LABEL_OF_FACT = re.compile(r"[^\W\d_][^\d]{0,40}")
_LEVELS_OF_CARDS = 6  # elements around an author, one of which may be a card
_LESSER = "h2,h3,h4"
_MAX_NODES = 100  # in an element whose text is read as a line
_MAX_TEXT_LENGTH = 6_000  # characters
_MAX_WORDS = 12  # of a name, or a list of names
_HEAD = 8  # texts after the name of the sender, one of which has the date
_PROPERTIES = frozenset(
    {"author", "creator", "datePublished", "dateCreated", "dateModified"}
)
_SPACES = range(1, 4)  # in a name before a comma
# names: with fewer, what follows the first may be a title or an employer
_MIN_LISTED = 4

_UNSEEN = frozenset(
    "script style nav svg button select form template iframe picture img rt rp "
    "figcaption".split()
)
_APART = frozenset(
    "article br dd div dt h1 h2 h3 h4 h5 h6 header li p section td th tr".split()
)
_INLINE = frozenset({"a", "abbr", "b", "em", "i", "small", "span", "strong", "time"})
_HEADINGS = frozenset({"h2", "h3", "h4"})
_CELLS = frozenset({"td", "th"})
# Inside these, authors and dates are not those of the page.
_OTHERS = re.compile(
    r"comment|review|answer|product|hasPart|itemListElement|related", re.IGNORECASE
)
_RELATED = re.compile(
    r"(?<![a-z])(?:related|recommend(?:ed|ations?)|similar|read-?next|see-?also)(?![a-z])"
)
# Common names of classes: byline, post-author, authorName, c-author__name, username.
_BY_CLASS = re.compile(
    r"(?:^|[\s_-])(?:post|entry|article|page|blog|story|meta|c|m)?[_-]*(?:authors?|by-?line|writers?|user-?name|posted-?by)"
    r"(?:[_-]*(?:names?|links?|text|titles?|info|url|label|value|lists?(?:[_-]*items?)?))?(?:__?\w{5,6})?(?=\s|$)"
    r"|[aA]uthor_?Name|PostUser-name|(?<=[a-z])Authors?(?:Links?|Lists?|Info|Text)?(?=[\s_-]|$)",
    re.ASCII,
)
_BY_HINTS = ("uthor", "by", "riter", "ser")  # one is in all of these
_VERB = (
    r"(?:written|posted|published|reported|created|authored|submitted|asked|started"
    r"|words|story|article)"
)
# in other languages, where it begins many other lines too
_OTHER_BY = r"(?:von|par|por|door|av|af)"
_NOUN = r"(?:authors?|autor(?:in|a|e|es|as)?|auteure?s?|yazar|автор|penulis)"
_UNSPACED_NOUN = "(?:投稿者|著者|執筆者?|作者|記者|撰文|글쓴이|작성자)"
_BY = re.compile(
    rf"^(?:{_VERB}\s+)?by\b[\s:]*|^(?:author|authors|writer|par|von|por)\b\s*:?\s*|^(?:{_OTHER_BY}|{_NOUN})\s*:\s*"
    rf"|^{_UNSPACED_NOUN}\s*[:：]?\s*",  # noqa: RUF001 - as pages write it
    re.IGNORECASE,
)
_LABEL = re.compile(
    rf"(?:{_VERB}\s+)?by\s*:?|thread starter|topic author|topic "
    rf"starter|(?:{_OTHER_BY}|di|{_NOUN})\s*:?",
    re.IGNORECASE,
)
FULL_NAME = re.compile(r"[^\W\d_a-z][\w'’.-]*(?: [^\W\d_a-z][\w'’.-]*){1,2}")  # noqa: RUF001 - as names have them
_ROLES = (
    r"(?:[\w-]{1,30} ){0,3}(?:writer|reporter|correspondent|editor|columnist"
    r"|contributor|journalist|blogger|redakteur(?:in)?|journalist(?:in|e)|periodista|redactora?|giornalista)"
    r"s?(?: (?:in chief|at large)|-in-chief)?"
)
_NAME_FOLLOWS = r"(?=[^\W\d_])(?![a-z])"
_BY_NAME = re.compile(
    rf"(?:(?i:{_VERB})\s+)?(?:by|By|BY)\b[\s:]+{_NAME_FOLLOWS}|(?i:{_OTHER_BY}|{_NOUN})\s*:\s*{_NAME_FOLLOWS}"
    rf"|{_UNSPACED_NOUN}\s*[:： ]\s*(?=[^\W\d_])"  # noqa: RUF001 - as pages write it
    r"|(?:Von|Par|Por)(?:\s+[^\W\d_a-z][\w.'’-]*){2,4}\s*(?:$|[|·•]|,[^.]*\d"  # noqa: RUF001 - as names have them
    rf"|,\s+(?i:{_ROLES})$)"
)
_END = re.compile(
    r"\s*[|·•»«]\s*|\s+[-–—/]\s+"  # noqa: RUF001 - as pages have them
    r"|,?\s*\b(?:published|last updated|updated "
    r"on|updated|posted|on)\b[\s:]*(?=\w*\W*\d|$)",
    re.IGNORECASE,
)
_BEFORE_DATE = re.compile(
    r"(?:,|\s+on)\s+(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,?\s*$|,\s*$"
    rf"|,[^,]*(?:{PHRASES['published']})[^,]*$|(?<=[\u3040-\u9fff])\s+$",
    re.IGNORECASE,
)
# Between two full names: "Ada Lovelace and Mary Shelley", but "Smith and Sons" is one
# name.
_AND = re.compile(r"(?<=\w\w)(?: and | und | et | & )(?=[^\W\d_]\S* [^\W\d_])(?![a-z])")
# after a name: (al), (Author)
_INITIALS = re.compile(
    r"(?<=\w) \((?:\w{1,5}\.?|authors?|editor|illustrator|translator)\)(?=$|,)",
    re.IGNORECASE,
)
# What a person does, behind the name: "Ada Lovelace, Senior Staff Writer".
_ROLE = re.compile(
    rf",\s+{_ROLES}(?=\s{{0,3}}(?:$|[,|·•–—-]))",  # noqa: RUF001 - as pages have them
    re.IGNORECASE,
)
_ROLE_ALONE = re.compile(rf"\W{{0,5}}{_ROLES}", re.IGNORECASE)
# What a link beside a name leads to, or a word between an author and a section.
_NO_PART = re.compile(
    r"(?:view|see|follow|visit|more|all|read|about)\b.*"
    r"|(?:.*\b)?(?:profile|bio(?:graphy)?|posts|articles|orcid|website|contact|subscribe)"
    r"|x|twitter|facebook|linkedin|instagram|mastodon|bluesky|youtube|rss|e-?mail|@\w+",
    re.IGNORECASE,
)
_LEADS_TO_SECTION = frozenset({"in", "for", "at", "from", "via"})
# What follows a date: the time and its zone.
_TIME_AFTER_DATE = re.compile(
    r"(?:[\s\d:.,|·–—-]|\b(?:[ap]\.?m\b\.?|[A-Z]{2,4}\b(?!\.)))*"  # noqa: RUF001
)
_YEAR = re.compile(r"[12]\d{3}")
# As in "Published on 4.5.26 at 7:39": a short date is ambiguous, but no name.
_DATED = re.compile(r"\d[./-]\d|\d:\d\d")
_NO_NAME = re.compile(
    r"https?:|www\.|@\S+\.\w|[{}<>\[\]]|^[.#%$]|^[^\W\d_]+:\s|[.!?]\s+\w+\s+\w+\s+\w+|^\W*$|^\d+\b"
    r"|^(?:the )?(?:authors?|by|admin|administrator|unknown|anonymous|guest|editor"
    r"|user-?name|name|webmaster|super ?user|root|system|default)$"
    r"|^(?:share|follow|more|reviews?|home|category|google\+?|originally|first|last)$"
    r"|^(?:foto|photo|image|bild|picture|source|quelle|credit)s?\b|\bchecked$",
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
        if date is None:
            return
        if date.year < _FIRST_YEAR and not _says_when(words):
            return
        if says_changed(words):
            self.modified = self.modified or date
        else:
            self.published = self.published or date


def read_byline(headline: LexborNode | None, marked: Sequence[LexborNode]) -> Byline:
    """Find the author and the dates of a page: in the microdata of the *marked*
    elements, and near its *headline*.
    """
    byline = Byline()
    _read_microdata(marked, byline)
    if headline is not None and not byline.complete:
        _LineReader(headline, byline).read()
    return byline


def person(text: str) -> str | None:
    """Return the name in a line such as ``By Ada Lovelace | May 4``, or None; several
    names come with commas.
    """
    whole = _after_date(" ".join(text[:_MAX_LINE_LENGTH].split()))
    line = _BY.sub("", whole)
    if line != whole:
        line = _cut_before_date(line)
    line = _END.split(line, maxsplit=1)[0]
    line = _AND.sub(", ", _ROLE.sub("", _INITIALS.sub("", line))).strip(" ,;:-–—")  # noqa: RUF001
    if len(line) > _MAX_LENGTH or line.count(" ") >= _MAX_WORDS:
        line = _first_names(line)
    if not 2 <= len(line) <= _MAX_LENGTH or _ROLE_ALONE.fullmatch(line):
        return None
    if _NO_NAME.search(line) or find_date(line):
        return None
    if _DATED.search(line):
        return None
    return line


def lines_near(headline: LexborNode) -> Iterator[str]:
    """Yield the texts near a headline."""
    for node, tag, _ in _around(headline):
        if not tag:
            yield (node.text_content or "")[:_MAX_LINE_LENGTH]


def _after_date(line: str) -> str:
    """Return what follows the date, and the time, at the beginning of a line; the whole
    line if nothing does.
    """
    if not _YEAR.search(line) or _BY.match(line):
        return line
    spans = ((begin, end) for _, begin, end in find_dates(line))
    begin, end = next(spans, (0, 0))
    if not end or not _is_bare(line[:begin], None):
        return line
    time = _TIME_AFTER_DATE.match(line, end)
    rest = line[end:] if time is None else line[time.end() :]
    return rest or line


def _cut_before_date(line: str) -> str:
    """Cut a line where it leads on to a date: ``Ada Lovelace on Monday, May 4``."""
    begin = next((start for _, start, _ in find_dates(line)), 0)
    lead = _BEFORE_DATE.search(line[:begin])
    if lead is None:
        return line
    return line[: lead.start()]


def _first_names(line: str) -> str:
    """Return those names of a long list that fit, or the name before ``, professor of
    ...``; maybe an empty string.
    """
    if len(line) > _MAX_LENGTH:
        line = line[: _MAX_LENGTH + 1].rpartition(",")[0]
    names = [name.strip() for name in line.split(",")]
    fit = [name.count(" ") in _SPACES and not name[0].islower() for name in names]
    if all(fit) and len(names) >= _MIN_LISTED:
        return ", ".join(names)
    if not fit[0]:
        return ""
    return names[0]


def _read_microdata(marked: Sequence[LexborNode], byline: Byline) -> None:
    for node in marked[:_MAX_PROPERTIES]:
        name = node.attributes.get("itemprop") or ""
        if name not in _PROPERTIES or _is_of_other_page(node):
            continue
        if name.startswith("date"):
            value = _value(node)
            byline.date(parse_date(value) or find_date(value), name)
        elif not byline.author:
            byline.author = person(_value(node.css_first('[itemprop="name"]') or node))


def _value(node: LexborNode) -> str:
    attributes = node.attributes
    return attributes.get("content") or attributes.get("datetime") or line_of(node)


def _is_of_other_page(node: LexborNode) -> bool:
    tags: set[str | None] = set()
    for element in enclosing(node.parent, _MAX_LEVELS):
        attributes = element.attributes
        marks = f"{attributes.get('itemprop')} {attributes.get('itemtype')}"
        if _OTHERS.search(marks) or _is_beside_page(element):
            return True
        tags.add(element.tag)
    return "footer" in tags and "article" not in tags  # who made the site


def enclosing(node: LexborNode | None, maximum: int) -> Iterator[LexborNode]:
    """Yield an element and those around it, below the body: at most so many."""
    for _ in range(maximum):
        if node is None or node.tag == "body":
            return
        yield node
        node = node.parent


class _LineReader:
    """Reads the lines around a headline, in the order of the page."""

    def __init__(self, headline: LexborNode, byline: Byline) -> None:
        self._headline = headline
        # the elements around it
        self._around = {above.mem_id for above in enclosing(headline, _MAX_LEVELS)}
        self._title = line_of(headline)
        self._byline = byline
        self._before = ""  # the end of the text before the node
        self._is_labelled = False  # whether that text says that a name follows
        self._sender = ""  # who stands before an address, as in the head of a letter
        self._texts_left = 0  # of that head
        self._rows: set[tuple[str, str]] = set()  # the forms of dates of a list

    def read(self) -> None:
        """Add what the lines say to the byline."""
        for node, tag, is_below in _around(self._headline):
            if not tag:
                self._read_text(node)
            elif tag == "time":
                self._read_time(node)
            elif is_below and tag in _HEADINGS:
                if _leads_on(node, self._title):
                    return
                self._read_author(node)
            else:
                self._read_author(node)
            if self._byline.complete:
                return

    def _read_text(self, node: LexborNode) -> None:
        line = (node.text_content or "")[:_MAX_LINE_LENGTH].strip()
        if not line:
            return
        if len(line) <= _MAX_LENGTH:
            if not self._byline.author and self._is_signature(node, line):
                self._byline.author = person(line)
            if _YEAR.search(line) and self._may_date_line(node, line):
                dates = dates_of_line(line, self._before, self._byline.author)
                for date, words in dates:
                    self._byline.date(date, words)
                if dates and self._texts_left:
                    self._byline.author = self._byline.author or self._sender
        self._is_labelled = _LABEL.fullmatch(line) is not None
        self._before = line[-40:]
        self._texts_left = max(0, self._texts_left - 1)

    def _is_signature(self, node: LexborNode, line: str) -> bool:
        """Return whether a text names the author of the page."""
        if not self._is_labelled and not _BY_NAME.match(_after_date(line)):
            return False
        return not self._is_in_card(node)

    def _may_date_line(self, node: LexborNode, line: str) -> bool:
        """Return whether a text may state the date of the page."""
        author = self._byline.author
        if not fits_before_date(_lead(node.parent), author, same_line=True):
            return False
        if not self._may_date(node.parent, f"{self._before} {line}"):
            return False
        return not _ends_sentence(node, author)

    def _read_time(self, node: LexborNode) -> None:
        attributes = node.attributes
        date = parse_date((attributes.get("datetime") or "").strip())
        if date is None or not is_past(date):
            return
        if not fits_before_date(_lead(node), self._byline.author, same_line=True):
            return
        if fits_before_date(self._before) and self._may_date(node, self._before):
            self._byline.date(date, f"{self._before} {attributes.get('class')}")

    def _may_date(self, node: LexborNode | None, words: str) -> bool:
        """Return whether a date in an element may be that of the page.

        It is not if it is a fact, such as the day on which a person was born, or in one
        of several rows with dates, unless the *words* say so.
        """
        if _says_when(words):
            return True
        if any(map(_is_value, enclosing(node, _LEVELS_OF_FACTS))):
            return False
        if node is not None and self._is_in_list(node):
            return False
        rows = enclosing(node, _LEVELS_OF_CARDS)
        return not any(map(_is_row, takewhile(self._is_apart, rows)))

    def _is_in_list(self, node: LexborNode) -> bool:
        """Return whether the date of an element is that of a row in a list, or has a
        name of its own in microdata.
        """
        if (node.attributes.get("itemprop") or "").endswith("Date"):
            return True
        look = _look(node)
        if look not in self._rows and _is_one_of_many(node):
            self._rows.add(look)
        return look in self._rows

    def _is_apart(self, element: LexborNode) -> bool:
        """Return whether an element does not contain the headline of the page."""
        return element.mem_id not in self._around

    def _read_author(self, node: LexborNode) -> None:
        if self._byline.author:
            return
        attributes = node.attributes
        if not attributes:
            return
        if (attributes.get("href") or "").startswith("mailto:"):
            self._read_sender()
        marks = (attributes.get("class") or "")[:_MAX_LINE_LENGTH]
        is_linked = "author" in (attributes.get("rel") or "")
        if not is_linked and not _names_author(marks):
            return
        if not self._is_in_card(node):
            self._byline.author = person(_signature_of(node))

    def _read_sender(self) -> None:
        """Note the name before an address for mail: that of the author, if the date of
        the letter follows.
        """
        name = " ".join(self._before.strip(" :<(").split())
        if FULL_NAME.fullmatch(name):
            self._sender = name
            self._texts_left = _HEAD

    def _is_in_card(self, node: LexborNode) -> bool:
        """Return whether an element is in one of several cards, each of which has a
        heading, and not the headline of the page.
        """
        around = enclosing(node.parent, _LEVELS_OF_CARDS)
        return any(map(_is_card, takewhile(self._is_apart, around)))


def _signature_of(node: LexborNode) -> str:
    """Return the names in an element with a byline: without the date, and without links
    to what else there is of an author.
    """
    names = ""
    for piece in _pieces(node, whole_links=True):
        part = piece[:_MAX_LINE_LENGTH]
        line = " ".join(part.split())
        if _LABEL.fullmatch(line):  # what comes before is a section
            names = ""
            part = f"{line} "
        elif _ends_names(names, part, line):
            break
        if _is_beside_names(line):
            part = " "
        names += part
    return names


def _ends_names(names: str, part: str, line: str) -> bool:
    """Return whether a text after names says where, when or as what they wrote."""
    if names and line.casefold() in _LEADS_TO_SECTION:
        return True
    if _is_glued(names, part):
        return True
    if not names.strip():
        return False
    return _ROLE_ALONE.fullmatch(line) is not None or _is_date(line)


def _is_beside_names(line: str) -> bool:
    """Return whether a line is no name: a date, a time, or where a link leads."""
    if _is_date(line) or _NO_PART.fullmatch(line):
        return True
    return line[:1].isdigit() and _TIME_AFTER_DATE.fullmatch(line) is not None


def _is_date(line: str) -> bool:
    """Return whether a line has a date, and nothing behind it."""
    return _after_date(line) == line and find_date(line) is not None


def _is_glued(byline: str, part: str) -> bool:
    """Return whether a text follows a whole name without a space."""
    name = _BY.sub("", byline)
    if not name[-1:].islower() or not part[:1].isupper():
        return False
    return FULL_NAME.fullmatch(name) is not None


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


def _is_card(element: LexborNode) -> bool:
    """Return whether an element and one beside it, of the same form, have headings."""
    if element.css_first(_LESSER) is None:
        return False
    return any(other.css_first(_LESSER) for other in _alike_beside(element))


def _is_row(element: LexborNode) -> bool:
    """Return whether an element with a date is one of several rows: one beside it, of
    the same form, has a date that nothing says to be that of the page.
    """
    if element.tag in _INLINE:
        return False
    for other in _alike_beside(element):
        line = line_of(other)[:_MAX_LINE_LENGTH]
        dates = [*find_dates(line)]
        lead = line[: dates[0][1]] if dates else line
        if _says_when(lead):
            continue
        if dates or other.css_first("time[datetime]"):
            return True
    return False


def _is_one_of_many(node: LexborNode) -> bool:
    """Return whether an element with a date is followed by one of the same form with
    another date, and only a few words between them.
    """
    date = _date_in(node)
    following = _following(node, inside=False)
    has_words = False
    for _ in range(_NEAR):
        if following is None:
            return False
        if following.is_text_node:
            text = (following.text_content or "")[: _MAX_BETWEEN + 1]
            if len(text) > _MAX_BETWEEN:
                return False
            if _WORD.search(text) or _RANGE.fullmatch(text):
                has_words = True
        elif has_words and _look(following) == _look(node):
            other = _date_in(following)
            if other and other != date:
                return True
        following = _following(following, inside=True)
    return False


def _date_in(node: LexborNode) -> datetime | None:
    date = parse_date(node.attributes.get("datetime") or "")
    return date or find_date(line_of(node)[:_MAX_LINE_LENGTH])


def _beside(element: LexborNode) -> Iterator[LexborNode]:
    """Yield the elements right after and before another."""
    for after in (True, False):
        other = element_beside(element, after=after)
        if other is not None:
            yield other


def _alike_beside(element: LexborNode) -> Iterator[LexborNode]:
    """Yield those of these elements that have its form."""
    return (other for other in _beside(element) if _look(other) == _look(element))


def _is_value(node: LexborNode) -> bool:
    """Return whether an element has the value of a label: in a list of definitions, in
    a row of a table, or in one of several rows of the same form.
    """
    if node.tag == "dd" or _is_in_data(node):
        return True
    label = element_beside(node, after=False)
    if label is None or node.parent is None:
        return False
    if not _LABEL_OF_FACT.fullmatch(line_of(label)):
        return False
    if node.tag in _CELLS:
        return True
    rows = [row for row in _beside(node.parent) if row.tag == node.parent.tag]
    firsts = [first_element(row) for row in rows]
    return any(_look(first) == _look(label) for first in firsts if first is not None)


def _is_in_data(cell: LexborNode) -> bool:
    """Return whether an element is a cell of a table with heads."""
    if cell.tag != "td":
        return False
    around = enclosing(cell, _LEVELS_OF_ROWS)
    table = next((element for element in around if element.tag == "table"), None)
    return table is not None and table.css_first("th") is not None


def _look(node: LexborNode) -> tuple[str, str]:
    return node.tag or "", node.attributes.get("class") or ""


def _lead(node: LexborNode | None) -> str:
    """Return the text right before an inline element, in the same line: ``Posted on``
    in ``Posted on <b>May 4</b>``.
    """
    if node is None or node.tag not in _INLINE:
        return ""
    before = node.prev
    if before is None or not before.is_text_node:
        return ""
    return (before.text_content or "")[-_MAX_LINE_LENGTH:].strip()


def _leads_on(heading: LexborNode, title: str) -> bool:
    """Return whether a heading links to another page: what follows is about other
    pages.
    """
    if heading.css_first("a") is None:
        return False
    text = line_of(heading)
    return text not in title and title not in text


def _find_top(headline: LexborNode) -> LexborNode:
    """Return the part of a page that a headline and what is near it are in."""
    top = headline
    for above in enclosing(headline.parent, _ABOVE):
        if above.tag in {"html", "main", None}:
            break
        top = above
    return top


def _around(headline: LexborNode) -> Iterator[tuple[LexborNode, str, bool]]:
    """Yield the elements and texts around the headline, in the order of the page.

    Each comes with the name of the element, empty for text, and whether the headline
    has begun.
    """
    goal = headline.mem_id
    node: LexborNode | None = _find_top(headline)
    remaining = _BEFORE
    is_below = False
    while node is not None and remaining:
        remaining -= 1
        is_here = node.mem_id == goal or not remaining
        if is_here and not is_below:
            node = headline  # maybe after too many nodes before it
            remaining = _NEAR
            is_below = True
        tag = node.tag or ""
        is_seen = _is_seen(node, is_below=is_below)
        if is_seen:
            yield node, tag, is_below
        elif node.is_text_node and not node.is_empty_text_node:
            yield node, "", is_below
        node = _following(node, inside=is_seen)


def _is_seen(node: LexborNode, *, is_below: bool) -> bool:
    """Return whether an element may say something about the page: only *below* the
    headline is it that of others.
    """
    if not node.is_element_node or node.tag in _UNSEEN:
        return False
    return not is_below or not _is_beside_page(node)


def _is_beside_page(node: LexborNode) -> bool:
    """Return whether an element has what readers wrote, or leads to other pages."""
    marks = node.attributes.get("class") or node.attributes.get("id") or ""
    return marks != "" and _is_of_others(marks[:_MAX_LINE_LENGTH].lower())


@lru_cache(maxsize=256)
def _is_of_others(marks: str) -> bool:
    return any(pattern.search(marks) for pattern in (COMMENTS, REVIEWS, _RELATED))


def _names_author(classes: str) -> bool:
    """Return whether *classes* say that an element names who wrote the page."""
    has_hint = any(map(classes.__contains__, _BY_HINTS))
    return has_hint and _BY_CLASS.search(classes) is not None


def _following(node: LexborNode, *, inside: bool) -> LexborNode | None:
    """Return the node that follows another in the page: the first *inside* it, or the
    next outside.
    """
    if inside and node.first_child is not None:
        return node.first_child
    outer: LexborNode | None = node
    while outer is not None:
        if outer.next is not None:
            return outer.next
        outer = outer.parent
    return None


def line_of(node: LexborNode) -> str:
    """Return the text of an element on one line; only its beginning, if it contains
    many elements.
    """
    return " ".join("".join(_pieces(node)).split())


def begins(node: LexborNode, line: str) -> bool:
    """Return whether the text of an element begins with *line*."""
    # The first piece decides in most cases, and is quick to get.
    pieces = (piece for piece in _pieces(node) if not piece.isspace())
    first = " ".join(next(pieces, "").split())
    if not line.startswith(first) and not first.startswith(line):
        return False
    return line_of(node).startswith(line)


def _pieces(node: LexborNode, *, whole_links: bool = False) -> Iterator[str]:
    """Yield the texts in an element, and a space where a block begins; with
    *whole_links*, those in one link together.
    """
    waiting = [node.first_child]
    remaining = _MAX_NODES
    while waiting and remaining:
        child = waiting.pop()
        if child is None:
            continue
        remaining -= 1
        waiting.append(child.next)
        if child.is_text_node:
            yield (child.text_content or "")[:_MAX_TEXT_LENGTH]
        elif whole_links and child.tag == "a":
            yield line_of(child)
        elif child.is_element_node and child.tag not in _UNSEEN:
            if child.tag in _APART:
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
    if _PERIOD.search(words):
        return False
    if _says_when(words):
        return True
    if _OTHER_DATE_LABEL.search(words):
        return False
    if same_line:
        return _is_bare(words, author)
    return _OTHER_LABEL.search(words) is None


def dates_of_line(
    line: str, before: str = "", author: str | None = None
) -> list[tuple[datetime, str]]:
    """Return the dates that a line near the headline states, each with the words that
    tell what it is.

    *before* is the end of the text before the line, which may be its label.
    """
    dates = list(find_dates(line))
    if not dates or not fits_before_date(before):
        return []
    if _PERIOD.search(line):
        return []
    starts = [start for _, start, _ in dates]
    ends = [end for _, _, end in dates]
    between = [line[end:start] for end, start in zip(ends, starts[1:], strict=False)]
    if any(map(_RANGE.fullmatch, between)) or _FIRST_DAY.search(line[: starts[0]]):
        return []
    beside = line[: starts[0]] + line[ends[0] :]
    if not _says_when(line) and not _is_bare(beside, author):
        return []
    words = [f"{before} {line[: starts[0]]}", *between]
    words[-1] += line[ends[-1] :]
    return [
        (date, phrase)
        for (date, _, _), phrase in zip(dates, words, strict=True)
        if is_past(date)
    ]


def _is_bare(words: str, author: str | None) -> bool:
    """Return whether the *words* beside a date are nothing but a byline, a time of day
    and the like.
    """
    names = [] if author is None else author.split(", ")
    for name in names:
        words = words.replace(name, " ")
    rest = _BY_SOMEONE.sub(" ", _ROLE.sub(" ", words), count=1)
    return all(word.casefold() in _BESIDE for word in _WORD.findall(rest))


def _says_when(words: str) -> bool:
    return _PUBLISHED.search(words) is not None or says_changed(words)
