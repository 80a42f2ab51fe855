"""Measure what a proxy is asked for, and where credentials go: ours with each
``resolve``, and LangChain's WebBaseLoader.

Each candidate fetches the corpus in its own process, behind a proxy on this machine
that notes the host of each request and answers with a page; and it follows redirects of
a page that it logs in to, to another port and another host. Writes its section of
``benchmarks/results/ssrf.md``::

    python -m benchmarks.ssrf.asked --peers ../peers/bin/python
"""

from __future__ import annotations
import argparse
import contextlib
import ipaddress
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.report import Goal, Table
from benchmarks.ssrf.network import Row, read_rows

_ROOT = Path(__file__).resolve().parents[2]
PAGE = _ROOT / "benchmarks" / "results" / "ssrf.md"
CORPUS = _ROOT.parent / "shared" / "corpora" / "hostile"
HEADING = "## With a login, and behind a proxy"

_SECRET = "sesame-0123456789"
_LOGIN = {
    "Authorization": f"Bearer {_SECRET}",
    "X-Wiki": _SECRET,
    "Cookie": f"sid={_SECRET}",
}
_BODY = b"<html><body><p>" + b"High water at noon. " * 20
_TIMEOUT = 900.0  # seconds for one candidate

Fetch = Callable[[str], Any]
Prepare = Callable[
    [Mapping[str, Any], str, str], Fetch
]  # from the table of names, the proxy, and the origin to log in to


def _ours(resolve: str) -> Prepare:
    def prepare(table: Mapping[str, Any], proxy: str, origin: str) -> Fetch:
        core = import_module("websearch_core")
        login = core.Credentials(
            bearer=_SECRET, headers={"X-Wiki": _SECRET}, cookies={"sid": _SECRET}
        )
        given = (
            {"credentials": {origin: login}}
            if origin
            else {"proxy": proxy, "resolve": resolve}
        )
        web = core.WebSearch(
            "duckduckgo",
            retry=1,
            http=core.Http(**given),
            internal=[origin, "127.0.0.0/8"] if origin else [],
        )

        def look_up(host: str, _port: int) -> Any:
            found = table.get(host, table["_default"]) if not origin else ["127.0.0.1"]
            return found["sequence"][-1] if isinstance(found, dict) else found

        sender = web._sender  # noqa: SLF001 - as the tests do
        sender.guard = replace(sender.guard, resolve=look_up)
        return web.read  # type: ignore[no-any-return]

    return prepare


def _web_base_loader(_table: Mapping[str, Any], proxy: str, origin: str) -> Fetch:
    loader = import_module("langchain_community.document_loaders").WebBaseLoader
    given = (
        {"header_template": dict(_LOGIN)}
        if origin
        else {"proxies": {"http": proxy, "https": proxy}}
    )

    def fetch(url: str) -> None:
        loader(url, requests_kwargs={"timeout": 10}, **given).load()

    return fetch


CANDIDATES: dict[str, tuple[str, Prepare]] = {
    '`WebSearch.read`, `resolve="here"`': ("websearch-core", _ours("here")),
    '`WebSearch.read`, `resolve="proxy"`': ("websearch-core", _ours("proxy")),
    "`WebBaseLoader`": ("langchain-community", _web_base_loader),
}


class _Proxy:
    """Notes the host of each request, and answers in place of the site."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self._listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.url = f"http://127.0.0.1:{self._listening.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            threading.Thread(
                target=self._serve, args=self._listening.accept()[:1], daemon=True
            ).start()

    def _serve(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError, ValueError), client:
            method, target, _ = (
                _receive(client).split(b"\r\n")[0].decode("latin-1").split(" ", 2)
            )
            place = (
                target.partition("://")[2].partition("/")[0]
                if "://" in target
                else target
            )
            self.asked.append(
                re.sub(r":\d*$", "", place.rpartition("@")[2]).strip("[]")
            )
            if method == "CONNECT":
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                # TLS: to have been asked is enough
                if client.recv(1, socket.MSG_PEEK) == b"\x16":
                    return
                _receive(client)
            head = (
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: "
                b"close\r\nContent-Length: %d\r\n\r\n"
            )
            client.sendall(head % len(_BODY) + _BODY)


def _receive(client: socket.socket) -> bytes:
    data = b""
    while b"\r\n\r\n" not in data and (arrived := client.recv(65536)):
        data += arrived
    return data


def _serve_site(answer: Callable[[BaseHTTPRequestHandler], None]) -> int:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answer(self)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


def _measure_leaks(prepare: Prepare) -> int:
    """Return how many of the secrets another port, and another host, got by a redirect:
    six at most.
    """
    arrived: list[str] = []

    def land(request: BaseHTTPRequestHandler) -> None:
        arrived.extend(value for value in request.headers.values() if _SECRET in value)
        request.send_response(200)
        request.send_header("Content-Type", "text/html")
        request.end_headers()
        request.wfile.write(_BODY)

    def move(request: BaseHTTPRequestHandler) -> None:
        request.send_response(302)
        request.send_header("Location", f"http://{request.path[1:]}:{there}/")
        request.end_headers()

    there, here = _serve_site(land), _serve_site(move)
    for host in ("127.0.0.1", "localhost"):
        with contextlib.suppress(Exception):
            prepare({}, "", f"http://127.0.0.1:{here}")(
                f"http://127.0.0.1:{here}/{host}"
            )
    return len(arrived)


def _run(name: str, corpus: Path) -> None:
    """Fetch everything with one candidate, and print the counts."""
    distribution, prepare = CANDIDATES[name]
    try:
        found = version(distribution)
    except ImportError:
        print(json.dumps({"missing": distribution}))
        return
    proxy, rows = _Proxy(), read_rows(corpus)
    fetch = prepare(json.loads((corpus / "dns.json").read_text("utf-8")), proxy.url, "")
    counts = dict.fromkeys(("address", "name", "ambiguous", "refused"), 0)
    for row in rows:
        proxy.asked.clear()
        with contextlib.suppress(Exception):
            fetch(row.url)
        _count(counts, row, proxy.asked)
    print(json.dumps({"version": found, "leaks": _measure_leaks(prepare), **counts}))


def _count(counts: dict[str, int], row: Row, asked: list[str]) -> None:
    if row.label == "allow":
        counts["refused"] += not asked
    elif asked and row.label == "invalid":
        counts["ambiguous"] += 1
    elif asked:
        counts["address" if any(map(_is_address, asked)) else "name"] += 1


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def measure(name: str, python: str, corpus: Path) -> dict[str, Any]:
    """Let one candidate fetch everything in its own process."""
    ours = CANDIDATES[name][0] == "websearch-core"
    env = {
        k: v
        for k, v in os.environ.items()
        if not k.lower().endswith("_proxy") and not k.startswith("WEB_SEARCH_")
    }
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(
            [
                sys.executable if ours else python,
                "-m",
                "benchmarks.ssrf.asked",
                "--run",
                name,
                "--corpus",
                str(corpus),
            ],
            cwd=elsewhere,
            env=env | {"PYTHONPATH": str(_ROOT), "USER_AGENT": "measurement"},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=_TIMEOUT,
        )
    counts: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return counts


def section(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the section of the page."""
    table = Table(
        [
            "",
            "version",
            "addresses",
            "names",
            "ambiguous",
            "honest, not asked for",
            "secrets that left",
        ],
        [
            [
                name,
                *(
                    str(one[column])
                    for column in (
                        "version",
                        "address",
                        "name",
                        "ambiguous",
                        "refused",
                        "leaks",
                    )
                ),
            ]
            for name, one in results.items()
            if "missing" not in one
        ],
    )
    return _SECTION.format(
        heading=HEADING, goals="\n".join(map(str, goals(results))), table=table
    )


def goals(results: Mapping[str, Mapping[str, Any]]) -> list[Goal]:
    """Return what is expected of our tools, and whether it holds."""
    return [
        Goal(
            f"{name} asks for nothing forbidden"
            + (" by address" if "proxy" in name else "")
            + ", and keeps its secrets",
            f"{one['address'] + one['name']} forbidden rows asked for, {one['leaks']} "
            f"secrets that left",
            not any(one[count] for count in ("address", "ambiguous", "leaks"))
            and ("proxy" in name or not one["name"]),
        )
        for name, one in results.items()
        if CANDIDATES[name][0] == "websearch-core"
    ]


_SECTION = """\
{heading}

Written by `python -m benchmarks.ssrf.asked`. The same rows, behind a proxy that notes what it is asked for and answers
with a page. Then a page that is read with three secrets (a bearer token, a header of another name, a cookie) redirects
to another port and to another host: at most six secrets can leave.

{goals}

{table}

- **addresses** and **names**: forbidden rows for which the proxy was asked, by an address or by a name. With
  `resolve="proxy"`, only the owner of the proxy can refuse these names.
- **ambiguous**: ambiguous rows for which it was asked.
- **honest, not asked for**: honest rows for which it was not asked. Names whose answers change get the last, internal
  one, so three rows are rightly refused where names are resolved here.

"""


def write(text: str) -> None:
    """Replace the section in the page."""
    page = PAGE.read_text("utf-8")
    before, _, after = page.partition("## Remarks")
    PAGE.write_text(before.partition(HEADING)[0] + text + "## Remarks" + after, "utf-8")


def main() -> None:
    """Measure all candidates, and write the section."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ssrf.asked")
    parser.add_argument(
        "--peers",
        default=sys.executable,
        help="the Python that has the peers installed",
    )
    parser.add_argument(
        "--corpus",
        type=Path,
        default=CORPUS,
        help="the folder with urls.tsv and dns.json",
    )
    parser.add_argument("--run", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.run:
        _run(arguments.run, arguments.corpus)
        return
    results = {
        name: measure(name, arguments.peers, arguments.corpus.resolve())
        for name in CANDIDATES
    }
    write(section(results))
    missed = [goal for goal in goals(results) if not goal.met]
    sys.exit("\n".join(map(str, missed)) if missed else None)


if __name__ == "__main__":
    main()
