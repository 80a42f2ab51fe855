"""Which blocks of a page are content, told from the text of its content alone."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from benchmarks.reading.metrics import words

_RUNS = (8, 4, 2, 1)  # words that must be the same in a row, tried in this order
_FAR = 60  # words between two places that agree: one or two words in between prove nothing then
_NEAR = 12  # likewise for a single word
_SHORT = 8  # words: what is shorter may well be in both by chance
_GRAM = 4  # words


def labels(texts: Sequence[str], truth: str) -> list[float]:
    """
    Return for each text which share of it is content.

    Page and truth are aligned, the longest common runs first, so that a word of the menu which happens to be in the
    truth as well is not taken for content. What the truth has in another order is found by its runs of four words.
    """
    true = words(truth)
    grams = set(zip(*(true[place:] for place in range(_GRAM)), strict=False))
    lines = {tuple(words(line)) for line in truth.split("\n")}
    split = [words(text) for text in texts]
    owner = [number for number, some in enumerate(split) for _ in some]
    aligned = [0] * len(texts)
    for begin, length in _common([word for some in split for word in some], true):
        for place in range(begin, begin + length):
            aligned[owner[place]] += 1
    return [_label(some, count, grams, lines) for some, count in zip(split, aligned, strict=True)]


def _label(some: list[str], aligned: int, grams: set[tuple[str, ...]], lines: set[tuple[str, ...]]) -> float:
    if not some:
        return 0.0
    share = aligned / len(some)
    if len(some) < _GRAM:
        return max(share, 0.5) if tuple(some) in lines else share
    own = list(zip(*(some[place:] for place in range(_GRAM)), strict=False))
    found = sum(gram in grams for gram in own) / len(own)
    return max(share, found if len(some) >= _SHORT else 0.8 * found)


def _common(page: Sequence[Hashable], true: Sequence[Hashable]) -> Iterator[tuple[int, int]]:
    """Runs that page and truth have in common, in the same order in both: where in the page, and how long."""
    waiting = [(0, len(page), 0, len(true))]
    while waiting:
        begin, end, true_begin, true_end = waiting.pop()
        found = next(filter(None, (_longest(page[begin:end], true[true_begin:true_end], run) for run in _RUNS)), None)
        if found is None:
            continue
        here, there, length = found
        widest = max(end - begin, true_end - true_begin)
        if widest > (_NEAR if length == 1 else _FAR) and length <= 2:
            continue
        yield begin + here, length
        waiting.append((begin, begin + here, true_begin, true_begin + there))
        waiting.append((begin + here + length, end, true_begin + there + length, true_end))


def _longest(page: Sequence[Hashable], true: Sequence[Hashable], run: int) -> tuple[int, int, int] | None:
    """The longest common run of at least *run* words: where in the page, where in the truth, how long."""
    places = defaultdict(list)
    for place in range(len(true) - run + 1):
        places[tuple(true[place : place + run])].append(place)
    best: tuple[int, int, int] | None = None
    place = 0
    while place <= len(page) - run:
        step = 1
        for there in places.get(tuple(page[place : place + run]), ())[:50]:
            length = run
            while page[place + length : place + length + 1] == true[there + length : there + length + 1] != []:
                length += 1
            if best is None or length > best[2]:
                best = place, there, length
                step = max(1, length - run)
        place += step
    return best
