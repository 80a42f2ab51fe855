"""The values of settings that have parts, and which settings and parts there are."""

from __future__ import annotations
import inspect
import ssl
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from types import MappingProxyType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Literal,
    NamedTuple,
    TypeAlias,
    TypedDict,
    get_args,
    get_origin,
)

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    InstanceOf,
    SecretStr,
)

from .._text.quantity import is_number
from .._text.suggestion import check_names
from .._text.urls import without_credentials
from ..errors import ConfigurationError
from ..keys import ApiKey, Credentials
from ..layers._stack import set_options
from ..models import SearchOptions
from ..provider._declare import ProjectFile, field_notes

if TYPE_CHECKING:
    from ..layers import Layer, RateLimiter
    from ..provider._ports import AsyncHTTPClient, HTTPClient

    class Seconds:
        """To type checkers, a field may be given as one type and is read as another
        only if it is a descriptor.
        """

        def __get__(self, instance: object, owner: object = None) -> Timeout: ...
        def __set__(
            self, instance: object, value: float | Timeout | Mapping[str, float]
        ) -> None: ...

    Combine: TypeAlias = Literal["first", "until_results", "fuse"] | Layer | None
    Repeat: TypeAlias = int | Layer | None
    Keep: TypeAlias = bool | float | str | Layer | None
    Spend: TypeAlias = str | Sequence[str] | Layer | Literal[False] | None
    Pace: TypeAlias = float | str | RateLimiter | Layer | Literal[False] | None
    Obey: TypeAlias = bool | Layer | None


@dataclass(frozen=True)
class Timeout:
    """How long a call may take: ``WebSearch(timeout=Timeout(search=5, read=60))``.

    Each is one deadline, with all retries, redirects and fallbacks.

    Args:
        search: Seconds for a search.
        read: Seconds for reading a page, and for a search that reads pages too.
        connect: Seconds to wait for one connection.

    Raises:
        ConfigurationError: One is not a number above 0.
    """

    search: Annotated[float, Field(gt=0), ProjectFile(at_most=120)] = 15.0
    read: Annotated[float, Field(gt=0), ProjectFile(at_most=120)] = 30.0
    connect: Annotated[float, Field(gt=0), ProjectFile(at_most=60)] = 5.0

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not is_number(value) or not value > 0:
                raise ConfigurationError(
                    f"Timeout: {name}: must be a number of seconds above 0"
                )


if not TYPE_CHECKING:
    Seconds = Timeout


@dataclass(frozen=True)
class Http:
    """How requests are sent: ``WebSearch(http=Http(verify=context))``.

    Args:
        client: Your own ``httpx.Client`` for services. Pages never go through it.
        async_client: The same for async calls; it belongs to one event loop.
        verify: An ``ssl.SSLContext`` with the certificates to trust.
        certificates: A file in PEM format with certificates to trust besides the usual
            ones, such as those of a company whose proxy signs pages itself; for pages,
            services and the browser.
        library: ``httpx`` or ``httpx2``; by default what the settings say, else
            ``httpx``.
        credentials: What to log in with at which origin: ``{"https://wiki.corp":
            Credentials(bearer="env:TOKEN")}``. The readers ``direct`` and ``browser``
            send it to pages of exactly that origin, and nowhere else.
        proxy: The URL of an HTTP proxy, ``http://user:password@proxy.corp:3128``, for
            pages and services, or ``environment`` for what ``HTTP_PROXY``,
            ``HTTPS_PROXY`` and ``NO_PROXY`` say. This machine is reached without it. By
            default, pages use none, and services those of the environment.
        resolve: Who resolves the names of pages if there is a proxy: ``here``, which
            judges the addresses and asks the proxy for these, or ``proxy``, which
            trusts it not to lead pages to internal addresses.
        contact: A page about your program, or an email address. The ``User-Agent`` of
            all requests names it; some services refuse programs without one.

    Raises:
        ConfigurationError: *verify* is not an ``SSLContext``, or a client is not of the
            right kind. What is wrong with the others shows when the `WebSearch` is
            made. No message shows a secret.
    """

    client: HTTPClient | None = None
    async_client: AsyncHTTPClient | None = None
    verify: ssl.SSLContext | None = None
    certificates: str | Path | None = None
    library: Literal["httpx", "httpx2"] | None = None
    credentials: Mapping[str, Credentials] | None = field(default=None, repr=False)
    proxy: str | SecretStr | None = field(default=None, repr=False)
    resolve: Literal["here", "proxy"] | None = None
    contact: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "proxy", _hide(self.proxy))
        if self.verify is not None and not isinstance(self.verify, ssl.SSLContext):
            how = "ssl.create_default_context(cafile=...) makes one"
            raise ConfigurationError(f"Http: verify: must be an ssl.SSLContext; {how}")
        if self.verify is not None and self.certificates is not None:
            raise ConfigurationError(
                "Http: certificates: the context of verify says already what is "
                "trusted: add them there, with load_verify_locations(), or leave out "
                "verify"
            )
        for name, is_async, kind in (
            ("client", False, "Client"),
            ("async_client", True, "AsyncClient"),
        ):
            client = getattr(self, name)
            if client is not None and not _is_client(client, is_async=is_async):
                own = type(client).__name__
                raise ConfigurationError(
                    f"Http: {name}: must be an httpx.{kind}, not {own}"
                )

    @property
    def for_settings(self) -> dict[str, Any]:
        """What of it a settings file could say."""
        options = {name: getattr(self, name) for name in HttpDefaults.model_fields}
        return {name: value for name, value in options.items() if value is not None}

    @property
    def own(self) -> tuple[bool, ...]:
        """What of it is the caller's own, and cannot be shown."""
        return (
            self.verify is not None,
            self.client is not None,
            self.async_client is not None,
        )


MAX_LENGTH = 15_000  # characters of a page, unless a call or the settings say otherwise


class PerRun:
    """Marks a setting that a run may set, if the developer lets it:
    `websearch_core.tools.Tenants`.
    """


class ReadDefaults(BaseModel):
    """The options of `ReadOptions` that may hold for every call, and what a project
    file may set of them.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", hide_input_in_errors=True
    )

    max_length: Annotated[int, Field(ge=1), ProjectFile(at_most=100_000)] = MAX_LENGTH
    max_tokens: Annotated[
        int | None, Field(ge=1), ProjectFile(at_most=25_000, replaces="max_length")
    ] = None
    links: Literal["keep", "text", "drop"] | None = None
    comments: Annotated[Literal["drop", "keep"] | None, ProjectFile()] = None
    reviews: Annotated[Literal["drop", "keep"] | None, ProjectFile()] = None
    transcripts: Literal["drop", "keep"] | None = None
    passages_by: Callable[[str, Sequence[str]], Sequence[float]] | None = None
    token_counter: Callable[[str], int] | None = None
    ocr: Callable[[bytes, str], str] | None = None


def show_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return *options* with the names of functions instead of these, which JSON has no
    form for.
    """
    plain = dict(options)
    for name, value in options.items():
        if callable(value):
            plain[name] = getattr(value, "__name__", type(value).__name__)
    return plain


def show_layer(layer: Any) -> Any:
    """Return the options of a layer, without the password of a URL."""
    if not is_dataclass(layer):
        return layer
    options: dict[str, Any] = {}
    for option in fields(layer):
        value = getattr(layer, option.name)
        if isinstance(value, str):
            value = without_credentials(value)
        options[option.name] = value
    return options


def show_combination(layer: Any) -> Any:
    """Return the table of the layer that combines providers, with the options that are
    not the usual ones; classes of errors by their names.
    """
    if not is_dataclass(layer):
        return layer
    options = set_options(layer)
    for name, value in options.items():
        if isinstance(value, tuple):
            options[name] = [getattr(part, "__name__", part) for part in value]
    return {type(layer).__name__.lower(): options}


def _hide(value: Any) -> Any:
    """Keep a URL with a password out of what is shown and pickled."""
    if isinstance(value, str) and "@" in value:
        value = SecretStr(value)
    if isinstance(value, SecretStr):
        return ApiKey.hide(value).with_owner("http", "proxy")
    return value


def make_credentials(value: Any) -> Credentials:
    """Return the credentials that a table stands for."""
    if isinstance(value, Credentials):
        return value
    if not isinstance(value, Mapping):
        # `InstanceOf` would say the same, and import longer
        raise ValueError("must be an instance of Credentials")  # noqa: TRY004
    check_names(value, Credentials.__dataclass_fields__, ConfigurationError)
    return Credentials(**value)


class HttpDefaults(BaseModel):
    """The options of `Http` that settings may have; none of them is for a found
    file.
    """

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="forbid", hide_input_in_errors=True
    )

    certificates: str | Path | None = None
    library: Literal["httpx", "httpx2"] = "httpx"
    credentials: dict[str, Annotated[Any, BeforeValidator(make_credentials)]] = Field(
        default={}, repr=False, exclude=True
    )
    proxy: Annotated[str | InstanceOf[SecretStr] | None, BeforeValidator(_hide)] = (
        Field(default=None, repr=False, exclude=True)
    )
    resolve: Literal["here", "proxy"] | None = None
    contact: str | None = None


def _is_client(client: object, *, is_async: bool) -> bool:
    send = getattr(client, "send", None)
    return callable(send) and inspect.iscoroutinefunction(send) is is_async


class Concerns(TypedDict, total=False):
    """The settings that are layers. They are arguments of `WebSearch`, too, and this is
    their part of its types.
    """

    combine: Combine
    retry: Repeat
    cache: Keep
    budget: Spend
    throttle: Pace
    robots: Obey


class Setting(NamedTuple):
    """What a setting is, or a part of one, besides its type."""

    variable: str = ""  # of the environment; empty if it has none
    notes: tuple[Any, ...] = ()  # who may set it
    is_secret: bool = False
    parts: Mapping[str, Setting] = MappingProxyType({})
    layers: tuple[str, ...] = ()  # that it may be, the default one first


def find_setting(group: str, part: str | None = None) -> Setting:
    """Return what a setting is, or a part of one; without any facts if unknown."""
    setting = SETTINGS.get(group)
    if setting is None:
        setting = Setting(_name_variable(group))
    if part is None:
        return setting
    return setting.parts.get(part, Setting())


def _name_variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"


def _list_parts(model: type[BaseModel], prefix: str = "") -> dict[str, Setting]:
    """Return the parts that the fields of *model* are. Those have a variable whose
    value a text can be: no functions, and no tables.
    """
    parts: dict[str, Setting] = {}
    for name, option in model.model_fields.items():
        types = (option.annotation, *get_args(option.annotation))
        variable = ""
        if {Callable, dict}.isdisjoint(map(get_origin, types)):
            variable = _name_variable(f"{prefix}{name}")
        parts[name] = Setting(
            variable, tuple(option.metadata), is_secret=bool(option.exclude)
        )
    return parts


PREFIX = "WEB_SEARCH_"  # of variables
_search_options = dict.fromkeys(
    (*SearchOptions.__annotations__, "unsupported"), Setting()
)
_search_options["max_snippet_chars"] = Setting(
    _name_variable("max_snippet_chars"), (ProjectFile(at_most=1_000),)
)
# The settings that are more than one value.
SETTINGS: dict[str, Setting] = {
    "timeout": Setting(
        _name_variable("timeout"),
        parts={
            name: Setting(_name_variable(f"{name}_timeout"), notes)
            for name, notes in field_notes(Timeout).items()
        },
    ),
    "search_options": Setting(parts=_search_options),
    "read_options": Setting(parts=_list_parts(ReadDefaults)),
    "http": Setting(parts=_list_parts(HttpDefaults, "http_")),
}
HOMES: dict[str, str] = {}  # the setting that each layer is
for _name in Concerns.__annotations__:
    _layers = ("fallback", "fuse") if _name == "combine" else (_name,)
    SETTINGS[_name] = Setting(_name_variable(_name), layers=_layers)
    HOMES |= dict.fromkeys(_layers, _name)
# the settings that are layers
CONCERNS = tuple(name for name, setting in SETTINGS.items() if setting.layers)
