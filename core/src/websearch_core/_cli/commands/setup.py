"""``websearch setup``."""

from __future__ import annotations
import sys
from typing import TYPE_CHECKING

import typer

from ...errors import ConfigurationError, UnknownProvider
from ..output import print_line, print_row, print_text, report_errors

if TYPE_CHECKING:
    from ...providers import ProviderInfo
    from ...settings import Settings

_NAME = 14  # the width of a provider's name


def setup() -> None:
    """Choose a provider, give its key, and write your settings.

    Both are tried first. The key goes into the keyring of the system if there is one,
    else into the file, which only you can read then. What else is in the file stays as
    it is.
    """
    with report_errors("text"):
        from ...providers import get_all
        from ...settings import Settings
        from ...settings._sources import user_file
        from .. import own_file

        path = user_file()
        if not is_interactive():
            raise ConfigurationError(
                f"setup asks questions and needs a terminal; without one, set "
                f"WEB_SEARCH_PROVIDER and the variable of "
                f"the key, or write {path}"
            )
        if path is None:
            raise ConfigurationError(
                "there is no folder for your settings: set HOME or XDG_CONFIG_HOME"
            )
        file = own_file.OwnFile.read(path)
        settings = Settings.load()
        searching = [info for info in get_all(settings) if info.search]
        choice = _ask_provider(searching, settings)
        options = _ask_options(choice)
        if typer.confirm(
            "Try it with one small search? It may cost as much as any other",
            default=True,
        ):
            works = _try(choice.name, settings, options)
            if not works and not typer.confirm(
                "Write the settings anyway?", default=False
            ):
                raise typer.Exit(1)
        if "api_key" in options:
            options["api_key"] = own_file.store_key(choice.name, options["api_key"])
        file.set_provider(choice.name, options)
        file.write()
        print_line(f"Wrote {path}")
        place = options.get("api_key", "")
        if place.startswith("keyring:"):
            print_line(f"The key is in your {place}")
        elif place:
            print_line("The key is in this file; only you can read it")
        source = Settings.load().source("provider")
        if source.name != str(path):
            print_line(f"Note: {source.place} sets {source.key} too, and wins")
        print_text("websearch doctor shows what is used now")


def is_interactive() -> bool:
    """Return whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _ask_provider(able: list[ProviderInfo], settings: Settings) -> ProviderInfo:
    from ..._registry import registered_name, unknown_provider

    for info in able:
        print_row(info.name, _format_state(info), _NAME)
    names = {info.name: info for info in able}
    default = "duckduckgo"
    if settings.provider and settings.provider[0] in names:
        default = settings.provider[0]
    while True:
        answer = typer.prompt("Which provider", default=default).strip()
        try:
            name = registered_name(answer)
        except UnknownProvider:
            error = unknown_provider(answer, list(names), "those that can search:")
            print_row("", str(error), 0)
            continue
        if name in names:
            return names[name]
        print_line(f"{name} cannot search")


def _format_state(info: ProviderInfo) -> str:
    if info.configured:
        return "ready"
    if info.missing:
        return f"needs {' or '.join(info.missing)}"
    return info.problem or ""


def _ask_options(choice: ProviderInfo) -> dict[str, str]:
    """Ask for what the provider requires, and for its key even if that is optional."""
    from ..._registry import provider_class
    from ...keys._environ import read_variable
    from ...provider._declare import environment, field_notes
    from ...settings._shapes import needs_url

    cls = provider_class(choice.name)
    options = {}
    if needs_url(choice.name):
        options["base_url"] = _ask_url()
    if "api_key" not in field_notes(cls):
        return options
    variables = environment(cls).get("api_key", ())
    variable = next((name for name in variables if read_variable(name)), None)
    if variable:
        print_line(
            f"{variable} is set and would win over another key; press Enter to use it"
        )
    elif choice.about.signup_url:
        print_line(f"Keys are at {choice.about.signup_url}")
    needed = any(name in choice.missing for name in variables)
    question = "Key" if needed else "Key, or Enter for none or the stored one"
    key = _ask_key(question, needed=needed and not variable)
    if key:
        options["api_key"] = key
    return options


def _ask_url() -> str:
    """Ask for a URL; one that only lacks its scheme is offered with it."""
    from ..._text.urls import complete_url
    from ...provider._declare import check_base_url

    offered: str | None = None
    while True:
        url: str = typer.prompt("URL of your server", default=offered).strip()
        try:
            return check_base_url(url)
        except ValueError as error:
            guess = "" if "?" in url else complete_url(url)
            if not guess:
                print_line(str(error))
                continue
            offered = guess
            print_line(f"a URL begins with http:// or https://: Enter for {guess}")


def _ask_key(question: str, *, needed: bool) -> str:
    from ...keys._keys import ApiKey

    while True:
        key: str = typer.prompt(
            question, default="", hide_input=True, show_default=False
        ).strip()
        if not key and not needed:
            return ""
        try:
            ApiKey.of(key)
        except (ValueError, ConfigurationError) as error:
            print_line(str(error))
        else:
            return key


def _try(name: str, settings: Settings, options: dict[str, str]) -> bool:
    from ...render import render_error
    from .. import checks

    tried = settings.override(
        enabled=True, providers={name: {"enabled": True, **options}}
    )
    (check,) = checks.try_alone([name], tried, f"Trying {name}")
    if check.error is None:
        outcome = f"works ({check.seconds:.1f} s)"
        if check.note:
            outcome = f"answers, but {check.note}"
        print_line(f"{name} {outcome}")
        return True
    print_line(render_error(check.error))
    if check.remedy:
        print_line(f"  {check.remedy}")
    return False
