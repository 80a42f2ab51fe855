"""Count tokens, the unit that models are billed by, for budgets.

For exact counts use your own counter, such as ``lambda text:
len(tiktoken.get_encoding("o200k_base").encode(text))`` or a chat model's
``get_num_tokens``; `estimate_tokens` needs no tokenizer.
"""

from __future__ import annotations
import math
import re
from collections.abc import Callable
from typing import TypeAlias

__all__ = ["CHARACTERS_PER_TOKEN", "TokenCounter", "estimate_tokens"]

TokenCounter: TypeAlias = Callable[[str], int]

_PARTS = re.compile(r"[A-Za-z]{1,4}|[0-9]{1,3}|[!-/:-@\[-`{-~]{1,2}|\n+| {2,}")
_TOKEN_BYTES = 1.9  # of UTF-8 in a token, outside ASCII

CHARACTERS_PER_TOKEN = 3  # roughly


def estimate_tokens(text: str) -> int:
    """Estimate the number of tokens in *text*, high rather than low.

    A token is four letters, three digits, two other ASCII signs, or 1.9 bytes outside
    ASCII. In twelve languages the estimate is 1.0 (Greek) to 1.9 (Russian) times the
    count of OpenAI's ``cl100k_base``, 1.4 times for English and web pages, and 1.2 to
    3.8 times that of the newer ``o200k_base`` (``benchmarks/reading/passages.py``). For
    Base64 it is too low: two thirds.

    Args:
        text: Any text.

    Returns:
        The estimated number of tokens.
    """
    other = len(text.encode("utf-8", "surrogatepass")) - len(
        text.encode("ascii", "ignore")
    )
    return len(_PARTS.findall(text)) + math.ceil(other / _TOKEN_BYTES)
