"""
Show results and pages in a notebook, and in one line.

A notebook runs what it shows with the rights of its user, so all text is escaped, and nothing is fetched: no image, no
style, no script. Only links are left, and they open a new tab that cannot reach the notebook.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from typing import Any

from .escaping import TAG, escape_text, link_target
from .invisible import strip_invisible
from .quantity import quantity, shorten

_MAX_SHOWN = 20_000  # characters of a page
_LINK = re.compile(r'\]\((?!(?:https?://|mailto:|#)[^\s<>()]*(?: "[^"\n]*")?\))')  # a link that leads elsewhere
_DEFINITION = re.compile(r"\]:(?!\s*https?://)")


def response_as_html(response: Any) -> str:
    """Return a `SearchResponse` as HTML."""
    parts = [f"<p><b>{_html(response.query)}</b> · {_html(_found(response))}</p>"]
    if response.answer:
        parts.append(f"<p>{_html(response.answer)}</p>")
    for result in response.results:
        facts = [result.author or "", f"{result.published:%Y-%m-%d}" if result.published else ""]
        about = " · ".join([_html(shorten(result.url)), *(_html(fact) for fact in facts if fact)])
        text = result.snippet if result.content is None else result.content
        parts.append(
            f"<p>{result.citation_id}. {_html_link(result.url, result.title)}<br><small>{about}</small><br>"
            f"{_html(text[:_MAX_SHOWN])}</p>"
        )
    parts += [f"<p>{_html_link(image.url, image.description or image.url)} (image)</p>" for image in response.images]
    return _box([*parts, *_html_notes(response.notes)])


def page_as_html(page: Any) -> str:
    """Return a `Page` as HTML; its Markdown is shown as it is."""
    facts = " · ".join(_html(fact) for fact in _facts(page))
    text = f'<pre style="white-space: pre-wrap; max-height: 30em; overflow: auto">{_html(_cut(page.content))}</pre>'
    head = f"<p><b>{_html_link(page.final_url or page.url, page.title)}</b><br><small>{facts}</small></p>"
    return _box([head, text, *_html_notes(page.notes)])


def response_as_markdown(response: Any) -> str:
    """Return a `SearchResponse` as Markdown."""
    blocks = [f"**{_escape(response.query)}** · {_escape(_found(response))}"]
    if response.answer:
        blocks.append(_escape(response.answer))
    for result in response.results:
        text = _escape(result.snippet) if result.content is None else _make_inert(_cut(result.content))
        body = "\n".join(f"   {line}".rstrip() for line in text.splitlines())
        blocks.append(f"{result.citation_id}. {_markdown_link(result.url, result.title)}\n\n{body}".rstrip())
    blocks += [f"- {_markdown_link(image.url, image.description or image.url)} (image)" for image in response.images]
    return "\n\n".join([*blocks, *(f"*{_escape(note)}*" for note in response.notes)])


def page_as_markdown(page: Any) -> str:
    """Return a `Page` as Markdown."""
    head = f"**{_markdown_link(page.final_url or page.url, page.title)}**"
    blocks = [head, " · ".join(map(_escape, _facts(page))), _make_inert(_cut(page.content))]
    return "\n\n".join([*filter(None, blocks), *(f"*{_escape(note)}*" for note in page.notes)])


def _found(response: Any) -> str:
    found = quantity(len(response.results), "result")
    return f"{found} from {response.provider}" if response.provider else found


def _facts(page: Any) -> Iterator[str]:
    yield shorten(page.final_url or page.url)
    if page.author:
        yield page.author
    if page.published:
        yield f"{page.published:%Y-%m-%d}"
    if page.truncated:
        yield f"{page.content_length:,} of {page.original_length:,} characters"


def _box(parts: Iterable[str]) -> str:
    return f"<div>{''.join(parts)}</div>"


def _html_notes(notes: Iterable[str]) -> Iterator[str]:
    return (f"<p><i>{_html(note)}</i></p>" for note in notes)


def _html(text: str) -> str:
    return escape(strip_invisible(text)[0])


def _html_link(url: str, title: str) -> str:
    target, shown = link_target(url), _html(" ".join(title.split()) or url)
    if target is None:
        return shown
    return f'<a href="{escape(target)}" target="_blank" rel="noopener noreferrer nofollow">{shown}</a>'


def _markdown_link(url: str, title: str) -> str:
    target = link_target(url)
    shown = _escape(" ".join(title.split()) or url).replace("[", "(").replace("]", ")")
    return f"[{shown}]({target})" if target else shown


def _escape(text: str) -> str:
    return " ".join(escape_text(text).split())


def _make_inert(markdown: str) -> str:
    """Break what a front end would fetch or run. `WebSearch` has done so, but not every page comes from it."""
    text = TAG.sub("< ", strip_invisible(markdown)[0]).replace("![", "! [")
    return _DEFINITION.sub("] :", _LINK.sub("] (", text))


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}…"
