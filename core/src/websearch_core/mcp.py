"""The tools as a server of the Model Context Protocol (MCP), for hosts such as Claude, VS Code and Cursor.

The command ``websearch mcp`` runs it, and ``make_server(WebTools(provider="brave"))`` makes one for a program of yours.
It needs ``pip install 'websearch-core[mcp]'``: https://github.com/modelcontextprotocol/python-sdk, 1.30 or 2. It serves
the specifications of 2025 and, with an SDK 2, the stateless one of 2026-07-28.
"""

from __future__ import annotations
import asyncio
import hmac
import json
import secrets
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from importlib import import_module, metadata
from typing import TYPE_CHECKING, Any, cast

from .errors import ConfigurationError, InvalidOption
from .events import Event, listen
from .tools import DESCRIPTIONS, Output, PageArguments, Run, WebTools, as_error

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server

__all__ = ["make_server"]

_HINTS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True}
_HANDLE = "Leave it out at first; then the one that the first result names, so that pages keep their numbers."
_BEGUN = "This is conversation {}: pass it as `conversation` in further calls, and pages keep their numbers."
_TEXT = {"type": "string"}
_SOURCE = {"type": "object", "properties": {"id": {"type": "integer"}, "title": _TEXT, "url": _TEXT}}
_FACTS = {
    "status": {"enum": ["success", "error"]}, "text": _TEXT, "sources": {"type": "array", "items": _SOURCE},
    "conversation": _TEXT, "code": _TEXT, "retry_after": {"type": "number"},
}  # fmt: skip
_ANSWER = {"type": "object", "properties": _FACTS, "required": ["status", "text", "sources"]}


def make_server(tools: WebTools) -> Server[Any]:
    """Return an MCP server with ``web_search`` and ``open_page``, for any transport of the SDK.

    They do what they do in every framework, and take one argument more, ``conversation``, which the first result names.
    Calls that pass it share numbers of pages, ``max_uses``, and with ``provenance`` what may be opened; a call without
    it begins another. It ends with the server, and belongs to the user whom the transport has authenticated. A budget
    charges that user as its tenant.

    Raises:
        ConfigurationError: The package ``mcp`` is not installed, or the tools have a format that MCP does not have.
    """
    try:
        sdk, types = import_module("mcp.server.lowlevel"), import_module("mcp.types")
    except ImportError as error:
        raise ConfigurationError("MCP needs: pip install 'websearch-core[mcp]'") from error
    if tools.output_format == "search_result":
        raise ConfigurationError("output_format: MCP has text, markdown and json")
    calls = _Calls(tools)
    listed = types.ListToolsResult.model_validate({"tools": [*calls.describe()]})

    async def list_tools(*_: Any) -> Any:
        return listed

    async def call_tool(context: Any, name: str, arguments: Any) -> Any:
        return types.CallToolResult.model_validate(await calls.answer(context, name, dict(arguments or {})))

    server: Any
    about: dict[str, Any] = {"name": "websearch", "version": metadata.version("websearch-core")}
    if hasattr(sdk.Server, "call_tool"):  # 1.x
        server = sdk.Server(**about)
        server.list_tools()(list_tools)
        server.call_tool(validate_input=False)(lambda *asked: call_tool(server.request_context, *asked))
    else:
        about["on_call_tool"] = lambda context, asked: call_tool(context, asked.name, asked.arguments)
        a_day = import_module("mcp.server.caching").CacheHint(ttl_ms=86_400_000, scope="public")
        server = sdk.Server(**about, on_list_tools=list_tools, cache_hints={"tools/list": a_day})
        server.get_tool_input_schema = {tool.name: tool.input_schema for tool in listed.tools}.get
    return cast("Server[Any]", server)


class _Calls:
    """Lists the tools and answers calls in the form of the wire, which both lines of the SDK understand."""

    def __init__(self, tools: WebTools) -> None:
        self._tools = tools
        self._secret = secrets.token_bytes(32)

    def describe(self) -> Iterator[dict[str, Any]]:
        schemas = self._tools.search_arguments().model_json_schema(), PageArguments.model_json_schema()
        for name, schema in zip(DESCRIPTIONS, schemas, strict=True):
            schema["properties"]["conversation"] = {**_TEXT, "description": _HANDLE}
            about = {"name": name, "title": name.replace("_", " ").capitalize(), "description": DESCRIPTIONS[name]}
            yield {**about, "inputSchema": schema, "outputSchema": _ANSWER, "annotations": _HINTS}

    async def answer(self, context: Any, name: str, given: dict[str, Any]) -> dict[str, Any]:
        """Answer a call, with progress if the client asked for it."""
        meta = context.meta or {}
        token = meta.get("progress_token") if isinstance(meta, Mapping) else meta.progressToken
        login = getattr(context.request and context.request.scope.get("user"), "access_token", None)
        user = [login.client_id, (login.claims or {}).get("iss"), login.subject] if login else [None]
        sends: list[asyncio.Task[None]] = []

        def report(event: Event) -> None:
            if provider := getattr(event, "provider", ""):
                facts = len(sends) + 1, None, f"{provider}: {event.name.replace('_', ' ')}", str(context.request_id)
                sends.append(asyncio.create_task(context.session.send_progress_notification(token, *facts)))

        try:
            with nullcontext() if token is None else listen(report):
                answer = await self._answer(user, name, given)
            await asyncio.gather(*sends)
            return answer
        finally:
            for one in sends:
                one.cancel()

    async def _answer(self, user: list[str | None], name: str, given: dict[str, Any]) -> dict[str, Any]:
        """Answer a call. An error is an answer, too: the SDK would show its own text."""
        asked, handle = str(given.pop("conversation", None) or ""), None
        tool = self._tools.asearch if name == "web_search" else self._tools.aopen_page
        try:
            handle, run = self._begin(name, asked, user)
            output = await tool(given, run)
        except Exception as error:  # noqa: BLE001 - a bug is logged, and its text may quote a key
            output = Output.of_error(as_error(error, name[:50]), self._tools.output_format)
        facts = {fact: output.artifact.get(fact) for fact in ("status", "sources", "code", "retry_after")}
        facts |= {"text": output.content, "conversation": handle}
        is_error = facts["status"] == "error"
        texts = [output.content, *([] if asked or is_error else [_BEGUN.format(handle)])]
        return {
            "content": [{"type": "text", "text": text} for text in texts],
            "structuredContent": {fact: value for fact, value in facts.items() if value is not None},
            "isError": is_error,
        }

    def _begin(self, name: str, asked: str, user: list[str | None]) -> tuple[str, Run]:
        """Return the conversation of a call. It is signed: nobody can make one up, or continue another user's."""
        if name not in DESCRIPTIONS:
            raise InvalidOption(f"there is no such tool; there are {' and '.join(DESCRIPTIONS)}")
        number = asked[:12] or secrets.token_hex(6)
        handle = number + hmac.new(self._secret, json.dumps([number, user]).encode(), "sha256").hexdigest()[:16]
        if asked and not hmac.compare_digest(handle.encode(errors="replace"), asked.encode(errors="replace")):
            raise InvalidOption("conversation: not one that a result named; leave it out to begin another")
        tenant = json.dumps(user) if any(user[1:]) else user[0]
        return handle, Run(name=(*user, handle), conversation=(*user, handle), tenant=tenant)
