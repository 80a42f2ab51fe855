"""Remove keys from responses.

A service may repeat the key that it was sent: in its answer, in a header, in an error.
The key is removed from every response on arrival, before a provider sees it, so that
results, pages, notes and errors cannot contain it.

A key of fewer than eight characters is not removed: it would match inside words.
"""

from __future__ import annotations
import base64
import binascii
import html
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html.entities import html5
from urllib.parse import quote

from . import Request, Response

_MIN_LENGTH = 8
_MARK = "[key]"
# bytes: a larger body is not searched for spellings that mix escapes, which takes .5 s
# per MiB
_MAX_MIXED = 2**20
_CREDENTIAL = re.compile(
    "auth|cookie|credential|key|passw|secret|signature|token", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class SecretRequest(Request):
    """A request with *secrets* in headers of any name."""

    secrets: tuple[str, ...] = field(default=(), repr=False)


def keys_in(request: Request) -> tuple[str, ...]:
    """Return the keys in *request*: secret parameters, credentials in headers without a
    scheme, and what it names.
    """
    keys = [*request.secret_params.values()]
    if isinstance(request, SecretRequest):
        keys += request.secrets
    for name, value in request.headers.items():
        if not _CREDENTIAL.search(name):
            continue
        scheme = value.rpartition(" ")[0]
        credentials = value.rpartition(" ")[2]
        keys.append(credentials)
        if scheme.lower() == "basic":
            keys.append(_decode_password(credentials))
    return tuple(dict.fromkeys(filter(None, keys)))


def without_keys(text: str, keys: Iterable[str]) -> str:
    """Return *text* without *keys* in any of their spellings."""
    keys = tuple(
        sorted((key for key in keys if len(key) >= _MIN_LENGTH), key=len, reverse=True)
    )
    for spelling in _spell(keys):
        text = text.replace(spelling, _MARK)
    # which takes a thirtieth of the time of a pattern
    may_escape = "\\" in text or "&" in text or "%" in text
    if not may_escape:
        return text
    for key in keys:
        text = _escaped(key).sub(_MARK, text)
    return text


def redact_response(response: Response, request: Request) -> Response:
    """Return *response* without the keys that were sent with *request*."""
    keys = keys_in(request)
    if not keys:
        return response
    content = redact_content(response.content, keys)
    headers = response.headers
    lower = tuple(map(str.lower, keys))  # as the names of headers are
    names = "\n".join(headers)
    values = "\n".join(headers.values())
    if without_keys(names, lower) != names or without_keys(values, keys) != values:
        headers = {
            without_keys(name, lower): without_keys(value, keys)
            for name, value in headers.items()
        }
    if content == response.content and headers == response.headers:
        return response
    return replace(response, content=content, headers=headers)


def redact_content(content: bytes, keys: Iterable[str]) -> bytes:
    """Return *content* without *keys*. JSON in UTF-16 or UTF-32 that holds one comes
    back in UTF-8.
    """
    keys = tuple(key for key in keys if len(key) >= _MIN_LENGTH)
    encoding = "utf-8"
    if b"\0" in content[:4]:
        encoding = json.detect_encoding(content)
    if encoding != "utf-8":
        text = content.decode(encoding, "replace")
        if without_keys(text, keys) != text:
            content = text.encode(errors="replace")
    for spelling in _spell(keys):
        content = content.replace(spelling.encode(), _MARK.encode())
    if len(content) > _MAX_MIXED:
        return content
    may_escape = b"\\" in content or b"&" in content or b"%" in content
    if may_escape:
        # a letter for each byte
        content = without_keys(content.decode("latin-1"), keys).encode("latin-1")
    return content


@lru_cache(maxsize=64)
def _escaped(key: str) -> re.Pattern[str]:
    """Return a pattern of *key*, any letter of which may be escaped for JSON, HTML or
    URLs.

    Each group but the first is atomic: a key of backslashes must not take exponential
    time.
    """
    first, *others = map(_escaped_letter, key)
    return re.compile(f"(?:{first})" + "".join(f"(?>{letter})" for letter in others))


@lru_cache(maxsize=256)
def _escaped_letter(letter: str) -> str:
    """Return a pattern of *letter*; each branch begins with a literal, which `re` looks
    for first.
    """
    code = ord(letter)
    plain = re.escape(letter)
    entities = [name for name, value in html5.items() if value == letter]
    names = [re.escape(name) for name in entities if name.endswith(";")]
    digits = re.sub(
        "[a-f]", lambda digit: f"[{digit[0]}{digit[0].upper()}]", f"{code:02x}"
    )
    entity = "|".join([*names, f"#0{{0,6}}{code};?", f"#[xX]0{{0,6}}{digits};?"])
    return (
        rf"&(?:amp;)?(?:{entity})|\\u0026(?:{entity})|%(?:25)?{digits}"
        rf"|\\\\?u00{digits}|\\\\?{plain}|{plain}"
    )


@lru_cache(maxsize=64)
def _spell(keys: tuple[str, ...]) -> list[str]:
    """Spell *keys* as in JSON, HTML, URLs, base64 and the repr of bytes; longest first,
    since some contain others.

    The result is cached: it is needed for the body and for every header of every
    response.
    """
    spellings: set[str] = set()
    for key in keys:
        escaped = re.sub(
            r"[^A-Za-z0-9._~-]", lambda sign: f"\\u{ord(sign[0]):04x}", key
        )
        quoted = quote(key, safe="")
        spellings |= {
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
    return sorted(spellings, key=lambda spelling: (-len(spelling), spelling))


def _spell_in_base64(key: bytes) -> Iterable[str]:
    """Yield the base64 characters that depend on *key* alone, for each of its three
    possible alignments.
    """
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
