"""Every regular expression of the packages takes time linear in its input, or its
input has a length with a name.

A search of `re` holds the interpreter: no deadline, thread or cancellation ends it. So
one pattern that is quadratic, run over a page, stops a whole process. All patterns are
found in two ways, by reading the source and by walking the modules.
"""

from __future__ import annotations
import importlib
import re
from functools import partial

import pytest

from tests.bounds import found
from tests.bounds.patterns import name_of
from tests.bounds.worker import Worker, cost, find_times
from tests.whole import WHOLE

_LARGE, _SMALL = 80_000, 20_000  # characters
_LONG = 1.0  # seconds of processor time
_WORSE_THAN_LINEAR = 8
_CHEAP = 0.3  # seconds, for as much as a slow pattern gets

# Patterns that are slow for long texts, by module and how they begin, and the constant
# that limits what they get.
BOUNDED = {
    (
        "websearch_core.reading._types",
        r"\s*%PDF-",
    ): "websearch_core.reading._sniff:_SAMPLE_SIZE",
    (
        "websearch_core._text.dates",
        "(?:(?:mon|tue",
    ): "websearch_core._text.dates:_MAX_LENGTH",
    ("websearch_core._text.dates", "(?=.*"): "websearch_core._text.dates:_MAX_LENGTH",
    (
        "websearch_core.reading._documents.paragraphs",
        r"(\w*[^\W\d_])[",
    ): "websearch_core.reading._documents.paragraphs:_MAX_WORD_LENGTH",
    (
        "websearch_core.reading._html.responses",
        r"[\s(\[:]",
    ): "websearch_core.reading._html.responses:_MAX_HEADING_LENGTH",
    (
        "websearch_core.reading._html.byline",
        "(?:^|[",
    ): "websearch_core.reading._html.byline:_MAX_LINE_LENGTH",
    (
        "websearch_core.reading._html.byline",
        r"\s*[|",
    ): "websearch_core.reading._html.byline:_MAX_LINE_LENGTH",
    (
        "websearch_core.reading._html.byline",
        r"(?:,|\s+on)",
    ): "websearch_core.reading._html.byline:_MAX_LINE_LENGTH",
    (
        "websearch_core.reading._html.byline",
        "https?:|www",
    ): "websearch_core.reading._html.byline:_MAX_LINE_LENGTH",
}
# Patterns that are made at run time, by module and source of the argument; and an
# example of what they become.
INSIDE = {
    ("websearch_core._cli.commands.mcp", "f'(?:{alternatives}"): r"(?:search\.example|localhost)(?::[0-9]{1,5})?",
    ("websearch_core._cli.comparison", "f'(?<!"): r"(?<!\w)45\ metres(?!\w)",
    # of the user
    ("websearch_core._cli.comparison", "pattern"): r"live for (?:12|twelve) hours",
    ("websearch_core.flow._redaction", "f'(?:{first})'"): r"(?:k|%6b)(?>e|%65)(?>y|%79)",
    ("websearch_core.settings._sources", "f'(?<!"): r'(?<!\\)"(?:[\w.]*\.)?key\s*:',
    ("websearch_core.layers._caching.http", "pattern"): r"max-age\s*=\s*\"?([0-9]{1,9})",
    ("websearch_core.provider._http", "f'(?<!"): r'(?<!\S)([\-][^\s\"]*)',
    ("websearch_core.reading._documents.feed", "f'<{prefix}"): r"<(loc|lastmod)(?=[\s>])[^>]{0,500}>\s{0,100}(?:<!\[CDATA\[)?([^<>\]]{1,4000})",
    ("websearch_core.reading._documents.markup", "f'(?<!`)"): r"(?<!`)`{3}(?!`)",
    ("websearch_core.reading._excerpt.asked", "f'(?<!"): r"(?<![^\W\d_])(?:how much|wie ?viel|как\w+ год)|多少|多(?:大|长)",
    ("websearch_core.reading._excerpt.find", "'|'.join("): r"\s{2,}|[\u00df\ufb01]|([\u00ad]++)",
    ("websearch_core.reading._excerpt.find", "pattern"): r"a\ a\ b",
    ("websearch_core.reading._html.normalize", "b'[^'"): r"[^<>&]+",
    ("websearch_core.reading._markdown.sanitizer", "f'(?<!`)"): r"(?<!`)`{3}(?!`)",
}  # fmt: skip
# Patterns of parsers that run in a process that is killed at the deadline, or that get
# less than a whole page.
THEIRS = {
    (
        "feedparser.encodings",
        "^<",
    ): "nothing stands before the first element of what it gets",
    (
        "feedparser.mixin",
        "(([a-zA-Z0-9",
    ): "websearch_core.reading._documents.feed:_MAX_NAMES_LENGTH",
    (
        "feedparser.sanitizer",
        "",
    ): "used on what stands before the first element, and where HTML is sanitized: nowhere",
    ("feedparser.datetimes.greek", ""): "killed at the deadline",
    ("feedparser.datetimes.iso8601", ""): "killed at the deadline",
}
PARSERS = (
    "feedparser",
    "pypdf",
    "markdownify",
    "bs4",
    "protego",
    "openpyxl",
    "mammoth",
    "markitdown",
    "html",
)


@pytest.fixture(scope="module")
def worker():
    with Worker() as worker:
        yield worker


def entry(table, name):
    """Return the entry of *table* for a pattern, by the beginning of its source."""
    module, _, source = name.partition(": ")
    beginning = source.removeprefix("b")[1:]
    return next(
        (
            value
            for (where, begin), value in table.items()
            if where == module and beginning.startswith(repr(begin)[1:-1])
        ),
        None,
    )


def find_slow(worker, package, table, part=slice(None)):
    """Yield the patterns that are worse than linear and not listed, and those that are
    too slow for what they get.
    """
    for name in worker.ask("tests.bounds.patterns:names", package)[part]:
        if bound := entry(table, name):
            if bound.count(":") == 1 and " " not in bound:
                module, _, constant = bound.partition(":")
                size = getattr(importlib.import_module(module), constant)
                seconds = worker.ask(
                    "tests.bounds.patterns:longest", package, name, size
                )
                if seconds is None or seconds > _CHEAP:
                    yield f"{name} gets up to {size} characters ({bound}), and takes {seconds} s for them"
            continue
        suspects = worker.ask("tests.bounds.patterns:screen", package, name)
        for number in [None] if suspects is None else suspects[:2]:
            if number is None:
                yield f"{name} does not end"
                continue
            task = "tests.bounds.patterns:seconds", package, name, number
            seconds = worker.ask(task[0], *task[1:], _LARGE)
            if seconds is None or seconds > _LONG:
                large, small = (
                    partial(cost, *task, _LARGE),
                    partial(cost, *task, _SMALL),
                )
                if times := find_times(seconds, large, small, 0, _WORSE_THAN_LINEAR):
                    long, short = map(min, zip(*times, strict=True))
                    yield f"{name} takes {long:.1f} s for {_LARGE} characters and {short:.2f} s for {_SMALL}"
                    break


ADVICE = (
    "Write the pattern so that nothing it runs over can begin another match (a possessive ++, a class that excludes what"
    " it begins with, a {0,500}). If its input is short, cut the input to a named length and list both in BOUNDED."
)


@pytest.mark.parametrize("package", found.PACKAGES)
@pytest.mark.parametrize("first", range(4))
def test_every_pattern_is_linear_or_gets_a_text_of_a_named_length(
    worker, package, first
):
    slow = list(find_slow(worker, package, BOUNDED, slice(first, None, 4)))
    assert not slow, "\n".join([*slow, ADVICE])


@pytest.mark.skipif(
    not WHOLE,
    reason="versions of others change with `make lock`: `make test-whole` runs it",
)
@pytest.mark.parametrize("package", PARSERS)
def test_slow_patterns_of_parsers_are_known(worker, package):
    slow = list(find_slow(worker, package, THEIRS))
    assert not slow, "\n".join(
        [
            *slow,
            "List it in THEIRS with what limits it; if nothing does, limit what the parser gets.",
        ]
    )


@pytest.mark.parametrize("package", found.PACKAGES)
def test_no_pattern_is_forgotten(package):
    modules = list(found.modules(package))
    held = {
        name_of(one.module, one.pattern)
        for module in modules
        for one in found.held(module)
    }
    missing = []
    for module in modules:
        calls = list(found.calls(module))
        known = {
            name_of(module.__name__, call.pattern)
            for call in calls
            if call.pattern is not None
        }
        for call in calls:
            at = f"{module.__name__}, line {call.line}: {call.source}"
            if call.pattern is None and call.inside:
                if not any(
                    where == call.module and call.source.startswith(begin)
                    for where, begin in INSIDE
                ):
                    missing.append(
                        f"{at} is made at run time: list an example of it in INSIDE"
                    )
            elif call.pattern is None:
                if (
                    not {
                        name for name in held if name.startswith(f"{module.__name__}: ")
                    }
                    - known
                ):
                    missing.append(f"{at} is not held by an attribute of its module")
            elif (
                not call.inside
                and call.what == "compile"
                and name_of(module.__name__, call.pattern) not in held
            ):
                missing.append(f"{at} is not held by an attribute of its module")
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    "example",
    INSIDE.values(),
    ids=[f"{module} {begin[:10]}" for module, begin in INSIDE],
)
def test_patterns_that_are_made_at_run_time_are_linear(worker, example):
    assert not worker.ask("tests.bounds.patterns:screen_source", example)


def test_the_table_names_what_exists(worker):
    names = [
        name
        for package in found.PACKAGES
        for name in worker.ask("tests.bounds.patterns:names", package)
    ]
    assert [
        key for key in BOUNDED if not any(entry({key: "x"}, name) for name in names)
    ] == []
    for bound in BOUNDED.values():
        module, _, constant = bound.partition(":")
        assert isinstance(getattr(importlib.import_module(module), constant), int), (
            bound
        )


@pytest.mark.parametrize(
    "source",
    [r"\[([^\]]*)\]\([^)\s]*\)", r"([a-z0-9.]+)@[a-z]+", r"^\s*x", r"(a|a)*b", r"\s+$"],
)
def test_a_slow_pattern_is_noticed(source):
    with Worker(most_seconds=1) as worker:
        # Times of a busy machine may hide it once.
        assert any(
            worker.ask("tests.bounds.patterns:screen_source", source) != []
            for _ in range(3)
        )


def test_every_pattern_that_was_found_by_walking_has_a_source():
    assert (
        len(
            {
                name_of(one.module, one.pattern)
                for m in found.modules("websearch_core")
                for one in found.held(m)
            }
        )
        > 300
    )
    assert all(
        isinstance(one.pattern, re.Pattern)
        for m in found.modules("websearch_core")
        for one in found.held(m)
    )
