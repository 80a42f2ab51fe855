"""What a fault is: how it is injected, and what is expected of a call that meets it, as
data.
"""

from __future__ import annotations
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tests.server import Answer

Where = Literal["json", "html", "page", "chain"]
Section = Literal["services", "pages", "ourselves"]


@dataclass(frozen=True, kw_only=True)
class Case:
    """One call that meets a fault.

    Args:
        name: Which variant of the fault it is.
        where: Who calls: a provider with a JSON API (Tavily), one that is an HTML page
            (DuckDuckGo), the page reader (Direct), or a ``chain``, in which Brave
            answers after Tavily has failed.
        answers: What the server sends, one answer for each request; the last is
            repeated.
        expected: How the call ends: the code of an error, ``ok``, or ``cut`` for a page
            that says that it was cut.
        may_be_cut: Whether it may also be such a page, by the time that parts take.
        requests: How many requests the server gets; None if that is not the point.
        temporary: Whether the error says that trying again may help; None for what its
            class says.
        first: In a chain, the status of the first provider's outcome.
        limit: Seconds that the call may take.
        shortest: Seconds that it has to wait.
        base: Where the server is; ``{port}`` is its own, ``{closed}`` one that refuses
            connections and ``{silent}`` one that never answers the attempt.
        certificate: For https: which certificate the server has.
        max_bytes: How much of a page is read.
        text: The answer: the URLs of the results, or the text of the page.
        without: What the answer may not contain, whoever gives it.
        peers: Whether other libraries can be asked the same.

    """

    where: Where
    expected: str
    may_be_cut: bool = False
    answers: Sequence[Answer] = ()
    name: str = ""
    requests: int | None = None
    temporary: bool | None = None
    first: str = ""
    limit: float = 60.0
    shortest: float = 0.0
    base: str = "http://127.0.0.1:{port}"
    certificate: Literal[
        "", "good", "other name", "expired", "self-signed", "unknown"
    ] = ""
    max_bytes: int = 10 * 2**20
    text: str = ""
    without: str = ""
    peers: bool = True


@dataclass(frozen=True, kw_only=True)
class Fault:
    """
    A row of the matrix.

    Args:
        number: Its number.
        name: What goes wrong.
        injected: How it is made to go wrong.
        promise: What is expected, in words.
        cases: Calls that meet it.
        proven_by: Tests that prove what no call to a server shows, as ``path::name``.

    """

    number: int
    name: str
    injected: str
    promise: str
    cases: tuple[Case, ...] = ()
    proven_by: tuple[str, ...] = ()

    @property
    def section(self) -> Section:
        """The part of the matrix that it belongs to."""
        return (
            "services"
            if self.number < 30
            else "pages"
            if self.number < 61
            else "ourselves"
        )
