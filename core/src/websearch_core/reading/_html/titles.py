"""What a page is called: its own headline rather than what it tells others, and without the name of its site."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from urllib.parse import urlsplit

_SEPARATOR = re.compile(r"\s+[-–—|·•»›:/~]+\s+|\s*[|»•]\s*|\s+::\s+|:\s+")  # noqa: RUF001 - as pages have them
_WORD = re.compile(r"[^\W_]+")
_AGREES = 0.6  # the share of a headline's words that are in what the page tells others of its title
_WEIGHTY = 0.4  # the share of the title's letters that a headline has at least: less may be the name of a section
_SHORT = 5  # letters: shorter names prove nothing by beginning alike
_MIN_INITIALS = 3
_MAX_OF_IT = 0.6  # of the longer name, for a shorter one to be the same
_SMALL = frozenset({"and", "for", "of", "the"})  # words that count for no initial
_ANCHORS = " \t¶#§"  # that documentation puts behind headlines
# What sites add to their names, of which their hosts do not tell.
_OF_SITES = frozenset(
    "co company corp inc llc ltd com org net magazine news blog official site website store shop online docs "
    "documentation forum forums community wiki".split()
)


def title_of(told: Sequence[str], headlines: Sequence[str], site: str | None, url: str) -> str:
    """
    Return what a page is called.

    Args:
        told: What it tells others (`<title>`, Open Graph, JSON-LD), the more telling first.
        headlines: What it shows: the text of each `<h1>`.
        site: What the site calls itself.
        url: The address of the page.

    Returns:
        The first headline that agrees with what is told, since it is neither shortened for search engines nor followed
        by the name of the site; else what is told, without that name; else the first headline. Maybe nothing.

    """
    home = urlsplit(url).path in {"", "/"}  # of which the site's name is the best title
    told = [title if home else without_site(title, site, url) for title in dict.fromkeys(told) if title]
    headlines = [line for line in (line.rstrip(_ANCHORS) for line in headlines) if line]
    shown = [line for line in headlines if not is_site(line, site, url)]
    if not told:
        return next(iter([*shown, *headlines]), "")
    letters = {text: _letters(text) for text in (*told, *shown)}
    main = letters[told[0]]
    weighty = [line for line in shown if len(letters[line]) >= _WEIGHTY * len(main)]
    within = [line for line in weighty if any(letters[line] in letters[title] for title in told)]
    if within:  # of several the one that the title begins with: the others name parts of the site
        return next((line for line in within if main.startswith(letters[line])), within[0])
    words = set(_words(" ".join(told)))
    for line in weighty:
        own = _words(line)
        if sum(word in words for word in own) >= _AGREES * len(own):
            return without_site(line, site, url)
    return told[0]


def without_site(title: str, site: str | None, url: str) -> str:
    """Take the name of the site off either end of a title, where it is known to be that name."""
    while True:
        seams = list(_SEPARATOR.finditer(title))
        if seams and is_site(title[seams[-1].end() :], site, url):
            title = title[: seams[-1].start()].strip()
        elif seams and is_site(title[: seams[0].start()], site, url):
            title = title[seams[0].end() :].strip()
        else:
            return title


def is_site(name: str, site: str | None, url: str) -> bool:
    """
    Return whether *name* is known to be that of the site.

    It is, if the site calls itself so, or its host does: ``The Verge`` is at theverge.com, ``Redfish Technology`` at
    redfishtech.com, and ``United Way of King County`` at uwkc.org.
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
        if longer.startswith(shorter) and len(shorter) >= max(_SHORT, _MAX_OF_IT * len(longer)):
            return label not in starts  # "Nintendo Switch" is no name of nintendo.com
    return False


@lru_cache(maxsize=16)  # a page's titles are all compared with one
def _host(url: str) -> tuple[str, tuple[str, ...]]:
    """Return the letters of the host, and its labels but for the last."""
    host = (urlsplit(url).hostname or "").removeprefix("www.")
    return _letters(host), tuple(label.replace("-", "") for label in host.split(".")[:-1])


def agree(name: str, titles: Sequence[str]) -> bool:
    """Return whether most words of *name* are in one of *titles*, or the other way round."""
    own = set(_words(name))
    others = (set(_words(title)) for title in titles)
    return any(len(own & other) >= _AGREES * min(len(own), len(other)) for other in others if other)


def _letters(text: str) -> str:
    return "".join(_words(text))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
