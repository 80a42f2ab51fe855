"""Where each module of the packages is tested: in a file of its name and folder, or in
one that is named here.
"""

from __future__ import annotations
import re
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.repository
REPOSITORY = Path(__file__).resolve().parents[2]
TESTS = REPOSITORY / "tests"
# The folders of tests, and the packages that they mirror.
PACKAGES = {
    "core": REPOSITORY / "core/src/websearch_core",
    "langchain": REPOSITORY / "langchain_websearch/src/langchain_websearch",
    "llamaindex": REPOSITORY / "llamaindex_websearch/src/llamaindex_websearch",
}
_IMPORTS = re.compile(r"^\s*(?:from|import) benchmarks\b", re.MULTILINE)

# Files of tests, and the modules that they test besides the one of their name and
# folder. Modules are those of the core, unless the file is in the folder of a wrapper.
OTHERS = {
    "browser/test_login": "_browser/login",
    "browser/test_reader": "_browser/host _browser/render _browser/settle _browser/tab",
    "browser/test_snapshot": "_browser/snapshot",
    "browser/test_trust": "_browser/trust",
    "core/browser/test_browser": "_browser/find _browser/launch _browser/pipe _browser/profile",
    "core/citations/test_claim_templates": (
        "citations/_claims citations/_days citations/_negations citations/_notation "
        "citations/_tables"
    ),
    "core/citations/test_citations": (
        "_text/sentences citations/_check citations/_evidence citations/_figures citations/_links _text/marks"
    ),
    "core/cli/commands/test_compare": "_cli/comparison",
    "core/cli/commands/test_setup": "_cli/own_file",
    "core/cli/test_bulk": "_cli/inputs _cli/revalidation",
    "core/cli/test_cli": (
        "_cli/commands/crawl _cli/commands/doctor _cli/commands/index _cli/commands/providers "
        "_cli/commands/read _cli/commands/search _cli/output"
    ),
    "core/cli/test_program": "_cli/app _cli/arguments",
    "core/cli/test_rows": "_cli/outputs",
    "core/client/test_client": "client/_calls client/_enforce client/_selection client/_signature",
    "core/client/test_iterating": "client/_stream",
    "core/client/test_policy": "models/_domains",
    "core/client/test_whole_lists": "_net/targets flow/_targets",
    "core/events/test_events": "events/_built_in events/_hooks events/_log",
    "core/flow/test_effects": "flow/_intercept",
    "core/index/test_index": "_text/bm25 _text/terms index/_store",
    "core/keys/test_keys": "keys/_environ",
    "core/layers/test_budget": "layers/_amounts layers/_prices",
    "core/layers/test_cache": "layers/_caching/backend layers/_caching/entries",
    "core/layers/test_cache_file": "layers/_caching/sqlite",
    "core/layers/test_cache_http": "layers/_caching/http",
    "core/layers/test_fuse": "layers/_depth",
    "core/layers/test_hedging": "flow/_branches",
    "core/layers/test_layers": "layers/_chain layers/_fallback layers/_layer layers/_relax layers/_stack layers/_trail",
    "core/layers/test_retry_budget": "layers/_bucket layers/_retry",
    "core/layers/test_single_flight": "flow/_flights",
    "core/layers/test_usage_file": "layers/_usage",
    "core/models/test_models": "_runtime/clock _text/vocabulary models/_value",
    "core/net/test_lookup": "_net/system",
    "core/net/test_sender": "_net/backend _net/body _net/clients _net/failures _net/stream",
    "core/provenance/test_provenance": "_text/escaping",
    "core/provider/test_codes": "provider/google",
    "core/provider/test_plugins": "provider/_declare provider/_function provider/_ports",
    "core/providers/test_crawl4ai": "_browser/crawler",
    "core/providers/test_providers": "_registry providers/_info",
    "core/reading/documents/test_markdown": "reading/_documents/markup",
    "core/reading/documents/test_office": "reading/_documents/archive",
    "core/reading/documents/test_pdf": (
        "reading/_documents/direction reading/_documents/filters reading/_documents/layout "
        "reading/_documents/paragraphs"
    ),
    "core/reading/documents/test_word": (
        "reading/_documents/numbering reading/_documents/styles reading/_documents/word_xml"
    ),
    "core/reading/documents/test_workbook": "reading/_documents/number_format",
    "core/reading/excerpt/test_window": "reading/_excerpt/compose reading/_excerpt/pieces reading/_excerpt/spec",
    "core/reading/html/css/test_look": "reading/_html/css/colours reading/_html/css/doubt reading/_html/css/syntax",
    "core/reading/html/test_blocks": "reading/_element reading/_html/nodes reading/_html/text_blocks",
    "core/reading/html/test_grid": "_text/money",
    "core/reading/html/test_harden": "reading/_html/normalize reading/_html/parse",
    "core/reading/html/test_metadata": "reading/_html/byline reading/_html/phrases reading/_html/titles",
    "core/reading/html/test_page": "reading/_html/formula",
    "core/reading/html/test_page_data": "models/_data reading/_html/offers",
    "core/reading/html/test_select": "reading/_html/features reading/_html/model",
    "core/reading/html/test_structured_data": "reading/_html/effort reading/_html/jsonld",
    "core/reading/html/test_tree": "reading/_html/fragment",
    "core/reading/isolation/test_fence": "reading/_choice reading/_isolation/tasks reading/_where",
    "core/reading/isolation/test_pool": "reading/_isolation/child reading/_isolation/messages",
    "core/reading/markdown/test_round_trip": "reading/_markdown/sanitizer",
    "core/reading/markdown/test_writer": (
        "reading/_markdown/fences reading/_markdown/lines reading/_markdown/table"
    ),
    "core/reading/test_media": "_text/media_types reading/_formats reading/_sniff",
    "core/settings/test_settings": "_text/lists _text/problems _text/suggestion settings/_build",
    "core/settings/test_shapes": "settings/_merge settings/_values",
    "core/test_contract": "_runtime/bugs _text/docstrings testing/_contract",
    "core/test_render": "_text/quantity",
    "core/test_sharing": "layers/_identity",
    "core/testing/test_fake_web": "testing/_cassettes testing/_fake testing/_play",
    "core/text/test_markup": "_text/invisible",
    "core/tools/test_tools": "tools/_arguments tools/_fixed tools/_tenants",
    "core/tools/test_web_tools": "tools/_retrieval",
    "e2e/test_redis": "layers/_caching/redis",
    "e2e/test_shared_budget": "layers/_shared_usage",
    "e2e/test_shared_throttle": "layers/_shared_pace",
    "faults/test_endings": "_runtime/deadline",
    "faults/test_programs": "_runtime/forks",
    "langchain/test_compressor": "_progress",
    "langchain/test_user_urls": "conversations",
    "llamaindex/test_postprocessor": "events",
    "llamaindex/test_reader": "documents",
}
# What is tested across all rooms. Any other file in tests/core tests a module that
# stands there in the package, too.
ACROSS = set(
    "acceptance architecture asking call_path contract docs exports failures_name_themselves fragments inert "
    "many_tenants mirror own_words private_names search_options sharing style".split()
)


def _find_home(folder: str, module: str) -> str:
    """Return where the file of tests of *module* stands: that of a package is in its
    folder.
    """
    *rooms, name = (
        part.removeprefix("_") for part in module.removesuffix("/__init__").split("/")
    )
    return "/".join(
        [
            folder,
            *rooms,
            *([name] if module.endswith("/__init__") else []),
            f"test_{name}",
        ]
    )


FILES = {
    path.relative_to(TESTS).with_suffix("").as_posix()
    for path in TESTS.rglob("test_*.py")
}
HOMES = {
    (folder, module): _find_home(folder, module)
    for folder, package in PACKAGES.items()
    for module in (
        path.relative_to(package).with_suffix("").as_posix()
        for path in package.rglob("*.py")
    )
}


def test_each_module_is_tested_in_a_file_of_its_name_or_in_one_that_is_named():
    alone = {
        module
        for module, home in HOMES.items()
        if "__" not in module[1] and home not in FILES
    }
    listed = Counter(
        (folder if (folder := file.partition("/")[0]) in PACKAGES else "core", module)
        for file, modules in OTHERS.items()
        for module in modules.split()
    )

    assert sorted(OTHERS.keys() - FILES) == [], "no such files of tests"
    assert sorted(listed.keys() - alone) == [], (
        "no such module, or it has a file of its name"
    )
    assert sorted(alone - listed.keys()) == [], (
        "add a file of tests, or a line that says which file has them"
    )
    assert max(listed.values()) == 1


def test_a_file_with_the_name_of_a_module_stands_in_its_folder():
    named: dict[tuple[str, str], set[str]] = {}
    for (folder, _), home in HOMES.items():
        named.setdefault((folder, home.rpartition("/")[2]), set()).add(home)
    astray = {
        file: sorted(homes)
        for file in FILES
        if (
            homes := named.get(
                (file.partition("/")[0], file.rpartition("/")[2]), {file}
            )
        )
        and file not in homes
    }

    assert astray.keys() == {"core/test_contract"}, astray  # it tests each provider


def test_a_file_outside_all_rooms_tests_what_stands_there_or_all_of_them():
    outside = {file for file in FILES if file.rpartition("/")[0] == "core"} - set(
        HOMES.values()
    )

    assert outside == {f"core/test_{name}" for name in ACROSS}


def test_only_their_own_tests_import_the_benchmarks():
    folders = [
        *PACKAGES.values(),
        TESTS,
        *(REPOSITORY / name for name in "docs examples tools training".split()),
    ]
    found = [
        str(path.relative_to(REPOSITORY))
        for path in (path for folder in folders for path in folder.rglob("*.py"))
        if TESTS / "benchmarks" not in path.parents
        and _IMPORTS.search(path.read_text("utf-8"))
    ]

    assert found == []
