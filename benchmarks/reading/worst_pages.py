"""Pages that cost the reader as much as possible, and a local server that sends them.

Each page has the length that the reader reads by default, 10 MiB, unless a shorter one
costs more. The server runs in its own process, listens on 127.0.0.1 only, and ends with
the process that started it.
"""

from __future__ import annotations
import gzip
import itertools
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple
from urllib.parse import unquote

LENGTH = 10 * 2**20  # bytes
_CHUNK = 2**16


class Page(NamedTuple):
    """A page that is expensive to read.

    Args:
        what: The page in a few words.
        body: Makes the body.
        content_type: The value of the HTTP header.
        encoding: How the body is compressed.
    """

    what: str
    body: Callable[[], Iterable[bytes]]
    content_type: str = "text/html; charset=utf-8"
    encoding: str = "identity"


def _full(piece: str, begin: str = "") -> Callable[[], list[bytes]]:
    """Make a body of the full length that repeats *piece* after *begin*."""

    def body() -> list[bytes]:
        head, again = begin.encode(), piece.encode()
        return [(head + again * (LENGTH // len(again)))[:LENGTH]]

    return body


def _once(make: Callable[[], str]) -> Callable[[], list[bytes]]:
    return lambda: [make().encode()]


def _bomb() -> list[bytes]:
    """Yield one member of 16 MiB 64 times, without holding a GiB."""
    return [gzip.compress(b"<p>boom " * 2**21) * 64]


def _endless() -> Iterator[bytes]:
    return itertools.repeat(b"<p>and so on</p>\n" * (_CHUNK // 17))


def _pdf(
    filters: str, data: Callable[[], bytes], kind: str = "content"
) -> Callable[[], list[bytes]]:
    """Make a PDF of one page: its content, or what *kind* says, is a stream of *data*,
    packed by *filters*.
    """

    def body() -> list[bytes]:
        packed = data()
        stream = b"<</Length %d%b>>stream\n%b\nendstream" % (
            len(packed),
            filters.encode(),
            packed,
        )
        page = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents %d 0 "
            b"R/Resources<</Font<</F1 4 0 R>>%b>>>>"
        )
        font = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica%b>>"
        words = b"<</Length 34>>stream\nBT /F1 12 Tf (kelp) Tj ET /X Do   \nendstream"
        objects = [
            b"<</Type/Catalog/Pages 2 0 R>>",
            b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
            page
            % (
                5 if kind == "content" else 6,
                b"/XObject<</X 5 0 R>>" if kind == "form" else b"",
            ),
            font % (b"/ToUnicode 5 0 R" if kind == "cmap" else b""),
            words if kind == "table" else stream,
            words,
        ]
        out = bytearray(b"%PDF-1.7\n")
        places = []
        for number, each in enumerate(objects, 1):
            places.append(len(out))
            out += b"%d 0 obj\n%b\nendobj\n" % (number, each)
        table = len(out)
        if kind == "table":
            out += (
                b"7 0 obj\n<</Type/XRef/W[1 2 1]/Size 8/Root 1 0 R%b\nendobj\n"
                % stream[2:]
            )
        else:
            out += b"xref\n0 7\n0000000000 65535 f \n" + b"".join(
                b"%010d 00000 n \n" % place for place in places
            )
            out += b"trailer\n<</Size 7/Root 1 0 R>>\n"
        return [bytes(out + b"startxref\n%d\n%%%%EOF\n" % table)]

    return body


def _packed(data: bytes) -> bytes:
    return zlib.compress(data, 9)


def _lzw(data_length: int) -> bytes:
    """Return LZW of that many zeros: each code is one zero longer than the previous
    one, until the table is full.
    """
    bits, count, made = "", 0, 0
    while made < data_length:
        bits += f"{256:09b}{0:09b}"
        table, made = 258, made + 1
        width = 9
        while table < 4095 and made < data_length:
            bits += f"{table:0{width}b}"
            made += table - 256
            table += 1
            width = (
                9 if table < 511 else 10 if table < 1023 else 11 if table < 2047 else 12
            )
        count += 1
    bits += f"{257:012b}"
    bits += "0" * (-len(bits) % 8)
    return int(bits, 2).to_bytes(len(bits) // 8, "big")


_ROOM = LENGTH - 2_000  # for what is around the stream of a PDF
_A85, _FLATE = "/Filter/ASCII85Decode", "/Filter/FlateDecode"
_SHOWN = b"BT /F1 12 Tf " + b"(kelp) Tj " * (_ROOM // 10 - 10) + b"ET"

_STYLES = "".join(f"<b id={n}>" for n in range(200))

PDF = "application/pdf"
PAGES: dict[str, Page] = {
    "ordinary": Page(
        "an ordinary page of 20 kB",
        _once(lambda: "<h1>Kelp</h1>" + "<p>Brown algae. " * 1_300),
    ),
    "bomb": Page("1 GiB in 1 MiB of gzip", _bomb, encoding="gzip"),
    "endless": Page("a body without end", _endless),
    "line": Page("one line of 10 MiB", _full("a")),
    "text": Page(
        "plain text with emoji, one line",
        _full("all work and no play \U0001f600 "),
        "text/plain",
    ),
    "wide": Page(
        "HTML text with emoji, one line", _full("all work and no play \U0001f600 ")
    ),
    "nested": Page(
        "100,000 nested elements", _once(lambda: "<div>" * 100_000 + "deep down")
    ),
    "abyss": Page("10 MiB of nested elements", _full("<div>")),
    "unclosed": Page(
        "10 MiB of elements that seem to close themselves", _full("<div/>")
    ),
    "attributes": Page(
        "1,000,000 attributes",
        _once(lambda: f"<div {' '.join(f'a{n}=1' for n in range(1_000_000))}>x"),
    ),
    "short attributes": Page(
        "10 MiB of elements with 100 attributes", _full(f"<p {' a' * 100}>x")
    ),
    "cells": Page(
        "a table of 1,000,000 cells",
        _once(lambda: "<table>" + ("<tr>" + "<td>x" * 1000) * 1000),
    ),
    "pre": Page("10 MiB of code", _full("x = 1\n", "<pre>")),
    "paragraphs": Page("10 MiB of paragraphs of a letter", _full("<p>x")),
    "items": Page("10 MiB of list items", _full("<li>x")),
    "links": Page("10 MiB of links", _full("<a href=/x>x</a> ")),
    "styles": Page(
        "200 open <b>, again in each paragraph", _full("<p>x</p>", f"<p>{_STYLES}</p>")
    ),
    "bold": Page("1.2 MB of bold letters", _once(lambda: "<b>x</b>" * 150_000)),
    "comments": Page("10 MiB of comments", _full("x<!---->")),
    "brackets": Page("10 MiB of <", _full("<")),
    "style sheet": Page(
        "a style sheet of 10 MiB",
        _full(".x{display:none}.x:hover{color:red}", "<p class=x>x<style>"),
    ),
    "inline styles": Page(
        "10 MiB of elements with styles",
        _full("<p style='font:0/0 a;top:calc(1px*(2))'>x"),
    ),
    "json": Page("JSON of small objects", _full('{"":0},', "["), "application/json"),
    "csv": Page("CSV of short rows", _full("a,b\n"), "text/csv"),
    "fences": Page(
        "Markdown of short code blocks", _full("```\na\n```\n"), "text/markdown"
    ),
    "pdf a85": Page(
        "PDF: 10 MiB of z in ASCII85", _pdf(_A85, lambda: b"z" * _ROOM), PDF
    ),
    "pdf a85 text": Page(
        "PDF: 10 MiB of ASCII85", _pdf(_A85, lambda: b"+&)GQ" * (_ROOM // 5)), PDF
    ),
    "pdf a85 form": Page(
        "PDF: the same in a form",
        _pdf(f"/Type/XObject/Subtype/Form{_A85}", lambda: b"z" * _ROOM, "form"),
        PDF,
    ),
    "pdf a85 image": Page(
        "PDF: the same in a picture",
        _pdf(f"/Type/XObject/Subtype/Image{_A85}", lambda: b"z" * _ROOM, "form"),
        PDF,
    ),
    "pdf a85 cmap": Page(
        "PDF: the same in a map of characters",
        _pdf(_A85, lambda: b"z" * _ROOM, "cmap"),
        PDF,
    ),
    "pdf a85 table": Page(
        "PDF: the same in the table of objects",
        _pdf(_A85, lambda: b"z" * _ROOM, "table"),
        PDF,
    ),
    "pdf a85 packed": Page(
        "PDF: 10 MiB of z in 10 KB of Flate",
        _pdf("/Filter[/FlateDecode/ASCII85Decode]", lambda: _packed(b"z" * _ROOM)),
        PDF,
    ),
    "pdf a85 twice": Page(
        "PDF: ASCII85 in ASCII85",
        _pdf(
            "/Filter[/FlateDecode/ASCII85Decode/ASCII85Decode]",
            lambda: _packed(b"z" * 2**20),
        ),
        PDF,
    ),
    "pdf hex": Page(
        "PDF: 10 MiB of hexadecimal digits",
        _pdf("/Filter/ASCIIHexDecode", lambda: b"20" * (_ROOM // 2)),
        PDF,
    ),
    "pdf hex blanks": Page(
        "PDF: hexadecimal digits and blanks",
        _pdf("/Filter/ASCIIHexDecode", lambda: b"2 " * (_ROOM // 2)),
        PDF,
    ),
    "pdf lzw bytes": Page(
        "PDF: LZW of one byte at a time",
        _pdf("/Filter/LZWDecode", lambda: b"\x80\x08\x01\x00\x20\x10" * (_ROOM // 6)),
        PDF,
    ),
    "pdf as picture": Page(
        "PDF: 10 MiB of words, said to be a picture",
        _pdf("/Filter/DCTDecode", lambda: _SHOWN),
        PDF,
    ),
    "pdf flate": Page(
        "PDF: 1 GiB in 1 MiB of Flate", _pdf(_FLATE, lambda: _packed(b" " * 2**30)), PDF
    ),
    "pdf flate most": Page(
        "PDF: as much of Flate as is unpacked",
        _pdf(_FLATE, lambda: _packed(b" " * 19_900_000)),
        PDF,
    ),
    "pdf flate text": Page(
        "PDF: 10 MiB of words, packed", _pdf(_FLATE, lambda: _packed(_SHOWN)), PDF
    ),
    "pdf flate twice": Page(
        "PDF: Flate in Flate",
        _pdf(
            "/Filter[/FlateDecode/FlateDecode]", lambda: _packed(_packed(b" " * 2**30))
        ),
        PDF,
    ),
    "pdf flate broken": Page(
        "PDF: Flate with an error",
        _pdf(_FLATE, lambda: b"xx" + _packed(b"kelp " * 2**21)[:-3]),
        PDF,
    ),
    "pdf predictor": Page(
        "PDF: Flate with a predictor",
        _pdf(
            f"{_FLATE}/DecodeParms<</Predictor 15/Columns 3>>",
            lambda: _packed(b"\4aaa" * 4_000_000),
        ),
        PDF,
    ),
    "pdf tiff predictor": Page(
        "PDF: Flate with the predictor of TIFF",
        _pdf(
            f"{_FLATE}/DecodeParms<</Predictor 2/Columns 3>>",
            lambda: _packed(b"aaa" * 5_000_000),
        ),
        PDF,
    ),
    "pdf lzw": Page(
        "PDF: a bomb of LZW", _pdf("/Filter/LZWDecode", lambda: _lzw(2**26)), PDF
    ),
    "pdf lzw most": Page(
        "PDF: as much of LZW as is unpacked",
        _pdf("/Filter/LZWDecode", lambda: _lzw(19_900_000)),
        PDF,
    ),
    "pdf runs": Page(
        "PDF: a bomb of run lengths",
        _pdf("/Filter/RunLengthDecode", lambda: b"\x81 " * (_ROOM // 2)),
        PDF,
    ),
    "pdf literals": Page(
        "PDF: runs of one byte",
        _pdf("/Filter/RunLengthDecode", lambda: b"\0 " * (_ROOM // 2)),
        PDF,
    ),
    "pdf text": Page("PDF: 10 MiB of words", _pdf("", lambda: _SHOWN), PDF),
    "pdf numbers": Page(
        "PDF: 10 MiB of numbers",
        _pdf("", lambda: b"BT [" + b"1 " * (_ROOM // 2 - 9) + b"] TJ ET"),
        PDF,
    ),
    "pdf names": Page(
        "PDF: 10 MiB of operators",
        _pdf("", lambda: b"BT " + b"q " * (_ROOM // 2 - 9) + b" ET"),
        PDF,
    ),
    "pdf string": Page(
        "PDF: a string of 10 MiB",
        _pdf("", lambda: b"BT /F1 12 Tf (" + b"k" * (_ROOM - 99) + b") Tj ET"),
        PDF,
    ),
    "pdf cmap": Page(
        "PDF: 10 MiB of a map of characters",
        _pdf(
            "",
            lambda: (
                b"1 beginbfchar\n" + b"<01> <0041>\n" * (_ROOM // 12 - 9) + b"endbfchar"
            ),
            "cmap",
        ),
        PDF,
    ),
    "pdf packed cmap": Page(
        "PDF: a map of characters, packed",
        _pdf(
            _FLATE,
            lambda: _packed(b"1 beginbfrange\n<0000> <FFFF> <0041>\n" * 500_000),
            "cmap",
        ),
        PDF,
    ),
}


@contextmanager
def served() -> Iterator[str]:
    """Serve the pages while the ``with`` block lasts, each at the URL that is returned
    with its name added.
    """
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    try:
        yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    finally:
        process.communicate(timeout=10)  # closes its standard input, which ends it


class _Site(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        page = PAGES[unquote(self.path[1:])]
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
        """Log nothing."""


def _serve() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Site)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    sys.stdin.read()  # until the parent closes the pipe or dies


if __name__ == "__main__":
    _serve()
