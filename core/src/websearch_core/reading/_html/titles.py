"""Choose the title of a page: its own headline over what its metadata says, without the
name of the site.
"""

from __future__ import annotations
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import unquote, urlsplit

from ..._text.terms import UNSPACED
from .blocks import PLACE
from .byline import begins, enclosing, line_of

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser, LexborNode

_SEPARATOR = re.compile(r"(?<!\s)\s++(?:[-–—|·•»›:/~]+\s+|[|｜»•]\s*)|[|｜»•]\s*|:\s+")  # noqa: RUF001 - as pages write them
_WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
# minimum share of the words of the shorter of two titles that they have in common
_AGREES = 0.6
_IS_STATED = 0.5  # minimum share of a headline's words that occur in the stated titles
# on the first page of a site, which often has a slogan as its headline
_IS_STATED_AT_HOME = 0.6
# of the title's letters: a shorter headline may be the name of a section
_MIN_HEADLINE_SHARE = 0.4
# of the words at the end of the URL, for a headline to be what they name
_MIN_URL_SHARE = 0.5
_MIN_PREFIX = 5  # letters: that a shorter name begins like another proves nothing
_MIN_INITIALS = 3
_MIN_PREFIX_SHARE = 0.6  # of the longer name, for a shorter one to mean the same
_SMALL = frozenset({"and", "for", "of", "the"})  # words that initials skip
_ANCHORS = " \t¶#§"  # signs that documentation adds to headlines
_SUFFIXES = frozenset({"asp", "aspx", "cfm", "htm", "html", "jsp", "php"})
# Words that sites add to their names, but not to their hosts.
_OF_SITES = frozenset(
    "co company corp inc llc ltd com org net magazine news blog official site website "
    "store shop online docs "
    "documentation forum forums community wiki".split()
)
# Of the elements that show a title.
MAX_HEADLINES = 20
_MAX_LESSER = 60  # of each kind: menus have some before that of the page
_LEVELS = 5  # elements around a headline, with itself, that may be a breadcrumb trail
_TRAILS = frozenset({"nav", "li"})


class Stated(NamedTuple):
    """The titles in the metadata of a page."""

    name: str  # that in its JSON-LD; may be empty
    # those in its meta tags, such as Open Graph, the most reliable first
    shared: Sequence[str]
    window: str  # the text of ``<title>``; may be empty


def title_of(
    stated: Stated, headlines: Sequence[str], site: str | None, url: str
) -> str:
    """Return the title of a page from the titles in its metadata and the texts of its
    ``<h1>``; maybe empty.

    It is the first headline that agrees with a stated title or that the URL names the
    page by, since it is neither shortened for search engines nor followed by the name
    of the site; else the stated title without that name; else the first headline. A
    stated title is first if the headline only has a line before it, or JSON-LD and a
    meta tag agree.
    """
    home = urlsplit(url).path in {"", "/"}  # its best title is the name of the site
    all_stated = dict.fromkeys((stated.name, *stated.shared, stated.window))
    titles = [
        title if home else without_site(title, site, url)
        for title in all_stated
        if title
    ]
    titles = [
        title
        for title in titles
        if "{{" not in title or _WORD.search(PLACE.sub("", title))
    ]
    headlines = [line for line in (line.rstrip(_ANCHORS) for line in headlines) if line]
    shown = [line for line in headlines if not is_site(line, site, url)]
    if not titles:
        return next(iter([*shown, *headlines]), "")
    letters = {text: _letters(text) for text in (*titles, *shown)}
    main = letters[titles[0]]
    named = _names_of_page(url)
    least = _MIN_HEADLINE_SHARE * len(main)
    long = [
        line
        for line in shown
        if len(letters[line]) >= least or _are_most(_words(line), named)
    ]
    within = [
        line
        for line in long
        if any(letters[line] in letters[title] for title in titles)
    ]
    if stated.shared and shown and not home:
        three = (stated.name, stated.shared[0], stated.window)
        name, shared, window = (without_site(title, site, url) for title in three)
        if meant := _find_meant(name, shared, window, shown[0]):
            return meant
    # prefer the one that the title begins with: others name parts of the site
    if within:
        return _spaced(
            next(
                (line for line in within if main.startswith(letters[line])), within[0]
            ),
            titles,
        )
    if len(shown) == 1 and not home and _is_slogan(stated, site, url, named):
        return shown[0]
    words = set(_words(" ".join(titles)))
    share = _IS_STATED_AT_HOME if home else _IS_STATED
    for line in long:
        own = _words(line)
        if sum(word in words for word in own) >= share * len(own) or _are_most(
            own, named
        ):
            return without_site(line, site, url)
    return titles[0]


def _names_of_page(url: str) -> list[str]:
    """Return the words at the end of the path of a URL: ``/c/hiking-boots.html`` ->
    ``hiking``, ``boots``.
    """
    last = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    stem, _, suffix = last.rpartition(".")
    return _words(stem if suffix in _SUFFIXES else last)


def _are_most(words: Sequence[str], named: Sequence[str]) -> bool:
    """Return whether a headline has only words that the URL names the page by, and most
    of these.
    """
    return (
        len(words) > 1
        and set(words) <= set(named)
        and len(words) >= _MIN_URL_SHARE * len(named)
    )


def _spaced(headline: str, titles: Sequence[str]) -> str:
    """Return the stated title with the letters of a headline if it has more words: some
    lines are parted by styles.
    """
    letters = _letters(headline)
    alike = (title for title in titles if _letters(title) == letters)
    return max((headline, *alike), key=lambda title: len(_words(title)))


def _find_meant(name: str, shared: str, window: str, headline: str) -> str:
    """Return the title of the meta tags if it is better than the headline, else an
    empty string.
    """
    letters, shown = _letters(shared), _letters(headline)
    if shown != letters and ends_with(headline, shared):
        return shared
    agreed = letters == _letters(name) != _letters(window)
    return shared if agreed and not letters.startswith(shown) else ""


def _is_slogan(
    stated: Stated, site: str | None, url: str, named: Sequence[str]
) -> bool:
    """Return whether the only stated title is one of the site, such as ``Reddit - The
    heart of the internet``.
    """
    seam = None if stated.name or stated.shared else _SEPARATOR.search(stated.window)
    if (
        seam is None
        or ":" in seam[0]
        or not is_site(stated.window[: seam.start()], site, url)
    ):
        return False
    return not _are_most(_words(stated.window[seam.end() :]), named)


def chapter_of(title: str, stated: Stated) -> str:
    """Return what may be the title of a page whose headline is the name of a book or a
    manual: that of the chapter.

    It stands before *title* in the title of the window: ``Tides - The Ocean Book``. An
    empty string if there is none.
    """
    letters = _letters(title)
    seams = list(_SEPARATOR.finditer(stated.window))
    if (
        not seams
        or _letters(stated.window[seams[-1].end() :]) != letters
        or letters in map(_letters, stated.shared)
    ):
        return ""
    return stated.window[: seams[0].start()].strip()


def ends_with(line: str, title: str) -> bool:
    """Return whether a line is a title, maybe after a few words such as the name of a
    section.
    """
    letters, shown = _letters(title), _letters(line)
    return shown.endswith(letters) and len(letters) >= max(
        1, _MIN_HEADLINE_SHARE * len(shown)
    )


def without_site(title: str, site: str | None, url: str) -> str:
    """Remove the name of the site from both ends of a title."""
    while True:
        seams = list(_SEPARATOR.finditer(title))
        if seams and is_site(title[seams[-1].end() :], site, url):
            title = title[: seams[-1].start()].strip()
        elif seams and is_site(title[: seams[0].start()], site, url):
            title = title[seams[0].end() :].strip()
        else:
            return title


def is_site(name: str, site: str | None, url: str) -> bool:
    """Return whether *name* is the name of the site: its own, or one that its host
    confirms.

    ``The Verge`` is at theverge.com, and ``United Way of King County`` at uwkc.org.
    """
    words = _words(name)
    letters = "".join(words)
    if not letters:
        return True
    if site and letters == _letters(site):
        return True
    host, labels = _host(url)
    if letters == host or letters in labels:
        return True
    initials = "".join(word[0] for word in words if word not in _SMALL)
    while len(words) > 1 and words[-1] in _OF_SITES:
        words.pop()
    letters = "".join(words)
    starts = {"".join(words[:count]) for count in range(1, len(words))}
    for label in labels:
        if letters == label or (initials == label and len(initials) >= _MIN_INITIALS):
            return True
        shorter, longer = sorted((label, letters), key=len)
        if longer.startswith(shorter) and len(shorter) >= max(
            _MIN_PREFIX, _MIN_PREFIX_SHARE * len(longer)
        ):
            # "Nintendo Switch" is not the name of nintendo.com
            return label not in starts
    return False


@lru_cache(maxsize=16)  # all titles of a page are compared with one host
def _host(url: str) -> tuple[str, tuple[str, ...]]:
    """Return the letters of the host, and its labels except the last."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    return _letters(host), tuple(
        label.replace("-", "") for label in host.split(".")[:-1]
    )


def agree(name: str, titles: Sequence[str]) -> bool:
    """Return whether most words of *name* are in one of *titles*, or vice versa."""
    own = set(_words(name))
    others = (set(_words(title)) for title in titles)
    return any(
        len(own & other) >= _AGREES * min(len(own), len(other))
        for other in others
        if other
    )


def _letters(text: str) -> str:
    return "".join(_words(text))


def _words(text: str) -> list[str]:
    """Return the words of a text; every character of a script without spaces is one."""
    return _WORD.findall(text.casefold())


def find_below_trail(
    document: LexborHTMLParser, headline: LexborNode | None, stated: Iterable[str]
) -> tuple[LexborNode, str] | None:
    """Find what readers see as the headline of a page whose first, *headline*, is a
    step of a breadcrumb trail.

    Some publishers make the headline for search engines the last step of the trail, as
    the only ``<h1>``. What readers take for the headline is an ``<h2>`` then, and Open
    Graph or JSON-LD states it too. *stated* are the titles that the page states most
    deliberately. Return the element, and the stated title that it shows, maybe after a
    few words; None if there is none.
    """
    titles = [title for title in stated if title]
    if headline is None or not titles or not _is_step(headline):
        return None
    lines = (
        (heading, line_of(heading)) for heading in document.css("h2")[:_MAX_LESSER]
    )
    return next(
        (
            (heading, title)
            for heading, line in lines
            for title in titles
            if ends_with(line, title)
        ),
        None,
    )


def _is_step(headline: LexborNode) -> bool:
    return any(
        one.tag in _TRAILS
        or "breadcrumb" in (one.attributes.get("class") or "").lower()
        for one in enclosing(headline, _LEVELS)
    )


def is_heading(title: str, document: LexborHTMLParser) -> bool:
    """Return whether the page shows *title* as a heading."""
    letters = _letters(title)
    return any(
        _letters(line_of(heading)) == letters
        for heading in document.css("h1,h2")[:MAX_HEADLINES]
    )


def title_element(
    title: str, headlines: list[LexborNode], document: LexborHTMLParser
) -> LexborNode | None:
    """Return the element that shows the title; forums use lesser headings for it."""
    if not title:
        return next(iter(headlines), None)
    lesser = [
        heading for name in ("h2", "h3") for heading in document.css(name)[:_MAX_LESSER]
    ]
    shown = (place for place in (*headlines, *lesser) if begins(place, title))
    after_kicker = (place for place in lesser if title in line_of(place))
    return next(chain(shown, headlines, after_kicker), None)
