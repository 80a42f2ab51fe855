"""How long the way of one search is: how many functions of this project it runs, and which context variables it sets."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import websearch_core
from tests.faults.server import Server, http
from websearch_core import WebSearch

_FOLDER = str(Path(websearch_core.__file__).parent)
_FOUND = http(
    {
        "results": [
            {"url": f"https://example.org/{n}", "title": f"Part {n}", "content": "Rotate the key.", "score": 0.9}
            for n in range(5)
        ]
    }
)


@contextmanager
def counting() -> Iterator[tuple[set[str], set[str]]]:
    """Collect the functions of this project that run in a block, in all threads, and the context variables set there."""
    functions: set[str] = set()
    variables: set[str] = set()

    def note(frame: FrameType, event: str, arg: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(_FOLDER):
            functions.add(f"{code.co_filename.removeprefix(_FOLDER)}: {code.co_qualname}, line {code.co_firstlineno}")
        elif event == "c_call" and arg.__name__ == "set" and isinstance(arg.__self__, ContextVar):
            variables.add(arg.__self__.name)

    before = sys.getprofile(), threading.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield functions, variables
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])


@pytest.mark.enable_socket
@pytest.mark.parametrize("colour", ["blocking", "async"])
def test_a_search_runs_few_functions_and_sets_two_context_variables_at_most(colour: str) -> None:
    query = "how to rotate a key"

    async def search() -> tuple[set[str], set[str]]:
        await web.asearch(query)
        with counting() as counted:
            await web.asearch(query)
        return counted

    with closing(Server([_FOUND])) as server, WebSearch("tavily", api_key="tvly-test", base_url=server.url) as web:
        if colour == "async":
            functions, variables = asyncio.run(search())
        else:
            web.search(query)
            with counting() as (functions, variables):
                web.search(query)

    import collections

    for f, n in sorted(collections.Counter(f.split(":")[0] for f in functions).items()):
        print(f, n, " ".join(sorted(x.split(":")[1].split(",")[0] for x in functions if x.startswith(f + ":"))))
    print(len(functions), variables)
    assert 0
