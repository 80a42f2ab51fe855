"""Decide whether ``@media`` and ``@supports`` conditions hold, as far as possible without a browser."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from .syntax import Token, parse_size, split_parts, tokenize

# A page is judged at two widths, so that text counts as visible if only narrow or only wide screens show it.
NARROW, WIDE = 1, 2
BOTH = NARROW | WIDE
_WIDTHS = {NARROW: 390.0, WIDE: 1440.0}  # pixels
_HEIGHT = 800.0
_SUPPORTED = frozenset(
    "display position color background background-color opacity visibility overflow width height max-width max-height "
    "transform font-size margin padding clip-path".split()
)  # properties that every browser supports


class Condition(NamedTuple):
    """Bits of the widths at which something certainly holds, and at which it may hold."""

    sure: int
    maybe: int

    def and_(self, other: Condition) -> Condition:
        """Return when both hold."""
        return Condition(self.sure & other.sure, self.maybe & other.maybe)


ALWAYS, NEVER, PERHAPS = Condition(BOTH, BOTH), Condition(0, 0), Condition(0, BOTH)


@lru_cache(maxsize=256)
def read_media(text: str) -> Condition:
    """Return when a media query holds; an empty one always does."""
    found = tuple(span.token for span in tokenize(text[:2_000]) if span.token)
    sure = maybe = 0
    for query in split_parts(found, ","):
        one = _read_query(query)
        sure |= one.sure
        maybe |= one.maybe
    return Condition(sure, maybe)


def _read_query(query: tuple[Token, ...]) -> Condition:
    parts = split_parts(query)
    if parts and parts[0] == (Token("ident", "only"),):
        parts = parts[1:]
    holds = ALWAYS
    for place, part in enumerate(parts):
        first = part[0]
        if place % 2:
            if part != (Token("ident", "and"),):
                return PERHAPS
        elif part[0].kind == "ident":
            if first.text in {"print", "speech", "aural", "braille", "embossed", "handheld", "projection", "tty", "tv"}:
                holds = NEVER
            elif first.text not in {"all", "screen"}:
                return PERHAPS
        else:
            holds = holds.and_(_read_feature(part[1:-1]) if first == Token("mark", "(") else PERHAPS)
    return holds if not parts or len(parts) % 2 else PERHAPS


def _read_feature(inside: tuple[Token, ...]) -> Condition:
    """Evaluate a condition on the width or height."""
    if len(inside) < 3 or inside[0].kind != "ident" or inside[1] != Token("mark", ":"):
        return PERHAPS
    limit = parse_size(inside[2:])
    if limit is None or (limit.kind != "length" and limit.number):
        return PERHAPS
    name, pixels = inside[0].text.replace("device-", ""), limit.number
    if name == "min-width":
        bits = sum(width for width, has in _WIDTHS.items() if has >= pixels)
    elif name == "max-width":
        bits = sum(width for width, has in _WIDTHS.items() if has <= pixels)
    elif name == "min-height" and pixels <= 0:
        bits = BOTH
    else:
        return PERHAPS
    return Condition(bits, bits)


def read_supports(text: str) -> Condition:
    """Return when ``@supports`` holds: always for what every browser supports, else perhaps."""
    found = tuple(span.token for span in tokenize(text[:2_000]) if span.token)
    for place, part in enumerate(split_parts(found)):
        if place % 2:
            if part != (Token("ident", "and"),):
                return PERHAPS
        elif (
            len(part) < 5
            or part[0] != Token("mark", "(")
            or part[1].text not in _SUPPORTED
            or part[2] != Token("mark", ":")
            or len(part) != 5
            or part[3].kind != "ident"
            or part[3].text.startswith("-")
        ):
            return PERHAPS
    return ALWAYS if found else PERHAPS
