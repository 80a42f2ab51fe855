"""Check whether cited sources say what an answer says, as far as comparing words and
figures can tell.
"""

from __future__ import annotations
import re
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._runtime.threads import in_thread
from .._text.sentences import split_sentences
from ._evidence import MAX_LENGTH, Claim, Evidence, Weights, support_together
from ._marks import Mark, code_spans, find_marks

Verdict = Literal["supported", "partial", "unsupported", "unknown"]

_SUPPORTED, _PARTIAL = 0.42, 0.2  # scores
_MAX_CLAIMS = 5_000
_MAX_SECONDS = 10.0  # of processor time
_WORD = re.compile(r"\w")
# What leads to the source of the words after it: "according to [1], ..."
_INTRODUCTION = re.compile(
    r"(?:根据|根據|据|據|(?:^|[\s,;:(])(?:(?:as|by|from|in|per|see|source|wie|nach|laut|quelle|selon|según|fuente|secondo|fonte|segundo|w|po)"
    r"|(?:according to|based "
    r"on|laut|nach|gemäß|selon|d['’]après|según|secondo|segundo|согласно|по "  # noqa: RUF001
    r"данным|według)"
    r"(?:\s{1,3}[^\W\d]{1,30}){0,4}))\s{0,3}:?\s{0,3}$",
    re.IGNORECASE,
)
_TAIL = 150  # characters before a citation in which such words stand
# two citations of which the second begins something new have this between them
_JOINT = re.compile(
    r"(?:[,;:(—]|\b(?:and|but|while|whereas|although|though|und|aber|während|et|mais|tandis que|y|pero|mientras|e|ma"
    r"|mas|mentre|и|но))\s{0,3}$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"^[ \t>]*(?:#{1,6} |[-*+] |\d{1,9}[.)] )?|\*\*|__", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class CitationCheck:
    """What the cited sources say about a claim.

    Args:
        claim: The cited sentence, or its part up to a citation, without the citations.
        citations: The numbers that it cites.
        verdict: ``supported``; ``partial``, if only a part is there, a figure, name or
            quotation is not, or only one side has a negation; ``unsupported``; or
            ``unknown``, if nothing was shown of what it cites.
        score: How much of the claim is there, from 0 to 1.
        source: The number of the cited source that supports it best; None if nothing
            was shown of any.
        passage: The sentences of that source that support it best; empty if
            unsupported.
        missing: The figures, names and quotations of the claim that no cited source
            has.
        note: A negation that only one of the claim and its source has, such as "not";
            and what was not looked at: of a long source, the end; of very long texts,
            whatever was left when the time for it was over. Otherwise empty.
    """

    claim: str
    citations: tuple[int, ...]
    verdict: Verdict
    score: float = 0.0
    source: int | None = None
    passage: str = ""
    missing: tuple[str, ...] = ()
    note: str = ""


async def acheck_citations(
    text: str, sources: Iterable[Mapping[str, Any]]
) -> list[CitationCheck]:
    """Async version of `check_citations`, in a thread: it would keep the event loop for
    milliseconds or seconds.
    """
    sources = list(sources)
    return await in_thread(lambda: check_citations(text, sources))


def check_citations(
    text: str, sources: Iterable[Mapping[str, Any]]
) -> list[CitationCheck]:
    """Check for each cited sentence whether it stands in what the model was shown of
    the sources it cites.

    Words, figures with their units, names, quotations and negations are compared, in
    any language and without a model. So it finds wrong numbers, swapped names and
    citations of the wrong source; it does not understand implications, and a faithful
    paraphrase in other words has a low score. ``docs/measured/citations.md`` says how
    well it works.

    Args:
        text: The answer of a model.
        sources: The sources of the conversation, each with ``id`` and ``text``, what
            the model was shown of it: what ``collect_sources`` of
            ``langchain_websearch`` or ``llamaindex_websearch`` returns.

    Returns:
        A check for each claim, in the order of the text. Sentences without citations
            are not checked. The work is
        bounded: after ten seconds of processor time, claims are ``unknown``, and their
            ``note`` says so.
    """
    ends = time.thread_time() + _MAX_SECONDS
    claims = list(_claims(text))
    cited = {number for _, numbers in claims for number in numbers}
    evidence: dict[int, Evidence] = {}
    texts = {
        int(one["id"]): f"{one.get('title') or ''}\n{one['text']}"
        for one in sources
        if one.get("text")
    }
    # the others say how rare a word is
    for number in sorted(texts, key=lambda number: number not in cited):
        if time.thread_time() < ends:
            evidence[number] = Evidence(texts[number])
    weights = Weights(evidence.values())
    checks = []
    for n, (claim, numbers) in enumerate(claims):
        if n >= _MAX_CLAIMS or time.thread_time() > ends:
            note = "not checked: the answer and its sources are too long"
            checks.append(
                CitationCheck(
                    claim=claim, citations=numbers, verdict="unknown", note=note
                )
            )
            continue
        long = [
            f"[{number}]"
            for number in numbers
            if len(texts.get(number, "")) > MAX_LENGTH
        ]
        note = (
            f"only the first {MAX_LENGTH:,} characters of {', '.join(long)} were "
            f"searched"
            if long
            else ""
        )
        checks.append(_check(claim, numbers, evidence, weights, note))
    return checks


def _check(
    text: str,
    numbers: tuple[int, ...],
    evidence: Mapping[int, Evidence],
    weights: Weights,
    note: str,
) -> CitationCheck:
    known = [number for number in numbers if number in evidence]
    if not known:
        return CitationCheck(
            claim=text, citations=numbers, verdict="unknown", note=note
        )
    claim = Claim(text)
    by_source = {number: evidence[number].support(claim, weights) for number in known}
    best = max(known, key=lambda number: by_source[number].score)
    support = by_source[best]
    if len(known) > 1:  # each may support a part of it
        together = support_together(claim, weights, list(by_source.values()))
        support = max(
            support,
            together._replace(passage=support.passage),
            key=lambda one: one.score,
        )
        missing = set(support.missing).intersection(
            *(one.missing for one in by_source.values())
        )
        support = support._replace(
            missing=tuple(name for name in support.missing if name in missing)
        )
    is_whole = (
        support.score >= _SUPPORTED and not support.missing and not support.negation
    )
    verdict: Verdict = (
        "unsupported"
        if support.share < _PARTIAL
        else "supported"
        if is_whole
        else "partial"
    )
    denied = (
        support.negation
        and f"only one of the claim and its source has a negation: {support.negation}"
    )
    return CitationCheck(
        claim=text,
        citations=numbers,
        verdict=verdict,
        score=round(support.score, 3),
        source=best,
        passage="" if verdict == "unsupported" else support.passage,
        missing=support.missing,
        note="; ".join(filter(None, (note, denied))),
    )


def _claims(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield each cited claim, with the numbers that it cites."""
    marks = [mark for mark in find_marks(text) if mark.kind != "stray"]
    starts = [mark.start for mark in marks]
    for start, end in _sentences(text, marks):
        inside = marks[bisect_left(starts, start) : bisect_left(starts, end)]
        for begin, stop, numbers in _parts(text, start, end, inside):
            claim = _strip(
                text,
                begin,
                stop,
                marks[bisect_left(starts, begin) : bisect_left(starts, stop)],
            )
            if _WORD.search(claim):
                yield claim, tuple(dict.fromkeys(numbers))


def _sentences(text: str, marks: Sequence[Mark]) -> Iterator[tuple[int, int]]:
    """Yield the sentences outside code, each with the citations after its full stop."""
    after = {mark.start: mark.end for mark in marks}
    code = iter([*code_spans(text), (len(text), len(text))])
    block = next(code)
    spans: list[tuple[int, int]] = []
    for begin, end in split_sentences(text):
        start = begin
        while (
            spans
            and spans[-1][1] >= begin
            and (place := _skip_space(text, start)) in after
        ):
            start = after[place]
        # it begins with citations, which belong to the sentence before, on the same
        # line
        if start > begin:
            spans[-1] = (spans[-1][0], start)
        while block[1] <= start < len(text):
            block = next(code)
        if start < block[0]:
            spans.append((start, end))
    yield from spans


def _parts(
    text: str, start: int, end: int, marks: Sequence[Mark]
) -> list[tuple[int, int, list[int]]]:
    """Return the parts of a sentence: where each begins and ends, and the numbers that
    it cites.

    A citation belongs to the words before it; at the beginning, and after words such as
    "according to", to those after.
    """
    parts: list[tuple[int, int, list[int]]] = []
    groups = list(_groups(text, marks))
    # whether the words before a citation belong to an earlier one
    begin, is_taken = start, False
    for n, group in enumerate(groups):
        numbers = [number for mark in group for number in mark.numbers]
        stop = group[0].start
        after = group[-1].end, groups[n + 1][0].start if n + 1 < len(groups) else end
        said = _find_introduction(text, begin, stop)
        leads = not _has_content(text[begin:said]) or (
            is_taken and (said < stop or _JOINT.search(text[begin:stop][-_TAIL:]))
        )
        if leads and _has_content(text[slice(*after)]):
            if is_taken:
                parts[-1] = (parts[-1][0], said, parts[-1][2])
            parts.append((*after, numbers))
            is_taken = True
        elif is_taken or (leads and parts):
            parts[-1] = (parts[-1][0], stop, [*parts[-1][2], *numbers])
            is_taken = False
        else:
            parts.append((begin, stop, numbers))
        begin = after[0]
    if parts:
        parts[-1] = (parts[-1][0], end, parts[-1][2])
    return parts


def _groups(text: str, marks: Sequence[Mark]) -> Iterator[list[Mark]]:
    """Yield citations in groups of those with no word between them, but perhaps an
    "and".
    """
    group: list[Mark] = []
    for mark in marks:
        if group:
            begin, end = group[-1].end, mark.start
            if _find_introduction(text, begin, end) < end or _has_content(
                text[begin:end]
            ):
                yield group
                group = []
        group.append(mark)
    if group:
        yield group


def _find_introduction(text: str, begin: int, end: int) -> int:
    """Return where words such as "according to" begin that end at *end*, or *end*."""
    begin = max(begin, end - _TAIL)
    found = _INTRODUCTION.search(text[begin:end])
    return begin + found.start() if found else end


def _has_content(part: str) -> bool:
    """Return whether there is more in a part of a sentence than a short word such as
    "and".
    """
    words = re.findall(r"\w+", part[:_TAIL])
    return len(words) > 1 or any(
        len(word) > (3 if word.isascii() else 2) or word.isdecimal() for word in words
    )


def _strip(text: str, begin: int, stop: int, marks: Sequence[Mark]) -> str:
    parts, position = [], begin
    for mark in marks:
        parts.append(text[position : mark.start])
        position = mark.end
    parts.append(text[position:stop])
    return re.sub(
        r" ([.,;:!?。])", r"\1", " ".join(_MARKUP.sub("", "".join(parts)).split())
    ).lstrip(" ,;:，、；：")  # noqa: RUF001 - fullwidth punctuation


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t":
        position += 1
    return position
