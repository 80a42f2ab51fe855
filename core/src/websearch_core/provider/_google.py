"""What services that pass queries on to Google share: its parameters, and where its direct answer is."""

from __future__ import annotations

from typing import Any

from ..errors import UnsupportedOption
from ..models import SearchQuery
from ._http import as_object, as_objects, as_text, given
from ._languages import find_country, find_language
from ._ports import Provider


def google_filters(query: SearchQuery, provider: Provider) -> dict[str, str]:
    """Return country, language and safe search of *query* as Google's ``gl``, ``hl`` and ``lr``, and ``safe``."""
    country, language = find_country(query, provider), find_language(query, provider)
    return given(
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
