"""Every block of Python in the README files and in docs/, and the new side of every pair
of docs/for-coding-agents.md, has types that mypy and pyright accept: `make docs-types`.

Each is the body of a function in a module of its own, so that it may have ``await``.
"""

from __future__ import annotations
import json
import re
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from docs.generators.pairs import PAIRS

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    ROOT / "README.md",
    *sorted(ROOT.glob("docs/*.md")),
    *sorted(ROOT.glob("docs/start/*.md")),
    *sorted(ROOT.glob("*/README.md")),
]
# What a reader has already, and a block or a pair only names.
GIVEN = """\
from __future__ import annotations
import asyncio
from collections.abc import Callable
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langgraph.checkpoint.base import BaseCheckpointSaver
from llama_index.core.llms.function_calling import FunctionCallingLLM

model: BaseChatModel
llm: FunctionCallingLLM
checkpointer: BaseCheckpointSaver[str]
answer: Callable[[str], str]
question: str
q: str
url: str
key: str
site: str
searx: str
urls: list[str]


async def main() -> None:
"""
# Off is what a reader's own code decides, and what other packages leave open.
PYRIGHT = {
    "typeCheckingMode": "standard",
    "deprecateTypingAliases": False,
    "reportDeprecated": False,
    "reportMissingImports": False,
    "reportPrivateImportUsage": False,
}


def find_code() -> dict[str, str]:
    """Return the code by the name of its module: of a page and a number."""
    code: dict[str, str] = {}
    for page in PAGES:
        text = page.read_text("utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
        name = re.sub(r"\W", "_", str(page.relative_to(ROOT).with_suffix("")))
        for number, block in enumerate(blocks, 1):
            code[f"{name}_{number}"] = block
    for number, pair in enumerate(PAIRS, 1):
        lines = [*pair.imports(), pair.now]
        code[f"pair_{number}"] = "\n".join(lines)
    return code


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("blocks")
    for name, block in find_code().items():
        future = "from __future__ import annotations\n"
        body = indent(block.replace(future, ""), "    ")
        (folder / f"{name}.py").write_text(f"{GIVEN}{body}\n", "utf-8")
    (folder / "pyrightconfig.json").write_text(json.dumps(PYRIGHT))
    return folder


def run(folder: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True
    )
    return done.stdout + done.stderr


def test_mypy_accepts_every_block_and_pair(folder: Path) -> None:
    output = run(
        folder,
        "mypy",
        "--config-file=",
        "--check-untyped-defs",
        "--ignore-missing-imports",
        "--hide-error-context",
        ".",
    )
    problems = [line for line in output.splitlines() if ": error:" in line]

    assert problems == []
    assert "Success: no issues found in" in output


def test_pyright_accepts_every_block_and_pair(folder: Path) -> None:
    output = run(folder, "pyright", "--pythonpath", sys.executable)
    problems = [line for line in output.splitlines() if " - error:" in line]

    assert problems == []
    assert "0 errors" in output
