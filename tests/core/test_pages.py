"""Hostile answers, byte for byte, and what a reader makes of each, with both HTTP libraries, blocking and async."""

from __future__ import annotations

import asyncio
import gzip
import socket
import struct
import zlib

import pytest

from websearch_core import WebSearch
from websearch_core.errors import (
    AccessDenied,
    BadRequest,
    BadResponse,
    Blocked,
    NeedsBrowser,
    PageNotFound,
    RateLimited,
    TimedOut,
    Unavailable,
    UnsafeURL,
    UnsupportedContent,
)

pytestmark = pytest.mark.enable_socket

HTML = "Content-Type: text/html"
PAGE = b"<title>Kelp</title><p>Brown algae of the northern seas."
TEXT = "Brown algae of the northern seas."
CUT = "the page is longer than the 2000 bytes that were read"
BOMB = gzip.compress(b"<p>boom " * 2**17)


def answered(body=b"", status="200 OK", *headers, length=True):
    lines = [f"HTTP/1.1 {status}", *headers, *([f"Content-Length: {len(body)}"] if length else [])]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def html(body, *headers):
    return answered(body, "200 OK", HTML, *headers)


def closing(data):
    """Send *data* and hang up."""
    return lambda connection: connection.sendall(data)


def resetting(data):
    """Send *data* and reset the connection."""

    def answer(connection):
        connection.sendall(data)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return answer


def chunked(body, *headers):
    return answered(body, "200 OK", HTML, "Transfer-Encoding: chunked", *headers, length=False)


def encoded(body, encoding):
    return html(body, f"Content-Encoding: {encoding}")


def raw_deflate(data):
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(data) + compressor.flush()


READ = {
    "an ordinary page": html(PAGE),
    "203": answered(PAGE, "203 Non-Authoritative Information", HTML),
    "no type": answered(PAGE),
    "a type that lies": answered(PAGE, "200 OK", "Content-Type: image/png"),
    "a type that is nonsense": answered(PAGE, "200 OK", "Content-Type: \xff;;=/"),
    "chunks": closing(chunked(b"%x\r\n%s\r\n0\r\n\r\n" % (len(PAGE), PAGE))),
    "chunks and trailers": closing(chunked(b"%x\r\n%s\r\n0\r\nX-Last: 1\r\n\r\n" % (len(PAGE), PAGE))),
    "no length": closing(answered(PAGE, "200 OK", HTML, length=False)),
    "more than its length": closing(answered(PAGE, "200 OK", HTML) + b"<p>and more"),
    "gzip": encoded(gzip.compress(PAGE), "gzip"),
    "gzip of two members": encoded(gzip.compress(PAGE[:20]) + gzip.compress(PAGE[20:]), "gzip"),
    "gzip and rubbish": encoded(gzip.compress(PAGE) + b"RUBBISH", "gzip"),
    "deflate": encoded(zlib.compress(PAGE), "deflate"),
    "deflate without its header": encoded(raw_deflate(PAGE), "deflate"),
    "a charset that is none": answered(PAGE, "200 OK", f"{HTML}; charset=x-bogus"),
    "a charset that is a codec": answered(PAGE, "200 OK", f"{HTML}; charset=base64"),
    "a charset that takes minutes": answered(PAGE, "200 OK", f"{HTML}; charset=punycode"),
    "a charset that hides markup": answered(PAGE, "200 OK", f"{HTML}; charset=utf-7"),
    "NUL bytes": html(PAGE.replace(b"algae", b"al\0gae")),
    "early hints before it": closing(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + html(PAGE)),
    "a continue before it": closing(b"HTTP/1.1 100 Continue\r\n\r\n" + html(PAGE)),
    "bytes beyond ASCII in a header": html(PAGE, "X-A: \xff\xfe"),
    "a header of 50 KiB": html(PAGE, f"X-A: {'a' * 51_200}"),
    "a hundred cookies": html(PAGE, *(f"Set-Cookie: c{n}=1" for n in range(100))),
    "line ends without a return": closing(
        b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: %d\n\n%s" % (len(PAGE), PAGE)
    ),
    "a refresh to elsewhere": html(b"<meta http-equiv=refresh content='0;url=http://169.254.169.254/'>" + PAGE),
    "a base to elsewhere": html(b"<base href='file:///etc/'>" + PAGE),
    "a script around it": html(b"<script>while(1);</script>" + PAGE + b"<script>"),
}
REFUSED = {
    "204": (answered(b"", "204 No Content", length=False), BadResponse, 204),
    "204 with a body": (closing(answered(b"hello", "204 No Content")), BadResponse, 204),
    "304": (closing(b"HTTP/1.1 304 Not Modified\r\n\r\n"), BadResponse, 304),
    "400": (answered(PAGE, "400 Bad Request", HTML), BadRequest, 400),
    "401": (answered(PAGE, "401 Unauthorized", HTML), AccessDenied, 401),
    "402": (answered(PAGE, "402 Payment Required", HTML), AccessDenied, 402),
    "403": (answered(PAGE, "403 Forbidden", HTML), Blocked, 403),
    "404": (answered(PAGE, "404 Not Found", HTML), PageNotFound, 404),
    "451": (answered(PAGE, "451 Unavailable For Legal Reasons", HTML), AccessDenied, 451),
    "nothing but blanks": (html(b" \n"), UnsupportedContent, None),
    "nothing but scripts": (html(b"<div id=root></div><script src=/a.js></script>"), NeedsBrowser, 200),
    "a challenge with 200": (html(b"<title>Just a moment...</title><script>_cf_chl_opt={}</script>"), Blocked, 200),
    "a challenge with 503": (answered(PAGE, "503 Busy", HTML, "cf-mitigated: challenge"), Blocked, 503),
    "410": (answered(PAGE, "410 Gone", HTML), PageNotFound, 410),
    "418": (answered(PAGE, "418 I'm a teapot", HTML), Blocked, 418),
    "429 for ages": (answered(PAGE, "429 Slow", HTML, "Retry-After: 99999999999"), RateLimited, 429),
    "500": (answered(PAGE, "500 Oops", HTML), Unavailable, 500),
    "503": (answered(PAGE, "503 Busy", HTML), Unavailable, 503),
    "an error in gzip": (answered(gzip.compress(PAGE), "500 Oops", HTML, "Content-Encoding: gzip"), Unavailable, 500),
    "status 999": (answered(PAGE, "999 Request denied", HTML), Blocked, 999),
    "status 99": (closing(b"HTTP/1.1 99 Weird\r\nContent-Length: 0\r\n\r\n"), Unavailable, None),
    "no status": (closing(b"HTTP/1.1 OK\r\n\r\n"), Unavailable, None),
    "HTTP/0.9": (closing(PAGE), Unavailable, None),
    "HTTP/2": (closing(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Unavailable, None),
    "nothing": (closing(b""), Unavailable, None),
    "a reset at once": (resetting(b""), Unavailable, None),
    "a reset half-way": (
        resetting(answered(PAGE, "200 OK", HTML, "Content-Length: 9999", length=False)),
        Unavailable,
        None,
    ),
    "less than its length": (
        closing(answered(PAGE, "200 OK", HTML, "Content-Length: 9999", length=False)),
        Unavailable,
        None,
    ),
    "two lengths": (html(PAGE, "Content-Length: 3"), Unavailable, None),
    "a negative length": (closing(answered(PAGE, "200 OK", "Content-Length: -1", length=False)), Unavailable, None),
    "a length that is no number": (
        closing(answered(PAGE, "200 OK", "Content-Length: many", length=False)),
        Unavailable,
        None,
    ),
    "a chunk that is no number": (closing(chunked(b"ZZ\r\nhello\r\n")), Unavailable, None),
    "chunks without an end": (closing(chunked(b"5\r\nhello\r\n")), Unavailable, None),
    "an encoding within the transfer": (closing(chunked(b"0\r\n\r\n", "Transfer-Encoding: gzip")), Unavailable, None),
    "a blank before the colon": (closing(html(PAGE, "X-A : 1")), Unavailable, None),
    "NUL in a header": (closing(html(PAGE, "X-A: a\0b")), Unavailable, None),
    "a header of 200 KiB": (closing(html(PAGE, f"X-A: {'a' * 204_800}")), Unavailable, None),
    "300 headers": (html(PAGE, *(f"X-{n}: a" for n in range(300))), BadResponse, 200),
    "gzip that is none": (encoded(PAGE, "gzip"), BadResponse, None),
    "gzip within gzip": (encoded(gzip.compress(gzip.compress(PAGE)), "gzip, gzip"), BadResponse, None),
    "brotli": (encoded(b"\x0b\x05\x80hello\x03", "br"), BadResponse, None),
    "zstd": (encoded(b"\x28\xb5\x2f\xfd", "zstd"), BadResponse, None),
    "an encoding nobody knows": (encoded(PAGE, "compress"), BadResponse, None),
    "a PDF that says it is HTML": (html(b"%PDF-1.7 \0\xff"), UnsupportedContent, None),
    "a video": (answered(b"\0\0\0\x18ftypmp42", "200 OK", "Content-Type: video/mp4"), UnsupportedContent, None),
    "rubbish": (answered(bytes(range(256)) * 4, "200 OK", "Content-Type: text/plain"), UnsupportedContent, None),
    "a redirect to nowhere": (answered(b"", "302 Found"), BadResponse, 302),
    "a redirect to itself": (answered(b"", "302 Found", "Location: /page"), BadResponse, None),
    "a redirect inside": (answered(b"", "302 Found", "Location: http://10.0.0.1/"), UnsafeURL, None),
    "a redirect to metadata": (answered(b"", "302 Found", "Location: http://169.254.169.254/"), UnsafeURL, None),
    "a redirect to a file": (answered(b"", "302 Found", "Location: file:///etc/passwd"), UnsafeURL, None),
    "a redirect to data": (answered(b"", "302 Found", "Location: data:text/html,hi"), UnsafeURL, None),
    "a redirect with a password": (answered(b"", "302 Found", "Location: http://u:p@127.0.0.1/"), UnsafeURL, None),
    "a redirect that is malformed": (answered(b"", "302 Found", "Location: http://[::1"), UnsafeURL, None),
    **{
        f"a redirect to {where}": (
            answered(b"", "302 Found", f"Location: {where.encode().decode('latin-1')}"),
            UnsafeURL,
            None,
        )
        for where in ("//[", "//℀.example", "//a：b", "http://[", "https://[", "//[::1", "//]", "//[v1.x]:y")
    },
    "a redirect of 70 KiB": (answered(b"", "302 Found", f"Location: /{'a' * 71_680}"), UnsafeURL, None),
}
TRUNCATED = {
    "more than the cap": html(b"<p>" + b"kelp " * 1000),
    "a bomb": encoded(BOMB, "gzip"),
    "one line": answered(b"a" * 5000, "200 OK", "Content-Type: text/plain"),
    "gzip cut half-way": encoded(gzip.compress(bytes(range(32, 127)) * 15)[:60], "gzip"),
}
STREAMS = {
    "an endless body": (b"<p>kelp " * 8192, answered(b"", "200 OK", HTML, length=False)),
    "endless chunks": (b"8000\r\n" + b"<p>kelp " * 4096 + b"\r\n", chunked(b"")),
}
DRIPS = {
    "a body": (b"x", answered(b"", "200 OK", HTML, length=False), 0.05),
    "a header": (b"a", b"HTTP/1.1 200 OK\r\nX: ", 0.05),
    "a status": (b"H", b"", 0.05),
    "silence": (b"", b"", 0.05),
    "silence after the head": (b"", answered(b"", "200 OK", "Content-Length: 100", length=False), 0.05),
    "early hints": (b"HTTP/1.1 103 Early Hints\r\n\r\n" * 50, b"", 0.0),
    "chunks of a byte": (b"1\r\nx\r\n", chunked(b""), 0.01),
    "extensions of chunks": (b"1;" + b"a" * 30_000 + b"\r\nx\r\n", chunked(b""), 0.0),
}


@pytest.fixture(params=["httpx", "httpx2"])
def library(request):
    return request.param


@pytest.fixture(params=["read", "aread"])
def read(request, server, library):
    """Read the page that the server answers with, in each colour with each library."""

    def one(answer, *, timeout=10.0, max_bytes=10 * 2**20):
        server.answers["/page"] = answer
        web = WebSearch(
            "duckduckgo",
            reader="direct",
            provider_options={"direct": {"max_bytes": max_bytes}},
            allow=["127.0.0.0/8"],
            timeout=timeout,
            attempts=1,
            http_library=library,
        )
        url = f"{server.url}/page"
        with web:
            return web.read(url) if request.param == "read" else asyncio.run(web.aread(url))

    return one


@pytest.mark.parametrize("name", READ)
def test_what_can_be_read_is_read(read, name):
    page = read(READ[name])

    assert (page.content, page.truncated) == (TEXT, False)


@pytest.mark.parametrize("name", REFUSED)
def test_anything_but_a_page_is_an_error_and_never_content(read, name, server):
    answer, kind, status = REFUSED[name]
    with pytest.raises(kind) as caught:
        read(answer)

    assert type(caught.value) is kind
    assert getattr(caught.value, "status", None) == status
    assert not any(secret in str(caught.value) for secret in ("Brown algae", "127.0.0.1", str(server.port), "10.0.0.1"))


@pytest.mark.parametrize("name", TRUNCATED)
def test_what_is_cut_says_so(read, name):
    page = read(TRUNCATED[name], max_bytes=2000)

    assert page.truncated
    assert len(page.content) <= 2000
    assert any("longer than the" in note for note in page.notes)


@pytest.mark.parametrize("name", STREAMS)
def test_what_has_no_end_ends_at_the_cap(read, endless, name):
    page = read(endless(*STREAMS[name]), max_bytes=2000)

    assert page.truncated
    assert CUT in page.notes
    assert page.content.startswith("kelp")


@pytest.mark.parametrize("name", DRIPS)
def test_what_drips_ends_with_the_deadline(read, endless, name):
    with pytest.raises(TimedOut):
        read(endless(*DRIPS[name]), timeout=0.4)


def test_a_part_of_a_page_says_so(read):
    page = read(answered(PAGE, "206 Partial Content", HTML))

    assert (page.content, page.truncated) == (TEXT, True)
    assert "the page is longer than" in page.notes[0]


def test_a_type_that_lies_is_reported(read):
    assert read(READ["a type that lies"]).notes == ("declared as image/png, but it is text/html",)


def test_nothing_of_ours_goes_along_a_redirect(read, server):
    server.answers["/there"] = html(PAGE)
    assert read(answered(b"", "302 Found", "Location: /there", "Set-Cookie: id=1; Path=/")).content == TEXT

    for _, headers, _ in server.requests:
        assert not {"cookie", "referer", "authorization"} & set(headers)
