"""Plots of the results of reading pages, in ``benchmarks/results/plots``; equal results give
equal files.
"""

from __future__ import annotations
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.reading.candidates import OURS
from benchmarks.reading.quality import Scores
from benchmarks.reading.size import ARTICLE, Seconds
from benchmarks.reading.speed import Speed

PLOTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "plots"
_OURS, _OTHERS = (
    "#c2410c",
    (
        "#1d4ed8",
        "#0f766e",
        "#7e22ce",
        "#4d7c0f",
        "#be185d",
        "#0e7490",
        "#a16207",
        "#475569",
    ),
)
_MARKS = "sD^vPX<>p"


def kinds(found: Mapping[str, Scores]) -> None:
    """Plot F1 by kind of page."""
    figure, axes = _make_axes(width=8, height=5)
    rows = list(next(iter(found.values())).kinds())
    for name, (colour, mark) in _assign_looks(found).items():
        ours = name.startswith(OURS.name)
        f1 = found[name].kinds()
        style = {
            "s": 90 if ours else 34,
            "zorder": 3 if ours else 2,
            "alpha": 1 if ours else 0.75,
        }
        axes.scatter(
            [f1[kind] for kind in rows],
            range(len(rows)),
            label=name,
            color=colour,
            marker=mark,
            **style,
        )
    axes.set_yticks(range(len(rows)), rows)
    axes.invert_yaxis()
    axes.set_xlabel("word F1")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    _save(figure, "reading-kinds.svg")


def speed(quality: Mapping[str, Scores], speeds: Mapping[str, Speed]) -> None:
    """Plot F1 against pages a second."""
    figure, axes = _make_axes(width=8, height=5)
    points = {
        name: (speeds[name].pages_a_second(), quality[name].f1())
        for name in quality
        if name in speeds
    }
    for name, (colour, mark) in _assign_looks(points).items():
        x, y = points[name]
        axes.scatter(
            x,
            y,
            color=colour,
            marker=mark,
            s=90 if name.startswith(OURS.name) else 50,
            zorder=2,
        )
        is_crowded = any(
            0 < its_y - y < 0.02 and 0.5 < its_x / x < 2
            for its_x, its_y in points.values()
        )
        axes.annotate(
            name,
            (x, y),
            textcoords="offset points",
            xytext=(7, -11 if is_crowded else 4),
            color=colour,
        )
    axes.set_xscale("log")
    axes.margins(x=0.25, y=0.1)
    axes.set_xlabel("pages a second on one core")
    axes.set_ylabel("word F1")
    _save(figure, "reading-speed.svg")


def size(found: Mapping[str, Mapping[str, Seconds]]) -> None:
    """Plot time against the size of the page."""
    figure, axes = _make_axes(width=8, height=5)
    lines = {
        f"{name}: {shape}" if name == OURS.name else name: (name == OURS.name, seconds)
        for name, shapes in found.items()
        for shape, seconds in shapes.items()
        if name == OURS.name or shape == ARTICLE
    }
    looks = _assign_looks(
        dict.fromkeys(name for name, (ours, _) in lines.items() if not ours)
    )
    for name, (ours, seconds) in lines.items():
        colour = _OURS if ours else looks[name][0]
        emphasis = (
            {"linewidth": 2.2, "zorder": 3}
            if name.endswith(ARTICLE)
            else {"linewidth": 1.0, "zorder": 2}
        )
        style = "-" if name.endswith(ARTICLE) else ":" if ours else "--"
        axes.plot(
            list(seconds),
            list(seconds.values()),
            label=name,
            color=colour,
            linestyle=style,
            **emphasis,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("bytes")
    axes.set_ylabel("seconds of CPU time")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    _save(figure, "reading-size.svg")


def _assign_looks(names: Mapping[str, object]) -> dict[str, tuple[str, str]]:
    """Give each reader a colour and a marker; ours stand out."""
    others = [name for name in names if not name.startswith(OURS.name)]
    looks = {
        name: (_OTHERS[place % len(_OTHERS)], _MARKS[place % len(_MARKS)])
        for place, name in enumerate(others)
    }
    return looks | {
        name: (_OURS, "o" if name == OURS.name else "*")
        for name in names
        if name not in looks
    }


def _make_axes(*, width: float, height: float) -> tuple[Any, Any]:
    matplotlib: Any = import_module("matplotlib")  # `make lint` runs without it
    matplotlib.use("svg")
    matplotlib.rcParams.update(
        {"svg.hashsalt": "reading", "svg.fonttype": "none", "font.family": "sans-serif"}
    )
    figure, axes = import_module("matplotlib.pyplot").subplots(figsize=(width, height))
    axes.grid(visible=True, color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes


def _save(figure: Any, name: str) -> None:
    PLOTS.mkdir(parents=True, exist_ok=True)
    figure.savefig(PLOTS / name, bbox_inches="tight", metadata={"Date": None})
    import_module("matplotlib.pyplot").close(figure)
    svg = (PLOTS / name).read_text("utf-8")
    (PLOTS / name).write_text(
        "\n".join(line.rstrip() for line in svg.splitlines()) + "\n", "utf-8"
    )
