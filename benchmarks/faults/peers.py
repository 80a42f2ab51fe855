"""Let other libraries meet faults. This runs in their environment, so it imports none
of our modules.

    python peers.py < calls.json

A call is ``{"id", "peer", "url", "text", "without"}``. For each, a line of JSON says
how it ``ended`` (``answer``, ``error``, ``busy`` or ``died``), ``what`` it returned or
raised, whether that ``has`` the text, ``passes`` on what it should be without or
``leaks`` the key, and how many MiB it has ``grown``. Each call has a process of its
own, with a limit of time and of memory, since some never end and some need all there
is. What was busy is tried a second time: the machine may have been.
"""

from __future__ import annotations
import json
import os
import re
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

TIMEOUT = 10.0  # seconds
MEMORY = 2 * 2**30  # bytes more than before
_KEY = "tvly-SECRET-of-a-test-0123456789"
_AT_ONCE = 6


def httpx_json(url: str) -> str:
    with import_module("httpx").Client(follow_redirects=True) as client:
        reply = client.get(f"{url}/search", headers={"Authorization": f"Bearer {_KEY}"})
        return json.dumps(reply.raise_for_status().json())


def httpx_page(url: str) -> str:
    with import_module("httpx").Client(follow_redirects=True) as client:
        return str(client.get(f"{url}/page").raise_for_status().text)


def tavily_search(url: str) -> str:
    tool = import_module("langchain_tavily").TavilySearch(
        tavily_api_key=_KEY, api_base_url=url, max_results=5
    )
    answer = tool.invoke({"query": "kelp"})
    if isinstance(answer, dict) and "error" in answer:
        return f"as a result: {type(answer['error']).__name__} {answer['error']}"
    return str(answer)


def web_base_loader(url: str) -> str:
    loader = import_module("langchain_community.document_loaders").WebBaseLoader(
        f"{url}/page"
    )
    return "\n".join(document.page_content for document in loader.load())


def simple_web_page_reader(url: str) -> str:
    reader = import_module("llama_index.readers.web").SimpleWebPageReader(
        html_to_text=True
    )
    return "\n".join(document.text for document in reader.load_data([f"{url}/page"]))


PEERS: dict[str, Callable[[str], str]] = {
    "httpx": httpx_json,
    "httpx page": httpx_page,
    "TavilySearch": tavily_search,
    "WebBaseLoader": web_base_loader,
    "SimpleWebPageReader": simple_web_page_reader,
}


def _load() -> None:
    """Import everything once, before the processes are forked."""
    for name in ("httpx", "langchain_tavily", "llama_index.readers.web"):
        import_module(name)
    getattr(import_module("langchain_community.document_loaders"), "WebBaseLoader")  # noqa: B009 - imported by its name


def _call(call: dict[str, Any]) -> dict[str, Any]:
    """Make the call, in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    used = (
        int(Path("/proc/self/statm").read_text("ascii").split()[0])
        * resource.getpagesize()
    )
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    shown = ""
    try:
        what, ended = PEERS[call["peer"]](call["url"]), "answer"
    except BaseException as error:  # noqa: BLE001 - also what ends a program is an ending
        ended, what = "error", f"{type(error).__name__}: {error}"
        shown = "".join(traceback.format_exception(error))
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    return {
        "ended": ended,
        "what": what[:300],
        "has": call["text"] in what,
        "passes": bool(call["without"]) and call["without"] in what,
        "leaks": _KEY in f"{what} {shown}",
        "grown": grown,
    }


def _find_growth(child: int) -> int:
    """Return how many MiB a process has, beyond those of this one."""
    sizes = []
    for process in (str(child), "self"):
        found = re.search(
            r"VmHWM:\s*(\d+)", Path(f"/proc/{process}/status").read_text("ascii")
        )
        sizes.append(int(found[1]) // 1024 if found else 0)
    return max(0, sizes[0] - sizes[1])


def _start(call: dict[str, Any]) -> tuple[int, int, float]:
    reading, writing = os.pipe()
    child = os.fork()
    if child:
        os.close(writing)
        return child, reading, time.monotonic()
    os.close(reading)
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(json.dumps(_call(call)).encode("utf-8", "replace"))
    os._exit(0)


def main() -> None:
    """Make the calls of standard input, some at a time."""
    warnings.simplefilter("ignore")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    waiting = json.load(sys.stdin)
    _load()
    running: dict[int, tuple[dict[str, Any], int, float]] = {}
    late: dict[int, int] = {}  # processes that were ended, and how many MiB they had
    while waiting or running:
        while waiting and len(running) < _AT_ONCE:
            child, pipe, began = _start(call := waiting.pop(0))
            running[child] = call, pipe, began
        child, _ = os.waitpid(-1, os.WNOHANG)
        if not child:
            time.sleep(0.02)
            for one, (_, _, began) in running.items():
                if one not in late and time.monotonic() - began > TIMEOUT:
                    late[one] = _find_growth(one)
                    os.kill(one, signal.SIGKILL)
            continue
        call, pipe, _ = running.pop(child)
        with os.fdopen(pipe, "rb") as file:
            said = file.read()
        if not said and child in late and not call.get("again"):
            waiting.append({**call, "again": True})
            continue
        nothing = {
            "ended": "busy" if child in late else "died",
            "what": "",
            "grown": late.get(child, 0),
        }
        print(
            json.dumps({"id": call["id"], **(json.loads(said) if said else nothing)}),
            flush=True,
        )


if __name__ == "__main__":
    main()
