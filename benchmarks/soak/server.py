"""The other side of a soak: services and pages in their own process, which count the
requests of each call.

A call names itself in what it asks: ``soak CALL FAULT``, or a page at
``/page/CALL/FAULT``. The fault is the number of a case of the matrix in `tests.faults`,
whose answers this server sends one after the other, or ``ok``. A line on standard input
asks for the counts; the process ends with it, or after an hour.
"""

from __future__ import annotations
import json
import re
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

from tests.faults.model import Case
from tests.faults.server import Answer, Received, Server, http
from tests.faults.table import CASES

_ROOT = Path(__file__).resolve().parents[2]
_LONGEST = 3600.0  # seconds
_HTML = "Content-Type: text/html"
_NAMED = re.compile(r"soak (\d+) (\w+)|/page/(\d+)/(\w+)")
# What a service says about all further calls would end the others of this run, too;
# redirects lose the name of a call.
_LEFT_OUT = ("9 ", "10 ", "13 the quota is used up json 429", "34 ", "36 ")


def list_cases() -> list[Case]:
    """Return the cases of the matrix whose fault is what the server sends."""
    return [
        case
        for name, case in CASES.items()
        if case.base == Case.base
        and case.answers
        and not (
            case.certificate
            or name.startswith(_LEFT_OUT)
            or any(map(_holds_off, case.answers))
        )
    ]


def _holds_off(answer: object) -> bool:
    return isinstance(answer, bytes) and b"Retry-After: 9999" in answer


@dataclass(frozen=True)
class Counts:
    """What the server saw.

    Args:
        requests: How many there were, by service (or ``page``) and call.
        unknown: Requests of no call.
        connections: Connections that are still open.
    """

    requests: Mapping[str, Mapping[int, int]]
    unknown: int
    connections: int


class Services:
    """Answers as the services and sites would, with the fault that each call asks
    for.
    """

    def __init__(self) -> None:
        self._cases = list_cases()
        self._lock = threading.Lock()
        self._seen: dict[str, Counter[int]] = {}
        self._attempts: Counter[tuple[str, str]] = Counter()
        self._unknown = 0

    def reply(self, request: Received) -> Answer:
        """Count *request*, and answer it."""
        path, _, body = request
        found = _NAMED.search(
            f"{unquote_plus(path)} {unquote_plus(body.decode('utf-8', 'replace'))}"
        )
        if found is None:
            self._unknown += 1
            return http(b"nothing here", "404 Not Found")
        service = path.strip("/").partition("/")[0].partition("?")[0]
        call, fault = (found[1], found[2]) if found[1] else (found[3], found[4])
        with self._lock:
            self._seen.setdefault(service, Counter())[int(call)] += 1
            attempt = self._attempts[service, path + found[0]]
            self._attempts[service, path + found[0]] += 1
        # the service that answers when another has failed
        if fault == "ok" or service == "brave":
            return _answer(service, found[0])
        answers: Sequence[Answer] = self._cases[int(fault)].answers
        return answers[min(attempt, len(answers) - 1)]

    def describe(self, connections: int) -> str:
        """Return the counts as a line of JSON."""
        with self._lock:
            return json.dumps(
                {
                    "requests": self._seen,
                    "unknown": self._unknown,
                    "connections": connections,
                }
            )


def _answer(service: str, asked: str) -> bytes:
    """Answer with the name of the call, so that nobody gets the answer of another
    one.
    """
    place = f"https://kelp.example/{asked.replace(' ', '-')}"
    match service:
        case "tavily":
            return http(
                {"results": [{"title": asked, "url": place, "content": "Brown algae."}]}
            )
        case "brave":
            return http(
                {
                    "web": {
                        "results": [
                            {
                                "title": asked,
                                "url": place,
                                "description": "Brown algae.",
                            }
                        ]
                    }
                }
            )
        case "duckduckgo":
            link = f'<a class="result__a" href="{place}">{asked}</a>'
            return http(
                f'<div class="result results_links"><h2>{link}</h2></div>',
                "200 OK",
                _HTML,
            )
    return http(
        f"<title>Kelp</title><p>Brown algae of the northern seas: {asked}",
        "200 OK",
        _HTML,
    )


class Other:
    """The server, seen from the process of the soak."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.pid = process.pid
        self.url = f"http://127.0.0.1:{self._read()}"

    def count(self) -> Counts:
        """Ask what it saw."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        counts = self._read()
        requests = {
            service: {int(call): n for call, n in seen.items()}
            for service, seen in counts["requests"].items()
        }
        return Counts(requests, counts["unknown"], counts["connections"])

    def _read(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


@contextmanager
def start() -> Iterator[Other]:
    """Run the server in another process."""
    command = [sys.executable, "-m", "benchmarks.soak.server"]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=_ROOT, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield Other(process)
        finally:
            process.kill()


def main() -> None:
    """Serve until standard input ends."""
    services = Services()
    server = Server(reply=services.reply)
    end = threading.Timer(_LONGEST, server.close)
    end.daemon = True
    end.start()
    print(server.port, flush=True)
    for _ in sys.stdin:
        print(services.describe(server.open_connections), flush=True)


if __name__ == "__main__":
    main()
