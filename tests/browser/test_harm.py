"""Pages that do harm without going anywhere cost themselves only: each ends in time,
and the next page is read.
"""

from __future__ import annotations
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from tests.browser.hostile.attacks import HARM
from tests.waiting import ended_by
from websearch_core._browser.host import find_descendants, host, is_renderer, resident
from websearch_core._runtime.deadline import time_limit
from websearch_core.errors import (
    BadResponse,
    TimedOut,
    TooLarge,
    Unavailable,
    WebSearchError,
)

pytestmark = [pytest.mark.e2e, pytest.mark.enable_socket]

MEBI = 2**20
LIMIT = 30.0  # seconds for a page


@pytest.fixture(scope="module")
def harmed(launch):
    """A browser of its own, with less memory for a page."""
    return replace(launch, memory=400 * MEBI, pages_at_once=4)


@pytest.fixture
def suffer(render, site, harmed):
    def suffer(name):
        try:
            with ended_by(LIMIT), time_limit(LIMIT):
                outcome = render(
                    site.url(name),
                    launch=harmed,
                    max_requests=100,
                    max_traffic=4 * MEBI,
                )
        except WebSearchError as error:
            outcome = error
        return outcome

    return suffer


def own_memory(launch):
    """Return the bytes of the browser's processes that run no pages."""
    process = host._browsers[launch]._process
    if process is None:
        return 0
    pids = [process.popen.pid, *find_descendants(process.popen.pid)]
    return sum(resident(pid) for pid in pids if not is_renderer(pid))


class Watch(threading.Thread):
    """Looks at the browser's own processes and at this one, until it is stopped."""

    def __init__(self, launch):
        super().__init__(daemon=True)
        self.launch = launch
        self.browser = 0  # bytes, at most
        self.ours = 0  # bytes more than before, at most
        self._ended = threading.Event()
        self._before = resident(os.getpid())

    def run(self):
        while not self._ended.wait(0.02):
            self.browser = max(self.browser, own_memory(self.launch))
            self.ours = max(self.ours, resident(os.getpid()) - self._before)

    def stop(self):
        self._ended.set()
        self.join()


READ = (
    *(
        "an endless loop at once",
        "endless popups",
        "endless requests",
        "prompt, confirm, print",
    ),
    *("functions replaced", "a crash", "a question at leaving", "full storage"),
)
REFUSED = {"a deep document tree": BadResponse, "one huge text": BadResponse}
EITHER = (
    *(
        "endless HTML",
        "endless navigation",
        "memory: WebAssembly",
        "an endless download",
        "endless downloads",
    ),
    # some 470 come before the engine ends the loop; the whole Chromium takes 20 ms for
    # each
    "endless dialogs",
)


def test_a_harmful_page_ends_and_the_next_one_is_read(suffer, render, site, harmed):
    names = [*READ, *REFUSED, *EITHER]
    assert set(names) < set(HARM)  # `make bench-browser` suffers all of them

    outcomes, left = {}, names
    for at_once in (4, 1):  # beside others, some take too long on a busy machine
        with ThreadPoolExecutor(at_once) as threads:
            outcomes |= zip(left, threads.map(suffer, left), strict=True)
        left = [name for name in READ if isinstance(outcomes[name], TimedOut)]

    assert "visible text" in render(f"{site.origin}/ok", launch=harmed).content.decode()
    for name in READ:
        assert not isinstance(outcomes[name], WebSearchError), (name, outcomes[name])
        assert b"visible text" in outcomes[name].content, name
    for name, error in REFUSED.items():
        assert isinstance(outcomes[name], error | TooLarge), (name, outcomes[name])
    assert b"LIES" not in outcomes["functions replaced"].content
    assert "the page's scripts were ended" in outcomes["an endless loop at once"].notes
    assert "a popup was closed" in outcomes["endless popups"].notes
    assert "a dialog was dismissed" in outcomes["prompt, confirm, print"].notes
    download = outcomes["an endless download"]
    assert (
        isinstance(download, TooLarge)
        or download.headers["content-type"] == "application/octet-stream"
    )


def test_a_page_that_takes_all_memory_is_ended(render, site, harmed):
    url = site.url("memory: buffers")

    with pytest.raises(TooLarge, match="more than 400 MiB of memory"):
        render(url, launch=harmed)

    processes = find_descendants(host._browsers[harmed]._process.popen.pid)
    assert [
        resident(pid)
        for pid in processes
        if is_renderer(pid) and resident(pid) >= 400 * MEBI
    ] == []


BESIDE = (
    "endless fragments",
    "endless history",
    "large states of history",
    "one huge URL",
    "one huge URL of a frame",
    "one huge event",
    "one huge question",
    "full memory: blobs",
    "full memory: caches",
    "full memory: locks",
    "full memory: channels",
    "full storage",
)
# MiB that the browser's own processes may have more, until the page is ended. The names
# of the locks, 1 GB of them, come within a few looks at the memory.
_MOST = {"full memory: locks": 700}


@pytest.mark.parametrize("name", BESIDE)
def test_a_harmful_page_costs_the_pages_beside_it_nothing(
    name, suffer, render, site, harmed
):
    late = f"{site.origin}/late"

    def read_honest():
        time.sleep(0.5)  # the harm has begun
        with time_limit(LIMIT):
            return render(late, launch=harmed).content

    render(late, launch=harmed)  # the browser has started
    before = own_memory(harmed)
    browser = host._browsers[harmed]
    watch = Watch(harmed)
    watch.start()
    with ThreadPoolExecutor() as threads:
        harm = threads.submit(suffer, name)
        honest = [threads.submit(read_honest) for _ in range(2)]
        contents = [one.result() for one in honest]
        outcome = harm.result()
    watch.stop()

    for content in contents:
        assert b" that came late" in content
    assert host._browsers[harmed] is browser, "the browser was ended"
    assert not isinstance(outcome, Unavailable), outcome
    assert watch.browser - before < _MOST.get(name, 450) * MEBI
    assert watch.ours < 100 * MEBI
