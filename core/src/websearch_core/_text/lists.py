"""Fields that are lists of texts, and may be given as one text."""

from __future__ import annotations
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator

from ..errors import ConfigurationError


def split_list(value: Any) -> Any:
    """Split text at commas; return anything else as it is."""
    return (
        [part.strip() for part in value.split(",") if part.strip()]
        if isinstance(value, str)
        else value
    )


def split_texts(texts: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return texts, of which each may have several parts with commas between them, as
    one tuple.
    """
    values: Any = texts or ()
    if isinstance(values, str) or not isinstance(values, Iterable):
        values = [values]
    values = list(values)
    for value in values:
        if not isinstance(value, str):
            raise ConfigurationError(
                f"must be text such as '1 USD/day', not {type(value).__name__}"
            )
    parts = map(str.strip, ",".join(values).split(","))
    return tuple(filter(None, parts))


if TYPE_CHECKING:

    class Texts:
        """To type checkers, a field may be given as one type and is read as another
        only if it is a descriptor.
        """

        def __get__(
            self, instance: object, owner: object = None
        ) -> tuple[str, ...]: ...
        def __set__(self, instance: object, value: str | Sequence[str]) -> None: ...

else:
    Texts = Annotated[tuple[str, ...], BeforeValidator(split_list)]

# the default of such a field; of any type, since a descriptor is none of these
NO_TEXTS: Any = ()
