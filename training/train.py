"""Train the model of the page reader, and write it as tables of numbers:
``reading/_html/model.json`` of the core.

The pages are those of WCXB (Murrough Foley, 2026, CC BY 4.0), a public corpus of pages
of seven kinds with the text of their main content, news articles in twenty languages
(from the test data of Fundus), and the test pages of Mozilla's Readability (Apache
2.0). Only numbers go into the model: how strongly the words of class and id names and
the names of elements suggest content, and decision trees over the features of a block.
Training is deterministic, so the model is the same on every machine.

    python -m training.train             # write the model
    python -m training.train FOLDER ...  # the same, with further pages
    python -m training.train --folds 3   # score models on sites they have not seen

`training.corpus` describes the layouts of the folders. Each of the models of ``--folds
3`` is trained on two thirds of the sites, and reads the pages of the others.

`unseen` reads pages with such models, for ``python -m benchmarks.reading --unseen
training.train:unseen``.
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
from pathlib import Path
from typing import Any
from unittest.mock import patch

import lightgbm
import numpy as np
from numpy.typing import NDArray

from training.corpus import ARTICLES, ROOT, Page, find_folders, find_site, load
from training.labels import label_texts
from training.words import agreement, words
from websearch_core.reading._html import page as reader
from websearch_core.reading._html.blocks import find_blocks
from websearch_core.reading._html.features import (
    LEVELS,
    MISSING,
    BlockFeatures,
    words_of,
)
from websearch_core.reading._html.harden import harden
from websearch_core.reading._html.metadata import Metadata, read_metadata
from websearch_core.reading._html.model import (
    MAX_EDGES,
    MAX_VOTES,
    QUESTIONS,
    ContentModel,
    Feature,
)
from websearch_core.reading._html.parse import parse
from websearch_core.reading._html.select import select_content
from websearch_core.reading._html.text_blocks import TextBlocks

_HERE = Path(__file__).resolve().parent
_READER = _HERE.parent / "core/src/websearch_core/reading/_html"
_STORED = _HERE.parent / "build/reading"
# The modules of the reader that the features of a block depend on.
_SOURCES = (
    "blocks byline features formula harden hidden jsonld metadata model normalize "
    "parse phrases titles"
).split()
MODEL = _READER / "model.json"

_FOLDS = 3  # of `unseen`
_TREES = 300
_FIRST_TREES = 100  # which show the features that matter
_FEATURES = 120
_MAX_EDGES = 31  # of a feature: the thresholds that trees may use
_WORD_LEVELS = 8  # elements around a block whose names count
_MIN_SITES = 5  # that must use a word before it counts
_NEIGHBOURS = {"tag": (-2, -1, 1, 2), "length": (-1, 1), "linked": (-1, 1)}
_MAX_LEXICON_WORDS = 60  # of a block that count for the lexicon
_MAX_TREE_WORDS = 200  # of a block that count for the trees
# News articles are what most people read, but few of the pages. The pages of
# Readability are the only ones whose truth has every caption, cell and item.
_ARTICLE_WEIGHT = 3.0
_STRUCTURE_WEIGHT = 3.0
_EMPTY_WEIGHT = 0.25  # of a page whose truth is empty: the annotation may be wrong
_COPY_WEIGHT = 0.5  # of the copy of a page that lacks some of its names
_SETTINGS = {
    "objective": "cross_entropy",
    "learning_rate": 0.1,
    "num_leaves": QUESTIONS + 1,
    "min_data_in_leaf": 150,
    "feature_fraction": 0.25,
    # one random edge of each feature: with so few pages, this limits overfitting
    "extra_trees": True,
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
    """A page as the model sees it, with the truth about it."""

    site: str
    kind: str
    url: str
    facts: Metadata
    outline: TextBlocks
    labels: list[float]
    truth: list[str]  # words
    sizes: list[int]  # words of each block
    weight: float = 1.0


def make_sample(page: Page) -> Sample:
    """Read a page up to the step of the model, and label its blocks."""
    document = parse(harden(page.data).source)
    seen = find_blocks(document.body)
    text = page.text or _extract_text(page.html)
    facts = read_metadata(document, page.url)
    return Sample(
        site=find_site(page.data, page.url),
        kind=page.kind,
        url=facts.place,
        facts=facts,
        outline=seen,
        labels=label_texts(seen.block_texts, text),
        truth=words(text),
        sizes=[len(words(text)) for text in seen.block_texts],
        weight=_STRUCTURE_WEIGHT
        if page.html
        else _ARTICLE_WEIGHT
        if page.kind == ARTICLES
        else 1.0,
    )


def _extract_text(source: str) -> str:
    return "\n".join(find_blocks(parse(source.encode()).body).block_texts)


def learn_lexicon(samples: Sequence[Sample]) -> dict[str, float]:
    """Learn how strongly the words of class and id names, and element names, suggest
    content.

    The value of a word is the log-odds that text under it is content, minus the
    log-odds for any text; each page counts once.
    """
    shares: dict[str, list[float]] = defaultdict(list)
    sites: dict[str, set[str]] = defaultdict(set)
    for page in samples:
        good: dict[str, float] = defaultdict(float)
        total: dict[str, float] = defaultdict(float)
        seen = page.outline
        for block, (element, label) in enumerate(
            zip(seen.block_elements, page.labels, strict=True)
        ):
            weight = min(page.sizes[block], _MAX_LEXICON_WORDS) + 1
            for word in _collect_names(seen, element):
                total[word] += weight
                good[word] += weight * (label >= 0.5)
        for word, of in total.items():
            shares[word].append(good[word] / of)
            sites[word].add(page.site)
    base = sum(map(sum, shares.values())) / sum(map(len, shares.values()))
    return {
        word: round(
            _log_odds((sum(some) + 3 * base) / (len(some) + 3)) - _log_odds(base), 2
        )
        for word, some in sorted(shares.items())
        if len(sites[word]) >= _MIN_SITES
    }


def _collect_names(seen: TextBlocks, element: int) -> set[str]:
    names: set[str] = set()
    for _ in range(_WORD_LEVELS):
        if element <= 0:
            break
        names |= {f"<{seen.names[element]}>"} | words_of(seen.marks[element])
        element = seen.parents[element]
    return names


def _log_odds(chance: float) -> float:
    return math.log(chance / (1 - chance))


def compute_features(
    page: Sample, words: Mapping[str, float]
) -> tuple[list[Feature], NDArray[np.float32]]:
    """Return the features that the model may use, and their values for all blocks of a
    page.
    """
    if not page.labels:
        return [], np.zeros((0, 0), np.float32)
    some = BlockFeatures(page.outline, page.url, page.facts, words)
    levels = some.levels
    columns: dict[Feature, NDArray[np.float64]] = {}
    for trait, column in some.elements():
        values = np.array([*column], np.float64)
        columns |= {
            Feature("element", trait, level): values[levels[level]]
            for level in range(LEVELS)
        }
    for trait, column in some.blocks():
        values = np.array([*column], np.float64)
        for where in (0, *_NEIGHBOURS.get(trait, ())):
            columns[Feature("block", trait, where)] = _shift(values, where)
    for trait, value in some.page.items():
        columns[Feature("page", trait)] = np.full(some.count, value, np.float64)
    return list(columns), np.column_stack(list(columns.values())).astype(np.float32)


def _shift(values: NDArray[np.float64], where: int) -> NDArray[np.float64]:
    """Give each block the value of the block that is *where* places after it; negative
    means before.
    """
    beyond = np.full(min(abs(where), len(values)), MISSING)
    if where > 0:
        return np.concatenate([values[where:], beyond])
    return np.concatenate([beyond, values[:where]])[: len(values)] if where else values


def fit(
    samples: Sequence[Sample], features: int = _FEATURES, trees: int = _TREES
) -> dict[str, Any]:
    """Train a model in the form that `ContentModel` takes."""
    weights_of_words = learn_lexicon(samples)
    shown = [*samples, *map(_drop_names, samples)]
    with ProcessPoolExecutor() as pool:
        tables = list(
            pool.map(
                partial(compute_features, words=weights_of_words), shown, chunksize=8
            )
        )
    names = next(names for names, _ in tables if names)
    x = np.vstack([table for _, table in tables if table.size])
    y = np.concatenate([page.labels for page in shown])
    own = np.concatenate([_weigh(page) for page in samples])
    weights = np.concatenate([own, _COPY_WEIGHT * own])
    gains = _grow(x, y, weights, min(trees, _FIRST_TREES)).feature_importance("gain")
    best = sorted(np.argsort(-gains, kind="stable")[:features].tolist())
    booster = _grow(x[:, best], y, weights, trees)
    return _to_tables(
        booster.dump_model(), [names[place] for place in best], weights_of_words
    )


def _drop_names(page: Sample) -> Sample:
    """Remove about half of the class and id names, so that the trees learn to work
    without them.
    """
    seen = copy(page.outline)
    seen.marks = [
        "" if zlib.crc32(f"{page.url} {mark}".encode()) % 2 else mark
        for mark in seen.marks
    ]
    return replace(page, outline=seen)


def _weigh(page: Sample) -> NDArray[np.float64]:
    """Weigh the blocks of a page by their words, so that its length does not matter."""
    sizes = np.minimum(np.array(page.sizes, np.float64), _MAX_TREE_WORDS)
    weights: NDArray[np.float64] = page.weight * (sizes + 2) / max(sizes.sum(), 1)
    return weights if page.truth else weights * _EMPTY_WEIGHT


def _grow(
    x: NDArray[np.float32], y: NDArray[Any], weights: NDArray[np.float64], trees: int
) -> lightgbm.Booster:
    data = lightgbm.Dataset(
        x, y, weight=weights * len(weights) / weights.sum(), params=_SETTINGS
    )
    return lightgbm.train(_SETTINGS, data, trees)


def _to_tables(
    dump: Mapping[str, Any], features: Sequence[Feature], words: Mapping[str, float]
) -> dict[str, Any]:
    """Turn LightGBM's trees into the tables of `ContentModel`."""
    grown = [_flatten(tree["tree_structure"]) for tree in dump["tree_info"]]
    used = sorted({feature for questions, _, _ in grown for feature, _ in questions})
    edges: dict[str, dict[str, list[float]]] = {"element": {}, "block": {}, "page": {}}
    for questions, _, _ in grown:
        for feature, edge in questions:
            of, trait, _ = features[feature]
            known = edges[of].setdefault(trait, [])
            if edge not in known:
                insort(known, edge)
    for of, traits in edges.items():
        _check_edges(of, traits)
    lowest = min(min(values) for _, _, values in grown)
    highest = max(max(values) for _, _, values in grown)
    scale = (highest - lowest) / min(255, MAX_VOTES // len(grown))

    def question(feature: int, edge: float) -> list[int]:
        of, trait, _ = features[feature]
        return [used.index(feature), edges[of][trait].index(edge)]

    return {
        "words": dict(words),
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


def _check_edges(of: str, traits: Mapping[str, Sequence[float]]) -> None:
    """Raise `ValueError` if a trait of *of* has more edges than the reader can count:
    the model would fail at its first page.
    """
    for trait, edges in traits.items():
        if len(edges) > MAX_EDGES:
            raise ValueError(
                f"the trait {trait!r} of {of} has {len(edges)} edges, and the reader "
                f"takes {MAX_EDGES} at most: lower _MAX_EDGES, _TREES or _FEATURES"
            )


def _flatten(
    structure: Mapping[str, Any],
) -> tuple[list[tuple[int, float]], list[list[int]], list[float]]:
    """Return the questions (feature, threshold), where each answer leads (no, yes), and
    the values of the leaves.
    """
    questions: list[tuple[int, float]] = []
    ways: list[list[int]] = []
    values: list[float] = []

    def visit(node: Mapping[str, Any]) -> int:
        if "split_feature" not in node:
            values.append(float(node["leaf_value"]))
            return ~(len(values) - 1)
        place = len(questions)
        questions.append(
            (int(node["split_feature"]), float(f"{node['threshold']:.6g}"))
        )
        ways.append([])
        ways[place] = [visit(node["left_child"]), visit(node["right_child"])]
        return place

    visit(structure)
    return questions, ways, values


def train_folds(samples: Sequence[Sample], count: int) -> list[dict[str, Any]]:
    """Train *count* models, each without the pages of the sites in its fold."""
    return [
        fit([page for page in samples if _find_fold(page.site, count) != fold])
        for fold in range(count)
    ]


def _find_fold(site: str, count: int) -> int:
    return zlib.crc32(site.encode()) % count


def unseen(data: bytes, url: str, content_type: str | None) -> str:
    """Read a page of the corpora like `read_html`, with a model trained without the
    pages of its site.
    """
    models = _stored_folds()
    model = models[_find_fold(find_site(data, url), len(models))]
    with patch.object(reader, "select_content", partial(select_content, model=model)):
        return reader.read_html(data, url, content_type).content


def _find_sources() -> list[Path]:
    """Return the files that the models depend on: code, and the phrases and names that
    it looks for.
    """
    data = [path for path in _READER.rglob("*.json") if path != MODEL]
    code = [
        *_HERE.glob("*.py"),
        *_READER.glob("css/*.py"),
        *(_READER / f"{name}.py" for name in _SOURCES),
    ]
    return sorted([*code, *data])


@cache
def _stored_folds() -> list[ContentModel]:
    """Return the models of the folds. Training takes minutes, so they are stored until
    the code changes.
    """
    code = hashlib.sha256(
        b"".join(source.read_bytes() for source in _find_sources())
    ).hexdigest()
    path = _STORED / f"folds-{code[:16]}.json"
    if not path.exists():
        samples = _load_samples(find_folders(ROOT))
        part = path.with_suffix(f".{os.getpid()}")
        _STORED.mkdir(parents=True, exist_ok=True)
        part.write_text(json.dumps(train_folds(samples, _FOLDS)), "utf-8")
        part.replace(path)  # atomically
    return [ContentModel(model) for model in json.loads(path.read_text("utf-8"))]


def _load_samples(folders: Sequence[Path]) -> list[Sample]:
    """Read the pages of all *folders*."""
    with ProcessPoolExecutor() as pool:
        return list(
            pool.map(
                make_sample,
                (page for folder in folders for page in load(folder)),
                chunksize=4,
            )
        )


def _score(page: Sample, model: ContentModel) -> float:
    kept = select_content(page.outline, page.url, page.facts, model)
    return agreement(
        [
            word
            for block in sorted(kept)
            for word in words(page.outline.block_texts[block])
        ],
        page.truth,
    )[2]


def _score_labels(page: Sample) -> float:
    kept = [label >= 0.5 for label in page.labels]
    return agreement(
        [
            word
            for block in sorted(kept)
            for word in words(page.outline.block_texts[block])
        ],
        page.truth,
    )[2]


def _report(
    name: str, samples: Sequence[Sample], score: Callable[[Sample], float]
) -> None:
    scores = [score(page) for page in samples]
    kinds: dict[str, list[float]] = defaultdict(list)
    for page, value in zip(samples, scores, strict=True):
        kinds[page.kind].append(value)
    parts = ", ".join(
        f"{kind} {statistics.fmean(some):.3f}" for kind, some in sorted(kinds.items())
    )
    print(f"{name}: {statistics.fmean(scores):.4f} ({parts})")


def main() -> None:
    """Train and write the model, or score models on sites they were not trained on."""
    options = argparse.ArgumentParser(
        prog="python -m training.train",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    options.add_argument(
        "folders",
        nargs="*",
        type=Path,
        metavar="FOLDER",
        help="a folder with further pages",
    )
    options.add_argument(
        "--corpus",
        type=Path,
        default=ROOT,
        help="the folder that contains the folders of pages (default: %(default)s)",
    )
    options.add_argument(
        "--folds",
        type=int,
        default=0,
        metavar="N",
        help="score N models instead of writing one",
    )
    chosen = options.parse_args()
    try:
        samples = _load_samples([*find_folders(chosen.corpus), *chosen.folders])
    except ValueError as error:
        options.error(str(error))
    if chosen.folds:
        _report("best possible", samples, _score_labels)
        models = [ContentModel(model) for model in train_folds(samples, chosen.folds)]
        _report(
            "on unseen sites",
            samples,
            lambda page: _score(page, models[_find_fold(page.site, len(models))]),
        )
        return
    model = fit(samples)
    MODEL.write_text(json.dumps(model, separators=(",", ":")) + "\n", "utf-8")
    _report(
        "on its training pages", samples, partial(_score, model=ContentModel(model))
    )


if __name__ == "__main__":
    main()
