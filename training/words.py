"""The words of a text, and how well two bags of them agree: what training and the
benchmarks compare pages by.
"""

from __future__ import annotations
import re
from collections import Counter
from collections.abc import Hashable, Iterable

_IDEOGRAPH = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
# Chinese has no spaces
_WORD = re.compile(rf"{_IDEOGRAPH.pattern}|[^\W{_IDEOGRAPH.pattern[1:-1]}]+")


def agreement(
    read: Iterable[Hashable], true: Iterable[Hashable]
) -> tuple[float, float, float]:
    """Return precision, recall and F1 of two bags. Two empty bags agree."""
    one, other = Counter(read), Counter(true)
    if not one and not other:
        return 1.0, 1.0, 1.0
    common = (one & other).total()
    return (
        common / one.total() if one else 0.0,
        common / other.total() if other else 0.0,
        2 * common / (one.total() + other.total()),
    )


def words(text: str) -> list[str]:
    """Split *text* into lowercase words; every Chinese or Japanese character is a
    word.
    """
    return _WORD.findall(text.lower())
