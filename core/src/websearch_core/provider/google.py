"""What services that pass queries on to Google share: its languages, its parameters, and where its direct answer is."""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedOption
from ..models import SearchQuery
from ._http import as_object, as_objects, as_text, drop_none
from ._languages import codes, find_country, find_language
from ._ports import Provider

__all__ = [
    "GOOGLE_LANGUAGES",
    "GOOGLE_RESULT_LANGUAGES",
    "google_answer",
    "google_authors",
    "google_filters",
    "google_period",
    "google_years",
]

# https://developers.google.com/custom-search/docs/json_api_reference#interface-languages
GOOGLE_LANGUAGES = codes("""
    af am ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gd gl gu he=iw hi hr hu hy ia id is it ja jv=jw
    ka kk km kn ko la lo lt lv mk ml mr ms mt ne nl nn no oc pa pl pt-pt pt-br ro ru si sk sl sq sr su sv sw ta
    te th ti tk tl tr uk ur uz vi xh zh=zh-cn zh-hant=zh-tw zu
""")

# The languages that Google can restrict results to, with its parameter `lr`:
# https://developers.google.com/custom-search/docs/json_api_reference#language-collections
GOOGLE_RESULT_LANGUAGES = codes("""
    ar bg ca cs da de el en es et fi fr he=iw hr hu id is it ja ko lt lv nl no pl pt ro ru sk sl sr sv tr zh=zh-CN
    zh-hant=zh-TW
""")


def google_filters(query: SearchQuery, provider: Provider) -> dict[str, str]:
    """Return country, language and safe search of *query* as Google's ``gl``, ``hl`` and ``lr``, and ``safe``."""
    country, language = find_country(query, provider), find_language(query, provider)
    return drop_none(
        {
            "gl": country.lower() if country else None,
            "hl": language,
            "lr": f"lang_{language}" if language else None,
            "safe": None if query.safe_search is None else "off" if query.safe_search == "off" else "active",
        }
    )


def google_period(query: SearchQuery) -> str | None:
    """Return the period of *query* as Google's ``tbs``."""
    if query.time_range:
        return f"qdr:{query.time_range[0]}"
    ends = {"cd_min": query.after, "cd_max": query.before}
    parts = [f"{name}:{day:%m/%d/%Y}" for name, day in ends.items() if day]
    return ",".join(["cdr:1", *parts]) if parts else None


def google_years(query: SearchQuery, provider: Provider) -> dict[str, int]:
    """
    Return the period of *query* as Google Scholar's ``as_ylo`` and ``as_yhi``: it knows years only.

    Raises:
        UnsupportedOption: The query has a ``time_range``.

    """
    if query.time_range:
        message = f"{provider.name} filters papers by after and before, in years"
        raise UnsupportedOption(message, options=["time_range"], provider=provider.name)
    return {name: day.year for name, day in (("as_ylo", query.after), ("as_yhi", query.before)) if day}


def google_answer(body: dict[str, Any]) -> str | None:
    """Return the direct answer on Google's page: that of the answer box, else the overview written by a model."""
    box = as_object(body.get("answer_box"))
    if found := next(filter(None, (as_text(box.get(name)) for name in ("answer", "snippet", "result"))), None):
        return found
    blocks = as_objects(as_object(body.get("ai_overview")).get("text_blocks"))
    return " ".join(filter(None, (as_text(one.get("snippet")) or as_text(one.get("answer")) for one in blocks))) or None


def google_authors(line: Any) -> str | None:
    """Return the authors in Google Scholar's *line*: ``A Vaswani, N Shazeer - Advances in …, 2017 - publisher``."""
    return line.partition(" - ")[0] if isinstance(line, str) and " - " in line else None
