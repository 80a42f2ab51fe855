"""What is wrong with a value, in our words instead of pydantic's."""

from __future__ import annotations
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

# By the types of https://docs.pydantic.dev/latest/errors/validation_errors/
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        kind: words
        for words, kinds in {
            "is missing": "missing",
            "must be text": "string_type",
            "must be a whole number": "int_type int_parsing int_from_float",
            "must be a number": "float_type float_parsing",
            "must be true or false": "bool_type bool_parsing",
            "must be a list": "list_type tuple_type",
            "must be a mapping": "dict_type model_type",
            "must be a date such as 2026-05-04": "date_type date_parsing "
            "date_from_datetime_parsing",
        }.items()
        for kind in kinds.split()
    }
)


def describe_problem(problem: Mapping[str, Any]) -> str:
    """Return what is wrong, for an item of ``ValidationError.errors()``, without the
    value, which may be secret.
    """
    if words := _WORDS.get(problem["type"]):
        return words
    message = str(problem["msg"]).removeprefix("Value error, ")
    if message == "String should have at least 1 character":
        return "is empty"
    return message.replace("Input should ", "must ").replace("String should ", "must ")
