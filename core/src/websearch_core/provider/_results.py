"""Turn the data of services into results and plain text."""

from __future__ import annotations
import html
import json
from collections.abc import Callable, Mapping
from functools import partial
from operator import methodcaller
from typing import Any, Literal, TypeAlias

from .._runtime.clock import now
from .._text.dates import count_back, find_words, parse_date
from .._text.invisible import is_printable_ascii, strip_invisible
from .._text.markup import strip_highlights, strip_markup
from .._text.urls import is_web_url
from ..models import Image, SearchQuery, SearchResponse, SearchResult
from ..models._domains import Domains
from ._http import (
    as_number,
    as_object,
    as_objects,
    as_text,
    find_message,
    follow,
    unexpected_format,
)
from ._ports import Provider

_MAX_AUTHORS = 100
_MAX_NAME = 300  # characters

Markup: TypeAlias = Literal["highlights", "entities", "html"]
Getter = str | tuple[str, ...] | Callable[[Mapping[str, Any]], Any]


def plain_text(text: Any, markup: Markup = "highlights") -> str:
    """Turn a title or snippet into plain text, without invisible characters; one of any
    other type is empty.

    *markup* is what it has besides plain text, in which a tag or an entity is meant to
    be read: only ``highlights``, the marks around words of the query; also
    ``entities``, which are unescaped once; or it is ``html``.
    """
    if not isinstance(text, str):
        return ""
    plain: str = strip_markup(text) if markup == "html" else strip_highlights(text)
    if markup == "entities":
        plain = html.unescape(plain)
    if not is_printable_ascii(plain):
        visible, _ = strip_invisible(plain)
        plain = visible.replace("\xa0", " ").strip()
    return plain


def parse_results(  # noqa: PLR0913 - a keyword for each field
    items: Any,
    provider: str,
    *,
    title: Getter = "title",
    url: Getter = "url",
    snippet: Getter = "snippet",
    score: Getter = "score",
    published: Getter = "published",
    author: Getter = "author",
    content: Getter = lambda _: None,
    snippet_length: int | None = None,
    markup: Markup = "highlights",
) -> tuple[SearchResult, ...]:
    """Parse a service's list of results leniently: every item with a usable URL is a
    result.

    Args:
        items: The decoded list.
        provider: The name of the provider.
        title: Where the title is: a key of each item; a path of keys, ``page.title``;
            several of them, of which the first with a value counts; or a function that
            takes the item. The other arguments work the same way. Of several titles,
            URLs, snippets and dates in a list, the first is taken.
        url: Where the URL is; items whose URL is ambiguous or not absolute http(s) are
            left out, and ``//host/path`` is taken as HTTPS.
        snippet: Where the snippet is.
        score: Where the score is: a number.
        published: Where the date is, in any common form; of ``3 days ago``, the words
            are kept, too.
        author: Where the author is: a text, or a list of names or of objects that have
            a ``name``.
        content: Where the text of the page is, as Markdown, if the service returns
            that.
        snippet_length: Cut longer snippets: for services that send a whole text where
            others send an extract.
        markup: What titles, snippets and names have besides plain text, in which a tag
            or an entity is meant to be read: only ``highlights``, the marks around
            words of the query; also ``entities``; or they are ``html``.

    Raises:
        BadResponse: It is not a list, or none of its items looks like a result.
    """
    if not isinstance(items, list):
        raise unexpected_format(provider)
    as_plain = partial(plain_text, markup=markup)
    find_title = _make_finder(title)
    find_url = _make_finder(url)
    find_snippet = _make_finder(snippet)
    find_score = _make_finder(score)
    find_published = _make_finder(published)
    find_author = _make_finder(author)
    find_content = _make_finder(content)
    results: list[SearchResult] = []
    for item in items:
        address = _find_address(item, find_url)
        if address is None:
            continue
        name = as_plain(take_first(find_title(item)))
        text = as_plain(take_first(find_snippet(item)))
        if snippet_length is not None:
            text = _cut(text, snippet_length)
        date = take_first(find_published(item))
        day = parse_date(date)
        words = ""
        if date and not day:
            words = find_words(date)
        if words:
            day = count_back(words, now())  # the service answers now
        number = len(results) + 1
        results.append(
            SearchResult(
                title=" ".join(name.split()) or address,
                url=address,
                snippet=text,
                score=as_number(find_score(item)),
                published=day,
                published_text=words,
                author=join_names(find_author(item), as_plain),
                content=as_text(find_content(item)),
                provider=provider,
                rank=number,
                citation_id=number,
                raw=item,
            )
        )
    if items and not results:
        urls = [take_first(find_url(item)) for item in as_objects(items)]
        if not any(isinstance(one_url, str) for one_url in urls):
            raise unexpected_format(provider)
    return tuple(results)


def _find_address(
    item: Any, find_url: Callable[[Mapping[str, Any]], Any]
) -> str | None:
    """Return the URL of an item if it is a usable one."""
    if not isinstance(item, dict):
        return None
    return _as_web_url(take_first(find_url(item)))


def take_results(
    body: Any, provider: str, key: str = "results", items: Any = ...
) -> tuple[list[Any], tuple[str, ...]]:
    """Return the list of results of *body*, and a note if there is none: that is an
    empty answer, but an unusual one.

    Args:
        body: The service's answer.
        provider: The name of the provider.
        key: The path of keys that leads to the list: ``web.results``.
        items: What is there, if that was looked up before.

    Raises:
        BadResponse: There is something else, or an error in words.
    """
    if items is ...:
        items = body
        for name in key.split("."):
            items = items.get(name) if isinstance(items, dict) else items
    if items is None and find_message(body) is None:
        return [], (f"{provider}'s answer held no list of results",)
    if not isinstance(items, list):
        raise unexpected_format(provider)
    return items, ()


def parse_search(
    provider: Provider,
    query: SearchQuery,
    body: Any,
    items: Any = ...,
    *,
    path: str = "results",
    **fields: Any,
) -> SearchResponse:
    """Make the response to a search of what a service answered.

    Args:
        provider: The provider.
        query: The query.
        body: The service's own answer, for ``raw``.
        items: The decoded list of results, or None if the answer has none; by default,
            what is at *path*.
        path: The path of keys that leads to the list in *body*. If there is none, and
            *body* has no words of an error either, the answer is empty, with a note.
        fields: Arguments of `parse_results`, such as ``snippet="text"``, and fields of
            `SearchResponse`. An ``answer`` may be the service's own: a text, or an
            object or a list, which becomes a text of JSON.

    Raises:
        BadResponse: What should be the list is not one, or an error, or none of its
            items looks like a result.
    """
    facts = {
        name: fields.pop(name) for name in SearchResponse.model_fields if name in fields
    }
    items, missing = take_results(body, provider.name, path, items)
    facts["notes"] = (*missing, *facts.get("notes", ()))
    facts["answer"] = as_answer(facts.get("answer"))
    results = parse_results(items, provider.name, **fields)
    return SearchResponse(
        query=query.text, results=results, provider=provider.name, raw=body, **facts
    )


def as_answer(value: Any) -> str | None:
    """Return a direct answer as text: one that has the shape of a schema as JSON."""
    if not isinstance(value, dict | list):
        return as_text(value)
    return json.dumps(value, ensure_ascii=False) if value else None


def join_names(value: Any, as_plain: Callable[[Any], str] = plain_text) -> str | None:
    """Return the author or authors in *value*, separated by commas: a text, or a list
    of texts or named objects.
    """
    if value is None:
        return None
    authors = value if isinstance(value, list) else [value]
    names = []
    for author in authors[:_MAX_AUTHORS]:
        name = author.get("name") if isinstance(author, dict) else author
        names.append(" ".join(as_plain(name).split())[:_MAX_NAME])
    return ", ".join(filter(None, names)) or None


def parse_images(
    items: Any,
    *,
    url: Getter = "url",
    description: Getter = "description",
    page_url: Getter = "page_url",
) -> tuple[Image, ...]:
    """Parse a service's list of images leniently; anything but a list has none.

    Args:
        items: The decoded list, of URLs or of objects.
        url: Where the URL of the image is; items whose URL is not absolute http(s) are
            left out.
        description: Where the description is.
        page_url: Where the URL of the page with the image is.
    """
    find_url = _make_finder(url)
    find_description = _make_finder(description)
    find_page = _make_finder(page_url)
    images: dict[str, Image] = {}
    if not isinstance(items, list):
        return ()
    for item in items:
        record = as_object(item)
        value = item if isinstance(item, str) else find_url(record)
        address = _as_web_url(value)
        if address is None or address in images:
            continue
        page = find_page(record)
        is_page = isinstance(page, str) and is_web_url(page)
        images[address] = Image(
            url=address,
            description=plain_text(find_description(record)),
            page_url=page if is_page else None,
        )
    return tuple(images.values())


def in_domains(url: str, query: SearchQuery) -> bool:
    """Return whether *url* passes the query's domain filters; a domain includes its
    subdomains.
    """
    return Domains(query.allowed_domains, query.blocked_domains).permits(url)


def take_first(value: Any) -> Any:
    """Return the first of several values in a list: services repeat what a page says
    twice.
    """
    if isinstance(value, list) and value:
        return value[0]
    return value


def _as_web_url(address: Any) -> str | None:
    """Return a URL without blanks or escapes of HTML, if it is one of the web;
    ``//host/path`` is one of the service's own scheme, HTTPS.
    """
    if not isinstance(address, str):
        return None
    address = address.strip().replace("&amp;", "&").replace(" ", "%20")
    if address.startswith("//"):
        address = f"https:{address}"
    return address if is_web_url(address) else None


def _cut(text: str, length: int) -> str:
    """Return one line of *text*, cut between words after *length* characters."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    beginning = line[:length]
    return f"{beginning.rpartition(' ')[0] or beginning} …"


def _make_finder(getter: Getter) -> Callable[[Mapping[str, Any]], Any]:
    """Return the function that a getter stands for."""
    if isinstance(getter, str):
        if "." in getter:
            return partial(follow, getter.split("."))
        return methodcaller("get", getter)
    if not isinstance(getter, tuple):
        return getter
    finders = list(map(_make_finder, getter))

    def find_first(item: Mapping[str, Any]) -> Any:
        for find in finders:
            value = find(item)
            if value:
                return value
        return None

    return find_first
