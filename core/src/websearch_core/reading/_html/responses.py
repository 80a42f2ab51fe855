"""Find what readers and buyers wrote about a page, comments and reviews, and keep or
drop it.

Pages mark them by schema.org types (``Comment``, ``Review``), by classes and ids, or by
a heading that says nothing but "12 comments". What the page is about, such as the posts
of a forum, is not a response.
"""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from ..._text.vocabulary import Kind, Responses
from .._element import LEVELS, Attributes
from .jsonld import types
from .metadata import Metadata
from .phrases import COMMENTS, PHRASES, REVIEWS
from .text_blocks import Blocks, TextBlocks

_MAX_HEADING_LENGTH = 60  # characters
_COUNT = r"[\s(\[:]*+(?:\d[\d.,\s]*+k?)?[\s)\]]*+"
_COMMENTS_HEADING = re.compile(
    rf"{_COUNT}(?:{PHRASES['headings of comments']}){_COUNT}", re.IGNORECASE
)
_REVIEWS_HEADING = re.compile(
    rf"{_COUNT}(?:{PHRASES['headings of reviews']}){_COUNT}", re.IGNORECASE
)
# Parts of the words above, for a quick check.
_COMMENT_HINTS = (
    "omment",
    "isqus",
    "reacties",
    "komentar",
    "comentario",
    "utterances",
    "giscus",
)
_REVIEW_HINTS = (
    "review",
    "bewertung",
    "rezension",
    "avis",
    "opiniones",
    "recension",
    "rese",
    "yotpo",
    "bazaarvoice",
    "jdgm",
    "okendo",
    "stamped",
    "trustpilot",
    "loox",
)
_FRAMES = frozenset({"body", "main", "html"})
_CONTROLS = frozenset({"button", "label", "form", "nav"})
# characters: a page with less besides its comments is nothing but comments
_MIN_LENGTH = 120
_MIN_WRITTEN = 100  # characters of responses, without forms, that are worth a note
_LEFT_OUT = (
    "the {0} of readers are left out: find and query reach them, and {0}='keep' adds "
    "them"
)
_CONTROL_LENGTH = 30  # characters: "Reply", "Report", "Share this comment"
_OFTEN = 3  # times that such a text occurs in a thread
_STATED = frozenset({"itemprop", "itemtype"})  # by microdata
_REVIEWED = frozenset({"Review", "CriticReview", "UserReview", "ReviewNewsArticle"})


class _Form(NamedTuple):
    """How pages mark one kind of response: by class or id, heading, schema.org types
    and property.
    """

    hints: tuple[str, ...]
    marks: re.Pattern[str]
    heading: re.Pattern[str]
    kinds: frozenset[str]
    property: str


class Choice(NamedTuple):
    """The blocks that are content, those that can be read beside it, and notes."""

    content: Blocks
    readable: Blocks
    notes: tuple[str, ...]


_FORMS = {
    "comments": _Form(
        _COMMENT_HINTS,
        COMMENTS,
        _COMMENTS_HEADING,
        frozenset({"Comment", "UserComments"}),
        "comment",
    ),
    "reviews": _Form(
        _REVIEW_HINTS,
        REVIEWS,
        _REVIEWS_HEADING,
        frozenset({"Review", "UserReview"}),
        "review",
    ),
}


def default_choices(
    kind: Kind | None, comments: Responses | None, reviews: Responses | None
) -> dict[str, Responses]:
    """Return what to do with comments and reviews, as far as it is wanted or the *kind*
    of page asks for it.
    """
    by_kind: Responses | None = "drop" if kind == "article" else None
    choices: dict[str, Responses | None] = {
        "comments": comments or by_kind,
        "reviews": reviews,
    }
    return {name: choice for name, choice in choices.items() if choice}


def choose_responses(
    outline: TextBlocks,
    content: Blocks,
    facts: Metadata,
    choices: Mapping[str, Responses],
    beside: AbstractSet[str] = frozenset(),
) -> Choice:
    """Keep or drop comments and reviews, as *choices* says; those without a choice stay
    as they are.

    What is dropped can still be read *beside* the content where nobody asked to drop
    it, and a note says so.
    """
    readable = set(range(len(outline.block_texts)))
    notes: list[str] = []
    for name, choice in choices.items():
        if name == "reviews" and _is_review(facts):
            continue
        responses = _find(outline, _FORMS[name])
        if choice == "keep":
            answers = _without_controls(outline, responses)
            content = content - responses | answers
            readable = readable - responses | answers
            continue
        if not responses:
            continue
        rest = _drop(outline, content, responses)
        written = _without_forms(outline, responses)
        answers = _without_controls(outline, written)
        if rest is None:
            notes.append(f"the page has only {name}: they were kept")
        elif name in beside and outline.length(answers) >= _MIN_WRITTEN:
            notes.append(_LEFT_OUT.format(name))
        if name in beside:
            readable = readable - written | answers
        else:
            readable = _drop(outline, readable, written) or readable
        content = rest or content
    return Choice(content, readable, tuple(notes))


def _is_review(facts: Metadata) -> bool:
    """Return whether the page itself is a review, not one about what is reviewed."""
    if facts.about:
        return False
    return any(types(thing) & _REVIEWED for thing in facts.linked.things)


def _drop(outline: TextBlocks, content: Blocks, responses: Blocks) -> Blocks | None:
    """Return *content* without *responses*; None if that leaves hardly any text."""
    rest = content - responses
    if outline.length(rest) < min(_MIN_LENGTH, outline.length(content)):
        return None
    return rest


def _find(outline: TextBlocks, form: _Form) -> Blocks:
    """Return the blocks in elements that are marked as responses, or below such a
    heading.
    """
    marked = outline.find_marks(form.marks, form.hints)
    begun = set(outline.marked(marked))
    if not outline.attribute_names.isdisjoint(_STATED):
        begun.update(
            element
            for element in outline.described
            if _states(outline.attributes[element], form)
        )
    pages = outline.around_all(outline.named("h1"))  # what is around a headline
    parts = {element for element in begun if not pages[element]}
    parts -= {*outline.named(*_FRAMES)}
    below = _find_below_headings(outline, form.heading)
    return outline.blocks_in(parts).union(below)


def _states(attributes: Attributes, form: _Form) -> bool:
    """Return whether an element has the type or the property of a response."""
    if attributes.get("itemprop") == form.property:
        return True
    return (attributes.get("itemtype") or "").rpartition("/")[2] in form.kinds


def _find_below_headings(
    outline: TextBlocks, headings: re.Pattern[str]
) -> Iterator[int]:
    """Yield what is below a heading such as "Comments (12)": up to the next one of its
    level, within its parent.
    """
    end = -1  # the level of the heading that blocks are below
    root = -1
    for block, element in enumerate(outline.block_elements):
        level = LEVELS.get(outline.names[element], 0)
        if end > 0:
            is_next = 0 < level <= end
            if is_next or not _is_in(outline, element, root):
                end = -1
        if level > 1 and _is_heading(outline.block_texts[block], headings):
            end = level
            root = _section(outline, element)
        if end > 0:
            yield block


def _is_heading(text: str, headings: re.Pattern[str]) -> bool:
    return len(text) <= _MAX_HEADING_LENGTH and headings.fullmatch(text) is not None


def _section(outline: TextBlocks, heading: int) -> int:
    """Return the element that a heading heads: its parent, or that of a parent that has
    nothing else.
    """
    parent = outline.parents[heading]
    while parent > 0 and outline.child_counts[parent] == 1:
        parent = outline.parents[parent]
    return parent


def _is_in(outline: TextBlocks, element: int, root: int) -> bool:
    while element > root:
        element = outline.parents[element]
    return element == root


def _without_forms(outline: TextBlocks, responses: Blocks) -> Blocks:
    """Leave out forms to write a response with. A form that has other parts of the page
    too is not one.
    """
    forms = outline.inside("form")
    around = outline.by_block(forms)
    others = {form for block, form in enumerate(around) if block not in responses}
    others.add(0)
    return {block for block in responses if around[block] in others}


def _without_controls(outline: TextBlocks, responses: Blocks) -> Blocks:
    """Leave out buttons, fields and short texts that every entry repeats, such as
    "Reply".
    """
    times = Counter(outline.block_texts[block] for block in responses)
    answers: Blocks = set()
    for block in responses:
        text = outline.block_texts[block]
        is_repeated = len(text) < _CONTROL_LENGTH and times[text] >= _OFTEN
        if not is_repeated and outline.block_names[block] not in _CONTROLS:
            answers.add(block)
    return answers
