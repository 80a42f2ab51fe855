"""Options that several commands take."""

from __future__ import annotations
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple, get_args

import typer

from .._text.vocabulary import Format
from ..errors import ConfigurationError
from .completion import complete_option
from .output import show_progress

if TYPE_CHECKING:
    from ..client import WebSearch


def declare(
    value: Any,
    meaning: str,
    names: str = "",
    complete: Callable[[str], list[str]] | None = None,
) -> Any:
    """Declare an option with a *value*: its name in the help, or the `Literal` of its
    words.
    """
    metavar = value if isinstance(value, str) else f"[{'|'.join(get_args(value))}]"
    return typer.Option(
        *names.split(), metavar=metavar, help=meaning, autocompletion=complete
    )


Form = Annotated[
    Format,
    declare(Format, "text or markdown for people, json for programs", "--format -f"),
]
TextOrJson = Annotated[
    Literal["text", "json"],
    declare("[text|json]", "text for people, json for programs", "--format -f"),
]
Timeout = Annotated[
    float | None,
    declare(
        "SECONDS",
        "Seconds for the whole call; unless configured, 15 for a search and 30 for a "
        "page",
    ),
]
_INTERNAL = (
    "Non-public network (10.1.0.0/16) or origin (https://wiki.corp:8443) that pages "
    "may be read from; "
    "replaces internal in the settings; repeatable"
)
Internal = Annotated[list[str] | None, declare("ADDRESS", _INTERNAL, "--internal")]
NoCache = Annotated[
    bool,
    typer.Option("--no-cache", help="Ask the service even if the cache has an answer"),
]
Robots = Annotated[
    bool,
    typer.Option(
        "--robots", help="Read only what the robots.txt of the page's site allows"
    ),
]
_OPTION = (
    "An option of a provider, such as tavily.search_depth=advanced; docs/providers.md "
    "lists them; repeatable"
)
ProviderOption = Annotated[
    list[str] | None,
    declare("PROVIDER.OPTION=VALUE", _OPTION, "--option", complete=complete_option),
]


_FLAGS = {"allowed_domains": "allow_domain", "blocked_domains": "block_domain"}


def name_flag(option: str) -> str:
    """Return the flag of an *option* of a search."""
    return f"--{_FLAGS.get(option, option).replace('_', '-')}"


@contextmanager
def open_web(
    doing: str,
    options: Mapping[str, Mapping[str, Any]],
    *,
    no_cache: bool,
    **arguments: Any,
) -> Iterator[WebSearch]:
    """Make the `WebSearch` of a command, with *options* of its providers, and show that
    it is *doing* something.

    Raise `ConfigurationError` if an argument is wrong, or a provider with options is
    not used.
    """
    from .. import layers
    from ..client import WebSearch
    from ..settings import Settings

    progress = show_progress(doing) if doing else nullcontext()
    cache = layers.max_age(0) if no_cache else nullcontext()
    settings = Settings.load(providers=options)
    with WebSearch(settings=settings, **arguments) as web, progress:
        names = {leaf.name for leaf in layers.leaves(web.provider)}
        names |= {leaf.name for leaf in layers.leaves(web.reader)}
        for name in options.keys() - names:
            raise ConfigurationError(
                f"--option: {name} is not used here; choose it with --provider or "
                f"--reader (used: {', '.join(sorted(names))})"
            )
        with cache:
            yield web


def parse_options(entries: Iterable[str] | None) -> dict[str, dict[str, Any]]:
    """Return the options of ``--option``, each ``PROVIDER.OPTION=VALUE``, by the names
    of their providers.

    The value is one of TOML (``3``, ``true``, ``["a", "b"]``), else text. A key, which
    everybody who can list processes would see, is a `ConfigurationError`.
    """
    from .._registry import registered_name

    parsed: dict[str, dict[str, Any]] = {}
    for entry in entries or ():
        parts = _split_entry(entry)
        if parts is None:
            raise ConfigurationError(
                "--option: write PROVIDER.OPTION=VALUE, such as "
                "tavily.search_depth=advanced"
            )
        _refuse_key(*parts)
        name = registered_name(parts.provider)
        parsed.setdefault(name, {})[parts.option] = _parse_value(parts.text.strip())
    return parsed


class _Entry(NamedTuple):
    provider: str
    option: str
    text: str


def _split_entry(entry: str) -> _Entry | None:
    """Return the parts of ``PROVIDER.OPTION=VALUE``; None if one is absent."""
    if "=" not in entry:
        return None
    path = entry[: entry.index("=")].strip()
    provider = path.partition(".")[0]
    option = path.partition(".")[2]
    if not provider or not option:
        return None
    return _Entry(provider, option, entry[entry.index("=") + 1 :])


def _refuse_key(provider: str, option: str, text: str) -> None:
    """Raise `ConfigurationError` if *text* is the key itself, not where it is."""
    from .._registry import provider_class, registered_name
    from ..provider._declare import environment, field_notes, is_secret

    cls = provider_class(provider)
    name = registered_name(provider)
    if text.startswith("keyring:"):
        return
    if not is_secret(field_notes(cls).get(option, ())):
        return
    instead = next(iter(environment(cls).get(option, ())), "the settings file")
    raise ConfigurationError(
        f"--option: other users of this machine can see {name}.{option} there; "
        f"set {instead} instead"
    )


def _parse_value(text: str) -> Any:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    value = parsed["value"]
    # a date stays text
    is_value = len(parsed) == 1 and isinstance(
        value, str | bool | int | float | list | dict
    )
    return value if is_value else text
