"""``websearch compare``."""

from __future__ import annotations
import asyncio
import os
from collections.abc import Sequence
from itertools import compress, product
from pathlib import Path
from typing import Annotated, Any

import typer

from ..._text.lists import split_list
from ...errors import ConfigurationError
from ..arguments import ProviderOption, TextOrJson, declare, parse_options
from ..completion import complete_provider, complete_reader
from ..output import print_json, print_table, report_errors, show_progress

_DIFFERENCE = 3  # the column


def compare(
    *,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="The questions with their answers, as JSON Lines"
        ),
    ],
    providers: Annotated[
        str,
        declare(
            "NAMES",
            "Such as tavily,brave",
            "--providers -p",
            complete=complete_provider,
        ),
    ],
    readers: Annotated[
        str | None,
        declare(
            "NAMES",
            "Such as direct,jina: each provider is also tried with each of them, which "
            "reads the first results",
            "--readers -r",
            complete=complete_reader,
        ),
    ] = None,
    output: Annotated[
        str | None,
        declare(
            "FILE",
            "A row for each question; a second run asks only the rest",
            "--output -o",
        ),
    ] = None,
    limit: Annotated[int, declare("N", "Number of results", "--limit -n")] = 5,
    read_top: Annotated[int, declare("N", "How many results a reader reads")] = 3,
    max_tokens: Annotated[
        int, declare("N", "What a model may be shown, in estimated tokens")
    ] = 2000,
    option: ProviderOption = None,
    form: TextOrJson = "text",
) -> None:
    """Compare how often providers find the answers you expect."""
    with report_errors(form):
        from ...settings import Settings
        from ..comparison import Row, Variant, ask, find_known, read_questions, report
        from ..rows import Rows

        questions = read_questions(file)
        searchers = dict.fromkeys(split_list(providers))
        readings = dict.fromkeys([None, *split_list(readers or "")])
        options = parse_options(option)
        for name in options.keys() - {*searchers, *readings}:
            raise ConfigurationError(
                f"--option: {name} is not compared; add it to --providers or --readers"
            )
        settings = Settings.load(providers=options)
        variants = [
            Variant(*pair, limit, read_top, max_tokens, settings)
            for pair in product(searchers, readings)
        ]
        ids = [
            variant.identify(question)
            for variant, question in product(variants, questions)
        ]
        with (
            Rows(output or os.devnull, "asked") as file_rows,
            show_progress("Comparing", len(ids)) as step,
        ):
            rows = find_known(file_rows, ids)

            def write(row: Row) -> None:
                file_rows.write(row.model_dump(exclude_none=True, by_alias=True))
                step(row.question)

            asyncio.run(ask(variants, questions, rows, write))
        figures = report(variants, questions, rows)
    if form == "json":
        print_json(figures)
    else:
        _print(figures)


def _print(figures: Sequence[dict[str, Any]]) -> None:
    rows = [_format_row(figure) for figure in figures]
    for row in rows[:1]:
        row[_DIFFERENCE] = ""  # to itself
    columns = [
        "",
        "found",
        "share (95 %)",
        "difference",
        "failed",
        "tokens",
        "seconds",
        "USD",
    ]
    # a column without a name has the variants
    is_shown = [
        not name or any(cells) for name, *cells in zip(columns, *rows, strict=True)
    ]
    print_table(
        list(compress(columns, is_shown)),
        [list(compress(row, is_shown)) for row in rows],
    )


def _format_row(figure: dict[str, Any]) -> list[str]:
    failures = [f"{count} {code}" for code, count in figure["failed"].items()]
    seconds = ""
    if figure["seconds"] is not None:
        seconds = f"{figure['seconds']:.2f}"
    return [
        figure["variant"],
        f"{figure['found']} of {figure['questions']}",
        _format_interval(figure["share"], ".1%"),
        _format_interval(figure["difference"], "+.1%"),
        ", ".join(failures),
        f"{figure['tokens']:.0f}",
        seconds,
        _format_cost(figure),
    ]


def _format_interval(interval: Sequence[float], form: str) -> str:
    return "{} [{}, {}]".format(*(format(number, form) for number in interval))


def _format_cost(figure: dict[str, Any]) -> str:
    if figure["usd"]:
        return f"{figure['usd']:.4f}"
    if figure["credits"]:
        return f"{figure['credits']:g} credits"
    return ""
