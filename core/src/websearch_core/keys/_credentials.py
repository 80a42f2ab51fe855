"""What to log in with at one origin."""

from __future__ import annotations
import base64
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from pydantic import SecretStr

from ..errors import ConfigurationError
from ._keys import ApiKey, check_key

Key: TypeAlias = str | SecretStr | Callable[[], str]

_VARIABLE = "env:"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, 5.6.2
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NOT_YOURS = frozenset({  # what decides where a message goes and ends, or belongs to the library
    "accept-encoding", "connection", "content-encoding", "content-length", "expect", "host", "keep-alive", "te",
    "trailer", "transfer-encoding", "upgrade", "user-agent",
})  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """What to log in with at one origin, such as ``Credentials(bearer="env:WIKI_TOKEN")``.

    Each secret is text, a function that returns it and is called for each request, ``"keyring:service/name"``, or
    ``"env:NAME"`` for an environment variable. It is never shown, and left out of pickles unless they are made inside
    `websearch_core.keys.pickle_keys`.

    Args:
        bearer: A token, sent as ``Authorization: Bearer ...``.
        basic: A user and a password, sent as ``Authorization: Basic ...``.
        headers: Other headers, by name.
        cookies: Cookies, by name, such as those of a session.

    Raises:
        ConfigurationError: A name or a value cannot be sent, or there is nothing to send.
    """

    bearer: Key | None = field(default=None, repr=False)
    basic: tuple[str, Key] | None = field(default=None, repr=False)
    headers: Mapping[str, Key] = field(default_factory=dict, repr=False)
    cookies: Mapping[str, Key] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Check everything, and conceal the secrets."""
        conceal = {
            "bearer": self.bearer if self.bearer is None else _conceal("bearer", self.bearer, check_key),
            "basic": self._conceal_basic(),
            "headers": _conceal_all("headers", self.headers, _check_value),
            "cookies": _conceal_all("cookies", self.cookies, _check_cookie),
        }
        for name, value in conceal.items():
            object.__setattr__(self, name, value)
        names = [name.lower() for name in self.headers]
        for name in names:
            if name in _NOT_YOURS or name.startswith("proxy-"):
                raise ConfigurationError(f"Credentials: headers: {name} is not a header to log in with")
        if "cookie" in names:
            raise ConfigurationError('Credentials: headers: give cookies by name: cookies={"session": ...}')
        if len(set(names)) < len(names):
            raise ConfigurationError("Credentials: headers: one name is given twice")
        if (self.bearer is not None) + (self.basic is not None) + ("authorization" in names) > 1:
            raise ConfigurationError("Credentials: give bearer, basic or the header Authorization, not several of them")
        if self.bearer is None and self.basic is None and not self.headers and not self.cookies:
            raise ConfigurationError("Credentials: give bearer, basic, headers or cookies")

    def _conceal_basic(self) -> tuple[str, ApiKey] | None:
        if self.basic is None:
            return None
        if not isinstance(self.basic, tuple | list) or len(self.basic) != 2:
            raise ConfigurationError("Credentials: basic: give a user and a password: basic=(user, password)")
        user, password = self.basic
        if not isinstance(user, str) or not user or ":" in user or _CONTROL.search(user):
            raise ConfigurationError("Credentials: basic: the user is text without a colon and control characters")
        return user, _conceal("basic", password, _check_password)

    def owned(self, origin: str) -> Credentials:
        """Return the same with errors that name *origin*."""
        whose = f"credentials[{origin!r}]"
        concealed: Any = self  # each secret is an `ApiKey` now
        changed: dict[str, Any] = {
            "bearer": None if self.bearer is None else concealed.bearer.owned(whose, "bearer", ()),
            "headers": {name: key.owned(whose, f"headers[{name!r}]", ()) for name, key in concealed.headers.items()},
            "cookies": {name: key.owned(whose, f"cookies[{name!r}]", ()) for name, key in concealed.cookies.items()},
        }
        if self.basic is not None:
            changed["basic"] = self.basic[0], concealed.basic[1].owned(whose, "basic", ())
        return replace(self, **changed)

    def make_headers(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the headers to send now, and the secrets in them.

        Raises:
            MissingKey: A secret is missing where it should be; the message says where.
            ConfigurationError: The function or the keyring that should return one failed.
        """
        sent = {name: _read(key) for name, key in self.headers.items()}
        cookies = {name: _read(key) for name, key in self.cookies.items()}
        secrets = [*sent.values(), *(value.rpartition(" ")[2] for value in sent.values()), *cookies.values()]
        if self.bearer is not None:
            secrets.append(token := _read(self.bearer))
            sent["Authorization"] = f"Bearer {token}"
        if self.basic is not None:
            secrets.append(password := _read(self.basic[1]))
            encoded = base64.b64encode(f"{self.basic[0]}:{password}".encode()).decode()
            secrets.append(encoded)
            sent["Authorization"] = f"Basic {encoded}"
        if cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in cookies.items())
        return sent, tuple(filter(None, secrets))

    def list_secrets(self) -> tuple[tuple[str, str, ApiKey], ...]:
        """Return the secrets, each with its kind and its name."""
        bearer = {} if self.bearer is None else {"": self.bearer}
        kinds = {"bearer": bearer, "basic": dict([self.basic] if self.basic else ()), "headers": self.headers}
        every: Any = {**kinds, "cookies": self.cookies}
        return tuple((kind, name, every[kind][name]) for kind in every for name in sorted(every[kind]))

    def __hash__(self) -> int:
        return hash(self.list_secrets())

    def identify(self) -> tuple[Any, ...]:
        """Return what is the same only for the same credentials, and is secret too."""
        return tuple((kind, name, key.identity()) for kind, name, key in self.list_secrets())


def _conceal(what: str, value: Any, check: Callable[[str], str]) -> ApiKey:
    text = value.get_secret_value() if isinstance(value, SecretStr) and not isinstance(value, ApiKey) else value
    try:
        if isinstance(text, str) and text.strip().startswith(_VARIABLE):
            return ApiKey.in_variable(_parse_variable(text), check)
        return ApiKey.of(value, check)
    except ValueError as error:
        raise ConfigurationError(f"Credentials: {what}: {getattr(error, 'message', error)}") from None


def _parse_variable(text: str) -> str:
    name = text.strip().removeprefix(_VARIABLE)
    if not _VARIABLE_NAME.fullmatch(name):
        raise ValueError("a key in the environment is written env:NAME")
    return name


def _conceal_all(what: str, given: Any, check: Callable[[str], str]) -> dict[str, ApiKey]:
    if not isinstance(given, Mapping):
        raise ConfigurationError(f"Credentials: {what}: give a mapping of names to values")
    for name in given:
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise ConfigurationError(f"Credentials: {what}: a name has letters, digits and signs such as - and _ only")
    return {name: _conceal(f"{what}[{name!r}]", value, check) for name, value in given.items()}


def _read(key: Any) -> str:
    assert isinstance(key, ApiKey)
    return key.get_secret_value()


def _check_value(value: str) -> str:
    text = value.strip(" \t")
    if not text:
        raise ValueError("the value is empty")
    if not text.isascii() or not text.isprintable():
        raise ValueError("a value is printable ASCII, in one line")
    return text


def _check_cookie(value: str) -> str:
    text = _check_value(value)
    if ";" in text:
        raise ValueError("the value of one cookie has no semicolon; give each cookie by its name")
    return text


def _check_password(value: str) -> str:
    if not value:
        raise ValueError("the password is empty")
    if _CONTROL.search(value):
        raise ValueError("a password has no control characters")
    return value
