"""The heads of HTTP/1.1 messages, as `gate` reads them from a browser and writes them
to sites, and the other way.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from typing import TypeAlias

Fields: TypeAlias = list[tuple[str, bytes]]  # names in lower case

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_STATUS = re.compile(rb"HTTP/1\.[01] +([1-9][0-9]{2})(?: (.*))?", re.DOTALL)
_REQUEST = re.compile(rb"([A-Z]+) ([\x21-\x7e]+) HTTP/1\.[01]")
# What concerns one connection only, and what speaks to the client of a proxy (RFC 9110,
# 7.6.1).
_HOP = frozenset({"connection", "keep-alive", "te", "trailer", "upgrade"})


class MalformedHead(Exception):
    """A head that two programs could read differently, or that is not one at all."""


def parse_request(head: bytes) -> tuple[str, str, Fields]:
    """Return the method, the target and the fields of a request, read strictly: only a
    browser sends it.
    """
    line, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    match = _REQUEST.fullmatch(line)
    if match is None:
        raise MalformedHead("not a request")
    fields: Fields = []
    for one in lines:
        name, colon, value = one.partition(b":")
        if (
            not colon
            or not _TOKEN.fullmatch(name)
            or b"\n" in value
            or b"\r" in value
            or b"\0" in value
        ):
            raise MalformedHead("a malformed field")
        fields.append((name.decode().lower(), value.strip(b" \t")))
    return match[1].decode(), match[2].decode(), fields


def parse_answer(head: bytes) -> tuple[int, bytes, Fields]:
    """Return the status, the reason and the fields of an answer. Lines that are not
    fields are left out.

    A browser also ends a line at a single line feed, so that is an end here too: no
    field may hide in another's value.
    """
    line, *lines = [one.rstrip(b"\r") for one in head.split(b"\n")]
    match = _STATUS.fullmatch(line)
    if match is None:
        raise MalformedHead("not an answer")
    fields: Fields = []
    for one in lines:
        name, colon, value = one.partition(b":")
        if (
            colon
            and _TOKEN.fullmatch(name)
            and b"\r" not in value
            and b"\0" not in value
        ):
            fields.append((name.decode().lower(), value.strip(b" \t")))
    return int(match[1]), (match[2] or b"").replace(b"\r", b""), fields


def body_length(fields: Fields) -> int:
    """Return the length of the body of a request, which must be unambiguous and stated;
    0 without one.
    """
    lengths = {value for name, value in fields if name == "content-length"}
    chunked = any(name == "transfer-encoding" for name, _ in fields)
    if (
        chunked
        or len(lengths) > 1
        or not all(re.fullmatch(rb"[0-9]{1,12}", value) for value in lengths)
    ):
        raise MalformedHead("a body of unknown length")
    return int(lengths.pop()) if lengths else 0


def write_request(
    method: str,
    path: str,
    host: str,
    fields: Fields,
    own: Mapping[str, str] | None = None,
) -> bytes:
    """Return the head of a request to a site, without what was for the gate, and with
    our *own* fields.
    """
    lines = [f"{method} {path} HTTP/1.1".encode(), b"Host: " + host.encode()]
    lines += [f"{name}: {value}".encode() for name, value in (own or {}).items()]
    lines += [
        name.encode() + b": " + value
        for name, value in _passed_on(fields)
        if name != "host"
    ]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def write_answer(status: int, reason: bytes, fields: Fields) -> bytes:
    """Return the head of an answer to the browser, without what only a proxy may
    say.
    """
    lines = [b"HTTP/1.1 %d " % status + reason]
    lines += [name.encode() + b": " + value for name, value in _passed_on(fields)]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def _passed_on(fields: Fields) -> Fields:
    return [
        (name, value)
        for name, value in fields
        if name not in _HOP and not name.startswith("proxy-")
    ]
