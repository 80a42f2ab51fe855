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
from typing import Any, NamedTuple, TypeAlias

from pydantic import Field

from .errors import ConfigurationError, InvalidOption, Unavailable
from .events import Event, listen
from .tools import (
    DESCRIPTIONS,
    Output,
    PageArguments,
    Run,
    SearchArguments,
    SiteArguments,
    WebTools,
    as_error,
)
from .tools._dialects import Notes, Reader

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
_UNKNOWN = (
    "Note: the conversation that you passed is not known here, as after a restart of "
    "the server; open what it found by URL, not by number. "
)
_MISSING = (
    "Note: if an earlier result named a conversation, pass it as `conversation`: this "
    "call began another one, which knows nothing of that."
)
# Errors that a call may have only because it does not name its conversation.
_CODES_WITHOUT_CONVERSATION = {"invalid_option", "unsafe_url"}
# The numbers of pages that a conversation may have had before it was unknown: the one
# that takes its place begins above them.
_NUMBERS_EACH = 1_000
_GENERATIONS = 256
_INSTRUCTIONS = (
    "web_search finds pages on the web, and open_page reads one of them. The first "
    "result names a conversation: pass it as `conversation` in every further call of "
    "both tools; then a page keeps its number, and open_page takes the number."
)
_TEXT = {"type": "string"}
_ANSWER: dict[str, Any] = {
    "type": "object",
    "required": ["status", "sources"],
    "properties": {
        "status": {"enum": ["success", "error"]},
        "conversation": _TEXT,
        "code": _TEXT,
        "sources": {"type": "array", "items": {"type": "object"}},
        "retry_after": {"type": "number"},
    },
}


def make_server(
    tools: WebTools, *, structured: bool = False, site_tools: bool = False
) -> Any:
    """Return an ``mcp.server.lowlevel.Server`` with ``web_search`` and ``open_page``,
    for any of the SDK's transports.

    Each takes one argument more, ``conversation``, which the first result names. Calls
    that pass it share numbers of pages, ``max_uses``, and with ``provenance`` what may
    be opened; a call without it, or with one that is not known, begins another and says
    so. It ends with the server, and belongs to the user whom the transport has
    authenticated. A budget charges that user as its tenant.

    Args:
        tools: The tools to serve.
        structured: Add the facts about a result, without its text, as structured
            content: for clients that show a model the text beside it. Some hosts show
            only structured content if there is any.
        site_tools: Also serve ``list_pages``.

    Raises:
        ConfigurationError: The package ``mcp`` is not installed, or the tools have a
            format that MCP does not have.
    """
    try:
        sdk = import_module("mcp.server.lowlevel")
        types = import_module("mcp.types")
    except ImportError as error:
        raise ConfigurationError(
            "MCP needs: pip install 'websearch-core[mcp]'"
        ) from error
    if tools.output_format == "search_result":
        raise ConfigurationError("output_format: MCP has text, markdown and json")
    calls = _Calls(tools, types, structured=structured, site_tools=site_tools)
    listed = calls.describe()

    async def list_tools(*_: Any) -> Any:
        return listed

    server: Any = sdk.Server(
        "websearch",
        version=metadata.version("websearch-core"),
        instructions=_INSTRUCTIONS,
    )
    server.end_calls = calls.end
    if hasattr(server, "call_tool"):  # 1.x
        server.list_tools()(list_tools)
        server.call_tool(validate_input=False)(
            lambda *call: calls.answer(server.request_context, *call)
        )
    else:
        server.add_request_handler(
            "tools/list", types.PaginatedRequestParams, list_tools
        )
        server.add_request_handler(
            "tools/call",
            types.CallToolRequestParams,
            lambda context, call: calls.answer(context, call.name, call.arguments),
        )
        server.get_tool_input_schema = {
            tool.name: tool.input_schema for tool in listed.tools
        }.get
    return server


class _Conversation(NamedTuple):
    """The conversation of a call."""

    handle: str  # what the model passes
    run: Run
    is_new: bool = False
    is_unknown: bool = False  # the model passed another one


class _Progress:
    """Tells a client that asked for it, with a *token*, what happens in a call."""

    def __init__(self, context: Any, token: Any) -> None:
        self._context = context
        self._token = token
        self._tasks: list[asyncio.Task[None]] = []

    def report(self, event: Event) -> None:
        provider = getattr(event, "provider", "")
        if not provider:
            return
        number = len(self._tasks) + 1
        message = f"{provider}: {event.name.replace('_', ' ')}"
        send = self._context.session.send_progress_notification(
            self._token, number, None, message, str(self._context.request_id)
        )
        self._tasks.append(asyncio.create_task(send))

    async def finish(self) -> None:
        """Wait until all is sent: nothing may follow the result; the client may have
        gone.
        """
        if self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)


def _read_handle(value: Any, _: Notes) -> str:
    """Return a handle in characters that can be compared, whatever was sent."""
    return str(value).encode("ascii", "replace").decode()


_READ_HANDLE: dict[str, Reader] = {"conversation": _read_handle}


class _SearchArguments(SearchArguments):
    """The arguments of ``web_search``, and the conversation."""

    readers = {**SearchArguments.readers, **_READ_HANDLE}  # noqa: RUF012

    conversation: str = Field(default="", description=_HANDLE)


class _PageArguments(PageArguments):
    """The arguments of ``open_page``, and the conversation."""

    readers = {**PageArguments.readers, **_READ_HANDLE}  # noqa: RUF012

    conversation: str = Field(default="", description=_HANDLE)


class _SiteArguments(SiteArguments):
    """The arguments of ``list_pages``, and the conversation."""

    readers = {**SiteArguments.readers, **_READ_HANDLE}  # noqa: RUF012

    conversation: str = Field(default="", description=_HANDLE)


_Arguments: TypeAlias = _SearchArguments | _PageArguments | _SiteArguments


class _Calls:
    """Lists the tools and answers calls in the form of the wire, of which both lines of
    the SDK make their types.
    """

    def __init__(
        self, tools: WebTools, types: Any, *, structured: bool, site_tools: bool
    ) -> None:
        self._tools = tools
        self._types = types
        self._structured = structured
        self._secret = secrets.token_bytes(32)
        self._schemas: dict[str, type[_Arguments]] = {
            "web_search": tools.search_arguments(_SearchArguments),  # type: ignore[dict-item] # one derived from it
            "open_page": _PageArguments,
        }
        if site_tools:
            self._schemas["list_pages"] = _SiteArguments
        self._scopes: set[Any] = set()  # of the calls under way
        self._is_ending = False

    def describe(self) -> Any:
        tools: list[dict[str, Any]] = []
        for name, schema in self._schemas.items():
            about = {
                "name": name,
                "title": name.replace("_", " ").capitalize(),
                "description": DESCRIPTIONS[name],
                "inputSchema": schema.model_json_schema(),
                "annotations": _HINTS,
            }
            if self._structured:
                about["outputSchema"] = _ANSWER
            tools.append(about)
        return self._types.ListToolsResult.model_validate(
            {"tools": tools, "ttlMs": 86_400_000, "cacheScope": "public"}
        )

    def end(self) -> None:
        """Answer the calls under way, and all that still come, with an error."""
        self._is_ending = True
        for scope in self._scopes:
            scope.cancel()

    async def answer(self, context: Any, name: str, sent: Any) -> Any:
        """Answer a call, also if it fails: the SDK would show a text of its own."""
        token = _find_token(context.meta)
        progress = _Progress(context, token)
        conversation: _Conversation | None = None
        try:
            arguments = self._parse(name, sent)
            conversation = self._find_conversation(
                arguments.conversation, context.request
            )
            hears = nullcontext() if token is None else listen(progress.report)
            with hears:
                output = await self._run(arguments, conversation.run)
        # a bug is logged, and its text may quote a key
        except Exception as error:  # noqa: BLE001
            output = Output.of_error(
                as_error(error, name[:50]), self._tools.output_format
            )
        await progress.finish()
        return self._make_result(output, conversation)

    def _parse(self, name: str, sent: Any) -> _Arguments:
        if name not in self._schemas:
            raise InvalidOption(
                f"there is no such tool; there are {' and '.join(self._schemas)}"
            )
        return self._schemas[name].parse(sent or {})

    async def _run(self, arguments: _Arguments, run: Run) -> Output:
        from anyio import CancelScope  # of the SDK

        with CancelScope() as scope:
            self._scopes.add(scope)
            try:
                if not self._is_ending:
                    return await self._call(arguments, run)
            finally:
                self._scopes.discard(scope)
        raise Unavailable("the server is ending; call again when it has started")

    async def _call(self, arguments: _Arguments, run: Run) -> Output:
        if isinstance(arguments, SearchArguments):
            return await self._tools.asearch(arguments, run)
        if isinstance(arguments, SiteArguments):
            return await self._tools.alist_pages(arguments, run)
        return await self._tools.aopen_page(arguments, run)

    def _make_result(self, output: Output, conversation: _Conversation | None) -> Any:
        is_error = output.artifact["status"] == "error"
        texts = [output.content]
        handle = None
        if conversation is not None:
            handle = conversation.handle
            texts += _list_notes(conversation, output.artifact.get("code"))
        known_facts: dict[str, Any] | None = None
        if self._structured:
            facts = {**output.artifact, "conversation": handle}
            known_facts = {
                name: facts[name]
                for name in _ANSWER["properties"]
                if facts.get(name) is not None
            }
        # dicts are tried as every kind
        parts = [self._types.TextContent(type="text", text=text) for text in texts]
        return self._types.CallToolResult(
            content=parts, isError=is_error, structuredContent=known_facts
        )

    def _find_conversation(self, handle: str, request: Any) -> _Conversation:
        """Return the conversation of a call: that of the *handle*, or another. It is
        signed: nobody can make one up, or continue another user's.
        """
        user = _find_user(request)
        if not handle:
            return self._begin(user, 0)
        if hmac.compare_digest(self._sign(handle[:12], user), handle):
            return _Conversation(handle, _make_run(user, handle))
        return self._begin(user, _generation_of(handle) + 1)._replace(is_unknown=True)

    def _begin(self, user: list[str | None], generation: int) -> _Conversation:
        generation %= _GENERATIONS
        handle = self._sign(f"{generation:02x}{secrets.token_hex(5)}", user)
        return _Conversation(handle, _make_run(user, handle), is_new=True)

    def _sign(self, number: str, user: list[str | None]) -> str:
        text = f"{number} {user}".encode()
        signature = blake2b(text, key=self._secret, digest_size=8)
        return number + signature.hexdigest()


def _find_token(meta: Any) -> Any:
    if isinstance(meta, dict):
        return meta.get("progress_token")
    return getattr(meta, "progressToken", None)


def _find_user(request: Any) -> list[str | None]:
    """Return what identifies the user whom the transport has authenticated."""
    login = getattr(request and request.scope.get("user"), "access_token", None)
    if login is None:
        return [None]
    return [login.client_id, (login.claims or {}).get("iss"), login.subject]


def _make_run(user: list[str | None], handle: str) -> Run:
    name = (*user, handle)
    tenant = str(user) if any(user[1:]) else user[0]
    first = _generation_of(handle) * _NUMBERS_EACH
    numbers = range(_NUMBERS_EACH, first + 1, _NUMBERS_EACH)
    return Run(name=name, conversation=name, tenant=tenant, numbers=numbers)


def _generation_of(handle: str) -> int:
    """Return how many conversations one followed that were not known any more."""
    try:
        return int(handle[:2], 16)
    except ValueError:
        return 0


def _list_notes(conversation: _Conversation, code: str | None) -> list[str]:
    """Return what a model is told about its conversation besides the result, which has
    the *code* of an error.
    """
    if not conversation.is_new:
        return []
    begun = _BEGUN.format(conversation.handle)
    if conversation.is_unknown:
        return [_UNKNOWN + begun]
    if code is None:
        return [begun]
    return [_MISSING] if code in _CODES_WITHOUT_CONVERSATION else []
