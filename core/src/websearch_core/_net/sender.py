"""Send requests.

There are two kinds of request. Those to a *service* go where the operator configured,
with a key. Those for a *page* go where a model or a stranger points: guarded, over
HTTP/1.1, without cookies, and with credentials only where the operator has some for
exactly that origin. Both go through the proxy that the operator names; without one,
services through those of the environment, and pages through none. Neither kind follows
redirects, outlasts `websearch_core._runtime.deadline.time_limit`, or keeps more of a
body than requested. Works with ``httpx`` and with ``httpx2``, its maintained
continuation.
"""

from __future__ import annotations
import asyncio
import ssl
import threading
import weakref
from collections import deque
from collections.abc import (
    AsyncGenerator,
    AsyncIterator,
    Callable,
    Hashable,
)
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

from .._runtime.deadline import clamp, time_left, timeout_left
from .._runtime.forks import Restartable, start_over_after_fork
from .._runtime.scope import current_call, current_client
from .._runtime.threads import in_thread, in_time, wait_for
from .._runtime.turns import Slots
from .._text.urls import find_origin
from ..errors import BadResponse, InvalidOption
from ..flow import Request, Response
from ..flow._branches import check_branch
from ..flow._redaction import keys_in, redact_response
from .body import OFFERED, BoundedBody
from .clients import (
    MAX_CONCURRENT,
    AsyncDirectClient,
    DirectClient,
    Library,
    user_agent,
)
from .credentials import OriginCredentials
from .failures import is_end, redact_logs, translate_errors
from .guard import Guard
from .lookup import FOR_PAGES, FOR_SERVICES, Line
from .pool import OWNER
from .proxy import Proxies, Proxy
from .targets import Targets

_PATIENCE = 2.0  # seconds
_MAX_HEADERS = 256  # h11 limits the header block to 100 KiB
# the connections of the parent of a forked process: collecting them would disturb it
_inherited_pools: list[object] = []
_ALONE = 8  # steps of a client in a round without others; they take some milliseconds


class Sender(Restartable):
    """Sends requests, blocking or on any event loop, and pools connections for each.

    *guard* is the policy for pages, and *connect_timeout* in seconds. The other
    arguments are those of `websearch_core.settings.Http`, which explains them.
    """

    def __init__(  # noqa: PLR0913 - what all calls share
        self,
        guard: Guard,
        *,
        connect_timeout: float = 10.0,
        client: Any = None,
        async_client: Any = None,
        verify: ssl.SSLContext | None = None,
        library: Library = "httpx",
        credentials: OriginCredentials | None = None,
        proxies: Proxies | None = None,
        contact: str = "",
        certificates: Path | None = None,
    ) -> None:
        self.guard = guard
        self._connect_timeout = connect_timeout
        self.credentials = credentials or OriginCredentials({}, guard)
        self._proxies = proxies
        self._contact = contact
        self._certificates = certificates
        self._new = partial(
            DirectClient, library, verify, proxies=proxies, certificates=certificates
        )
        self._new_async = partial(
            AsyncDirectClient,
            library,
            verify,
            proxies=proxies,
            certificates=certificates,
        )
        self._own_client = client
        self._own_async_client = async_client
        self._services: Sender | None = None
        redact_logs()
        self._lines = {True: Line(FOR_PAGES), False: Line(FOR_SERVICES)}
        self._open()
        start_over_after_fork(self)

    def _open(self) -> None:
        self._lock = threading.Lock()
        self._clients: dict[bool, Any] = {}
        self._end = weakref.finalize(self, _close, self._clients)  # closing is optional
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _LoopClients] = (
            WeakKeyDictionary()
        )
        self._slots = {guarded: Slots(MAX_CONCURRENT) for guarded in self._lines}

    def start_over(self) -> None:
        """Leave the connections to the parent process, without closing them."""
        self._end.detach()
        _inherited_pools.append((self._clients, dict(self._loops)))
        self._open()

    def send(self, request: Request) -> Response:
        """Send *request* and read the answer. Raise `UnsafeURL` if the guard forbids
        the URL, else a `ServiceError`.
        """
        if request.transport is not None:
            return self._wait(self._hand_over(request))
        if request.guarded:
            request = self.credentials.sign(request)
        client = self._client(request.guarded)
        if client is self._own_client:  # its sockets do not know our deadline
            return in_time(partial(self._send, client, request))
        return self._send(client, request)

    def _send(self, client: Any, request: Request) -> Response:
        proxy = self._find_proxy(request) if self._proxies else None
        with translate_errors(request, proxy) as answers:
            # each request is a client of its own: it does not matter who sends it
            each = object()
            exchange = partial(self._exchange, client, request, answers)
            return self._slots[request.guarded].hold(each, exchange, clamp(None))

    def _exchange(self, client: Any, request: Request, answers: list[Any]) -> Response:
        if request.target is not None:
            self._find_targets(request).judge()
        check_branch()  # it may have waited long for its slot
        reply = client.send(
            self._build_request(client, request), stream=True, follow_redirects=False
        )
        answers.append(reply)
        answer = _Answer(request, reply)
        try:
            with answer as body:
                chunks = reply.stream if answer.whole is None else answer.whole
                for chunk in chunks:
                    for _ in body.add(chunk):
                        # the caller's own client does not check our deadline
                        clamp(None)
                    if answer.has_enough:
                        break
        finally:
            reply.close()
        return answer.respond()

    async def asend(self, request: Request) -> Response:
        """Do the same as `send` on the running event loop."""
        if request.transport is not None:
            with translate_errors(request):
                async with asyncio.timeout(clamp(None)):
                    return await self._await_transport(request)
        if request.guarded:
            request = self.credentials.sign(request)
        here = self._get_loop_clients()
        proxy = self._find_proxy(request) if self._proxies else None
        with translate_errors(request, proxy) as answers:
            async with asyncio.timeout(clamp(None)), here.slots[request.guarded]:
                return await self._aexchange(here.steps, request, answers)

    async def _aexchange(
        self, steps: Steps, request: Request, answers: list[Any]
    ) -> Response:
        if request.target is not None:
            await self._find_targets(request).ajudge()
        client = await self._get_loop_clients(request.guarded).client(request.guarded)
        reply = await client.send(
            self._build_request(client, request), stream=True, follow_redirects=False
        )
        answers.append(reply)
        answer = _Answer(request, reply)
        try:
            with answer as body:
                if answer.whole is None:
                    chunks = reply.stream
                else:
                    await steps.next()
                    chunks = _later(answer.whole)
                async for chunk in chunks:
                    for _ in body.add(chunk):
                        await steps.next()
                    if answer.has_enough:
                        break
        finally:
            await reply.aclose()
        return answer.respond()

    async def take_turn(self) -> None:
        """Wait until this client has done no other step in this round of the event
        loop.
        """
        await self._get_loop_clients().steps.next()

    def _hand_over(self, request: Request) -> Future[Response]:
        """Let the transport of *request* get the page, under the guard that judges our
        own connections.
        """
        if request.transport is None or not request.guarded:
            raise AssertionError("a transport is for pages, which are guarded")
        checked = replace(request, url=self.guard.check(request.url))
        clamp(None)
        return request.transport(
            checked,
            self.guard,
            self._lines[True],
            self._proxies,
            self.credentials,
            self._certificates,
        )

    async def _await_transport(self, request: Request) -> Response:
        answers: list[Future[Response]] = []
        is_wanted = True

        def hand_over() -> None:
            answers.append(self._hand_over(request))
            if not is_wanted:  # the call was cancelled meanwhile
                answers[0].cancel()

        try:
            await in_thread(hand_over)  # since a transport may import what it needs
            return await asyncio.wrap_future(answers[0])
        finally:
            is_wanted = False
            for answer in answers:
                answer.cancel()

    def _wait(self, answer: Future[Response]) -> Response:
        branch = current_call().branch
        interruption: AbstractContextManager[Any] = nullcontext()
        try:
            if branch is not None:
                interruption = branch.interruptible(answer.cancel)
            with interruption:
                return wait_for(answer, timeout_left())
        finally:
            answer.cancel()  # unless it is there

    def share_services(self, other: Sender) -> None:
        """Use the connections of *other* to services, which are sent the same keys.

        Connections to the servers of pages are opened under a policy, and are never
        shared. Nor are the slots for requests: a thread that waits for its connection
        keeps no other waiting.
        """
        self._services = other._services or other

    def close(self) -> None:
        """Close the connections of blocking calls; those that are shared belong to the
        other.
        """
        with self._lock:
            _close(self._clients)

    async def aclose(self) -> None:
        """Close the connections of blocking calls and of the running event loop."""
        self.close()
        with self._lock:
            here = self._loops.pop(asyncio.get_running_loop(), None)
        if here is not None:
            await here.aclose()

    def _client(self, guarded: bool) -> Any:
        if self._own_client is not None and not guarded:
            return self._own_client
        if self._services is not None and not guarded:
            return self._services._client(guarded)  # noqa: SLF001 - of this class
        with self._lock:
            if guarded not in self._clients:
                guard = self.guard if guarded else None
                self._clients[guarded] = self._new(guard, self._lines[guarded])
            return self._clients[guarded]

    def _get_loop_clients(self, guarded: bool = True) -> _LoopClients:
        if self._services is not None and not guarded:
            services = self._services
            return services._get_loop_clients(guarded)  # noqa: SLF001 - see `_client`
        loop = asyncio.get_running_loop()
        with self._lock:
            here = self._loops.get(loop)
            if here is None:
                for closed in [other for other in self._loops if other.is_closed()]:
                    del self._loops[closed]
                here = _LoopClients(
                    self._new_async, self.guard, self._lines, self._own_async_client
                )
                self._loops[loop] = here
            return here

    def _find_targets(self, request: Request) -> Targets:
        """Return the pages that a service should open, which must be judged first."""
        return Targets(request, self.guard, self._lines[True], self._connect_timeout)

    def _find_proxy(self, request: Request) -> Proxy | None:
        """Return the proxy that *request* goes through, for errors."""
        origin = find_origin(request.url)
        if not self._proxies or not origin:
            return None
        return self._proxies.find(*origin)

    def _build_request(self, client: Any, request: Request) -> Any:
        url = self.guard.check(request.url) if request.guarded else request.url
        left = clamp(None)
        agent = user_agent(self._contact, for_pages=request.guarded)
        # as all names are written here
        own = {name.title(): value for name, value in request.headers.items()}
        try:
            built = client.build_request(
                request.method,
                url,
                params={**request.params, **request.secret_params} or None,
                headers={"User-Agent": agent, **own, "Accept-Encoding": OFFERED},
                json=request.json,
                data=request.form,
                timeout=(min(self._connect_timeout, time_left()), left, left, left),
            )
        except (TypeError, ValueError, RecursionError) as error:
            # NaN, a set, half of a surrogate pair
            failure = InvalidOption(f"a value cannot be sent: {error}")
        else:
            keys = keys_in(request) if isinstance(client, DirectClient) else ()
            if keys:
                built.extensions[OWNER] = blake2b("\n".join(keys).encode()).digest()
            return built
        # not chained: a UnicodeError holds what it cannot encode, which may be a key
        raise failure


class _LoopClients:
    """The clients of one event loop. They close with the loop, which closes its async
    generators on shutdown.
    """

    def __init__(
        self, new: Callable[..., Any], guard: Guard, lines: dict[bool, Line], own: Any
    ) -> None:
        # pages do not block services
        self.slots = {guarded: asyncio.Semaphore(MAX_CONCURRENT) for guarded in lines}
        self.steps = Steps.here()
        self._new = new
        self._guard = guard
        self._lines = lines
        self._own = own
        self._lifetimes: dict[bool, AsyncGenerator[Any, None]] = {}
        self._clients: dict[bool, Any] = {}
        self._making = asyncio.Lock()

    async def client(self, guarded: bool) -> Any:
        if guarded not in self._clients:
            async with self._making:
                if guarded not in self._clients:
                    self._clients[guarded] = await self._make_client(guarded)
        return self._clients[guarded]

    async def _make_client(self, guarded: bool) -> Any:
        if self._own is not None and not guarded:
            await in_thread(user_agent)  # it reads files the first time
            return self._own
        lifetime = self._keep_client(guarded)
        self._lifetimes[guarded] = lifetime
        return await anext(lifetime)

    async def _keep_client(self, guarded: bool) -> AsyncGenerator[Any, None]:
        # In a thread, since it reads files: it imports the HTTP library and loads
        # certificates.
        guard = self._guard if guarded else None
        client = await in_thread(partial(self._new, guard, self._lines[guarded]))
        try:
            yield client
        finally:
            await client.aclose()

    async def aclose(self) -> None:
        async with self._making:  # a generator that is running cannot be closed
            for lifetime in self._lifetimes.values():
                await lifetime.aclose()


def _close(clients: dict[bool, Any]) -> None:
    while clients:
        clients.popitem()[1].close()


def _read_headers(reply: Any) -> dict[str, str]:
    """Return the headers of an answer, with their names in lower case; raise
    `BadResponse` if there are too many.
    """
    raw: list[tuple[bytes, bytes]] = reply.headers.raw
    if len(raw) > _MAX_HEADERS:
        raise BadResponse(
            f"the response has more than {_MAX_HEADERS} headers",
            status=reply.status_code,
        )
    headers: dict[str, str] = {}
    for raw_name, raw_value in raw:
        name = raw_name.decode("latin-1").lower()
        try:
            # it should be ASCII; what is not is usually UTF-8
            value = raw_value.decode()
        except UnicodeDecodeError:
            value = raw_value.decode("latin-1")
        if name in headers:
            # a cookie may contain a comma
            separator = "\n" if name == "set-cookie" else ", "
            value = f"{headers[name]}{separator}{value}"
        headers[name] = value
    return headers


class _Answer:
    """An answer, while what is requested of it is read in the ``with`` block."""

    def __init__(self, request: Request, reply: Any) -> None:
        self._request = request
        self._reply = reply
        self._headers: dict[str, str] = {}
        self._body = BoundedBody("", request.max_bytes)
        # all that is to be added to the body, if it is there; None if it is to be read
        self.whole: list[bytes] | None = []

    def __enter__(self) -> BoundedBody:
        reply = self._reply
        self._headers = _read_headers(reply)
        # a redirect's body is useless, and can be endless
        leads_on = 300 < reply.status_code < 400 and "location" in self._headers
        if leads_on or reply.status_code == 304:
            return self._body
        # by a transport with whole answers, such as a mock: already decoded
        if reply.is_stream_consumed:
            self.whole = [reply.content]
            return self._body
        self.whole = None
        # else its encoding is that of another answer
        has_body = reply.status_code != 204 and self._request.method != "HEAD"
        encoding = self._headers.get("content-encoding", "")
        if has_body and encoding:
            self._body = BoundedBody(encoding, self._request.max_bytes)
        return self._body

    def __exit__(self, _: object, error: BaseException | None, __: object) -> bool:
        return isinstance(error, Exception) and self._is_cut_off(error)

    @property
    def has_enough(self) -> bool:
        """Whether the rest of the body need not be read."""
        if self._body.is_full:
            return True
        if self._request.guarded:
            self._limit_silence()
        return False

    def respond(self) -> Response:
        """Return the answer as a response."""
        response = Response(
            status=self._reply.status_code,
            url=self._request.url,
            headers=self._headers,
            content=bytes(self._body),
            truncated=self._body.truncated,
        )
        return redact_response(response, self._request)

    def _limit_silence(self) -> None:
        """Let the connection wait for more of a page in half of the time left; only
        briefly if it seems to be whole, since some servers keep it open.
        """
        stream = self._reply.extensions.get("network_stream")
        if hasattr(stream, "patience"):  # it is ours
            stream.patience = time_left() / 2
            if self._body.seems_complete:
                stream.patience = min(stream.patience, _PATIENCE)

    def _is_cut_off(self, error: Exception) -> bool:
        """Return whether *error* only says that the end of a page did not arrive, and
        note it in the body.
        """
        body = self._body
        if not self._request.guarded or not body.content:
            return False
        if self._reply.status_code >= 300 or "content-type" not in self._reply.headers:
            return False
        if not is_end(error):
            return False
        body.is_cut_off = True
        return True


async def _later(chunks: list[bytes]) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


@dataclass(eq=False)
class _Line:
    """The steps of one client: how many it may still do in this round, and those that
    wait for the next.
    """

    left: int
    waiting: deque[asyncio.Future[None]] = field(default_factory=deque)


class Steps:
    """The steps of all clients on one event loop: they take turns there, too.

    A loop calls whatever is ready, one after the other: fifty answers that arrive at
    the same time are fifty steps before it comes back to somebody else. Here, each
    client does one step of all its calls in one round of the loop, or a few if no other
    client does any: a round costs about as much as half a step.
    """

    @classmethod
    def here(cls) -> Steps:
        """Return those of the running event loop, whichever `WebSearch` asks."""
        loop = asyncio.get_running_loop()
        steps = _steps.get(loop)
        if steps is None:
            # a copy: each thread may have a loop
            for other in [reference() for reference in _steps.keyrefs()]:
                if other is not None and other.is_closed():
                    _steps.pop(other, None)  # what still waits there would keep it
            steps = cls()
            _steps[loop] = steps
        return steps

    def __init__(self) -> None:
        # of each client that did a step in this round
        self._lines: dict[Hashable, _Line] = {}

    async def next(self) -> None:
        """Wait until this client may do another step in this round of the loop."""
        client = current_client()
        loop = asyncio.get_running_loop()
        line = self._lines.get(client)
        if line is None:
            steps = 1 if self._lines else _ALONE
            line = _Line(steps)
            self._lines[client] = line
            loop.call_soon(self._go_on, loop, client)
        if line.left:
            line.left -= 1
            return
        turn: asyncio.Future[None] = loop.create_future()
        line.waiting.append(turn)
        await turn

    def _go_on(self, loop: asyncio.AbstractEventLoop, client: Hashable) -> None:
        """Begin the next round of a client; forget it if it has nothing to do."""
        line = self._lines[client]
        allowed = 1 if len(self._lines) > 1 else _ALONE
        line.left = allowed
        while line.waiting and line.left:
            turn = line.waiting.popleft()
            if not turn.done():  # else its call was cancelled
                turn.set_result(None)
                line.left -= 1
        if line.left < allowed:
            loop.call_soon(self._go_on, loop, client)
        else:
            del self._lines[client]


_steps: WeakKeyDictionary[asyncio.AbstractEventLoop, Steps] = WeakKeyDictionary()
