"""Check whether cited sources say what an answer says, as far as comparing words and figures can tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._text.sentences import split_sentences
from ._evidence import Claim, Evidence, Support, Weights
from ._marks import Mark, code_spans, find_marks

Verdict = Literal["supported", "partial", "unsupported", "unknown"]

_SUPPORTED, _PARTIAL = 0.45, 0.2  # scores
_WORD = re.compile(r"\w")
_MARKUP = re.compile(r"^[ \t>]*(?:#{1,6} |[-*+] |\d{1,9}[.)] )?|\*\*|__", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class CitationCheck:
    """
    What the cited sources say about a claim.

    Args:
        claim: The cited sentence, or its part up to a citation, without the citations.
        citations: The numbers that it cites.
        verdict: ``supported``; ``partial``, if only part of it is there, or a figure, name or quotation is not;
            ``unsupported``; or ``unknown``, if nothing was shown of what it cites.
        score: How much of the claim is there, from 0 to 1.
        source: The number of the cited source that supports it best; None if nothing was shown of any.
        passage: The sentences of that source that support it best; empty if unsupported.
        missing: The figures, names and quotations of the claim that no cited source has.

    """

    claim: str
    citations: tuple[int, ...]
    verdict: Verdict
    score: float = 0.0
    source: int | None = None
    passage: str = ""
    missing: tuple[str, ...] = ()


def check_citations(text: str, sources: Iterable[Mapping[str, Any]]) -> list[CitationCheck]:
    """
    Check for each cited sentence whether it stands in what the model was shown of the sources it cites.

    Words, figures, names and quotations are compared, in any language and without a model. So it finds wrong numbers,
    swapped names and citations of the wrong source; it does not understand negations or implications, and a faithful
    paraphrase in other words has a low score. ``docs/measured/citations.md`` says how well it works.

    Args:
        text: The answer of a model.
        sources: The sources of the conversation, each with ``id`` and ``text``, what the model was shown of it: what
            ``collect_sources`` of ``langchain_websearch`` or ``llamaindex_websearch`` returns.

    Returns:
        A check for each claim, in the order of the text. Sentences without citations are not checked.

    """
    evidence = {
        int(source["id"]): Evidence(f"{source.get('title') or ''}\n{source['text']}")
        for source in sources
        if source.get("text")
    }
    weights = Weights(evidence.values())
    return [_check(claim, numbers, evidence, weights) for claim, numbers in _claims(text)]


def _check(text: str, numbers: tuple[int, ...], evidence: Mapping[int, Evidence], weights: Weights) -> CitationCheck:
    known = [number for number in numbers if number in evidence]
    if not known:
        return CitationCheck(claim=text, citations=numbers, verdict="unknown")
    claim = Claim(text)
    by_source = {number: evidence[number].support(claim, weights) for number in known}
    best = max(known, key=lambda number: by_source[number].score)
    support = by_source[best]
    if len(known) > 1:  # each may support a part of it
        together = Evidence("\n".join(by_source[number].passage for number in known)).support(claim, weights)
        support = max(support, together._replace(passage=support.passage), key=lambda one: one.score)
        missing = set(support.missing).intersection(*(one.missing for one in by_source.values()))
        support = support._replace(missing=tuple(name for name in support.missing if name in missing))
    verdict = _judge(support)
    return CitationCheck(
        claim=text,
        citations=numbers,
        verdict=verdict,
        score=round(support.score, 3),
        source=best,
        passage="" if verdict == "unsupported" else support.passage,
        missing=support.missing,
    )


def _judge(support: Support) -> Verdict:
    if support.score < _PARTIAL:
        return "unsupported"
    return "partial" if support.missing or support.score < _SUPPORTED else "supported"


def _claims(text: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield each cited claim, with the numbers that it cites."""
    marks = list(find_marks(text))
    for start, end in _sentences(text, marks):
        inside = [mark for mark in marks if start <= mark.start < end]
        groups = list(_groups(text, inside))
        for n, group in enumerate(groups):
            begin = groups[n - 1][-1].end if n else start
            stop = end if n == len(groups) - 1 else group[-1].end
            claim = _strip(text, begin, stop, group)
            if _WORD.search(claim):
                yield claim, tuple(dict.fromkeys(number for mark in group for number in mark.numbers))


def _sentences(text: str, marks: Sequence[Mark]) -> Iterator[tuple[int, int]]:
    """Yield the sentences outside code, each with the citations after its full stop."""
    after = {mark.start: mark.end for mark in marks}
    code = code_spans(text)
    spans: list[tuple[int, int]] = []
    for begin, end in split_sentences(text):
        start = begin
        while spans and spans[-1][1] >= begin and (place := _skip_space(text, start)) in after:
            start = after[place]
        if start > begin:  # it begins with citations, which belong to the sentence before, on the same line
            spans[-1] = (spans[-1][0], start)
        if not any(a <= start < b for a, b in code):
            spans.append((start, end))
    yield from spans


def _groups(text: str, marks: Sequence[Mark]) -> Iterator[list[Mark]]:
    """Yield citations in groups of those with no word between them."""
    group: list[Mark] = []
    for mark in marks:
        if group and _WORD.search(text, group[-1].end, mark.start):
            yield group
            group = []
        group.append(mark)
    if group:
        yield group


def _strip(text: str, begin: int, stop: int, marks: Sequence[Mark]) -> str:
    parts, position = [], begin
    for mark in marks:
        parts.append(text[position : mark.start])
        position = mark.end
    parts.append(text[position:stop])
    return re.sub(r"\s+([.,;:!?。])", r"\1", " ".join(_MARKUP.sub("", "".join(parts)).split())).lstrip(" ,;:")


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t":
        position += 1
    return position
