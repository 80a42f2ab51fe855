"""
What a site asks of robots: robots.txt as RFC 9309 has it.

Python's own ``urllib.robotparser`` takes the first rule that fits instead of the longest, and knows no ``*`` within a
path, so that it would go where many sites say no.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

_US = "websearch-core"
_LONGEST_DELAY = 30.0  # seconds


@dataclass(frozen=True)
class Robots:
    """
    The rules that hold for us.

    Args:
        rules: Each a pattern of paths, and whether it allows or forbids.
        delay: Seconds that the site wants between two requests.

    """

    rules: tuple[tuple[str, bool], ...] = ()
    delay: float = 0.0

    @classmethod
    def of(cls, text: str) -> Robots:
        """Read a robots.txt: the rules for us by name, or else those for everybody."""
        groups: dict[str, list[tuple[str, str]]] = {}
        names: list[str] = []
        begun = False
        for line in text.lstrip("\ufeff").splitlines():
            key, _, value = (part.strip() for part in line.partition("#")[0].partition(":"))
            key = key.lower()
            if key == "user-agent":
                names = [value.lower()] if begun else [*names, value.lower()]
                begun = False
                groups.setdefault(value.lower(), [])
            elif key in {"allow", "disallow", "crawl-delay"}:
                begun = True
                for name in names:
                    groups[name].append((key, value))
        ours = groups.get(_US, groups.get("*", []))
        rules = [(_normal(value), key == "allow") for key, value in ours if key != "crawl-delay" and value]
        delays = [
            float(value) for key, value in ours if key == "crawl-delay" and re.fullmatch(r"\d{1,4}(\.\d+)?", value)
        ]
        return cls(tuple(rules), min(max(delays, default=0.0), _LONGEST_DELAY))

    def allows(self, url: str) -> bool:
        """Tell whether *url* may be read: the longest rule that fits decides, and among equals the one that allows."""
        parts = urlsplit(url)
        path = _normal(parts.path or "/") + (f"?{_normal(parts.query)}" if parts.query else "")
        fitting = [(len(pattern), allowed) for pattern, allowed in self.rules if _fits(pattern, path)]
        return max(fitting, default=(0, True))[1]


def _fits(pattern: str, path: str) -> bool:
    """Tell whether *path* begins as *pattern* says, ``*`` standing for anything and a last ``$`` for the end."""
    first, *middle = pattern.removesuffix("$").split("*")
    if not path.startswith(first):
        return False
    place = len(first)
    last = middle.pop() if pattern.endswith("$") and middle else None
    for piece in middle:
        place = path.find(piece, place)
        if place < 0:
            return False
        place += len(piece)
    if last is not None:
        return len(path) - len(last) >= place and path.endswith(last)
    return place == len(path) if pattern.endswith("$") else True


def _normal(path: str) -> str:
    """Write *path* in one way of the many that mean the same."""
    escaped = quote(path, safe="/%*$?&=:@!'(),;+~-._")
    return re.sub("%([0-9a-fA-F]{2})", lambda octet: _plain(chr(int(octet[1], 16))) or octet[0].upper(), escaped)


def _plain(character: str) -> str:
    """Return *character* if it never needs to be escaped (RFC 3986, 2.3)."""
    return character if re.fullmatch(r"[A-Za-z0-9._~-]", character) else ""
