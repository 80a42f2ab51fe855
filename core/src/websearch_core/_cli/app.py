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
    print_markdown,
    print_table,
    print_text,
    put_line,
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
    pretty_exceptions_enable=False,  # they show the values of variables, and some of those are keys
    context_settings={"help_option_names": ["-h", "--help"]},
)

_Format = Annotated[Format, typer.Option("--format", "-f", help="text or markdown for people, json for programs")]
_TextOrJson = Annotated[
    Literal["text", "json"], typer.Option("--format", "-f", help="text for people, json for programs")
]
_Timeout = Annotated[float | None, typer.Option(help="Seconds for the whole call")]
_Holes = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-address",
        help="Network (10.1.0.0/16) or origin (https://wiki.corp:8443) that pages may be read from although it is not "
        "public; takes the place of allow in the settings; repeatable",
    ),
]


def _version(wanted: bool) -> None:
    if wanted:
        print_text(f"websearch-core {version('websearch-core')}")
        raise typer.Exit


@app.callback()
def websearch(
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version")] = False,
) -> None:
    """Search the web and read pages."""


@app.command(epilog=EXIT_CODES)
def search(
    *,
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="The words to look for")],
    provider: Annotated[
        str | None,
        typer.Option(
            "--provider", "--search-provider", "-p", help="Who searches; tavily,brave is a chain, asked in order"
        ),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="The address of the one provider that is named")] = None,
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
            help="Read this many of the first results, and show what their pages say to the query, not their snippets"
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
            help="Who reads: direct, jina, tavily or local; direct,jina is a chain, asked in order",
        ),
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="The address of the one reader that is named")] = None,
    max_length: Annotated[
        int | None, typer.Option(help="Maximum number of characters to show; 15000 unless configured")
    ] = None,
    max_tokens: Annotated[
        int | None,
        typer.Option(help="Maximum number of tokens to show, estimated; with --max-length, both limits hold"),
    ] = None,
    offset: Annotated[int, typer.Option(help="Where to begin, in characters: the next_offset of the part before")] = 0,
    query: Annotated[
        str | None, typer.Option(help="Show the passages of the whole page that answer this question")
    ] = None,
    find: Annotated[
        str | None,
        typer.Option(help="Show the places around this phrase; case, accents, spaces and emphasis are ignored"),
    ] = None,
    allow_address: _Holes = None,
    timeout: _Timeout = None,
    form: _Format = "text",
) -> None:
    """Read a page."""
    with report_errors(form):
        if base_url and not reader:
            raise ConfigurationError("--base-url: name the reader that this is for")
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
            help="The file of the index; else that of WEBSEARCH_INDEX, of the settings, or websearch/index.db in your "
            "data folder"
        ),
    ] = None,
    max_pages: Annotated[int, typer.Option(min=1, help="Maximum number of pages to request from one site")] = 200,
    allow_address: _Holes = None,
    form: _TextOrJson = "text",
) -> None:
    """
    Put folders and web sites into the index that the provider 'local' searches.

    Of a site, pages within the origin of the URL are read along their links, as far as its robots.txt allows.
    """
    with report_errors(form):
        local = build_provider("local", Settings.load(), path=path)
        reports = []
        for place in places:
            with (
                WebSearch(local, reader="direct", allow=allow_address) as web,
                show_progress(f"Indexing {place}") as tell,
            ):
                if re.match("https?://", place, re.IGNORECASE):
                    timeout = web.settings.timeout
                    report = web.run(crawl(place, local.index, web.reader, most=max_pages, timeout=timeout, tell=tell))
                else:
                    report = local.index.add_folder(Path(place), tell)
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
    """List the providers: what each can do, and whether it is ready or which variable is missing. Keys never show."""
    with report_errors(form):
        found = get_all()
        if form == "json":
            print_json([dataclasses.asdict(standing) for standing in found])
            return
        rows = [(one.name, "yes" * one.search, "yes" * one.read, _state(one), " ".join(one.options)) for one in found]
        print_table(("provider", "search", "read", "state", "options"), rows)


@app.command(epilog="Exit codes: 0 all that was tried works; 1 something does not; 2 wrong usage or configuration.")
def doctor(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="PROVIDER", help="Which to try; if left out, those that are configured or in use"),
    ] = None,
    form: _TextOrJson = "text",
) -> None:
    """
    Try what is configured with one small real call each, and say what is wrong.

    A call may cost what a search costs.
    """
    with report_errors(form):
        settings = Settings.load()
        tried = names or doctors.in_use(settings)
        # It drives the checks, and must not fail for want of what they check.
        with WebSearch(DuckDuckGo(), reader=Direct(), layers=None) as web, show_progress("Trying providers"):
            checked = web.run(doctors.checks(tried, settings))
    broken = any(check.error for check in checked)
    if form == "json":
        print_json(
            {
                "status": "error" if broken else "success",
                "offline": doctors.offline(checked),
                "checks": [
                    {
                        "provider": check.provider,
                        "seconds": round(check.seconds, 3),
                        "error": error_as_json(check.error)["error"] if check.error else None,
                        "remedy": check.remedy or None,
                    }
                    for check in checked
                ],
                "settings": [dataclasses.asdict(setting) for setting in doctors.in_force(tried, settings)],
                **doctors.surroundings(settings),
            }
        )
    else:
        _print_diagnosis(checked, doctors.in_force(tried, settings), doctors.surroundings(settings))
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
    put_line(f"{place}: {pages} indexed, {report.removed} removed, {len(report.skipped)} skipped, in {index.path}")
    for skipped in report.skipped:
        put_line(f"  skipped {skipped.what}: {skipped.why}")
    if report.left:
        put_line(f"  {report.left} more links were not followed: raise --max-pages to read on")


def _print_diagnosis(checked: list[doctors.Check], settings: list[doctors.Setting], around: dict[str, Any]) -> None:
    for check in checked:
        if check.error is None:
            print_text(f"ok      {check.provider} ({check.seconds:.1f} s)")
        else:
            put_line(f"BROKEN  {check.provider}: {render_error(check.error)}")
            if check.remedy:
                print_text(f"        {check.remedy}")
    if doctors.offline(checked):
        print_text("Nobody could be reached: it looks as if this machine has no network, or needs a proxy.")
    print_text("")
    print_table(("setting", "value", "from"), [(one.name, _shown(one.value), _origin(one)) for one in settings])
    print_text("")
    print_text(", ".join(f"{name} {number or 'not installed'}" for name, number in around["versions"].items()))
    for file in around["settings_files"]:
        print_text(f"settings file: {_one_line(file['path'])}{'' if file['trusted'] else ' (found here, not trusted)'}")
    if not around["settings_files"]:
        print_text("settings file: none")
    print_text(f"proxies: {', '.join(f'{scheme} {url}' for scheme, url in around['proxies'].items()) or 'none'}")
    print_text(f"TLS: {', '.join(around['tls'].values())}")


def _shown(value: Any) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
    return "" if value is None else _one_line(text)


def _origin(setting: doctors.Setting) -> str:
    return _one_line(setting.source) + ("" if setting.trusted else " (not trusted)")


def _one_line(text: str) -> str:
    """The name of a folder may hold anything, a line that looks like ours included."""
    return " ".join(text.split())


def _state(one: ProviderInfo) -> str:
    if one.configured:
        return "ready"
    return f"set {' or '.join(one.missing)}" if one.missing else one.problem or ""
