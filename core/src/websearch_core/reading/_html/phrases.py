"""What pages say in the languages of the world, before a date or on a button: as parts
of patterns.
"""

from __future__ import annotations
import json
import re
from importlib.resources import files

_PARTS: dict[str, list[str]] = json.loads(
    files(__package__ or "").joinpath("phrases.json").read_text("utf-8")
)
PHRASES = {name: "|".join(parts) for name, parts in _PARTS.items()}

_BEGIN = r"(?<![\w-])(?:js[-_]|[cmo][-_]|the[-_])?"
_PARTS_OF_PAGES = (
    r"(?:[-_]+(?:list|section|thread|area|wrapper|content|container|body|block|box"
    r"|feed|tab|widget|root|item|main))*"
)
# classes and ids, in lower case, of what readers and buyers wrote
COMMENTS, REVIEWS = (
    re.compile(rf"{_BEGIN}(?:{PHRASES[name]}){_PARTS_OF_PAGES}(?![\w-])")
    for name in ("classes of comments", "classes of reviews")
)
