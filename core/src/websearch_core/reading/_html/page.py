"""HTML -> Page, each step a file: decode, tame, parse, outline, choose, grow, write Markdown."""

from __future__ import annotations

from itertools import compress
from typing import TYPE_CHECKING

from ..._text.invisible import removal_note
from ...models import Page
from .._charset import to_utf8
from .._excerpt.window import cut_window
from .._links import MAX_LINKS, Links, absolute, resolved, without_fragment
from .._page import make_page
from .._sniff import HTML, declared
from .blocks import find_blocks
from .css.sheets import read_sheets
from .harden import harden
from .metadata import read_metadata
from .parse import parse
from .select import select_content
from .structured_data import markup_from_data
from .tree import build_tree

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

_LITTLE = 120  # characters: a page that says less may have more to say in its data
_MAX_SIZE = 10 * 2**20  # bytes of source, in UTF-8, that are looked at


def read_html(
    data: bytes,
    url: str,
    content_type: str | None = None,
    max_length: int | None = None,
    *,
    links: Links = "keep",
    style_sheets: bool = False,
) -> Page:
    """
    Read a page of HTML: its main part as Markdown, and what it says of itself.

    Args:
        data: The bytes of the page.
        url: Where they came from; what relative links are relative to.
        content_type: The value of the HTTP header, where there was one.
        max_length: Characters of Markdown to return at most; everything by default.
        links: ``keep`` links with their targets, keep their ``text`` alone, or ``drop`` them with their text.
        style_sheets: Whether the rules of the page's own ``<style>`` elements hide text too.

    Raises:
        InvalidOption: *max_length* is less than 1.

    """
    from .._markdown.writer import to_markdown

    text, decoding, beginning = to_utf8(data, content_type, most=_MAX_SIZE)
    tamed = harden(text.replace(b"\x00", b""))
    del text
    document = parse(tamed.source)
    facts = read_metadata(document, url)
    base = _base(document.css_first("base[href]"), url)
    seen = find_blocks(document.body, sheets=read_sheets(document, tamed) if style_sheets else None)
    cut, simpler = beginning or tamed.cut or seen.cut, tamed.simpler
    del document, tamed  # their room is needed for what follows
    kept = select_content(seen, url, facts)
    targets = resolved(seen.links(), base) if links == "keep" else {}  # of the navigation too: it leads on
    source = markup_from_data(facts) if sum(map(len, compress(seen.block_texts, kept))) < _LITTLE else ""
    silent = len(source) > _LITTLE
    if silent:
        seen = find_blocks(parse(harden(source.encode("utf-8", "replace")).source).body)
        kept = [True] * len(seen.block_texts)
        targets |= resolved(seen.links(), base) if links == "keep" else {}
    main = build_tree(seen, kept, linked=links != "drop")
    content = to_markdown(main.body, targets)

    notes = [
        *([decoding] if decoding else []),
        *removal_note(seen.invisible),
        *([f"{seen.hidden} hidden passages left out"] if seen.hidden else []),
        *(["the page is larger than is read: this is its beginning"] if cut else []),
        *(["elements were nested too deeply: some structure is lost"] if simpler or main.flattened else []),
        *(["this is what the page tells readers without scripts"] if seen.scriptless else []),
        *(["the page shows its text only by scripts: this is what its data says"] if silent else []),
        *([] if content else ["the page has no text that can be read without running its scripts"]),
    ]
    stated = declared(content_type)
    page = make_page(
        url,
        stated if stated in HTML else "text/html",
        content,
        title=facts.title,
        truncated=cut,
        language=facts.language,
        author=facts.author,
        published=facts.published,
        modified=facts.modified,
        description=facts.description,
        canonical_url=facts.canonical_url,
        site_name=facts.site_name,
        links=_outward(targets, url),
        notes=tuple(notes),
    )
    return page if max_length is None else cut_window(page, max_length)


def _base(tag: LexborNode | None, url: str) -> str:
    """What links are relative to: the page may say so, but never leads out of http(s) with it."""
    return absolute(tag.attributes.get("href"), url) or url if tag else url


def _outward(links: dict[str, str], url: str) -> tuple[str, ...]:
    """Each link once, in the order of the page, without those that only lead to another place of it."""
    here = without_fragment(url)
    return tuple(dict.fromkeys(link for link in links.values() if without_fragment(link) != here))[:MAX_LINKS]
