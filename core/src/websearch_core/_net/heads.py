"""The heads of HTTP/1.1 messages: `gate` passes requests from a browser to sites, and
responses back. `repair_response` is what stands between a page's server and the parser.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from typing import NamedTuple, TypeAlias
from urllib.parse import quote_from_bytes

Fields: TypeAlias = list[tuple[str, bytes]]  # names in lower case

_NAME = rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+"
_TOKEN = re.compile(_NAME)
_STATUS = re.compile(
    rb"HTTP/[0-9]\.[0-9][ \t]+([1-9][0-9]{2})(?![0-9])[ \t]*(.*)",
    re.DOTALL | re.IGNORECASE,
)
# what the strict parser reads as it is: no line is folded
_IN_FORM = re.compile(
    rb"HTTP/[0-9]\.[0-9] [0-9]{3}(?: [^\x00-\x08\x0a-\x1f\x7f]*+)?\r?\n"
    rb"(?:" + _NAME + rb":[^\x00\n\v\f\r]*+\r?\n)*+\r?\n"
)
_REQUEST = re.compile(rb"([A-Z]+) ([\x21-\x7e]+) HTTP/1\.[01]")
_NEVER_IN_VALUES = (b"\n", b"\r", b"\0")
# Fields for one connection only (RFC 9110, 7.6.1). Transfer-Encoding is not among them:
# the gate passes a body on as it comes.
_HOP_BY_HOP = frozenset({"connection", "keep-alive", "te", "trailer", "upgrade"})
_ASCII = bytes(range(128))
_BODY_LENGTHS = frozenset({"content-length", "transfer-encoding"})
# Fields with one value. Two values of a field that says where the body ends, or where
# the page is, are an error; of the others, the first counts.
_DECISIVE = _BODY_LENGTHS | {"location"}
_SINGLE = _DECISIVE | {"content-type", "refresh", "retry-after"}


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
    """Parse the head of a response as browsers do: without the lines that are not
    fields. Raise `MalformedHead` if one of them could be more to another program.

    A browser also ends a line at a single line feed, so that is an end here too: no
    field may hide in another's value.
    """
    line, *lines = [text.rstrip(b"\r") for text in head.lstrip(b"\r\n").split(b"\n")]
    match = _STATUS.fullmatch(line)
    if match is None or b"\0" in head:
        raise MalformedHead("not a response")
    fields: Fields = []
    is_field = False
    for text in lines:
        if text[:1] in (b" ", b"\t"):  # it goes on with the line before
            if is_field:
                name, value = fields[-1]
                fields[-1] = name, (value + b" " + _clean(text)).strip()
            continue
        field = _parse_loosely(text)
        is_field = field is not None
        if field is not None:
            fields.append(field)
    return ResponseHead(int(match[1]), _clean(match[2]), fields)


def repair_response(head: bytes) -> bytes:
    """Return the head of a page's response in the form that a strict parser reads;
    *head* itself if it has that form.

    A repaired one ends its connection: if the server meant something else, only this
    page is wrong. Raise `MalformedHead` if it says two things about where the body ends
    or where the page is.
    """
    response = parse_response(head)
    fields = _unite(response.fields)
    if fields == response.fields and _IN_FORM.fullmatch(head):
        return head
    if {name for name, _ in fields} >= _BODY_LENGTHS:
        raise MalformedHead("a length beside chunks")
    return write_response(response.status, b"", fields)


def _unite(fields: Fields) -> Fields:
    """Return *fields* with one line for each field that can only have one value."""
    values: dict[str, bytes] = {}
    united: Fields = []
    for name, raw_value in fields:
        if name not in _SINGLE:
            united.append((name, raw_value))
            continue
        value = raw_value
        if name in _BODY_LENGTHS:
            value = _unite_list(name, raw_value)
        elif name == "location":
            value = _encode_raw_bytes(raw_value)
        if not value and name in _BODY_LENGTHS:
            continue
        if name not in values:
            values[name] = value
            united.append((name, value))
        elif value != values[name] and name in _DECISIVE:
            raise MalformedHead(f"two values of {name}")
    if values.get("content-length", b"0").isdigit():
        return united
    return [field for field in united if field[0] != "content-length"]


def _unite_list(name: str, value: bytes) -> bytes:
    """Return the only member of a list, however often it has it; empty if there is
    none.
    """
    members = {member.strip(b" \t").lower() for member in value.split(b",")}
    members -= {b"", b"identity"}
    is_unknown = name == "transfer-encoding" and not members <= {b"chunked"}
    if len(members) > 1 or is_unknown:
        raise MalformedHead(f"unclear values of {name}")
    return b"".join(members)


def _encode_raw_bytes(location: bytes) -> bytes:
    """Return *location* with its raw bytes encoded, unless they are UTF-8: those are
    read as characters, which a host name may have.
    """
    try:
        location.decode()
    except UnicodeDecodeError:
        return quote_from_bytes(location, safe=_ASCII).encode()
    return location


def _parse_loosely(line: bytes) -> tuple[str, bytes] | None:
    """Return the name and the value of a field of a response; None if the line is not
    one.
    """
    parts = line.split(b":", 1)
    name = parts[0].rstrip(b" \t")
    is_field = len(parts) > 1
    if is_field and _TOKEN.fullmatch(name):
        return name.decode().lower(), _clean(parts[1])
    letters = re.sub(rb"[^a-z]", b"", name.lower())
    if letters in {b"contentlength", b"transferencoding"}:
        raise MalformedHead("a disguised field")
    if is_field and b"\r" in name:
        raise MalformedHead("a line that ends inside a name")
    return None


def _clean(value: bytes) -> bytes:
    """Return *value* with blanks for what only looks like the end of a line."""
    return re.sub(rb"[\r\v\f]", b" ", value).strip(b" \t")


def _parse_field(line: bytes) -> tuple[str, bytes] | None:
    """Return the name and the value of a field of a request; None if the line is not
    one.
    """
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
