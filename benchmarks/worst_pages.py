"""
Pages made to cost the reader as much as they can, and a server on this machine that sends them.

Each is as long as the reader reads by default, 10 MiB, unless it needs less to do its worst. The server runs in a
process of its own, listens on 127.0.0.1 alone, and ends when the process that started it does.
"""

from __future__ import annotations

import gzip
import itertools
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple

LENGTH = 10 * 2**20  # bytes
_CHUNK = 2**16


class Page(NamedTuple):
    """
    A page that hurts.

    Args:
        what: It in a few words.
        body: Makes it.
        content_type: What it is said to be.
        encoding: How it is compressed.

    """

    what: str
    body: Callable[[], Iterable[bytes]]
    content_type: str = "text/html; charset=utf-8"
    encoding: str = "identity"


def _full(piece: str, begin: str = "") -> Callable[[], list[bytes]]:
    """Make a body of *piece*, again and again after *begin*, of the full length."""

    def body() -> list[bytes]:
        head, again = begin.encode(), piece.encode()
        return [(head + again * (LENGTH // len(again)))[:LENGTH]]

    return body


def _once(make: Callable[[], str]) -> Callable[[], list[bytes]]:
    return lambda: [make().encode()]


def _bomb() -> list[bytes]:
    """One member of 16 MiB, 64 times: making them is no reason to hold a GiB."""
    return [gzip.compress(b"<p>boom " * 2**21) * 64]


def _endless() -> Iterator[bytes]:
    return itertools.repeat(b"<p>and so on</p>\n" * (_CHUNK // 17))


_STYLES = "".join(f"<b id={n}>" for n in range(200))

PAGES: dict[str, Page] = {
    "ordinary": Page("an ordinary page of 20 kB", _once(lambda: "<h1>Kelp</h1>" + "<p>Brown algae. " * 1_300)),
    "bomb": Page("1 GiB in 1 MiB of gzip", _bomb, encoding="gzip"),
    "endless": Page("a body without end", _endless),
    "line": Page("one line of 10 MiB", _full("a")),
    "text": Page("plain text with emoji, one line", _full("all work and no play \U0001f600 "), "text/plain"),
    "wide": Page("HTML text with emoji, one line", _full("all work and no play \U0001f600 ")),
    "nested": Page("100,000 nested elements", _once(lambda: "<div>" * 100_000 + "deep down")),
    "abyss": Page("10 MiB of nested elements", _full("<div>")),
    "unclosed": Page("10 MiB of elements that seem to close themselves", _full("<div/>")),
    "attributes": Page(
        "1,000,000 attributes", _once(lambda: f"<div {' '.join(f'a{n}=1' for n in range(1_000_000))}>x")
    ),
    "short attributes": Page("10 MiB of elements with 100 attributes", _full(f"<p {' a' * 100}>x")),
    "cells": Page("a table of 1,000,000 cells", _once(lambda: "<table>" + ("<tr>" + "<td>x" * 1000) * 1000)),
    "pre": Page("10 MiB of code", _full("x = 1\n", "<pre>")),
    "paragraphs": Page("10 MiB of paragraphs of a letter", _full("<p>x")),
    "items": Page("10 MiB of list items", _full("<li>x")),
    "links": Page("10 MiB of links", _full("<a href=/x>x</a> ")),
    "styles": Page("200 open <b>, again in each paragraph", _full("<p>x</p>", f"<p>{_STYLES}</p>")),
    "comments": Page("10 MiB of comments", _full("x<!---->")),
    "brackets": Page("10 MiB of <", _full("<")),
    "style sheet": Page("a style sheet of 10 MiB", _full(".x{display:none}.x:hover{color:red}", "<p class=x>x<style>")),
    "selectors": Page("1,000,000 selectors", _once(lambda: f"<style>{'p,' * 1_000_000}.x{{display:none}}</style><p>x")),
    "blocks": Page("1,000,000 nested blocks of a style sheet", _once(lambda: f"<style>{'a{' * 1_000_000}</style><p>x")),
    "inline styles": Page("10 MiB of elements with styles", _full("<p style='font:0/0 a;top:calc(1px*(2))'>x")),
    "json": Page("JSON of small objects", _full('{"":0},', "["), "application/json"),
    "csv": Page("CSV of short rows", _full("a,b\n"), "text/csv"),
    "fences": Page("Markdown of short code blocks", _full("```\na\n```\n"), "text/markdown"),
}


@contextmanager
def served() -> Iterator[str]:
    """Serve the pages while the ``with`` block lasts, each at the URL that is returned with its name added."""
    process = subprocess.Popen([sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.communicate(timeout=10)  # closes its standard input, which ends it


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        page = PAGES[self.path[1:].replace("%20", " ")]
        self.send_response(200)
        self.send_header("Content-Type", page.content_type)
        self.send_header("Content-Encoding", page.encoding)
        self.end_headers()
        try:
            for piece in page.body():
                self.wfile.write(piece)
        except OSError:  # the reader has had enough
            return

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def _serve() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()  # until whoever started this closes the pipe, or dies


if __name__ == "__main__":
    _serve()
