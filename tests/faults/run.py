"""Let a call meet a fault, and say how it ended."""

from __future__ import annotations
import asyncio
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import httpx

from tests.faults.model import Case
from tests.faults.services import KEY
from tests.faults.surroundings import Ports, make_server_context, trust
from tests.server import Server, http
from tests.waiting import far_from
from websearch_core import Http, WebSearch
from websearch_core.errors import ServiceError, WebSearchError
from websearch_core.layers import Retry
from websearch_core.settings import Settings

Way = Literal["blocking", "async"]
WAYS: tuple[Way, ...] = ("blocking", "async")
Transport = Literal["httpx", "httpx2", "own client"]
_BRAVE = http(
    {
        "web": {
            "results": [
                {
                    "title": "Kelp",
                    "url": "https://kelp.example/",
                    "description": "Brown algae.",
                }
            ]
        }
    }
)


@dataclass(frozen=True)
class Ending:
    """How a call ended.

    Args:
        code: The code of an error, ``ok``, ``cut``, or the name of another exception.
        temporary: Whether the error says that trying again may help; None if there was
            no error.
        requests: How many requests the server got.
        seconds: How long it took.
        first: In a chain, how it ended for the first provider.
        answer: The URLs of the results, or the text of the page.
        shown: Everything that may be shown to somebody.
        message: What the error says.

    """

    code: str
    temporary: bool | None
    requests: int
    seconds: float
    first: str
    answer: str
    shown: str
    message: str


@contextmanager
def serve(case: Case, ports: Ports) -> Iterator[tuple[Server, str]]:
    """Start the server of *case*; yield it and the URL at which it, or what stands in
    its place, is.
    """
    server = Server(
        case.answers,
        make_server_context(case.certificate) if case.certificate else None,
    )
    try:
        base = case.base.format(
            port=server.port, closed=ports.closed, silent=ports.silent, mute=ports.mute
        )
        yield server, base
    finally:
        server.close()


def call(
    case: Case,
    way: Way,
    ports: Ports,
    transport: Transport | None = None,
    send: Callable[[str], dict[str, Any]] | None = None,
) -> Ending:
    """Let a call meet the fault of *case*.

    Args:
        case: What goes wrong.
        way: Whether the call is blocking.
        ports: Ports that never answer.
        transport: Another transport than the default one, such as the caller's own
            client.
        send: Returns other options of `Http` for the URL of the server.

    """
    with serve(case, ports) as (server, base):
        second = Server([_BRAVE])
        if transport == "own client":
            http = Http(
                client=httpx.Client(verify=trust()),
                async_client=httpx.AsyncClient(verify=trust()),
            )
        else:
            http = Http(
                library=transport, verify=trust(), **(send(base) if send else {})
            )
        web = _make(case, base, second.url, http)
        began = time.monotonic()
        try:
            answer = _ask(web, case, way, base, http)
        except Exception as error:
            ending = _describe_error(
                error, len(server.requests), time.monotonic() - began
            )
        else:
            ending = _describe_answer(
                answer, len(server.requests), time.monotonic() - began
            )
        finally:
            web.close()
            second.close()
        return ending


def find_problems(case: Case, ending: Ending) -> list[str]:
    """Return what is not as expected."""
    codes = {case.expected, "cut"} if case.may_be_cut else {case.expected}
    expectations = {
        f"it ended with {ending.code}: {ending.message or ending.answer[:200]}": ending.code
        in codes,
        f"{ending.requests} requests": case.requests in (None, ending.requests),
        f"temporary is {ending.temporary}": case.temporary in (None, ending.temporary),
        f"the first provider's outcome is {ending.first!r}": case.first
        in ("", ending.first),
        f"it took {ending.seconds:.2f} s": case.shortest
        <= ending.seconds
        <= far_from(case.limit),
        f"the answer is {ending.answer[:200]!r}": _is_as_expected(case, ending.answer),
        "the key shows": KEY not in ending.shown,
        "an internal address shows": "127.0.0.1" not in ending.message,
    }
    return [problem for problem, holds in expectations.items() if not holds]


def _is_as_expected(case: Case, answer: str) -> bool:
    if case.expected == "cut" and case.max_bytes < len(answer):
        return False
    return not case.text or answer == case.text


def _make(case: Case, base: str, second: str, http: Http) -> WebSearch:
    """Make a `WebSearch` with the defaults, except for the length of the pauses between
    attempts.
    """
    brave = {"api_key": "BSA-of-a-test-0123456789", "base_url": second}
    options: dict[str, dict[str, Any]] = {
        "tavily": {"api_key": KEY, "base_url": base},
        "brave": brave,
        "duckduckgo": {"base_url": base, "pause": 0.0},
        "direct": {"max_bytes": case.max_bytes},
    }
    names = {
        "json": ["tavily"],
        "html": ["duckduckgo"],
        "page": ["duckduckgo"],
        "chain": ["tavily", "brave"],
    }[case.where]
    return WebSearch(
        names,
        reader="direct",
        internal=["127.0.0.0/8", base],
        timeout=case.limit,
        retry=Retry(wait_initial=0.01),
        settings=Settings(
            providers={name: options[name] for name in (*names, "direct")}
        ),
        http=http,
    )


def _ask(web: WebSearch, case: Case, way: Way, base: str, http: Http) -> Any:
    try:
        if way == "async":
            return asyncio.run(_aask(web, case, base, http))
        return web.read(f"{base}/page") if case.where == "page" else web.search("kelp")
    finally:
        if http.client:
            http.client.close()


async def _aask(web: WebSearch, case: Case, base: str, http: Http) -> Any:
    try:
        return await (
            web.aread(f"{base}/page") if case.where == "page" else web.asearch("kelp")
        )
    finally:
        if http.async_client:
            await http.async_client.aclose()


def _describe_answer(answer: Any, requests: int, seconds: float) -> Ending:
    is_page = hasattr(answer, "content")
    return Ending(
        code="cut" if is_page and answer.truncated else "ok",
        temporary=None,
        requests=requests,
        seconds=seconds,
        first=answer.outcomes[0].status if answer.outcomes else "",
        answer=answer.content
        if is_page
        else " ".join(result.url for result in answer.results),
        shown=f"{answer!r} {answer.model_dump_json()}",
        message="",
    )


def _describe_error(error: Exception, requests: int, seconds: float) -> Ending:
    shown = [repr(error), str(error), *traceback.format_exception(error)]
    if isinstance(error, ServiceError):
        shown += [str(error.detail), repr(vars(error))]
    return Ending(
        code=error.code if isinstance(error, WebSearchError) else type(error).__name__,
        temporary=getattr(error, "temporary", None),
        requests=requests,
        seconds=seconds,
        first="",
        answer="",
        shown="\n".join(shown),
        message=error.summary if isinstance(error, WebSearchError) else str(error),
    )
