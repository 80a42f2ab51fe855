"""``websearch providers``."""

from __future__ import annotations
import dataclasses
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from ..arguments import TextOrJson, name_flag
from ..completion import complete_name
from ..output import Row, print_json, print_rows, print_table, print_text, report_errors

if TYPE_CHECKING:
    from ...providers import ProviderInfo


def providers(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PROVIDER",
            help="Show all that is known about these providers",
            autocompletion=complete_name,
        ),
    ] = None,
    form: TextOrJson = "text",
) -> None:
    """List the providers, and what each needs.

    With names: where to get a key, what it costs, and which options it has. Never shows
    keys.
    """
    with report_errors(form):
        from ..._registry import registered_name
        from ...providers import get_all

        wanted = [registered_name(name) for name in names or ()]
        found = {one.name: one for one in get_all() if not wanted or one.name in wanted}
        if form == "json":
            print_json([dataclasses.asdict(one) for one in found.values()])
        elif wanted:
            for number, name in enumerate(dict.fromkeys(wanted)):
                if number:
                    print_text("")
                print_rows(_describe(found[name]))
        else:
            rows = [
                (one.name, "yes" * one.search, "yes" * one.read, _format_state(one))
                for one in found.values()
            ]
            print_table(("provider", "search", "read", "state"), rows)


def _describe(one: ProviderInfo) -> Iterator[Row]:
    verbs = " and ".join(
        verb
        for verb, able in (("searches", one.search), ("reads pages", one.read))
        if able
    )
    prices = (
        f"{one.about.price} ({one.about.as_of})"
        if one.about.price and one.about.as_of
        else one.about.price
    )
    yield one.name, f"{one.label}: {verbs}" if verbs else one.label
    yield "state", _format_state(one)
    yield "key", one.about.signup_url
    yield "free", one.about.free_allowance
    yield "price", prices
    yield "terms", one.about.terms
    for url in one.about.api_urls:
        yield "API", url
    yield "supports", ", ".join(map(name_flag, one.options))
    yield "variables", ", ".join(one.variables)
    for option, meaning in _list_options(one.name):
        yield (
            "--option",
            f"{one.name}.{option}: {meaning}" if meaning else f"{one.name}.{option}",
        )


def _list_options(name: str) -> Iterator[tuple[str, str]]:
    """Yield the options of a provider other than its keys, with what they mean."""
    from ..._registry import find_class
    from ..._text.docstrings import read_args
    from ...provider._declare import field_notes, is_secret

    cls = find_class(name)
    meanings = read_args(cls)
    for option, notes in field_notes(cls).items():
        if not is_secret(notes):
            yield option, meanings.get(option, "").replace("``", "")


def _format_state(one: ProviderInfo) -> str:
    if one.configured:
        return "ready"
    return f"set {' or '.join(one.missing)}" if one.missing else one.problem or ""
