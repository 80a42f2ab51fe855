"""The commands."""

from __future__ import annotations

import dataclasses
import re
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from .._selection import build_provider
from ..client import WebSearch
from ..errors import ConfigurationError
from ..index import Index, Report, crawl
from ..providers import ProviderInfo, get_all
from ..providers.direct import Direct
from ..providers.duckduckgo import DuckDuckGo
from ..render import Format, error_as_json, render_error, render_page, render_search
from ..settings import Settings
from . import doctor as doctors
from .output import (
    EXIT_CODES,
    print_json,
    print_line,
    print_markdown,
    print_table,
    print_text,
    report_errors,
    show_progress,
)

app = typer.Typer(
    name="websearch",
    help="Search the web and read pages.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,  # they show the values of variables, which may be keys
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Format = Annotated[Format, typer.Option("--format", "-f", help="text or markdown for people, json for programs")]
_TextOrJson = Annotated[
    Literal["text", "json"], typer.Option("--format", "-f", help="text for people, json for programs")
]
_Timeout = Annotated[float | None, typer.Option(help="Seconds for the whole call")]
_AllowAddress = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-address",
        help="Non-public network (10.1.0.0/16) or origin (https://wiki.corp:8443) that pages may be read from; "
        "replaces allow in the settings; repeatable",
    ),
]


def _show_version(requested: bool) -> None:
    if requested:
        print_text(f"websearch-core {version('websearch-core')}")
        raise typer.Exit


@app.callback()
def websearch(
    _: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version")
    ] = False,
) -> None:
    """Search the web and read pages."""


@app.command(epilog=EXIT_CODES)
def search(
    *,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="The words to search for")],
    provider: Annotated[
        str | None,
        typer.Option(
            "--provider",
            "--search-provider",
            "-p",
            help="The provider; tavily,brave is a chain, asked in order",
        ),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Base URL of the provider, if --provider names just one")] = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Maximum number of results")] = 5,
    allow: Annotated[
        list[str] | None, typer.Option(help="Only results from this domain and its subdomains; repeatable")
    ] = None,
    block: Annotated[
        list[str] | None, typer.Option(help="No results from this domain and its subdomains; repeatable")
    ] = None,
    time_range: Annotated[
        str | None, typer.Option(help="Published in the last day, week, month or year (or d, w, m, y)")
    ] = None,
    after: Annotated[str | None, typer.Option(help="Published on or after this date, YYYY-MM-DD")] = None,
    before: Annotated[str | None, typer.Option(help="Published on or before this date, YYYY-MM-DD")] = None,
    country: Annotated[str | None, typer.Option(help="For readers in this country, such as US")] = None,
    language: Annotated[str | None, typer.Option(help="In this language, such as en or pt-BR")] = None,
    topic: Annotated[str, typer.Option(help="general or news")] = "general",
    safe_search: Annotated[str | None, typer.Option(help="off, moderate or strict")] = None,
    page: Annotated[int, typer.Option(help="Which page of results; the first is 1")] = 1,
    read_top: Annotated[
        int,
        typer.Option(
            help="Read this many of the first results and show passages of their pages instead of their snippets"
        ),
    ] = 0,
    timeout: _Timeout = None,
    form: _Format = "text",
) -> None:
    """Search the web."""
    options: dict[str, Any] = {
        "limit": limit,
        "allowed_domains": allow or (),
        "blocked_domains": block or (),
        "time_range": time_range,
        "after": after,
        "before": before,
        "country": country,
        "language": language,
        "safe_search": safe_search,
        "topic": topic,
        "page": page,
    }
    with report_errors(form):
        with WebSearch(provider, base_url=base_url, timeout=timeout) as web, show_progress("Searching"):
            response = web.search(" ".join(query), read_top=read_top, **options)
        _print(render_search(response, form), form)


@app.command(epilog=EXIT_CODES)
def read(
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="The page, an absolute http or https URL")],
    reader: Annotated[
        str | None,
        typer.Option(
            "--reader",
            "--provider",
            "-r",
            "-p",
            help="The reader: direct, jina, tavily or local; direct,jina is a chain, asked in order",
        ),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="Base URL of the reader, if --reader names just one")] = None,
    max_length: Annotated[
        int | None, typer.Option(help="Maximum number of characters to show; 15000 unless configured")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(help="Maximum number of tokens to show, estimated; with --max-length, both limits apply"),
    ] = None,
    offset: Annotated[int, typer.Option(help="Start at this character: the next_offset of the previous part")] = 0,
    query: Annotated[
        str | None, typer.Option(help="Show the passages of the whole page that answer this question")
    ] = None,
    find: Annotated[
        str | None,
        typer.Option(help="Show the places around this phrase; case, accents, spaces and emphasis are ignored"),
    ] = None,
    allow_address: _AllowAddress = None,
    timeout: _Timeout = None,
    form: _Format = "text",
) -> None:
    """Read a page."""
    with report_errors(form):
        if base_url and not reader:
            raise ConfigurationError("--base-url: also name the reader, with --reader")
        at = {reader: {"base_url": base_url}} if reader and base_url else None
        web = WebSearch(reader=reader, provider_options=at, allow=allow_address, timeout=timeout)
        with web, show_progress("Reading"):
            page = web.read(url, max_length=max_length, max_tokens=max_tokens, offset=offset, query=query, find=find)
        _print(render_page(page, form), form)


@app.command(epilog=EXIT_CODES)
def index(
    *,
    places: Annotated[list[str], typer.Argument(metavar="PATH_OR_URL", help="Files, folders, or web sites")],
    path: Annotated[
        Path | None,
        typer.Option(
            help="The index file; by default that of WEB_SEARCH_INDEX, of the settings, or websearch/index.db in your "
            "data folder"
        ),
    ] = None,
    max_pages: Annotated[int, typer.Option(min=1, help="Maximum number of pages to request from one site")] = 200,
    allow_address: _AllowAddress = None,
    form: _TextOrJson = "text",
) -> None:
    """
    Add folders and web sites to the index that the provider 'local' searches.

    A site is crawled along its links, within the origin of the URL and as far as its robots.txt allows.
    """
    with report_errors(form):
        local = build_provider("local", Settings.load(), path=path)
        reports = []
        for place in places:
            with (
                WebSearch(local, reader="direct", allow=allow_address) as web,
                show_progress(f"Indexing {place}") as report_step,
            ):
                if re.match("https?://", place, re.IGNORECASE):
                    timeout = web.settings.read_timeout
                    report = web.run(
                        crawl(place, local.index, web.reader, most=max_pages, timeout=timeout, tell=report_step)
                    )
                else:
                    report = local.index.add_folder(Path(place), report_step)
            reports.append(report)
            if form == "text":
                _print_report(place, report, local.index)
        if form == "json":
            print_json(
                {
                    "path": str(local.path),
                    "places": [
                        {"place": place, **dataclasses.asdict(report)}
                        for place, report in zip(places, reports, strict=True)
                    ],
                }
            )


@app.command(epilog=EXIT_CODES)
def providers(form: _TextOrJson = "text") -> None:
    """List the providers: what each can do, and whether it is ready or which variable is missing. Never shows keys."""
    with report_errors(form):
        found = get_all()
        if form == "json":
            print_json([dataclasses.asdict(one) for one in found])
            return
        rows = [
            (one.name, "yes" * one.search, "yes" * one.read, _format_state(one), " ".join(one.options)) for one in found
        ]
        print_table(("provider", "search", "read", "state", "options"), rows)


@app.command(epilog="Exit codes: 0 everything works; 1 something does not; 2 wrong usage or configuration.")
def doctor(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROVIDER", help="The providers to try; by default those that are configured or in use"),
    ] = None,
    form: _TextOrJson = "text",
) -> None:
    """
    Try the configured providers with one small real call each, and say what is wrong.

    A call may cost as much as a search.
    """
    with report_errors(form):
        settings = Settings.load()
        tried = names or doctors.find_in_use(settings)
        # This client only runs the checks, so it must not fail on the settings that they check.
        with (
            WebSearch(DuckDuckGo(), reader=Direct(), layers=None, settings=settings.override(enabled=True)) as web,
            show_progress("Trying providers"),
        ):
            checked = web.run(doctors.run_checks(tried, settings))
    broken = any(check.error for check in checked)
    if form == "json":
        print_json(
            {
                "status": "error" if broken else "success",
                "offline": doctors.is_offline(checked),
                "checks": [
                    {
                        "provider": check.provider,
                        "seconds": round(check.seconds, 3),
                        "error": error_as_json(check.error)["error"] if check.error else None,
                        "remedy": check.remedy or None,
                    }
                    for check in checked
                ],
                "settings": [dataclasses.asdict(setting) for setting in doctors.list_settings(tried, settings)],
                **doctors.describe_environment(settings),
            }
        )
    else:
        _print_diagnosis(checked, doctors.list_settings(tried, settings), doctors.describe_environment(settings))
    raise typer.Exit(1 if broken else 0)


def _print(text: str, form: Format) -> None:
    match form:
        case "text":
            print_text(text)
        case "markdown":
            print_markdown(text)
        case "json":
            typer.echo(text)


def _print_report(place: str, report: Report, index: Index) -> None:
    pages = f"{report.added} page{'s' * (report.added != 1)}"
    print_line(f"{place}: {pages} indexed, {report.removed} removed, {len(report.skipped)} skipped, in {index.path}")
    for skipped in report.skipped:
        print_line(f"  skipped {skipped.what}: {skipped.why}")
    if report.left:
        print_line(f"  {report.left} more links were not followed: raise --max-pages to follow them")


def _print_diagnosis(checked: list[doctors.Check], settings: list[doctors.Setting], env: dict[str, Any]) -> None:
    for check in checked:
        if check.error is None:
            print_text(f"ok      {check.provider} ({check.seconds:.1f} s)")
        else:
            print_line(f"BROKEN  {check.provider}: {render_error(check.error)}")
            if check.remedy:
                print_text(f"        {check.remedy}")
    if doctors.is_offline(checked):
        print_text("No provider could be reached: it looks as if this machine has no network, or needs a proxy.")
    print_text("")
    print_table(
        ("setting", "value", "from"), [(one.name, _format_value(one.value), _format_source(one)) for one in settings]
    )
    print_text("")
    print_text(", ".join(f"{name} {number or 'not installed'}" for name, number in env["versions"].items()))
    for file in env["settings_files"]:
        print_text(
            f"settings file: {_join_lines(file['path'])}{'' if file['trusted'] else ' (found here, not trusted)'}"
        )
    if not env["settings_files"]:
        print_text("settings file: none")
    print_text(f"proxies: {', '.join(f'{scheme} {url}' for scheme, url in env['proxies'].items()) or 'none'}")
    print_text(f"TLS: {', '.join(env['tls'].values())}")


def _format_value(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return "" if value is None else _join_lines(text)


def _format_source(setting: doctors.Setting) -> str:
    return _join_lines(setting.source) + ("" if setting.trusted else " (not trusted)")


def _join_lines(text: str) -> str:
    """Join the lines of *text*: the name of a folder may contain a line that looks like ours."""
    return " ".join(text.split())


def _format_state(one: ProviderInfo) -> str:
    if one.configured:
        return "ready"
    return f"set {' or '.join(one.missing)}" if one.missing else one.problem or ""
