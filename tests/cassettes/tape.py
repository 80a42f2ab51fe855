"""
Cassettes: ``cassettes/PROVIDER/SCENARIO.yaml``.

The first line says how a cassette was made. Then come the call (``web``, ``search`` or ``read``), what has to come of it
(``expect``) and the exchanges, in the format of vcrpy (``interactions``).
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import yaml

from websearch_core import Page, SearchResponse, WebSearch, WebSearchError

FOLDER = Path(__file__).resolve().parents[2] / "cassettes"
REQUEST_HEADERS = {"content-type"}
RESPONSE_HEADERS = {"content-type", "location", "retry-after"} | {
    f"x-ratelimit-{name}" for name in ("limit", "policy", "remaining", "reset")
}  # what we read; no other header is kept

Tape = dict[str, Any]
Outcome = SearchResponse | Page | WebSearchError


def find_tapes(provider: str = "*") -> list[Path]:
    """Return the paths of the cassettes of *provider*, or of all of them."""
    return sorted(FOLDER.glob(f"{provider}/*.yaml"))


def load(path: Path) -> Tape:
    """Return what the cassette at *path* says."""
    tape: Tape = yaml.safe_load(path.read_text("utf-8"))
    return tape


def role(tape: Tape) -> str:
    """Return what the call of *tape* is: ``search`` or ``read``."""
    return "search" if "search" in tape else "read"


def call(tape: Tape, *, keyless: bool = False, concurrent: bool = False) -> Outcome:
    """
    Make the call of *tape*.

    Args:
        tape: The cassette.
        keyless: Leave out the key on the cassette, which is not a real one: the environment has that.
        concurrent: Use the asynchronous method.

    """
    options = {name: value for name, value in tape["web"].items() if not (keyless and name == "api_key")}
    verb = role(tape)
    argument, more = tape[verb]
    web = WebSearch(**options, attempts=1)
    try:
        if concurrent:
            return asyncio.run(getattr(web, f"a{verb}")(argument, **more))
        with web:
            return getattr(web, verb)(argument, **more)
    except WebSearchError as error:
        return error


def facts(outcome: Outcome) -> dict[str, Any]:
    """Return what a cassette can expect of *outcome*."""
    if isinstance(outcome, WebSearchError):
        more = {name: getattr(outcome, name, None) for name in ("detail", "retry_after")}
        known = {name: value for name, value in more.items() if value is not None}
        return {"error": outcome.code, "message": str(outcome), **known}
    return outcome.model_dump(mode="json")
