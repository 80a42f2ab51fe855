"""Which arguments of a class are those of the `WebSearch` behind it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, cast

from ..client import CommonArguments
from ..client._arguments import check_arguments
from ._fixed import find_home


def split_arguments(given: Mapping[str, Any], own: Collection[str]) -> tuple[CommonArguments, dict[str, Any]]:
    """
    Split the arguments of a class into those of the `WebSearch` behind it and its *own*.

    Args:
        given: The arguments that the class was given.
        own: The names of its own arguments, such as ``limit``, ``k``, ``search_options`` and ``read_options``.

    Raises:
        ConfigurationError: One is unknown. If it is an option of a search or of a page, or the name that another
            library has for one, the message has the line to write.

    """
    common = CommonArguments.__annotations__
    check_arguments(given, [*common, *own], find_home)
    arguments = {name: value for name, value in given.items() if name in common and name not in own}
    others = {name: value for name, value in given.items() if name in own}
    return cast("CommonArguments", arguments), others
