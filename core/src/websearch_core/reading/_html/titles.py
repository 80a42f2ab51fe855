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
from .byline import begins, enclosing, line_of
from .templates import PLACE

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
_MIN_WORDS = 3  # of a headline: fewer may name a section
_MIN_PREFIX = 5  # letters: that a shorter name begins like another proves nothing
_MIN_INITIALS = 3
_MIN_PREFIX_SHARE = 0.6  # of the longer name, for a shorter one to mean the same
# What editors and frameworks write into a new page.
_DEFAULT = re.compile(
    r"(?:untitled|new|react|vite)(?: document| page| app)?(?: \d+)?|document"
    r"|unbenanntes dokument|document sans titre|documento sin título",
    re.IGNORECASE,
)
_SMALL = frozenset({"and", "for", "of", "the"})  # words that initials skip
_ANCHORS = " \t¶#§"  # signs that documentation adds to headlines
_SUFFIXES = frozenset({"asp", "aspx", "cfm", "htm", "html", "jsp", "php"})
# Words that sites add to their names, but not to their hosts.
_WORDS_OF_SITES = frozenset(
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
    stated_titles: Stated, headlines: Sequence[str], site: str | None, url: str
) -> str:
    """Return the title of a page from the titles in its metadata and the texts of its
    ``<h1>``; maybe empty.

    It is the first headline that agrees with a stated title or that the URL names the
    page by, since it is neither shortened for search engines nor followed by the name
    of the site; else the stated title without that name; else the first headline. A
    stated title is first if the headline only has a line before it, or JSON-LD and a
    meta tag agree.
    """
    return _TitleChoice(stated_titles, headlines, site, url).choose()


class _TitleChoice:
    """The titles and headlines of one page."""

    def __init__(
        self,
        stated_titles: Stated,
        headlines: Sequence[str],
        site: str | None,
        url: str,
    ) -> None:
        self._stated = stated_titles
        self._site = site
        self._url = url
        # the best title of a front page is the name of the site
        self._is_home = urlsplit(url).path in {"", "/"}
        self._url_words = _names_of_page(url)
        lines = (headline.rstrip(_ANCHORS) for headline in headlines)
        self._headlines = list(filter(None, lines))
        self._own_headlines = [
            line for line in self._headlines if not is_site(line, site, url)
        ]
        titles = (stated_titles.name, *stated_titles.shared, stated_titles.window)
        named_titles = map(self._without_site, filter(None, dict.fromkeys(titles)))
        self._titles = [title for title in named_titles if not _is_template(title)]

    def _without_site(self, title: str) -> str:
        if self._is_home:
            return title
        return without_site(title, self._site, self._url)

    def choose(self) -> str:
        """Return the title."""
        headlines = self._own_headlines
        if not self._titles:
            return next(iter([*headlines, *self._headlines]), "")
        long = list(filter(self._is_long, headlines))
        within = list(filter(self._is_within_title, long))
        shared = self._choose_shared()
        if shared:
            return shared
        if within:
            return _spaced(self._choose_within(within), self._titles)
        if len(headlines) == 1 and self._is_slogan():
            return headlines[0]
        for line in long:
            if self._agrees(line):
                return without_site(line, self._site, self._url)
        return self._titles[0]

    def _is_long(self, headline: str) -> bool:
        """Return whether a headline is more than the name of a section."""
        minimum = _MIN_HEADLINE_SHARE * len(letters_of(self._titles[0]))
        letters = letters_of(headline)
        if len(letters) >= minimum or letters in self._title_parts():
            return True
        return _are_most(_words(headline), self._url_words)

    def _title_parts(self) -> set[str]:
        """Return the letters of the first part of each stated title, before the name of
        the site.
        """
        parts: set[str] = set()
        for title in (self._stated.window, *self._stated.shared):
            seams = list(_SEPARATOR.finditer(title))
            if not seams or ":" in seams[0][0]:
                continue
            first = title[: seams[0].start()]
            # more parts may be steps of a trail, one of which is a section
            if len(seams) == 1 or len(first.split()) >= _MIN_WORDS:
                parts.add(letters_of(first))
        return parts

    def _is_within_title(self, headline: str) -> bool:
        letters = letters_of(headline)
        return any(letters in letters_of(title) for title in self._titles)

    def _choose_shared(self) -> str:
        """Return the title of the meta tags if it is better than the headline, else an
        empty string.
        """
        if self._is_home:
            return ""
        if not self._stated.shared or not self._own_headlines:
            return ""
        headline = self._own_headlines[0]
        shared = self._without_site(self._stated.shared[0])
        name = self._without_site(self._stated.name)
        window = self._without_site(self._stated.window)
        letters = letters_of(shared)
        headline_letters = letters_of(headline)
        if headline_letters != letters and ends_with(headline, shared):
            return shared
        agrees = letters == letters_of(name) != letters_of(window)
        if not agrees or letters.startswith(headline_letters):
            return ""
        return shared

    def _choose_within(self, headlines: Sequence[str]) -> str:
        """Return the headline that the title begins with: others name parts of the
        site.
        """
        letters = letters_of(self._titles[0])
        for headline in headlines:
            if letters.startswith(letters_of(headline)):
                return headline
        return headlines[0]

    def _is_slogan(self) -> bool:
        """Return whether the only stated title is one of the site, such as ``Reddit -
        The heart of the internet``.
        """
        if self._is_home:
            return False
        if self._stated.name or self._stated.shared:
            return False
        window = self._stated.window
        seam = _SEPARATOR.search(window)
        if seam is None or ":" in seam[0]:
            return False
        if not is_site(window[: seam.start()], self._site, self._url):
            return False
        return not _are_most(_words(window[seam.end() :]), self._url_words)

    def _agrees(self, headline: str) -> bool:
        """Return whether a headline agrees with the stated titles or the URL."""
        own_words = _words(headline)
        title_words = set(_words(" ".join(self._titles)))
        share = _IS_STATED
        if self._is_home:
            share = _IS_STATED_AT_HOME
        shared_words = sum(word in title_words for word in own_words)
        if shared_words >= share * len(own_words):
            return True
        return _are_most(own_words, self._url_words)


def _is_template(title: str) -> bool:
    """Return whether a title has only places that a script fills, or is that of an
    editor for all new pages.
    """
    if _DEFAULT.fullmatch(title):
        return True
    return "{{" in title and not _WORD.search(PLACE.sub("", title))


def _names_of_page(url: str) -> list[str]:
    """Return the words at the end of the path of a URL: ``/c/hiking-boots.html`` ->
    ``hiking``, ``boots``.
    """
    last = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    suffix = last.rpartition(".")[2]
    if suffix in _SUFFIXES:
        last = last.removesuffix(suffix)
    return _words(last)


def _are_most(words: Sequence[str], url_words: Sequence[str]) -> bool:
    """Return whether a headline has only words that the URL names the page by, and most
    of these.
    """
    if len(words) < max(2, _MIN_URL_SHARE * len(url_words)):
        return False
    return set(words) <= set(url_words)


def _spaced(headline: str, titles: Sequence[str]) -> str:
    """Return the stated title with the letters of a headline if it has more words: some
    lines are parted by styles.
    """
    letters = letters_of(headline)
    alike = (title for title in titles if letters_of(title) == letters)
    return max((headline, *alike), key=lambda title: len(_words(title)))


def chapter_of(title: str, stated_titles: Stated) -> str:
    """Return what may be the title of a page whose headline is the name of a book or a
    manual: that of the chapter.

    It stands before *title* in the title of the window: ``Tides - The Ocean Book``. An
    empty string if there is none.
    """
    letters = letters_of(title)
    window = stated_titles.window
    seams = list(_SEPARATOR.finditer(window))
    if not seams or letters_of(window[seams[-1].end() :]) != letters:
        return ""
    if letters in map(letters_of, stated_titles.shared):
        return ""
    return window[: seams[0].start()].strip()


def ends_with(line: str, title: str) -> bool:
    """Return whether a line is a title, maybe after a few words such as the name of a
    section.
    """
    letters = letters_of(title)
    line_letters = letters_of(line)
    if not letters or not line_letters.endswith(letters):
        return False
    return len(letters) >= _MIN_HEADLINE_SHARE * len(line_letters)


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


def site_of(title: str, window: str) -> str:
    """Return what stands after the title of a page, or before it, in that of its
    window: mostly the name of the site; maybe an empty string.
    """
    seams = list(_SEPARATOR.finditer(window))
    if not seams:
        return ""
    letters = letters_of(title)
    last = window[seams[-1].end() :]
    if letters_of(window[: seams[-1].start()]).startswith(letters):
        return last
    is_last = letters_of(last) == letters
    if not is_last:
        return ""
    return window[: seams[0].start()]


def is_site(name: str, site: str | None, url: str) -> bool:
    """Return whether *name* is the name of the site: its own, or one that its host
    confirms.

    ``The Verge`` is at theverge.com, and ``United Way of King County`` at uwkc.org.
    """
    words = _words(name)
    letters = "".join(words)
    if not letters:
        return True
    if site and letters == letters_of(site):
        return True
    host, labels = _host(url)
    if letters == host or letters in labels:
        return True
    initials = "".join(word[0] for word in words if word not in _SMALL)
    if len(initials) >= _MIN_INITIALS and initials in labels:
        return True
    while len(words) > 1 and words[-1] in _WORDS_OF_SITES:
        words.pop()
    return any(_means_host(words, label) for label in labels)


def _means_host(words: Sequence[str], label: str) -> bool:
    """Return whether a name means what a label of the host does."""
    letters = "".join(words)
    if letters == label:
        return True
    shorter, longer = sorted((label, letters), key=len)
    minimum = max(_MIN_PREFIX, _MIN_PREFIX_SHARE * len(longer))
    if len(shorter) < minimum or not longer.startswith(shorter):
        return False
    # "Nintendo Switch" is not the name of nintendo.com
    return label not in {"".join(words[:count]) for count in range(1, len(words))}


@lru_cache(maxsize=16)  # all titles of a page are compared with one host
def _host(url: str) -> tuple[str, tuple[str, ...]]:
    """Return the letters of the host, and its labels except the last."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    return letters_of(host), tuple(
        label.replace("-", "") for label in host.split(".")[:-1]
    )


def agree(name: str, titles: Sequence[str]) -> bool:
    """Return whether most words of *name* are in one of *titles*, or vice versa."""
    own_words = set(_words(name))
    for title in titles:
        words = set(_words(title))
        minimum = _AGREES * min(len(own_words), len(words))
        if words and len(own_words & words) >= minimum:
            return True
    return False


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, by which names are compared."""
    return "".join(_words(text))


def _words(text: str) -> list[str]:
    """Return the words of a text; every character of a script without spaces is one."""
    return _WORD.findall(text.casefold())


def find_below_trail(
    document: LexborHTMLParser, headline: LexborNode | None, claims: Iterable[str]
) -> tuple[LexborNode, str] | None:
    """Find what readers see as the headline of a page whose first, *headline*, is a
    step of a breadcrumb trail.

    Some publishers make the headline for search engines the last step of the trail, as
    the only ``<h1>``. What readers take for the headline is an ``<h2>`` then, and Open
    Graph or JSON-LD states it too. *claims* are the titles that the page states most
    deliberately. Return the element, and the stated title that it shows, maybe after a
    few words; None if there is none.
    """
    titles = list(filter(None, claims))
    if headline is None or not titles:
        return None
    if not _is_step(headline):
        return None
    for heading in document.css("h2")[:_MAX_LESSER]:
        line = line_of(heading)
        for title in titles:
            if ends_with(line, title):
                return heading, title
    return None


def _is_step(headline: LexborNode) -> bool:
    for element in enclosing(headline, _LEVELS):
        if element.tag in _TRAILS:
            return True
        if "breadcrumb" in (element.attributes.get("class") or "").lower():
            return True
    return False


def is_heading(title: str, document: LexborHTMLParser) -> bool:
    """Return whether the page shows *title* as a heading."""
    letters = letters_of(title)
    return any(
        letters_of(line_of(heading)) == letters
        for heading in document.css("h1,h2")[:MAX_HEADLINES]
    )


def title_element(
    title: str, headlines: list[LexborNode], document: LexborHTMLParser
) -> LexborNode | None:
    """Return the element that shows the title; forums use lesser headings for it."""
    if not title:
        return next(iter(headlines), None)
    for headline in headlines:
        if begins(headline, title):
            return headline
    lesser = [*document.css("h2")[:_MAX_LESSER], *document.css("h3")[:_MAX_LESSER]]
    with_title = (heading for heading in lesser if begins(heading, title))
    after_kicker = (heading for heading in lesser if title in line_of(heading))
    return next(chain(with_title, headlines, after_kicker), None)
