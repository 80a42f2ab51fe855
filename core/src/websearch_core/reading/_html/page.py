"""Read HTML pages, each step in its module: decode, harden, parse, find blocks, select
content, build a tree, write.
"""

from __future__ import annotations
from collections.abc import Iterable, Iterator
from itertools import compress

from ..._text.invisible import removal_note
from ..._text.media_types import HTML
from ..._text.quantity import quantity
from ..._text.urls import strip_anchor
from ..._text.vocabulary import Responses
from ...models import Page
from ...models._outcomes import MORE_HIDDEN
from .._charset import to_utf8
from .._links import MAX_LINKS, Links, resolved
from .._sniff import declared
from .._types import make_page
from .blocks import TextBlocks, find_blocks
from .harden import harden
from .metadata import find_kind, read_metadata
from .page_data import read_data
from .parse import find_base, parse
from .responses import choose_responses, default_choices
from .rest import write_rest
from .select import drop_strays, select_content
from .structured_data import lacks_article, markup_from_data
from .tree import build_tree
from .walls import find_wall, wall_notes

# characters: a page with less text may have more in its structured data
_MIN_LENGTH = 120
# characters: a page with less besides places that scripts fill is a template
_MIN_BESIDE = 600
_MAX_SIZE = 10 * 2**20  # bytes of source in UTF-8
_TOO_MUCH_DATA = (
    "the page's data says the same too often to be read: a part of it is left out"
)
# React moves a streamed part to its place, a <template>
_MOVES = b"$RC(", b"$RR(", b"$RS(", b"data-rci"


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
    from .._markdown.writer import to_markdown

    text, decoding, beginning = to_utf8(data, content_type, most=_MAX_SIZE)
    hardened = harden(text.replace(b"\x00", b""))
    streamed = b"<template" in hardened.source and any(move in text for move in _MOVES)
    del text
    document = parse(hardened.source)
    facts = read_metadata(document, url)
    wall = find_wall(document, facts, hardened.source)
    kind = find_kind(document, facts, facts.place, hardened.source)
    base = find_base(document, url)
    blocks = find_blocks(document.body, rendered=rendered, streamed=streamed)
    cut, simpler = beginning or hardened.cut or blocks.cut, hardened.simpler
    del document, hardened  # free their memory for the next steps
    stated, doubts = read_data(facts, kind, blocks, base)
    choices = default_choices(kind, comments, reviews)
    kept, shown, chosen = choose_responses(
        blocks, select_content(blocks, facts.place, facts), facts, choices
    )
    kept, strays = drop_strays(
        blocks, kept, facts.title, is_article=(kind or facts.og_type) == "article"
    )
    rest = write_rest(blocks, kept, shown, linked=links != "drop")
    # including the navigation
    targets = resolved(blocks.links(), base) if links == "keep" else {}
    length = sum(map(len, compress(blocks.block_texts, kept)))
    unshown = length < _MIN_LENGTH or lacks_article(blocks.block_texts, length, facts)
    source = (
        markup_from_data(facts, comments=choices.get("comments") != "drop")
        if unshown
        else ""
    )
    from_data = len(source) > _MIN_LENGTH
    beside = ""  # what the page shows besides
    if from_data:
        said = find_blocks(parse(harden(source.encode("utf-8", "replace")).source).body)
        repeated = " ".join(said.block_texts)
        kept = [
            keep and text not in repeated
            for keep, text in zip(kept, blocks.block_texts, strict=True)
        ]
        beside = to_markdown(
            build_tree(blocks, kept, linked=links != "drop").body, targets
        )
        blocks, kept = said, [True] * len(said.block_texts)
        targets |= resolved(blocks.links(), base) if links == "keep" else {}
    main = build_tree(blocks, kept, linked=links != "drop")
    content = "\n\n".join(filter(None, [to_markdown(main.body, targets), beside]))
    if blocks.unfilled and len(content) < _MIN_BESIDE:
        content = ""

    notes = [
        *([decoding] if decoding else []),
        *removal_note(blocks.invisible),
        *_describe_hidden(blocks, len(content)),
        *(["the page is larger than is read: this is its beginning"] if cut else []),
        *([_TOO_MUCH_DATA] if facts.linked.effort.is_spent else []),
        *(
            ["elements were nested too deeply: some structure is lost"]
            if simpler or main.flattened
            else []
        ),
        *(
            ["this is what the page tells readers without scripts"]
            if blocks.scriptless
            else []
        ),
        *(
            [
                (
                    "the page shows little text without its scripts: what its data says "
                    "comes first"
                )
            ]
            if from_data
            else []
        ),
        *chosen,
        *strays,
        *(
            [f"left out {quantity(blocks.unfilled, 'place')} that only scripts fill"]
            if blocks.unfilled
            else []
        ),
        *doubts,
        *wall_notes(wall, facts, blocks, content),
        *(
            []
            if content
            else ["the page has no text that can be read without running its scripts"]
        ),
    ]
    declared_type = declared(content_type)
    return make_page(
        url,
        declared_type if declared_type in HTML else "text/html",
        content,
        rest=rest,
        title=facts.title,
        truncated=cut,
        kind=kind,
        language=facts.language,
        author=facts.author,
        published=facts.published,
        modified=facts.modified,
        description=facts.description,
        canonical_url=facts.canonical_url,
        site_name=facts.site_name,
        links=_outgoing(
            (*targets.values(), *(stated.links if stated and links == "keep" else ())),
            url,
        ),
        data=stated,
        notes=tuple(notes),
    )


def _describe_hidden(blocks: TextBlocks, length: int) -> Iterator[str]:
    """Yield notes on what is hidden; they say how much if that is more than the
    *length* of the content.
    """
    if blocks.hidden:
        much = (
            f": {blocks.hidden_length:,} characters{MORE_HIDDEN}"
            if blocks.hidden_length > length
            else ""
        )
        yield f"{quantity(blocks.hidden, 'hidden passage')} left out{much}"
    if blocks.doubted:
        yield (
            f"{quantity(blocks.doubted, 'passage')} read that their style may leave "
            f"hidden"
        )
    if blocks.unasked:
        yield (
            f"{quantity(blocks.unasked, 'hidden passage')} read that people may never "
            f"see"
        )


def _outgoing(links: Iterable[str], url: str) -> tuple[str, ...]:
    """Return each link once, in the order of the page, without links to places within
    the page.
    """
    here = {strip_anchor(url), strip_anchor(url.partition("#")[0])}
    return tuple(
        dict.fromkeys(link for link in links if strip_anchor(link) not in here)
    )[:MAX_LINKS]
