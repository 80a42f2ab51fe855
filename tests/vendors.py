"""A server on this machine that takes requests to models, and what each vendor refuses
in the tools of a request, by its documentation.
"""

from __future__ import annotations
import json
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import pytest

from tests.server import Received, Server, http

KEY = "SECRET-of-a-test"
# Clients of vendors leave sockets to the garbage collector.
LEAVES_SOCKETS = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
# options of the tools that change their schemas, or might
OPTIONS: list[dict[str, Any]] = [
    {},
    {"multi_query": True},
    {"site_tools": True},
    {"limit": 3, "search_options": {"allowed_domains": ["sea.example"]}},
    {"search_options": {"time_range": "week", "topic": "news", "unsupported": "note"}},
    {"output_format": "json", "max_uses": 3, "provenance": "seen"},
]
_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_MAX_DESCRIPTION = 1024  # characters, of OpenAI
# https://platform.openai.com/docs/guides/structured-outputs#supported-schemas (no
# defaults, no lengths of text) and
# https://platform.claude.com/docs/en/build-with-claude/structured-outputs#json-schema-limitations
# (no bounds either)
_KEYWORDS = frozenset(
    "type properties required additionalProperties description items enum".split()
)
# https://docs.aws.amazon.com/nova/latest/userguide/tool-use-definition.html
_AT_THE_TOP = frozenset({"type", "properties", "required"})
# https://ai.google.dev/api/caching#Schema: any other field is an error of the API
_OF_GEMINI = frozenset(
    "type format title description nullable enum maxItems minItems properties required "
    "minProperties maxProperties minLength maxLength pattern example anyOf "
    "propertyOrdering default items minimum maximum".split()
)
_TYPES = frozenset("string number integer boolean array object".split())


class Function(NamedTuple):
    """A tool as it is in a request."""

    name: str
    description: str
    parameters: dict[str, Any]
    is_strict: bool
    others: dict[str, Any]  # fields of the vendor


class Reply(NamedTuple):
    """What a model answers.

    Args:
        text: Its words.
        calls: The tools that it calls, each with arguments.
        status: That of the HTTP response; its body is then the words.
    """

    text: str = ""
    calls: Sequence[tuple[str, dict[str, Any]]] = ()
    status: int = 200


@contextmanager
def serve_models(
    decide: Callable[[dict[str, Any]], Reply] = lambda _: Reply("Kelp."),
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Yield the URL of the server, and the requests that it has answered; *decide* says
    what the model answers to a request.
    """
    requests: list[dict[str, Any]] = []

    def answer(request: Received) -> bytes:
        requests.append(json.loads(request[2]))
        reply = decide(requests[-1])
        if reply.status != 200:
            error = {"type": "error", "code": reply.status, "message": reply.text}
            return http({"error": error, "message": reply.text}, f"{reply.status} No")
        write = next(_WRITERS[part] for part in _WRITERS if part in request[0])
        return http(write(reply))

    with Server(reply=answer) as server:
        yield server.url, requests


def _write_chat(reply: Reply) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text}
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": f"call{number:05}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for number, (name, arguments) in enumerate(reply.calls)
        ]
    reason = "tool_calls" if reply.calls else "stop"
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }


def _write_anthropic(reply: Reply) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"type": "text", "text": reply.text or "I look."}]
    for number, (name, arguments) in enumerate(reply.calls):
        call = {"id": f"toolu_{number}", "name": name, "input": arguments}
        content.append({"type": "tool_use", **call})
    return {
        "id": "1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": "tool_use" if reply.calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }


def _write_gemini(reply: Reply) -> dict[str, Any]:
    parts: list[dict[str, Any]] = [{"text": reply.text or "I look."}]
    for name, arguments in reply.calls:
        parts.append({"functionCall": {"name": name, "args": arguments}})
    content = {"role": "model", "parts": parts}
    return {"candidates": [{"content": content, "finishReason": "STOP"}]}


def _write_bedrock(reply: Reply) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"text": reply.text or "I look."}]
    for number, (name, arguments) in enumerate(reply.calls):
        call = {"toolUseId": f"tool_{number}", "name": name, "input": arguments}
        content.append({"toolUse": call})
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use" if reply.calls else "end_turn",
        "usage": {"inputTokens": 1, "outputTokens": 1, "totalTokens": 2},
        "metrics": {"latencyMs": 1},
    }


# by a part of the path
_WRITERS = {
    "generateContent": _write_gemini,
    "/messages": _write_anthropic,
    "/converse": _write_bedrock,
    "/chat/completions": _write_chat,
}


def list_functions(request: dict[str, Any]) -> Iterator[Function]:
    """Yield the tools of a request, in whichever form it is."""
    tools = request.get("tools") or request["toolConfig"]["tools"]
    for tool in tools:
        for entry in tool.get("functionDeclarations", [tool]):
            fields = dict(entry.get("function") or entry.get("toolSpec") or entry)
            parameters = (
                fields.pop("parameters", None)
                or fields.pop("input_schema", None)
                or fields.pop("inputSchema")["json"]
            )
            yield Function(
                fields.pop("name"),
                fields.pop("description"),
                parameters,
                fields.pop("strict", None) is True,
                fields,
            )


def find_problems(function: Function, vendor: str) -> Iterator[str]:
    """Yield what a vendor refuses in a tool."""
    if not _NAME.fullmatch(function.name):
        yield "name"
    if not 0 < len(function.description) <= _MAX_DESCRIPTION:
        yield "description"
    if function.parameters.get("type", "").lower() != "object":
        yield "no object"
    if vendor == "bedrock" and not function.is_strict:
        yield from sorted(function.parameters.keys() - _AT_THE_TOP)
    is_strict = function.is_strict
    yield from _check(function.parameters, vendor, is_strict=is_strict, where="")


def _check(
    schema: dict[str, Any], vendor: str, *, is_strict: bool, where: str
) -> Iterator[str]:
    keywords = {_to_camel(keyword) for keyword in schema}
    allowed = _OF_GEMINI if vendor == "gemini" else _KEYWORDS
    for keyword in sorted(keywords - allowed):
        yield f"{where}: {keyword}"
    kind = str(schema.get("type"))
    if kind.lower() not in _TYPES:
        yield f"{where}: no type: {kind}"
    if vendor == "gemini" and not kind.isupper():
        yield f"{where}: no type of the API: {kind}"
    if kind.lower() == "array" and "items" not in schema:
        yield f"{where}: an array needs items"
    if "enum" in schema and kind.lower() != "string":
        yield f"{where}: only texts have an enum"
    properties = schema.get("properties", {})
    required = schema.get("required", [])
    for name in sorted(set(required) - set(properties)):
        yield f"{where}: required, and no property: {name}"
    if is_strict and kind.lower() == "object":
        for name in sorted(set(properties) - set(required)):
            # Anthropic's strict mode allows some optional arguments
            if vendor != "anthropic":
                yield f"{where}: not required: {name}"
        if schema.get("additionalProperties") is not False:
            yield f"{where}: more properties"
    for name, inner in properties.items():
        yield from _check(inner, vendor, is_strict=is_strict, where=f"{where}.{name}")
    if "items" in schema:
        items = schema["items"]
        yield from _check(items, vendor, is_strict=is_strict, where=f"{where}[]")


def _to_camel(word: str) -> str:
    """Return the spelling that the documentation has: Gemini takes both of them."""
    first, *others = word.split("_")
    return first + "".join(map(str.capitalize, others))


def make_model(make: Callable[[str], Any], url: str) -> Any:
    """Return a model that is at *url*; skip the test without the vendor's package."""
    try:
        return make(url)
    except ImportError:
        pytest.skip("the packages of models come with: make test-models")
