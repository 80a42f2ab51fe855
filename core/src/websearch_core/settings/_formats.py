"""The formats of settings files: TOML, JSON, and YAML if PyYAML is installed."""

from __future__ import annotations
import json
import re
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError

MAX_SIZE = 2**20  # bytes of a settings file
SUFFIXES = (".toml", ".json", ".yaml", ".yml")

_YAML = "YAML needs the package PyYAML: pip install 'websearch-core[yaml]'"


def read_text(path: Path) -> str:
    """Return the text of a file; `ConfigurationError` if it cannot be read, is larger than 1 MiB, or is not UTF-8."""
    try:
        with path.open("rb") as file:
            content = file.read(MAX_SIZE + 1)
    except OSError as error:
        raise ConfigurationError(f"{path}: {error.strerror or type(error).__name__}") from error
    if len(content) > MAX_SIZE:
        raise ConfigurationError(f"{path}: larger than {MAX_SIZE // 2**20} MiB")
    try:
        return content.decode().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{path}: not UTF-8") from error


def parse(text: str, path: Path) -> dict[str, Any]:
    """Return the table that *text* is, in the format that the name of *path* says: TOML, unless JSON or YAML.

    Raise `ConfigurationError` if it is not that format, or not a table, or PyYAML is missing.
    """
    name, load = _LOADERS.get(path.suffix.lower(), _TOML)
    try:
        table = load(text) if text.strip() else {}
    except ConfigurationError as error:
        raise ConfigurationError(f"{path}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"{path}: not {name}: {' '.join(str(error).split())}") from None
    if table is None:  # YAML that is only comments
        return {}
    if not isinstance(table, dict):
        raise ConfigurationError(f"{path}: not a table of settings")
    return table


def find_line(text: str, path: Path, keys: Sequence[str]) -> int | None:
    """Return the line of *text*, from 1, that sets the entry *keys*, or None if that is not certain."""
    match path.suffix.lower():
        case ".json":
            return _find_in_json(text, keys[-1])
        case ".yaml" | ".yml":
            return _find_in_yaml(text, keys)
        case _:
            return _find_in_toml(text, keys)


def _find_in_toml(text: str, keys: Sequence[str]) -> int | None:
    """Parse one statement at a time, below the header of its table, until one sets the entry."""
    header, statement, start = "", "", 1
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        statement += line
        try:
            table = tomllib.loads(statement if statement.lstrip().startswith("[") else header + statement)
        except ValueError:  # a text or a list of several lines goes on
            continue
        if statement.lstrip().startswith("["):
            header = statement
        if _has(table, keys):
            return start
        statement, start = "", number + 1
    return None


def _find_in_json(text: str, key: str) -> int | None:
    """Return the line of the only entry called *key*, or ``web.key``; inside a text, its quotes would be escaped."""
    name = re.escape(json.dumps(key, ensure_ascii=False)[1:])
    found = list(re.finditer(rf'(?<!\\)"(?:[\w.]*\.)?{name}\s*:', text))
    return text.count("\n", 0, found[0].start()) + 1 if len(found) == 1 else None


def _find_in_yaml(text: str, keys: Sequence[str]) -> int | None:
    import yaml

    node, line = yaml.compose(text, Loader=yaml.SafeLoader), None
    for key in keys:
        pairs = node.value if isinstance(node, yaml.MappingNode) else []
        found = [(name, value) for name, value in pairs if name.value == key]
        if not found:
            break  # the rest of a name with dots, or an alias of another library
        name, node = found[0]
        line = int(name.start_mark.line) + 1
    return line


def _load_yaml(text: str) -> Any:
    try:
        import yaml
    except ImportError as error:
        raise ConfigurationError(_YAML) from error
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" (at line {mark.line + 1}, column {mark.column + 1})" if mark else ""
        raise ValueError(f"{getattr(error, 'problem', None) or 'cannot be read'}{where}") from error


def _has(table: Any, keys: Sequence[str]) -> bool:
    for key in keys:
        if not isinstance(table, dict) or key not in table:
            return False
        table = table[key]
    return True


_TOML: tuple[str, Callable[[str], Any]] = "TOML", tomllib.loads
_LOADERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    ".json": ("JSON", json.loads),
    ".yaml": ("YAML", _load_yaml),
    ".yml": ("YAML", _load_yaml),
}
