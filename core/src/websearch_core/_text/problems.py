"""What is wrong with a value, in our words instead of pydantic's."""

from __future__ import annotations
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

# By the types of https://docs.pydantic.dev/latest/errors/validation_errors/
_A_WHOLE_NUMBER = "must be a whole number"
_A_NUMBER = "must be a number"
_A_TRUTH = "must be true or false"
_A_LIST = "must be a list"
_A_MAPPING = "must be a mapping"
_A_DATE = "must be a date such as 2026-05-04"
_WORDS: Mapping[str, str] = MappingProxyType(
    {
        "missing": "is missing",
        "string_type": "must be text",
        "int_type": _A_WHOLE_NUMBER,
        "int_parsing": _A_WHOLE_NUMBER,
        "int_from_float": _A_WHOLE_NUMBER,
        "float_type": _A_NUMBER,
        "float_parsing": _A_NUMBER,
        "bool_type": _A_TRUTH,
        "bool_parsing": _A_TRUTH,
        "list_type": _A_LIST,
        "tuple_type": _A_LIST,
        "dict_type": _A_MAPPING,
        "model_type": _A_MAPPING,
        "date_type": _A_DATE,
        "date_parsing": _A_DATE,
        "date_from_datetime_parsing": _A_DATE,
    }
)


def describe_problem(problem: Mapping[str, Any]) -> str:
    """Return what is wrong, for an item of ``ValidationError.errors()``, without the
    value, which may be secret.
    """
    words = _WORDS.get(problem["type"])
    if words is not None:
        return words
    message = str(problem["msg"]).removeprefix("Value error, ")
    if message == "String should have at least 1 character":
        return "is empty"
    for subject in ("Input should ", "String should ", "List should "):
        message = message.replace(subject, "must ")
    return message.replace(" after validation", "")
