"""``websearch providers``."""

from __future__ import annotations
import dataclasses
from collections.abc import Iterable, Iterator
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

        choice = dict.fromkeys(map(registered_name, names or ()))
        infos = get_all()
        if choice:
            infos = [info for info in infos if info.name in choice]
        if form == "json":
            print_json([dataclasses.asdict(info) for info in infos])
        elif choice:
            by_name = {info.name: info for info in infos}
            _print_details([by_name[name] for name in choice])
        else:
            _print_list(infos)


def _print_details(infos: Iterable[ProviderInfo]) -> None:
    for number, info in enumerate(infos):
        if number:
            print_text("")
        print_rows(_describe(info))


def _print_list(infos: Iterable[ProviderInfo]) -> None:
    rows = [
        (info.name, "yes" * info.search, "yes" * info.read, _format_state(info))
        for info in infos
    ]
    print_table(("provider", "search", "read", "state"), rows)


def _describe(info: ProviderInfo) -> Iterator[Row]:
    about = info.about
    verbs = []
    if info.search:
        verbs.append("searches")
    if info.read:
        verbs.append("reads pages")
    price = about.price
    if price and about.as_of:
        price = f"{price} ({about.as_of})"
    yield info.name, ": ".join(filter(None, [info.label, " and ".join(verbs)]))
    yield "state", _format_state(info)
    yield "key", about.signup_url
    yield "free", about.free_allowance
    yield "price", price
    yield "terms", about.terms
    for url in about.api_urls:
        yield "API", url
    yield "supports", ", ".join(map(name_flag, info.options))
    yield "variables", ", ".join(info.variables)
    for option, meaning in _list_options(info.name):
        name = f"{info.name}.{option}"
        yield "--option", ": ".join(filter(None, [name, meaning]))


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


def _format_state(info: ProviderInfo) -> str:
    if info.configured:
        return "ready"
    if info.missing:
        return f"set {' or '.join(info.missing)}"
    return info.problem or ""
