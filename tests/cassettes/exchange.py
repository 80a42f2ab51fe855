"""Make the call of a cassette: for real, with a recorder, or against its exchanges.

Nothing is written. What is recorded stays in memory, without keys.
"""

from __future__ import annotations
import copy
from collections.abc import Mapping
from typing import Any
from unittest.mock import patch

import vcr  # type: ignore[import-untyped]
import yaml
from vcr.persisters.filesystem import (  # type: ignore[import-untyped]
    CassetteNotFoundError,
)
from vcr.serialize import deserialize, serialize  # type: ignore[import-untyped]

from tests.cassettes import tape as tapes
from tests.cassettes.keys import Keys
from websearch_core._net.targets import Targets
from websearch_core.testing import stop_clock
from websearch_core.testing._cassettes import MATCH_ON, Scrubber

Exchanges = list[dict[str, Any]]


class Text(str):
    """A body that is written as several lines."""

    __slots__ = ()


def _block(dumper: yaml.SafeDumper, text: Text) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(text), style="|")


yaml.SafeDumper.add_representer(Text, _block)


class _Memory:
    """Keeps what vcrpy records and replays, which would otherwise be a file."""

    def __init__(self, exchanges: Exchanges | None = None) -> None:
        self.exchanges = exchanges

    def load_cassette(self, _: object, serializer: object) -> Any:
        """Return the exchanges as objects of vcrpy."""
        if self.exchanges is None:
            raise CassetteNotFoundError
        return deserialize(None, self)

    def save_cassette(self, _: object, exchanges: Any, serializer: object) -> None:
        """Keep objects of vcrpy."""
        self.exchanges = serialize(exchanges, self)

    def serialize(self, data: Any) -> Exchanges:
        """Return the exchanges that vcrpy would write."""
        exchanges: Exchanges = data["interactions"]
        return exchanges

    def deserialize(self, _: object) -> dict[str, Any]:
        """Return what vcrpy would read."""
        return {"version": 1, "interactions": copy.deepcopy(self.exchanges)}


def send(
    tape: tapes.Tape, keys: Keys, **arguments: Any
) -> tuple[tapes.Outcome, Exchanges]:
    """Make the call of *tape* for real, with the key from the environment and more
    *arguments* of `WebSearch`, and return what came of it. The exchanges contain no key.
    """
    memory = _Memory()
    scrubber = Scrubber(keys.long)
    recorder = vcr.VCR(
        record_mode="all",
        decode_compressed_response=True,  # or keys could hide in what is compressed
        before_record_request=scrubber.scrub_request,
        before_record_response=scrubber.scrub_response,
    )
    recorder.register_persister(memory)
    with stop_clock(tapes.NOW), recorder.use_cassette("memory"):
        outcome = tapes.call(tape, cache=False, **arguments)
    exchanges = [_order(exchange) for exchange in memory.exchanges or ()]
    return outcome, keys.remove(exchanges)


def replay(tape: tapes.Tape, *, concurrent: bool = False) -> tapes.Outcome:
    """Make the call of *tape* against its exchanges.

    Raises:
        AssertionError: Some of them were not played.
    """
    # No cassette contains a key, so the headers of a request cannot be matched.
    recorder = vcr.VCR(
        record_mode="none",
        match_on=MATCH_ON,
        filter_query_parameters=tapes.SECRET_PARAMETERS,
    )
    recorder.register_persister(_Memory(tape["interactions"]))
    # The name of a page that your own server is to open would be looked up first.
    with (
        stop_clock(tapes.NOW),
        patch.object(Targets, "judge"),
        patch.object(Targets, "ajudge"),
        recorder.use_cassette("memory") as cassette,
    ):
        outcome = tapes.call(tape, concurrent=concurrent)
    if not cassette.all_played:
        count = f"{cassette.play_count} of {len(cassette)}"
        raise AssertionError(f"{count} exchanges were played")
    return outcome


def move(exchanges: Exchanges, places: Mapping[str, str]) -> Exchanges:
    """Return *exchanges* with other beginnings of their URLs: a cassette says where the
    service is, not the gateway that this environment has.
    """
    moved = copy.deepcopy(exchanges)
    for exchange in moved:
        request = exchange["request"]
        for place, other in places.items():
            if request["uri"].startswith(place):
                request["uri"] = other + request["uri"].removeprefix(place)
                break
    return moved


def _order(exchange: dict[str, Any]) -> dict[str, Any]:
    request = exchange["request"]
    response = exchange["response"]
    body = response["body"]["string"]
    if isinstance(body, str):
        body = Text(body)
    return {
        "request": {
            "body": request["body"] or "",
            "headers": request["headers"],
            "method": request["method"],
            "uri": request["uri"],
        },
        "response": {
            "body": {"string": body},
            "headers": response["headers"],
            "status": response["status"],
        },
    }
