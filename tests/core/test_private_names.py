"""Private names of dependencies that the packages use: each stands here, with a test
that fails when an update moves it.
"""

from __future__ import annotations
import ast
import asyncio
import importlib
import re
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from pkgutil import resolve_name
from types import SimpleNamespace
from typing import TypeGuard

import pytest

from websearch_core._net.guard import Guard
from websearch_core._net.pool import AsyncPool, Pool, _has_more, _replace_locks
from websearch_core._net.sender import Sender
from websearch_core.errors import UnsupportedContent
from websearch_core.flow import Request
from websearch_core.reading import read_bytes

pytestmark = pytest.mark.repository
ROOT = Path(__file__).parents[2]
SOURCES = [
    path
    for package in ("core", "langchain_websearch", "llamaindex_websearch")
    for path in sorted((ROOT / package / "src").rglob("*.py"))
]
OURS = {"websearch_core", "langchain_websearch", "llamaindex_websearch"}
PRIVATE = re.compile(r"_[A-Za-z]\w*")
# a name below a private module, as in "pypdf._cmap.prepare_cm"
PRIVATE_PATH = re.compile(r"[a-z]\w*(?:\.[A-Za-z]\w*)*\._[A-Za-z]\w*(?:\.\w+)*")
# of named tuples and of ``os``, which are documented
DOCUMENTED = {"_asdict", "_exit", "_fields", "_make", "_replace"}
LOOK_UPS = {"getattr", "hasattr", "setattr", "delattr", "attrgetter"}

# By file: what it imports, looks up or overrides.
NAMES = {
    "core/_net/clients": {"_pool"},  # of the transports of httpx
    # of connections of httpcore
    "core/_net/pool": {"_connection", "_h11_state", "_request_lock", "_state_lock"},
    "core/reading/_documents/filters": {
        "pypdf._cmap._parse_encoding",
        "pypdf._cmap._parse_to_unicode",
        "pypdf._cmap.prepare_cm",
        "pypdf._text_extraction._text_extractor.TextExtraction._handle_tj",
        "pypdf._text_extraction._text_extractor.crlf_space_check",
        "pypdf._text_extraction._text_extractor.get_display_str",
        "pypdf.generic._font.Font._add_space_width",
        "pypdf.generic._font.Font._get_space_char",
    },
    "core/reading/_documents/workbook": {
        "_worksheet_path"
    },  # of the sheets of openpyxl
    # what the frameworks document for subclasses
    "langchain_websearch/retriever": {
        "_aget_relevant_documents",
        "_get_relevant_documents",
    },
    "langchain_websearch/tools": {"_arun", "_run"},
    "llamaindex_websearch/postprocessor": {"_apostprocess_nodes", "_postprocess_nodes"},
    "llamaindex_websearch/retriever": {"_aretrieve", "_retrieve"},
}
# Ours have it, too, so that the walk cannot tell whose it is.
SHARED = {"_connection"}
PYPDF = sorted(NAMES["core/reading/_documents/filters"])


@pytest.fixture(params=["httpx", "httpx2"])
def library(request):
    return request.param


def name_file(path: Path) -> str:
    """Return the name of a file, such as ``core/_net/pool``."""
    relative = path.relative_to(ROOT).with_suffix("")
    return "/".join([relative.parts[0], *relative.parts[3:]])


def is_foreign(module: str) -> bool:
    root = module.partition(".")[0]
    return root not in OURS and root not in sys.stdlib_module_names


def is_own(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Return whether ``self`` gets an attribute here."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.ctx, ast.Store):
        return False
    return isinstance(node.value, ast.Name) and node.value.id == "self"


def find_definitions(tree: ast.AST) -> Iterator[str]:
    """Yield the names that a file gives to something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield node.asname or node.name
        elif is_own(node):
            yield node.attr


def find_imports(tree: ast.AST) -> dict[str, str]:
    """Return the paths of what a file imports from dependencies, by its name here."""
    paths = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for name in node.names:
                if is_foreign(name.name):
                    paths[name.asname or name.name] = name.name
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = node.module or ""
            for name in node.names:
                if is_foreign(module):
                    paths[name.asname or name.name] = f"{module}.{name.name}"
    return paths


def find_bases(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[str]:
    """Yield the names of the bases of a class that are not defined in its file."""
    for base in node.bases:
        if not isinstance(base, ast.Name):
            continue
        if base.id in classes:
            yield from find_bases(classes[base.id], classes)
        else:
            yield base.id


def find_overrides(tree: ast.AST, imports: dict[str, str]) -> Iterator[str]:
    """Yield the private names of classes that their foreign bases have, too; all of
    them if a base is an argument of the function around the class.
    """
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    classes = {node.name: node for node in nodes}
    for node in nodes:
        private = {name for name in find_definitions(node) if PRIVATE.fullmatch(name)}
        for base in find_bases(node, classes) if private else ():
            if base == "base":
                yield from private
            elif base in imports:
                theirs = resolve_name(imports[base])
                yield from (name for name in private if hasattr(theirs, name))


def is_path(value: object) -> bool:
    """Return whether a text is the path of something private of a dependency."""
    if not isinstance(value, str) or not PRIVATE_PATH.fullmatch(value):
        return False
    root = value.partition(".")[0]
    return is_foreign(root) and find_spec(root) is not None


def look_up(node: ast.AST) -> set[str]:
    """Return the names of attributes that are read, set or looked up."""
    if isinstance(node, ast.Attribute):
        return {node.attr}
    if not isinstance(node, ast.Call):
        return set()
    called = getattr(node.func, "id", getattr(node.func, "attr", ""))
    if called not in LOOK_UPS:
        return set()
    texts = [getattr(argument, "value", None) for argument in node.args]
    return {text for text in texts if isinstance(text, str)}


def find_private(tree: ast.AST, ours: set[str]) -> Iterator[str]:
    """Yield the private names of dependencies that a file uses."""
    imports = find_imports(tree)
    yield from find_overrides(tree, imports)
    yield from (path for path in imports.values() if PRIVATE_PATH.fullmatch(path))
    for node in ast.walk(tree):
        names = look_up(node) - ours - DOCUMENTED
        yield from (name for name in names if PRIVATE.fullmatch(name))
        if isinstance(node, ast.Constant) and is_path(node.value):
            yield node.value


def test_the_list_has_each_private_name_that_is_used():
    trees = {name_file(path): ast.parse(path.read_text("utf-8")) for path in SOURCES}
    ours = {name for tree in trees.values() for name in find_definitions(tree)}
    uses = {name: {*find_private(tree, ours)} - SHARED for name, tree in trees.items()}

    assert {name: names for name, names in uses.items() if names} == {
        name: names - SHARED for name, names in NAMES.items()
    }


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import pypdf._cmap", {"pypdf._cmap"}),
        ("from pypdf._cmap import prepare_cm", {"pypdf._cmap.prepare_cm"}),
        ("from pypdf import _cmap", {"pypdf._cmap"}),
        ("connection._h11_state", {"_h11_state"}),
        ("getattr(connection, '_h11_state', None)", {"_h11_state"}),
        ("patch({'pypdf._cmap.prepare_cm': f})", {"pypdf._cmap.prepare_cm"}),
        (
            "from pydantic import SecretStr\nclass A(SecretStr):\n    _display = ''",
            {"_display"},
        ),
        ("def f(base):\n    class A(base):\n        _pool = None", {"_pool"}),
        ("self._own = 1\nself._own\nvalue._replace(a=1)\nos._exit(0)", set()),
        ("from websearch_core._net.pool import _has_more", set()),
    ],
)
def test_each_way_to_use_one_is_seen(source, names):
    tree = ast.parse(source)

    assert set(find_private(tree, set(find_definitions(tree)))) == names


@pytest.mark.enable_socket
class TestHttpx:
    """The transport's ``_pool``: without it, nothing is sent."""

    @pytest.mark.parametrize("kind", ["HTTPTransport", "AsyncHTTPTransport"])
    def test_a_transport_keeps_its_connections_there(self, library, kind):
        http = importlib.import_module(library)

        assert "_pool" in vars(getattr(http, kind)())

    def test_the_guard_is_asked(self, library, server, monkeypatch):
        seen = []
        handle = Pool.handle_request

        def record(self, request):
            seen.append(self.inner)
            return handle(self, request)

        monkeypatch.setattr(Pool, "handle_request", record)
        guard = Guard.allowing(["127.0.0.0/8"])
        sender = Sender(guard, library=library)
        for guarded in (True, False):
            sender.send(Request(url=server.url, guarded=guarded))
        guards = [pool._network_backend._guard for pool in seen]
        sender.close()

        assert guards == [guard, None]

    @pytest.mark.parametrize("guarded", [True, False])
    def test_nothing_is_sent_if_it_moves(self, library, server, guarded, monkeypatch):
        http = importlib.import_module(library)

        def handle(self, request):
            return self._elsewhere.handle_request(request)

        monkeypatch.setattr(http.HTTPTransport, "handle_request", handle)
        sender = Sender(Guard.allowing(["127.0.0.0/8"]), library=library)
        with pytest.raises(AttributeError, match="_elsewhere"):
            sender.send(Request(url=server.url, guarded=guarded))
        sender.close()

        assert server.requests == []


class TestHttpcore:
    """``_connection`` and ``_h11_state``: without them, no connection is used again."""

    ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

    @pytest.mark.parametrize("more", [b"", b"HTTP/1.1 200 OK\r\n\r\n"])
    def test_what_came_after_an_answer_is_seen(self, library, more):
        core = importlib.import_module(library.replace("httpx", "httpcore"))
        connection = core.HTTPConnection(
            core.Origin(b"http", b"a.example", 80),
            network_backend=core.MockBackend([self.ANSWER + more]),
        )
        request = core.Request(
            "GET", "http://a.example/", headers={"Host": "a.example"}
        )
        connection.handle_request(request).read()

        assert connection._connection._h11_state.trailing_data == (more, False)
        assert _has_more(connection) is bool(more)

    async def test_a_free_lock_is_taken_at_once(self, library):
        """``_request_lock`` and ``_state_lock``: without them, a request takes more
        turns of the event loop.
        """
        core = importlib.import_module(library.replace("httpx", "httpcore"))
        connection = core.AsyncHTTPConnection(
            core.Origin(b"http", b"a.example", 80),
            network_backend=core.AsyncMockBackend([self.ANSWER]),
        )
        pool = AsyncPool(
            core, SimpleNamespace(create_connection=lambda _: connection), 1
        )
        request = core.Request(
            "GET", "http://a.example/", headers={"Host": "a.example"}
        )
        response = await pool.handle_async_request(request)
        locks = [connection._request_lock, connection._connection._state_lock]
        await response.stream.aclose()

        assert [type(lock) for lock in locks] == [asyncio.Lock, asyncio.Lock]

    def test_a_connection_without_such_locks_is_used_as_it_is(self):
        _replace_locks(SimpleNamespace(_connection=SimpleNamespace()))

    def test_a_connection_that_does_not_show_it_counts_as_one_with_more(self):
        assert _has_more(SimpleNamespace())
        assert _has_more(SimpleNamespace(_connection=SimpleNamespace()))


class TestPypdf:
    """Those that bound what a file costs, without which no PDF is read, and those that
    better the text, without which reading goes on.
    """

    @pytest.mark.parametrize("path", PYPDF)
    def test_a_function_is_where_it_is_replaced(self, path):
        pytest.importorskip("pypdf")
        from websearch_core.reading._documents import filters

        assert resolve_name(path).__module__ == filters.__name__

    def test_all_bounds_are_set(self):
        pytest.importorskip("pypdf")
        from websearch_core.reading._documents import filters

        assert filters.UNBOUNDED == []

    def test_one_that_is_gone_is_passed_over(self):
        pytest.importorskip("pypdf")
        from websearch_core.reading._documents.filters import patch

        gone = ["pypdf._gone.name", "pypdf._cmap._gone", "pypdf.generic._font.Gone._a"]

        assert patch(dict.fromkeys(gone, print)) == gone

    def test_no_pdf_is_read_without_its_bounds(self, monkeypatch):
        pytest.importorskip("pypdf")
        name = "pypdf._cmap.prepare_cm"
        place = "websearch_core.reading._documents.filters.UNBOUNDED"
        monkeypatch.setattr(place, [name])

        with pytest.raises(
            UnsupportedContent, match=r"websearch-core\[pdf\]"
        ) as caught:
            read_bytes(b"%PDF-1.7\n", "https://a.example/a.pdf", isolate=False)

        assert name in str(caught.value.__cause__)


@pytest.mark.parametrize(
    ("base", "names"),
    [
        ("langchain_core.retrievers.BaseRetriever", "langchain_websearch/retriever"),
        ("langchain_core.tools.BaseTool", "langchain_websearch/tools"),
        (
            "llama_index.core.base.base_retriever.BaseRetriever",
            "llamaindex_websearch/retriever",
        ),
        (
            "llama_index.core.postprocessor.types.BaseNodePostprocessor",
            "llamaindex_websearch/postprocessor",
        ),
    ],
)
def test_a_framework_calls_what_its_subclasses_define(base, names):
    framework = resolve_name(base)

    assert NAMES[names] <= vars(framework).keys()


def test_openpyxl_says_which_part_a_sheet_is():
    openpyxl = pytest.importorskip("openpyxl")
    file = BytesIO()
    openpyxl.Workbook().save(file)
    book = openpyxl.load_workbook(file, read_only=True)

    assert book.active._worksheet_path == "xl/worksheets/sheet1.xml"
