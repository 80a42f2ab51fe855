"""``websearch mcp``."""

from __future__ import annotations
import asyncio
import hmac
import logging
import os
import re
import signal
import ssl
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from types import SimpleNamespace
from typing import Annotated, Any, Literal, TextIO, cast

import typer

from ..._runtime.threads import Threads
from ...errors import ConfigurationError
from ..arguments import declare
from ..completion import complete_provider
from ..output import report_errors

_TOKENS = "WEB_SEARCH_MCP_TOKENS"
_MIN_TOKEN = 16  # characters
_MAX_TASKS = 1_000  # of a server on stdio
_GRACE = 5  # seconds, in which answers are sent before the server ends
_LOOPBACK = ("127.0.0.1", "[::1]", "localhost")
_PROVIDER = declare(
    "NAME",
    "The search provider, or a chain such as tavily,brave",
    "--provider -p",
    complete=complete_provider,
)
_PROVENANCE = declare(
    "[any|seen|seen+links]",
    "Which pages may be opened: any; those that a search returned; or also their links",
)


def mcp(
    *,
    provider: Annotated[str | None, _PROVIDER] = None,
    provenance: Annotated[Literal["any", "seen", "seen+links"], _PROVENANCE] = "any",
    http: Annotated[
        str | None,
        declare("HOST:PORT", "Serve HTTP here, such as 127.0.0.1:8000, not stdio"),
    ] = None,
    hostname: Annotated[
        list[str] | None,
        declare("NAME", "Another name that clients use for HOST; repeatable"),
    ] = None,
    certificate: Annotated[
        str | None,
        declare("FILE", "PEM file with the certificate for HTTPS and its key"),
    ] = None,
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Serve other machines without tokens or HTTPS"),
    ] = False,
    structured: Annotated[
        bool,
        typer.Option("--structured", help="Add the sources as structured content"),
    ] = False,
    site_tools: Annotated[
        bool,
        typer.Option("--site-tools", help="Also serve list_pages"),
    ] = False,
) -> None:
    """Serve the web tools to MCP hosts: Claude, VS Code, Cursor.

    The tools are web_search and open_page. Settings are those of all commands.
    WEB_SEARCH_MCP_TOKENS has the bearer tokens for HTTP: ann:TOKEN,bob:TOKEN.
    """
    with report_errors("text"):
        from ...keys._environ import read_variable
        from ...mcp import make_server
        from ...tools import WebTools

        tools = WebTools(provider=provider, provenance=provenance)
        with tools.web:
            server = make_server(tools, structured=structured, site_tools=site_tools)
            if not http:
                raise typer.Exit(asyncio.run(_serve_stdio(server)))
            host = http.rpartition(":")[0]
            port = http.rpartition(":")[2]
            if not (host and port.isdecimal()):
                raise ConfigurationError(
                    "--http: write HOST:PORT, such as 127.0.0.1:8000"
                )
            tokens = _parse_tokens(read_variable(_TOKENS))
            is_safe = host in _LOOPBACK or bool(tokens and certificate)
            if not is_safe and not insecure:
                raise ConfigurationError(
                    f"--http {host}: set {_TOKENS} and --certificate, or add --insecure"
                )
            other_names = hostname or []
            _serve_http(
                server,
                [host, *_LOOPBACK, *other_names],
                tokens,
                host=host.strip("[]"),
                port=int(port),
                ssl_certfile=certificate,
            )


def _parse_tokens(text: str) -> dict[bytes, str]:
    """Return the user of each token in ``ann:TOKEN,bob:TOKEN``."""
    tokens: dict[bytes, str] = {}
    users: set[str] = set()
    for entry in filter(None, map(str.strip, text.split(","))):
        user = entry.rpartition(":")[0].strip()
        token = entry.rpartition(":")[2].strip().encode("utf-8", "replace")
        if not user or user in users:
            raise ConfigurationError(
                f"{_TOKENS}: each token needs a user name of its own, as in "
                f"ann:TOKEN,bob:TOKEN"
            )
        is_strong = len(token) >= _MIN_TOKEN and token.isascii()
        if not is_strong or token in tokens:
            raise ConfigurationError(
                f"{_TOKENS}: a token needs at least {_MIN_TOKEN} ASCII characters, and "
                f"belongs to one user"
            )
        tokens[token] = user
        users.add(user)
    return tokens


class _OwnHosts:
    """Middleware that refuses requests whose ``Host`` is none of *names*, and those
    that a web page of another origin sends.

    A page may have the server's own origin, which is what ``Host`` says, or that of a
    proxy in front of it, which has one of the names and no port.
    """

    def __init__(self, app: Any, names: list[str]) -> None:
        self._app = app
        lower_names = {name.lower() for name in names}
        self._proxy_names = lower_names.difference(_LOOPBACK)
        alternatives = "|".join(map(re.escape, lower_names))
        self._hosts = re.compile(rf"(?:{alternatives})(?::[0-9]{{1,5}})?", re.ASCII)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        status: int | None = None
        if scope["type"] == "http":
            status = self._find_refusal(scope["headers"])
        if status is None:
            await self._app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def _find_refusal(self, headers: list[tuple[bytes, bytes]]) -> int | None:
        """Return the status of the refusal; None if the request is served."""
        hosts = _find_values(headers, b"host")
        if len(hosts) != 1 or self._hosts.fullmatch(hosts[0]) is None:
            return 421  # Misdirected Request
        origins = _find_values(headers, b"origin")
        own_names = {hosts[0], *self._proxy_names}
        own_origins = {f"http://{name}" for name in own_names}
        own_origins |= {f"https://{name}" for name in own_names}
        return None if own_origins.issuperset(origins) else 403


def _find_values(headers: list[tuple[bytes, bytes]], name: bytes) -> list[str]:
    values = [value for key, value in headers if key.lower() == name]
    return [value.decode("latin-1").lower() for value in values]


async def _read_lines(source: TextIO, threads: Threads) -> AsyncGenerator[str]:
    while True:
        line = await asyncio.wrap_future(threads.submit("read", source.readline))
        if not line:
            return
        yield line
        # A client that does not read the answers is read no further: each request
        # that waits for its answer is a task.
        while len(asyncio.all_tasks()) > _MAX_TASKS:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def _serve_stdio(server: Any) -> int:
    """Serve on standard input and output; return the exit code. Other output, also of a
    child, goes to stderr.
    """
    from anyio import BrokenResourceError, ClosedResourceError
    from mcp.server.stdio import stdio_server

    signals: list[int] = []
    loop = asyncio.get_running_loop()
    serving = cast("asyncio.Task[None]", asyncio.current_task())

    def end(number: int, _: object) -> None:
        signals.append(number)  # first, since another signal may come in between
        if len(signals) > 1 or serving.done():  # closing takes too long
            os._exit(128 + number)
        loop.call_soon_threadsafe(serving.cancel)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    # threads that the process does not wait for: a client may block them for ever
    threads = Threads("websearch-mcp", 2)
    source = os.fdopen(os.dup(0), encoding="utf-8", errors="replace")
    wire = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8", newline="\n")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)

    async def write(line: str) -> None:
        await asyncio.wrap_future(threads.submit("write", lambda: wire.write(line)))

    # the methods of a file that the SDK calls
    stdin: Any = _read_lines(source, threads)
    stdout: Any = SimpleNamespace(write=write, flush=partial(asyncio.sleep, 0))
    try:
        async with stdio_server(stdin, stdout) as streams:
            await server.run(*streams, server.create_initialization_options())
    except* (BrokenPipeError, ConnectionResetError):
        # The client has gone: closing the pipe must not fail on what it has not read.
        os.dup2(os.open(os.devnull, os.O_WRONLY), wire.fileno())
    except* asyncio.CancelledError:
        pass
    except* (BrokenResourceError, ClosedResourceError):
        # A signal ends the tasks of the SDK one by one; some still write to others.
        if not signals:
            raise
    return 128 + signals[0] if signals else 0


class _HTTPCalls:
    """An application that counts the calls under way, and answers them before the
    server ends.

    At a signal, uvicorn ends what streams without an answer. So the calls are answered
    first, and uvicorn hears of the signal when the answers are sent, or too late.
    """

    def __init__(self, app: Any, end_calls: Callable[[], None]) -> None:
        self._app = app
        self._end_calls = end_calls
        self._count = 0
        self._signals = 0
        self._tasks: list[asyncio.Task[None]] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        # a GET listens for as long as the session lasts
        is_call = scope["method"] == "POST"
        self._count += is_call
        try:
            await self._app(scope, receive, send)
        finally:
            self._count -= is_call

    @contextmanager
    def hear_signals(self) -> Iterator[None]:
        """Hear the signals that end the server, of which uvicorn has the handlers."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        handlers: dict[int, Any] = {}

        def hear(number: int, frame: Any) -> None:
            self._signals += 1
            tell_uvicorn = partial(handlers[number], number, frame)
            if self._signals > 1:
                tell_uvicorn()
            else:
                loop.call_soon_threadsafe(self._start_to_end, tell_uvicorn)

        for stop in (signal.SIGINT, signal.SIGTERM):
            handlers[stop] = signal.signal(stop, hear)
        try:
            yield
        finally:
            for number, handler in handlers.items():
                signal.signal(number, handler)

    def _start_to_end(self, tell_uvicorn: Callable[[], None]) -> None:
        self._tasks.append(asyncio.create_task(self._end(tell_uvicorn)))

    async def _end(self, tell_uvicorn: Callable[[], None]) -> None:
        self._end_calls()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                while self._count:  # noqa: ASYNC110 - it ends soon or never
                    await asyncio.sleep(0.01)
        tell_uvicorn()


class _Startup(logging.Filter):
    """Keeps of what uvicorn logs where it listens, and what goes wrong later."""

    failure: OSError | None = None  # why it cannot listen

    def filter(self, record: logging.LogRecord) -> bool:
        if isinstance(record.msg, OSError):
            self.failure = record.msg
            return False
        is_news = record.levelno > logging.INFO
        return is_news or str(record.msg).startswith("Uvicorn running")


def _serve_http(
    server: Any, names: list[str], tokens: dict[bytes, str], **options: Any
) -> None:
    """Serve at ``/mcp`` to clients that know this server by one of *names*."""
    import uvicorn
    from mcp.server.auth.middleware.bearer_auth import (
        BearerAuthBackend,
        RequireAuthMiddleware,
    )
    from mcp.server.auth.provider import AccessToken
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
    from starlette.applications import Starlette
    from starlette.middleware.authentication import AuthenticationMiddleware
    from starlette.routing import Route

    async def verify(token: str) -> AccessToken | None:
        # Compare with all of them, so that the time says nothing about the tokens.
        users = [
            user
            for own_token, user in tokens.items()
            if hmac.compare_digest(token.encode(), own_token)
        ]
        return AccessToken(token="", client_id=users[0], scopes=[]) if users else None

    manager = StreamableHTTPSessionManager(server)
    endpoint: Any = manager.asgi_app
    if tokens:
        endpoint = RequireAuthMiddleware(endpoint, [])
    calls = _HTTPCalls(endpoint, server.end_calls)

    @asynccontextmanager
    async def live(_: Any) -> AsyncGenerator[None]:
        async with manager.run():
            with calls.hear_signals():
                yield

    app = Starlette(routes=[Route("/mcp", cast("Any", calls))], lifespan=live)
    verifier: Any = SimpleNamespace(verify_token=verify)
    app.add_middleware(AuthenticationMiddleware, backend=BearerAuthBackend(verifier))
    # Added last, so it comes first. The SDK has such a check, but it takes everything
    # after "name:" for a port.
    app.add_middleware(_OwnHosts, names=names)
    startup = _Startup()
    logging.getLogger("uvicorn.error").addFilter(startup)
    try:
        uvicorn.run(app, access_log=False, timeout_graceful_shutdown=_GRACE, **options)
    except OSError as error:  # of the certificate
        raise ConfigurationError(
            f"--certificate {options.get('ssl_certfile')}: {_explain(error)}"
        ) from error
    except SystemExit:
        if startup.failure is None:
            raise
        raise ConfigurationError(
            f"--http {options['host']}:{options['port']}: {_explain(startup.failure)}"
        ) from startup.failure
    finally:
        logging.getLogger("uvicorn.error").removeFilter(startup)


def _explain(error: OSError) -> str:
    """Return why a file or an address cannot be used, in the words of the system."""
    if isinstance(error, ssl.SSLError):
        return "it has no certificate with its key in PEM form"
    return error.strerror or str(error)
