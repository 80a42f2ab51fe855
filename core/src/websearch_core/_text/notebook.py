"""Show results and pages in a notebook, and in one line.

A notebook runs what it shows with the rights of its user, so all text is escaped, and
nothing is fetched: no image, no style, no script. Only links are left, and they open a
new tab that cannot reach the notebook.
"""

from __future__ import annotations
from collections.abc import Iterable
from html import escape
from typing import Any

from .escaping import link_target
from .invisible import strip_invisible
from .quantity import quantity, shorten

_MAX_SHOWN = 20_000  # characters of a page


def response_as_html(response: Any) -> str:
    summary = quantity(len(response.results), "result")
    if response.provider:
        summary += f" from {response.provider}"
    parts = [f"<p><b>{_html(response.query)}</b> · {_html(summary)}</p>"]
    if response.answer:
        parts.append(f"<p>{_html(response.answer)}</p>")
    for result in response.results:
        facts = [result.author or "", _format_day(result.published)]
        about = " · ".join(
            [_html(shorten(result.url)), *(_html(fact) for fact in facts if fact)]
        )
        text = result.snippet if result.content is None else result.content
        parts.append(
            f"<p>{result.citation_id}. "
            f"{_html_link(result.url, result.title)}<br><small>{about}</small><br>"
            f"{_html(text[:_MAX_SHOWN])}</p>"
        )
    parts += [
        f"<p>{_html_link(image.url, image.description or image.url)} (image)</p>"
        for image in response.images
    ]
    return _box(parts, response.notes)


def page_as_html(page: Any) -> str:
    """Return a `Page` as HTML; its Markdown is shown as it is."""
    url = page.final_url or page.url
    day = _format_day(page.published)
    part = (
        f"{page.content_length:,} of {page.original_length:,} characters"
        if page.truncated
        else ""
    )
    facts = " · ".join(
        _html(fact) for fact in (shorten(url), page.author, day, part) if fact
    )
    content = page.content
    if len(content) > _MAX_SHOWN:
        content = f"{content[:_MAX_SHOWN]}…"
    text = (
        f'<pre style="white-space: pre-wrap; max-height: 30em; overflow: '
        f'auto">{_html(content)}</pre>'
    )
    head = f"<p><b>{_html_link(url, page.title)}</b><br><small>{facts}</small></p>"
    return _box([head, text], page.notes)


def _box(parts: Iterable[str], notes: Iterable[str]) -> str:
    lines = [f"<p><i>{_html(note)}</i></p>" for note in notes]
    return f"<div>{''.join([*parts, *lines])}</div>"


def _format_day(published: Any) -> str:
    return f"{published:%Y-%m-%d}" if published else ""


def _html(text: str) -> str:
    return escape(strip_invisible(text)[0])


def _html_link(url: str, title: str) -> str:
    target = link_target(url)
    label = _html(" ".join(title.split()) or url)
    if target is None:
        return label
    return (
        f'<a href="{escape(target)}" target="_blank" rel="noopener noreferrer '
        f'nofollow">{label}</a>'
    )
