"""Score texts by the words that they share with a query.

BM25, as in Robertson and Zaragoza, 2009, https://doi.org/10.1561/1500000019, over
`terms`.
"""

from __future__ import annotations
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from .terms import query_terms

_SATURATION = 1.2  # k1, with its usual value
_NORMALIZATION = 0.75  # b, too


class Question:
    """The terms of a query."""

    def __init__(self, query: str) -> None:
        self.forms = frozenset(query_terms(query))
        self._beginnings = tuple(form[:-1] for form in self.forms if form.endswith("*"))

    def count(self, forms: Iterable[str]) -> Counter[str]:
        """Count the words among *forms* that match the query, in the form that the
        query has.
        """
        return Counter(self._match(forms))

    def _match(self, forms: Iterable[str]) -> Iterator[str]:
        for form in forms:
            if form in self.forms:
                yield form
            elif self._beginnings and form.startswith(self._beginnings):
                yield next(
                    f"{beginning}*"
                    for beginning in self._beginnings
                    if form.startswith(beginning)
                )


def score_counts(
    counts: Sequence[Mapping[str, float]], lengths: Sequence[int]
) -> list[float]:
    """Return the score of each text: 0 if it has no word of the query.

    *counts* says how often each word of the query occurs in each text, and *lengths*
    how many words the texts have. A word weighs more the fewer of the texts have it.
    """
    holding = Counter(chain.from_iterable(counts))
    total = len(counts)
    telling = {
        form: math.log(1 + (total - n + 0.5) / (n + 0.5)) for form, n in holding.items()
    }
    mean = sum(lengths) / len(lengths) if any(lengths) else 1.0

    def score(count: Mapping[str, float], length: int) -> float:
        # no bonus for short text: on web pages it is often a label
        relative = max(length / mean, 1)
        damp = _SATURATION * (1 - _NORMALIZATION + _NORMALIZATION * relative)
        return sum(
            telling[form] * n * (_SATURATION + 1) / (n + damp)
            for form, n in count.items()
        )

    return list(map(score, counts, lengths))
