"""The sources of a conversation: what a model was shown of each, also after other
programs have changed, shortened or removed the messages that showed it.

A message has the facts of its sources in its artifact, with a checksum of the text of
each. So a text that others have changed is never taken for that of a source. What was
shown within a call, by whatever agent or thread of it, is in its `SourceRecord`, and
`add_sources` keeps that with a conversation.
"""

from __future__ import annotations
import json
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypeGuard

from .._text.quantity import is_whole_number

_TEXTS = ("snippet", "content")
_NUMBER = re.compile(r"\A(?:### )?\d+\. ")  # in front of a result
# How our texts say the number of a source: in front of a result, above a page.
_OURS = re.compile(
    r"^(?:(\d{1,6})\. .* — \S+$|### (\d{1,6})\. |\W{0,2}Cite as:\W{1,4}(\d{1,6})\])",
    re.MULTILINE,
)
_LINKED = re.compile(r"\[(\d{1,6})\]\(")  # as `link_citations` writes it
_IN_JSON = re.compile(r'(?<!\\)"citation_id":\s?(\d{1,6})')
_OBJECT = re.compile(r"^\{", re.MULTILINE)
_MAX_OBJECTS = 10  # in a text, of which one is our JSON
# What `add_sources` keeps of a conversation: of more sources or longer texts, those
# with the lowest numbers go first.
_MAX_SOURCES = 1_000
_MAX_TEXT = 300_000  # characters of all texts
_REQUIRED = frozenset({"id", "title", "url", "read"})
_STORED: Mapping[str, type | tuple[type, ...]] = {
    "id": int,
    "title": str,
    "url": str,
    "read": bool,
    "published": str,
    "score": (int, float),
    "text": str,
    "forgotten": bool,
}
_record: ContextVar[SourceRecord | None] = ContextVar(
    "websearch_source_record", default=None
)


def make_checksum(text: str) -> str:
    """Return what tells whether a text is still the same."""
    data = text.encode("utf-8", "surrogatepass")
    return blake2b(data, digest_size=8).hexdigest()


def describe_block(block: Mapping[str, Any]) -> str:
    """Return the texts of a ``search_result`` block, without our reminder."""
    content = block.get("content")
    texts: list[Any] = []
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
    return "\n\n".join(str(text) for text in [block.get("title"), *texts[1:]] if text)


def read_json(content: str) -> dict[int, list[str]]:
    """Return the texts of a JSON content by the numbers of their sources.

    Other programs may have written something before it.
    """
    decoder = json.JSONDecoder()
    for place, match in enumerate(_OBJECT.finditer(content)):
        if place == _MAX_OBJECTS:
            break
        try:
            data, _ = decoder.raw_decode(content, match.start())
        except (ValueError, RecursionError):
            continue
        texts = _texts_of(data)
        if texts:
            return texts
    return {}


def _texts_of(data: Mapping[str, Any]) -> dict[int, list[str]]:
    texts: dict[int, list[str]] = {}
    for search in _list_parts(data, "searches"):
        for record in _list_parts(search, "results"):
            number = record.get("citation_id")
            if isinstance(number, int):
                texts.setdefault(number, []).append(_text_of(record))
    return texts


def _list_parts(data: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    """Return the records under this name, or the only one, which is *data* itself."""
    parts = data.get(name)
    if not isinstance(parts, list) or not parts:
        return [data]
    return [part for part in parts if isinstance(part, Mapping)]


def _text_of(record: Mapping[str, Any]) -> str:
    parts = [record.get(name) for name in ("title", *_TEXTS)]
    if record.get("data"):
        parts.append(json.dumps(record["data"], ensure_ascii=False))
    return "\n\n".join(str(part) for part in parts if part)


class _Content:
    """The content of a message, which other programs may have changed."""

    def __init__(self, content: object) -> None:
        self._texts: list[str] = []
        self._blocks: list[str] = []
        if isinstance(content, str):
            self._texts.append(content)
        blocks = content if isinstance(content, list) else []
        for block in blocks:
            if isinstance(block, str):
                self._texts.append(block)
            elif not isinstance(block, Mapping):
                continue
            elif block.get("type") == "search_result":
                self._blocks.append(describe_block(block))
            elif isinstance(block.get("text"), str):
                self._texts.append(block["text"])

    def find_text(self, source: Mapping[str, Any]) -> str:
        """Return what a model was shown of *source*; empty if that has changed."""
        checksum = source.get("checksum")
        if not isinstance(checksum, str):
            return ""
        for text in self._list_candidates(source):
            if make_checksum(text) == checksum:
                return _NUMBER.sub("", text)
        return ""

    def _list_candidates(self, source: Mapping[str, Any]) -> Iterator[str]:
        span = source.get("span")
        if not _is_span(span):
            yield from self._blocks
            yield from self._records.get(source["id"], ())
            return
        for frame in self._frames:
            yield frame[slice(*span)]

    @cached_property
    def _frames(self) -> list[str]:
        """What our marks enclose in the texts: positions count from there."""
        from .. import render

        frames: list[str] = []
        for text in self._texts:
            frames += [text[start:end] for start, end in render.find_fenced(text)]
        return frames

    @cached_property
    def _records(self) -> dict[int, list[str]]:
        records: dict[int, list[str]] = {}
        for text in self._texts:
            for number, texts in read_json(text).items():
                records.setdefault(number, []).extend(texts)
        return records


def _is_span(span: object) -> TypeGuard[Sequence[int]]:
    if not isinstance(span, list | tuple) or len(span) != 2:
        return False
    return all(isinstance(end, int) for end in span)


def list_sources(artifact: object) -> list[Any] | None:
    """Return the sources in the artifact of a message, whatever they hold; None if it
    has none.

    LangChain's client of MCP keeps what our server says as ``structured_content``.
    """
    if not isinstance(artifact, Mapping):
        return None
    structured = artifact.get("structured_content", artifact)
    if not isinstance(structured, Mapping):
        return None
    sources = structured.get("sources")
    return sources if isinstance(sources, list) else None


def collect_texts(content: object, artifact: object) -> Iterator[Mapping[str, Any]]:
    """Yield the sources of a tool call, each with the text that the model was shown of
    it.

    Args:
        content: The content of the tool's message. Other programs may have changed it:
            a source whose text is not there as it was has no ``text``.
        artifact: Its artifact. That of another tool yields nothing.
    """
    sources = list_sources(artifact)
    if not sources:
        return
    message = _Content(content)
    for source in sources:
        if not isinstance(source, Mapping) or not isinstance(source.get("id"), int):
            continue
        facts = {
            name: value
            for name, value in source.items()
            if name not in {"span", "checksum"}
        }
        text = message.find_text(source)
        if text:
            facts["text"] = text
        yield facts


def find_numbers(content: object) -> set[int]:
    """Return the numbers of sources that a message shows, whoever wrote it: a model, a
    person, one of the tools, a summary of a conversation.

    In data from the web, only our own numbers count, and not what a page has in
    brackets.

    Args:
        content: The content of the message: text, or a list of blocks.
    """
    numbers: set[int] = set()
    for text in _list_texts(content):
        numbers.update(_numbers_in(text))
    return numbers


def _list_texts(content: object) -> Iterator[str]:
    if isinstance(content, str):
        yield content
    blocks = content if isinstance(content, list) else []
    for block in blocks:
        if not isinstance(block, Mapping):
            yield from _list_texts(block)
            continue
        inside = block.get("content")
        if block.get("type") == "search_result" and isinstance(inside, list):
            inside = inside[:1]  # our reminder; the others are of the web
        yield from _list_texts(block.get("text"))
        yield from _list_texts(inside)


def _numbers_in(text: str) -> Iterator[int]:
    from .. import render
    from .._text.marks import find_marks

    in_json = _IN_JSON.findall(text) if _OBJECT.search(text) else []
    if in_json:
        yield from map(int, in_json)
        return
    position = 0
    others: list[str] = []
    for start, end in render.find_fenced(text):
        others.append(text[position:start])
        position = end
        for numbers in _OURS.findall(text[start:end]):
            yield int("".join(numbers))
    others.append(text[position:])
    own_words = "\n".join(others)
    yield from map(int, _LINKED.findall(own_words))
    for mark in find_marks(own_words):
        if mark.kind != "stray":
            yield from mark.numbers


class SourceRecord:
    """What the tools show a model within a block, and what its conversation had before.

    Args:
        conversation: The conversation. What another one is shown within the block is
            not recorded: its numbers are others.
        sources: The sources that it has numbers for already.
        outer: The record of the block around it.
    """

    def __init__(
        self,
        conversation: Hashable,
        sources: Sequence[Mapping[str, Any]],
        outer: SourceRecord | None,
    ) -> None:
        self.conversation = conversation
        self.outer = outer
        self.shown: list[Mapping[str, Any]] = []
        self.before = sources

    def list_sources(self, conversation: Hashable) -> list[Mapping[str, Any]]:
        """Return what *conversation* has numbers for now, by this record and those
        around it.
        """
        sources: list[Mapping[str, Any]] = []
        for record in self._list_records(conversation):
            sources += [*record.before, *record.shown]
        return sources

    def add(self, conversation: Hashable, sources: Iterable[Mapping[str, Any]]) -> None:
        """Add what *conversation* was shown to this record and those around it."""
        sources = list(sources)
        for record in self._list_records(conversation):
            record.shown.extend(sources)

    def _list_records(self, conversation: Hashable) -> Iterator[SourceRecord]:
        record: SourceRecord | None = self
        while record is not None:
            if record.conversation == conversation:
                yield record
            record = record.outer


@contextmanager
def record_sources(
    conversation: Hashable, sources: Sequence[Mapping[str, Any]] = ()
) -> Iterator[SourceRecord]:
    """Record what the tools show a model within the block, in whatever agent or thread
    runs in it.

    ::

        with record_sources(conversation, stored) as record:
            ...  # call a tool, or an agent that has the tools
        stored = add_sources(stored, record.shown)

    Args:
        conversation: What identifies the conversation, as in `Run`.
        sources: The sources that it has numbers for already, which the tools within the
            block will know, too.
    """
    record = SourceRecord(conversation, sources, _record.get())
    token = _record.set(record)
    try:
        yield record
    finally:
        _record.reset(token)


def current_record() -> SourceRecord | None:
    """Return the record of the innermost block of `record_sources` that runs here."""
    return _record.get()


def add_sources(before: object, new: object) -> list[dict[str, Any]]:
    """Return the stored sources of a conversation with *new* ones, for a state that
    programs merge: in whatever groups and how often they do, the result is the same.

    Args:
        before: What was stored before. What has not the shape of a source is left out.
        new: What `record_sources` recorded, or `collect_texts` yielded.

    Returns:
        The sources as plain JSON, by their numbers, several of one number if a model
        was shown several texts of it; `websearch_core.citations.merge_sources` makes
        one of them. They are the 1,000 with the highest numbers, with 300,000
        characters of text; ``forgotten`` is True for those whose text went.
    """
    sources = [*_list_stored(before), *_list_stored(new)]
    if not sources:
        return []
    last = max(source["id"] for source in sources)
    recent = [source for source in sources if source["id"] > last - _MAX_SOURCES]
    first_text = _find_first_text(recent)
    distinct: dict[tuple[Any, ...], dict[str, Any]] = {}
    for source in recent:
        stays = source["id"] >= first_text
        entry = source if stays else _forget_text(source)
        key = (entry["id"], entry["url"], entry["read"], entry.get("text"))
        distinct.setdefault(key, entry)
    return sorted(distinct.values(), key=lambda source: source["id"])


def _list_stored(entries: object) -> Iterator[dict[str, Any]]:
    if not isinstance(entries, list | tuple):
        return
    for entry in entries:
        if not isinstance(entry, Mapping):
            continue
        fields = {
            name: entry[name]
            for name, kind in _STORED.items()
            if isinstance(entry.get(name), kind)
        }
        if not fields.keys() >= _REQUIRED:
            continue
        if is_whole_number(fields["id"]) and fields["id"] >= 1:
            yield fields


def _find_first_text(sources: Iterable[Mapping[str, Any]]) -> int:
    """Return the lowest number whose texts stay: they and those of all higher numbers
    have room, and none of a higher number has gone before.
    """
    first = 0
    lengths: dict[int, int] = {}
    texts: set[tuple[int, str]] = set()
    for source in sources:
        number = source["id"]
        text = source.get("text", "")
        if source.get("forgotten"):
            first = max(first, number + 1)
        if text and (number, text) not in texts:
            texts.add((number, text))
            lengths[number] = lengths.get(number, 0) + len(text)
    room = _MAX_TEXT
    for number in sorted(lengths, reverse=True):
        room -= lengths[number]
        if room < 0:
            return max(first, number + 1)
    return first


def _forget_text(source: Mapping[str, Any]) -> dict[str, Any]:
    facts = {name: value for name, value in source.items() if name != "text"}
    return {**facts, "forgotten": True}
