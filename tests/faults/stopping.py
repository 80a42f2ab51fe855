"""Programs that are interrupted while a server keeps them waiting."""

from __future__ import annotations
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.server import Received, Server, http

PAGE = http(
    b"<title>Kelp</title><p>Brown algae of the northern seas.",
    "200 OK",
    "Content-Type: text/html",
)
PAGES = 400  # with four at a time, all of them take long
_LINKS = "".join(
    f'<li><a href="/held/{number}">Page {number}</a>' for number in range(PAGES)
)
HOME = http(
    f"<title>Sea</title><p>Pages about the sea:<ul>{_LINKS}</ul>".encode(),
    "200 OK",
    "Content-Type: text/html",
)

# What each does, and how many requests are under way when the server holds them all.
PROGRAMS: dict[str, tuple[str, int]] = {
    "read": ("web.read(f'{SITE}/held/0')", 1),
    "read_many": (
        f"web.read_many([f'{{SITE}}/held/{{n}}' for n in range({PAGES})], give_up_after=None)",
        4,
    ),
    "search with read_top": ("web.search('kelp', read_top=5)", 5),
    "a chain": (
        "WebSearch([Tavily(api_key='k' * 20, base_url=f'{SITE}/held/{n}') for n in 'ab'], timeout=300).search('kelp')",
        1,
    ),
    "fusion": (
        "WebSearch([Tavily(api_key='k' * 20, base_url=f'{SITE}/held/{n}') for n in 'ab'], combine='fuse', timeout=300).search('kelp')",
        2,
    ),
    "fusion with read_top": (
        (
            "both = [Tavily(api_key='k' * 20, base_url=f'{API}/{n}') for n in 'ab'];"
            "WebSearch(both, combine='fuse', reader='direct', internal=['127.0.0.0/8'], timeout=300).search('kelp', read_top=5)"
        ),
        5,
    ),
    "hedging": (
        (
            "WebSearch([Tavily(api_key='k' * 20, base_url=f'{SITE}/held/{n}') for n in 'ab'], combine=Fallback(hedge=0.1), timeout=300).search('kelp')"
        ),
        2,
    ),
    "a crawl": ("Index(Path('pages.db')).add_pages(web.crawl(SITE))", 4),
    "an asynchronous function": (
        "WebSearch(from_function('own', search=wait), timeout=300).search('kelp')",
        1,
    ),
}

_FRAME = """
import sys
from pathlib import Path
from websearch_core import WebSearch
from websearch_core.index import Index
from websearch_core.layers import Fallback
from websearch_core.provider import from_function
from websearch_core.providers import Tavily

API, SITE = sys.argv[1:]
web = WebSearch("tavily", api_key="k" * 20, base_url=API, reader="direct", internal=["127.0.0.0/8"], timeout=300, retry=1)

async def wait(query):
    await web.aread(SITE + "/held/0")

try:
    {program}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    input()
    print(web.read(SITE + "/after").title, flush=True)
    input()
"""


@dataclass(frozen=True)
class Stop:
    """
    How a program ended.

    Args:
        seconds: From the signal to its next line.
        paths: Which pages it asked for, before the signal and after it.
        status: How its process ended.
        errors: What it wrote to its standard error.

    """

    seconds: float
    paths: list[str]
    status: int
    errors: str


def stop(name: str, folder: Path) -> Stop:
    """Interrupt a program when all requests that it sends at a time are held, and let
    it go on after that.

    Raises:
        AssertionError: It does not send them, or does not stop within four minutes.

    """
    program, under_way = PROGRAMS[name]
    release = threading.Event()

    def reply(request: Received) -> Any:
        if "/held/" in request[0]:
            release.wait(120)
        return HOME if request[0] == "/" else PAGE

    def search(request: Received) -> Any:
        results = [{"url": f"{site.url}/held/{n}", "title": "Kelp"} for n in range(5)]
        return http({"results": results})

    with closing(Server(reply=reply)) as site, closing(Server(reply=search)) as service:
        code = _FRAME.format(program=textwrap.dedent(program))
        with run(
            [sys.executable, "-c", code, service.url, site.url], folder, release
        ) as process:
            while len(held(site)) < under_way:
                check_alive(process)
            process.send_signal(signal.SIGINT)
            began = time.monotonic()
            assert (line := _read_line(process)) == "interrupted\n", (
                line,
                process.communicate()[1][-3000:],
            )
            seconds = time.monotonic() - began
            release.set()  # what is still under way gets its answer
            _tell(process)
            assert _read_line(process) == "Kelp\n"
            _, errors = process.communicate("\n")
        return Stop(seconds, site.paths, process.returncode, errors)


def held(site: Server) -> list[str]:
    """Return the pages that were asked for and are not answered yet."""
    return [path for path in site.paths if "/held/" in path]


@contextmanager
def run(
    command: list[str], folder: Path, release: threading.Event, **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Run a program with pipes in this block, for at most four minutes, and set
    *release* after it.
    """
    environment = {
        **os.environ,
        **variables,
        "XDG_DATA_HOME": str(folder),
        "XDG_CACHE_HOME": str(folder),
    }
    pipe = subprocess.PIPE
    with subprocess.Popen(
        command,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
        cwd=folder,
        env=environment,
    ) as process:
        timer = threading.Timer(240, process.kill)
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            release.set()
            process.kill()


def check_alive(process: subprocess.Popen[str]) -> None:
    """Wait a moment, and make sure that a program has not ended."""
    time.sleep(0.005)
    assert process.poll() is None, process.communicate()


def _read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline()


def _tell(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
