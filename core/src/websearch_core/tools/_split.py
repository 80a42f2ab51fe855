"""Which arguments of a class are those of the `WebSearch` behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from .._text.choices import OTHER_NAMES
from ..client import CommonArguments
from ..client._arguments import check_arguments
from ..errors import ConfigurationError
from ._fixed import find_home


def split_arguments(given: Mapping[str, Any], own: Collection[str]) -> tuple[CommonArguments, dict[str, Any]]:
    """
    Split the arguments of a class into those of the `WebSearch` behind it and its *own*.

    A message about an unknown argument never shows its value, which may be a key: ``api_ky="..."``.

    Args:
        given: The arguments that the class was given.
        own: The names of its own arguments, such as ``limit``, ``k``, ``search_options`` and ``read_options``.

    Raises:
        ConfigurationError: One is unknown. If it is an option of a search or of a page, or the name that another
            library has for one, the message has the line to write.

    """
    common = CommonArguments.__annotations__
    for name in given:
        if name not in own and name not in common:
            _suggest_home(name, own)
    check_arguments(given, [*common, *own])
    arguments = {name: value for name, value in given.items() if name in common and name not in own}
    others = {name: value for name, value in given.items() if name in own}
    return cast("CommonArguments", arguments), others


def _suggest_home(name: str, own: Collection[str]) -> None:
    """Raise an error if the argument *name* has another name or home here."""
    option = OTHER_NAMES.get(name, name)
    limit = next((one for one in ("limit", "k") if one in own), None)
    if option == "limit" and limit:
        raise ConfigurationError(f"{name}: write {limit}=...")
    home = find_home(option)
    if home in own:
        raise ConfigurationError(f'{name}: write {home}={{"{option}": ...}}')
