"""Add what pypdf misses in fonts: East Asian characters that are written as numbers, and spaces that are gaps.

pypdf offers no way to replace these functions, so they are patched as in `filters`: only within `bounded`.
"""

from __future__ import annotations
import unicodedata
from collections.abc import Mapping
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any

from pypdf import _cmap
from pypdf._text_extraction import _text_extractor, mult
from pypdf.generic import _font

from .filters import patch

_UNKNOWN = "\ufffd"
_ASCII = "".join(map(chr, range(32, 127)))
_YEN = _ASCII.replace("\\", "¥")
_UPRIGHT = "、。￣＿ー―‐〜‖｜…‥（）〔〕［］｛｝〈〉《》「」『』【】＝ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮヵヶ"  # noqa: RUF001 (these are meant)
_KANA = "".join(map(chr, range(0xFF61, 0xFFA0)))  # of half the width
# Adobe's collections number characters in the order of national standards. For each: the first number of a run, and its
# characters, or the encoding of the standard with the first and last row. The order of CNS1 does not follow a standard.
_Run = tuple[int, str] | tuple[int, str, int, int]
_COLLECTIONS: dict[str, tuple[_Run, ...]] = {
    "Japan1": (
        *((1, _YEN), (231, _YEN), (327, _KANA), (7887, _UPRIGHT)),
        *((633, "euc_jp", 0xA1, 0xA7), (1125, "euc_jp", 0xB0, 0xF3)),
    ),
    "GB1": ((1, _ASCII), (814, _ASCII[1:].replace("$", "¥")), (96, "gb2312", 0xA1, 0xA6), (940, "gb2312", 0xB0, 0xF7)),
    "Korea1": (
        *((1, _ASCII), (8094, _ASCII.replace("\\", "₩"))),
        *((101, "euc_kr", 0xA1, 0xA1), (1086, "euc_kr", 0xB0, 0xC8), (3436, "euc_kr", 0xCA, 0xFD)),
    ),
    "CNS1": ((1, _ASCII), (13648, _ASCII)),
}
_MAX_NUMBER = 2**15
# The names of encodings that pypdf does not know, without the direction of writing at their end.
_ENCODINGS = {
    **dict.fromkeys(("/83pv-RKSJ", "/90msp-RKSJ", "/90pv-RKSJ", "/Add-RKSJ", "/Ext-RKSJ"), "cp932"),
    **dict.fromkeys(("/KSC-EUC", "/KSCms-UHC", "/KSCms-UHC-HW", "/KSCpc-EUC"), "cp949"),
    "/EUC": "euc_jp",
    "/B5pc": "big5",
    "/HKscs-B5": "big5hkscs",
}
_RETURN = 3  # heights of a line to the left: there another column begins


@lru_cache(maxsize=len(_COLLECTIONS))
def _characters(collection: str) -> Mapping[str, str]:
    """Return the characters of a collection by their numbers (characters to pypdf), for all fonts to share."""
    found = dict.fromkeys(map(chr, range(1, _MAX_NUMBER)), _UNKNOWN)
    for first, text, *rows in _COLLECTIONS[collection]:
        run = _list_standard(text, *rows) if rows else text
        found.update(zip(map(chr, range(first, first + len(run))), run, strict=True))
    return MappingProxyType(found)


def _list_standard(encoding: str, first: int, last: int) -> str:
    """Return the characters in some rows of a standard, without the copies that Unicode has for compatibility."""
    pairs = (bytes((row, cell)) for row in range(first, last + 1) for cell in range(0xA1, 0xFF))
    found = (pair.decode(encoding, "ignore") for pair in pairs)
    return "".join(character for character in found if len(character) == 1 and not "\uf900" <= character <= "\ufaff")


def _map_numbers(theirs: partial[Any], font: Any) -> Any:
    """Return the characters of a font that writes numbers of a collection and does not map them itself."""
    if font.get("/Encoding") in ("/Identity-H", "/Identity-V") and "/ToUnicode" not in font:
        described = font["/DescendantFonts"].get_object()[0].get_object().get("/CIDSystemInfo")
        if described is not None and (ordering := str(described.get_object().get("/Ordering"))) in _COLLECTIONS:
            return _characters(ordering), []
    return theirs()


def _name_encoding(theirs: partial[Any], font: Any) -> Any:
    name = font.get("/Encoding")
    return _ENCODINGS.get(name[:-2]) or theirs() if isinstance(name, str) else theirs()


def _find_space(theirs: partial[Any], encoding: Any) -> str:
    """Return the code of the space, "" if the font has none: then the width of its glyph number 32 says nothing."""
    found, characters = theirs(), theirs.args[1]
    return found if isinstance(encoding, dict) or not characters or characters.get(found) == " " else ""


def _part_columns(theirs: partial[Any], text: str) -> Any:
    """Put a space between the text of a column and that of one to its left in the same line."""
    found = theirs()
    _, before, now, _, _, _, output, size, *_ = theirs.args
    last = (output + text)[-1:]
    if found[:2] != (text, output) or not last or last.isspace() or unicodedata.bidirectional(last) in {"R", "AL"}:
        return found
    old, new = mult(before[1], before[0]), mult(now[1], now[0])
    is_upright = new[0] > 0 and abs(new[1]) < 0.01 * new[0]
    return (f"{text} ", *found[1:]) if is_upright and old[4] - new[4] > _RETURN * abs(new[3] * size) else found


patch(_cmap, "_parse_to_unicode", _map_numbers)
patch(_cmap, "_parse_encoding", _name_encoding)
patch(_font.Font, "_get_space_char", _find_space)
patch(_text_extractor, "crlf_space_check", _part_columns)
