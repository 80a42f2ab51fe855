"""Change the user's own settings file, and keep what else is in it: comments, order and
other settings.
"""

from __future__ import annotations
import importlib.util
import os
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import ConfigurationError
from ..settings import Settings

_WRAPPERS = ("web_search", "webSearch")
_OWNER_ONLY = 0o600


@dataclass
class OwnFile:
    """The file, as it will be written."""

    path: Path
    document: Any  # its content, as tomlkit represents it
    private: bool = False  # whether it holds a key, so that only its owner may read it

    @classmethod
    def read(cls, path: Path) -> OwnFile:
        """Read the file, or begin a new one. Raise `ConfigurationError` if it cannot be
        read, or is not TOML.
        """
        try:
            import tomlkit
            from tomlkit.exceptions import TOMLKitError
        except ModuleNotFoundError as error:
            raise ConfigurationError(
                "setup needs tomlkit: pip install 'websearch-core[cli]'"
            ) from error

        if path.suffix != ".toml":
            raise ConfigurationError(
                f"{path}: setup changes only TOML; rename it, or change it yourself"
            )
        try:
            text = path.read_text("utf-8") if path.exists() else ""
            return cls(path, tomlkit.parse(text))
        except OSError as error:
            raise ConfigurationError(
                f"{path}: {error.strerror or type(error).__name__}"
            ) from error
        except (TOMLKitError, UnicodeDecodeError) as error:
            raise ConfigurationError(f"{path}: not TOML: {error}") from None

    def set_provider(self, name: str, options: Mapping[str, str]) -> None:
        """Choose the provider *name*, switch it on, and set its *options*; or raise
        `ConfigurationError`.
        """
        try:
            self._set(name, options)
        except (AttributeError, TypeError, ValueError):
            # tomlkit's: a number for a table, a table in an inline one
            raise self._refusal(
                "its shape is not understood; change it yourself"
            ) from None
        self._check(name, options)
        self.private = self.private or any(
            option == "api_key" and not value.startswith("keyring:")
            for option, value in options.items()
        )

    def write(self) -> None:
        """Replace the file at once, never half written; a new one, or one with a key,
        is the user's alone.
        """
        import tomlkit

        target = self.path.resolve()
        try:
            mode = _OWNER_ONLY
            if target.exists() and not self.private:
                mode = target.stat().st_mode & 0o777
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # only its owner can read it
            descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".websearch-")
            try:
                with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
                    file.write(tomlkit.dumps(self.document))
                Path(name).chmod(mode)
                Path(name).replace(target)
            finally:
                Path(name).unlink(missing_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"{self.path}: {error.strerror or type(error).__name__}"
            ) from error

    def _set(self, name: str, options: Mapping[str, str]) -> None:
        tables = [self.document[key] for key in _WRAPPERS if key in self.document]
        table = tables[0] if tables else self.document
        setting = "search_provider" if "search_provider" in table else "provider"
        table[setting] = name
        has_table = name in table.get("providers", {}) or name in table
        if options or has_table:
            own = self._table_of(name, table)
            own.update(options)
            own.pop("enabled", None)

    def _table_of(self, name: str, table: Any) -> Any:
        import tomlkit

        if name in table:  # webSearch.tavily
            return table[name]
        if "providers" not in table:
            table["providers"] = tomlkit.table(is_super_table=True)
        if name not in table["providers"]:
            table["providers"][name] = tomlkit.table()
        return table["providers"][name]

    def _check(self, name: str, options: Mapping[str, str]) -> None:
        import tomlkit

        try:
            written = Settings.from_mapping(tomllib.loads(tomlkit.dumps(self.document)))
        except (ConfigurationError, tomllib.TOMLDecodeError) as error:
            raise self._refusal(f"that would be an error: {error}") from None
        values = {key: option.value for key, option in written.options(name).items()}
        is_written = all(values.get(key) == value for key, value in options.items())
        if written.provider != (name,) or not is_written:
            raise self._refusal("its shape is not understood; change it yourself")

    def _refusal(self, why: str) -> ConfigurationError:
        return ConfigurationError(f"{self.path}: was not changed: {why}")


def store_key(name: str, key: str) -> str:
    """Store the *key* of the provider *name* in the keyring of the system, if there is
    one.

    Return what to write as ``api_key``: where the key is, or the key itself.
    """
    if key.startswith("keyring:") or importlib.util.find_spec("keyring") is None:
        return key
    try:
        import keyring

        keyring.set_password("websearch", name, key)
        stored = keyring.get_password("websearch", name)
    # backends raise anything: there is none, it is locked, or it is broken
    except Exception:  # noqa: BLE001
        return key
    return f"keyring:websearch/{name}" if stored == key else key
