"""Write files in folders that may be somebody else's, such as those of a checkout.

What stands there already is not trusted. No link in a folder is followed, nothing is
written under a name that can be known beforehand, and only files whose names we made
are removed.
"""

from __future__ import annotations
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import ConfigurationError

# Windows has no such links that other users could make.
_NO_LINK = getattr(os, "O_NOFOLLOW", 0)
_BINARY = getattr(os, "O_BINARY", 0)
_MODE = 0o666  # without what the umask takes away


def open_to_append(path: Path) -> BinaryIO:
    """Open a file to read and to append, or make it.

    Raise `ConfigurationError` if it is a symbolic link.
    """
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | _NO_LINK | _BINARY
    return os.fdopen(_open(path, flags), "ab+", buffering=0)


def open_to_read(path: Path) -> BinaryIO:
    """Open a file to read.

    Raise `ConfigurationError` if it is a symbolic link.
    """
    return os.fdopen(_open(path, os.O_RDONLY | _NO_LINK | _BINARY), "rb")


def _open(path: Path, flags: int) -> int:
    try:
        return os.open(path, flags, _MODE)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        raise ConfigurationError(
            f"{path} is a symbolic link, which could lead anywhere: remove it, or name "
            f"another output"
        ) from None


def read_text(path: Path) -> str | None:
    """Return the text of a regular file; None if there is none."""
    try:
        with open_to_read(path) as file:
            if not is_regular(file):
                return None
            return file.read().decode("utf-8", "replace")
    except (OSError, ConfigurationError):
        return None


def find_mode(file: BinaryIO) -> int:
    """Return who may read a file."""
    return os.fstat(file.fileno()).st_mode & 0o777


def is_regular(file: BinaryIO) -> bool:
    return stat.S_ISREG(os.fstat(file.fileno()).st_mode)


@contextmanager
def replacing(path: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """Write a new file in a block, under a random name, and put it in the place of
    *path* at the end, whole or not at all. A link at *path* is replaced, not followed.

    *mode* says who may read it; by default, that is as the umask says.
    """
    part = path.with_name(f".{secrets.token_hex(8)}.part")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | _NO_LINK | _BINARY
    file = os.fdopen(os.open(part, flags, _MODE), "wb")
    try:
        with file:
            if mode is not None:
                part.chmod(mode)
            yield file
        part.replace(path)
    except BaseException:
        with suppress(OSError):
            part.unlink()
        raise
