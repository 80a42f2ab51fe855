"""Whose files these are: what another user owns or may write is neither trusted nor
used.
"""

from __future__ import annotations
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from shlex import quote

from ..errors import ConfigurationError

_ROOT = 0
_MOST_LINKS = 40  # as Linux allows
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


class UnsafeFile(ConfigurationError):
    """Another user may change a file, or chose where it is."""


def belongs_to_user(path: Path) -> bool:
    """Return whether this user owns *path*, as git does for ``safe.directory``; a link
    and its target both count.

    On systems without such owners (Windows), it is always true.
    """
    return (
        not hasattr(os, "geteuid")
        or {path.lstat().st_uid, path.stat().st_uid} <= _find_own_ids()
    )


def check_database(path: Path) -> None:
    """Raise `UnsafeFile` if anybody but this user and root can have written a database,
    or can redirect us to another.

    That is about the file, if there is one, the links on the way to it, the files that
    SQLite puts beside it, and the folder, where anybody may replace them. On systems
    without such owners (Windows), everything passes.
    """
    if not hasattr(os, "geteuid"):
        return
    check_links(path)
    own = _find_own_ids() | {_ROOT}
    # texts from here on: this runs with every call of a cache
    file = os.path.realpath(path)
    folder, name = os.path.split(file)
    with suppress(OSError):
        mode = os.lstat(folder).st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise UnsafeFile(
                f"{file} is in a folder where every user may replace it: run 'chmod "
                f"o-w {quote(folder)}', "
                f"or name a file in a folder of your own, such as "
                f"{folder}/websearch/{name}"
            )
    for ending in ("", "-wal", "-shm", "-journal"):
        with suppress(OSError):  # it does not exist, or this user may not even look
            _check_file(file + ending, os.lstat(file + ending), own)


def check_links(path: Path) -> None:
    """Raise `UnsafeFile` if another user chose where *path* leads."""
    if not hasattr(os, "geteuid"):
        return
    own = _find_own_ids() | {_ROOT}
    for link in _follow(path):
        with suppress(OSError):  # it has gone
            if link.lstat().st_uid not in own:
                raise UnsafeFile(
                    f"{link} is a symbolic link of another user: remove it, or name "
                    f"another place"
                )


def _check_file(path: str, status: os.stat_result, own: set[int]) -> None:
    if status.st_uid not in own:
        raise UnsafeFile(
            f"{path} belongs to another user ({status.st_uid}), who can change what is "
            f"read from it: "
            f"if you trust it, run 'chown {os.geteuid()} {quote(path)}' as root; else "
            f"remove it, or name another place"
        )
    if status.st_mode & _WRITABLE and not stat.S_ISLNK(status.st_mode):
        raise UnsafeFile(
            f"other users may change {path}: run 'chmod go-w {quote(path)}' if you "
            f"trust what is in it, "
            "or name another place"
        )


def _find_own_ids() -> set[int]:
    users = {os.geteuid()}
    sudo = os.environ.get("SUDO_UID", "")
    if os.geteuid() == _ROOT and sudo.isdecimal():
        users.add(int(sudo))
    return users


def _follow(path: Path) -> Iterator[Path]:
    """Yield *path*, if it is a symbolic link, and each that it leads to."""
    for _ in range(_MOST_LINKS):
        try:
            target = path.readlink()
        except OSError:
            return
        yield path
        path = path.parent / target
