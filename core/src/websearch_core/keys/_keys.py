"""The sources of API keys, and how keys stay secret: an `ApiKey` hides where it comes
from, and what it is.
"""

from __future__ import annotations
import base64
import importlib.util
import inspect
import re
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

from .._runtime.deadline import time_left, wait_for
from .._runtime.forks import Restartable
from .._runtime.threads import submit
from ..errors import ConfigurationError, MissingKey, TimedOut, WebSearchError
from ._environ import is_loop_running, read_variable

KEYRING = "keyring:"

_pickling_keys: ContextVar[bool] = ContextVar("pickling_keys", default=False)
_INSTALL = "needs the package keyring: pip install 'websearch-core[keyring]'"
_FRESH = 60.0  # seconds for which a key of a keyring is given again without reading it
_PATIENCE = 2.0  # seconds that an event loop waits for a keyring
# last keys that a function returned: a failing service may echo one of them
_MAX_REMEMBERED = 8
Key: TypeAlias = str | SecretStr | Callable[[], str]

_VARIABLE = "env:"
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")  # RFC 9110, 5.6.2
_VARIABLE_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
# what decides where a message goes and ends, or belongs to the library
_NOT_YOURS = frozenset({
    "accept-encoding", "connection", "content-encoding", "content-length", "expect",
    "host", "keep-alive", "te",
    "trailer", "transfer-encoding", "upgrade", "user-agent",
})  # fmt: skip


@contextmanager
def pickle_keys() -> Iterator[None]:
    """Include keys in the pickles that are made inside this block.

    ::

        with pickle_keys():
            data = pickle.dumps(WebSearch("brave", api_key="..."))  # anybody who can read the data has the key
    """
    token = _pickling_keys.set(True)
    try:
        yield
    finally:
        _pickling_keys.reset(token)


def check_key(value: str) -> str:
    """Return *value* without white space around it, or raise `ValueError` if it cannot
    be the key of a service.
    """
    key = value.strip()
    if not key:
        raise ValueError("the key is empty")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ValueError("a key is printable ASCII without spaces")
    # as Docker and systemd pass on what stands in an env file
    if key[0] == key[-1] and key[0] in "\"'":
        raise ValueError("the key is in quotation marks; leave them out")
    return key


class KeyFromEnvironment(SecretStr):
    """A key from an environment variable, which is read again after unpickling."""


class ApiKey(SecretStr):
    """A key that a provider reads for each request, and that appears nowhere else."""

    def __init__(self, source: _Source, owner: _Owner | None = None) -> None:
        self._source = source
        self._owner = owner or _Owner()
        self._returned: tuple[SecretStr, ...] = ()

    @classmethod
    def of(cls, value: Any, check: Callable[[str], str] | None = None) -> ApiKey:
        """Make a key from text, a `SecretStr`, or a function.

        Args:
            value: The key, or what returns it.
            check: Returns the text to use or raises `ValueError`, also for what a
                function or a keyring returns; by default, for keys as services issue
                them. It must be a function of a module.

        Raises:
            ValueError: The value is not a valid key. The message does not show it.
            ConfigurationError: It is in a keyring, and the package ``keyring`` is not
                installed.
        """
        if isinstance(value, ApiKey):
            return value
        owner = _Owner(check=check or check_key)
        text = value.get_secret_value() if isinstance(value, SecretStr) else value
        if is_in_keyring(text):
            return cls(_Keyring.at(text), owner)
        if isinstance(text, str):
            return cls(
                (_Variable if isinstance(value, KeyFromEnvironment) else _Text)(
                    owner.check(text)
                ),
                owner,
            )
        if not callable(value):
            raise ValueError("a key is text, or a function that returns it")  # noqa: TRY004 - pydantic expects it
        if inspect.iscoroutinefunction(value) or inspect.iscoroutinefunction(
            getattr(value, "__call__", None)  # noqa: B004
        ):
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
    def hiding(cls, secret: SecretStr) -> ApiKey:
        """Wrap *secret* so that pickles leave it out; any text is valid."""
        return (
            secret
            if isinstance(secret, ApiKey)
            else cls(_Text(secret.get_secret_value()))
        )

    def owned(self, provider: str, option: str, variables: tuple[str, ...]) -> ApiKey:
        """Return the same key with its owner, for error messages and for reading it
        again.
        """
        return type(self)(
            self._source,
            _Owner(
                provider, option, variables or self._owner.variables, self._owner.check
            ),
        )

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
        if (kept := SecretStr(key)) not in self._returned:
            self._returned = (kept, *self._returned[: _MAX_REMEMBERED - 1])
        return key

    @property
    def is_kept_here(self) -> bool:
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
        return (
            f"a function given as {option}"
            if isinstance(self._source, _Function)
            else option
        )

    def identity(self) -> str:
        """Return a text that identifies this key, and is secret too: the key, or its
        place in a keyring.
        """
        # slow to read
        return (
            self.origin
            if isinstance(self._source, _Keyring)
            else self.get_secret_value()
        )

    def returned(self) -> list[str]:
        """Return the keys used recently, without reading a new one, so that they can be
        removed from texts.
        """
        text = self._source.text
        return [text] if text else [key.get_secret_value() for key in self._returned]

    @property
    def _secret_value(self) -> str:  # type: ignore[override]
        return self.get_secret_value()

    def _display(self) -> str:
        return "**********"

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ApiKey):
            ours, theirs = self._source.text, other._source.text
            return ours == theirs if ours and theirs else self._source == other._source
        return (
            isinstance(other, SecretStr)
            and self._source.text == other.get_secret_value()
        )

    def __hash__(self) -> int:
        return hash(self._source.text or self._source)

    def __copy__(self) -> ApiKey:
        return self

    def __deepcopy__(self, memo: Any) -> ApiKey:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (
            self._source if _pickling_keys.get() else self._source.without_key(),
            self._owner,
        )


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
        for name in owner.variables:
            if key := read_variable(name):
                if not is_in_keyring(key):
                    return _check_key_for(owner, key, name)
                try:
                    place = _Keyring.at(key)
                except ConfigurationError:  # a ValueError as well
                    raise
                except ValueError as error:
                    raise owner.failed(f"{name}: {error}") from None
                return place.read(owner)
        raise owner.missing(f"it comes from the environment: set {owner.named}")

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
        by_name = (
            isinstance(self.function, FunctionType)
            and "<" not in self.function.__qualname__
        )
        return self if by_name else _Omitted()


class _Keyring(_Source):
    def __init__(self, service: str, name: str) -> None:
        self.service, self.name = service, name

    def __str__(self) -> str:
        return f"{KEYRING}{self.service}/{self.name}"

    def fetch(self) -> SecretStr | None:
        """Return the key that is there now, however long that takes."""
        key = importlib.import_module("keyring").get_password(self.service, self.name)
        return None if key is None else SecretStr(key)

    @classmethod
    def at(cls, text: str) -> _Keyring:
        """Parse ``keyring:service/name``."""
        service, _, name = text.strip().removeprefix(KEYRING).partition("/")
        if not service.strip() or not name.strip():
            raise ValueError("a key in a keyring is written keyring:service/name")
        if not (service + name).isprintable():
            raise ValueError(
                "the service and the name of a key in a keyring are printable"
            )
        made = cls(service, name)
        if importlib.util.find_spec("keyring") is None:
            raise ConfigurationError(f"{made}: {_INSTALL}")
        return made

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
    """Read keys from keyrings of the system, and keep each for a minute.

    A keyring may ask its user for a password first, and a backend is code of somebody
    else: it is called in a thread, one place at a time, and what it raises is named but
    not quoted, since the text may hold a key.
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
            began, reading = self._reads.get(place, (0.0, None))
            if reading is None or (reading.done() and not _is_fresh(began, reading)):
                reading = submit(place.fetch)
                self._reads[place] = monotonic(), reading
        left = min(
            time_left(), _PATIENCE if is_loop_running() else threading.TIMEOUT_MAX
        )
        return wait_for(reading, left, "the keyring has not answered: it may be locked")


def _is_fresh(began: float, reading: Future[SecretStr | None]) -> bool:
    return (
        reading.exception() is None
        and reading.result() is not None
        and monotonic() - began < _FRESH
    )


keyrings = Keyrings()


def is_in_keyring(value: Any) -> bool:
    """Return whether *value* names a key in a keyring instead of being one."""
    return isinstance(value, str) and value.strip().startswith(KEYRING)


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
        conceal = {
            "bearer": self.bearer
            if self.bearer is None
            else _conceal("bearer", self.bearer, check_key),
            "basic": self._conceal_basic(),
            "headers": _conceal_all("headers", self.headers, _check_value),
            "cookies": _conceal_all("cookies", self.cookies, _check_cookie),
        }
        for name, value in conceal.items():
            object.__setattr__(self, name, value)
        names = [name.lower() for name in self.headers]
        for name in names:
            if name in _NOT_YOURS or name.startswith("proxy-"):
                raise ConfigurationError(
                    f"Credentials: headers: {name} is not a header to log in with"
                )
        if "cookie" in names:
            raise ConfigurationError(
                'Credentials: headers: give cookies by name: cookies={"session": ...}'
            )
        if len(set(names)) < len(names):
            raise ConfigurationError("Credentials: headers: one name is given twice")
        if (self.bearer is not None) + (self.basic is not None) + (
            "authorization" in names
        ) > 1:
            raise ConfigurationError(
                "Credentials: give bearer, basic or the header Authorization, not "
                "several of them"
            )
        if (
            self.bearer is None
            and self.basic is None
            and not self.headers
            and not self.cookies
        ):
            raise ConfigurationError(
                "Credentials: give bearer, basic, headers or cookies"
            )

    def _conceal_basic(self) -> tuple[str, ApiKey] | None:
        if self.basic is None:
            return None
        if not isinstance(self.basic, tuple | list) or len(self.basic) != 2:
            raise ConfigurationError(
                "Credentials: basic: give a user and a password: basic=(user, password)"
            )
        user, password = self.basic
        if (
            not isinstance(user, str)
            or not user
            or ":" in user
            or _CONTROL.search(user)
        ):
            raise ConfigurationError(
                "Credentials: basic: the user is text without a colon and control "
                "characters"
            )
        return user, _conceal("basic", password, _check_password)

    def owned(self, origin: str) -> Credentials:
        """Return the same with errors that name *origin*."""
        whose = f"credentials[{origin!r}]"
        concealed: Any = self  # each secret is an `ApiKey` now
        changed: dict[str, Any] = {
            "bearer": None
            if self.bearer is None
            else concealed.bearer.owned(whose, "bearer", ()),
            "headers": {
                name: key.owned(whose, f"headers[{name!r}]", ())
                for name, key in concealed.headers.items()
            },
            "cookies": {
                name: key.owned(whose, f"cookies[{name!r}]", ())
                for name, key in concealed.cookies.items()
            },
        }
        if self.basic is not None:
            changed["basic"] = (
                self.basic[0],
                concealed.basic[1].owned(whose, "basic", ()),
            )
        return replace(self, **changed)

    def make_headers(self) -> tuple[dict[str, str], tuple[str, ...]]:
        """Return the headers to send now, and the secrets in them.

        Raises:
            MissingKey: A secret is missing where it should be; the message says where.
            ConfigurationError: The function or the keyring that should return one
                failed.
        """
        sent = {name: _read(key) for name, key in self.headers.items()}
        cookies = {name: _read(key) for name, key in self.cookies.items()}
        secrets = [
            *sent.values(),
            *(value.rpartition(" ")[2] for value in sent.values()),
            *cookies.values(),
        ]
        if self.bearer is not None:
            secrets.append(token := _read(self.bearer))
            sent["Authorization"] = f"Bearer {token}"
        if self.basic is not None:
            secrets.append(password := _read(self.basic[1]))
            encoded = base64.b64encode(f"{self.basic[0]}:{password}".encode()).decode()
            secrets.append(encoded)
            sent["Authorization"] = f"Basic {encoded}"
        if cookies:
            sent["Cookie"] = "; ".join(
                f"{name}={value}" for name, value in cookies.items()
            )
        return sent, tuple(filter(None, secrets))

    def list_secrets(self) -> tuple[tuple[str, str, ApiKey], ...]:
        """Return the secrets, each with its kind and its name."""
        bearer = {} if self.bearer is None else {"": self.bearer}
        kinds = {
            "bearer": bearer,
            "basic": dict([self.basic] if self.basic else ()),
            "headers": self.headers,
        }
        every: Any = {**kinds, "cookies": self.cookies}
        return tuple(
            (kind, name, every[kind][name])
            for kind in every
            for name in sorted(every[kind])
        )

    def __hash__(self) -> int:
        return hash(self.list_secrets())

    def identify(self) -> tuple[Any, ...]:
        """Return what is the same only for the same credentials, and is secret too."""
        return tuple(
            (kind, name, key.identity()) for kind, name, key in self.list_secrets()
        )


def _conceal(what: str, value: Any, check: Callable[[str], str]) -> ApiKey:
    text = (
        value.get_secret_value()
        if isinstance(value, SecretStr) and not isinstance(value, ApiKey)
        else value
    )
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
    what: str, given: Any, check: Callable[[str], str]
) -> dict[str, ApiKey]:
    if not isinstance(given, Mapping):
        raise ConfigurationError(
            f"Credentials: {what}: give a mapping of names to values"
        )
    for name in given:
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise ConfigurationError(
                f"Credentials: {what}: a name has letters, digits and signs such as - "
                f"and _ only"
            )
    return {
        name: _conceal(f"{what}[{name!r}]", value, check)
        for name, value in given.items()
    }


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
