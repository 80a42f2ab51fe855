"""Label the blocks of a page as content or not, given only the text of its content."""

from __future__ import annotations
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence

from training.words import words

_RUNS = (8, 4, 2, 1)  # least equal words in a row, tried in this order
# words between two aligned runs: in a wider gap, a match of one or two words proves
# nothing
_MAX_GAP = 60
_MAX_WORD_GAP = 12  # the same for a match of one word
_SHORT = 8  # words: a shorter block may match by chance
_GRAM = 4  # words


def label_texts(texts: Sequence[str], truth: str) -> list[float]:
    """Return for each text the share of it that is content.

    Page and truth are aligned by their longest common runs first, so that a word of the
    menu that also occurs in the truth does not count as content. Content that the truth
    has in another order is found by its runs of four words.

    Args:
        texts: The texts of the blocks of the page, in order.
        truth: The text of the content.
    """
    true = words(truth)
    grams = set(zip(*(true[place:] for place in range(_GRAM)), strict=False))
    lines = {tuple(words(line)) for line in truth.split("\n")}
    split = [words(text) for text in texts]
    owner = [number for number, some in enumerate(split) for _ in some]
    aligned = [0] * len(texts)
    for begin, length in _align([word for some in split for word in some], true):
        for place in range(begin, begin + length):
            aligned[owner[place]] += 1
    return [
        _label_text(some, count, grams, lines)
        for some, count in zip(split, aligned, strict=True)
    ]


def _label_text(
    some: list[str],
    aligned: int,
    grams: set[tuple[str, ...]],
    lines: set[tuple[str, ...]],
) -> float:
    if not some:
        return 0.0
    share = aligned / len(some)
    if len(some) < _GRAM:
        return max(share, 0.5) if tuple(some) in lines else share
    own = list(zip(*(some[place:] for place in range(_GRAM)), strict=False))
    found = sum(gram in grams for gram in own) / len(own)
    return max(share, found if len(some) >= _SHORT else 0.8 * found)


def _align(
    page: Sequence[Hashable], true: Sequence[Hashable]
) -> Iterator[tuple[int, int]]:
    """Yield the runs that page and truth have in common and in the same order: start in
    the page, and length.
    """
    pending = [(0, len(page), 0, len(true))]
    while pending:
        begin, end, true_begin, true_end = pending.pop()
        found = next(
            filter(
                None,
                (
                    _find_longest(page[begin:end], true[true_begin:true_end], run)
                    for run in _RUNS
                ),
            ),
            None,
        )
        if found is None:
            continue
        here, there, length = found
        widest = max(end - begin, true_end - true_begin)
        if widest > (_MAX_WORD_GAP if length == 1 else _MAX_GAP) and length <= 2:
            continue
        yield begin + here, length
        pending.append((begin, begin + here, true_begin, true_begin + there))
        pending.append(
            (begin + here + length, end, true_begin + there + length, true_end)
        )


def _find_longest(
    page: Sequence[Hashable], true: Sequence[Hashable], run: int
) -> tuple[int, int, int] | None:
    """Find the longest common run of at least *run* words: start in the page, start in
    the truth, length.
    """
    places = defaultdict(list)
    for place in range(len(true) - run + 1):
        places[tuple(true[place : place + run])].append(place)
    best: tuple[int, int, int] | None = None
    place = 0
    while place <= len(page) - run:
        step = 1
        for there in places.get(tuple(page[place : place + run]), ())[:50]:
            length = run
            while (
                page[place + length : place + length + 1]
                == true[there + length : there + length + 1]
                != []
            ):
                length += 1
            if best is None or length > best[2]:
                best = place, there, length
                step = max(1, length - run)
        place += step
    return best
