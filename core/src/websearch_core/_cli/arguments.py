"""Options that several commands take."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from .._text.choices import Format
from ..errors import ConfigurationError, InvalidOption
from .completion import complete_option

if TYPE_CHECKING:
    from ..client import WebSearch


def list_words(choice: Any) -> str:
    """Return the words of a `Literal` as help shows them: ``[text|json]``."""
    return f"[{'|'.join(get_args(choice))}]"


Form = Annotated[
    Format,
    typer.Option("--format", "-f", metavar=list_words(Format), help="text or markdown for people, json for programs"),
]
TextOrJson = Annotated[
    Literal["text", "json"],
    typer.Option("--format", "-f", metavar="[text|json]", help="text for people, json for programs"),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        metavar="SECONDS", help="Seconds for the whole call; unless configured, 15 for a search and 30 for a page"
    ),
]
Internal = Annotated[
    list[str] | None,
    typer.Option(
        "--internal",
        metavar="ADDRESS",
        help="Non-public network (10.1.0.0/16) or origin (https://wiki.corp:8443) that pages may be read from; "
        "replaces internal in the settings; repeatable",
    ),
]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Ask the service even if the cache has an answer"),
]
Robots = Annotated[
    bool,
    typer.Option("--robots", help="Read only what the robots.txt of the page's site allows"),
]
ProviderOption = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="PROVIDER.OPTION=VALUE",
        help="An option of a provider, such as tavily.search_depth=advanced; docs/providers.md lists them; repeatable",
        autocompletion=complete_option,
    ),
]


def fresh_if(wanted: bool) -> AbstractContextManager[None]:
    """Return a block in which services are asked whatever the cache holds, if that is *wanted*."""
    from ..layers import no_cache

    return no_cache() if wanted else nullcontext()


def parse_options(given: Iterable[str] | None) -> dict[str, dict[str, Any]]:
    """
    Return the options of ``--option``, by the names of their providers.

    Args:
        given: Each ``PROVIDER.OPTION=VALUE``. The value is one of TOML (``3``, ``true``, ``["a", "b"]``), else text.

    Raises:
        UnknownProvider: No provider has that name.
        ConfigurationError: One has another form, or would show a key to everybody who can list processes.

    """
    from .._registry import provider_class, registered_name
    from ..provider._declare import environment, field_notes, is_secret

    parsed: dict[str, dict[str, Any]] = {}
    for one in given or ():
        path, equals, text = one.partition("=")
        name, dot, option = path.strip().partition(".")
        if not (equals and dot and name and option):
            example = "tavily.search_depth=advanced"
            raise ConfigurationError(f"--option: write PROVIDER.OPTION=VALUE, such as {example}")
        cls, name = provider_class(name), registered_name(name)
        if is_secret(field_notes(cls).get(option, ())) and not text.startswith("keyring:"):
            instead = next(iter(environment(cls).get(option, ())), "the settings file")
            raise ConfigurationError(
                f"--option: other users of this machine can see {name}.{option} there; set {instead} instead"
            )
        parsed.setdefault(name, {})[option] = _parse_value(text.strip())
    return parsed


def require_used(options: Iterable[str], web: WebSearch) -> None:
    """
    Check that each provider with options is one that *web* asks.

    Raises:
        ConfigurationError: One is not, so that its options would be ignored.

    """
    from ..layers import leaves

    used = {leaf.name for chain in (web.provider, web.reader) for leaf in leaves(chain)}
    for name in options:
        if name not in used:
            raise ConfigurationError(
                f"--option: {name} is not used here; choose it with --provider or --reader (used: "
                f"{', '.join(sorted(used))})"
            )


def require_url(url: str) -> None:
    """
    Check that *url* has a scheme.

    Raises:
        InvalidOption: It has none; the message says what was probably meant.

    """
    if "://" not in url:
        meant = f"; did you mean https://{url.lstrip('/')}?" if looks_like_a_site(url) else ", https:// included"
        raise InvalidOption(f"url: give the whole URL{meant}")


def looks_like_a_site(text: str) -> bool:
    """Return whether *text* is a URL that only lacks ``https://``."""
    host = text.lstrip("/").partition("/")[0].partition("?")[0].partition(":")[0]
    last = host.rpartition(".")[2]
    return host == "localhost" or ("." in host.strip(".") and len(last) > 1 and last.isalpha() and " " not in host)


def _parse_value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    value = parsed["value"]
    is_value = len(parsed) == 1 and isinstance(value, str | bool | int | float | list | dict)  # a date stays text
    return value if is_value else text
