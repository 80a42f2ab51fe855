"""Tell what kind of page it is, from what it says about itself: structured data, ``og:type``, the program that made it.

A kind is stated only where such statements are nearly always right (docs/reading.md); there is no guess.
"""

from __future__ import annotations
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..._text.choices import Kind
from .jsonld import types
from .metadata import Metadata

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_DISCUSSIONS = frozenset({"DiscussionForumPosting", "QAPage", "Question"})
_PRODUCTS = frozenset({"Product", "ProductGroup", "ProductModel", "Vehicle", "Car"})
_NEWS = frozenset(
    "NewsArticle AnalysisNewsArticle BackgroundNewsArticle OpinionNewsArticle "
    "ReportageNewsArticle ReviewNewsArticle SatiricalArticle ScholarlyArticle MedicalScholarlyArticle "
    "BlogPosting LiveBlogPosting".split()
)
_ARTICLES = frozenset({"Article", "AdvertiserContentArticle", "Report"})
_PAGES = frozenset({"WebPage", "CollectionPage", "ItemPage", "AboutPage", "ContactPage", "ItemList", "FAQPage"})
_MANUALS = frozenset({"TechArticle", "APIReference"})
_KINDS: dict[str, Kind] = {
    "product": "product", "og:product": "product", "product.item": "product", "ebay-objects:item": "product",
    "product.group": "collection",
}  # fmt: skip
_FORUMS = re.compile(r"discourse|vbulletin|phpbb|xenforo|flarum|nodebb|mybb|invision community|vanilla", re.IGNORECASE)
_MANUAL_MAKERS = re.compile(
    r"docusaurus|sphinx|mkdocs|gitbook|vitepress|vuepress|starlight|mintlify|antora|docfx|doxygen|javadoc|mdbook|docsify",
    re.IGNORECASE,
)
_MANUAL_PLACES = re.compile(
    r"//(?:docs|documentation|devdocs|developers?|manual|man)\.|//[\w-]+\.readthedocs\.io|/(?:docs?|documentation|manual)/"
)
_FORUM_PLACES = re.compile(r"//(?:forums?|boards?|discuss(?:ions?)?)\.|/(?:forums?|threads?|discussions?)/")
_MARKED = '[itemtype*="DiscussionForumPosting"],[itemtype*="QAPage"]'
_MARKS = (b"DiscussionForumPosting", b"QAPage")


def find_kind(document: LexborHTMLParser, facts: Metadata, url: str, source: bytes) -> Kind | None:
    """Return the kind of a page, or None if it does not say; *source* is for quick checks."""
    about, place = types(facts.about), url.lower()
    if _is_discussion(document, facts, place, source):
        return "forum"
    if about & _PRODUCTS or facts.og_type in _KINDS:
        is_offered = "offers" in facts.about and facts.og_type != "article"
        return _KINDS.get(facts.og_type) or ("product" if is_offered else None)
    if not urlsplit(url).path.strip("/"):
        return None  # the front of a site
    if about & _NEWS:
        return "article"
    if about & _MANUALS or _MANUAL_MAKERS.search(facts.generator) or _MANUAL_PLACES.search(place):
        return "documentation"
    if facts.og_type == "article" and facts.published and (facts.author or not about & _PAGES):
        return "article"
    return "article" if about & _ARTICLES else None


def _is_discussion(document: LexborHTMLParser, facts: Metadata, place: str, source: bytes) -> bool:
    return (
        bool(types(facts.about) & _DISCUSSIONS)
        or (any(mark in source for mark in _MARKS) and document.css_first(_MARKED) is not None)
        or _FORUMS.search(facts.generator) is not None
        or _FORUM_PLACES.search(place) is not None
    )
