"""docs/changing/architecture.md shows the rooms as they are, and a call as it happens."""

from __future__ import annotations
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

import websearch_core
from langchain_websearch import WebSearchTool
from tests.profiling import profiled
from tests.server import Server, http
from websearch_core.providers import SearXNG

pytestmark = pytest.mark.repository
ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/changing/architecture.md").read_text("utf-8")
DECISION = (ROOT / "docs/decisions/0043-the-root-has-only-doors.md").read_text("utf-8")
CORE = Path(websearch_core.__file__).parent


def test_the_table_has_every_room_in_the_order_of_the_floors():
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"][
        "importlinter"
    ]["contracts"]
    (floors,) = [one["layers"] for one in contracts if one["type"] == "layers"]
    floor_of = {
        room: n for n, floor in enumerate(floors) for room in floor.split(" | ")
    }
    rooms = re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)

    assert sorted(rooms) == sorted(floor_of)
    assert [floor_of[room] for room in rooms] == sorted(
        floor_of[room] for room in rooms
    )
    assert f"the order in {len(floors)} floors" in DECISION
    modules = {
        path.stem
        for path in CORE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert modules - {"__init__"} == set(rooms)


# What providers may import, which the page says too.
GROUND = {"errors", "flow", "models", "provider"}


def test_the_contract_of_providers_names_every_room_but_their_ground():
    manifest = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = manifest["tool"]["importlinter"]["contracts"]
    (forbidden,) = [
        contract["forbidden_modules"]
        for contract in contracts
        if contract["name"].startswith("Built-in providers stand on the kit")
    ]
    rooms = {
        name.removeprefix("websearch_core.")
        for name in forbidden
        if not name.endswith(".*")
    }
    others = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE)) - GROUND

    assert rooms == others - {"__main__", "providers"}


@pytest.mark.enable_socket
def test_a_call_passes_the_steps_in_order():
    server = Server(
        [
            http(
                {
                    "query": "kelp",
                    "results": [{"url": "https://a.example/", "title": "Kelp"}],
                }
            )
        ]
    )
    tool = WebSearchTool(provider=SearXNG(base_url=server.url))
    steps = re.findall(r"^\d+\. `([\w/.]+)`, `([\w.]+)`", PAGE, re.MULTILINE)
    entered = record_calls(lambda: tool.invoke("kelp"))
    server.close()

    assert len(steps) >= 10
    assert [step for step in dict.fromkeys(entered) if step in steps] == steps


def record_calls(call: Callable[[], object]) -> list[tuple[str, str]]:
    """Return the file and name of each function of the project that *call* enters."""
    entered: list[tuple[str, str]] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        path = frame.f_code.co_filename
        if event == "call" and (
            found := re.search(
                r".*(?:websearch_core/|/(?=langchain_websearch/))([\w/]+\.py)$", path
            )
        ):
            entered.append((found[1], frame.f_code.co_qualname))

    with profiled(note):
        call()
    return entered
