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
    text = strip_markup(text) if markup == "html" else strip_highlights(text)
    text = html.unescape(text) if markup == "entities" else text
    return (
        text
        if is_printable_ascii(text)
        else strip_invisible(text)[0].replace("\xa0", " ").strip()
    )


def parse_results(
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
    find_title, find_url, find_snippet, find_score = map(
        _finder, (title, url, snippet, score)
    )
    find_published, find_author, find_content = map(
        _finder, (published, author, content)
    )
    results: list[SearchResult] = []
    for item in items:
        if not isinstance(item, dict):
            continue
        address = take_first(find_url(item))
        if not isinstance(address, str) or not is_web_url(
            address := _absolute(address)
        ):
            continue
        text, date = (
            as_plain(take_first(find_snippet(item))),
            take_first(find_published(item)),
        )
        day = parse_date(date)
        words = find_words(date) if date and not day else ""
        results.append(
            SearchResult(
                title=" ".join(as_plain(take_first(find_title(item))).split())
                or address,
                url=address,
                snippet=text if snippet_length is None else _cut(text, snippet_length),
                score=as_number(find_score(item)),
                # the service answers now
                published=count_back(words, now()) if words else day,
                published_text=words,
                author=join_names(find_author(item), as_plain),
                content=as_text(find_content(item)),
                provider=provider,
                rank=len(results) + 1,
                citation_id=len(results) + 1,
                raw=item,
            )
        )
    if (
        items
        and not results
        and not any(
            isinstance(take_first(find_url(item)), str) for item in as_objects(items)
        )
    ):
        raise unexpected_format(provider)
    return tuple(results)


def take_results(
    body: Any, provider: str, key: str = "results", items: Any = ...
) -> tuple[list[Any], tuple[str, ...]]:
    """Return the list of results of *body*, and a note if there is none: that is an
    empty answer, but an unusual one.

    *key* may be a path of keys, ``web.results``; *items* is what was found already.
    Another type there, or words of an error instead, is a `BadResponse`.
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
    if isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False) if value else None
    return as_text(value)


def join_names(value: Any, as_plain: Callable[[Any], str] = plain_text) -> str | None:
    """Return the author or authors in *value*, separated by commas: a text, or a list
    of texts or named objects.
    """
    if value is None:
        return None
    several = value if isinstance(value, list) else [value]
    names = (
        as_plain(one.get("name") if isinstance(one, dict) else one)
        for one in several[:_MAX_AUTHORS]
    )
    return (
        ", ".join(" ".join(name.split())[:_MAX_NAME] for name in names if name) or None
    )


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
    find_url, find_description, find_page = map(_finder, (url, description, page_url))
    images: dict[str, Image] = {}
    for item in items if isinstance(items, list) else []:
        record = {} if isinstance(item, str) else as_object(item)
        address = item if isinstance(item, str) else find_url(record)
        if isinstance(address, str) and is_web_url(address := _absolute(address)):
            page = find_page(record)
            page = page if isinstance(page, str) and is_web_url(page) else None
            text = plain_text(find_description(record))
            images.setdefault(
                address, Image(url=address, description=text, page_url=page)
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
    return value[0] if isinstance(value, list) and value else value


def _absolute(address: str) -> str:
    """Return a URL without blanks or escapes of HTML; ``//host/path`` is one of the
    service's own scheme, HTTPS.
    """
    address = address.strip().replace("&amp;", "&").replace(" ", "%20")
    return f"https:{address}" if address.startswith("//") else address


def _cut(text: str, length: int) -> str:
    """Return one line of *text*, cut between words after *length* characters."""
    line = " ".join(text.split())
    return (
        line
        if len(line) <= length
        else f"{line[:length].rpartition(' ')[0] or line[:length]} …"
    )


def _finder(getter: Getter) -> Callable[[Mapping[str, Any]], Any]:
    if isinstance(getter, str):
        return (
            partial(follow, getter.split("."))
            if "." in getter
            else methodcaller("get", getter)
        )
    if not isinstance(getter, tuple):
        return getter
    finders = [_finder(one) for one in getter]
    return lambda item: next(filter(None, (find(item) for find in finders)), None)
