"""What a model is told of hostile pages by `WebSearchToolSpec.open_page`: a code and a sentence, or the text; never an address inside."""

from __future__ import annotations

import gzip
import socket
import threading
from collections.abc import Iterator

import pytest

from llamaindex_websearch import WebSearchToolSpec
from llamaindex_websearch.tool_spec import ToolError

pytestmark = pytest.mark.enable_socket

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
PAGE = b"<title>Kelp</title><p>Brown algae of the northern seas."
SECRET = "<p>Password: hunter2 at 10.1.2.3"

ANSWERS = {
    "a page": (HEAD + b"\r\n" + PAGE, "Brown algae"),
    "two members of gzip": (
        HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(PAGE[:30]) + gzip.compress(PAGE[30:]),
        "Brown algae",
    ),
    "a bomb": (HEAD + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"<p>boom " * 2**21), "boom"),
    "nested": (HEAD + b"\r\n" + b"<div>" * 100_000 + PAGE, "Brown algae"),
    "not found": (b"HTTP/1.1 404 Not Found\r\n\r\n" + SECRET.encode(), "ERROR [page_not_found]"),
    "an error page": (b"HTTP/1.1 500 Oops\r\n\r\n" + SECRET.encode(), "ERROR [unavailable]"),
    "forbidden": (b"HTTP/1.1 403 Forbidden\r\n\r\n" + SECRET.encode(), "ERROR [authentication_failed]"),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", "ERROR [bad_response]"),
    "a redirect inside": (b"HTTP/1.1 302 Found\r\nLocation: http://10.1.2.3/\r\n\r\n", "ERROR [unsafe_url]"),
    "brotli": (HEAD + b"Content-Encoding: br\r\n\r\nxxx", "ERROR [bad_response]"),
    "cut off": (HEAD + b"Content-Length: 999\r\n\r\n" + PAGE, "ERROR [unavailable]"),
    "no HTTP": (SECRET.encode(), "ERROR [unavailable]"),
    "a video": (HEAD + b"\r\n\0\0\0\x18ftypmp42", "ERROR [unsupported_content]"),
    "silence": (None, "ERROR [timed_out]"),
}


@pytest.fixture
def page() -> Iterator[tuple[str, dict[str, bytes | None]]]:
    """The URL of a page, and where to put what its server answers with: once for each connection, to the byte."""
    listening = socket.create_server(("127.0.0.1", 0))
    answer: dict[str, bytes | None] = {}

    def serve() -> None:
        while True:
            try:
                connection, _ = listening.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(5)
                try:
                    while b"\r\n\r\n" not in connection.recv(65536):
                        pass
                    if answer["page"] is None:
                        connection.recv(1)
                    else:
                        connection.sendall(answer["page"])
                except OSError:  # the reader has had enough
                    continue

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/", answer
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    thread.join(5)


@pytest.mark.parametrize("colour", ["blocking", "async"])
@pytest.mark.parametrize("name", ANSWERS)
async def test_a_model_is_told_what_became_of_the_page(page, name, colour):
    url, answer = page
    answer["page"], told = ANSWERS[name]
    spec = WebSearchToolSpec(
        provider="duckduckgo", allow=["127.0.0.0/8"], attempts=1, timeout=0.5 if answer["page"] is None else 20
    )
    (tool,) = (tool for tool in spec.to_tool_list() if tool.metadata.name == "open_page")
    failed = told.startswith("ERROR")

    async def opened():
        if colour == "blocking":
            return tool.call(url=url, max_length=2000)
        return await tool.acall(url=url, max_length=2000)

    if failed:
        with pytest.raises(ToolError) as caught:
            await opened()
        text = str(caught.value)
    else:
        text = (await opened()).content
    await spec.web.aclose()

    assert text.startswith(told) if failed else told in text
    assert "Traceback" not in text
    assert not {"hunter2", "10.1.2.3"} & set(text.replace("/", " ").split())
    assert len(text) < 4000
