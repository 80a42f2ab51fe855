"""Where settings come from, and how far each source is trusted: find the settings
files, and read them.

They are TOML, JSON, or YAML if PyYAML is installed.

Arguments, the environment, a file that ``WEB_SEARCH_CONFIG`` names and the user's own
file are trusted. A file that was only *found*, in the working directory or above it, is
not: the author of that folder wrote it.
"""

from __future__ import annotations
import copy
import json
import logging
import os
import re
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

from .._runtime.owners import belongs_to_user
from ..errors import ConfigurationError
from ..keys._environ import is_loop_running, read_variable

NAMED = "WEB_SEARCH_CONFIG"
NAMES = tuple(f"websearch{suffix}" for suffix in (".toml", ".json", ".yaml", ".yml"))
_MAX_SIZE = 2**20  # bytes of a settings file
# of our table, not of our packages
_OWN_NAME = re.compile(r"(?<![\w-])websearch(?![\w-])")
_last_read: tuple[tuple[Path | None, str], list[Table]] | None = None
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Source:
    """The source of a value."""

    # A ``file`` is one that the user chose, a ``found`` one was in the working
    # directory or above it.
    kind: Literal["argument", "environment", "file", "found", "default"]
    name: str = ""  # the environment variable, or the path of the file
    # such as ``webSearch``, ``tavily``, ``apiKey``
    written: tuple[str, ...] = field(default=(), compare=False)

    @property
    def trusted(self) -> bool:
        """False for a value that the author of the working directory may have
        written.
        """
        return self.kind != "found"

    @property
    def key(self) -> str:
        """The name of the setting as it is written there."""
        names = self.written
        if names[:2] == ("tool", "websearch"):
            names = names[2:]
        return ".".join(map(_as_printable, names))

    @property
    def line(self) -> int | None:
        """The line of the file, from 1, if it can be found. The file is read again,
        since its text may hold keys.
        """
        is_entry = self.kind in {"file", "found"} and bool(self.written)
        if not is_entry or is_loop_running():  # which reading would block
            return None
        path = Path(self.name)
        try:
            return _find_line(_read_text(path), path, self.written)
        except (ConfigurationError, ValueError):  # it has changed
            return None

    @property
    def place(self) -> str:
        """Where to look for it, for messages: a variable, a file and its line, or an
        argument.
        """
        line = self.line
        if line is None:
            return str(self)
        return f"{self}, line {line}"

    def at(self, *keys: str) -> str:
        """Return where *keys* are, for messages; by default its own. An argument needs
        no place beside its name.
        """
        key = ", ".join(keys) or self.key
        return key if self.kind == "argument" else f"{self.place}: {key}"

    def __str__(self) -> str:
        if self.kind == "environment":
            return f"environment {self.name}"
        return self.name or self.kind


def _as_printable(name: str) -> str:
    return name if name.isprintable() else repr(name)


DEFAULT = Source("default")
ARGUMENT = Source("argument")


@dataclass(frozen=True)
class Option:
    """A value and its source."""

    value: Any = field(repr=False)  # it may be a key
    source: Source
    # the value of a trusted source that this one overrules, if any
    limit: Any = field(default=None, repr=False)


@dataclass(frozen=True)
class Table:
    """The settings of one source, in any shape that `flatten` understands."""

    source: Source
    entries: dict[str, Any] = field(repr=False)  # there may be keys among them
    # where they are in the file: ``tool``, ``websearch`` in a ``pyproject.toml``
    prefix: tuple[str, ...] = ()
    # the file may hold settings of other programs beside a table ``web_search``
    shared: bool = False
    # other users of this machine can read the file; never so on Windows
    exposed: bool = False


def read_files() -> list[Table]:
    """Return the settings of each file that applies, in order of precedence.

    These are the file that ``WEB_SEARCH_CONFIG`` names, or else the one found from the
    working directory upwards, and the user's own file. In a running event loop, which
    reading would block, they are as they were when last read: at the latest when this
    package was imported. Raise `ConfigurationError` if one cannot be read in its
    format.
    """
    # replaced as a whole, so that threads see all of it or nothing
    global _last_read  # noqa: PLW0603
    folder = _user_folder()
    named = read_variable(NAMED)
    if is_loop_running() and _last_read is not None:
        places, tables = _last_read
        if places == (folder, named):
            return tables
    own = user_file()
    files = [_read_named(Path(named))] if named else list(_find(own))
    has_own = False
    with suppress(OSError):  # this user may not read its folder
        has_own = own is not None and own.is_file()
    if own is not None and has_own:
        files.append(_make_table("file", own, _read(own)))
    _last_read = (folder, named), files
    return files


def remember_files() -> None:
    """Read the files for a first `WebSearch` that is made in an event loop; elsewhere,
    they are read again.
    """
    if is_loop_running():
        return
    _log.disabled = True
    try:
        read_files()
    except ConfigurationError:  # raised again where it can be caught
        pass
    finally:
        _log.disabled = False


def _user_folder() -> Path | None:
    import platformdirs

    folder = platformdirs.user_config_path("websearch", appauthor=False, roaming=True)
    # The XDG specification says to ignore relative paths; one would lead into the
    # working directory.
    return folder if folder.is_absolute() else None


def user_file() -> Path | None:
    """Return the path of the user's own file: the one that exists, else a new one; None
    without a home.

    Several, in different formats, are a `ConfigurationError`.
    """
    folder = _user_folder()
    if folder is None:
        return None
    if is_loop_running():  # which looking would block; only errors name the file then
        return folder / NAMES[0]
    try:
        return _only_one(_settings_in(folder) or [folder / NAMES[0]])
    except OSError:  # this user may not read it
        return folder / NAMES[0]


def make_refusal(
    source: Source, key: str, why: str, *, variables: tuple[str, ...] = ()
) -> ConfigurationError:
    """Make the error for an entry that a project file may not have, with the reason and
    where to put it instead.
    """
    places: list[str] = []
    own = user_file()
    if own is not None:
        places.append(f"in {own}")
    if variables:
        places.append(f"in the environment ({' or '.join(variables)})")
    places += [f"in a file that {NAMED} names", "or pass it as an argument"]
    return ConfigurationError(
        f"{source.place}: {key}: {why}, because this file was only found in the "
        f"working directory or above it. "
        f"If you want this, put it {', '.join(places)}"
    )


def _read_named(path: Path) -> Table:
    try:
        path = path.expanduser()
        table = _read(path)
    except RuntimeError as error:  # "~name" of nobody
        raise ConfigurationError(f"{NAMED}: {path}: there is no such user") from error
    except ConfigurationError as error:
        raise ConfigurationError(f"{NAMED}: {error}") from error
    if path.name != "pyproject.toml":
        return _make_table("file", path, table)
    own_table = _get_own_table(table)
    if own_table is None:
        raise ConfigurationError(
            f"{path}, which {NAMED} names, has no table [tool.websearch]"
        )
    return _make_table("file", path, own_table)


def _find(own: Path | None) -> Iterator[Table]:
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
            if path.name == "pyproject.toml":
                table = _get_own_table(table)
            yield _make_table("found", path, table)
        if path is not None or is_root:
            return


def _search_folder(folder: Path, own: Path | None) -> tuple[Path | None, bool]:
    """Return the settings file in *folder*, and whether the search ends there without
    one.
    """
    settings = _settings_in(folder)
    project = folder / "pyproject.toml"
    if settings:
        if own in settings:
            return None, True  # it is read anyway, and trusted
        strange = [path for path in settings if not belongs_to_user(path)]
        for path in strange:
            _log.warning(
                "skipped %s: it belongs to another user; name it by %s if you trust it",
                path,
                NAMED,
            )
        if strange:
            return None, True
        return _only_one(settings), True
    if not project.is_file():
        return None, (folder / ".git").exists()
    if not _has_settings(project):
        return None, True
    return project, True


def _has_settings(project: Path) -> bool:
    """Return whether a pyproject.toml has our table. All tools share this file: a
    broken one is not our error.
    """
    if not belongs_to_user(project):
        _log.debug("skipped %s: it belongs to another user", project)
        return False
    try:
        text = _read_text(project)  # most have no table of ours, and need no parser
        if not _OWN_NAME.search(text):
            return False
        return _get_own_table(_parse(text, project)) is not None
    except ConfigurationError as error:
        _log.warning("skipped %s", error)
        return False


def _settings_in(folder: Path) -> list[Path]:
    paths = [folder / name for name in NAMES]
    return [path for path in paths if path.is_file()]


def _only_one(files: list[Path]) -> Path:
    if len(files) > 1:
        raise ConfigurationError(
            f"{files[0].parent}: keep one of "
            f"{' and '.join(path.name for path in files)}"
        )
    return files[0]


def _read(path: Path) -> dict[str, Any]:
    # which is shared: `_make_table` copies what it keeps
    return _parse(_read_text(path), path)


def _get_own_table(table: dict[str, Any]) -> Any:
    tools = table.get("tool")
    if not isinstance(tools, dict):
        return None
    return tools.get("websearch")


def _make_table(kind: Literal["file", "found"], path: Path, entries: Any) -> Table:
    if not isinstance(entries, dict):
        raise ConfigurationError(f"{path}: tool.websearch is not a table")
    is_project = path.name == "pyproject.toml"
    return Table(
        Source(kind, str(path)),
        copy.deepcopy(entries),
        prefix=("tool", "websearch") if is_project else (),
        shared=not is_project and path.name not in NAMES,
        exposed=_is_exposed(path),
    )


def _is_exposed(path: Path) -> bool:
    """Return whether other users of this machine can read a file."""
    if os.name != "posix":
        return False
    try:
        mode = path.stat().st_mode
    except OSError:  # it was deleted meanwhile
        return False
    return bool(mode & (stat.S_IRGRP | stat.S_IROTH))


def _read_text(path: Path) -> str:
    """Return the text of a file; `ConfigurationError` if it cannot be read, is larger
    than 1 MiB, or is not UTF-8.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_MAX_SIZE + 1)
    except OSError as error:
        raise ConfigurationError(
            f"{path}: {error.strerror or type(error).__name__}"
        ) from error
    if len(content) > _MAX_SIZE:
        raise ConfigurationError(f"{path}: larger than {_MAX_SIZE // 2**20} MiB")
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8") from error


@lru_cache(maxsize=4)  # a service makes many a `WebSearch` from the same text
def _parse(text: str, path: Path) -> dict[str, Any]:
    """Return the table that *text* is, in the format that the name of *path* says:
    TOML, unless JSON or YAML.

    Raise `ConfigurationError` if it is not that format, or not a table, or PyYAML is
    missing.
    """
    name, load = _LOADERS.get(path.suffix.lower(), _TOML)
    try:
        table = load(text) if text.strip() else {}
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"{path}: not {name}: {' '.join(str(error).split())}"
        ) from None
    if table is None:  # YAML that is only comments
        return {}
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: not a table of settings")
    return table


def _find_line(text: str, path: Path, keys: Sequence[str]) -> int | None:
    """Return the line of *text*, from 1, that sets the entry *keys*, or None if that is
    not certain.
    """
    match path.suffix.lower():
        case ".json":
            return _find_in_json(text, keys[-1])
        case ".yaml" | ".yml":
            return _find_in_yaml(text, keys)
        case _:
            return _find_in_toml(text, keys)


def _find_in_toml(text: str, keys: Sequence[str]) -> int | None:
    """Parse one statement at a time, below the header of its table, until one sets the
    entry.
    """
    header = ""
    statement = ""
    start = 1
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        statement += line
        is_header = statement.lstrip().startswith("[")
        try:
            above = "" if is_header else header
            table = _load_toml(above + statement)
        except ValueError:  # a text or a list of several lines goes on
            continue
        if is_header:
            header = statement
        if _has(table, keys):
            return start
        statement = ""
        start = number + 1
    return None


def _find_in_json(text: str, key: str) -> int | None:
    """Return the line of the only entry called *key*, or ``web.key``; inside a text,
    its quotes would be escaped.
    """
    name = re.escape(json.dumps(key, ensure_ascii=False)[1:])
    entries = list(re.finditer(rf'(?<!\\)"(?:[\w.]*\.)?{name}\s*:', text))
    if len(entries) != 1:
        return None
    return text.count("\n", 0, entries[0].start()) + 1


def _find_in_yaml(text: str, keys: Sequence[str]) -> int | None:
    import yaml

    node = yaml.compose(text, Loader=yaml.SafeLoader)
    line = None
    for key in keys:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        entries = [(name, value) for name, value in pairs if name.value == key]
        if not entries:
            break  # the rest of a name with dots, or an alias of another library
        name, node = entries[0]
        line = int(name.start_mark.line) + 1
    return line


def _load_toml(text: str) -> Any:
    import tomllib  # most programs have no settings file

    return tomllib.loads(text)


def _load_yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise ConfigurationError(
            "YAML needs the package PyYAML: pip install 'websearch-core[yaml]'"
        ) from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (at line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise ValueError(
            f"{getattr(error, 'problem', None) or 'cannot be read'}{where}"
        ) from error


def _has(table: Any, keys: Sequence[str]) -> bool:
    for key in keys:
        if not isinstance(table, dict) or key not in table:
            return False
        table = table[key]
    return True


_TOML: tuple[str, Callable[[str], Any]] = "TOML", _load_toml
_LOADERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    ".json": ("JSON", json.loads),
    ".yaml": ("YAML", _load_yaml),
    ".yml": ("YAML", _load_yaml),
}
