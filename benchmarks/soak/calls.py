"""The calls of a soak: which there are, by number, and what each has to keep."""

from __future__ import annotations
import random
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from benchmarks.soak.server import list_cases
from websearch_core import Page, WebSearch
from websearch_core.events import CacheHit, Event, Wait
from websearch_core.layers import Retry
from websearch_core.settings import Settings

Kind = Literal[
    "search",
    "html",
    "chain",
    "fuse",
    "cached",
    "cached page",
    "together",
    "read",
    "read_many",
]

_SEED = 20_000
_FAULTED = 0.3
_HURRIED = 0.1  # of calls have little time
_GIVEN_UP = 0.05  # of async calls are cancelled
_CLOSED = 0.005  # of calls are preceded by closing what others use
_PAGES = 4  # that are read together
_MOST = 20_000  # bytes of a page that are read
_KINDS: Mapping[Kind, int] = {
    "search": 20, "html": 10, "chain": 20, "fuse": 8, "cached": 7, "cached page": 5,
    "together": 6, "read": 16,
    "read_many": 6,
}  # fmt: skip
_WHERE: Mapping[str, str] = {
    "html": "html", "chain": "chain", "fuse": "chain", "read": "page",
    "read_many": "page", "cached page": "page",
}  # fmt: skip


@dataclass(frozen=True)
class Plan:
    """A call.

    Args:
        number: Its number, by which the server knows it.
        kind: What it does.
        fault: The number of the case that it meets, or ``ok``.
        limit: Seconds that it may take.
        give_up: Seconds after which it is cancelled on an event loop; None if it is
            not.
        closes: Whether the connections that others use are closed before it.
    """

    number: int
    kind: Kind
    fault: str
    limit: float
    give_up: float | None
    closes: bool

    @property
    def query(self) -> str:
        """What is searched for."""
        return f"soak {self.number} {self.fault}"

    def url(self, base: str, which: int = 0) -> str:
        """Return the address of its page, or of one of several."""
        return f"{base}/page/{self.number}/{self.fault if which == 0 else 'ok'}{f'?{which}' if which else ''}"


class Planner:
    """Plans calls: the same in every run.

    Args:
        limits: Seconds that a hurried call may take, and those that any other may take.
    """

    def __init__(self, limits: tuple[float, float]) -> None:
        self.limits = limits
        self._cases: dict[str, list[int]] = {}
        for number, case in enumerate(list_cases()):
            self._cases.setdefault(case.where, []).append(number)

    def plan(self, number: int) -> Plan:
        """Return the call with that number."""
        dice = random.Random(_SEED + number)
        (kind,) = dice.choices(list(_KINDS), list(_KINDS.values()))
        is_faulted = dice.random() < _FAULTED
        cases = self._cases[_WHERE.get(kind, "json")]
        return Plan(
            number=number,
            kind=kind,
            fault=str(dice.choice(cases)) if is_faulted else "ok",
            limit=self.limits[dice.random() >= _HURRIED],
            give_up=dice.uniform(0, 0.05) if dice.random() < _GIVEN_UP else None,
            closes=dice.random() < _CLOSED,
        )


class Webs:
    """The `WebSearch` objects of a soak, which all threads and event loops share.

    Args:
        base: The URL of the server.
        folder: Where the cache is.
        limits: Seconds that a call may take: one object for each limit.
    """

    def __init__(self, base: str, folder: Path, limits: tuple[float, float]) -> None:
        self._base = base
        chosen: dict[str, tuple[list[str], dict[str, Any]]] = {
            "search": (["tavily"], {}),
            "html": (["duckduckgo"], {}),
            "chain": (["tavily", "brave"], {}),
            "fuse": (["tavily", "brave"], {"combine": "fuse"}),
            "cached": (["tavily"], {"cache": str(folder / "answers.db")}),
        }
        self.all = {
            (name, limit): self._make(providers, limit, **more)
            for name, (providers, more) in chosen.items()
            for limit in limits
        }

    def _make(self, providers: list[str], limit: float, **more: Any) -> WebSearch:
        options: dict[str, dict[str, Any]] = {
            "tavily": {
                "api_key": "tvly-of-a-soak-0123456789",
                "base_url": f"{self._base}/tavily",
            },
            "brave": {
                "api_key": "BSA-of-a-soak-0123456789",
                "base_url": f"{self._base}/brave",
            },
            "duckduckgo": {"base_url": f"{self._base}/duckduckgo", "pause": 0.0},
            "direct": {"max_bytes": _MOST},
        }
        return WebSearch(
            providers,
            reader="direct",
            internal=["127.0.0.0/8", self._base],
            timeout=limit,
            retry=Retry(wait_initial=0.01),
            settings=Settings(
                providers={name: options[name] for name in (*providers, "direct")}
            ),
            **more,
        )

    def find(self, plan: Plan) -> WebSearch:
        """Return the one that a call uses."""
        name = plan.kind.partition(" ")[0]
        return self.all[
            name if name in {"html", "chain", "fuse", "cached"} else "search",
            plan.limit,
        ]

    def steps(self, plan: Plan) -> list[tuple[str, Any]]:
        """Return the methods that a call calls, one after the other, and what with; the
        async ones begin with an a.
        """
        match plan.kind:
            case "read":
                return [("read", plan.url(self._base))]
            case "read_many":
                return [
                    (
                        "read_many",
                        [plan.url(self._base, which) for which in range(_PAGES)],
                    )
                ]
            case "cached":
                return [("search", plan.query)] * 2
            case "cached page":
                return [("read", plan.url(self._base))] * 2
        return [("search", plan.query)]


class Sent:
    """How many requests a call may send to each service, from its events and outcomes.

    That is one for each service and page, one more for each retry that is announced,
    and one for what was asked again although it was to be cached.
    """

    def __init__(self, pages: int) -> None:
        self._first = {"direct": pages}
        self._retries: dict[str, int] = {}
        self.hits = 0

    def hear(self, event: Event) -> None:
        """Count what is announced."""
        match event:
            case Wait(reason="retry"):
                self._retries[event.provider] = self._retries.get(event.provider, 0) + 1
            case CacheHit():
                self.hits += 1

    @property
    def retries(self) -> int:
        """How many retries were announced."""
        return sum(self._retries.values())

    def allowed(self, service: str, again: int) -> int:
        """Return how many there may be, if as many calls *again* found nothing in the
        cache.
        """
        provider = "direct" if service == "page" else service
        return self._first.get(provider, 1) + self._retries.get(provider, 0) + again


def check_answer(plan: Plan, answer: Any) -> str:
    """Return what is wrong with an answer: that of another call, or none where nothing
    is faulted.
    """
    if isinstance(answer, list):
        pages = [page for page in answer if isinstance(page, Page)]
        wrong = [page for page in pages if f"/page/{plan.number}/" not in page.url]
        return f"a page of another call: {wrong[0].url}" if wrong else ""
    if plan.fault != "ok":
        return ""
    text = (
        answer.content
        if isinstance(answer, Page)
        else "".join(result.title for result in answer.results)
    )
    named = f"/page/{plan.number}/ok" if isinstance(answer, Page) else plan.query
    return "" if named in text else f"the answer of another call: {text[:80]!r}"
