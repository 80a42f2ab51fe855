"""Cassettes without keys, on top of vcrpy.

They hold the headers of a list only, so nothing that identifies a client or a user is
stored: no key, cookie, user agent or address. Keys are also removed from queries, JSON
bodies and whatever a server repeats.
"""

from __future__ import annotations
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from ..errors import ConfigurationError
from ..flow import Request
from ..flow._redaction import keys_in, redact_content, without_keys

REQUEST_HEADERS = frozenset({"content-type"})
# What providers read.
RESPONSE_HEADERS = frozenset({
    "cf-mitigated", "content-encoding", "content-type", "location", "memento-datetime",
    "retry-after", "x-ratelimit-cost-usd", "x-ratelimit-limit", "x-ratelimit-policy",
    "x-ratelimit-remaining", "x-ratelimit-remaining-usd", "x-ratelimit-reset",
})  # fmt: skip
# no headers: those of a key are not stored
MATCH_ON = ("method", "scheme", "host", "port", "path", "query", "body")

_NAME_OF_KEY = re.compile(
    "auth|credential|key|passw|secret|signature|token", re.IGNORECASE
)
_MARK = "REDACTED"


@contextmanager
def use_cassette(path: Path, record_mode: str = "none") -> Iterator[Any]:
    """Replay the HTTP exchanges on the cassette at *path*, a YAML file, in this block,
    or record them.

    *record_mode* ``none`` replays, and refuses other requests; ``once`` records if
    there is no file yet; ``new_episodes`` adds what is missing; ``all`` records
    everything again. Needs vcrpy.
    """
    try:
        import vcr  # type: ignore[import-untyped]
    except ImportError as error:
        raise ConfigurationError("cassettes need vcrpy: pip install vcrpy") from error
    scrubber = Scrubber()
    recorder = vcr.VCR(
        record_mode=vcr.mode(record_mode),
        match_on=MATCH_ON,
        decode_compressed_response=True,  # or keys could hide in what is compressed
        before_record_request=scrubber.scrub_request,
        before_record_response=scrubber.scrub_response,
    )
    with recorder.use_cassette(str(path)) as cassette:
        yield cassette


class Scrubber:
    """Removes *keys*, and those that are sent, from the exchanges of one cassette."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = set(keys)

    def scrub_request(self, request: Any) -> Any:
        """Return the request of vcrpy without keys; remember them, since the server may
        repeat them.
        """
        headers = {name: str(value) for name, value in request.headers.items()}
        self._keys |= set(keys_in(Request(url=request.uri, headers=headers)))
        request.headers = {
            name: value
            for name, value in headers.items()
            if name.lower() in REQUEST_HEADERS
        }
        request.uri = self._scrub_url(request.uri)
        if request.body and "json" in headers.get(
            "content-type", headers.get("Content-Type", "")
        ):
            request.body = self._scrub_json(request.body)
        return request

    def scrub_response(self, response: dict[str, Any]) -> dict[str, Any]:
        """Return the response of vcrpy without other headers than ours, and without the
        keys that were sent.
        """
        headers = {
            name: self._scrub_header(values)
            for name, values in response["headers"].items()
            if name.lower() in RESPONSE_HEADERS
        }
        body = response.get("body", {}).get("string", b"")
        if isinstance(body, bytes):
            clean: Any = redact_content(body, self._keys)
        else:
            clean = without_keys(body, self._keys)
        return {**response, "headers": headers, "body": {"string": clean}}

    def _scrub_header(self, values: Any) -> list[str]:
        if isinstance(values, str):
            values = [values]
        return [without_keys(str(value), self._keys) for value in values]

    def _scrub_url(self, url: str) -> str:
        parts = urlsplit(url)
        query = parse_qsl(parts.query, keep_blank_values=True)
        if not any(_NAME_OF_KEY.search(name) for name, _ in query):
            return url
        self._keys |= {value for name, value in query if _NAME_OF_KEY.search(name)}
        clean = [
            (name, value) for name, value in query if not _NAME_OF_KEY.search(name)
        ]
        return urlunsplit(parts._replace(query=urlencode(clean)))

    def _scrub_json(self, body: Any) -> Any:
        try:
            data = json.loads(body)
        except ValueError:
            return body
        clean = self._scrub_value(data)
        return body if clean == data else json.dumps(clean).encode()

    def _scrub_value(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._scrub_value(item) for item in value]
        if not isinstance(value, dict):
            return value
        clean = {}
        for name, inner in value.items():
            is_key = isinstance(inner, str) and _NAME_OF_KEY.search(name)
            if is_key:
                self._keys.add(inner)
            clean[name] = _MARK if is_key else self._scrub_value(inner)
        return clean
