"""Run a side of a pair, and say what came of it; for the old packages and for ours."""

from __future__ import annotations
import ast
import asyncio
import json
from collections.abc import Iterable, Mapping
from typing import Any

from docs.generators.pairs import Pair
from tests.migration.server import FACTS, HITS, NOISE, URLS

KEY = "sk-invented-key-0123456789"
ENVIRONMENT = {
    f"{name}_API_KEY": KEY
    for name in ("TAVILY", "BRAVE", "BRAVE_SEARCH", "SERPER", "SERPAPI", "EXA", "PERPLEXITY", "PPLX", "PARALLEL", "YDC",
                 "JINA", "FIRECRAWL", "MOJEEK")
}  # fmt: skip


def execute(imports: Iterable[str], code: str) -> Any:
    """Run *code* and return the value of its last line, which is an expression."""
    names: dict[str, Any] = {
        "asyncio": asyncio, "json": json, "q": "tide tables", "key": KEY, "searx": "http://searx.example",
        "url": HITS[0]["url"], "urls": [hit["url"] for hit in HITS[:2]],
    }  # fmt: skip
    exec("\n".join(imports), names)
    *lines, last = ast.parse(code).body
    exec(compile(ast.Module([*lines], []), "<pair>", "exec"), names)
    assert isinstance(last, ast.Expr), code
    return eval(compile(ast.Expression(last.value), "<pair>", "eval"), names)


def describe(value: Any) -> dict[str, Any]:
    """Return what a side gave: its *value* as JSON has it, the facts in it, and the
    lines of menus and footers.
    """
    data = json.loads(json.dumps(value, default=str))
    text = json.dumps(data, ensure_ascii=False)
    return {
        "value": data,
        "facts": [fact for fact in FACTS if fact in text],
        "noise": [line for line in NOISE if line in text],
    }


def judge(pair: Pair, old: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return what is wrong with the two outcomes of *pair*; empty if they are as the
    table says.
    """
    if "error" in old:
        return f"the old side failed: {old['error']}"
    if new["noise"]:
        return f"the new side has the menu: {new['noise']}"
    same = old["value"] == new["value"]
    if same != (not pair.differs):
        return (
            f"the values {'agree' if same else 'differ'}: {str(old['value'])[:300]} "
            f"and {str(new['value'])[:300]}"
        )
    facts = (
        [fact for fact in FACTS if fact not in URLS] if pair.kind == "pages" else FACTS
    )
    lost = [fact for fact in facts if fact in old["facts"] and fact not in new["facts"]]
    return f"the new side lost {lost}" if lost else ""
