"""
Find the settings files, and decide how far each source of a setting is trusted.

Arguments, the environment, a file that ``WEB_SEARCH_CONFIG`` names and the user's own file are trusted. A file that was
only *found*, in the working directory or above it, is not: the author of that folder wrote it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from .errors import ConfigurationError

NAMED = "WEB_SEARCH_CONFIG"

_MAX_SIZE = 2**20  # bytes of a settings file
_last_read: tuple[tuple[Path | None, str], Files] | None = None
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Source:
    """
    The source of a value.

    Args:
        kind: ``file`` is a file that the user chose, ``found`` one in the working directory or above it.
        name: The environment variable, or the path of the file.

    """

    kind: Literal["argument", "environment", "file", "found", "default"]
    name: str = ""

    @property
    def trusted(self) -> bool:
        """False for a value that the author of the working directory may have written."""
        return self.kind != "found"

    def __str__(self) -> str:
        match self.kind:
            case "environment":
                return f"environment {self.name}"
            case "file" | "found":
                return self.name
            case kind:
                return kind


Files: TypeAlias = list[tuple[Source, dict[str, Any]]]
DEFAULT, ARGUMENT = Source("default"), Source("argument")


def read_files() -> Files:
    """
    Return the settings of each file that applies, in order of precedence.

    These are the file that ``WEB_SEARCH_CONFIG`` names, or else the one found from the working directory upwards, and
    the user's own file. In a running event loop, which reading would block, they are as they were when last read: at
    the latest when this package was imported.

    Raises:
        ConfigurationError: A file cannot be read, or is not TOML.

    """
    global _last_read  # noqa: PLW0603 - replaced as a whole, so threads see all of it or nothing
    own, named = user_file(), os.environ.get(NAMED, "").strip()
    if _is_loop_running() and _last_read is not None and _last_read[0] == (own, named):
        return _last_read[1]
    files = _read_all(own, named)
    _last_read = (own, named), files
    return files


def remember_files() -> None:
    """Read the files for a first `WebSearch` that is made in an event loop; elsewhere, they are read again."""
    if _is_loop_running():
        return
    _log.disabled = True
    try:
        read_files()
    except ConfigurationError:  # raised again where it can be caught
        pass
    finally:
        _log.disabled = False


def _is_loop_running() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _read_all(own: Path | None, named: str) -> Files:
    files = [(Source("file", named), _read_named(Path(named)))] if named else list(_find(own))
    if own is not None and _is_readable(own):
        files.append((Source("file", str(own)), _read(own)))
    return files


def user_file() -> Path | None:
    """Return the path of the user's own file, whether it exists or not; None if the user has no home."""
    import platformdirs

    folder = platformdirs.user_config_path("websearch", appauthor=False, roaming=True)
    # The XDG specification says to ignore relative paths; one would lead into the working directory.
    return folder / "websearch.toml" if folder.is_absolute() else None


def make_refusal(source: Source, key: str, why: str, *, variables: tuple[str, ...] = ()) -> ConfigurationError:
    """Make the error for an entry that a found file may not have, with the reason and where to put it instead."""
    places = [f"in {own}"] if (own := user_file()) else []
    places += [f"in the environment ({' or '.join(variables)})"] if variables else []
    places += [f"in a file that {NAMED} names", "or pass it as an argument"]
    return ConfigurationError(
        f"{source}: {key}: {why}, because this file was only found in the working directory or above it. "
        f"If you want this, put it {', '.join(places)}"
    )


def _is_readable(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # this user may not read its folder
        return False


def _read_named(path: Path) -> dict[str, Any]:
    try:
        path = path.expanduser()
        table = _read(path)
    except RuntimeError as error:  # "~name" of nobody
        raise ConfigurationError(f"{NAMED}: {path}: there is no such user") from error
    except ConfigurationError as error:
        raise ConfigurationError(f"{NAMED}: {error}") from error
    if path.name != "pyproject.toml":
        return table
    if (own_table := _get_own_table(table)) is None:
        raise ConfigurationError(f"{path}, which {NAMED} names, has no table [tool.websearch]")
    return _check_table(own_table, path)


def _find(own: Path | None) -> Iterator[tuple[Source, dict[str, Any]]]:
    """Search from the working directory upwards to the root of the project."""
    try:
        here = Path.cwd()
    except OSError:  # it was deleted
        return
    for folder in (here, *here.parents):
        try:
            path, is_root = _search_folder(folder, own)
        except OSError:  # an unreadable folder: it may be the root of the project
            return
        if path is not None:
            table = _read(path)
            own_table = table if path.name == "websearch.toml" else _check_table(_get_own_table(table), path)
            yield Source("found", str(path)), own_table
        if path is not None or is_root:
            return


def _search_folder(folder: Path, own: Path | None) -> tuple[Path | None, bool]:
    """Return the settings file in *folder*, and whether the search ends there without one."""
    settings, project = folder / "websearch.toml", folder / "pyproject.toml"
    if settings.is_file():
        if settings == own:
            return None, True  # it is read anyway, and trusted
        if _belongs_to_user(settings):
            return settings, True
        _log.warning("skipped %s: it belongs to another user; name it by %s if you trust it", settings, NAMED)
        return None, True
    if project.is_file():
        return (project if _has_settings(project) else None), True
    return None, (folder / ".git").exists()


def _has_settings(project: Path) -> bool:
    """Return whether a pyproject.toml has our table. All tools share this file: a broken one is not our error."""
    if not _belongs_to_user(project):
        _log.debug("skipped %s: it belongs to another user", project)
        return False
    try:
        return _get_own_table(_read(project)) is not None
    except ConfigurationError as error:
        _log.warning("skipped %s", error)
        return False


def _belongs_to_user(path: Path) -> bool:
    """
    Return whether this user owns *path*, as git does for ``safe.directory``; a link and its target both count.

    On systems without such owners (Windows), it is always true.
    """
    if not hasattr(os, "geteuid"):
        return True
    users = {os.geteuid()}
    if os.geteuid() == 0 and (sudo := os.environ.get("SUDO_UID", "")).isdecimal():
        users.add(int(sudo))
    return {path.lstat().st_uid, path.stat().st_uid} <= users


def _read(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_SIZE + 1)
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror or type(error).__name__}") from error
    if len(content) > _MAX_SIZE:
        raise ConfigurationError(f"{path}: larger than {_MAX_SIZE // 2**20} MiB")
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: not TOML: {error}") from error


def _get_own_table(table: dict[str, Any]) -> Any:
    tools = table.get("tool")
    return tools.get("websearch") if isinstance(tools, dict) else None


def _check_table(table: Any, path: Path) -> dict[str, Any]:
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: tool.websearch is not a table")
    return table
