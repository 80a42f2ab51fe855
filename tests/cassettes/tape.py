"""Cassettes: ``cassettes/PROVIDER/SCENARIO.yaml``.

A provider that searches has ``search.yaml``, with results, and ``nothing.yaml``,
without; one that reads has ``read.yaml``. The contract takes the replies of the service
from these. Names of other scenarios are free. Another server that speaks the same
protocol has a folder of its own: ``cassettes/searxng/searx/``.

The first line says how a cassette was made. Then come the call (``web``, ``search`` or
``read``), what has to come of it (``expect``) and the exchanges, in the format of vcrpy
(``interactions``).
"""

from __future__ import annotations
import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from websearch_core import Page, SearchResponse, WebSearch, WebSearchError
from websearch_core.flow import Response
from websearch_core.providers import provider_class
from websearch_core.settings import Settings

FOLDER = Path(__file__).resolve().parents[2] / "cassettes"
# The clock of calls and replays: a period such as a month is sent as dates.
NOW = datetime(2026, 11, 1, tzinfo=UTC)
# where services take the key in the URL; no cassette has them
SECRET_PARAMETERS = ["api_key", "key"]

SCENARIOS = {"search": ("search", "nothing"), "read": ("read",)}
_CALLS = {
    "search": "a search that finds something",
    "nothing": "a search that finds nothing",
    "read": "a page read",
}

Tape = dict[str, Any]
Outcome = SearchResponse | Page | WebSearchError


class MissingTape(LookupError):
    """A provider lacks a cassette; the message says what to write."""


def find_tapes(folder: str = "*") -> list[Path]:
    """Return the paths of all cassettes, or of those in *folder*: ``searxng``, or
    ``searxng/searx``.
    """
    return sorted(FOLDER.glob("**/*.yaml" if folder == "*" else f"{folder}/*.yaml"))


def name_of(path: Path) -> str:
    """Return the name of the cassette at *path*: ``brave/search``."""
    return path.relative_to(FOLDER).with_suffix("").as_posix()


def find(provider: str, scenario: str) -> Tape:
    """
    Return the cassette of a *scenario* of *provider*.

    Raises:
        MissingTape: There is none.

    """
    path = FOLDER / provider / f"{scenario}.yaml"
    if not path.exists():
        raise MissingTape(
            f"write cassettes/{provider}/{scenario}.yaml: {_CALLS[scenario]}, what is expected of it, and the exchange; "
            "see 'The cassettes' in CONTRIBUTING.md"
        )
    return load(path)


def load(path: Path) -> Tape:
    """Return what the cassette at *path* says."""
    tape: Tape = yaml.load(path.read_text("utf-8"), yaml.CSafeLoader)
    return tape


def why_not_recorded(folder: str) -> str:
    """Return why the service of the cassettes in *folder* may not be recorded; empty if
    it may.
    """
    return str(
        getattr(provider_class(folder.partition("/")[0]), "terms_forbid_recording", "")
    )


def options(tape: Tape, provider: str) -> dict[str, Any]:
    """Return the options that *tape* has for the constructor of *provider*, without its
    key.
    """
    web = tape["web"]
    at = {"base_url": web["base_url"]} if "base_url" in web else {}
    return {**at, **web.get("providers", {}).get(provider, {})}


def read_arguments(tape: Tape) -> dict[str, Any]:
    """Return the arguments of the `WebSearch` of *tape*."""
    web = dict(tape["web"])
    providers = web.pop("providers", None)
    return {**web, "settings": Settings.load(providers=providers)} if providers else web


def responses(tape: Tape) -> list[Response]:
    """Return the responses on *tape*, as a provider gets them."""
    return [
        Response(
            status=response["status"]["code"],
            headers={
                name.lower(): values[0] for name, values in response["headers"].items()
            },
            content=body.encode()
            if isinstance(body := response["body"]["string"], str)
            else body,
        )
        for response in (exchange["response"] for exchange in tape["interactions"])
    ]


def role(tape: Tape) -> str:
    """Return what the call of *tape* is: ``search`` or ``read``."""
    return "search" if "search" in tape else "read"


def call(tape: Tape, *, concurrent: bool = False, **more: Any) -> Outcome:
    """Make the call of *tape*.

    Args:
        tape: The cassette.
        concurrent: Use the asynchronous method.
        more: Further arguments of `WebSearch`.

    """
    verb = role(tape)
    argument, options = tape[verb]
    try:
        web = WebSearch(**read_arguments(tape), retry=1, **more)
        if concurrent:
            return asyncio.run(_call_async(web, verb, argument, options))
        with web:
            outcome: Outcome = getattr(web, verb)(argument, **options)
    except WebSearchError as error:
        return error
    return outcome


async def _call_async(
    web: WebSearch, verb: str, argument: str, options: dict[str, Any]
) -> Outcome:
    outcome: Outcome = await getattr(web, f"a{verb}")(argument, **options)
    return outcome


def facts(outcome: Outcome) -> dict[str, Any]:
    """Return what a cassette can expect of *outcome*."""
    if isinstance(outcome, WebSearchError):
        more = {
            name: getattr(outcome, name, None) for name in ("detail", "retry_after")
        }
        known = {name: value for name, value in more.items() if value is not None}
        return {"error": outcome.code, "message": str(outcome), **known}
    return outcome.model_dump(mode="json")


def find_mismatch(expected: Any, value: Any, where: str = "") -> str:
    """Return where *value* is not what a cassette expects; empty if nowhere. An
    expected text only has to be a part of the text.
    """
    if isinstance(expected, dict):
        for name, inner in expected.items():
            if name not in value:
                return f"{where}.{name}: missing in {value}"
            mismatch = find_mismatch(inner, value[name], f"{where}.{name}")
            if mismatch:
                return mismatch
        return ""
    if isinstance(expected, list):
        if len(expected) != len(value):
            return f"{where}: {len(value)} instead of {len(expected)}"
        for number, inner in enumerate(expected):
            mismatch = find_mismatch(inner, value[number], f"{where}[{number}]")
            if mismatch:
                return mismatch
        return ""
    if isinstance(expected, str) and isinstance(value, str):
        return "" if expected in value else f"{where}: {expected!r} is not in {value!r}"
    return "" if expected == value else f"{where}: {value!r} instead of {expected!r}"
