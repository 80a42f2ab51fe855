"""A server in its own process, so that it takes no time from the interpreter that is
measured.
"""

from __future__ import annotations
import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self

_ROOT = Path(__file__).resolve().parents[1]


class Program:
    """A module that calls `serve` when it is run, for the duration of the ``with``
    block.

    Args:
        module: Its name.

    Attributes:
        url: The URL of the server.
    """

    url = ""

    def __init__(self, module: str) -> None:
        self._module = module

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", self._module],
            cwd=_ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.url = f"http://127.0.0.1:{self._read_line()}"
        return self

    def __exit__(self, *_: object) -> None:
        # closes its standard input, which ends the process
        self._process.communicate(timeout=10)

    def ask(self) -> Any:
        """Return what the server says it has seen."""
        assert self._process.stdin is not None
        self._process.stdin.write("\n")
        return self._read_line()

    def _read_line(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())


async def serve(server: asyncio.Server, describe: Callable[[], Any]) -> None:
    """Run *server* until the process that started this one closes the pipe, or dies.

    Args:
        server: It listens on 127.0.0.1.
        describe: Returns what it has seen, for `Program.ask`.
    """
    print(server.sockets[0].getsockname()[1], flush=True)
    questions = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(questions), sys.stdin
    )
    while await questions.readline():
        print(json.dumps(describe()), flush=True)
    server.close()
