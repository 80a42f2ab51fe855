"""How long the way of one search is: how many functions of this project it runs, and
which context variables it sets.
"""

from __future__ import annotations
import asyncio
import gc
from collections.abc import Iterator
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

_MOST = 185
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


@pytest.mark.enable_socket
@pytest.mark.parametrize("colour", ["blocking", "async"])
def test_a_second_search_runs_few_functions_and_sets_one_context_variable(
    colour: str,
) -> None:
    query = "how to rotate a key"

    async def search() -> tuple[set[str], set[str]]:
        await web.asearch(query)
        with counting() as counted:
            await web.asearch(query)
        return counted

    with (
        closing(Server([_FOUND])) as server,
        WebSearch("tavily", api_key="tvly-test", base_url=server.url) as web,
    ):
        if colour == "async":
            functions, variables = asyncio.run(search())
        else:
            web.search(query)
            with counting() as (functions, variables):
                web.search(query)

    assert variables == {"websearch_call"}
    assert len(functions) <= _MOST, sorted(functions)
