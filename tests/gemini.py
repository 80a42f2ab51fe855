"""A server on this machine that takes the functions of a request as Gemini does.

What a schema may have is documented at https://ai.google.dev/api/caching#Schema. Any
other field is an error of the API: ``Unknown name``.
"""

from __future__ import annotations
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.server import Received, Server, http

FIELDS = set(
    "type format title description nullable enum maxItems minItems properties required "
    "minProperties maxProperties minLength maxLength pattern example anyOf "
    "propertyOrdering default items minimum maximum".split()
)
TYPES = set("STRING NUMBER INTEGER BOOLEAN ARRAY OBJECT".split())
_ANSWER = {
    "candidates": [
        {
            "content": {"role": "model", "parts": [{"text": "Kelp."}]},
            "finishReason": "STOP",
        }
    ]
}


def find_problems(schema: dict[str, Any], where: str = "parameters") -> Iterator[str]:
    """Yield what Gemini refuses in a schema, at all depths."""
    for field in schema:
        # the API takes both spellings, as all JSON forms of protocol buffers do
        first, *others = field.split("_")
        if first + "".join(map(str.capitalize, others)) not in FIELDS:
            yield f"{where}: unknown name {field}"
    kind = schema.get("type")
    if kind not in TYPES:
        yield f"{where}: no type of the API: {kind}"
    if kind == "ARRAY" and "items" not in schema:
        yield f"{where}: an array needs items"
    if "enum" in schema and kind != "STRING":
        yield f"{where}: only texts have an enum"
    properties = schema.get("properties", {})
    for name in sorted(set(schema.get("required", ())) - set(properties)):
        yield f"{where}: required, and no property: {name}"
    for name, inner in properties.items():
        yield from find_problems(inner, f"{where}.{name}")
    if "items" in schema:
        yield from find_problems(schema["items"], f"{where}.items")


@contextmanager
def serve_gemini() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the URL of the server, and the requests that it has answered."""
    requests: list[dict[str, Any]] = []

    def reply(request: Received) -> bytes:
        requests.append(json.loads(request[2]))
        return http(_ANSWER)

    with Server(reply=reply) as server:
        yield server.url, requests


def declared_functions(request: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the parameters of each function in a request, by its name."""
    declarations = [
        function
        for tool in request["tools"]
        for function in tool["functionDeclarations"]
    ]
    return {function["name"]: function["parameters"] for function in declarations}
