"""Who of a chain has been asked, and how it ended."""

from __future__ import annotations
from dataclasses import dataclass, field
from time import monotonic
from typing import Generic, TypeVar, cast

from ..errors import AllProvidersFailed, NeedsBrowser, WebSearchError
from ..models import Page, SearchResponse
from ..models._outcomes import Outcome, find_outcomes
from ..provider._ports import Provider, helps_after
from ._layer import leaves

A = TypeVar("A", SearchResponse, Page)


class NothingFound(WebSearchError):
    """A provider found nothing, and the next may find something. It never leaves a
    chain.
    """

    def __init__(self, answer: SearchResponse | Page) -> None:
        super().__init__("nothing was found")
        self.answer = answer


class MostlyHidden(NeedsBrowser):
    """A reader left out more of a page than it kept, and a browser may show the rest.
    It never leaves a chain.
    """

    def __init__(self, answer: SearchResponse | Page) -> None:
        super().__init__("more of the page is hidden than was read")
        self.answer = answer


@dataclass(eq=False)
class Turn(Generic[A]):
    """The turn of one provider, which began and ends at a moment of
    `time.monotonic`.
    """

    provider: Provider
    # through a lambda, so that a test can replace the clock
    began: float = field(default_factory=lambda: monotonic())  # noqa: PLW0108
    seconds: float | None = None  # how long it took; None while it is being asked
    # None if it was not waited for, because another one answered first
    end: A | WebSearchError | None = None
    late_after: float | None = None  # seconds after which another one was asked as well

    def stop(self) -> None:
        self.seconds = monotonic() - self.began

    def measure(self) -> float:
        """Return how long it took, or has taken until now."""
        if self.seconds is None:
            return monotonic() - self.began
        return self.seconds

    @property
    def answer(self) -> A | None:
        return None if isinstance(self.end, WebSearchError) else self.end


class Trail(Generic[A]):
    """The turns of one call. Its note does not mention *silent_errors*."""

    def __init__(self, silent_errors: tuple[type[WebSearchError], ...]) -> None:
        self._silent_errors = silent_errors
        self._outcomes: list[Outcome] = []
        self._words: list[str] = []
        self._failures: list[WebSearchError] = []
        self._empty: list[A] = []
        # answers that are used if no browser has a better one
        self._partial: list[tuple[A, Provider]] = []
        self._skipped = False

    def is_helped_by(self, provider: Provider) -> bool:
        """Return whether *provider* may do what those before it could not."""
        if self._empty:
            return True
        for leaf in leaves(provider):
            kinds = helps_after(leaf)
            if not kinds or any(isinstance(f, kinds) for f in self._failures):
                return True
        return False

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer already, which no error may take away."""
        return bool(self._partial)

    def skip(self, provider: Provider) -> None:
        """Add that a provider was not asked, because it cannot help."""
        self._skipped = True
        self._outcomes.append(
            Outcome(provider=provider.name, status="skipped", seconds=0)
        )

    def add(self, turn: Turn[A]) -> None:
        name = turn.provider.name
        end = turn.end
        seconds = turn.measure()
        if end is None:
            self._outcomes.append(
                Outcome(provider=name, status="cancelled", seconds=round(seconds, 3))
            )
            if turn.late_after:
                late = f"{name} had not answered after {turn.late_after:.1f} s"
                self._words.append(late)
        elif isinstance(end, NothingFound):
            self._empty.append(end.answer)  # type: ignore[arg-type]  # of this chain
            self._outcomes.extend(find_outcomes(end.answer, name, seconds))
            self._words.append(f"{name} found nothing")
        elif isinstance(end, MostlyHidden):
            self._failures.append(end)
            answer = cast("A", end.answer)  # of this chain
            self._partial.append((answer, turn.provider))
            self._outcomes.extend(find_outcomes(end.answer, name, seconds))
            self._words.append(
                f"{name} left out more of the page, as hidden, than it kept"
            )
        elif isinstance(end, WebSearchError):
            self._failures.append(end)
            self._outcomes.append(Outcome.of_failure(name, seconds, end))
            if not isinstance(end, self._silent_errors):
                self._words.append(f"{name} failed ({end.code})")
        else:
            self._outcomes.extend(find_outcomes(end, name, seconds))

    def finish(self, answer: A, provider: Provider) -> A:
        """Return *answer* with the outcomes, and a note about those who did not
        answer.
        """
        return self._complete(answer, f"answered by {provider.name}")

    def end(self) -> A | WebSearchError:
        """Return the best insufficient answer: a page of which more is hidden, an empty
        one, or else the error.
        """
        if self._partial:
            return self.finish(*self._partial[0])
        if self._empty:
            return self._complete(self._empty[0])
        return self.fail()

    def fail(self) -> WebSearchError:
        """Make the error for a call that no provider answered: that of the only one, if
        it alone was asked.
        """
        if self._skipped and len(self._failures) == 1:
            return self._failures[0]
        reasons = "; ".join(failure.summary for failure in self._failures)
        return AllProvidersFailed(f"every provider failed: {reasons}", self._failures)

    def _complete(self, answer: A, *end: str) -> A:
        answer = answer.model_copy(update={"outcomes": tuple(self._outcomes)})
        if not self._words:
            return answer
        return answer.with_notes("; ".join([*self._words, *end]))
