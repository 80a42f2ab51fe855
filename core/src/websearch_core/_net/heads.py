"""The heads of HTTP/1.1 messages: `gate` passes requests from a browser to sites, and
responses back.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

Fields: TypeAlias = list[tuple[str, bytes]]  # names in lower case

_TOKEN = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_STATUS = re.compile(rb"HTTP/1\.[01] +([1-9][0-9]{2})(?: (.*))?", re.DOTALL)
_REQUEST = re.compile(rb"([A-Z]+) ([\x21-\x7e]+) HTTP/1\.[01]")
_NEVER_IN_VALUES = (b"\n", b"\r", b"\0")
# Fields for one connection only (RFC 9110, 7.6.1). Transfer-Encoding is not among them:
# the gate passes a body on as it comes.
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "te", "trailer", "upgrade"})


class MalformedHead(Exception):
    """Not the head of a message, or one that two programs could read differently."""


class RequestHead(NamedTuple):
    """The head of a request."""

    method: str
    target: str
    fields: Fields


class ResponseHead(NamedTuple):
    """The head of a response."""

    status: int
    reason: bytes
    fields: Fields


def parse_request(head: bytes) -> RequestHead:
    """Parse the head of a request strictly: only a browser sends it."""
    line, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    match = _REQUEST.fullmatch(line)
    if match is None:
        raise MalformedHead("not a request")
    fields: Fields = []
    for text in lines:
        field = _parse_field(text)
        if field is None:
            raise MalformedHead("a malformed field")
        fields.append(field)
    return RequestHead(match[1].decode(), match[2].decode(), fields)


def parse_response(head: bytes) -> ResponseHead:
    """Parse the head of a response, without the lines that are not fields.

    A browser also ends a line at a single line feed, so that is an end here too: no
    field may hide in another's value.
    """
    line, *lines = [text.rstrip(b"\r") for text in head.split(b"\n")]
    match = _STATUS.fullmatch(line)
    if match is None:
        raise MalformedHead("not a response")
    fields: Fields = []
    for text in lines:
        field = _parse_field(text)
        if field is not None:
            fields.append(field)
    reason = match[2] or b""
    return ResponseHead(int(match[1]), reason.replace(b"\r", b""), fields)


def _parse_field(line: bytes) -> tuple[str, bytes] | None:
    """Return the name and the value of a field; None if the line is not one."""
    if b":" not in line:
        return None
    name, value = line.split(b":", 1)
    if not _TOKEN.fullmatch(name):
        return None
    if any(sign in value for sign in _NEVER_IN_VALUES):
        return None
    return name.decode().lower(), value.strip(b" \t")


def find_body_length(fields: Fields) -> int:
    """Return the length of a request's body; 0 if there is none. Raise `MalformedHead`
    unless a Content-Length states it, without ambiguity.
    """
    lengths = {value for name, value in fields if name == "content-length"}
    is_chunked = any(name == "transfer-encoding" for name, _ in fields)
    are_numbers = all(re.fullmatch(rb"[0-9]{1,12}", value) for value in lengths)
    is_clear = are_numbers and len(lengths) <= 1
    if is_chunked or not is_clear:
        raise MalformedHead("a body of unknown length")
    if not lengths:
        return 0
    return int(lengths.pop())


def write_request(
    method: str,
    path: str,
    host: str,
    fields: Fields,
    own_fields: Mapping[str, str] | None = None,
) -> bytes:
    """Return the head of a request to a site: *own_fields*, and those of *fields* that
    a browser did not send to the gate itself.
    """
    lines = [f"{method} {path} HTTP/1.1".encode(), b"Host: " + host.encode()]
    lines += [f"{name}: {value}".encode() for name, value in (own_fields or {}).items()]
    lines += [
        name.encode() + b": " + value
        for name, value in _drop_hop_by_hop(fields)
        if name != "host"
    ]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def write_response(status: int, reason: bytes, fields: Fields) -> bytes:
    """Return the head of a response to the browser, without the fields by which a site
    could pose as its proxy.
    """
    lines = [b"HTTP/1.1 %d " % status + reason]
    lines += [name.encode() + b": " + value for name, value in _drop_hop_by_hop(fields)]
    return b"\r\n".join([*lines, b"Connection: close", b"", b""])


def _drop_hop_by_hop(fields: Fields) -> Fields:
    return [(name, value) for name, value in fields if not _is_hop_by_hop(name)]


def _is_hop_by_hop(name: str) -> bool:
    return name in _HOP_BY_HOP or name.startswith("proxy-")
