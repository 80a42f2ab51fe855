"""HTML -> Page, each step a file: decode, tame, parse, see, strip the chrome, choose, write Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ..clean import removed
from ..models import Page
from .charset import to_utf8
from .links import absolute, without_fragment
from .metadata import metadata
from .sniff import HTML, declared
from .tame import tame
from .tree import Element, visible
from .window import window

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Links = Literal["keep", "text", "drop"]

_LITTLE = 25  # letters: a choice that leaves less has failed
_MOST_LINKS = 1000
_LARGEST = 10 * 2**20  # bytes of source, in UTF-8, that are looked at


def read_html(
    data: bytes,
    url: str,
    content_type: str | None = None,
    max_length: int | None = None,
    *,
    links: Links = "keep",
) -> Page:
    """
    Read a page of HTML: its main part as Markdown, and what it says of itself.

    Args:
        data: The bytes of the page.
        url: Where they came from; what relative links are relative to.
        content_type: The value of the HTTP header, where there was one.
        max_length: Characters of Markdown to return at most; everything by default.
        links: ``keep`` links with their targets, keep their ``text`` alone, or ``drop`` them with their text.

    Raises:
        InvalidOption: *max_length* is less than 1.

    """
    from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

    from .choose import choose
    from .chrome import strip_chrome, strip_noscript

    text, decoding, beginning = to_utf8(data, content_type, most=_LARGEST)
    tamed = tame(text.replace(b"\x00", b""))
    del text
    # Without events, since those take time in the square of the options of a <select>.
    document = LexborHTMLParser(tamed.source, options=LexborDocumentOptions.WO_EVENTS)
    facts = metadata(document)
    base = _base(document.css_first("base[href]"), url)

    seen = visible(document.body)
    targets = (
        _links(seen.body, base) if links == "keep" else {}
    )  # of the navigation too: what is no content still leads on
    scriptless = strip_noscript(seen.body)
    strip_chrome(seen.body)
    main = choose(seen.body)
    if main.letters < _LITTLE:  # rather too much than nothing
        seen = visible(document.body)
        scriptless = strip_noscript(seen.body)
        main = seen.body
    del document  # the parser's room is needed for what follows
    cut = beginning or tamed.cut or seen.cut
    if links == "drop":
        main.remove({element for element in main.elements() if element.name == "a"})
    content, written = _write(main, targets)

    notes = [
        *([decoding] if decoding else []),
        *removed(seen.invisible),
        *([f"{seen.hidden} hidden passages left out"] if seen.hidden else []),
        *(["the page is larger than is read: this is its beginning"] if cut else []),
        *(["elements were nested too deeply: some structure is lost"] if tamed.simpler or seen.flattened else []),
        *(["this is what the page tells readers without scripts"] if scriptless else []),
        *written,
        *([] if content else ["the page has no text that can be read without running its scripts"]),
    ]
    stated = declared(content_type)
    page = Page(
        url=url,
        final_url=url,
        title=facts.title,
        content=content,
        content_length=len(content),
        original_length=len(content),
        truncated=cut,
        media_type=stated if stated in HTML else "text/html",
        language=facts.language,
        author=facts.author,
        published=facts.published,
        description=facts.description,
        links=_outward(targets, url),
        notes=tuple(notes),
    )
    return page if max_length is None else window(page, max_length)


def _base(tag: LexborNode | None, url: str) -> str:
    """What links are relative to: the page may say so, but never leads out of http(s) with it."""
    return absolute(tag.attributes.get("href"), url) or url if tag else url


def _links(body: Element, base: str) -> dict[str, str]:
    """Resolve the links that a reader can see, by what the page has in their place."""
    resolved: dict[str, str] = {}
    for element in body.elements():
        href = element.get("href")
        if element.name == "a" and href not in resolved and (url := absolute(href, base)):
            resolved[href] = url
    return resolved


def _outward(links: dict[str, str], url: str) -> tuple[str, ...]:
    """Each link once, in the order of the page, without those that only lead to another place of it."""
    here = without_fragment(url)
    return tuple(dict.fromkeys(link for link in links.values() if without_fragment(link) != here))[:_MOST_LINKS]


def _write(main: Element, links: dict[str, str]) -> tuple[str, list[str]]:
    from .markdown import to_markdown

    try:
        return to_markdown(main, links), []
    except RecursionError:  # the tree is bounded, but the caller's own stack may be nearly full
        return main.text(), ["elements were nested too deeply: this is the text without its structure"]
