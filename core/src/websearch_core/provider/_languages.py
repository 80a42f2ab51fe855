"""Countries and languages: from standard codes to the service's own, and refused here
if the service has none.

A provider lists what its service knows in class attributes, ``countries`` and
``languages``, which `codes` writes down compactly: ``languages = codes("de en pt=pt-pt
pt-br ja=jp zh-hans zh-hant")``.
"""

from __future__ import annotations
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from ..errors import UnsupportedOption
from ..models import SearchQuery
from ._ports import Provider

_OLD = {
    "in": "id",
    "iw": "he",
    "ji": "yi",
    "mo": "ro",
    "cmn": "zh",
    "fil": "tl",
    "nb": "no",
}
_ALIASES = {"UK": "GB", "EL": "GR"}
# The scripts that languages are usually written in; what is not listed is written in
# Latin letters.
_LANGUAGES_BY_SCRIPT = {
    "arab": "ar fa ps sd ug ur ckb",
    "armn": "hy",
    "beng": "as bn",
    "cyrl": "be bg kk ky mk mn ru sr tg tt uk",
    "deva": "hi mr ne sa",
    "ethi": "am ti",
    "geor": "ka",
    "grek": "el",
    "gujr": "gu",
    "guru": "pa",
    "hans": "zh",
    "hebr": "he yi",
    "jpan": "ja",
    "khmr": "km",
    "knda": "kn",
    "kore": "ko",
    "laoo": "lo",
    "mlym": "ml",
    "mymr": "my",
    "orya": "or",
    "sinh": "si",
    "taml": "ta",
    "telu": "te",
    "thaa": "dv",
    "thai": "th",
    "tibt": "bo",
}
_SCRIPTS: dict[str, str] = {}
for _script, _languages in _LANGUAGES_BY_SCRIPT.items():
    _SCRIPTS |= dict.fromkeys(_languages.split(), _script)
_REGIONAL_SCRIPTS = {
    ("zh", "tw"): "hant", ("zh", "hk"): "hant", ("zh", "mo"): "hant",
    ("yue", "cn"): "hans", ("pa", "pk"): "arab",
    ("az", "ir"): "arab", ("uz", "af"): "arab", ("mn", "cn"): "mong",
    ("kk", "cn"): "arab",
}  # fmt: skip


def codes(text: str) -> Mapping[str, str]:
    """Return a table of codes that a service knows: ``codes("de en ja=jp")`` is
    ``{"de": "de", "en": "en", "ja": "jp"}``.

    Left of an equals sign is the standard code, right of it the service's; ``+`` in the
    latter is a space.
    """
    pairs = (item.partition("=") for item in text.split())
    return MappingProxyType(
        {code: (own or code).replace("+", " ") for code, _, own in pairs}
    )


def find_country(query: SearchQuery, provider: Provider) -> str | None:
    """Return the service's code for the country of *query*; None if the query names
    none.

    Args:
        query: The query.
        provider: Its ``countries`` are what the service knows: ISO 3166 codes in upper
            case, and the service's own.

    Raises:
        UnsupportedOption: The service does not know the country.
    """
    if query.country is None:
        return None
    countries: Mapping[str, str] = getattr(provider, "countries", {})
    alias = _ALIASES.get(query.country, "")
    code = countries.get(query.country) or countries.get(alias)
    if code is None:
        why = f"does not know the country {query.country}"
        raise UnsupportedOption.by(provider, why, "country")
    return code


def find_language(query: SearchQuery, provider: Provider) -> str | None:
    """Return the service's code for the language of *query*; None if the query names
    none.

    The query's country serves as the region of a tag without one: ``pt`` in ``BR`` is
    ``pt-BR``.

    Args:
        query: The query.
        provider: Its ``languages`` are what the service knows: BCP 47 tags, and the
            service's own codes.

    Raises:
        UnsupportedOption: The service does not know the language.
    """
    if query.language is None:
        return None
    languages: Mapping[str, str] = getattr(provider, "languages", {})
    code = match_language(query.language, languages, country=query.country)
    if code is None:
        why = f"does not know the language {query.language[:35]}"
        raise UnsupportedOption.by(provider, why, "language")
    return code


def match_language(
    tag: str, languages: Mapping[str, str], *, country: str | None = None
) -> str | None:
    """Return the service's code for the tag in *languages* that fits *tag* best, as the
    lookup of RFC 4647 does, or None.

    The language and its script always match: ``zh-TW`` and ``zh-Hant-HK`` are
    ``zh-hant`` and never ``zh-hans``, and ``sr-Latn`` is not ``sr``. The region, or
    *country*, matches if it can; else the first entry of the language.
    """
    target = _parse(tag, (country or "").lower())
    best_rank = 3
    best_code = None
    for entry, code in languages.items():
        candidate = _parse(entry)
        if candidate[:2] != target[:2]:
            continue
        rank = _rank_region(candidate.region, target.region)
        if rank < best_rank:
            best_rank = rank
            best_code = code
    return best_code


def _rank_region(region: str, wanted_region: str) -> int:
    """Return how well a region fits, from 0: the same, none in particular, another."""
    if region == wanted_region:
        return 0
    return 2 if region else 1


class _Tag(NamedTuple):
    """The parts of a language tag, in lower case."""

    language: str
    script: str
    region: str


def _parse(tag: str, country: str = "") -> _Tag:
    """Return the parts of a tag, in *country* if it has no region.

    Without a script it has the one that the language is usually written in.
    """
    language, *subtags = tag.lower().replace("_", "-").split("-")
    language = _OLD.get(language, language)
    script = ""
    region = ""
    for subtag in subtags:
        if len(subtag) == 1:  # an extension
            break
        if re.fullmatch(r"[a-z]{4}", subtag) and not script:
            script = subtag
        elif re.fullmatch(r"[a-z]{2}|\d{3}", subtag) and not region:
            region = subtag
    region = region or country
    script = script or _REGIONAL_SCRIPTS.get((language, region), "")
    return _Tag(language, script or _SCRIPTS.get(language, "latn"), region)
