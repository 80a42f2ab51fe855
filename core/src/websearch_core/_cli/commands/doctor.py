"""``websearch doctor``."""

from __future__ import annotations
import dataclasses
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..._text.escaping import join_lines
from ..arguments import TextOrJson
from ..completion import complete_name
from ..output import (
    Row,
    print_json,
    print_row,
    print_rows,
    print_table,
    print_text,
    report_errors,
)

if TYPE_CHECKING:
    from ..checks import Check, Setting

EPILOG = (
    "Exit codes: 0 everything works; 1 something does not; 2 wrong usage or "
    "configuration."
)
_MARK = 6  # the width of "BROKEN"


def doctor(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROVIDER",
            help="The providers to try; by default those that are configured or in use",
            autocompletion=complete_name,
        ),
    ] = None,
    live: Annotated[
        bool,
        typer.Option(
            "--live",
            help="Look at every provider: is it configured, reachable, and answering "
            "as expected?",
        ),
    ] = False,
    form: TextOrJson = "text",
) -> None:
    """Try the configured providers, and say what is wrong.

    Each gets one small real call, which may cost as much as a search. With --live, the
    servers of the other providers are called too, without a key.
    """
    with report_errors(form):
        from ...client._selection import Selection
        from ...providers import known
        from ...settings import Settings
        from .. import checks

        settings = Settings.load()
        # an error if everything is switched off: then nothing is tried
        Selection(settings)
        if not names:
            names = known() if live else checks.find_in_use(settings)
        checked = checks.try_alone(names, settings, "Trying providers", ping=live)
        values = checks.list_settings(names, settings)
        environment = checks.describe_environment(settings)
        if form == "json":
            _print_as_json(checked, values, environment)
        elif live:
            _print_standing(checked)
        else:
            _print_diagnosis(checked, values, environment)
    if live:
        checked = [check for check in checked if check.configured]
    is_broken = any(check.error for check in checked)
    raise typer.Exit(int(is_broken))


def _print_standing(checked: list[Check]) -> None:
    words = {True: "yes", False: "no", None: ""}
    rows = [
        (
            check.provider,
            words[check.configured],
            words[check.reachable],
            _format_answer(check),
            _format_remedy(check),
        )
        for check in checked
    ]
    print_table(("provider", "configured", "reachable", "answers", "what to do"), rows)


def _format_answer(check: Check) -> str:
    if check.error is None:
        return "yes"
    return check.error.code if check.configured else ""


def _format_remedy(check: Check) -> str:
    from ...render import render_error

    if check.error is None:
        return ""
    if check.remedy:
        return check.remedy
    if check.configured:
        return render_error(check.error)
    return str(check.error)


def _print_as_json(
    checked: list[Check], settings: list[Setting], environment: dict[str, Any]
) -> None:
    from ...render import error_as_json
    from ..checks import is_offline

    checks = [
        {
            "provider": check.provider,
            "configured": check.configured,
            "reachable": check.reachable,
            "seconds": round(check.seconds, 3),
            "error": error_as_json(check.error)["error"] if check.error else None,
            "remedy": check.remedy or None,
        }
        for check in checked
    ]
    status = "error" if any(check.error for check in checked) else "success"
    values = [dataclasses.asdict(setting) for setting in settings]
    print_json(
        {
            "status": status,
            "offline": is_offline(checked),
            "checks": checks,
            "settings": values,
            **environment,
        }
    )


def _print_diagnosis(
    checked: list[Check], settings: list[Setting], environment: dict[str, Any]
) -> None:
    from ..checks import is_offline

    for check in checked:
        _print_check(check)
    if is_offline(checked):
        print_text(
            "No provider could be reached: this machine may have no network, or need a "
            "proxy."
        )
    print_text("")
    rows = _describe_environment(environment)
    choices = [setting for setting in settings if setting.source != "default"]
    rows += [(setting.name, _format_setting(setting)) for setting in choices]
    print_rows(rows)
    print_text("All other settings have their defaults; --format json lists them.")


def _print_check(check: Check) -> None:
    from ...render import render_error

    if check.error is None:
        text = f"{check.provider} ({check.seconds:.1f} s)"
        print_row("ok", text, _MARK, "bold green")
        advice = check.note
    else:
        text = f"{check.provider}: {render_error(check.error)}"
        print_row("BROKEN", text, _MARK, "bold red")
        advice = check.remedy
    if advice:
        print_row("", advice, _MARK)


def _describe_environment(environment: dict[str, Any]) -> list[Row]:
    versions = ", ".join(
        f"{name} {number or 'not installed'}"
        for name, number in environment["versions"].items()
    )
    proxies = ", ".join(
        f"{scheme} {url}" for scheme, url in environment["proxies"].items()
    )
    rows = [
        ("versions", versions),
        ("browser", _describe_browser(environment["browser"])),
        ("pages", _describe_parsing(environment["parsing"])),
        ("proxies", proxies or "none"),
        ("TLS", ", ".join(filter(None, environment["tls"].values()))),
    ]
    for file in environment["settings_files"]:
        warning = "" if file["trusted"] else " (found here, not trusted)"
        rows.append(("settings file", f"{join_lines(file['path'])}{warning}"))
    if not environment["settings_files"]:
        rows.append(("settings file", "none"))
    return rows


def _describe_browser(browser: dict[str, Any]) -> str:
    if browser["problem"]:
        return join_lines(browser["problem"])
    version = browser["version"]
    proven = browser["proven"]
    warning = ""
    if version not in proven:
        versions = ", ".join(proven)
        warning = f"; the attacks of the test suite were tried with {versions}"
    return f"{join_lines(browser['path'])} ({version or 'unknown version'}{warning})"


def _describe_parsing(parsing: dict[str, Any]) -> str:
    if parsing["problem"]:
        problem = join_lines(parsing["problem"])
        if parsing["isolate"] == "require":
            return f"refused: no process can be started to parse them: {problem}"
        return (
            f"parsed in this process, their first 512 KiB: no other can be started: "
            f"{problem}"
        )
    if parsing["isolate"]:
        return "parsed in another process, which ends at the deadline"
    return "parsed in this process (isolate=False): no deadline ends a hostile one"


def _format_setting(setting: Setting) -> str:
    value = "" if setting.value is None else setting.value
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    warning = "" if setting.trusted else " (not trusted)"
    return f"{join_lines(text)}, from {join_lines(setting.source)}{warning}"
