"""Measure how the time to read a page grows with its size: no kind of page may take
quadratic time.
"""

from __future__ import annotations
import math
import re
import statistics
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from benchmarks.reading.candidates import OURS, Candidate
from benchmarks.reading.process import Reader
from benchmarks.report import Goal, Section, Table, milliseconds
from training.corpus import CONTENT_TYPE, Page

SIZES = tuple(round(10 ** (step / 2)) for step in range(6, 15))  # bytes: 1 kB to 10 MB
ARTICLE = "a repeated article"
_MAX_EXPONENT = 1.3  # between two sizes: linear, allowing for noise and logarithms
_MIN_SIZE = 30_000  # bytes: the fixed cost of a page dominates below
_MAX_SECONDS = 4.0  # slower readers get no larger pages
_ROUNDS = 3

Seconds = Mapping[int, float]


def shapes(pages: Sequence[Page]) -> dict[str, Callable[[int], bytes]]:
    """Return for each shape of page a function that makes a page of about the given
    number of bytes.
    """
    words = "the quick brown fox jumps over the lazy dog and runs into the old forest "
    return {
        ARTICLE: lambda size: _repeat(_extract_paragraphs(pages), size),
        "one long paragraph": lambda size: _repeat(words, size, "<p>", "</p>"),
        "links": lambda size: _repeat(
            f'<p><a href="/page/of/words">{words}</a> and <a href="/x">more</a>.</p>',
            size,
        ),
        "one table": lambda size: _repeat(
            "<tr><td>12</td><td>some words of a cell</td><td>3.45</td></tr>",
            size,
            f"<p>{words}</p><table><tr><th>a</th><th>b</th><th>c</th></tr>",
            "</table>",
        ),
        "one piece of code": lambda size: _repeat(
            "for word in words:\n    print(f&quot;{word}&quot;)\n",
            size,
            f"<p>{words}</p><pre><code>",
            "</code></pre>",
        ),
        "nested lists": lambda size: _repeat(
            "<li>one<ul><li>two<ul><li>three and some "
            "words</li><li>four</li></ul></li></ul></li>",
            size,
            f"<p>{words}</p><ul>",
            "</ul>",
        ),
    }


def _repeat(piece: str, size: int, before: str = "", after: str = "") -> bytes:
    head = (
        f"<!doctype "
        f"html><html><head><title>Words</title></head><body><main><article><h1>Words</h1>{before}"
    )
    tail = f"{after}</article></main></body></html>"
    times = max(1, (size - len(head) - len(tail)) // len(piece.encode()))
    return (head + piece * times + tail).encode()


def _extract_paragraphs(pages: Sequence[Page]) -> str:
    """Return the paragraphs and headings of the article that has closest to 2,000
    characters of them.
    """
    articles = (
        "".join(
            re.findall(
                r"<(?:p|h2|h3)>.{1,600}?</(?:p|h2|h3)>",
                page.data.decode(errors="replace"),
            )
        )
        for page in pages
        if page.kind == "article"
    )
    return min(articles, key=lambda text: abs(len(text) - 2000))


def measure(
    candidates: Mapping[Candidate, str], pages: Sequence[Page]
) -> dict[str, dict[str, Seconds]]:
    """Read pages of all shapes and sizes; the peers read only the repeated article.

    Returns:
        By candidate and shape, the CPU time in seconds by size in bytes: the median of
            up to three runs.
    """
    found: dict[str, dict[str, Seconds]] = {}
    for candidate, python in candidates.items():
        with Reader(candidate, python) as reader:
            found[candidate.name] = {
                shape: _measure_growth(reader, made)
                for shape, made in shapes(pages).items()
                if candidate == OURS or shape == ARTICLE
            }
    return found


def _measure_growth(reader: Reader, made: Callable[[int], bytes]) -> Seconds:
    found: dict[int, float] = {}
    for size in SIZES:
        data = made(size)
        seconds: list[float] = []
        while len(seconds) < _ROUNDS and sum(seconds) < _MAX_SECONDS:
            answer = reader.read(data, "https://example.org/", CONTENT_TYPE)
            if answer["error"]:
                return found
            seconds.append(answer["seconds"])
        found[len(data)] = statistics.median(seconds)
        if found[len(data)] > _MAX_SECONDS:
            break
    return found


def exponent(seconds: Seconds) -> float:
    """Return the exponent of the power of the size that fits the times, by least
    squares over the logarithms.
    """
    points = [
        (math.log(size), math.log(time))
        for size, time in seconds.items()
        if size > _MIN_SIZE
    ]
    return (
        statistics.linear_regression(*zip(*points, strict=True)).slope
        if len(points) > 1
        else float("nan")
    )


def steepest(seconds: Seconds) -> float:
    """Return the largest exponent between two neighbouring sizes."""
    points = [
        (math.log(size), math.log(time))
        for size, time in seconds.items()
        if size > _MIN_SIZE
    ]
    return max(
        ((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points)),
        default=float("nan"),
    )


def section(found: Mapping[str, Mapping[str, Seconds]], measured: str) -> Section:
    """Report what was *found*; *measured* is a sentence that says when and with which
    versions.
    """
    ours = {shape: steepest(seconds) for shape, seconds in found[OURS.name].items()}
    worst = max(ours, key=lambda shape: ours[shape])
    shown = [
        (name, shape, seconds)
        for name, shapes in found.items()
        for shape, seconds in shapes.items()
    ]
    return Section(
        title="Reading pages: size",
        plot="plots/reading-size.svg",
        method=(
            "Pages of 1 kB to 10 MB that repeat one thing: the paragraphs of a real "
            "article, or something that is hard "
            f"for readers. Times are CPU time, the median of up to {_ROUNDS} runs; a "
            f"reader that takes more than "
            f"{_MAX_SECONDS:.0f} s gets no larger pages. The exponent is that of the "
            f"power of the size that best fits "
            f"the times above {_MIN_SIZE // 1000} kB: 1 is linear, 2 quadratic. The "
            f"steepest step is the largest "
            "exponent between two neighbouring sizes. Only it shows that nothing is "
            "quadratic, because readers that "
            f"stop at some length, as ours does, have small exponents. {measured}"
        ),
        tables=[
            Table(
                (
                    "",
                    "page of",
                    "10 kB",
                    "100 kB",
                    "1 MB",
                    "10 MB",
                    "exponent",
                    "steepest step",
                ),
                [
                    (
                        name,
                        shape,
                        *(
                            _format_near(seconds, size)
                            for size in (10**4, 10**5, 10**6, 10**7)
                        ),
                        f"{exponent(seconds):.2f}",
                        f"{steepest(seconds):.2f}",
                    )
                    for name, shape, seconds in shown
                ],
            )
        ],
        goals=[
            Goal(
                f"time grows linearly with the size of the page, whatever the page "
                f"consists of "
                f"(steepest step at most {_MAX_EXPONENT})",
                f"{ours[worst]:.2f} for {worst}",
                ours[worst] <= _MAX_EXPONENT,
            )
        ],
    )


def _format_near(seconds: Seconds, size: int) -> str:
    """Return the time of the page closest to *size* bytes: pages consist of whole
    pieces.
    """
    nearest = min(seconds, key=lambda one: abs(math.log(one / size)), default=0)
    return (
        milliseconds(seconds[nearest]) if nearest and 0.5 < nearest / size < 2 else "-"
    )
