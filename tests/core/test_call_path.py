"""How long the way of a call is: how many functions of this project it runs, and which
context variables it sets.

The numbers are what each kind of call runs today, and a little more. Who needs more
finds out here, and says why.
"""

from __future__ import annotations
import asyncio
import gc
from collections.abc import Callable, Coroutine, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import websearch_core
from tests.profiling import profiled
from tests.server import Server, http
from websearch_core import WebSearch
from websearch_core.tools import Run, WebTools

# The most functions that a call runs after the first of its kind, in this process: the
# fewest of several calls, since a thread that keeps house may run beside one.
_COUNTED = range(1, 4)
_LIMITS = {
    "search": 191,  # two say what it cost; an answer is an object, for both ways
    "tool": 261,  # a dozen understand what a model sends
    "tool in a conversation": 273,
    "page": 228,  # six parse its head and look for its end
    "open_page": 307,
}
_FOLDER = str(Path(websearch_core.__file__).parent)
_FOUND = http(
    {
        "results": [
            {
                "url": f"https://example.org/{n}",
                "title": f"Part {n}",
                "content": "Rotate the key.",
                "score": 0.9,
            }
            for n in range(5)
        ]
    }
)


@contextmanager
def counting() -> Iterator[tuple[set[str], set[str]]]:
    """Collect the functions of this project that run in a block, in all threads, and
    the context variables set there.

    A comprehension or a generator expression is a part of the function that it is
    written in, whether or not Python makes a function of it; a lambda counts. Garbage
    is not collected meanwhile: that would close the clients of earlier tests.
    """
    functions: set[str] = set()
    variables: set[str] = set()

    def note(frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_FOLDER):
            if not code.co_name.endswith(("comp>", "genexpr>")):
                functions.add(
                    f"{code.co_filename.removeprefix(_FOLDER)}:{code.co_firstlineno} {code.co_qualname}"
                )
        elif (
            event == "c_call"
            and arg.__name__ == "set"
            and isinstance(arg.__self__, ContextVar)
        ):
            variables.add(arg.__self__.name)

    gc.disable()
    try:
        with profiled(note):
            yield functions, variables
    finally:
        gc.enable()


_PAGE = http("<title>Keys</title><h1>Keys</h1><p>Rotate the key.</p>")
_QUERY = "how to rotate a key"


def make_calls(web: WebSearch, url: str) -> dict[str, Callable[[int], object]]:
    """Return each kind of call, which gets a number, so that none is the same again."""
    tools = WebTools(web)
    conversation = Run(conversation="1")
    return {
        "search": lambda n: web.search(f"{_QUERY} {n}"),
        "tool": lambda n: tools.search({"query": f"{_QUERY} {n}"}),
        "tool in a conversation": lambda n: tools.search(
            {"query": f"{_QUERY} {n}"}, conversation
        ),
        "page": lambda n: web.read(f"{url}/page{n}"),
        "open_page": lambda n: tools.open_page({"url": f"{url}/page{n}"}, conversation),
    }


def make_async_calls(
    web: WebSearch, url: str
) -> dict[str, Callable[[int], Coroutine[Any, Any, object]]]:
    """Return the same calls for an event loop."""
    tools = WebTools(web)
    conversation = Run(conversation="1")
    return {
        "search": lambda n: web.asearch(f"{_QUERY} {n}"),
        "tool": lambda n: tools.asearch({"query": f"{_QUERY} {n}"}),
        "tool in a conversation": lambda n: tools.asearch(
            {"query": f"{_QUERY} {n}"}, conversation
        ),
        "page": lambda n: web.aread(f"{url}/page{n}"),
        "open_page": lambda n: tools.aopen_page(
            {"url": f"{url}/page{n}"}, conversation
        ),
    }


@pytest.mark.enable_socket
@pytest.mark.parametrize("kind", _LIMITS)
@pytest.mark.parametrize("colour", ["blocking", "async"])
def test_a_second_call_runs_few_functions_and_sets_one_context_variable(
    colour: str, kind: str
) -> None:
    counts: list[set[str]] = []
    variables: set[str] = set()

    @contextmanager
    def noting() -> Iterator[None]:
        with counting() as (functions, changed):
            yield
        counts.append(functions)
        variables.update(changed)

    async def call_on_a_loop() -> None:
        call = make_async_calls(web, server.url)[kind]
        await call(0)
        for number in _COUNTED:
            with noting():
                await call(number)

    def call_here() -> None:
        call = make_calls(web, server.url)[kind]
        call(0)
        for number in _COUNTED:
            with noting():
                call(number)

    with (
        closing(Server([_PAGE if "page" in kind else _FOUND])) as server,
        WebSearch(
            "tavily",
            reader="direct",
            api_key="tvly-test",
            base_url=server.url,
            internal=["127.0.0.0/8"],
        ) as web,
    ):
        if colour == "async":
            asyncio.run(call_on_a_loop())
        else:
            call_here()

    functions = min(counts, key=len)
    assert variables == {"websearch_call"}
    assert len(functions) <= _LIMITS[kind], (len(functions), sorted(functions))
