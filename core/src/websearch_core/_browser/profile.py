"""The folder with a browser's files, which goes with it.

A program that is killed cannot remove it. So each has a file that is locked while its
program runs, and who starts a browser removes those that nobody locks any more.
"""

from __future__ import annotations
import contextlib
import os
import shutil
import stat
import sys
import tempfile
import time
from pathlib import Path

_PREFIX = "websearch-browser-"
_LOCK = "websearch.lock"


class Profile:
    """A new folder; `remove` ends it."""

    def __init__(self) -> None:
        remove_abandoned()
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._lock: int | None = None

    def hand_over(self, user: tuple[int, int] | None) -> None:
        """Give the folder with what is in it to the *user* of the browser, if that is
        another; the lock stays ours.
        """
        if user is not None and sys.platform != "win32":
            for place in (self.path, *self.path.rglob("*")):
                os.chown(place, *user)
        self._lock = _lock(self.path / _LOCK, os.O_CREAT | os.O_EXCL)

    def remove(self) -> None:
        """Remove the browser's files; processes that are still ending may add some
        meanwhile.
        """
        for pause in (0, 0.05, 0.2, 0.5):
            time.sleep(pause)
            shutil.rmtree(self.path, ignore_errors=True)
            if not self.path.exists():
                break
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def remove_abandoned() -> None:
    """Remove the folders of this user's programs that have ended without doing it."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        if not _is_ours(folder):
            continue
        lock = _lock(folder / _LOCK, 0)
        if lock is None:
            continue
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _is_ours(folder: Path) -> bool:
    """Return whether it is a folder, no link, in which this user has put a lock."""
    if sys.platform == "win32":
        return False
    with contextlib.suppress(OSError):
        lock = (folder / _LOCK).lstat()
        is_folder = stat.S_ISDIR(folder.lstat().st_mode)
        is_file = stat.S_ISREG(lock.st_mode)
        return is_folder and is_file and lock.st_uid == os.geteuid()
    return False


def _lock(file: Path, flags: int) -> int | None:
    """Open and lock a file until it is closed, or this program ends; None if another
    holds it, or the system has no such locks.
    """
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        descriptor = os.open(file, os.O_RDWR | os.O_NOFOLLOW | flags, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor
