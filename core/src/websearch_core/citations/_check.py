"""Check whether cited sources say what an answer says, as far as comparing words and
figures can tell.
"""

from __future__ import annotations
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from .._runtime.threads import in_thread
from ._claims import Words, split_claims
from ._evidence import MAX_LENGTH, Claim, Evidence, Weights, support_together

Verdict = Literal["supported", "partial", "unsupported", "unknown"]

_SUPPORTED, _PARTIAL = 0.42, 0.2  # scores
_MAX_CLAIMS = 5_000
_MAX_SECONDS = 10.0  # of processor time


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
    paraphrase in other words has a low score. ``benchmarks/results/citations.md`` says how
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
    texts = {
        int(one["id"]): f"{one.get('title') or ''}\n{one['text']}"
        for one in sources
        if one.get("text")
    }
    claims = list(split_claims(text, Words([text, *texts.values()])))
    cited = {number for _, numbers in claims for number in numbers}
    evidence: dict[int, Evidence] = {}
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
