"""Recognize Markdown that does not say what its page says: a site can serve a wall, an error or nothing under a 200."""

from __future__ import annotations
import re

from .._text.terms import split_terms
from ._obstacles import asks_for_scripts, find_challenge_text

_MAX_LENGTH = 600  # characters: longer Markdown says more than that it is not here
_MIN_SIZE = 60  # bytes of words outside headings: a page with fewer says next to nothing
_SIGN_IN = re.compile(
    r"\b(?:sign|log)(?:ged)?[ -]?in (?:to|with|for|is required|required|or (?:sign|register|create))\b"
    r"|\bplease (?:sign|log)[ -]?in\b|\byou (?:must|need to) (?:be (?:signed|logged)|sign|log)[ -]?in\b"
    r"|\b(?:login|sign-?in|authentication|subscription) (?:is )?required\b|\b(?:members|subscribers)[ -]only\b"
    r"|\bsubscribe to (?:read|continue)\b|\bcreate (?:an?|your) (?:free )?account to\b"
    r"|\b(?:melden|loggen) sie sich (?:bitte )?(?:an|ein)\b|\banmelden, um\b|\bconnectez-vous\b|\bidentifiez-vous\b"
    r"|\binici[ae]r? sesi[oó]n\b|\bfaça (?:o )?login\b|\baccedi per\b|\bвойдите\b"  # noqa: RUF001 - Russian
    r"|ログインして|请(?:先)?登录|請(?:先)?登入|로그인",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"(?:(?:http |error |status )*[45]\d\d\b(?:\W|\Z)"
    r"|(?:the |this )?(?:page|document|resource|url)? ?(?:was |could |is )?"
    r"(?:not (?:be )?found|does ?n[o']t exist|unavailable)\b|something went wrong|internal server error|bad gateway"
    r"|service unavailable|access denied|forbidden|an? (?:unexpected )?error (?:has )?occurred"
    r"|seite nicht gefunden|page (?:introuvable|non trouvée)|página no encontrada|страница не найдена"
    r"|ページが見つかりません|页面不存在|找不到页面)",
    re.IGNORECASE,
)
_HEADING = re.compile(r"^#{1,6}[ \t].*$", re.MULTILINE)
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)|https?://\S+")


def find_stub(title: str, text: str) -> str | None:
    """Return why Markdown that a site offers does not say what its page says, such as ``asks to sign in``, or None."""
    said = text.strip()
    if not said:
        return "is empty"
    if len(said) <= _MAX_LENGTH:
        if find_challenge_text(title, said):
            return "is a challenge against robots"
        if asks_for_scripts(said):
            return "asks for scripts"
        if _SIGN_IN.search(said):
            return "asks to sign in"
        first = said.partition("\n")[0].lstrip("#* ")
        if _FAILED.match(first) or _FAILED.match(title) or (said[0] == "{" and said[-1] == "}"):
            return "reports an error"
    prose = _LINK_TARGET.sub("", _HEADING.sub("", said[: 10 * _MAX_LENGTH]))
    return "says next to nothing" if len("".join(prose.split()).encode()) < _MIN_SIZE else None


def says_the_same(text: str, other: str) -> bool:
    """Return whether *text* has at least half of the words of *other*, in any order."""
    words = {term.form for term in split_terms(other)}
    found = words & {term.form for term in split_terms(text)}
    return 2 * len(found) >= len(words)
