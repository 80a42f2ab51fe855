"""What is repaired in the head of a page's response, and what is refused."""

from __future__ import annotations

import pytest

from websearch_core._net.heads import MalformedHead, repair_response


def make(*lines: bytes, status: bytes = b"HTTP/1.1 200 OK", end: bytes = b"\r\n"):
    return end.join([status, *lines, b"", b""])


@pytest.mark.parametrize(
    "head",
    [
        make(),
        make(b"A: b", b"Content-Length: 5", b"Set-Cookie: a", b"Set-Cookie: b"),
        make(b"A:", b"B: \xe9\t\x01", b"Location: /a b", b"Transfer-Encoding: chunked"),
        make(b"Location: /\xc3\xa9"),
        make(b"A: b", end=b"\n"),
        make(status=b"HTTP/1.0 404"),
        # what stands here is not ours to judge: the connection is not used again
        make(b"Content-Length: 5", b"Transfer-Encoding: chunked"),
    ],
)
def test_a_head_in_form_stays_as_it_is(head):
    assert repair_response(head) == head


@pytest.mark.parametrize(
    ("lines", "repaired"),
    [
        ([b"X Powered By: me"], []),
        ([b"a/b.php: c", b"A: b"], [b"a: b"]),
        ([b"Content-Language : en"], [b"content-language: en"]),
        ([b"no colon", b"A: b"], [b"a: b"]),
        ([b": b"], []),
        ([b"\xe9: b"], []),
        ([b" A: b", b"B: c"], [b"b: c"]),
        ([b"A: b", b"\tc"], [b"a: b c"]),
        ([b"A B: c", b" Content-Length: 5"], []),
        ([b"A: b\rc\x0bd"], [b"a: b c d"]),
        ([b"Transfer-Encoding: chunked"] * 2, [b"transfer-encoding: chunked"]),
        ([b"Transfer-Encoding: Chunked"], [b"transfer-encoding: chunked"]),
        ([b"Transfer-Encoding: chunked, Chunked"], [b"transfer-encoding: chunked"]),
        ([b"Transfer-Encoding: identity", b"A: b"], [b"a: b"]),
        ([b"Content-Length : 5"], [b"content-length: 5"]),
        ([b"Content-Length: 5, 5"], [b"content-length: 5"]),
        ([b"Content-Length: about 5"], []),
        ([b"Location: /a"] * 2, [b"location: /a"]),
        ([b"Location: /\xe9%20"], [b"location: /%E9%20"]),
        ([b"Retry-After: 5", b"Retry-After: 9"], [b"retry-after: 5"]),
    ],
)
def test_a_line_out_of_form_is_repaired_or_dropped_and_the_connection_ends(
    lines, repaired
):
    assert repair_response(make(*lines)) == make(
        *repaired, b"Connection: close", status=b"HTTP/1.1 200 "
    )


@pytest.mark.parametrize(
    "status",
    [b"http/1.1 200 OK", b"HTTP/1.1  200", b"HTTP/1.1 200OK", b"\r\nHTTP/1.1 200"],
)
def test_a_first_line_out_of_form_is_repaired(status):
    assert repair_response(make(status=status)) == make(
        b"Connection: close", status=b"HTTP/1.1 200 "
    )


@pytest.mark.parametrize(
    "lines",
    [
        [b"Content-Length: 5", b"Content-Length: 6"],
        [b"Content-Length: 5, 6"],
        [b"Content-Length: 5", b"Content-Length : x"],
        [b"Content-Length : 5", b"Transfer-Encoding: chunked"],
        [
            b"Transfer-Encoding: chunked",
            b"Transfer-Encoding: chunked",
            b"Content-Length: 5",
        ],
        [b"Transfer-Encoding: gzip, chunked"],
        [b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip"],
        [b"Content Length: 5"],
        [b"\x0bTransfer-Encoding: chunked"],
        [b"Transfer_Encoding\xa0: chunked"],
        [b"A\r: b"],
        [b"A: b", b"B\rContent-Length: 5"],
        [b"A: \0"],
        [b"\0A: b"],
        [b"Location: /a", b"Location: /b"],
    ],
)
def test_what_says_two_things_is_refused(lines):
    with pytest.raises(MalformedHead):
        repair_response(make(*lines))


@pytest.mark.parametrize(
    "status",
    [b"HTTP/1.1 99 x", b"HTTP/1.1 2000", b"HTTP/2 200", b"SSH-2.0-OpenSSH_9.2"],
)
def test_what_is_no_response_is_refused(status):
    with pytest.raises(MalformedHead):
        repair_response(make(status=status))
