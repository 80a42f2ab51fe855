"""
Remove keys from responses.

A service may repeat the key that it was sent: in its answer, in a header, in an error. The key is removed from every
response on arrival, before a provider sees it, so that results, pages, notes and errors cannot contain it.

A key of fewer than eight characters is not removed: it would match inside words.
"""

from __future__ import annotations

import base64
import binascii
import html
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from urllib.parse import quote

from .flow import Request, Response

_MIN_LENGTH = 8
_MARK = "[key]"
_CREDENTIAL = re.compile("auth|cookie|credential|key|passw|secret|signature|token", re.IGNORECASE)


def keys_in(headers: Mapping[str, str]) -> tuple[str, ...]:
    """Return the keys in the *headers* of a request: the values, without a scheme, of headers named for credentials."""
    values = [value.rpartition(" ")[::2] for name, value in headers.items() if _CREDENTIAL.search(name)]
    passwords = [_decode_password(value) for scheme, value in values if scheme.lower() == "basic"]
    return tuple(filter(None, [*(value for _, value in values), *passwords]))


def without_keys(text: str, keys: Iterable[str]) -> str:
    """Return *text* without *keys* in any of their spellings."""
    for spelling in _spell(keys):
        text = text.replace(spelling, _MARK)
    return text


def redact_response(response: Response, request: Request) -> Response:
    """Return *response* without the keys that were sent with *request*."""
    keys = keys_in(request.headers)
    content = response.content
    for spelling in _spell(keys):
        content = content.replace(spelling.encode(), _MARK.encode())
    lower = [key.lower() for key in keys]  # as the names of headers are
    headers = {without_keys(name, lower): without_keys(value, keys) for name, value in response.headers.items()}
    if content == response.content and headers == response.headers:
        return response
    return replace(response, content=content, headers=headers)


def _spell(keys: Iterable[str]) -> list[str]:
    """Spell *keys* as in JSON, HTML, URLs, base64 and the repr of bytes; longest first, since some contain others."""
    found: set[str] = set()
    for key in keys:
        if len(key) < _MIN_LENGTH:
            continue
        escaped = re.sub(r"[^A-Za-z0-9._~-]", lambda sign: f"\\u{ord(sign[0]):04x}", key)
        quoted = quote(key, safe="")
        found |= {
            key,
            json.dumps(key)[1:-1],
            json.dumps(key)[1:-1].replace("/", r"\/"),
            escaped,
            re.sub(r"\\u....", lambda code: "\\u" + code[0][2:].upper(), escaped),
            html.escape(key),
            quoted,
            re.sub("%..", lambda code: code[0].lower(), quoted),
            quote(quoted, safe=""),
            quote(key),
            repr(key)[1:-1],
            *_spell_in_base64(key.encode()),
        }
    return sorted(found, key=lambda spelling: (-len(spelling), spelling))


def _spell_in_base64(key: bytes) -> Iterable[str]:
    """Yield the base64 characters that depend on *key* alone, for each of its three possible alignments."""
    for before in range(3):
        encoded = base64.b64encode(bytes(before) + key).decode()
        decided = encoded[-(-before * 8 // 6) : (before + len(key)) * 8 // 6]
        yield decided
        yield decided.translate(str.maketrans("+/", "-_"))


def _decode_password(credentials: str) -> str:
    """Return the password of Basic authentication (RFC 7617)."""
    try:
        return base64.b64decode(credentials, validate=True).decode().partition(":")[2]
    except (binascii.Error, UnicodeDecodeError):
        return ""
