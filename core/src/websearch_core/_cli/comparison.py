"""Ask the same questions of several providers, and count whose answers arrive."""

from __future__ import annotations
import asyncio
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from .._text.urls import serialize
from ..errors import ConfigurationError
from ..events import CacheHit, Charge, Event, listen
from ..layers._identity import digest
from ..models import describe_problems
from ..reading import Folded
from ..tokens import estimate_tokens
from ..tools import Run, WebTools, as_error
from .rows import Rows

if TYPE_CHECKING:
    from ..settings import Settings


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


_Texts = Annotated[tuple[str, ...], BeforeValidator(_as_list)]

_Z = 1.959964  # of the normal distribution, for 95 %


class Question(BaseModel):
    """A question, and what answers it: one of the texts, patterns or URLs in what a
    model is shown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    question: str = Field(min_length=1)
    answer: _Texts = ()
    pattern: _Texts = ()
    url: _Texts = ()

    @model_validator(mode="after")
    def _check(self) -> Question:
        has_answer = self.answer or self.pattern or self.url
        if not has_answer:
            raise ValueError("give an answer, a pattern or a url to look for")
        if not all(map(_fold, self.answer)):
            raise ValueError("an answer has nothing to look for")
        for pattern in self.pattern:
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(
                    f"{pattern!r} is not a regular expression: {error}"
                ) from None
        return self

    def is_answered(self, text: str, urls: Iterable[str]) -> bool:
        """Return whether a model that sees *text* and *urls* sees the answer; words are
        compared as `find` does.
        """
        seen = _fold(text, seen=True)
        for answer in self.answer:
            if re.search(rf"(?<!\w){re.escape(_fold(answer))}(?!\w)", seen):
                return True
        for pattern in self.pattern:
            if re.search(pattern, text, re.IGNORECASE):
                return True
        return not {*map(serialize, urls)}.isdisjoint(map(serialize, self.url))


class Row(BaseModel):
    """How one question went: a line of the output."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    # what is the same only for the same question, asked in the same way
    key: str = Field(alias="asked")
    question: str
    variant: str
    is_success: bool = Field(alias="found")
    code: str | None = None  # of the error
    tokens: int | None = None
    seconds: float | None = None  # None if it failed, or came from the cache
    usd: float
    credits: float


@dataclass(frozen=True)
class Variant:
    """One of what is compared: a provider, alone or with a reader that reads the first
    *read_top* results.
    """

    provider: str
    reader: str | None
    limit: int
    read_top: int
    max_tokens: int
    settings: Settings

    @property
    def name(self) -> str:
        """The name in the report."""
        return f"{self.provider} + {self.reader}" if self.reader else self.provider

    def identify(self, question: Question) -> str:
        """Return what is the same only for the same question, asked in the same way."""
        fixed = self.settings.model_dump(
            include={"providers", "search_options", "read_options"}
        )
        how = [
            self.provider,
            self.reader,
            self.limit,
            self.read_top,
            self.max_tokens,
            repr(fixed),
        ]
        return digest([question.model_dump(), how])[:16]

    def open_tools(self) -> WebTools:
        """Return the tools to ask with; a budget, even one without a limit in practice,
        reports charges.
        """
        return WebTools(
            provider=self.provider,
            reader=self.reader,
            settings=self.settings,
            limit=self.limit,
            search_options={"read_top": self.read_top} if self.reader else {},
            read_options={"max_tokens": self.max_tokens},
            budget=None if self.settings.budget else "1000000 calls",
        )


def read_questions(path: Path) -> list[Question]:
    """Read the questions of a file, a JSON object in each line.

    Raises:
        ConfigurationError: The file cannot be read, or a line is not a question.
    """
    questions: list[Question] = []
    try:
        lines = path.read_text("utf-8-sig").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(f"{path}: {error}") from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            questions.append(Question.model_validate_json(line.strip()))
        except ValidationError as error:
            raise ConfigurationError(
                f"{path}:{number}: {describe_problems(error)}"
            ) from error
    if not questions:
        raise ConfigurationError(f"{path}: has no question")
    return questions


async def ask(
    variants: Sequence[Variant],
    questions: Sequence[Question],
    rows: dict[str, Row],
    write: Callable[[Row], None],
) -> None:
    """Ask what has no row yet; add one to *rows*, and *write* it, for each question and
    variant.

    Variants are asked at the same time, and the questions of one in turn, so that none
    waits for itself.
    """
    # what is wrong with one is raised before any is asked
    tools = [variant.open_tools() for variant in variants]

    async def ask_all(variant: Variant, its: WebTools) -> None:
        for question in questions:
            key = variant.identify(question)
            if key in rows:
                continue
            outcome = await _ask(its, question)
            rows[key] = Row(
                asked=key, question=question.question, variant=variant.name, **outcome
            )
            write(rows[key])

    await asyncio.gather(*map(ask_all, variants, tools))


async def _ask(tools: WebTools, question: Question) -> dict[str, Any]:
    events: list[Event] = []
    with listen(events.append):
        try:
            output = await tools.asearch(
                {"query": question.question}, Run(name=question.question)
            )
        # a bug is logged, and is the failure of this question
        except Exception as error:  # noqa: BLE001
            code = as_error(error, "web_search").code
            outcome: dict[str, Any] = {"found": False, "code": code}
        else:
            is_cached = any(isinstance(event, CacheHit) for event in events)
            outcome = _judge(output, question)
            outcome["seconds"] = None if is_cached else output.artifact.get("elapsed")
    charges = [event for event in events if isinstance(event, Charge)]
    return {
        **outcome,
        "usd": sum(charge.usd for charge in charges),
        "credits": sum(charge.credits for charge in charges),
    }


def _judge(output: Any, question: Question) -> dict[str, Any]:
    """Return whether the answer is in an output, and how many tokens that has."""
    # between the marks of the fence, which are random
    lines = str(output.content).splitlines()[1:-1]
    text = "\n".join(line for line in lines if not line.startswith("Note: "))
    urls = [source["url"] for source in output.artifact["sources"]]
    return {
        "found": question.is_answered(text, urls),
        "tokens": estimate_tokens(text),
    }


def report(
    variants: Sequence[Variant], questions: Sequence[Question], rows: Mapping[str, Row]
) -> list[dict[str, Any]]:
    """Return the figures of each variant: the same for the same rows, in any order.

    The interval of a share is that of Wilson (1927), that of a difference to the first
    variant the one of Agresti and Min (2005), both for 95 %.
    """
    answers: list[list[Row]] = []
    for variant in variants:
        ids = [variant.identify(question) for question in questions]
        answers.append([rows[key] for key in ids])
    return [
        _add_up(variant.name, own, answers[0])
        for variant, own in zip(variants, answers, strict=True)
    ]


def _add_up(name: str, own: list[Row], others: list[Row]) -> dict[str, Any]:
    """Return the figures of the variant called *name*, beside those of the first."""
    pairs = [
        (row.is_success, other.is_success)
        for row, other in zip(own, others, strict=True)
    ]
    only_own = pairs.count((True, False))
    only_other = pairs.count((False, True))
    successes = sum(row.is_success for row in own)
    codes = sorted(row.code for row in own if row.code)
    tokens = [row.tokens for row in own if row.tokens is not None]
    times = [row.seconds for row in own if row.seconds is not None]
    return {
        "variant": name,
        "questions": len(own),
        "found": successes,
        "share": wilson(successes, len(own)),
        "difference": difference(only_own, only_other, len(own)),
        "failed": {code: codes.count(code) for code in codes},
        "tokens": median(tokens or [0]),
        "seconds": round(median(times), 2) if times else None,
        "usd": round(sum(row.usd for row in own), 6),
        "credits": round(sum(row.credits for row in own), 6),
    }


def wilson(successes: int, of: int) -> list[float]:
    """Return a share, and the ends of its interval."""
    share = successes / of
    middle = share + _Z**2 / (2 * of)
    scale = 1 + _Z**2 / of
    half = _Z * math.sqrt(share * (1 - share) / of + _Z**2 / (4 * of**2))
    return [
        round(number, 3)
        for number in (
            share,
            max(0, (middle - half) / scale),
            min(1, (middle + half) / scale),
        )
    ]


def difference(only_this: int, only_other: int, of: int) -> list[float]:
    """Return the difference of two shares of the same questions, and the ends of its
    interval.
    """
    middle = (only_this - only_other) / (of + 2)
    half = (
        _Z
        * math.sqrt(
            (only_this + only_other + 1) - (only_this - only_other) ** 2 / (of + 2)
        )
        / (of + 2)
    )
    return [
        round(number, 3)
        for number in (
            (only_this - only_other) / of,
            max(-1, middle - half),
            min(1, middle + half),
        )
    ]


def _fold(text: str, *, seen: bool = False) -> str:
    """Return *text* as `find` compares it."""
    return Folded(text, seen=seen).form.strip()


def find_known(output: Rows, ids: Iterable[str]) -> dict[str, Row]:
    """Return the rows of earlier runs, by their ids."""
    try:
        rows = {key: output.find(key) for key in ids}
        return {key: Row(**row) for key, row in rows.items() if row}
    except ValidationError:
        raise ConfigurationError(
            f"{output.path}: is not the output of a comparison; name another file"
        ) from None
