"""
Where settings come from, and how far each source is trusted.

Arguments, the environment, a file that ``WEB_SEARCH_CONFIG`` names and the user's own file are trusted. A file that was
only *found*, in the working directory or above it, is not: the author of that folder wrote it.
"""

from __future__ import annotations

from ._files import NAMED, NAMES, Table, make_refusal, read_files, remember_files, user_file
from ._source import ARGUMENT, DEFAULT, Option, Source

__all__ = [
    "ARGUMENT",
    "DEFAULT",
    "NAMED",
    "NAMES",
    "Option",
    "Source",
    "Table",
    "make_refusal",
    "read_files",
    "remember_files",
    "user_file",
]
