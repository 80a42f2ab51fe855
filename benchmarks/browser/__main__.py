"""Measure the reader ``browser``: what attacks reach, what harmful pages cost, time and
memory. ``make bench-browser``.

Writes ``benchmarks/results/browser.md``, and exits with an error if an attack reached an
internal address. Rewrites only the sections that were measured: ``python -m
benchmarks.browser attacks``.
"""

from __future__ import annotations
import argparse
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Event, Thread

from benchmarks.browser.memory import proportional
from benchmarks.browser.pages import measure_pages
from benchmarks.report import Table, store
from tests.browser.hostile.attacks import ATTACKS, HARM
from tests.browser.hostile.site import PUBLIC, Names, Site
from websearch_core._browser.find import find_browser
from websearch_core._browser.host import host
from websearch_core._browser.launch import NETWORK_FLAGS, Launch
from websearch_core._browser.render import Renderer
from websearch_core._net.gate import Gate, Limits, find_own_address
from websearch_core._net.guard import Guard
from websearch_core._net.lookup import FOR_PAGES, Line
from websearch_core._net.sender import Sender
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import WebSearchError
from websearch_core.flow import Request

PAGE = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "browser.md"
FLAGS = ("--allow-loopback-in-peer-connection",)
# These need a name server that the peers' browsers would ask, or a proxy.
OURS_ONLY = frozenset({
    "rebinding name", "rebinding fetch", "name of public and internal",
    "name of internal", "the proxy itself",
    "proxy auto-configuration",
})  # fmt: skip
# What these send does not say whose it is: they run alone.
NAMELESS = (
    "webrtc",
    "webtransport",
    "web socket: secure",
    "preconnect",
    "direct",
    "alt-svc",
    "payment",
    "ftp",
)
GATED = "gate"
PEERS = {
    "Playwright, no guard": "plain",
    "Playwright, requests and web sockets intercepted": "interception",
    "Playwright, behind our gate and with its flags": GATED,
    "LangChain's `PlaywrightURLLoader`": "langchain",
    "Crawl4AI": "crawl4ai",
}


class Bench:
    """The site, our browser, and the peers."""

    def __init__(self, site: Site, peers: str, crawl4ai: str) -> None:
        self.site, self.peers, self.crawl4ai = site, peers, crawl4ai
        self.path = find_browser()
        self.sender = Sender(Guard.allowing([f"{PUBLIC}/32"], resolve=Names().resolve))

    def render(self, url: str, launch: Launch) -> str:
        """Render a page, and return what came of it."""
        try:
            with time_limit(20):
                answer = self.sender.send(
                    Request(url=url, guarded=True, transport=Renderer(launch=launch))
                )
        except WebSearchError as error:
            return f"`{error.code}`: {error}"
        return f"{len(answer.content):,} characters; {'; '.join(getattr(answer, 'notes', ()))}".rstrip(
            "; "
        )

    def find_python(self, what: str) -> str:
        """Return the Python that runs a peer; empty if it was not named."""
        return self.crawl4ai if what == "crawl4ai" else self.peers

    def run_peer(
        self, what: str, pages: Sequence[tuple[str, str]], at_once: int = 1
    ) -> Iterable[str]:
        """Run a peer, and yield its lines."""
        command = [
            self.find_python(what),
            str(Path(__file__).with_name("peers.py")),
            what,
            str(self.path),
        ]
        job = {"pages": pages, "at_once": at_once, "proxy": "", "flags": []}
        with ExitStack() as stack:
            if what == GATED:
                gate, address = stack.enter_context(self.open_gate())
                rules = f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {address}"
                job["proxy"] = gate.url
                job["flags"] = [*NETWORK_FLAGS, rules]
            process = stack.enter_context(
                subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
                )
            )
            assert process.stdin
            assert process.stdout
            process.stdin.write(json.dumps(job))
            process.stdin.close()
            yield from (line.strip() for line in process.stdout)

    @contextmanager
    def open_gate(self) -> Iterator[tuple[Gate, str]]:
        """Open one gate for all pages of a peer, with limits for all of them."""
        limits = Limits(received=2**33, sent=2**33, requests=1_000_000, at_once=1_000)
        address = host.submit(find_own_address).result()
        gate = Gate(self.sender.guard, Line(FOR_PAGES), limits, address=address)
        host.submit(gate.__aenter__).result()
        try:
            yield gate, address
        finally:
            host.submit(gate.__aexit__).result()


def find_reached(
    bench: Bench, run: Callable[[list[str], int], Iterable[str]], names: list[str]
) -> set[str]:
    """Return the attacks that reached something: those whose requests have a name
    together, the others alone.
    """
    site = bench.site
    alone = [name for name in names if name.startswith(NAMELESS)]
    site.reached.clear()
    for _ in run([name for name in names if name not in alone], 6):
        pass
    time.sleep(0.5)
    reached = set(site.reached) & set(names)
    site.reached.clear()
    # a connection of one attack may go on while the next page is open
    known: set[str] = set()
    for name in run(alone, 1):
        senders = {what.partition(")")[0] for what in site.reached}
        if senders - known:
            reached.add(name)
        known |= senders
        site.reached.clear()
    return reached


def measure_attacks(bench: Bench) -> str:
    launch = Launch(flags=FLAGS, pages_at_once=6)

    def ours(names: list[str], at_once: int) -> Iterable[str]:
        def attack(name: str) -> str:
            bench.render(bench.site.url(name), launch)
            time.sleep(0.2)
            return name

        with ThreadPoolExecutor(at_once) as threads:
            yield from threads.map(attack, names)

    both = [name for name in ATTACKS if name not in OURS_ONLY]
    found = {
        "websearch, reader `browser`": (
            find_reached(bench, ours, list(ATTACKS)),
            len(ATTACKS),
        )
    }
    for label, what in PEERS.items():
        if not bench.find_python(what):
            continue

        def peer(names: list[str], at_once: int, what: str = what) -> Iterable[str]:
            return bench.run_peer(
                what, [(name, bench.site.url(name)) for name in names], at_once
            )

        names = list(ATTACKS) if what == GATED else both
        found[label] = find_reached(bench, peer, names), len(names)
    rows = [
        [label, str(count), str(len(reached))]
        for label, (reached, count) in found.items()
    ]
    named = [
        f"- {label}: {'; '.join(sorted(reached))}."
        for label, (reached, _) in found.items()
        if reached and "no guard" not in label
    ]
    if found["websearch, reader `browser`"][0]:
        sys.exit(f"reached: {found}")
    return "\n\n".join((
        _ATTACKS,
        str(Table(("", "attacks", "reached an internal address"), rows)),
        "\n".join(named),
    ))  # fmt: skip


def measure_harm(bench: Bench) -> str:
    launch = Launch()
    rows = []
    for name in HARM:
        peak, done = [0], Event()

        def watch(peak: list[int] = peak, done: Event = done) -> None:
            while not done.wait(0.05):
                peak[0] = max(peak[0], proportional(os.getpid()))

        watching = Thread(target=watch)
        watching.start()
        began = time.monotonic()
        outcome = bench.render(bench.site.url(name), launch)
        took = time.monotonic() - began
        done.set()
        watching.join()
        rows.append([name, outcome, f"{took:.1f}", f"{peak[0] / 2**20:.0f}"])
    after = bench.render(f"{bench.site.origin}/ok", launch)
    return "\n\n".join((
        (f"With the defaults (640 MiB for the process of a page), and 20 s for each. "
        f"The page after them: {after}."),
        str(Table(("page", "outcome", "s", "most MiB of the whole browser"), rows)),
    ))  # fmt: skip


def measure_cost(bench: Bench) -> str:
    site = bench.site
    pages = [
        ("a small page", f"{site.origin}/ok"),
        ("a heavy page", f"{site.origin}/heavy"),
    ]
    rows = []
    for label, launch in (
        ("reader `browser`", Launch(pages_at_once=8)),
        ("reader `browser`, images and fonts on", Launch(pages_at_once=8, images=True)),
    ):
        began = time.monotonic()
        bench.render(pages[0][1], launch)
        first, times, memory = time.monotonic() - began, [], 0
        for _, url in pages:
            spent = []
            for _ in range(8):
                began = time.monotonic()
                bench.render(url, launch)
                spent.append(time.monotonic() - began)
                memory = max(memory, proportional(os.getpid()))
            times.append(statistics.median(spent[1:]))
        rows.append(
            [
                label,
                f"{first:.2f}",
                *(f"{one:.2f}" for one in times),
                f"{memory / 2**20:.0f}",
            ]
        )
        host.end()
    if bench.peers:
        (line,) = bench.run_peer("measure", pages)
        found = json.loads(line)
        times = [found["times"][name] for name, _ in pages]
        rows.append([
            "Playwright, `page.goto` until `load`, no guard", f"{found['first']:.2f}",
            *(f"{one:.2f}" for one in times), f"{found['memory'] / 2**20:.0f}",
        ])  # fmt: skip
    rates = []
    for at_once in (1, 4, 8):
        launch = Launch(pages_at_once=at_once)
        bench.render(pages[0][1], launch)
        count = 4 * at_once if at_once > 1 else 6
        began = time.monotonic()
        with ThreadPoolExecutor(at_once) as threads:
            list(
                threads.map(
                    bench.render,
                    [pages[n % 2][1] for n in range(count)],
                    [launch] * count,
                )
            )
        rate = count / (time.monotonic() - began) * 60
        rates.append(
            [str(at_once), f"{rate:.0f}", f"{proportional(os.getpid()) / 2**20:.0f}"]
        )
        host.end()
    return "\n\n".join((
        _COST,
        str(Table(("", "first page, with the start", "small page", "heavy page", "MiB, driver included"), rows)),
        "Half small and half heavy pages:",
        str(Table(("pages at a time", "pages a minute", "MiB left open"), rates)),
    ))  # fmt: skip


_ATTACKS = """An internal server on loopback records every connection and every packet. The pages are in
`tests/browser/hostile/attacks.py`; each is open for a second or more. Six attacks, by names that resolve twice or on
the proxy, cannot be tried on peers here, unless our gate resolves. Some attacks do nothing to a plain browser of this version
either. The gate is what makes a browser safe: Playwright behind it is as safe as our own driver, which saves memory and Node."""
_COST = """Seconds, the median of several runs on a shared machine with two cores: compare rows, not machines. The heavy
page has 40 pictures of 60 KB, 3 style sheets, 6 scripts, 3 fonts and a frame. A read waits until the page says nothing
new, scrolls it, and looks at the computed style of every element; `page.goto` waits for `load` only."""


def measure_reading(bench: Bench) -> str:
    readers = {
        "langchain": bench.peers,
        "crawl4ai": bench.crawl4ai,
        "crawl4ai-thorough": bench.crawl4ai,
    }
    return measure_pages(bench.path, readers)


SECTIONS = {
    "attacks": measure_attacks,
    "harm": measure_harm,
    "cost": measure_cost,
    "pages": measure_reading,
}
TITLES = {
    "attacks": "What attacks reach",
    "harm": "What harmful pages cost",
    "cost": "Time and memory",
    "pages": "Pages that need scripts",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[[], *SECTIONS])
    parser.add_argument(
        "--peers", default="", help="the Python of the peers' environment"
    )
    parser.add_argument(
        "--crawl4ai",
        default="",
        help="the Python of an environment with Crawl4AI, which needs 900 MB",
    )
    arguments = parser.parse_args()
    old = PAGE.read_text("utf-8") if PAGE.exists() else ""
    known = dict(
        re.findall(r"^## (.+?)\n\n(.*?)(?=^## |\Z)", old, re.MULTILINE | re.DOTALL)
    )
    with Site() as site:
        bench = Bench(site, arguments.peers, arguments.crawl4ai)
        for name in arguments.sections or SECTIONS:
            known[TITLES[name]] = SECTIONS[name](bench)
            host.end()
        product = subprocess.run(
            [bench.path, "--version"], capture_output=True, text=True, check=True
        ).stdout.strip()
    sections = "\n\n".join(
        f"## {title}\n\n{known[title].strip()}"
        for title in TITLES.values()
        if title in known
    )
    store(
        PAGE,
        f"# The browser, attacked and measured\n\nWritten by `make bench-browser`: "
        f"{product} ({bench.path.name}), "
        f"Python {platform.python_version()}, {platform.system()}.\n\n{sections}\n",
    )


if __name__ == "__main__":
    main()
