"""Check whether cited sources say what an answer says, as far as comparing words and
figures can tell.
"""

from __future__ import annotations
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .._runtime.threads import in_thread
from ._claims import Words, split_claims
from ._evidence import (
    MAX_LENGTH,
    Claim,
    Evidence,
    Support,
    Weights,
    support_together,
)

Verdict = Literal["supported", "partial", "unsupported", "unchecked", "unknown"]

_SUPPORTED = 0.42  # scores
_PARTIAL = 0.2
_MAX_CLAIMS = 5_000
_MAX_SECONDS = 10.0  # of processor time


@dataclass(frozen=True, kw_only=True)
class CitationCheck:
    """What the cited sources say about a claim.

    Args:
        claim: The cited sentence, or its part up to a citation, without the citations.
        citations: The numbers that it cites.
        verdict: ``supported``; ``partial``, if only a part is there, a figure, name or
            quotation is not, or only one side has a negation; ``unsupported``;
            ``unchecked``, if there is no text to compare it with, or no time was left;
            or ``unknown``, if no source has a number that it cites.
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
    paraphrase in other words has a low score. ``benchmarks/results/citations.md`` says
    how well it works.

    Args:
        text: The answer of a model.
        sources: The sources of the conversation, each with ``id`` and ``text``, what
            the model was shown of it: what ``collect_sources`` of
            ``langchain_websearch`` or ``llamaindex_websearch`` returns.

    Returns:
        A check for each claim, in the order of the text. Sentences without citations
            are not checked. The work is bounded: after ten seconds of processor time,
            claims are ``unchecked``, and their ``note`` says so.
    """
    ends = time.thread_time() + _MAX_SECONDS
    texts: dict[int, str] = {}
    issued: set[int] = set()
    for source in sources:
        number = int(source["id"])
        issued.add(number)
        if source.get("text"):
            title = source.get("title") or ""
            texts[number] = f"{title}\n{source['text']}"
    words = Words([text, *texts.values()])
    claims = list(split_claims(text, words))
    cited: set[int] = set()
    for _, numbers in claims:
        cited.update(numbers)
    evidence: dict[int, Evidence] = {}
    # the others say how rare a word is
    for number in sorted(texts, key=lambda number: number not in cited):
        if time.thread_time() < ends:
            evidence[number] = Evidence(texts[number])
    weights = Weights(evidence.values())
    checks = []
    for place, (claim, numbers) in enumerate(claims):
        if issued.isdisjoint(numbers):
            check = CitationCheck(claim=claim, citations=numbers, verdict="unknown")
        elif place >= _MAX_CLAIMS or time.thread_time() > ends:
            note = "not checked: the answer and its sources are too long"
            check = _leave_unchecked(claim, numbers, note)
        else:
            check = _check(
                claim, numbers, evidence, weights, _note_length(numbers, texts)
            )
        checks.append(check)
    return checks


def _leave_unchecked(claim: str, numbers: tuple[int, ...], note: str) -> CitationCheck:
    return CitationCheck(claim=claim, citations=numbers, verdict="unchecked", note=note)


def _note_length(numbers: Iterable[int], texts: Mapping[int, str]) -> str:
    """Return a note if one of the sources is longer than what is searched."""
    long: list[str] = []
    for number in numbers:
        text = texts.get(number, "")
        if len(text) > MAX_LENGTH:
            long.append(f"[{number}]")
    if not long:
        return ""
    names = ", ".join(long)
    return f"only the first {MAX_LENGTH:,} characters of {names} were searched"


def _check(
    text: str,
    numbers: tuple[int, ...],
    evidence: Mapping[int, Evidence],
    weights: Weights,
    note: str,
) -> CitationCheck:
    with_text = [number for number in numbers if number in evidence]
    if not with_text:
        return _leave_unchecked(text, numbers, note)
    claim = Claim(text)
    by_source: dict[int, Support] = {}
    for number in with_text:
        by_source[number] = evidence[number].support(claim, weights)
    best = max(with_text, key=lambda number: by_source[number].score)
    support = by_source[best]
    if len(with_text) > 1:
        supports = list(by_source.values())
        support = _support_by_all(claim, weights, support, supports)
    verdict = _judge(support)
    passage = support.passage
    if verdict == "unsupported":
        passage = ""
    notes: list[str] = []
    if note:
        notes.append(note)
    if support.negation:
        notes.append(
            f"only one of the claim and its source has a negation: {support.negation}"
        )
    return CitationCheck(
        claim=text,
        citations=numbers,
        verdict=verdict,
        score=round(support.score, 3),
        source=best,
        passage=passage,
        missing=support.missing,
        note="; ".join(notes),
    )


def _support_by_all(
    claim: Claim, weights: Weights, best: Support, supports: Sequence[Support]
) -> Support:
    """Return the *best* support by one source, or by all together, of which each may
    support a part.
    """
    together = support_together(claim, weights, supports)
    together = together._replace(passage=best.passage)
    support = max(best, together, key=lambda support: support.score)
    missing = set(support.missing)
    for each in supports:
        missing.intersection_update(each.missing)
    return support._replace(
        missing=tuple(name for name in support.missing if name in missing)
    )


def _judge(support: Support) -> Verdict:
    if support.share < _PARTIAL:
        return "unsupported"
    if support.missing or support.negation:
        return "partial"
    return "supported" if support.score >= _SUPPORTED else "partial"
