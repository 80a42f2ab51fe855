"""The frameworks by which pages ask for consent, as the browser and the reader of HTML
know them.

Names of elements are those that the frameworks document for styling and testing.
"""

from __future__ import annotations
import json
import re
from importlib.resources import files
from typing import Any

# ``about``: what people call it, as a pattern in the languages of Europe.
# ``frameworks``: of each its name, selectors of its box, of the controls that decline,
# in order of preference, and of the controls that lead to them.
CONSENT: dict[str, Any] = json.loads(
    files(__package__ or "").joinpath("consent.json").read_text("utf-8")
)
_ABOUT = re.compile(CONSENT["about"], re.IGNORECASE)
_SELECTORS = ",".join(boxes for _, boxes, _, _ in CONSENT["frameworks"])
# the last part of each selector names the box itself
_IDS = frozenset(re.findall(r"#([\w-]+)(?=,|\Z)", _SELECTORS))
_CLASSES = frozenset(re.findall(r"\.([\w-]+)(?=,|\Z)", _SELECTORS))
_BEGINS_OF_IDS = tuple(re.findall(r'\[id\^="([^"]+)"\]', _SELECTORS))


def is_box_id(identity: str) -> bool:
    """Return whether an id is that of the box of a framework."""
    return identity in _IDS or identity.startswith(_BEGINS_OF_IDS)


def names_box(classes: str) -> bool:
    """Return whether one of some classes is that of the box of a framework."""
    return not _CLASSES.isdisjoint(classes.split())


def asks_consent(text: str) -> bool:
    """Return whether a text is about consent."""
    return _ABOUT.search(text) is not None
