"""What is wrong with a value, in our words instead of pydantic's."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

# By the types of https://docs.pydantic.dev/latest/errors/validation_errors/
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "missing": "is missing",
        "string_type": "must be text",
        "int_type": "must be a whole number",
        "int_parsing": "must be a whole number",
        "int_from_float": "must be a whole number",
        "float_type": "must be a number",
        "float_parsing": "must be a number",
        "bool_type": "must be true or false",
        "bool_parsing": "must be true or false",
        "list_type": "must be a list",
        "tuple_type": "must be a list",
        "dict_type": "must be a mapping",
        "model_type": "must be a mapping",
        "date_type": "must be a date such as 2026-05-04",
        "date_parsing": "must be a date such as 2026-05-04",
        "date_from_datetime_parsing": "must be a date such as 2026-05-04",
    }
)


def describe_problem(problem: Mapping[str, Any]) -> str:
    """Return what is wrong, for an item of ``ValidationError.errors()``, without the value, which may be secret."""
    if words := _WORDS.get(problem["type"]):
        return words
    message = str(problem["msg"]).removeprefix("Value error, ")
    if message == "String should have at least 1 character":
        return "is empty"
    return message.replace("Input should ", "must ").replace("String should ", "must ")
