"""
JSON-LD: what a page tells machines, as things with properties. It is the page's word like all the rest of it.

Sites write it carelessly: a list where one thing is meant, a name where a thing is meant, a thing that is told
elsewhere and referred to by its ``@id``. So properties are read through `Linked.values`, `types` and `text` alone.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from .._links import absolute, without_fragment

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

Thing = dict[str, Any]

_MAX_SCRIPTS = 20
_MAX_SCRIPT_SIZE = 500_000  # characters
_MAX_OBJECTS = 2_000
_MAX_VALUES = 100  # of one property
_MAX_ALIKE = 2  # things of one kind: when there are more, the page is about none of them

# What a page can be about; the works before the pages that show them. A kind that is not named (a publisher, a
# breadcrumb, a picture, a comment, an offer) is never what a page is about.
_WORKS = frozenset(
    "Article AdvertiserContentArticle NewsArticle AnalysisNewsArticle BackgroundNewsArticle OpinionNewsArticle "
    "ReportageNewsArticle ReviewNewsArticle SatiricalArticle ScholarlyArticle MedicalScholarlyArticle Report Thesis "
    "SocialMediaPosting BlogPosting LiveBlogPosting DiscussionForumPosting TechArticle APIReference Question Product "
    "ProductGroup ProductModel Vehicle Car Recipe HowTo JobPosting Course Book Movie TVSeries TVEpisode MusicAlbum "
    "MusicRecording PodcastEpisode PodcastSeries VideoObject SoftwareApplication MobileApplication WebApplication "
    "VideoGame SoftwareSourceCode Dataset Legislation Event BusinessEvent EducationEvent Festival MusicEvent "
    "SportsEvent TheaterEvent ScreeningEvent SocialEvent".split()
)
_PAGES = frozenset(
    "WebPage AboutPage CheckoutPage CollectionPage ContactPage FAQPage ItemPage MedicalWebPage ProfilePage QAPage "
    "RealEstateListing SearchResultsPage Blog ItemList CreativeWork".split()
)
_WRAPPINGS = (("<![CDATA[", "]]>"), ("<!--", "-->"))  # of times when scripts had to be hidden from parsers
_JSON = json.JSONDecoder(strict=False)
_INLINE = re.compile(r"</?(?:a|b|br|em|font|i|mark|q|s|small|span|strong|sub|sup|u|wbr)\b[^<>]*>", re.IGNORECASE)


@dataclass(frozen=True)
class JsonLd:
    """
    The JSON-LD of a page.

    Args:
        things: What is told at the top, or in a graph, or as what a page shows; in the order of the page.
        named: What other things may refer to, by its ``@id``.

    """

    things: tuple[Thing, ...] = ()
    named: dict[str, Thing] = field(default_factory=dict)

    def values(self, thing: Thing, *keys: str) -> list[Any]:
        """Return what *thing* tells under the first of *keys* that it knows: none, one or many, references followed."""
        value: Any = next((thing[key] for key in keys if thing.get(key)), [])
        return [self._followed(one) for one in (value[:_MAX_VALUES] if isinstance(value, list) else [value])]

    def text(self, thing: Thing, *keys: str) -> str:
        """Return the first text or name under one of *keys*; an empty string if there is none."""
        return next((said for key in keys for value in self.values(thing, key) if (said := text(value))), "")

    def main(self, url: str) -> Thing:
        """
        Return what the page is about; an empty thing if it does not tell, or tells of many alike.

        Args:
            url: The address of the page, by which it may single out one of many.

        """
        for kinds in (_WORKS, _PAGES):
            alike = [thing for thing in self.things if kinds & types(thing)]
            if len(alike) > _MAX_ALIKE:
                alike = [thing for thing in alike if _is_at(thing, url)]
                return alike[0] if alike else {}
            if alike:
                return alike[0]
        return {}

    def _followed(self, value: Any) -> Any:
        if isinstance(value, dict) and isinstance(reference := value.get("@id"), str):
            told = self.named.get(reference, value)
            return told if len(told) > len(value) else value
        return value


def parse_jsonld(scripts: Iterable[LexborNode]) -> JsonLd:
    """Read the JSON-LD of a page from the *scripts* that hold it. Broken JSON is no JSON-LD."""
    things: list[Thing] = []
    named: dict[str, Thing] = {}
    for outermost, thing in _objects(scripts):
        if isinstance(reference := thing.get("@id"), str) and len(thing) > len(named.get(reference, "x")):
            named[reference] = thing
        if outermost and "@type" in thing:
            things.append(thing)
    return JsonLd(tuple(things), named)


def types(thing: Thing) -> set[str]:
    """Return the kinds of a thing, without the vocabulary that they are from."""
    told = thing.get("@type")
    kinds = told if isinstance(told, list) else [told]
    return {kind[max(map(kind.rfind, "/#:")) + 1 :] for kind in kinds if isinstance(kind, str)}


def text(value: Any) -> str:
    """Return a value as text: what is written there, or the name of what is told there; maybe an empty string."""
    if isinstance(value, dict):
        value = value.get("@value") or value.get("name")
        value = value[0] if isinstance(value, list) and value else value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return f"{value}"
    return plain(value) if isinstance(value, str) else ""


def plain(text: str) -> str:
    """Take out what sloppy sites leave in plain text: inline markup, and entities, which they write twice."""
    if "<" in text:
        text = _INLINE.sub("", text)
    return html.unescape(text).strip() if "&" in text else text.strip()


def _objects(scripts: Iterable[LexborNode]) -> Iterator[tuple[bool, Thing]]:
    """Every object of the page's JSON-LD, the outer before the inner, and whether it is one of the outermost."""
    count = 0
    for script in islice(scripts, _MAX_SCRIPTS):
        source = script.text()
        if len(source) > _MAX_SCRIPT_SIZE:
            continue
        source = source.strip()
        for opening, closing in _WRAPPINGS:
            source = source.removeprefix(opening).removesuffix(closing)
        try:
            told = _JSON.decode(source)
        except (ValueError, RecursionError):
            continue
        waiting = [(True, told)] if isinstance(told, dict | list) else []
        for outermost, thing in waiting:  # it grows meanwhile
            if isinstance(thing, list):
                waiting += [(outermost, value) for value in thing if isinstance(value, dict | list)]
            else:
                count += 1
                if count > _MAX_OBJECTS:
                    return
                yield outermost, thing
                waiting += [
                    (outermost and (key == "@graph" or (key in _SHOWN and isinstance(value, dict))), value)
                    for key, value in thing.items()
                    if isinstance(value, dict | list)
                ]


_SHOWN = {"mainEntity", "mainEntityOfPage"}


def _is_at(thing: Thing, url: str) -> bool:
    """Whether a thing says that this is its page."""
    told = (thing.get("url"), thing.get("@id"), thing.get("mainEntityOfPage"))
    places = (value.get("@id") if isinstance(value, dict) else value for value in told)
    urls = (absolute(place, url) for place in places if isinstance(place, str))
    return without_fragment(url).rstrip("/") in {without_fragment(place or "").rstrip("/") for place in urls}
