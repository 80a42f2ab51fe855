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

__all__ = [
    "CHARACTERS_PER_TOKEN",
    "TokenCounter",
    "estimate_tokens",
]

TokenCounter: TypeAlias = Callable[[str], int]

_PARTS = re.compile(r"[A-Za-z]{1,4}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,2}|\n+| {2,}")
_BYTES = 1.9  # of UTF-8 that are a token, outside of ASCII

CHARACTERS_PER_TOKEN = 3  # of a token, roughly


def estimate_tokens(text: str) -> int:
    """
    Estimate the tokens of *text*, rather too many than too few.

    Four letters or three digits are a token, two signs, and 1.9 bytes outside of ASCII. For each token that OpenAI's
    ``cl100k_base`` counts in twelve languages, it says 1.0 (Greek) to 1.9 (Russian), and 1.4 in English and on web
    pages; of the newer ``o200k_base``, 1.2 to 3.8 (``benchmarks/passages.py``). Of Base64 it sees two thirds.
    """
    other = len(text.encode("utf-8", "surrogatepass")) - len(text.encode("ascii", "ignore"))
    return len(_PARTS.findall(text)) + math.ceil(other / _BYTES)
