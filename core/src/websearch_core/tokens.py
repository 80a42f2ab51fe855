"""
How many tokens a text is, for budgets in what models are paid by.

Exact with a counter of your own, such as ``lambda text: len(tiktoken.get_encoding("o200k_base").encode(text))`` or a
chat model's ``get_num_tokens``; else by `estimated`, which needs no tokenizer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import TypeAlias

from .errors import InvalidOption
from .models import Page

TokenCounter: TypeAlias = Callable[[str], int]

_PARTS = re.compile(r"[A-Za-z]{1,4}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,2}|\n+| {2,}")
_BYTES = 1.9  # of UTF-8 that are a token, outside of ASCII

CHARACTERS = 3  # of a token, roughly
_TRIES = 8
_ENOUGH = 0.95  # of a budget: there is no use in looking for a better cut


def estimated(text: str) -> int:
    """
    Estimate the tokens of *text*, rather too many than too few.

    Four letters or three digits are a token, two signs, and 1.9 bytes outside of ASCII. For each token that OpenAI's
    ``cl100k_base`` counts in twelve languages, it says 1.0 (Greek) to 1.9 (Russian), and 1.4 in English and on web
    pages; of the newer ``o200k_base``, 1.2 to 3.8 (``benchmarks/passages.py``). Of Base64 it sees two thirds.
    """
    other = len(text.encode("utf-8", "surrogatepass")) - len(text.encode("ascii", "ignore"))
    return len(_PARTS.findall(text)) + math.ceil(other / _BYTES)


def held(cut: Callable[[int], Page], most: int, max_tokens: int, count: TokenCounter) -> Page:
    """
    Cut a page so that it holds as much as fits into a budget of tokens. *count* is asked a few times.

    Args:
        cut: Makes of a number of characters the page that has so many at most.
        most: The most characters.
        max_tokens: The budget of the content.
        count: How many tokens a text is.

    Raises:
        InvalidOption: Not even a character fits.

    """
    best: Page | None = None
    taken = best_taken = tries = 0
    low, high, length = 0, most + 1, min(most, max_tokens * CHARACTERS)
    while high - low > 1 and (best is None or (tries < _TRIES and best_taken < _ENOUGH * max_tokens)):
        tries += 1
        page = cut(length)
        if best is None or page.content != best.content:
            taken = count(page.content)
        if taken <= max_tokens:
            best, best_taken, low = page, taken, length
        else:
            high = length
        by_proportion = len(page.content) * max_tokens // max(taken, 1)
        by_halves = min((low + high) // 2, 2 * low or high)
        length = by_proportion if low < by_proportion < high and tries < _TRIES else max(by_halves, low + 1)
    if best is None:
        raise InvalidOption(f"max_tokens: there is no room for even a character in {max_tokens}")
    return best
