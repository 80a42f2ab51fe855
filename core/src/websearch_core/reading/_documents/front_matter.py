"""Read the front matter of Markdown: lines of YAML between ``---``, or of TOML between ``+++``.

Only the part of YAML that front matter is made of is understood: one key a line, with a text, a list or a block of
text. There is no tag, anchor or alias, so nothing can be constructed, repeated or included.
"""

from __future__ import annotations
import re
import tomllib
from collections.abc import Iterable, Mapping

_MAX_LENGTH = 20_000  # characters; a longer one is text between two lines
_MAX_VALUES = 50  # of one key
_BEGIN = re.compile(r"(---|\+\+\+)[ \t]*\n")
_ENDS = {
    "---": re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\n|\Z)", re.MULTILINE),
}
_KEY = re.compile(r"(?:\"([^\"\n]{1,80})\"|'([^'\n]{1,80})'|([A-Za-z_][\w.:-]{0,79}))[ \t]*:(?:[ \t]+(.*)|[ \t]*)")
_ITEM = re.compile(r"-(?:[ \t]+(.*))?")
_BLOCK = re.compile(r"[|>][+-]?[1-9]?[+-]?")
_IN_LIST = re.compile(r"\"(?:[^\"\\]|\\.)*+\"|'(?:[^']|'')*+'|[^,]+")
_COMMENT = re.compile(r"(?:^|[ \t])#.*")


def read_front_matter(text: str) -> tuple[Mapping[str, list[str]], int]:
    """Read the front matter at the beginning of *text*; lines of another form between such marks are text.

    Returns the values of each key, in lower case, and where the text after it begins: 0 if there is no front matter.
    """
    begin = _BEGIN.match(text)
    end = begin and _ENDS[begin[1]].search(text, begin.end(), begin.end() + _MAX_LENGTH)
    if not begin or not end:
        return {}, 0
    lines = text[begin.end() : end.start()]
    values = _read_toml(lines) if begin[1] == "+++" else _read_yaml(lines.splitlines())
    return (values, end.end()) if values else ({}, 0)


def _read_toml(lines: str) -> dict[str, list[str]]:
    try:
        table = tomllib.loads(lines)
    except (ValueError, RecursionError):
        return {}
    return {key.lower(): _flatten(value) for key, value in table.items()}


def _flatten(value: object) -> list[str]:
    """Return a value of TOML as texts; of a table, its name."""
    if isinstance(value, list):
        return [text for one in value[:_MAX_VALUES] for text in ([] if isinstance(one, list) else _flatten(one))]
    if isinstance(value, dict):
        name = value.get("name")
        return [name] if isinstance(name, str) else []
    return [str(value)]


def _read_yaml(lines: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    below: dict[str, list[str]] = {}  # the lines below a key that are indented, or items of its list
    key = ""
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        if key and (line[0] in " \t" or _ITEM.fullmatch(line)):
            below[key].append(line.strip())
        elif pair := _KEY.fullmatch(line.rstrip()):
            key = (pair[1] or pair[2] or pair[3]).lower()
            found[key], below[key] = [pair[4] or ""], []
        else:
            return {}
    return {key: _values(found[key][0].strip(), below[key]) for key in found}


def _values(value: str, below: list[str]) -> list[str]:
    """Return the values of a key, from the rest of its line and the lines below it."""
    if _BLOCK.fullmatch(_COMMENT.sub("", value)):
        return [" ".join(below)]
    value = " ".join([value, *below]) if value else ""
    if value.startswith("[") and value.rstrip().endswith("]"):
        return [_scalar(one.strip()) for one in _IN_LIST.findall(value.strip()[1:-1])[:_MAX_VALUES] if one.strip()]
    if value:
        return [_scalar(value)]
    items = ((item[1] or "") if (item := _ITEM.fullmatch(line)) else line for line in below)
    return [name for name in map(_named, items) if name][:_MAX_VALUES]


def _named(item: str) -> str:
    """Return an item of a list; of a mapping, only its name."""
    pair = _KEY.fullmatch(item)
    if not pair:
        return _scalar(item)
    return _scalar(pair[4] or "") if (pair[1] or pair[2] or pair[3]).lower() == "name" else ""


def _scalar(value: str) -> str:
    if value[:1] in {'"', "'"}:
        end = re.match(r'"((?:[^"\\]|\\.)*+)"|\'((?:[^\']|\'\')*+)\'', value)
        if not end:
            return value
        return re.sub(r"\\(.)", r"\1", end[1]) if end[1] is not None else end[2].replace("''", "'")
    return "" if value in {"~", "null"} else _COMMENT.sub("", value).strip()
