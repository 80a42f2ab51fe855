"""Nothing blocks an event loop: neither making the classes in one, nor their first
use.

Each program runs in a new interpreter, where nothing was imported, read or looked up
before. blockbuster raises an error for each blocking call in the loop: reading files,
waiting for locks, sockets.
"""

from __future__ import annotations
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent
ROOT = PROGRAMS.parents[1]


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    "program", ["agents", "core", "langchain", "llamaindex", "providers"]
)
def test_nothing_blocks_an_event_loop(program, tmp_path):
    (tmp_path / "websearch.toml").write_text('reader = "direct"\n')
    # -u, because blockbuster 1.5.29 crashes an interpreter that flushes a buffered stdout when it exits
    command = [sys.executable, "-u", PROGRAMS / f"{program}.py"]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},  # for tests/server.py
        capture_output=True,
        text=True,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr


def test_a_loop_uses_the_settings_files_as_they_were_before_it_ran(tmp_path):
    program = (
        "import asyncio, pathlib, websearch_core as core\n"
        "async def limit(): return core.WebSearch('brave', api_key='SECRET').settings.read_options['max_length']\n"
        "file = pathlib.Path('websearch.toml')\n"
        "before = asyncio.run(limit())\n"
        "file.write_text('[read_options]\\nmax_length = 200')\n"
        "inside = asyncio.run(limit())\n"
        "outside = core.WebSearch('brave', api_key='SECRET').settings.read_options['max_length']\n"
        "print(before, inside, outside, asyncio.run(limit()))\n"
    )
    (tmp_path / "websearch.toml").write_text("[read_options]\nmax_length = 100")
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
    )

    assert done.stdout.split() == ["100", "100", "200", "200"], done.stderr


def test_a_broken_settings_file_is_no_error_of_the_import(tmp_path):
    program = (
        "import asyncio, websearch_core as core\n"
        "async def make(): core.WebSearch('brave', api_key='SECRET')\n"
        "try: asyncio.run(make())\n"
        "except core.WebSearchError as error: print(error.code)\n"
    )
    (tmp_path / "websearch.toml").write_text("max_length =")
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=200,
    )

    assert done.stdout == "configuration\n", done.stderr
