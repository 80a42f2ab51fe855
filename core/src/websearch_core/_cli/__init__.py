"""
The command ``websearch``. It needs the extra ``cli``: ``pip install 'websearch-core[cli]'``.

typer and rich are imported only when the command runs.
"""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line."""
    try:
        from .app import app
    except ModuleNotFoundError as error:
        if error.name not in {"typer", "rich"}:
            raise
        sys.stderr.write(
            f"websearch: the command line needs {error.name}; install it with: pip install 'websearch-core[cli]'\n"
        )
        raise SystemExit(2) from None
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # the terminal's encoding may lack characters of a page
    app()
