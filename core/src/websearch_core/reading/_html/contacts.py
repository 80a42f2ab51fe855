"""Find how to reach who made a page: the texts outside its main text that state an
address, a telephone number, an e-mail address or hours.
"""

from __future__ import annotations
import re
from collections.abc import Iterator, Sequence

from .._excerpt.asked import kinds_stated
from .grid import inert
from .responses import by_visitors
from .text_blocks import TextBlocks

_KINDS = ["address", "phone", "email", "hours"]
_IN_ANY = re.compile(r"[\d@]")
# An amount, a share, a date, the number of a product: also written in groups of digits.
_OTHER_NUMBERS = re.compile(r"[$€£¥%©]|\b000|\b(?:19|20)\d\d-|[ ./](?:19|20)\d\d\b")
_NUMBER = re.compile(r"\d+")
_MIN_NUMBERS = 2  # of an address: a house and a postcode
_MAX_TEXT_LENGTH = 120  # characters: a longer text is prose
_MAX_LENGTH = 400  # characters of all texts


def find_contacts(
    blocks: TextBlocks, content: Sequence[bool], markdown: str
) -> Iterator[str]:
    """Yield the first texts with contacts of the blocks that are not *content*, as the
    page writes them; those of visitors, and those that *markdown* has, are left out.
    """
    contacts = _first_contacts(blocks, content)
    if not contacts:
        return
    visitors = by_visitors(blocks)
    for text, block in contacts.items():
        if not visitors[block] and text not in markdown:
            yield inert(text, _MAX_TEXT_LENGTH)


def _first_contacts(blocks: TextBlocks, content: Sequence[bool]) -> dict[str, int]:
    """Return the first texts with contacts, each with its block."""
    contacts: dict[str, int] = {}
    room = _MAX_LENGTH
    for block, text in enumerate(blocks.block_texts):
        if content[block] or text in contacts:
            continue
        if not _is_contact(text):
            continue
        room -= len(text)
        if room < 0:
            break
        contacts[text] = block
    return contacts


def _is_contact(text: str) -> bool:
    """Return whether a text is a contact, although nobody asked for one.

    This is stricter than what is found for a question, which says what is meant.
    """
    if len(text) > _MAX_TEXT_LENGTH or not _IN_ANY.search(text):
        return False
    kinds = kinds_stated(text, _KINDS)
    if "email" in kinds:
        return True
    if "address" in kinds and len(_NUMBER.findall(text)) >= _MIN_NUMBERS:
        return True
    if _OTHER_NUMBERS.search(text):
        return False
    return "phone" in kinds or "hours" in kinds
