"""`make check` runs the tests of what has changed."""

from __future__ import annotations

import pytest

from tests.changed import find_files_of_tests


@pytest.mark.parametrize(
    ("path", "files"),
    [
        (
            "core/src/websearch_core/layers/_pace.py",
            ["tests/core/layers/test_pace.py"],
        ),
        (
            "core/src/websearch_core/client/_stream.py",
            ["tests/core/client/test_iterating.py"],
        ),
        (
            "core/src/websearch_core/flow/__init__.py",
            ["tests/core/flow/test_flow.py"],
        ),
        (
            "langchain_websearch/src/langchain_websearch/_progress.py",
            ["tests/langchain/test_compressor.py"],
        ),
        (
            "llamaindex_websearch/src/llamaindex_websearch/events.py",
            ["tests/llamaindex/test_postprocessor.py"],
        ),
        ("tests/core/flow/test_effects.py", ["tests/core/flow/test_effects.py"]),
        ("tests/core/flow/test_that_is_gone.py", []),
        ("tests/waiting.py", []),
        ("README.md", []),
    ],
)
def test_a_change_asks_for_the_tests_of_its_module(path, files):
    assert find_files_of_tests([path]) == files


def test_each_file_is_named_once():
    path = "core/src/websearch_core/layers/_pace.py"

    assert find_files_of_tests([path, path, "tests/core/layers/test_pace.py"]) == [
        "tests/core/layers/test_pace.py"
    ]
