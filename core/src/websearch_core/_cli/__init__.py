"""The command ``websearch``. It needs the extra ``cli``: ``pip install
'websearch-core[cli]'``.

typer and rich are imported only when the command runs, and what searches and reads only
when a command needs it, so that ``--version``, ``--help`` and completion in a shell are
quick.
"""

from __future__ import annotations
import io
import logging
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

_COMPLETION = ("--show-completion", "--install-completion")


def main() -> None:
    """Run the command line."""
    signal.signal(signal.SIGTERM, _end)
    # A stream that the shell has closed (>&-) is None.
    sys.stdin = sys.stdin or Path(os.devnull).open()  # noqa: SIM115
    sys.stdout = sys.stdout or Path(os.devnull).open("w")  # noqa: SIM115
    sys.stderr = sys.stderr or Path(os.devnull).open("w")  # noqa: SIM115
    try:
        try:
            _run()
        finally:
            # an error of the flush when the interpreter exits could only be ignored
            sys.stdout.flush()
    except OSError as error:  # such as a full disk
        # what is still in the buffer goes nowhere
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if not isinstance(error, BrokenPipeError):
            sys.stderr.write(f"websearch: {error}\n")
        raise SystemExit(1) from None


def _run() -> None:
    if sys.argv[1:] == ["--version"]:
        print_version()
        return
    if len(sys.argv) > 2 and sys.argv[1] in _COMPLETION:
        sys.stderr.write(
            f"websearch: {sys.argv[1]} takes no shell: it is for the one that runs it\n"
        )
        raise SystemExit(2)
    try:
        from .app import app
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich"}:
            raise
        sys.stderr.write(
            f"websearch: the command line needs {error.name}; install it with: pip "
            f"install 'websearch-core[cli]'\n"
        )
        raise SystemExit(2) from None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # the terminal's encoding may lack characters of a page
            stream.reconfigure(errors="backslashreplace")
    # an error says the same, with a note
    logging.getLogger("websearch_core.client._selection").setLevel(logging.ERROR)
    if "mcp" not in sys.argv[1:]:  # whose operator sees no other output
        logging.getLogger("websearch_core").addFilter(_is_no_warning)
    app()


def _is_no_warning(record: logging.LogRecord) -> bool:
    """Leave out warnings of failed calls: a command shows the error."""
    return record.levelno != logging.WARNING


def _end(number: int, _: object) -> NoReturn:
    """End as at Ctrl-C: what is under way is closed, and what has been read is
    stored.
    """
    raise SystemExit(128 + number)


def print_version() -> None:
    """Print the version of the package."""
    from importlib.metadata import version

    sys.stdout.write(f"websearch-core {version('websearch-core')}\n")
