"""``websearch mcp``: standard input and output, HTTP, and who may connect."""

from __future__ import annotations
import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

pytest.importorskip("mcp", reason="the extra mcp is not installed")

import uvicorn

from tests.waiting import await_until, wait_until
from websearch_core._cli.app import app as program
from websearch_core._cli.commands import mcp as command
from websearch_core.mcp import make_server
from websearch_core.testing import FakeWeb
from websearch_core.tools import WebTools

TOKENS = {b"ann-0123456789abcdef": "ann", b"bob-0123456789abcdef": "bob"}
SHARED = "0123456789abcdef"
KELP = {"title": "Kelp", "url": "https://sea.example/kelp", "snippet": "A brown alga."}
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}
PROGRAM = """
import logging, sys
from websearch_core import _cli
from websearch_core.testing import FakeWeb

class Loud(FakeWeb):
    def search(self, query, /):
        print("printed by a provider", flush=True)
        if query.text == "stuck":
            import time
            time.sleep(600)
        logging.warning("logged by a provider")
        import subprocess
        subprocess.run(["echo", "printed by a child"])
        return (yield from super().search(query))

web = Loud(results=[{"title": "Kelp", "url": "https://sea.example/kelp"}])
sys.argv = ["websearch", "mcp", "--structured", "--provider", "tavily"]
with web.replace_providers():
    _cli.main()
"""

SLOW = """
import sys
from websearch_core import _cli
from websearch_core.testing import FakeWeb

class Slow(FakeWeb):
    def search(self, query, /):
        print("a call is under way", file=sys.stderr, flush=True)
        return (yield from super().search(query))

sys.argv = ["websearch", "mcp", "--provider", "tavily", *sys.argv[1:]]
with Slow(delay=600).replace_providers():
    _cli.main()
"""


def run(*arguments, **environment):
    return CliRunner().invoke(program, ["mcp", *arguments], env=environment)


@pytest.fixture
def served(monkeypatch):
    """What was given to uvicorn, which is not started."""
    given = {}
    monkeypatch.setattr(
        uvicorn, "run", lambda app, **options: given.update(options, app=app)
    )
    return given


@asynccontextmanager
async def connect(served, tokens, names=("localhost", "search.example")):
    tools = WebTools(
        provider=FakeWeb(results=[KELP], pages={KELP["url"]: "Kelp."}),
        provenance="seen",
    )
    server = make_server(tools, structured=True)
    command._serve_http(server, list(names), tokens)
    app = served["app"]
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://localhost:8000"
        ) as client:
            yield client


async def post(client, method, params, **headers):
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    accept = {"Accept": "application/json, text/event-stream"}
    return await client.post("/mcp", json=body, headers={**accept, **headers})


async def call(client, token, arguments):
    login = {"Authorization": f"Bearer {token.decode()}"}
    hello = await post(client, "initialize", HELLO, **login)
    session = {"Mcp-Session-Id": hello.headers["mcp-session-id"], **login}
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    accept = {"Accept": "application/json, text/event-stream"}
    assert (
        await client.post("/mcp", json=note, headers={**accept, **session})
    ).status_code == 202
    name = "open_page" if "url" in arguments else "web_search"
    answer = await post(
        client, "tools/call", {"name": name, "arguments": arguments}, **session
    )
    data = next(
        line[6:] for line in answer.text.splitlines() if line.startswith("data: {")
    )
    return json.loads(data)["result"], session


async def test_two_users_are_told_apart_by_their_tokens(served):
    ann, bob = TOKENS
    async with connect(served, TOKENS) as client:
        found, session = await call(client, ann, {"query": "kelp"})
        handle = found["structuredContent"]["conversation"]
        mine, _ = await call(client, ann, {"url": "[1]", "conversation": handle})
        stolen, _ = await call(client, bob, {"url": "[1]", "conversation": handle})
        hijacked = await post(
            client,
            "tools/list",
            {},
            **{**session, "Authorization": f"Bearer {bob.decode()}"},
        )

    assert not mine["isError"]
    assert stolen["isError"]
    assert stolen["structuredContent"]["code"] == "invalid_option"
    assert hijacked.status_code == 404


@pytest.mark.parametrize(
    "token",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        "Basic YW5uOg==",
        "Bearer ann-0123456789abcdeé",
    ],
)
async def test_without_a_right_token_nothing_is_served(served, token):
    async with connect(served, TOKENS) as client:
        headers = {"Authorization": token.encode("latin-1")} if token else {}
        for method in ("initialize", "tools/list", "tools/call"):
            answer = await post(client, method, HELLO, **headers)
            assert answer.status_code == 401
            assert "websearch" not in answer.text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 200),
        ({"Host": "localhost"}, 200),
        ({"Host": "LocalHost:80"}, 200),
        ({"Host": "search.example"}, 200),
        ({"Origin": "http://localhost:8000"}, 200),
        ({"Origin": "https://search.example"}, 200),
        ({"Host": ""}, 421),
        ({"Host": "localhost:"}, 421),
        ({"Host": "localhost:8000@evil.example"}, 421),
        ({"Host": "localhost:8000.evil.example"}, 421),
        ({"Host": "localhost:8000/x"}, 421),
        ({"Host": "evil.example:localhost"}, 421),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Origin": "http://localhost:8000.evil.example"}, 403),
        ({"Origin": "http://localhost:80.evil.example"}, 403),
        ({"Origin": "http://localhost"}, 403),
        ({"Origin": "ftp://localhost:8000"}, 403),
        ({"Origin": ""}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost.evil.example"}, 421),
        ({"Host": "127.0.0.1.evil.example:8000"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "http://localhost.evil.example"}, 403),
        ({"Origin": "null"}, 403),
    ],
)
async def test_forged_hosts_and_origins_are_refused(served, headers, status):
    async with connect(served, {}) as client:
        assert (
            await post(client, "initialize", HELLO, **headers)
        ).status_code == status


async def test_a_huge_body_is_refused(served):
    async with connect(served, {}) as client:
        assert (
            await post(client, "initialize", {**HELLO, "x": "x" * 5_000_000})
        ).status_code == 413


@pytest.mark.parametrize(
    ("arguments", "environment", "needed"),
    [
        (["--http", "8000"], {}, "HOST:PORT"),
        (["--http", "localhost:x"], {}, "HOST:PORT"),
        (["--http", "0.0.0.0:8000"], {}, "--certificate, or add --insecure"),
        (
            ["--http", "0.0.0.0:8000", "--certificate", "c.pem"],
            {},
            "WEB_SEARCH_MCP_TOKENS",
        ),
        (
            ["--http", "0.0.0.0:8000"],
            {"WEB_SEARCH_MCP_TOKENS": "ann:0123456789abcdef"},
            "--certificate",
        ),
        (
            ["--http", "localhost:8000"],
            {"WEB_SEARCH_MCP_TOKENS": "ann:short"},
            "at least 16 ASCII characters",
        ),
        (
            ["--http", "localhost:8000"],
            {"WEB_SEARCH_MCP_TOKENS": "ann:"},
            "at least 16 ASCII characters",
        ),
        (
            ["--http", "localhost:8000"],
            {"WEB_SEARCH_MCP_TOKENS": "ann:0123456789abcdé"},
            "16 ASCII characters",
        ),
        (
            ["--http", "localhost:8000"],
            {"WEB_SEARCH_MCP_TOKENS": f"ann:{SHARED},bob:{SHARED}"},
            "belongs to one user",
        ),
        (
            ["--http", "localhost:8000"],
            {"WEB_SEARCH_MCP_TOKENS": f"{SHARED}"},
            "a user name of its own",
        ),
        (
            ["--http", "localhost:8000"],
            {"WEB_SEARCH_MCP_TOKENS": f"ann:{SHARED}, :0123456789abcdef"},
            "a user name of its own",
        ),
        (
            ["--http", "localhost:8000"],
            {"WEB_SEARCH_MCP_TOKENS": f"ann:{SHARED}, ann:0123456789abcdef"},
            "a user name of its own",
        ),
        (["--provider", "nonesuch"], {}, "nonesuch"),
    ],
)
def test_wrong_usage_says_what_to_write(served, arguments, environment, needed):
    ended = run(*arguments, **environment)
    assert ended.exit_code == 2
    assert needed in ended.output
    assert "app" not in served
    assert "short" not in ended.output


@pytest.mark.parametrize("insecure", [True, False])
def test_other_machines_may_connect_with_tokens_and_https_or_by_a_word(
    served, insecure
):
    word = ["--insecure"] if insecure else ["--certificate", "c.pem"]
    environment = (
        {}
        if insecure
        else {"WEB_SEARCH_MCP_TOKENS": "ann:0123456789abcdef, bob:0123456789abcdeg"}
    )
    ended = run(
        "--http", "0.0.0.0:8443", "--hostname", "search.example", *word, **environment
    )
    assert ended.exit_code == 0, ended.output
    assert (served["host"], served["port"]) == ("0.0.0.0", 8443)
    assert served["ssl_certfile"] == (None if insecure else "c.pem")
    assert served["access_log"] is False


class Child(subprocess.Popen):
    """A process that does not outlive a test that fails."""

    def __exit__(self, kind, error, traceback):
        if kind:
            self.kill()
        super().__exit__(kind, error, traceback)


def start(tmp_path):
    (tmp_path / "program.py").write_text(PROGRAM, "utf-8")
    environment = {**os.environ, "PYTHONWARNINGS": "default"}
    pipes = {
        "stdin": subprocess.PIPE,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }
    child = Child([sys.executable, tmp_path / "program.py"], env=environment, **pipes)
    return child, lambda **message: send(child, message)


def send(child, message):
    child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    child.stdin.flush()
    return json.loads(child.stdout.readline()) if "id" in message else None


@pytest.mark.enable_socket  # an event loop in the child
def test_standard_output_carries_only_the_protocol(tmp_path):
    child, ask = start(tmp_path)
    with child:
        assert (
            ask(id=1, method="initialize", params=HELLO)["result"]["serverInfo"]["name"]
            == "websearch"
        )
        ask(method="notifications/initialized")
        found = ask(
            id=2,
            method="tools/call",
            params={"name": "web_search", "arguments": {"query": "kelp"}},
        )
        child.stdin.write(b"not JSON\n")
        again = ask(id=3, method="ping")
        while again.get("id") != 3:  # 1.x tells the client what it could not read
            again = json.loads(child.stdout.readline())
        child.stdin.close()
        rest, errors = child.stdout.read(), child.stderr.read().decode()
        assert child.wait(60) == 0

    assert found["result"]["structuredContent"]["sources"][0]["title"] == "Kelp"
    assert rest == b""
    assert "printed by a provider" in errors
    assert "printed by a child" in errors
    assert "logged by a provider" in errors


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_signal_ends_the_server_while_it_waits_for_input(tmp_path):
    child, ask = start(tmp_path)
    with child:
        ask(id=1, method="initialize", params=HELLO)
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 143


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_a_second_signal_ends_a_server_that_is_stuck(tmp_path):
    child, ask = start(tmp_path)
    with child:
        ask(id=1, method="initialize", params=HELLO)
        ask(method="notifications/initialized")
        call = {"name": "web_search", "arguments": {"query": "stuck"}}
        child.stdin.write(
            json.dumps(
                {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}
            ).encode()
            + b"\n"
        )
        child.stdin.flush()
        while b"printed by a provider" not in child.stderr.readline():
            pass
        child.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert child.poll() is None

        # one that comes too soon goes to another thread, and does not wake the one that
        # is stuck
        def is_over():
            child.send_signal(signal.SIGTERM)
            return child.poll() is not None

        wait_until(is_over)
    assert child.returncode in {130, 143}  # of the one that Python handled later


def test_a_client_that_closes_only_what_it_reads_ends_the_server_quietly(tmp_path):
    child, ask = start(tmp_path)
    with child:
        ask(id=1, method="initialize", params=HELLO)
        ask(method="notifications/initialized")
        child.stdout.close()
        child.stdin.write(b'{"jsonrpc": "2.0", "id": 2, "method": "ping"}\n')
        child.stdin.flush()
        assert child.wait(60) == 0
        errors = child.stderr.read().decode()
    assert "Traceback" not in errors
    assert "Broken" not in errors


def read_memory(child):
    """The memory of a process, in MB."""
    return (
        int(
            re.search(
                r"VmRSS:\s+(\d+)", Path(f"/proc/{child.pid}/status").read_text("ascii")
            )[1]
        )
        / 1024
    )


CALL = b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "open_page", "arguments": {}}}\n'


@pytest.mark.apart
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_client_that_never_reads_is_read_no_further_and_a_signal_ends_the_server(
    tmp_path,
):
    child, ask = start(tmp_path)
    with child:
        ask(id=1, method="initialize", params=HELLO)
        ask(method="notifications/initialized")
        before = read_memory(child)
        os.set_blocking(child.stdin.fileno(), False)
        sent = 0
        last = time.monotonic()
        while time.monotonic() - last < 1:  # it has read nothing for so long
            assert sent < 100_000_000
            with contextlib.suppress(BlockingIOError):
                sent += os.write(child.stdin.fileno(), CALL * 16)
                last = time.monotonic()
            time.sleep(0.005)
        assert sent // len(CALL) < 5_000
        assert read_memory(child) - before < 100
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 143, child.stderr.read()
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()


@pytest.mark.apart
@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_a_signal_in_the_middle_of_many_calls_ends_it_without_a_traceback(
    tmp_path, seconds
):
    child, ask = start(tmp_path)
    with child:
        ask(id=1, method="initialize", params=HELLO)
        ask(method="notifications/initialized")
        os.write(child.stdin.fileno(), CALL * 16)
        os.set_blocking(child.stdin.fileno(), False)
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            with contextlib.suppress(BlockingIOError):
                os.write(child.stdin.fileno(), CALL * 16)
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 143, child.stderr.read()
        assert b"Traceback" not in child.stderr.read()
        with contextlib.suppress(BrokenPipeError):
            child.stdin.close()


@pytest.fixture
def port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        yield taken.getsockname()[1]


def serve_slowly(*arguments):
    environment = {**os.environ, "WEB_SEARCH_TIMEOUT": "900"}
    return Child(
        [sys.executable, "-c", SLOW, *arguments],
        env=environment,
        stderr=subprocess.PIPE,
    )


@pytest.mark.enable_socket
def test_an_address_in_use_is_one_line_and_exit_code_2(port):
    with serve_slowly("--http", f"127.0.0.1:{port}") as child:
        errors = child.stderr.read().decode()

    assert child.returncode == 2
    assert errors.startswith(f"ERROR [configuration] --http 127.0.0.1:{port}: ")
    assert errors.count("\n") == 1


@pytest.mark.enable_socket
@pytest.mark.parametrize(
    ("content", "words"), [(None, "No such file"), ("no PEM", "it has no certificate")]
)
def test_a_wrong_certificate_is_one_line_and_exit_code_2(tmp_path, content, words):
    file = tmp_path / "server.pem"
    if content is not None:
        file.write_text(content, "ascii")
    with serve_slowly("--http", "127.0.0.1:0", "--certificate", str(file)) as child:
        errors = child.stderr.read().decode()

    assert child.returncode == 2
    assert errors.startswith(f"ERROR [configuration] --certificate {file}: {words}")
    assert errors.count("\n") == 1


@pytest.mark.enable_socket
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_a_server_when_its_calls_are_answered(number):
    with serve_slowly("--http", "127.0.0.1:0") as child:
        lines = iter(child.stderr.readline, b"")
        address = next(
            words[0].decode()
            for words in (re.findall(rb"http://[\d.:]+", line) for line in lines)
            if words
        )
        async with httpx.AsyncClient(base_url=address, timeout=None) as client:
            task = asyncio.create_task(call(client, b"none", {"query": "kelp"}))
            await asyncio.to_thread(
                lambda: next(line for line in lines if b"under way" in line)
            )
            child.send_signal(number)
            result, _ = await task
        errors = b"".join(lines).decode()

    assert result["isError"]
    assert result["content"][0]["text"].startswith("ERROR [unavailable] the server is")
    assert "Traceback" not in errors
    assert child.returncode in {0, -number, 128 + number}


async def test_clients_that_stop_reading_hold_up_nobody_and_end_with_the_server(served):
    ann, _ = TOKENS
    stuck, never = [], asyncio.Event()

    async def stop_reading(scope, receive, send):
        async def blocked(message):
            stuck.append(message["type"])
            await never.wait()

        await served["app"](scope, receive, blocked)

    async with (
        connect(served, TOKENS) as client,
        httpx.AsyncClient(
            transport=httpx.ASGITransport(app=stop_reading),
            base_url="http://localhost:8000",
        ) as other,
    ):
        login = {"Authorization": f"Bearer {ann.decode()}"}
        tasks = [
            asyncio.create_task(post(other, "initialize", HELLO, **login))
            for _ in range(20)
        ]
        await await_until(lambda: len(stuck) == 20)
        found, _ = await call(client, ann, {"query": "kelp"})
        assert [task for task in tasks if task.done()] == []
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
    assert not found["isError"]
