"""The environment variables, and those of the file that ``WEB_SEARCH_ENV_FILE`` names.

No ``.env`` file is read unless that variable names it. The variables of the process
win, and stay as they are.
"""

from __future__ import annotations
import asyncio
import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from ..errors import ConfigurationError

ENV_FILE = "WEB_SEARCH_ENV_FILE"

_MAX_SIZE = 2**20  # bytes
_last_read: tuple[Path, Mapping[str, str]] | None = None


def read_variable(name: str) -> str:
    """Return the value of the variable *name*, without white space around it; empty if
    it is not set.
    """
    return os.environ.get(name, "").strip() or read_env_file().get(name, "").strip()


def describe_variable(name: str) -> str:
    """Return the variable *name* for messages, with the file if it comes from one."""
    if os.environ.get(name, "").strip() or not read_variable(name):
        return name
    return f"{name} in {env_file()}"


def env_file() -> Path | None:
    """Return the file that ``WEB_SEARCH_ENV_FILE`` names, if it is set."""
    name = os.environ.get(ENV_FILE, "").strip()
    try:
        return Path(name).expanduser() if name else None
    except RuntimeError as error:  # "~name" of nobody
        raise ConfigurationError(
            f"{ENV_FILE}: {name}: there is no such user"
        ) from error


def read_env_file() -> Mapping[str, str]:
    """Return the variables of the file that ``WEB_SEARCH_ENV_FILE`` names; none if it
    names no file.

    In a running event loop, which reading would block, they are as they were when last
    read.
    """
    global _last_read  # noqa: PLW0603 - replaced as a whole, so threads see all of it or nothing
    path = env_file()
    if path is None:
        return MappingProxyType({})
    if _last_read is not None and is_loop_running():
        last_path, values = _last_read
        if last_path == path:
            return values
    try:
        stat = path.stat()
        values = _parse(path, stat.st_mtime_ns, stat.st_size)
    except OSError as error:
        raise ConfigurationError(
            f"{ENV_FILE}: {path}: {error.strerror or type(error).__name__}"
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{ENV_FILE}: {path}: not UTF-8") from error
    _last_read = (path, values)
    return values


def is_loop_running() -> bool:
    """Return whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@lru_cache(maxsize=4)
def _parse(path: Path, _modified: int, size: int) -> Mapping[str, str]:
    from dotenv import dotenv_values

    if size > _MAX_SIZE:
        raise ConfigurationError(
            f"{ENV_FILE}: {path}: larger than {_MAX_SIZE // 2**20} MiB"
        )
    values = dotenv_values(path, encoding="utf-8")
    return MappingProxyType({name: value for name, value in values.items() if value})
