"""Read HTML pages, each step in its module: decode, harden, parse, find blocks, select
content, build a tree, write.
"""

from __future__ import annotations
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..._text.invisible import removal_note
from ..._text.media_types import HTML
from ..._text.quantity import quantity
from ..._text.urls import strip_anchor
from ..._text.vocabulary import Responses
from ...models import Page
from ...models._outcomes import MORE_HIDDEN
from .._charset import to_utf8
from .._language import correct_language
from .._links import MAX_LINKS, Links, resolved
from .._sniff import declared
from .._types import make_page
from .blocks import find_blocks
from .harden import harden
from .metadata import Metadata, find_kind, read_metadata
from .normalize import close_empty
from .page_data import read_data
from .parse import parse
from .responses import choose_responses, default_choices
from .rest import write_rest
from .select import select_content
from .strays import drop_strays
from .structured_data import lacks_article, markup_from_data
from .text_blocks import Blocks, TextBlocks
from .together import drop_headings
from .tree import build_tree
from .walls import NOT_SENT, drop_offer, find_wall, wall_notes

# characters: a page with less text may have more in its structured data
_MIN_LENGTH = 120
# characters: a page with less besides places that scripts fill is a template
_MIN_BESIDE = 600
_MAX_SIZE = 10 * 2**20  # bytes of source in UTF-8
_XHTML = "application/xhtml+xml"
_TOO_MUCH_DATA = (
    "the page's data says the same too often to be read: a part of it is left out"
)
# React moves a streamed part to its place, a <template>
_MOVES = (b"$RC(", b"$RR(", b"$RS(", b"data-rci")


class _Source(NamedTuple):
    markup: bytes
    notes: tuple[str, ...]  # on its encoding
    simpler: bool  # elements were nested too deeply
    cut: bool  # this is only the beginning
    streamed: bool


class _Text(NamedTuple):
    """The Markdown of a page."""

    blocks: TextBlocks  # that it is written from
    markdown: str
    targets: dict[str, str]  # of its links
    flattened: bool
    from_data: bool = False  # what the data of the page says comes first


def read_html(
    data: bytes,
    url: str,
    content_type: str | None = None,
    *,
    links: Links = "keep",
    comments: Responses | None = None,
    reviews: Responses | None = None,
    rendered: bool = False,
) -> Page:
    """Read an HTML page: its main part as Markdown, and its metadata.

    A page that needs its scripts has no content, and a note; the reader ``direct``
    makes that a `NeedsBrowser`.

    Args:
        data: The bytes of the page.
        url: Where they came from; relative links are resolved against it.
        content_type: The value of the HTTP header, if any.
        links: ``keep`` links with their targets, keep only their ``text``, or ``drop``
            them with their text.
        comments: Whether to ``drop`` or ``keep`` readers' comments; by default what the
            kind of page asks for.
        reviews: The same for reviews.
        rendered: Whether scripts have run already: then none will show what is hidden,
            however long it is.
    """
    source = _prepare(data, content_type)
    document = parse(source.markup)
    facts = read_metadata(document, url)
    wall = find_wall(document, facts)
    kind = find_kind(document, facts, facts.place, source.markup)
    blocks = find_blocks(document.body, rendered=rendered, streamed=source.streamed)
    source = source._replace(markup=b"", cut=source.cut or blocks.cut)
    del document  # free its memory for the next steps
    page_data, doubts = read_data(facts, kind, blocks)
    choices = default_choices(kind, comments, reviews)
    content = select_content(blocks, facts.place, facts)
    if wall == NOT_SENT:
        content = drop_offer(blocks, content, facts)
    beside = {"comments"} if comments is None else frozenset[str]()
    choice = choose_responses(blocks, content, facts, choices, beside)
    is_article = (kind or facts.og_type) == "article"
    content, strays = drop_strays(
        blocks, choice.content, facts.title, is_article=is_article
    )
    content = drop_headings(blocks, content)
    text = _write(blocks, content, facts.base, links)
    length = blocks.length(content)
    if length < _MIN_LENGTH or lacks_article(blocks.block_texts, length, facts):
        markup = markup_from_data(facts, comments=choices.get("comments") != "drop")
        if len(markup) > _MIN_LENGTH:
            text = _write_data(markup, blocks, content, facts.base, links)
    if text.blocks.unfilled and len(text.markdown) < _MIN_BESIDE:
        text = text._replace(markdown="")
    language = correct_language(facts.language, text.markdown)
    notes = (
        *_describe_source(source, facts, text),
        *choice.notes,
        *strays,
        *_describe_unfilled(text.blocks),
        *doubts,
        *_describe_language(facts.language, language),
        *wall_notes(wall, facts, text.blocks, text.markdown),
        *_describe_empty(text.markdown),
    )
    targets = [*text.targets.values()]
    if page_data is not None and links == "keep":
        targets += page_data.links
    media_type = declared(content_type)
    if media_type not in HTML:
        media_type = "text/html"
    return make_page(
        url,
        media_type,
        text.markdown,
        rest=write_rest(blocks, content, choice.readable, linked=links != "drop"),
        title=facts.title,
        truncated=source.cut,
        kind=kind,
        language=language,
        author=facts.author,
        published=facts.published,
        modified=facts.modified,
        description=facts.description,
        canonical_url=facts.canonical_url,
        site_name=facts.site_name,
        links=_outgoing(targets, url),
        data=page_data,
        notes=notes,
    )


def _describe_language(tag: str | None, language: str | None) -> Iterator[str]:
    """Yield a note if the text of a page contradicts its *tag*."""
    if tag is not None and tag != language:
        yield f"the page states the language {tag}, but its text is in {language}"


def _prepare(data: bytes, content_type: str | None) -> _Source:
    """Decode a page, and bound what parsing it can cost."""
    decoded = to_utf8(data, content_type, limit=_MAX_SIZE)
    source = decoded.data.replace(b"\x00", b"")
    if declared(content_type) == _XHTML:
        source = close_empty(source)
    hardened = harden(source)
    streamed = False
    if b"<template" in hardened.source:
        streamed = any(move in decoded.data for move in _MOVES)
    notes = () if decoded.note is None else (decoded.note,)
    return _Source(
        hardened.source,
        notes,
        hardened.simpler,
        bool(decoded.cut or hardened.cut),
        streamed,
    )


def _write(
    blocks: TextBlocks, content: Blocks | None, base: str, links: Links
) -> _Text:
    from .._markdown.writer import to_markdown

    # including the navigation
    targets = {}
    if links == "keep":
        targets = resolved(blocks.links(), base)
    tree = build_tree(blocks, content, linked=links != "drop")
    markdown = to_markdown(tree.body, targets)
    # Parents and children refer to each other: without this, only the collector of
    # garbage frees them, which takes a few percent of the time.
    for element in tree.elements:
        element.parent = None
    return _Text(blocks, markdown, targets, tree.flattened)


def _write_data(
    markup: str, blocks: TextBlocks, content: Blocks, base: str, links: Links
) -> _Text:
    """Write what the data of a page states as HTML, and then what else it shows."""
    source = harden(markup.encode("utf-8", "replace")).source
    statement = find_blocks(parse(source).body)
    repeated = " ".join(statement.block_texts)
    others = {block for block in content if blocks.block_texts[block] not in repeated}
    beside = _write(blocks, others, base, links)
    text = _write(statement, None, base, links)
    parts = [text.markdown, beside.markdown]
    return text._replace(
        markdown="\n\n".join(part for part in parts if part),
        targets=beside.targets | text.targets,
        from_data=True,
    )


def _describe_source(source: _Source, facts: Metadata, text: _Text) -> Iterator[str]:
    """Yield notes on how the source was read."""
    yield from source.notes
    yield from removal_note(text.blocks.invisible)
    yield from _describe_hidden(text.blocks, len(text.markdown))
    if source.cut:
        yield "the page is larger than is read: this is its beginning"
    if facts.linked.effort.is_spent:
        yield _TOO_MUCH_DATA
    if source.simpler or text.flattened:
        yield "elements were nested too deeply: some structure is lost"
    if text.blocks.scriptless:
        yield "this is what the page tells readers without scripts"
    if text.from_data:
        yield (
            "the page shows little text without its scripts: what its data says comes "
            "first"
        )


def _describe_unfilled(blocks: TextBlocks) -> Iterator[str]:
    if blocks.unfilled:
        yield f"left out {quantity(blocks.unfilled, 'place')} that only scripts fill"


def _describe_empty(markdown: str) -> Iterator[str]:
    if not markdown:
        yield "the page has no text that can be read without running its scripts"


def _describe_hidden(blocks: TextBlocks, length: int) -> Iterator[str]:
    """Yield notes on what is hidden; they say how much if that is more than the
    *length* of the content.
    """
    if blocks.hidden:
        much = ""
        if blocks.hidden_length > length:
            much = f": {blocks.hidden_length:,} characters{MORE_HIDDEN}"
        yield f"{quantity(blocks.hidden, 'hidden passage')} left out{much}"
    if blocks.doubted:
        passages = quantity(blocks.doubted, "passage")
        yield f"{passages} read that their style may leave hidden"
    if blocks.unasked:
        passages = quantity(blocks.unasked, "hidden passage")
        yield f"{passages} read that people may never see"


def _outgoing(links: Iterable[str], url: str) -> tuple[str, ...]:
    """Return each link once, in the order of the page, without links to places within
    the page.
    """
    here = {strip_anchor(url), strip_anchor(url.partition("#")[0])}
    return tuple(
        dict.fromkeys(link for link in links if strip_anchor(link) not in here)
    )[:MAX_LINKS]
