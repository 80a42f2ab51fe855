"""Find what readers and buyers wrote about a page, comments and reviews, and keep or
drop it.

Pages mark them by schema.org types (``Comment``, ``Review``), by classes and ids, or by
a heading that says nothing but "12 comments". What the page is about, such as the posts
of a forum, is not a response.
"""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Mapping
from itertools import compress
from typing import TYPE_CHECKING, NamedTuple

from ..._text.vocabulary import Kind, Responses
from .jsonld import types
from .phrases import PHRASES

if TYPE_CHECKING:
    from .blocks import TextBlocks
    from .metadata import Metadata

_PREFIX = r"(?<![\w-])(?:js[-_]|[cmo][-_]|the[-_])?"
_PARTS = r"(?:[-_]+(?:list|section|thread|area|wrapper|content|container|body|block|box|feed|tab|widget|root|item|main))*"
_COMMENTS = re.compile(
    rf"{_PREFIX}(?:{PHRASES['classes of comments']}){_PARTS}(?![\w-])"
)
_REVIEWS = re.compile(rf"{_PREFIX}(?:{PHRASES['classes of reviews']}){_PARTS}(?![\w-])")
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
    "review", "bewertung", "rezension", "avis", "opiniones", "recension", "rese",
    "yotpo", "bazaarvoice", "jdgm",
    "okendo", "stamped", "trustpilot", "loox",
)  # fmt: skip
_LEVELS = {f"h{level}": level for level in range(1, 7)}
_FRAMES = frozenset({"body", "main", "html"})
_CONTROLS = frozenset({"button", "label", "form", "nav"})
# characters: a page with less besides its comments is nothing but comments
_MIN_LENGTH = 120
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


_FORMS = {
    "comments": _Form(
        _COMMENT_HINTS,
        _COMMENTS,
        _COMMENTS_HEADING,
        frozenset({"Comment", "UserComments"}),
        "comment",
    ),
    "reviews": _Form(
        _REVIEW_HINTS,
        _REVIEWS,
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
    wanted: dict[str, Responses | None] = {
        "comments": comments or by_kind,
        "reviews": reviews,
    }
    return {name: choice for name, choice in wanted.items() if choice}


def choose_responses(
    outline: TextBlocks,
    kept: list[bool],
    facts: Metadata,
    choices: Mapping[str, Responses],
) -> tuple[list[bool], list[bool], tuple[str, ...]]:
    """Keep or drop comments and reviews, as *choices* says; those without a choice stay
    as *kept* has them.

    Returns the blocks to keep, those that would be kept if all were content, and notes
    on the former.
    """
    notes: list[str] = []
    shown = [True] * len(kept)
    for name, choice in choices.items():
        is_review = not facts.about and any(
            types(thing) & _REVIEWED for thing in facts.linked.things
        )
        # the page itself, not one about what is reviewed
        if name == "reviews" and is_review:
            continue
        found = _find(outline, _FORMS[name])
        if choice == "keep":
            wanted = _without_controls(outline, found)
            kept, shown = (
                [
                    want if response else keep
                    for keep, response, want in zip(some, found, wanted, strict=True)
                ]
                for some in (kept, shown)
            )
        elif any(found):
            shown = _drop(outline, shown, _without_forms(outline, found)) or shown
            rest = _drop(outline, kept, found)
            notes += [] if rest else [f"the page has only {name}: they were kept"]
            kept = rest or kept
    return kept, shown, tuple(notes)


def _drop(outline: TextBlocks, kept: list[bool], found: list[bool]) -> list[bool]:
    """Return the blocks *kept* without those *found*; nothing if that would leave
    hardly any text.
    """
    rest = [keep and not response for keep, response in zip(kept, found, strict=True)]
    before, after = (
        sum(map(len, compress(outline.block_texts, some))) for some in (kept, rest)
    )
    return [] if after < min(_MIN_LENGTH, before) else rest


def _find(outline: TextBlocks, form: _Form) -> list[bool]:
    """Return for each block whether it is in an element that is marked as a response,
    or below such a heading.
    """
    marked = outline.find_marks(form.marks, form.hints)
    begun = {element for element, mark in enumerate(outline.marks) if mark in marked}
    if not outline.attribute_names.isdisjoint(_STATED):
        begun |= {
            element
            for element, own in enumerate(outline.attributes)
            if own.get("itemprop") == form.property
            or (own.get("itemtype") or "").rpartition("/")[2] in form.kinds
        }
    begun -= {
        element for element in begun if outline.names[element] in _FRAMES
    } | _around_titles(outline)
    inside = outline.holders(begun)
    found = [inside[element] > 0 for element in outline.block_elements]
    _add_below_headings(outline, found, form.heading)
    return found


def _around_titles(outline: TextBlocks) -> set[int]:
    """Return the elements around a first-level heading: what they hold is the page
    itself.
    """
    around: set[int] = set()
    for element, name in enumerate(outline.names):
        if name == "h1":
            place = element
            while place >= 0 and place not in around:
                around.add(place)
                place = outline.parents[place]
    return around


def _add_below_headings(
    outline: TextBlocks, found: list[bool], headings: re.Pattern[str]
) -> None:
    """Add what is below a heading such as "Comments (12)": up to the next one of its
    level, within its parent.
    """
    children = Counter(outline.parents)
    end = -1  # the level of the heading that blocks are below
    root = -1
    for block, (text, element) in enumerate(
        zip(outline.block_texts, outline.block_elements, strict=True)
    ):
        level = _LEVELS.get(outline.names[element])
        if end > 0 and ((level and level <= end) or not _is_in(outline, element, root)):
            end = -1
        if (
            level
            and level > 1
            and len(text) <= _MAX_HEADING_LENGTH
            and headings.fullmatch(text)
        ):
            end, root = level, _section(outline, element, children)
        if end > 0:
            found[block] = True


def _section(outline: TextBlocks, heading: int, children: Counter[int]) -> int:
    """Return the element that a heading heads: its parent, or that of a parent that has
    nothing else.
    """
    parent = outline.parents[heading]
    while parent > 0 and children[parent] == 1:
        parent = outline.parents[parent]
    return parent


def _is_in(outline: TextBlocks, element: int, root: int) -> bool:
    while element > root:
        element = outline.parents[element]
    return element == root


def _without_forms(outline: TextBlocks, found: list[bool]) -> list[bool]:
    """Leave out forms to write a response with. A form that has other parts of the page
    too is not one.
    """
    forms = outline.holders(
        element for element, name in enumerate(outline.names) if name == "form"
    )
    around = [forms[element] for element in outline.block_elements]
    others = {
        0,
        *(form for form, response in zip(around, found, strict=True) if not response),
    }
    return [
        response and form in others
        for form, response in zip(around, found, strict=True)
    ]


def _without_controls(outline: TextBlocks, found: list[bool]) -> list[bool]:
    """Leave out buttons, fields and short texts that every entry repeats, such as
    "Reply".
    """
    texts = Counter(compress(outline.block_texts, found))
    return [
        response
        and outline.names[element] not in _CONTROLS
        and not (len(text) < _CONTROL_LENGTH and texts[text] >= _OFTEN)
        for response, text, element in zip(
            found, outline.block_texts, outline.block_elements, strict=True
        )
    ]
