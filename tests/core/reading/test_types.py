"""A type of documents needs a declaration and a reader, and nothing else."""

from __future__ import annotations
import inspect
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from websearch_core.errors import TooLarge, UnsupportedContent
from websearch_core.models import Page
from websearch_core.providers.direct import Direct
from websearch_core.reading import _types, find_media_type, read_bytes
from websearch_core.reading._types import (
    TYPES,
    Document,
    DocumentType,
)
from websearch_core.testing import play, reply

ROOT = Path(__file__).resolve().parents[3]
KIND = "application/x-tide-table"
URL = "https://harbour.example/may.tide"


def read_tide(document: Document) -> Page:
    """Read ``TIDE High water at 6:10``."""
    if b"import" in document.data:
        import websearch_tides  # type: ignore[import-not-found]  # noqa: F401
    if b"end" not in document.data:
        raise UnsupportedContent("a tide table without an end")
    return document.to_page(f"# Tides\n\n{document.data[4:].decode().strip()}")


@pytest.fixture
def tide(monkeypatch):
    """Declare a type, as CONTRIBUTING.md says."""
    module = ModuleType("tide")
    module.read_tide = read_tide
    monkeypatch.setitem(sys.modules, "websearch_core.reading._documents.tide", module)
    declared = DocumentType(
        name="tide tables",
        reader="tide:read_tide",
        media_types=(KIND,),
        magic={re.compile(rb"TIDE "): KIND},
        endings={".tide": KIND},
        extra="tides",
        needs_end=True,
    )
    monkeypatch.setattr(_types, "TYPES", (declared, *TYPES))


@pytest.mark.usefixtures("tide")
@pytest.mark.parametrize(
    "declared", [None, "application/octet-stream", "text/html", KIND]
)
def test_a_page_of_a_declared_type_is_read_whatever_its_server_calls_it(declared):
    headers = {"content_type": declared} if declared else {}
    body = b"TIDE High water at 6:10.<script>steal()</script> end"
    page = play(Direct(isolate=False).read(URL), reply(body, **headers)).result

    assert page.media_type == KIND
    assert page.content.startswith("# Tides\n\nHigh water at 6:10.")
    assert "<script>" not in page.content  # made safe, as every page is
    named = "is an unknown type" if declared == "text/html" else KIND
    assert [
        note
        for note in page.notes
        if note.startswith("declared") and not (KIND in note or named in note)
    ] == []


@pytest.mark.usefixtures("tide")
def test_a_plain_text_at_such_a_url_and_a_file_of_such_a_name_are_of_the_type(tmp_path):
    (tmp_path / "may.tide").write_text("High water at 6:10. end", "utf-8")
    page = play(
        Direct(isolate=False).read(URL),
        reply(b"at: High water. end", content_type="text/plain"),
    ).result

    assert page.content.startswith("# Tides")
    assert find_media_type("/pier/MAY.TIDE") == KIND
    assert find_media_type("/pier/may.ebb") is None


@pytest.mark.usefixtures("tide")
def test_what_a_type_declares_decides_how_it_fails():
    with pytest.raises(
        UnsupportedContent,
        match=r'x-tide-table needs the extra "tides": pip install "websearch-core\[tides\]"',
    ):
        read_bytes(b"TIDE import", URL)
    with pytest.raises(UnsupportedContent, match="a tide table without an end"):
        read_bytes(b"TIDE ", URL)
    with pytest.raises(TooLarge, match="x-tide-table, larger than 10 MiB"):
        read_bytes(b"TIDE ", URL, cut="larger than 10 MiB")


@pytest.mark.parametrize("declared", TYPES, ids=lambda declared: declared.name)
@pytest.mark.repository
def test_a_declaration_is_complete(declared):
    documents = (ROOT / "docs" / "documents.md").read_text("utf-8")
    extras = tomllib.loads((ROOT / "core" / "pyproject.toml").read_text("utf-8"))[
        "project"
    ]["optional-dependencies"]

    assert re.search(rf"^\| [^|]*{declared.name}\b", documents, re.MULTILINE), (
        "its row in docs/documents.md"
    )
    assert not declared.extra or (
        declared.extra in extras and f"websearch-core[{declared.extra}]" in documents
    )
    assert list(inspect.signature(declared.load_reader()).parameters) == ["document"]
    for kind in declared.magic.values():
        assert declared.has(kind)
