"""Let a provider search with the responses of its cassette, or with any response,
without a network.
"""

from __future__ import annotations
from collections.abc import Callable
from typing import Any

import httpx

from tests.cassettes import tape as tapes
from websearch_core import Http
from websearch_core.providers import known


def find_searchers() -> list[str]:
    """Return the names of all providers with a cassette of a search; a new one needs no
    line anywhere.
    """
    return [name for name in known() if (tapes.FOLDER / name / "search.yaml").exists()]


def arguments(
    tape: tapes.Tape, reply: Callable[[httpx.Request], httpx.Response] | None = None
) -> dict[str, Any]:
    """
    Return the arguments of a `WebSearch` that gets its responses from *tape*.

    Args:
        tape: The cassette.
        reply: Gives the responses instead.

    """
    respond = reply or (lambda request: _respond(tape, request))
    return {
        **tapes.read_arguments(tape),
        "retry": 1,
        "http": Http(
            client=httpx.Client(transport=httpx.MockTransport(respond)),
            async_client=httpx.AsyncClient(transport=httpx.MockTransport(respond)),
        ),
    }


def query(tape: tapes.Tape) -> tuple[str, dict[str, Any], int]:
    """Return the query of *tape*, its other options, and its limit."""
    text, options = tape["search"]
    return (
        text,
        {name: value for name, value in options.items() if name != "limit"},
        options.get("limit", 5),
    )


def _respond(tape: tapes.Tape, request: httpx.Request) -> httpx.Response:
    """Return the response to the same request, or else (other limits make other
    requests) the first one.
    """
    sent = request.content.decode("utf-8", "replace")
    exchanges = tape["interactions"]
    same = [
        one for one in exchanges if str(httpx.URL(one["request"]["uri"])) == str(request.url)
        and (one["request"]["body"] or "") == sent
    ]  # fmt: skip
    response = tapes.responses({**tape, "interactions": same or exchanges})[0]
    headers = {
        name: value
        for name, value in response.headers.items()
        if name != "content-encoding"
    }
    return httpx.Response(response.status, headers=headers, content=response.content)
