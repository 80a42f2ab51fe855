"""Cut a page to a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import InvalidOption
from ...models import Page
from ...tokens import CHARACTERS_PER_TOKEN, TokenCounter

_TRIES = 8
_ENOUGH = 0.95  # of a budget: good enough to stop looking for a better cut


def fit_tokens(cut: Callable[[int], Page], most: int, max_tokens: int, count: TokenCounter) -> Page:
    """
    Cut a page so that its content fills a budget of tokens. Calls *count*, which counts those of a text, a few times.

    *cut* returns the page cut to at most so many characters; *most* of them may be asked for.

    Raises:
        InvalidOption: Not even one character fits.

    """
    best: Page | None = None
    taken = best_taken = tries = 0
    low, high, length = 0, most + 1, min(most, max_tokens * CHARACTERS_PER_TOKEN)
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
        raise InvalidOption(f"max_tokens={max_tokens} is too small")
    return best
