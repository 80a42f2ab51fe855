"""Cut a page to a budget of tokens."""

from __future__ import annotations

from collections.abc import Callable

from ...errors import InvalidOption
from ...models import Page
from ...tokens import CHARACTERS_PER_TOKEN, TokenCounter

_TRIES = 8
_ENOUGH = 0.95  # of a budget: there is no use in looking for a better cut


def fit_tokens(cut: Callable[[int], Page], most: int, max_tokens: int, count: TokenCounter) -> Page:
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
        raise InvalidOption(f"max_tokens: there is no room for even a character in {max_tokens}")
    return best
