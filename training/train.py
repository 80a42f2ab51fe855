"""
Train the model of the page reader, and write it as a table of numbers: ``reading/html/model.json`` of the core.

The pages are those of WCXB (Murrough Foley, 2026, CC BY 4.0), a public corpus of pages of seven kinds with the text of
their main content, and the test pages of Mozilla's Readability (Apache 2.0). Nothing of a page goes into the model but
numbers: how much the words of class and id names and the names of elements speak for content, and decision trees over
the traits of a block. It is the same on every machine, since training is deterministic.

    python -m training.train            writes the model
    python -m training.train --folds 5  trains one model on each four fifths of the sites, and scores it on the
                                                 pages of the others, which it has not seen

`unseen` reads pages by such models, for ``python -m benchmarks.reading --unseen training.train:unseen``.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import statistics
import zlib
from bisect import insort
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch
from urllib.parse import urlsplit

import lightgbm
import numpy as np
from numpy.typing import NDArray

from benchmarks.reading.metrics import agreement, words
from training.corpus import ROOT, Page, mozilla, wcxb
from training.labels import labels
from websearch_core.reading.html import page as reader
from websearch_core.reading.html.blocks import TextBlocks, find_blocks
from websearch_core.reading.html.features import LEVELS, MISSING, BlockFeatures, words_of
from websearch_core.reading.html.harden import harden
from websearch_core.reading.html.metadata import Metadata, read_metadata
from websearch_core.reading.html.model import MAX_VOTES, QUESTIONS, ContentModel, Feature
from websearch_core.reading.html.parse import parse
from websearch_core.reading.html.select import select_content

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_HERE = Path(__file__).resolve().parent
_STEPS = _HERE.parent / "core/src/websearch_core/reading/html"
_STORED = _HERE.parent / "build/reading"
MODEL = _STEPS / "model.json"

_FOLDS = 5  # of `unseen`
_TREES = 300
_FEATURES = 120
_MAX_EDGES = 31  # of a feature
_WORD_LEVELS = 8  # elements around a block whose names count
_MIN_SITES = 5  # that a word must be met on
_NEIGHBOURS = {"tag": (-2, -1, 1, 2), "length": (-1, 1), "linked": (-1, 1)}
_COUNTED = 60  # words of a block that count for the lexicon
_MAX_LENGTH = 200  # words of a block that count for the trees
_NOTHING_TRUE = 0.25  # the weight of a page whose truth is empty: it may as well be one that was not understood
_FEWER_NAMES = 0.5  # the weight of a page that is shown again without some of its names
_SETTINGS = {
    "objective": "cross_entropy",
    "learning_rate": 0.1,
    "num_leaves": QUESTIONS + 1,
    "min_data_in_leaf": 150,
    "feature_fraction": 0.25,
    "extra_trees": True,  # one edge of each feature, by chance: of so few pages, trees learn less by heart
    "bagging_fraction": 0.8,
    "bagging_freq": 1,
    "lambda_l2": 5,
    "max_bin": _MAX_EDGES,
    "seed": 1,
    "deterministic": True,
    "force_row_wise": True,
    "num_threads": 2,
    "verbose": -1,
}


@dataclass
class Sample:
    """A page as the model sees it, and the truth about it."""

    site: str
    kind: str
    url: str
    facts: Metadata
    outline: TextBlocks
    labels: list[float]
    truth: list[str]  # words

    sizes: list[int]  # words of each block


def sample(page: Page) -> Sample:
    """Read a page as far as the model's part in reading it."""
    document = parse(harden(page.data).source)
    seen = find_blocks(document.body)
    text = page.text or _text(page.html)
    return Sample(
        site=_site(_own_address(document)) or page.name if page.html else _site(page.url),
        kind=page.kind,
        url=page.url,
        facts=read_metadata(document, page.url),
        outline=seen,
        labels=labels(seen.block_texts, text),
        truth=words(text),
        sizes=[len(words(text)) for text in seen.block_texts],
    )


def _site(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


def _own_address(document: LexborHTMLParser) -> str:
    """Where a page says it is from: the addresses of Readability's test pages are made up."""
    link = document.css_first('link[rel="canonical"]')
    return (link.attributes.get("href") or "") if link else ""


def _text(source: str) -> str:
    return "\n".join(find_blocks(parse(source.encode()).body).block_texts)


def lexicon(samples: Sequence[Sample]) -> dict[str, float]:
    """
    Learn what the words of class and id names, and elements, say.

    For each: the log-odds of the text under it being content, less those of any text; each page counts once.
    """
    shares: dict[str, list[float]] = defaultdict(list)
    sites: dict[str, set[str]] = defaultdict(set)
    for page in samples:
        good: dict[str, float] = defaultdict(float)
        total: dict[str, float] = defaultdict(float)
        seen = page.outline
        for block, (element, label) in enumerate(zip(seen.block_elements, page.labels, strict=True)):
            weight = min(page.sizes[block], _COUNTED) + 1
            for word in _names(seen, element):
                total[word] += weight
                good[word] += weight * (label >= 0.5)
        for word, of in total.items():
            shares[word].append(good[word] / of)
            sites[word].add(page.site)
    base = sum(map(sum, shares.values())) / sum(map(len, shares.values()))
    return {
        word: round(_log_odds((sum(some) + 3 * base) / (len(some) + 3)) - _log_odds(base), 2)
        for word, some in sorted(shares.items())
        if len(sites[word]) >= _MIN_SITES
    }


def _names(seen: TextBlocks, element: int) -> set[str]:
    names: set[str] = set()
    for _ in range(_WORD_LEVELS):
        if element <= 0:
            break
        names |= {f"<{seen.names[element]}>"} | words_of(seen.marks[element])
        element = seen.parents[element]
    return names


def _log_odds(chance: float) -> float:
    return math.log(chance / (1 - chance))


def matrix(page: Sample, words: Mapping[str, float]) -> tuple[list[Feature], NDArray[np.float32]]:
    """Return every feature that the model may ask for, of all blocks of a page."""
    if not page.labels:
        return [], np.zeros((0, 0), np.float32)
    some = BlockFeatures(page.outline, page.url, page.facts, words)
    levels = some.levels
    columns: dict[Feature, NDArray[np.float64]] = {}
    for trait, told in some.elements():
        values = np.array(told, np.float64)
        columns |= {Feature("element", trait, level): values[levels[level]] for level in range(LEVELS)}
    for trait, told in some.blocks():
        values = np.array(told, np.float64)
        for where in (0, *_NEIGHBOURS.get(trait, ())):
            columns[Feature("block", trait, where)] = _moved(values, where)
    for trait, value in some.page.items():
        columns[Feature("page", trait)] = np.full(some.count, value, np.float64)
    return list(columns), np.column_stack(list(columns.values())).astype(np.float32)


def _moved(values: NDArray[np.float64], where: int) -> NDArray[np.float64]:
    """Let each block have the value of the one so many after it."""
    beyond = np.full(min(abs(where), len(values)), MISSING)
    if where > 0:
        return np.concatenate([values[where:], beyond])
    return np.concatenate([beyond, values[:where]])[: len(values)] if where else values


def fit(samples: Sequence[Sample], features: int = _FEATURES, trees: int = _TREES) -> dict[str, Any]:
    """Train a model, as `Forest` takes it."""
    said = lexicon(samples)
    shown = [*samples, *map(_with_fewer_names, samples)]
    with ProcessPoolExecutor() as pool:
        tables = list(pool.map(partial(matrix, words=said), shown, chunksize=8))
    names = next(names for names, _ in tables if names)
    x = np.vstack([table for _, table in tables if table.size])
    y = np.concatenate([page.labels for page in shown])
    own = np.concatenate([_weights(page) for page in samples])
    weights = np.concatenate([own, _FEWER_NAMES * own])
    gains = _grow(x, y, weights, trees).feature_importance("gain")
    best = sorted(np.argsort(-gains, kind="stable")[:features].tolist())
    booster = _grow(x[:, best], y, weights, trees)
    return _written(booster.dump_model(), [names[place] for place in best], said)


def _with_fewer_names(page: Sample) -> Sample:
    """Take away every other class and id name, so that the trees learn to do without those that they know."""
    seen = copy(page.outline)
    seen.marks = ["" if zlib.crc32(f"{page.url} {mark}".encode()) % 2 else mark for mark in seen.marks]
    return replace(page, outline=seen)


def _weights(page: Sample) -> NDArray[np.float64]:
    """Every page counts the same, and in it every block by its words."""
    sizes = np.minimum(np.array(page.sizes, np.float64), _MAX_LENGTH)
    weights: NDArray[np.float64] = (sizes + 2) / max(sizes.sum(), 1)
    return weights if page.truth else weights * _NOTHING_TRUE


def _grow(x: NDArray[np.float32], y: NDArray[Any], weights: NDArray[np.float64], trees: int) -> lightgbm.Booster:
    data = lightgbm.Dataset(x, y, weight=weights * len(weights) / weights.sum(), params=_SETTINGS)
    return lightgbm.train(_SETTINGS, data, trees)


def _written(dump: Mapping[str, Any], features: Sequence[Feature], said: Mapping[str, float]) -> dict[str, Any]:
    """Turn LightGBM's trees into the tables of `Forest`."""
    grown = [_tree(tree["tree_structure"]) for tree in dump["tree_info"]]
    used = sorted({feature for questions, _, _ in grown for feature, _ in questions})
    edges: dict[str, dict[str, list[float]]] = {"element": {}, "block": {}, "page": {}}
    for questions, _, _ in grown:
        for feature, edge in questions:
            of, trait, _ = features[feature]
            known = edges[of].setdefault(trait, [])
            if edge not in known:
                insort(known, edge)
    lowest = min(min(values) for _, _, values in grown)
    highest = max(max(values) for _, _, values in grown)
    scale = (highest - lowest) / min(255, MAX_VOTES // len(grown))

    def question(feature: int, edge: float) -> list[int]:
        of, trait, _ = features[feature]
        return [used.index(feature), edges[of][trait].index(edge)]

    return {
        "words": dict(said),
        "features": [list(features[feature]) for feature in used],
        "edges": edges,
        "trees": [
            {
                "questions": [question(*asked) for asked in questions],
                "ways": ways,
                "votes": [round((value - lowest) / scale) for value in values],
            }
            for questions, ways, values in grown
        ],
        "base": lowest * len(grown),
        "scale": scale,
    }


def _tree(structure: Mapping[str, Any]) -> tuple[list[tuple[int, float]], list[list[int]], list[float]]:
    """Questions (feature, threshold), the ways on from each (no, yes), and the values at the ends."""
    questions: list[tuple[int, float]] = []
    ways: list[list[int]] = []
    values: list[float] = []

    def visit(node: Mapping[str, Any]) -> int:
        if "split_feature" not in node:
            values.append(float(node["leaf_value"]))
            return ~(len(values) - 1)
        place = len(questions)
        questions.append((int(node["split_feature"]), float(f"{node['threshold']:.6g}")))
        ways.append([])
        ways[place] = [visit(node["left_child"]), visit(node["right_child"])]
        return place

    visit(structure)
    return questions, ways, values


def folds(samples: Sequence[Sample], count: int) -> list[dict[str, Any]]:
    """Train as many models; each has seen no page of the sites in its fold."""
    return [fit([page for page in samples if _fold(page.site, count) != fold]) for fold in range(count)]


def _fold(site: str, count: int) -> int:
    return zlib.crc32(site.encode()) % count


def unseen(data: bytes, url: str, content_type: str | None) -> str:
    """Read a page of WCXB as `read_html` does, but by a model that has seen no page of its site."""
    models = _stored_folds()
    with patch.object(reader, "select_content", partial(select_content, model=models[_fold(_site(url), len(models))])):
        return reader.read_html(data, url, content_type).content


@cache
def _stored_folds() -> list[ContentModel]:
    """The models of the folds. They take minutes, so they are kept until what they are made by changes."""
    parts = [_HERE / f"reading_{part}.py" for part in ("corpus", "labels", "metrics")]
    sources = [Path(__file__), *parts, *sorted(_STEPS.glob("*.py"))]
    made_by = hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()
    path = _STORED / f"folds-{made_by[:16]}.json"
    if not path.exists():
        pages, extra = _samples(ROOT)
        part = path.with_suffix(f".{os.getpid()}")
        _STORED.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(folds([*pages, *extra], _FOLDS)), "utf-8")
        part.replace(path)  # all of it, or nothing
    return [ContentModel(model) for model in json.loads(path.read_text("utf-8"))]


def _samples(corpus: Path) -> tuple[list[Sample], list[Sample]]:
    """Return the pages of WCXB, and those of Readability."""
    with ProcessPoolExecutor() as pool:
        pages = pool.map(sample, wcxb(corpus / "wcxb"), chunksize=4)
        extra = pool.map(sample, mozilla(corpus / "mozilla"), chunksize=4)
        return list(pages), list(extra)


def _f1(page: Sample, model: ContentModel) -> float:
    kept = select_content(page.outline, page.url, page.facts, model)
    return agreement([word for text in compress(page.outline.block_texts, kept) for word in words(text)], page.truth)[2]


def _report(name: str, samples: Sequence[Sample], score: Callable[[Sample], float]) -> None:
    scores = [score(page) for page in samples]
    kinds: dict[str, list[float]] = defaultdict(list)
    for page, value in zip(samples, scores, strict=True):
        kinds[page.kind].append(value)
    parts = ", ".join(f"{kind} {statistics.fmean(some):.3f}" for kind, some in sorted(kinds.items()))
    print(f"{name}: {statistics.fmean(scores):.4f} ({parts})")


def main() -> None:
    """Write the model, or score it on pages that it has not seen."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--corpus", type=Path, default=ROOT, help="the folder with wcxb and mozilla")
    options.add_argument("--folds", type=int, default=0)
    chosen = options.parse_args()
    pages, extra = _samples(chosen.corpus)
    if chosen.folds:
        _report(
            "best possible",
            pages,
            lambda page: agreement(
                [
                    word
                    for text, label in zip(page.outline.block_texts, page.labels, strict=True)
                    if label >= 0.5
                    for word in words(text)
                ],
                page.truth,
            )[2],
        )
        models = [ContentModel(model) for model in folds([*pages, *extra], chosen.folds)]
        _report("on sites not seen", pages, lambda page: _f1(page, models[_fold(page.site, len(models))]))
        return
    model = fit([*pages, *extra])
    MODEL.write_text(json.dumps(model, separators=(",", ":")) + "\n", "utf-8")
    _report("on the pages it has seen", pages, partial(_f1, model=ContentModel(model)))


if __name__ == "__main__":
    main()
