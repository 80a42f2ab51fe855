"""A server on this machine that takes the functions of a request as Gemini does.

What a schema may have is documented at https://ai.google.dev/api/caching#Schema. Any
other field is an error of the API: ``Unknown name``.
"""

from __future__ import annotations
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

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


class _Handler(BaseHTTPRequestHandler):
    requests: list[dict[str, Any]]

    def log_message(self, *_: Any) -> None:
        """Do not log."""

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.requests.append(json.loads(self.rfile.read(size)))
        body = json.dumps(_ANSWER).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def serve_gemini() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the URL of the server, and the requests that it has answered."""
    requests: list[dict[str, Any]] = []
    handler = type("Handler", (_Handler,), {"requests": requests})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", requests
    finally:
        server.shutdown()
        server.server_close()


def declared_functions(request: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the parameters of each function in a request, by its name."""
    declarations = [
        function
        for tool in request["tools"]
        for function in tool["functionDeclarations"]
    ]
    return {function["name"]: function["parameters"] for function in declarations}
