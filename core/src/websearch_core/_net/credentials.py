"""Send credentials to the origins that they are for, and nowhere else.

They are added to a request for a page where it is sent, so nothing above knows them: no
layer, event, cassette or reading service. Each redirect is another request, which gets
what its own origin has, usually nothing.
"""

from __future__ import annotations
import os
from collections.abc import Mapping
from dataclasses import fields
from hashlib import blake2b
from typing import Any

from .._text.urls import Origin, describe_url, find_origin, is_this_machine, split_url
from ..errors import ConfigurationError, UnsafeURL, WebSearchError
from ..flow import Request
from ..flow._redaction import SecretRequest
from ..keys import Credentials
from .guard import Guard


class OriginCredentials:
    """The `Credentials` of each origin, such as ``https://wiki.corp``. An entry that is
    not one, or not one that they may be sent to or that *guard* opens, is a
    `ConfigurationError`.
    """

    def __init__(self, entries: Mapping[str, Credentials], guard: Guard) -> None:
        self._of: dict[Origin, Credentials] = {}
        if not isinstance(entries, Mapping):
            raise ConfigurationError(
                'credentials: must be {"https://wiki.corp": Credentials(...)}'
            )
        for entry, credentials in entries.items():
            origin, named = _parse_origin(entry)
            if not isinstance(credentials, Credentials):
                raise ConfigurationError(
                    f"credentials: {named}: give Credentials(bearer=...), basic, "
                    f"headers or cookies"
                )
            try:
                guard.check(f"{named}/")
            except UnsafeURL as error:
                raise ConfigurationError(
                    f"credentials: {named} is not opened: {error}; if that is meant, "
                    f"add internal=[{named!r}]"
                ) from None
            if origin in self._of:
                raise ConfigurationError(f"credentials: {named} is given twice")
            self._of[origin] = credentials.with_owner(named)

    def __bool__(self) -> bool:
        return bool(self._of)

    def find(self, url: str) -> Credentials | None:
        """Return the credentials for the origin of *url*."""
        origin = find_origin(url) if self._of else None
        return self._of.get(origin) if origin else None

    def sign(self, request: Request) -> Request:
        """Return *request* for a page, with the credentials of its origin if it has
        some.
        """
        credentials = self.find(request.url)
        if credentials is None:
            return request
        own, secrets = credentials.make_headers()
        values = {part.name: getattr(request, part.name) for part in fields(Request)}
        values["headers"] = {
            name.title(): value for name, value in {**request.headers, **own}.items()
        }
        return SecretRequest(**values, secrets=secrets)

    def identify(self) -> str:
        """Return a text that is the same only for the same credentials, as far as they
        can be read, and hides them.
        """
        described: list[Any] = []
        for origin, credentials in sorted(self._of.items()):
            try:
                described.append((origin, credentials.identify()))
            except WebSearchError:
                described.append((origin, os.urandom(16)))
        if not described:
            return ""
        return blake2b(repr(described).encode(), digest_size=32).hexdigest()


def _parse_origin(entry: Any) -> tuple[Origin, str]:
    """Return an origin, and the origin as text."""
    if not isinstance(entry, str):
        raise ConfigurationError(
            "credentials: an origin is text, such as 'https://wiki.corp'"
        )
    named = describe_url(entry.strip()).rstrip("/")  # it may have a password in it
    try:
        parts = split_url(entry)
    except UnsafeURL as error:
        raise ConfigurationError(
            f"credentials: {named} is not an origin such as https://wiki.corp: {error}"
        ) from None
    origin = parts[:3]
    if parts[3] != "/":
        raise ConfigurationError(
            f"credentials: {named} has a path; an origin is scheme, host and port"
        )
    scheme, host = origin[:2]
    if scheme != "https" and not is_this_machine(host):
        raise ConfigurationError(
            f"credentials: {named} would get them unencrypted; use https"
        )
    return origin, named
