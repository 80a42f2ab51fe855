"""The sources of API keys, and how keys stay secret.

An `ApiKey` hides where it comes from, and what it is.
"""

from __future__ import annotations
import base64
import hashlib
import importlib.util
import inspect
import re
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from shlex import quote
from time import monotonic
from types import FunctionType
from typing import Any, NamedTuple, TypeAlias

from pydantic import SecretStr

from .._runtime.deadline import time_left
from .._runtime.forks import Restartable
from .._runtime.threads import submit, wait_for
from ..errors import ConfigurationError, MissingKey, TimedOut, WebSearchError
from ._environ import is_loop_running, read_variable

KEYRING = "keyring:"

_pickling_keys: ContextVar[bool] = ContextVar("pickling_keys", default=False)
_INSTALL = "needs the package keyring: pip install 'websearch-core[keyring]'"
_FRESH = 60.0  # seconds for which a key of a keyring is used without reading it again
_PATIENCE = 2.0  # seconds that an event loop waits for a keyring
# The last keys of a function that we remember: a failing service may echo one of them.
_MAX_REMEMBERED = 8
_PROCESS_SECRET = secrets.token_bytes(16)
Key: TypeAlias = str | SecretStr | Callable[[], str]

_VARIABLE = "env:"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, 5.6.2
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_USER = re.compile(r"[^:\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
# These decide where a message goes and ends, or belong to the library.
_NOT_FOR_LOGIN = frozenset({
    "accept-encoding", "connection", "content-encoding", "content-length", "expect",
    "host", "keep-alive", "te",
    "trailer", "transfer-encoding", "upgrade", "user-agent",
})  # fmt: skip


@contextmanager
def pickle_keys() -> Iterator[None]:
    """Include keys in the pickles that are made inside this block.

    ::

        with pickle_keys():
            # Anybody who can read the data has the key.
            data = pickle.dumps(WebSearch("brave", api_key="..."))
    """
    token = _pickling_keys.set(True)
    try:
        yield
    finally:
        _pickling_keys.reset(token)


def check_key(value: str) -> str:
    """Return *value* without white space around it.

    Raises:
        ValueError: It cannot be the key of a service.
    """
    key = value.strip()
    if not key:
        raise ValueError("the key is empty")
    is_word = key.isprintable() and " " not in key
    if not key.isascii() or not is_word:
        raise ValueError("a key is printable ASCII without spaces")
    # Docker and systemd pass on the quotation marks of an env file.
    if key[0] == key[-1] and key[0] in "\"'":
        raise ValueError("the key is in quotation marks; leave them out")
    return key


class KeyFromEnvironment(SecretStr):
    """A key from an environment variable, which is read again after unpickling."""


class ApiKey(SecretStr):
    """A key that a provider reads for each request, and that appears nowhere else.

    It is a `SecretStr`, so that pydantic takes it for a field of a plug-in that is one.
    To pydantic's class its text is empty: nothing that is inherited can show it.
    """

    def __init__(self, source: _Source, owner: _Owner | None = None) -> None:
        super().__init__("")
        self._source = source
        self._owner = owner or _Owner()
        self._last_keys: tuple[SecretStr, ...] = ()  # of a function, the newest first

    @classmethod
    def of(cls, value: Any, check: Callable[[str], str] | None = None) -> ApiKey:
        """Make a key from text, a `SecretStr`, or a function.

        Args:
            value: The key, or what returns it.
            check: Returns the text to use or raises `ValueError`, also for the text
                that a function or a keyring returns; by default, for keys as services
                issue them. It must be a function of a module.

        Raises:
            ValueError: The value is not a valid key. The message does not show it.
            ConfigurationError: It is in a keyring, and the package ``keyring`` is not
                installed.
        """
        if isinstance(value, ApiKey):
            return value
        owner = _Owner(check=check or check_key)
        text = reveal(value)
        if is_in_keyring(text):
            return cls(_Keyring.at(text), owner)
        if isinstance(value, KeyFromEnvironment):
            return cls(_Variable(owner.check(text)), owner)
        if isinstance(text, str):
            return cls(_Text(owner.check(text)), owner)
        if not callable(value):
            # pydantic expects a ValueError
            raise ValueError("a key is text, or a function that returns it")  # noqa: TRY004
        if _is_async(value):
            raise ValueError(
                "the function that returns the key must not be async: the blocking "
                "calls use it as well"
            )
        return cls(_Function(value), owner)

    @classmethod
    def in_variable(cls, name: str, check: Callable[[str], str]) -> ApiKey:
        """Make a key that is read from the environment variable *name* for each
        request.
        """
        return cls(_Variable(None), _Owner(variables=(name,), check=check))

    @classmethod
    def hide(cls, secret: SecretStr) -> ApiKey:
        """Wrap *secret* so that pickles leave it out; any text is valid."""
        if isinstance(secret, ApiKey):
            return secret
        return cls(_Text(secret.get_secret_value()))

    def with_owner(
        self, provider: str, option: str, variables: tuple[str, ...] = ()
    ) -> ApiKey:
        """Return the same key with its owner, for error messages and for reading it
        again.
        """
        owner = self._owner._replace(provider=provider, option=option)
        if variables:
            owner = owner._replace(variables=variables)
        return type(self)(self._source, owner)

    def get_secret_value(self) -> str:
        """Return the current key.

        Raises:
            MissingKey: There is no key; the message names the variable to set.
            ConfigurationError: The function or the keyring that should return it
                failed.
        """
        if self._source.text is not None:
            return self._source.text
        key = self._source.read(self._owner)
        secret = SecretStr(key)
        if secret not in self._last_keys:
            self._last_keys = (secret, *self._last_keys[: _MAX_REMEMBERED - 1])
        return key

    def mark(self) -> str | None:
        """Return what tells the key that was last read from others in this process."""
        text = self._source.text
        if text is None and self._last_keys:
            text = self._last_keys[0].get_secret_value()
        if text is None:
            return None
        digest = hashlib.blake2b(text.encode(), key=_PROCESS_SECRET, digest_size=8)
        return digest.hexdigest()

    @property
    def is_of_machine(self) -> bool:
        """Whether it is in the environment or a keyring of this machine."""
        return isinstance(self._source, _Variable | _Keyring)

    @property
    def origin(self) -> str:
        """Where the key comes from, such as the name of an environment variable. It is
        not secret.
        """
        if isinstance(self._source, _Keyring):
            return str(self._source)
        if isinstance(self._source, _Variable):
            return self._owner.named
        option = self._owner.option
        if isinstance(self._source, _Function):
            return f"a function given as {option}"
        return option

    def identity(self) -> str:
        """Return a text that identifies this key, and is secret too: the key, or its
        place in a keyring.
        """
        if isinstance(self._source, _Keyring):  # slow to read
            return self.origin
        return self.get_secret_value()

    def list_texts(self) -> list[str]:
        """Return the last keys that requests had, without reading a new one, so that
        they can be removed from texts.
        """
        if self._source.text:
            return [self._source.text]
        return [key.get_secret_value() for key in self._last_keys]

    def __str__(self) -> str:
        return "**********"

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    def __len__(self) -> int:
        return len(self.get_secret_value())

    def __eq__(self, other: object) -> bool:
        text = self._source.text
        if not isinstance(other, ApiKey):
            return isinstance(other, SecretStr) and text == other.get_secret_value()
        if text and other._source.text:
            return text == other._source.text
        return self._source == other._source

    def __hash__(self) -> int:
        return hash(self._source.text or self._source)

    def __copy__(self) -> ApiKey:
        return self

    def __deepcopy__(self, memo: Any) -> ApiKey:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        source = self._source
        if not _pickling_keys.get():
            source = source.without_key()
        return type(self), (source, self._owner)


class _Owner(NamedTuple):
    """The provider and option that a key is for, for error messages."""

    provider: str = "the provider"
    option: str = "api_key"
    variables: tuple[str, ...] = ()
    check: Callable[[str], str] = check_key

    def missing(self, why: str) -> MissingKey:
        return MissingKey(
            f"{self.provider} has no {self.option}: {why}",
            variables=self.variables,
            provider=self.provider,
        )

    def failed(self, why: str) -> ConfigurationError:
        error = ConfigurationError(f"{self.provider}: {self.option}: {why}")
        error.locate(self.provider)
        return error

    @property
    def named(self) -> str:
        return " or ".join(self.variables) or "an environment variable"


class _Source:  # no dataclass: making five of them takes time with each import
    """Where a key comes from: unless it says otherwise, it has to be read each time,
    and is not a secret itself.
    """

    text: str | None = None  # the key, if it is known without reading it

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and vars(other) == vars(self)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def read(self, owner: _Owner) -> str:
        """Return the key."""
        raise NotImplementedError

    def without_key(self) -> _Source:
        """Return the source to pickle."""
        return self


class _Text(_Source):
    def __init__(self, text: str | None) -> None:
        self.text = text

    def without_key(self) -> _Source:
        return _Omitted()


class _Omitted(_Source):
    """Replaces a key that a pickle left out. A key of the environment could belong to
    another customer.
    """

    def read(self, owner: _Owner) -> str:
        raise owner.missing(
            f"a pickle does not hold keys. Set {owner.named} in both processes and do "
            f"not pass {owner.option}, or pass "
            "a function of a module that returns it, or make the pickle inside "
            "websearch_core.keys.pickle_keys()"
        )


class _Variable(_Text):
    """A key from the environment. Its text is None after unpickling: it is then read in
    that process.
    """

    def read(self, owner: _Owner) -> str:
        name = next(filter(read_variable, owner.variables), None)
        if name is None:
            raise owner.missing(f"it comes from the environment: set {owner.named}")
        key = read_variable(name)
        if not is_in_keyring(key):
            return _check_key_for(owner, key, name)
        try:
            place = _Keyring.at(key)
        except ConfigurationError:  # a ValueError as well
            raise
        except ValueError as error:
            raise owner.failed(f"{name}: {error}") from None
        return place.read(owner)

    def without_key(self) -> _Source:
        return _Variable(None)


class _Function(_Source):
    def __init__(self, function: Callable[[], Any]) -> None:
        self.function = function

    def read(self, owner: _Owner) -> str:
        try:
            key = self.function()
        except WebSearchError:
            raise
        except Exception as error:
            raise owner.failed(
                f"the function that returns the key failed: {type(error).__name__}"
            ) from error
        if inspect.isawaitable(key):
            if inspect.iscoroutine(key):
                key.close()
            raise owner.failed("the function that returns the key must not be async")
        return _check_key_for(owner, key, "what the function returned")

    def without_key(self) -> _Source:
        """A function of a module is pickled by its name; any other callable may contain
        the key.
        """
        if not isinstance(self.function, FunctionType):
            return _Omitted()
        is_of_module = "<" not in self.function.__qualname__
        return self if is_of_module else _Omitted()


class _Keyring(_Source):
    def __init__(self, service: str, name: str) -> None:
        self.service = service
        self.name = name

    def __str__(self) -> str:
        return f"{KEYRING}{self.service}/{self.name}"

    def fetch(self) -> SecretStr | None:
        """Return the key that is there now, however long that takes."""
        key = importlib.import_module("keyring").get_password(self.service, self.name)
        return None if key is None else SecretStr(key)

    @classmethod
    def at(cls, text: str) -> _Keyring:
        """Parse ``keyring:service/name``."""
        parts = text.strip().removeprefix(KEYRING).partition("/")
        service = parts[0]
        name = parts[2]
        if not service.strip() or not name.strip():
            raise ValueError("a key in a keyring is written keyring:service/name")
        if not (service + name).isprintable():
            raise ValueError(
                "the service and the name of a key in a keyring are printable"
            )
        place = cls(service, name)
        if importlib.util.find_spec("keyring") is None:
            raise ConfigurationError(f"{place}: {_INSTALL}")
        return place

    def read(self, owner: _Owner) -> str:
        try:
            key = keyrings.read(self)
        except TimedOut as error:
            raise owner.failed(f"{self}: {error}") from error
        except ImportError as error:
            raise owner.failed(f"{self}: {_INSTALL}") from error
        except Exception as error:  # noqa: BLE001 - backends raise anything
            # not the text, nor the error itself: they may hold a key
            why = type(error).__name__
            raise owner.failed(f"{self}: the keyring cannot be read: {why}") from None
        if key is None:
            how = f"keyring set {quote(self.service)} {quote(self.name)}"
            raise owner.missing(f"the keyring has none at {self}: {how}")
        return _check_key_for(owner, key, str(self))


class Keyrings(Restartable):
    """Read keys from keyrings of the system, each at most once a minute.

    A keyring may ask its user for a password first, and a backend is code of somebody
    else. So it is called in a thread, once for a place at a time, and its errors are
    named but not quoted, since their text may hold a key.
    """

    def start_over(self) -> None:
        """Forget everything: a forked process does not have the threads that read."""
        self._lock = threading.Lock()
        self._reads: dict[_Keyring, tuple[float, Future[SecretStr | None]]] = {}

    def read(self, place: _Keyring) -> SecretStr | None:
        """Return the key at *place*, or None; raise `TimedOut`, or whatever the keyring
        raises.
        """
        with self._lock:
            start, reading = self._reads.get(place, (0.0, None))
            if reading is None or not _is_usable(start, reading):
                reading = submit(place.fetch)
                self._reads[place] = (monotonic(), reading)
        patience = _PATIENCE if is_loop_running() else threading.TIMEOUT_MAX
        return wait_for(
            reading,
            min(time_left(), patience),
            "the keyring has not answered: it may be locked",
        )


def _is_usable(start: float, reading: Future[SecretStr | None]) -> bool:
    """Return whether a reading is under way, or has a key that is not too old."""
    if not reading.done():
        return True
    if reading.exception() is not None or reading.result() is None:
        return False
    return monotonic() - start < _FRESH


keyrings = Keyrings()


def is_in_keyring(value: Any) -> bool:
    """Return whether *value* names a key in a keyring instead of being one."""
    return isinstance(value, str) and value.strip().startswith(KEYRING)


def reveal(value: Any) -> Any:
    """Return the text of a `SecretStr`; anything else, an `ApiKey` too, as it is."""
    if isinstance(value, SecretStr) and not isinstance(value, ApiKey):
        return value.get_secret_value()
    return value


def _is_async(function: Callable[..., Any]) -> bool:
    """Return whether a function is async, or an object whose call is."""
    call = getattr(function, "__call__", None)  # noqa: B004
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def _check_key_for(owner: _Owner, value: Any, what: str) -> str:
    if isinstance(value, SecretStr):
        value = value.get_secret_value()
    if not isinstance(value, str):
        raise owner.failed(f"{what}: a key is text, not {type(value).__name__}")
    try:
        return owner.check(value)
    except ValueError as error:
        raise owner.failed(f"{what}: {error}") from None


@dataclass(frozen=True, kw_only=True)
class Credentials:
    """What to log in with at one origin, such as
    ``Credentials(bearer="env:WIKI_TOKEN")``.

    Each secret is text, a function that returns it and is called for each request,
    ``"keyring:service/name"``, or ``"env:NAME"`` for an environment variable. It is
    never shown, and left out of pickles unless they are made inside
    `websearch_core.keys.pickle_keys`.

    Args:
        bearer: A token, sent as ``Authorization: Bearer ...``.
        basic: A user and a password, sent as ``Authorization: Basic ...``.
        headers: Other headers, by name.
        cookies: Cookies, by name, such as those of a session.

    Raises:
        ConfigurationError: A name or a value cannot be sent, or there is nothing to
            send.
    """

    bearer: Key | None = field(default=None, repr=False)
    basic: tuple[str, Key] | None = field(default=None, repr=False)
    headers: Mapping[str, Key] = field(default_factory=dict, repr=False)
    cookies: Mapping[str, Key] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Check everything, and conceal the secrets."""
        bearer = self.bearer
        if bearer is not None:
            bearer = _conceal("bearer", bearer, check_key)
        self._set(
            bearer=bearer,
            basic=self._conceal_basic(),
            headers=_conceal_all("headers", self.headers, _check_value),
            cookies=_conceal_all("cookies", self.cookies, _check_cookie),
        )
        names = [name.lower() for name in self.headers]
        _check_header_names(names)
        secrets = self.list_secrets()
        if not secrets:
            raise ConfigurationError(
                "Credentials: give bearer, basic, headers or cookies"
            )
        logins = [kind for kind, _, _ in secrets if kind in {"bearer", "basic"}]
        if len(logins) + names.count("authorization") > 1:
            raise ConfigurationError(
                "Credentials: give bearer, basic or the header Authorization, not "
                "several of them"
            )

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _conceal_basic(self) -> tuple[str, ApiKey] | None:
        if self.basic is None:
            return None
        if not isinstance(self.basic, tuple | list) or len(self.basic) != 2:
            raise ConfigurationError(
                "Credentials: basic: give a user and a password: basic=(user, password)"
            )
        user, password = self.basic
        if not isinstance(user, str) or not _USER.fullmatch(user):
            raise ConfigurationError(
                "Credentials: basic: the user is text without a colon and control "
                "characters"
            )
        return user, _conceal("basic", password, _check_password)

    def with_owner(self, origin: str) -> Credentials:
        """Return the same with errors that name *origin*."""
        whose = f"credentials[{origin!r}]"
        changes: dict[str, Any] = {"headers": {}, "cookies": {}}
        for kind, name, key in self.list_secrets():
            if kind == "bearer":
                changes[kind] = key.with_owner(whose, kind)
            elif kind == "basic":
                changes[kind] = (name, key.with_owner(whose, kind))
            else:
                changes[kind][name] = key.with_owner(whose, f"{kind}[{name!r}]")
        return replace(self, **changes)

    def make_headers(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the headers to send now, and the secrets in them.

        Raises:
            MissingKey: A secret is missing where it should be; the message says where.
            ConfigurationError: The function or the keyring that should return one
                failed.
        """
        headers: dict[str, str] = {}
        cookies: list[str] = []
        secrets: list[str] = []
        for kind, name, key in self.list_secrets():
            text = key.get_secret_value()
            secrets.append(text)
            if kind == "bearer":
                headers["Authorization"] = f"Bearer {text}"
            elif kind == "basic":
                encoded = base64.b64encode(f"{name}:{text}".encode()).decode()
                secrets.append(encoded)
                headers["Authorization"] = f"Basic {encoded}"
            elif kind == "headers":
                headers[name] = text
                secrets.append(text.rpartition(" ")[2])
            else:
                cookies.append(f"{name}={text}")
        if cookies:
            headers["Cookie"] = "; ".join(cookies)
        return headers, tuple(filter(None, secrets))

    def list_secrets(self) -> tuple[tuple[str, str, ApiKey], ...]:
        """Return the secrets, each with its kind and its name."""
        secrets: list[Any] = [("headers", *header) for header in self.headers.items()]
        if self.bearer is not None:
            secrets.append(("bearer", "", self.bearer))
        if self.basic is not None:
            secrets.append(("basic", *self.basic))
        secrets += [("cookies", *cookie) for cookie in self.cookies.items()]
        return tuple(secrets)

    def __hash__(self) -> int:
        return hash(frozenset(self.list_secrets()))

    def identify(self) -> tuple[Any, ...]:
        """Return what is the same only for the same credentials, and is secret too."""
        return tuple(
            sorted(
                (kind, name, key.identity()) for kind, name, key in self.list_secrets()
            )
        )


def _conceal(what: str, value: Any, check: Callable[[str], str]) -> ApiKey:
    text = reveal(value)
    try:
        if isinstance(text, str) and text.strip().startswith(_VARIABLE):
            return ApiKey.in_variable(_parse_variable(text), check)
        return ApiKey.of(value, check)
    except ValueError as error:
        raise ConfigurationError(
            f"Credentials: {what}: {getattr(error, 'message', error)}"
        ) from None


def _parse_variable(text: str) -> str:
    name = text.strip().removeprefix(_VARIABLE)
    if not _VARIABLE_NAME.fullmatch(name):
        raise ValueError("a key in the environment is written env:NAME")
    return name


def _conceal_all(
    what: str, values: Any, check: Callable[[str], str]
) -> dict[str, ApiKey]:
    if not isinstance(values, Mapping):
        raise ConfigurationError(
            f"Credentials: {what}: give a mapping of names to values"
        )
    for name in values:
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise ConfigurationError(
                f"Credentials: {what}: a name has letters, digits and signs such as - "
                f"and _ only"
            )
    return {
        name: _conceal(f"{what}[{name!r}]", value, check)
        for name, value in values.items()
    }


def _check_header_names(names: list[str]) -> None:
    """Check the names, in lower case, of the headers to log in with."""
    for name in names:
        if name in _NOT_FOR_LOGIN or name.startswith("proxy-"):
            raise ConfigurationError(
                f"Credentials: headers: {name} is not a header to log in with"
            )
    if "cookie" in names:
        raise ConfigurationError(
            'Credentials: headers: give cookies by name: cookies={"session": ...}'
        )
    if len(set(names)) < len(names):
        raise ConfigurationError("Credentials: headers: one name is given twice")


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
        raise ValueError(
            "the value of one cookie has no semicolon; give each cookie by its name"
        )
    return text


def _check_password(value: str) -> str:
    if not value:
        raise ValueError("the password is empty")
    if _CONTROL.search(value):
        raise ValueError("a password has no control characters")
    return value
