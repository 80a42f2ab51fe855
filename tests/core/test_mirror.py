"""Where each module of the core is tested: in a file of its name, or in the one that is named here."""

from __future__ import annotations
import re
from collections import Counter
from pathlib import Path

import websearch_core

ROOT = Path(websearch_core.__file__).parent
REPOSITORY = Path(__file__).resolve().parents[2]
TESTS = REPOSITORY / "tests"
_IMPORTS = re.compile(r"^\s*(?:from|import) benchmarks\b", re.MULTILINE)

# Files of tests, and the modules that they test besides the one of their name.
OTHERS = {
    "test_blocks": "reading/_element",
    "test_browser": "_browser/launch _browser/pipe",
    "test_budget": "layers/_amounts layers/_prices",
    "test_bulk": "_cli/inputs _cli/revalidation",
    "test_cache": "layers/_caching/backend layers/_caching/entries",
    "test_citations": ("_text/sentences citations/_check citations/_evidence citations/_figures citations/_marks"),
    "test_cli": (
        "_cli/checks _cli/commands/doctor _cli/commands/providers _cli/commands/read _cli/commands/search _cli/output"
    ),
    "test_compare": "_cli/comparison",
    "test_client": "client/_calls client/_enforce client/_selection client/_signature",
    "test_codes": "provider/google",
    "test_contract": "_runtime/bugs _text/docstrings",
    "test_crawl4ai": "_browser/crawler",
    "test_effects": "flow/_intercept",
    "test_endings": "_runtime/deadline",
    "test_events": "events/_built_in events/_hooks events/_log",
    "test_fake_web": "testing/_fake testing/_play",
    "test_fuse": "layers/_depth",
    "test_grid": "_text/money",
    "test_harden": "reading/_html/normalize reading/_html/parse",
    "test_hedging": "flow/_branches",
    "test_index": "_text/bm25 _text/terms index/_store",
    "test_iterating": "client/_stream",
    "test_keys": "keys/_environ",
    "test_layers": "layers/_fallback layers/_layer layers/_relax layers/_retry layers/_stack layers/_trail",
    "test_look": "reading/_html/css/colours reading/_html/css/syntax",
    "test_lookup": "_net/system",
    "test_media": "_text/media_types reading/_formats reading/_sniff",
    "test_metadata": "reading/_html/byline reading/_html/phrases reading/_html/titles",
    "test_page": "reading/_html/formula",
    "test_page_data": "models/_data",
    "test_pdf": "reading/_documents/filters",
    "test_plugins": "provider/_declare provider/_function provider/_ports",
    "test_policy": "models/_domains",
    "test_pool": "reading/_isolation/child reading/_isolation/worker",
    "test_program": "_cli/app",
    "test_programs": "_runtime/forks",
    "test_provenance": "_text/escaping",
    "test_reader": "_browser/host _browser/settle _browser/tab",
    "test_registry": "providers/_info",
    "test_render": "_text/quantity",
    "test_round_trip": "reading/_markdown/sanitizer",
    "test_select": "reading/_html/features reading/_html/model",
    "test_sender": "_net/backend _net/body _net/clients _net/heads _net/stream",
    "test_settings": ("_text/lists _text/problems _text/suggestion settings/_build"),
    "test_setup": "_cli/own_file",
    "test_shapes": "settings/_places settings/_values",
    "test_shared_throttle": "layers/_shared_pace",
    "test_sharing": "layers/_identity",
    "test_single_flight": "flow/_flights",
    "test_structured_data": "reading/_html/jsonld",
    "test_text": "_text/invisible",
    "test_throttle": "layers/_bucket",
    "test_tools": "tools/_fixed tools/_tenants",
    "test_tree": "reading/_html/fragment",
    "test_turns": "_runtime/threads",
    "test_window": "reading/_excerpt/compose reading/_excerpt/pieces reading/_excerpt/spec",
    "test_writer": "reading/_markdown/fences reading/_markdown/lines reading/_markdown/table",
    "test_web_tools": "tools/_retrieval",
}


def test_each_module_is_tested_in_a_file_of_its_name_or_in_one_that_is_named():
    files = {path.stem for path in TESTS.rglob("test_*.py")}
    modules = {str(path.relative_to(ROOT).with_suffix("")) for path in ROOT.rglob("*.py") if "__" not in path.stem}
    alone = {name for name in modules if f"test_{name.rpartition('/')[2].lstrip('_')}" not in files}
    listed = Counter(name for names in OTHERS.values() for name in names.split())

    assert sorted(OTHERS.keys() - files) == [], "no such files of tests"
    assert sorted(listed.keys() - alone) == [], "no such module, or it has a file of its name"
    assert sorted(alone - listed.keys()) == [], "add a file of tests, or a line that says which file has them"
    assert max(listed.values()) == 1


def test_only_their_own_tests_import_the_benchmarks():
    folders = [ROOT, TESTS, REPOSITORY / "training", REPOSITORY / "tools"]
    found = [
        str(path.relative_to(REPOSITORY))
        for path in (path for folder in folders for path in folder.rglob("*.py"))
        if TESTS / "benchmarks" not in path.parents and _IMPORTS.search(path.read_text("utf-8"))
    ]

    assert found == []
