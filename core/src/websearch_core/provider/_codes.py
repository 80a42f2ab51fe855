"""Tables of codes that several services know: all of ISO 3166-1 and ISO 639-1, and those of Google.

Scripts are not part of ISO 639-1: these codes stand for the language in any script. Google's languages are those of its
interface, and those that its parameter ``lr`` can restrict results to:
https://developers.google.com/custom-search/docs/json_api_reference
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ._languages import codes


def _read(name: str) -> Any:
    return json.loads(files(__package__ or "").joinpath(name).read_text("utf-8"))


_TABLES = {name: codes(" ".join(lines)) for name, lines in _read("codes.json").items()}
COUNTRIES, LANGUAGES = _TABLES["countries"], _TABLES["languages"]
LOWER_COUNTRIES = MappingProxyType({code: code.lower() for code in COUNTRIES})
GOOGLE_LANGUAGES, GOOGLE_RESULT_LANGUAGES = _TABLES["google_languages"], _TABLES["google_result_languages"]


def read_country_names() -> Mapping[str, str]:
    """Return the names of countries in English and lower case, by code, for services that take these instead."""
    return MappingProxyType(_read("countries.json"))
