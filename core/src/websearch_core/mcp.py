"""The tools as a server of the Model Context Protocol (MCP):
https://modelcontextprotocol.io/specification/2026-07-28.

The command ``websearch mcp`` runs it. It needs ``pip install 'websearch-core[mcp]'``:
the official SDK, 1.30 or 2.
"""

from __future__ import annotations
import asyncio
import hmac
import secrets
from contextlib import nullcontext
from hashlib import blake2b
from importlib import import_module, metadata
from typing import Any

from .errors import ConfigurationError, InvalidOption
from .events import Event, listen
from .tools import DESCRIPTIONS, Output, PageArguments, Run, WebTools, as_error

__all__ = ["make_server"]

_HINTS = {
    "readOnlyHint": True,
    "destructiveHint": False,
    "idempotentHint": True,
    "openWorldHint": True,
}
_HANDLE = (
    "Leave it out at first; then the one that the first result names, so that pages "
    "keep their numbers."
)
_BEGUN = (
    "This is conversation {}: pass it as `conversation` in further calls, and pages "
    "keep their numbers."
)
_TEXT = {"type": "string"}
_ANSWER: dict[str, Any] = {"type": "object", "required": ["status", "text", "sources"], "properties": {
    "status": {"enum": ["success", "error"]}, "text": _TEXT, "conversation": _TEXT,
    "code": _TEXT,
    "sources": {"type": "array", "items": {"type": "object"}},
    "retry_after": {"type": "number"},
}}  # fmt: skip


def make_server(tools: WebTools) -> Any:
    """Return an ``mcp.server.lowlevel.Server`` with ``web_search`` and ``open_page``,
    for any of the SDK's transports.

    Each takes one argument more, ``conversation``, which the first result names. Calls
    that pass it share numbers of pages, ``max_uses``, and with ``provenance`` what may
    be opened; a call without it begins another. It ends with the server, and belongs to
    the user whom the transport has authenticated. A budget charges that user as its
    tenant.

    Raises:
        ConfigurationError: The package ``mcp`` is not installed, or the tools have a
            format that MCP does not have.
    """
    try:
        sdk, types = import_module("mcp.server.lowlevel"), import_module("mcp.types")
    except ImportError as error:
        raise ConfigurationError(
            "MCP needs: pip install 'websearch-core[mcp]'"
        ) from error
    if tools.output_format == "search_result":
        raise ConfigurationError("output_format: MCP has text, markdown and json")
    listed = (calls := _Calls(tools, types)).describe()

    async def list_tools(*_: Any) -> Any:
        return listed

    server: Any = sdk.Server("websearch", version=metadata.version("websearch-core"))
    if hasattr(server, "call_tool"):  # 1.x
        server.list_tools()(list_tools)
        server.call_tool(validate_input=False)(
            lambda *asked: calls.answer(server.request_context, *asked)
        )
    else:
        server.add_request_handler(
            "tools/list", types.PaginatedRequestParams, list_tools
        )
        call = (
            types.CallToolRequestParams,
            lambda context, asked: calls.answer(context, asked.name, asked.arguments),
        )
        server.add_request_handler("tools/call", *call)
        server.get_tool_input_schema = {
            tool.name: tool.input_schema for tool in listed.tools
        }.get
    return server


class _Calls:
    """Lists the tools and answers calls in the form of the wire, of which both lines of
    the SDK make their types.
    """

    def __init__(self, tools: WebTools, types: Any) -> None:
        self._tools, self._types = tools, types
        self._secret = secrets.token_bytes(32)

    def describe(self) -> Any:
        tools: list[dict[str, Any]] = []
        schemas = (
            self._tools.search_arguments().model_json_schema(),
            PageArguments.model_json_schema(),
        )
        for name, schema in zip(DESCRIPTIONS, schemas, strict=True):
            schema["properties"]["conversation"] = {**_TEXT, "description": _HANDLE}
            about = {
                "name": name,
                "title": name.replace("_", " ").capitalize(),
                "description": DESCRIPTIONS[name],
            }
            tools.append(
                {
                    **about,
                    "inputSchema": schema,
                    "outputSchema": _ANSWER,
                    "annotations": _HINTS,
                }
            )
        return self._types.ListToolsResult.model_validate(
            {"tools": tools, "ttlMs": 86_400_000, "cacheScope": "public"}
        )

    async def answer(self, context: Any, name: str, arguments: Any) -> Any:
        """Answer a call, also if it fails: the SDK would show a text of its own."""
        meta, sends = context.meta, list[asyncio.Task[None]]()
        token = (
            meta.get("progress_token")
            if isinstance(meta, dict)
            else getattr(meta, "progressToken", None)
        )

        def report(event: Event) -> None:
            if provider := getattr(event, "provider", ""):
                facts = (
                    token,
                    len(sends) + 1,
                    None,
                    f"{provider}: {event.name.replace('_', ' ')}",
                )
                send = context.session.send_progress_notification(
                    *facts, str(context.request_id)
                )
                sends.append(asyncio.create_task(send))

        given, handle = dict(arguments or {}), None
        asked = (
            str(given.pop("conversation", None) or "")
            .encode("ascii", "replace")
            .decode()
        )
        tool = self._tools.asearch if name == "web_search" else self._tools.aopen_page
        try:
            handle, run = self._begin(name, asked, context.request)
            with nullcontext() if token is None else listen(report):
                output = await tool(given, run)
        except Exception as error:  # noqa: BLE001 - a bug is logged, and its text may quote a key
            output = Output.of_error(
                as_error(error, name[:50]), self._tools.output_format
            )
        if sends:  # nothing may follow the result; the client may have gone
            await asyncio.gather(*sends, return_exceptions=True)
        facts = {**output.artifact, "text": output.content, "conversation": handle}
        texts = [
            output.content,
            *([] if asked or facts["status"] == "error" else [_BEGUN.format(handle)]),
        ]
        # dicts are tried as every kind
        parts = [self._types.TextContent(type="text", text=text) for text in texts]
        known = {
            name: facts[name]
            for name in _ANSWER["properties"]
            if facts.get(name) is not None
        }
        return self._types.CallToolResult(
            content=parts, isError=facts["status"] == "error", structuredContent=known
        )

    def _begin(self, name: str, asked: str, request: Any) -> tuple[str, Run]:
        """Return the conversation of a call. It is signed: nobody can make one up, or
        continue another user's.
        """
        if name not in DESCRIPTIONS:
            raise InvalidOption(
                f"there is no such tool; there are {' and '.join(DESCRIPTIONS)}"
            )
        login = getattr(request and request.scope.get("user"), "access_token", None)
        user = (
            [login.client_id, (login.claims or {}).get("iss"), login.subject]
            if login
            else [None]
        )
        number = asked[:12] or secrets.token_hex(6)
        handle = (
            number
            + blake2b(
                f"{number} {user}".encode(), key=self._secret, digest_size=8
            ).hexdigest()
        )
        if asked and not hmac.compare_digest(handle, asked):
            raise InvalidOption(
                "conversation: not one that a result named; leave it out to begin "
                "another"
            )
        run = (*user, handle)
        return handle, Run(
            name=run, conversation=run, tenant=str(user) if any(user[1:]) else user[0]
        )
