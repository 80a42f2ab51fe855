"""What pages say in the languages of the world, before a date or on a button: as parts
of patterns.
"""

from __future__ import annotations
import json
from importlib.resources import files

_PARTS: dict[str, list[str]] = json.loads(
    files(__package__ or "").joinpath("phrases.json").read_text("utf-8")
)
PHRASES = {name: "|".join(parts) for name, parts in _PARTS.items()}
