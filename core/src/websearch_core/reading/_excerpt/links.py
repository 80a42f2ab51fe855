"""Give passages links that take a person to the sentence that matters most."""

from __future__ import annotations
import re
from collections.abc import Iterator

from ..._text.escaping import link_target
from ..._text.terms import query_terms, split_terms
from ...citations import link_to_text
from ...models import Page, Passage
from .find import Folded
from .pieces import pieces
from .window import LINK

_MARKER = re.compile(r"\A[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_UNSURE = re.compile(r"[\\<>|\[\]$_~]|https?:")  # what a browser may show otherwise than our Markdown has it
_MIN_LENGTH = 12  # characters of a sentence that is worth going to
_TEXT_TYPES = ("", "text/html", "application/xhtml+xml", "text/plain", "text/markdown")


def link_passages(part: Page, whole: Page, words: str) -> Page:
    """Return *part* with a ``link`` for each passage that has a sentence which occurs only once in the *whole* page.

    The link leads to the sentence with most of the *words* of the query, or of the phrase that was sought.
    """
    url = link_target(whole.final_url or whole.url)
    if url is None or whole.media_type not in _TEXT_TYPES or len(part.content) == len(whole.content):
        return part
    seen = Folded(whole.content, seen=True).form
    wanted = {term.removesuffix("*") for term in query_terms(words)}

    def count(text: str) -> int:
        return seen.count(Folded(text).form.strip())

    def link(passage: Passage) -> str | None:
        text = whole.content[passage.offset : passage.offset + passage.length]
        found = list(_sentences(text))
        best = max(found, key=lambda n: len({term.form for term in split_terms(n[1])} & wanted), default=None)
        return best and link_to_text(url, best[1], count, before=best[0], after=best[2])

    return part.model_copy(
        update={"passages": tuple(one.model_copy(update={"link": link(one)}) for one in part.passages)}
    )


def _sentences(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield each sentence that a browser shows as it is, with what stands before and after it in its paragraph."""
    parts = [text[piece.start : piece.end] for piece in pieces(text) if not piece.leads and not piece.frame]
    for n, part in enumerate(parts):
        plain = _plain(part)
        if len(plain) >= _MIN_LENGTH and "\n" not in part.strip():
            before = _plain(parts[n - 1]) if n and not parts[n - 1].endswith("\n") else ""
            after = _plain(parts[n + 1]) if n + 1 < len(parts) and not part.endswith("\n") else ""
            yield before, plain, after


def _plain(part: str) -> str:
    """Return the text of *part* as a person sees it, or nothing if that is not certain."""
    bare = LINK.sub(lambda link: link[0][1 : link[0].rindex("](")], _MARKER.sub("", part))
    bare = " ".join(bare.replace("*", "").replace("`", "").split())
    return "" if _UNSURE.search(bare) else bare
