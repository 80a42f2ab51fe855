"""Tables of codes that several services know: all of ISO 3166-1 and ISO 639-1, and those of Google."""

import json
from collections.abc import Mapping
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from ._languages import codes

_TABLES: dict[str, Any] = json.loads(files(__package__ or "").joinpath("codes.json").read_text("utf-8"))
COUNTRIES = codes(" ".join(_TABLES["countries"]))
LOWER_COUNTRIES = MappingProxyType({code: code.lower() for code in COUNTRIES})

# Scripts are not part of ISO 639-1: these codes stand for the language in any script.
LANGUAGES = codes(" ".join(_TABLES["languages"]))

# https://developers.google.com/custom-search/docs/json_api_reference#interface-languages
GOOGLE_LANGUAGES = codes(" ".join(_TABLES["google"]))

# The languages that Google can restrict results to, with its parameter `lr`:
# https://developers.google.com/custom-search/docs/json_api_reference#language-collections
GOOGLE_RESULT_LANGUAGES = codes(" ".join(_TABLES["google results"]))

# https://meta.wikimedia.org/wiki/List_of_Wikipedias: those with more than 10,000 articles
WIKIPEDIA_LANGUAGES = codes(" ".join(_TABLES["wikipedia"]))


def read_country_names() -> Mapping[str, str]:
    """Return the names of countries in English and lower case, by code, for services that take these instead."""
    return MappingProxyType(_TABLES["names of countries"])
