"""The fuzz targets: for each function that takes untrusted bytes, a check that must
hold for all inputs.

`TARGETS` maps a name to a check, which raises AssertionError (or the unexpected error),
and to words that help a generator of random bytes past the first branch. `test_fuzz.py`
runs all targets for seconds, `run.py` for as long as you like.
"""

from __future__ import annotations
import gzip
import math
import re
import struct
import zlib
from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple
from urllib.parse import urlsplit

import h11
import httpx

from websearch_core._net.body import BoundedBody
from websearch_core._net.guard import Guard
from websearch_core._net.heads import MalformedHead, repair_response
from websearch_core._text.dates import parse_date
from websearch_core._text.media_types import HTML
from websearch_core._text.terms import index_text, query_terms, split_terms
from websearch_core.errors import BadResponse, UnsafeURL, UnsupportedContent
from websearch_core.flow import Response
from websearch_core.provider._http import retry_after
from websearch_core.providers.direct import Direct
from websearch_core.reading import find_refresh, read_bytes
from websearch_core.reading._charset import CODECS, decode, to_utf8
from websearch_core.reading._excerpt.window import cut_window
from websearch_core.reading._html.harden import harden
from websearch_core.reading._html.parse import parse


class Target(NamedTuple):
    check: Callable[[bytes], None]
    words: tuple[bytes, ...]


def url(data: bytes) -> None:
    """A URL is refused, or has one canonical form that other parsers read in the same
    way.
    """
    text = data.decode("utf-8", "replace")
    guard = Guard()
    try:
        canonical = guard.check(text)
    except UnsafeURL:
        return
    assert guard.check(canonical) == canonical
    parts, parsed = urlsplit(canonical), httpx.URL(canonical)
    assert parts.hostname
    assert (parsed.scheme, parsed.raw_host.decode().strip("[]")) == (
        parts.scheme,
        parts.hostname,
    )
    assert parsed.port == parts.port
    assert not parsed.userinfo
    assert parts.username is None
    if text.isascii():
        assert (urlsplit(text).hostname or "").removesuffix(
            "."
        ) == parts.hostname or ":" in parts.hostname


def redirect(data: bytes) -> None:
    """Any redirect leads to a request or to a typed error, and any refresh of a page to
    the web or nowhere.
    """
    there = find_refresh(
        b'<meta http-equiv=refresh content="0;url=' + data + b'">',
        "https://page.example/a/b?c",
        None,
    )
    assert there is None or urlsplit(there).scheme in {"http", "https"}
    reading = Direct(max_redirects=1).read("https://page.example/a/b?c")
    next(reading)
    try:
        request = reading.send(
            Response(status=302, headers={"location": data.decode("utf-8", "replace")})
        )
        Guard().check(request.url)
    except (UnsafeURL, BadResponse):
        return


_LABELS = sorted(CODECS)


def charset(data: bytes) -> None:
    """Any label gives a text, the same from both functions."""
    if len(data) < 2:
        return
    stated = (
        f"text/html; charset={_LABELS[data[0] % len(_LABELS)]}" if data[1] % 2 else None
    )
    text = decode(data[2:], stated).text
    assert to_utf8(data[2:], stated, limit=10**9).data.decode("utf-8") == text
    assert decode(data[2:], stated, limit=5).text == text[:5]
    part = to_utf8(data[2:], stated, limit=7)
    assert text.startswith(part.data.decode("utf-8"))
    assert len(part.data) <= 7


def head(data: bytes) -> None:
    """A head of a page is refused, or comes out in a form that a strict parser reads;
    a repaired one ends its connection and has one length.
    """
    before = b"HTTP/1.1 200 OK\r\n" + data
    end = re.search(rb"\n\r?\n", before)
    before = before[: end.end()] if end else before + b"\r\n\r\n"
    try:
        after = repair_response(before)
    except MalformedHead:
        return
    assert repair_response(after) == after
    client = h11.Connection(h11.CLIENT)
    client.send(h11.Request(method="GET", target="/", headers=[("Host", "a.example")]))
    client.send(h11.EndOfMessage())
    client.receive_data(after)
    try:
        response = client.next_event()
    except h11.RemoteProtocolError:
        assert after == before or b"transfer-encoding" in after
        return
    assert isinstance(response, h11.Response)
    if after != before:
        assert (b"connection", b"close") in list(response.headers)
        names = [name for name, _ in response.headers]
        lengths = [*map(names.count, (b"content-length", b"transfer-encoding"))]
        assert sum(lengths) <= 1


def inflate(data: bytes) -> None:
    """Compressed data is restored from pieces of any size; other data is a bad
    response, and never gets too large.
    """
    if len(data) < 3:
        return
    step, most, data = data[0] + 1, data[1] * 8, data[2:]
    for encoding, raw in (
        ("gzip", gzip.compress(data[:50]) + gzip.compress(data[50:])),
        ("gzip, gzip", gzip.compress(gzip.compress(data))),
        ("deflate, x-gzip", gzip.compress(zlib.compress(data))),
        ("none, utf-8", data),
        ("deflate", zlib.compress(data)),
        ("", data),
    ):
        body = _decompress(encoding, raw, step, 10**6)
        assert (bytes(body), body.truncated) == (data, False)
    for encoding in ("gzip", "deflate", "gzip, gzip"):
        try:
            body = _decompress(encoding, data, step, most)
        except BadResponse:
            continue
        assert len(bytes(body)) <= most


def _decompress(encoding: str, raw: bytes, step: int, most: int) -> BoundedBody:
    body = BoundedBody(encoding, most)
    for begin in range(0, len(raw), step):
        for _ in body.add(raw[begin : begin + step]):
            pass
        if body.is_full:
            break
    return body


_TYPES = (
    None,
    "text/html",
    "text/plain",
    "text/markdown",
    "application/json",
    "text/csv",
    "application/xml",
    "image/png",
    "application/rss+xml",
    "application/pdf",
    "image/svg+xml",
)


def read(data: bytes) -> None:
    """Every page is read or refused; its windows join to its text, which has none of
    our internal marks.
    """
    if not data:
        return
    try:
        page = read_bytes(
            data[1:],
            "https://page.example/a/",
            _TYPES[data[0] % len(_TYPES)],
            isolate=False,
        )
    except UnsupportedContent:
        return
    page.content.encode("utf-8")
    assert page.media_type not in HTML or not any(
        "\ue000" <= character <= "\ue003" for character in page.content
    )
    size = max(1, len(page.content) // (1 + data[0] % 7))
    text, offset = "", 0
    while offset is not None:
        part = cut_window(page, size, offset)
        assert len(part.content) <= size
        text, offset = text + part.content, part.next_offset
    assert text == page.content


def markup(data: bytes) -> None:
    """Hardened markup, repeated many times, is neither deep nor large once it is
    parsed.
    """
    begin, _, again = data.partition(b"|")
    if not again or b"<" not in again:
        return
    pieces = (
        again.replace(b"#", b"%d" % number)
        for number in range(60_000 // len(again) + 1)
    )
    source = to_utf8((begin + b"".join(pieces))[:80_000] * 2, limit=10**6).data
    document = parse(harden(source).source)
    deepest = size = depth = 0
    node = document.root
    while node is not None:
        size += 192 + 240 * len(node.attributes) if node.is_element_node else 136
        deepest = max(deepest, depth)
        if node.first_child is not None:
            node, depth = node.first_child, depth + 1
            continue
        while node is not None and node.next is None:
            node, depth = node.parent, depth - 1
        node = node.next if node is not None else None
    assert deepest < 20_000, deepest  # <td> makes three elements
    assert size < 20 * 2**20, size


def date(data: bytes) -> None:
    """A date is an aware datetime or nothing."""
    values: list[object] = [data.decode("utf-8", "replace")]
    if len(data) >= 8:
        values += [*struct.unpack("<dq", (data[:8] * 2)), data]
    for value in values:
        found = parse_date(value)
        assert found is None or (
            isinstance(found, datetime) and found.utcoffset() is not None
        )


def wait(data: bytes) -> None:
    """A wait is a number of seconds within a month, or none."""
    seconds = retry_after(
        Response(status=429, headers={"retry-after": data.decode("latin-1")})
    )
    assert seconds is None or (math.isfinite(seconds) and 0 <= seconds <= 31 * 86_400)


def word(data: bytes) -> None:
    """Every word has a form without spaces, lies within its text, and is found by a
    query for it.
    """
    text = data.decode("utf-8", "replace")
    before = 0
    for found in split_terms(text):
        assert found.form
        assert not any(map(str.isspace, found.form))
        assert before <= found.start <= found.end <= len(text)
        before = found.start
    assert {form.removesuffix("*") for form in query_terms(text)} <= {
        found.form for found in split_terms(text)
    }
    assert index_text(text).split() == [found.form for found in split_terms(text)]


TARGETS: dict[str, Target] = {
    "url": Target(
        url,
        (
            b"http://",
            b"https://",
            b"HTTP:",
            b"//",
            b"a.example",
            b"xn--bcher-kva.example",
            "bücher.de".encode(),
            b":80",
            b":443",
            b":+80",
            b":65536",
            b"@",
            b"\\",
            b"%2e",
            b"%00",
            b"[::1]",
            b"[2606:4700::1111]",
            b"[::ffff:8.8.8.8]",
            b"%25eth0",
            b"8.8.8.8",
            b"0x8.8",
            b"1.1",
            b".",
            "。".encode(),
            "ⓔ".encode(),
            b"/",
            b"?q=a b",
            b"#x",
            b"/../",
            b"\t",
            b"\r\n",
            b"_dmarc.a.co",
            b"a--b.co",
            b"..",
            b"xn--",
            b"0",
            "ß.de".encode(),
            "１.１.１.１".encode(),
        ),
    ),
    "redirect": Target(
        redirect,
        (
            b"//",
            b"/",
            b"?",
            b"#",
            b"http:",
            b"https://",
            b"[",
            b"]",
            b"[::1]",
            b"v1.x",
            b":",
            b":80",
            b"@",
            b"a.example",
            b"\\",
            b"..",
            b"\t",
            b"javascript:",
            "℀".encode(),
            "：".encode(),
            "＃".encode(),
        ),
    ),
    "charset": Target(
        charset,
        (
            b"<meta charset=",
            b"koi8-r",
            b"utf-8",
            b"shift_jis",
            b">",
            b"\xef\xbb\xbf",
            b"\xff\xfe",
            b"\xfe\xff",
            b"\x1b$B",
            b"\x1b(B",
            b"\x81\x30\x81\x30",
            b"<?xml encoding='",
            b"'?>",
            "é漢😀".encode(),
            "é漢😀".encode("utf-16-le"),
            b"\xed\xa0\x80",
            b"\xf0\x9f\x98",
            b"<!--",
            b"-->",
            b'http-equiv=content-type content="text/html; charset=gbk"',
            b"\0",
            b"~{",
            b"\x0e\x0f",
        ),
    ),
    "inflate": Target(
        inflate,
        (
            gzip.compress(b"kelp"),
            zlib.compress(b"kelp"),
            zlib.compress(b"kelp")[2:-4],
            b"\x1f\x8b\x08",
            b"\x78\x9c",
            b"\0" * 8,
        ),
    ),
    "read": Target(
        read,
        (
            b"\1",
            b"\2",
            b"<p>",
            b"</p>",
            b"<b>",
            b"</b>",
            b"<a href=",
            b"/x>",
            b"</a>",
            b"<table><tr><td>",
            b"</table>",
            b"<pre>",
            b"</pre>",
            b"<li>",
            b"<ul>",
            b"<ol start=",
            b"<blockquote>",
            b"<h1>",
            b"</h1>",
            b"<svg>",
            b"<math>",
            b"<template>",
            b"<select>",
            b"<!--",
            b"-->",
            b"<script>",
            b"</script>",
            b"<style>",
            b"<title>",
            b"<meta name=date content=",
            b"<base href=",
            b"<img alt=",
            b"javascript:",
            b"![x](",
            b"](http://a)",
            b"```\n",
            b"~~~\n",
            b"\n\n",
            b"| a | b |\n",
            b"&lt;",
            b"&#0;",
            b"&#xD800;",
            "\u200b\u202e".encode(),
            "😀\u200d".encode(),
            "\ue000\ue001".encode(),
            b"\0",
            b"\r\n",
            b'{"a": [1, ',
            b"]}",
            b"a,b;c\n",
            b'"',
            b"<?xml?>",
            b"<rss><channel><item><description>",
            b"<feed xmlns='http://www.w3.org/2005/Atom'><entry><title>",
            b'{"version": "https://jsonfeed.org/version/1", "items": [',
            b"<urlset><url><loc>/a</loc>",
            b"<svg viewBox='0 0 1 1'><text>",
            b"&lt;p&gt;",
            b"<![CDATA[",
            b"%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 1 0 R>>endobj trailer<</Root 1 0 R>>",
            b"PK\x03\x04",
            b"\x89PNG\r\n\x1a\n",
            b"\xff\xd8\xff\xe1",
            b" hidden",
            b" style=display:none",
            b"word " * 50,
            b"<main>",
            b"<article>",
            b"<nav>",
            b"<br>",
            b"<hr>",
            b"<code class=language-py>",
            b"<td colspan=9999>",
            b'<script type="application/ld+json">',
            b"Infinity",
            b"1e999",
            b"<noscript>",
            b"<frameset>",
            b"<plaintext>",
            b"<textarea>",
        ),
    ),
    "markup": Target(
        markup,
        (
            b"|",
            b"|",
            b"<p>",
            b"</p>",
            b"<div>",
            b"</div>",
            b"<div/>",
            b"<b id=#>",
            b"<B\vID=#>",
            b"<b>",
            b"</b>",
            b"<i>",
            b"</i>",
            b"<a>",
            b"</a>",
            b"<a href=#>",
            b"<font a b c=#>",
            b"<p>x" * 2_000,
            b"<span>",
            b"</span>",
            b"<x>",
            b"<x/>",
            b"</x>",
            b"<object>",
            b"</object>",
            b"<table>",
            b"</table>",
            b"<td>",
            b"</td>",
            b"<tr>",
            b"<caption>",
            b"<svg>",
            b"</svg>",
            b"<g/>",
            b"<g>",
            b"</g>",
            b"<foreignObject>",
            b"</foreignObject>",
            b"<desc>",
            b"<title>",
            b"</title>",
            b"<math>",
            b"<mi>",
            b"<annotation-xml encoding=text/html>",
            b"<style>",
            b"</style>",
            b"<script>",
            b"</script>",
            b"<script type=ld+json>",
            b"</scripts>",
            b"<textarea>",
            b"<xmp>",
            b"</xmp>",
            b"<iframe>",
            b"<plaintext>",
            b"<!--",
            b"-->",
            b"<!-->",
            b"<",
            b"--!>",
            b"<![CDATA[",
            b"]]>",
            b"<?",
            b"<!x>",
            b"</ >",
            b">",
            b"'",
            b'"',
            b"=",
            b"<p a='",
            b"<template>",
            b"</template>",
            b"<select>",
            b"<option>",
            b"<button>",
            b"<form>",
            b"</form>",
            b"<li>",
            b"<dd>",
            b"<ul>",
            b"<nobr>",
            b"<h1>",
            b"<marquee>",
            b"</marquee>",
            b"<frameset>",
            b"<body>",
            b"</body>",
            b"x",
        ),
    ),
    "head": Target(
        head,
        (
            b"\r\n",
            b"\n",
            b"\r",
            b": ",
            b" ",
            b"\t",
            b"\0",
            b"\xe9",
            b"Content-Length: 5\r\n",
            b"Content-Length",
            b"5",
            b",",
            b"Transfer-Encoding: chunked\r\n",
            b"chunked",
            b"gzip",
            b"Location: /a\r\n",
            b"A: b\r\n",
            b"Connection: keep-alive\r\n",
        ),
    ),
    "date": Target(
        date,
        (
            b"2026",
            b"-05-04",
            b"T",
            b"12:30",
            b":59.999999999",
            b"Z",
            b"+05:30",
            b"-99:99",
            b"May",
            b" 4, ",
            b"Mon, ",
            b"GMT",
            b"EST",
            b"31 Feb ",
            b"12 pm",
            b" (x)",
        ),
    ),
    "word": Target(
        word,
        (
            b"kelp ",
            b"Algae",
            b"7",
            "\u0300".encode(),
            "\u0640".encode(),
            "\u037a".encode(),
            "\u2488".encode(),
            "\U0001d400".encode(),
            "\ufdfa".encode(),
            "東京".encode(),
            "ไทย".encode(),
            "\u0e33".encode(),
            "한국어".encode(),
            "\u1100\u1161".encode(),
            "\u3099\u309b".encode(),
            "हिन्दी".encode(),
            "ß".encode(),
            "İ".encode(),
            b"_",
            b"*",
            b'"',
        ),
    ),
    "wait": Target(
        wait,
        (
            b"120",
            b"Wed, 21 Oct 2026 07:28:00 GMT",
            b"99999999999999999999",
            b"-1",
            b".5",
            b"nan",
            b" +9999",
            b"Feb 31 9999",
        ),
    ),
}
