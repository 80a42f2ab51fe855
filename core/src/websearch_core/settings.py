"""
Where settings come from: an explicit argument, else the environment, else a file, else the default.

The file is the nearest ``websearch.toml``, or the table ``[tool.websearch]`` of the nearest ``pyproject.toml``, from
the working directory upwards::

    provider = "searxng"             # or a chain: ["tavily", "brave"]
    reader = "direct"
    allow = ["https://wiki.corp:8443"]

    [providers.searxng]
    base_url = "http://localhost:8888"

In the environment: ``WEB_SEARCH_PROVIDER``, ``WEB_SEARCH_READER``, ``WEB_SEARCH_ALLOW`` and so on, lists separated by
commas, and for each provider the variables that its file names, such as ``BRAVE_API_KEY``.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError
from pydantic_settings import (
    BaseSettings,
    InitSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from .errors import ConfigurationError
from .guard import Guard, literal
from .models import explain
from .provider import environment
from .providers import provider_class


def _listed(value: Any) -> Any:
    if isinstance(value, str):
        value = [part.strip() for part in value.split(",") if part.strip()]
    return value


def by_name(options: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """
    Return the *options* of providers by their real names instead of their aliases.

    Raises:
        UnknownProvider: There is none of a name.

    """
    return {provider_class(name).name: dict(given) for name, given in options.items()}


Names = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_listed)]


class Settings(BaseSettings):
    """
    The settings that are not a provider's own.

    Args:
        provider: Who searches; several names are a chain, asked in order. Empty means an automatic choice.
        reader: Who reads pages; several names are a chain.
        allow: The guard's holes: networks and origins that pages may be read from although they are not public.
        timeout: Seconds for a whole call.
        connect_timeout: Seconds to wait for a connection.
        attempts: How often a request is sent when its failures may pass.
        max_length: Characters of a page's text in one window.
        max_tokens: Tokens of it, instead of characters.
        http_library: ``httpx`` or ``httpx2``.
        providers: The options of each provider, by its name.

    """

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix="WEB_SEARCH_", env_ignore_empty=True, extra="forbid", frozen=True, hide_input_in_errors=True
    )

    provider: Names = ()
    reader: Names = ()
    allow: Names = ()
    timeout: float = Field(default=30.0, gt=0)
    connect_timeout: float = Field(default=10.0, gt=0)
    attempts: int = Field(default=3, ge=1)
    max_length: int = Field(default=15_000, ge=1)
    max_tokens: int | None = Field(default=None, ge=1)
    http_library: Literal["httpx", "httpx2"] = "httpx"
    providers: Annotated[dict[str, dict[str, Any]], AfterValidator(by_name)] = Field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, **explicit: Any) -> Settings:
        """
        Read the settings; those of *explicit* that are not None win.

        Raises:
            ConfigurationError: A value is wrong; the message says which, and never shows it.

        """
        try:
            return cls(**{name: value for name, value in explicit.items() if value is not None})
        except ValidationError as error:
            raise ConfigurationError(f"settings: {explain(error)}") from None
        except SettingsError as error:
            raise ConfigurationError(f"settings: {error}") from None

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - their names are given
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Take arguments, then the environment, then the file."""
        file = InitSettingsSource(settings_cls, from_file(Path.cwd()))
        return init_settings, env_settings, file


def from_file(folder: Path) -> dict[str, Any]:
    """
    Return the settings of the nearest file from *folder* upwards, under the names used here.

    Raises:
        ConfigurationError: The file cannot be read or is not TOML.

    """
    path = find_file(folder)
    if path is None:
        return {}
    content = _toml(path)
    table = content if path.name == "websearch.toml" else content["tool"]["websearch"]
    return {_OTHER_NAMES.get(name, name): value for name, value in table.items()}


def find_file(folder: Path) -> Path | None:
    """Return the settings file that counts for *folder*: the nearest one, from there upwards."""
    for place in (folder, *folder.parents):
        own, project = place / "websearch.toml", place / "pyproject.toml"
        if own.is_file():
            return own
        if project.is_file() and "websearch" in _toml(project).get("tool", {}):
            return project
    return None


def configured(name: str, settings: Settings, **explicit: Any) -> Any:
    """
    Construct the provider called *name* from arguments, environment and file.

    Raises:
        UnknownProvider: There is none of that name.
        MissingKey: Its key is nowhere; the message names the variable.
        ConfigurationError: An option is wrong.

    """
    cls = provider_class(name)
    options = {
        **settings.providers.get(cls.name, {}),
        **from_environment(cls),
        **{option: value for option, value in explicit.items() if value is not None},
    }
    return cls(**options)


def from_environment(cls: type[Any]) -> dict[str, str]:
    """Return the options of the provider *cls* that the environment holds."""
    found = {}
    for field, names in environment(cls).items():
        values = [value for name in names if (value := os.environ.get(name, "").strip())]
        if values:
            found[field] = values[0]
    return found


def check_transport(provider: Any, guard: Guard) -> None:
    """
    Make sure that a provider's key does not travel over plain http, except within this machine.

    Raises:
        ConfigurationError: It would, and the caller has not allowed the origin.

    """
    parts = urlsplit(getattr(provider, "base_url", None) or "https://")
    if parts.scheme == "https" or getattr(provider, "api_key", None) is None:
        return
    host = parts.hostname or ""
    address = literal(host)
    here = host == "localhost" or (address is not None and address.is_loopback)
    if not here and ("http", host, parts.port or 80) not in guard.origins:
        raise ConfigurationError(
            f"{provider.name}: base_url would send the key unencrypted; use https, or allow the origin by "
            f"allow=['http://{parts.netloc}']"
        )


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ConfigurationError(f"{path.name}: {error}") from error


_OTHER_NAMES = {"search_provider": "provider", "read_provider": "reader", "max_page_length": "max_length"}
