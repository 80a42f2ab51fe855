"""What docstrings say of arguments: for the documentation, and for the command line."""

from __future__ import annotations
import inspect
import re


def read_args(described: object) -> dict[str, str]:
    """Return what the docstring of a class or function says of each argument, each in
    one line.
    """
    section = (
        (inspect.getdoc(described) or "").partition("Args:\n")[2].partition("\n\n")[0]
    )
    entries = [
        " ".join(entry.split()).partition(": ")
        for entry in re.split(r"(?m)^ {4}(?! )", section)
    ]
    return {name: meaning for name, _, meaning in entries if name}
