"""Decide whether a line near the headline states when the page was published or changed.

A line does if it is only a date or a byline, or if it says so: "Published 4 May 2026". A date among other words
is about something else: an event, an anniversary, the end of an offer. Two dates that form a range are, too, and so is
a date in the future.
"""

from __future__ import annotations
import re
from datetime import UTC, datetime, timedelta

from ..._text.dates import find_dates

_CHANGED = re.compile(
    r"updat|modif|revis|edited|changed"
    r"|aktuali[sz]|geändert|\bstand\b|mis à jour|mise à jour|modifi|actuali[sz]|aggiornat|atuali[sz]"
    r"|bijgewerkt|gewijzigd|uppdater|oppdater|opdater|päivitetty|zaktualiz|obnoven|frissít|güncelle|обновлен|изменен|оновлен|ενημερ"
    r"|更新|수정|cập nhật|diperbarui|تحديث|עודכן",
    re.IGNORECASE,
)
_PUBLISHED = re.compile(
    r"publi[sc]|\bposted\b|\bsubmitted\b|\bwritten\b|\bcreated\b|\bfiled\b|\bstarted by\b|\brelease date\b"
    r"|\bpub\.? date\b|veröffentlicht|erstellt|erschienen|pubblicat|gepubliceerd|geplaatst|publicerad|publisert"
    r"|julkaistu|opublikowan|publikován|megjelen|közzétéve|yay\u0131n|giriş|опубликован|опубліковано|δημοσι"
    r"|дата публикации|公開|公表|掲載|投稿|配信|发布|發布|发表|發表|게시|등록|입력"
    r"|đăng|diterbitkan|dipublikasikan|نشر|פורסם",
    re.IGNORECASE,
)
# Words that may stand beside the date in a line that is nothing but a date: time of day, weekday, time to read.
_BESIDE = frozenset(
    "am pm a p m t z h hrs uhr utc gmt est edt cst cdt mst mdt pst pdt bst cet cest ist jst "
    "at on um le den kl the el il min mins minute minutes read reading "
    "mon monday tue tues tuesday wed wednesday thu thur thurs thursday fri friday sat saturday sun sunday".split()
)
_WORD = re.compile(r"[^\W\d_]+")
_BY = re.compile(r"\b(?:by|par|von|por)\b(?:\s*:)?(?:\s+[\w.-]+){0,6}", re.IGNORECASE)
_RANGE = re.compile(r"\s*(?:[-–—~]|to|until|till|through|and|bis|und|au|al|à|y|et|do|до|по)\s*", re.IGNORECASE)  # noqa: RUF001
_PERIOD = re.compile(r"\b(?:valid|until|till|expir\w+|deadline|due)\b|\bfrom\b[^.]*\d[^.]*\bto\b", re.IGNORECASE)
_OTHER_LABEL = re.compile(r":\s*$")


def says_changed(words: str) -> bool:
    """Return whether *words* around a date say that the page was changed then, rather than published."""
    return _CHANGED.search(words) is not None


def is_past(date: datetime) -> bool:
    """Return whether a page can have been published at *date*, in whatever zone its clock runs."""
    return date <= datetime.now(UTC) + timedelta(days=1)


def fits_before_date(words: str, author: str | None = None, *, same_line: bool = False) -> bool:
    """Return whether a date after *words* may be that of the page: after ``Posted on``, not ``Show on``.

    If they are not in the *same_line*, they may be about anything, unless they end with a colon.
    """
    if _PERIOD.search(words):
        return False
    if _says_when(words):
        return True
    return _is_bare(words, author) if same_line else _OTHER_LABEL.search(words) is None


def dates_of_line(line: str, before: str = "", author: str | None = None) -> list[tuple[datetime, str]]:
    """Return the dates that a line near the headline states, each with the words that tell what it is.

    *before* is the end of the text before the line, which may be its label.
    """
    found = list(find_dates(line))
    if not found or not fits_before_date(before) or _PERIOD.search(line):
        return []
    starts, ends = [start for _, start, _ in found], [end for _, _, end in found]
    between = [line[end:start] for end, start in zip(ends, starts[1:], strict=False)]
    if any(map(_RANGE.fullmatch, between)):
        return []
    if not _says_when(line) and not _is_bare(line[: starts[0]] + line[ends[0] :], author):
        return []
    words = [f"{before} {line[: starts[0]]}", *between]
    words[-1] += line[ends[-1] :]
    return [(date, said) for (date, _, _), said in zip(found, words, strict=True) if is_past(date)]


def _is_bare(words: str, author: str | None) -> bool:
    """Return whether the *words* beside a date are nothing but a byline, a time of day and the like."""
    rest = _BY.sub(" ", words.replace(author, " ") if author else words, count=1)
    return all(word.casefold() in _BESIDE for word in _WORD.findall(rest))


def _says_when(words: str) -> bool:
    return _PUBLISHED.search(words) is not None or says_changed(words)
