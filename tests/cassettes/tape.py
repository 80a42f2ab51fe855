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
from pathlib import Path
from typing import Any

import yaml

from websearch_core import Page, SearchResponse, WebSearch, WebSearchError
from websearch_core.flow import Response
from websearch_core.providers import provider_class
from websearch_core.settings import Settings

FOLDER = Path(__file__).resolve().parents[2] / "cassettes"
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


def call(tape: Tape, *, keyless: bool = False, concurrent: bool = False) -> Outcome:
    """Make the call of *tape*.

    Args:
        tape: The cassette.
        keyless: Leave out the key on the cassette, which is not a real one: the
            environment has that.
        concurrent: Use the asynchronous method.

    """
    options = {
        name: value
        for name, value in read_arguments(tape).items()
        if not (keyless and name == "api_key")
    }
    verb = role(tape)
    argument, more = tape[verb]
    web = WebSearch(**options, retry=1)
    try:
        if concurrent:
            outcome: Outcome = asyncio.run(getattr(web, f"a{verb}")(argument, **more))
        else:
            with web:
                outcome = getattr(web, verb)(argument, **more)
    except WebSearchError as error:
        return error
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
