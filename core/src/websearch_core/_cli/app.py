"""The program: its commands, and how it reports wrong usage."""

from __future__ import annotations
import sys
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .._text.vocabulary import OTHER_NAMES
from ..errors import InvalidOption
from . import print_version
from .arguments import name_flag
from .output import EXIT_CODES, print_json

# click's, or typer's own: that depends on the version of typer
_UsageError: Any = typer.BadParameter.__base__


class _Group(TyperGroup):
    """Reports wrong usage in JSON as well, for programs that asked for it."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        words = sys.argv[1:] if args is None else args
        try:
            code = super().main(
                args,
                prog_name,
                complete_var,
                False,  # noqa: FBT003
                windows_expand_args,
                **extra,
            )
        except _UsageError as error:
            # from pydantic, which typer reads values with
            error.message = error.message.replace("Value error, ", "")
            _suggest_option(error)
            if _wants_json(words):
                from ..render import error_as_json

                print_json(error_as_json(InvalidOption(error.format_message())))
            else:
                error.show()
            code = 2
        except typer.Abort:
            code = 130
        if not standalone_mode:
            return code
        status = code if isinstance(code, int) else 0
        sys.exit(status)


class _Command(TyperCommand):
    """Shows arguments in its help by their names alone: ``<list[str]>`` says nothing to
    who types them.
    """

    def format_options(self, ctx: Any, formatter: Any) -> None:
        for parameter in self.params:
            if parameter.param_type_name == "argument":
                describe: Any = parameter
                describe.display_type_rich = _show_nothing
        super().format_options(ctx, formatter)


def _show_nothing(**_: object) -> str:
    return ""


def _suggest_option(error: Any) -> None:
    """Let *error* name our option, if it is about one that another library calls so."""
    flag = getattr(error, "option_name", "")
    name = flag.removeprefix("--").replace("-", "_")
    ours = name_flag(OTHER_NAMES.get(name, name))
    if ours == flag or not error.ctx:
        return
    if any(ours in parameter.opts for parameter in error.ctx.command.params):
        error.message = f"No such option: {flag}; write {ours}"
        error.possibilities = ()


def _wants_json(words: Sequence[str]) -> bool:
    return any(
        word in {"-fjson", "--format=json"}
        or (word in {"-f", "--format"} and value == "json")
        for word, value in pairwise([*words, ""])
    )


app = typer.Typer(
    name="websearch",
    cls=_Group,
    help="Search the web and read pages.",
    epilog=EXIT_CODES,
    no_args_is_help=True,
    rich_markup_mode=None,
    # they show the values of variables, which may be keys
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(requested: bool) -> None:
    if requested:
        print_version()
        raise typer.Exit


@app.callback()
def websearch(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version"
        ),
    ] = False,
) -> None:
    """Search the web and read pages."""


# Each is the function of that name in the module of that name in `commands`; the help
# lists them in this order.
_NAMES = "search read crawl index providers usage compare setup cache doctor mcp"
for _name in _NAMES.split():
    _module = import_module(f"{__package__}.commands.{_name}")
    _epilog = getattr(_module, "EPILOG", EXIT_CODES)
    app.command(cls=_Command, epilog=_epilog)(getattr(_module, _name))
