"""Compare the words that adapters send with those that the services' own SDKs accept;
a part of ``make drift``.

A service may drop a word without an error: it then ignores the parameter, and the
results look as usual. Its SDK knows. The SDKs are only parsed, never imported. ``python
-m tests.cassettes.vocabulary`` prints their names for pip.
"""

from __future__ import annotations
import ast
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import fields
from importlib.metadata import distributions
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args, get_origin

from tests.cassettes.shape import Differences
from websearch_core.errors import UnsupportedOption
from websearch_core.models import SearchQuery
from websearch_core.provider._declare import field_notes
from websearch_core.providers import known, provider_class
from websearch_core.testing import SECRET

SDKS = Path(__file__).parents[2] / "build" / "sdks"
# otherwise it was compared with the pages of the API
_SDK = re.compile(r"(\S+ \d+\.\d+\.\d+), ")
# a sentence, or most of one
_WARNING = re.compile(
    r"[^.;#]{0,120}\b(?:deprecated|legacy|retired|being replaced|will be removed)\b"
    r"[^.;#]{0,80}",
    re.IGNORECASE,
)
_BEFORE_STATEMENT = {
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.INDENT,
    tokenize.NEWLINE,
}
_URL = "https://kelp.example/"
_QUERIES: tuple[dict[str, Any], ...] = (
    *({"time_range": period} for period in ("day", "week", "month", "year")),
    *({"topic": topic} for topic in ("news", "finance", "academic", "code")),
    *({"safe_search": level} for level in ("off", "moderate", "strict")),
    {"images": True}, {"language": "de"}, {"country": "DE"}, {"after": "2026-01-02", "before": "2026-02-03"},
    {"allowed_domains": ["kelp.example"]}, {"blocked_domains": ["kelp.example"]}, {},
)  # fmt: skip


class Sdk(NamedTuple):
    """Where an SDK says what its service accepts: ``module:Class``,
    ``module:function.argument``, ``module:NAME``.
    """

    parameters: str
    words: dict[str, str]


PLACES = {
    "exa": Sdk(
        "exa_py/api:Exa.search", {"type": "exa_py/api:SearchType", "category": "exa_py/api:Category"}
    ),
    "firecrawl": Sdk(
        "firecrawl/v2/types:SearchRequest",
        {
            "categories": "firecrawl/v2/methods/search:valid_categories",
            "sources": "firecrawl/v2/methods/search:valid_sources",
        },
    ),
    "keenable": Sdk("keenable/client:Keenable.search", {"mode": "keenable/client:Keenable.search.mode"}),
    "linkup": Sdk(
        "linkup/_client:LinkupClient.search",
        {"depth": "linkup/_client:search.depth", "outputType": "linkup/_client:search.output_type"},
    ),
    "ollama": Sdk("ollama/_types:WebSearchRequest", {}),
    "parallel": Sdk(
        "parallel/types/client_search_params:ClientSearchParams",
        {"mode": "parallel/types/client_search_params:ClientSearchParams.mode"},
    ),
    "perplexity": Sdk(
        "perplexity/types/search_create_params:SearchCreateParams",
        {
            "search_mode": "perplexity/types/search_create_params:SearchCreateParams.search_mode",
            "search_recency_filter": "perplexity/types/search_create_params:SearchCreateParams.search_recency_filter",
        },
    ),
    "tavily": Sdk(
        "tavily/tavily:_search",
        {name: f"tavily/tavily:_search.{name}" for name in ("search_depth", "topic", "time_range", "include_answer")},
    ),
    "you": Sdk(
        "youdotcom/models/searchrequestbody:SearchRequestBody",
        {
            "safesearch": "youdotcom/models/safesearch:SafeSearch",
            "language": "youdotcom/models/language:Language",
            "country": "youdotcom/models/country:Country",
        },
    ),
}  # fmt: skip


def packages() -> dict[str, str]:
    """Return the SDK that each adapter names, with its version, by the name of the
    provider.
    """
    compared = {
        name: getattr(getattr(provider_class(name), "about", None), "compared", "")
        for name in known()
    }
    return {
        name: found[1]
        for name, words in compared.items()
        if (found := _SDK.match(words))
    }


def sent(name: str) -> dict[str, set[str]]:
    """Return the words that a provider can send, by parameter; a parameter without
    words has none.
    """
    words: defaultdict[str, set[str]] = defaultdict(set)
    cls = provider_class(name)
    options = [
        {"api_key": SECRET, field.name: value}
        for field in fields(cls)
        for value in _values(cls, field.name)
    ]
    for option in [{"api_key": SECRET}, *options]:
        for query in _QUERIES:
            with suppress(UnsupportedOption):
                request = next(cls(**option).search(SearchQuery.of("kelp", **query)))
                for key, value in (request.json or {}).items():
                    several = value if isinstance(value, list) else [value]
                    words[key] |= {
                        one
                        for one in several
                        if isinstance(one, str) and one not in {"kelp", "kelp.example"}
                    }
    for key, codes in (("country", "countries"), ("language", "languages")):
        if key in words:
            words[key] |= set(getattr(cls, codes, {}).values())
    return words


def _values(cls: Any, field: str) -> Iterator[Any]:
    """Yield the values of an option that can only have some."""
    for note in field_notes(cls)[field]:
        if get_origin(note) is Literal:
            yield from get_args(note)
        elif note is bool:
            yield True


def accepted(folder: Path, place: str) -> set[str]:
    """Return what the SDK in *folder* accepts at a place: the words of a type, or the
    parameters of a class or function.

    Raises:
        LookupError: There is no such place any more.

    """
    module, _, path = place.partition(":")
    try:
        found: list[ast.AST] = [ast.parse((folder / f"{module}.py").read_text("utf-8"))]
    except OSError as error:
        raise LookupError(place) from error
    for name in path.split("."):  # a function with overloads is there several times
        found = [
            one
            for node in found
            for one in ast.walk(node)
            if one is not node and _name(one) == name
        ]
    if not found:
        raise LookupError(place)
    return set().union(*map(_contents, found))


def _name(node: ast.AST) -> str | None:
    if isinstance(node, ast.Assign):
        node = node.targets[0]
    elif isinstance(node, ast.AnnAssign):
        node = node.target
    return (
        getattr(node, "name", None)
        or getattr(node, "arg", None)
        or getattr(node, "id", None)
    )


def _contents(node: ast.AST) -> set[str]:
    """Return the parameters of a class or function, the values of an enumeration, or
    the words of a type.
    """
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return {argument.arg for argument in [*node.args.args, *node.args.kwonlyargs]}
    if isinstance(node, ast.ClassDef):
        if any("Enum" in ast.unparse(base) for base in node.bases):
            return _strings(
                *(part.value for part in node.body if isinstance(part, ast.Assign))
            )
        return {
            str(_name(part)) for part in node.body if isinstance(part, ast.AnnAssign)
        }
    return _strings(node)


def _strings(*nodes: ast.AST) -> set[str]:
    parts = [part for node in nodes for part in ast.walk(node)]
    return {
        part.value
        for part in parts
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def check(name: str, folder: Path) -> Differences:
    """Return which words and parameters of a provider its service's SDK does not know,
    and which words are new.
    """
    differences = Differences([], [], [])
    ours = sent(name)
    for key, place in PLACES[name].words.items():
        try:
            theirs = accepted(folder, place)
        except LookupError:
            differences.changed.append(
                f"{key}: the SDK no longer says at {place} what it accepts"
            )
            continue
        differences.changed.extend(
            f"{key}: {word!r} is not accepted" for word in sorted(ours[key] - theirs)
        )
        differences.new.extend(
            f"{key}: {word!r} is new, or never sent"
            for word in sorted(theirs - ours[key])
        )
    try:
        parameters = {
            _plain(name) for name in accepted(folder, PLACES[name].parameters)
        }
    except LookupError as error:
        differences.changed.append(f"the SDK has no {error} any more")
    else:
        differences.missing.extend(
            f"{key} is not in the SDK"
            for key in sorted(ours)
            if _plain(key) not in parameters
        )
        sent_names = {_plain(key) for key in ours}
        differences.new.extend(
            f"{parameter} is new, or never sent"
            for parameter in sorted(parameters - sent_names - {"self"})
        )
    if find_version(name, folder) != packages()[name].partition(" ")[2]:
        # a code of two letters, such as "is" or "no", is a word of any sentence
        words = {word for word in set(ours).union(*ours.values()) if len(word) > 2}
        differences.new.extend(_find_warnings(folder, PLACES[name].parameters, words))
    return differences


def _find_warnings(folder: Path, place: str, words: set[str]) -> Iterator[str]:
    """Yield the sentences of the module at *place* that say of one of our *words* that
    it is on its way out: the SDK's own documentation says so first.
    """
    path = folder / f"{place.partition(':')[0]}.py"
    if not path.exists():
        return
    warnings: dict[str, None] = {}
    for text in _texts(path):
        for match in _WARNING.finditer(text):
            if not words.isdisjoint(re.findall(r"[\w-]+", match[0])):
                warnings[match[0].strip(" '\"")] = None
    for warning in warnings:
        yield f"the SDK says: {warning}"


def _texts(path: Path) -> Iterator[str]:
    """Yield the comments of a module, and its strings after the first name of their
    statement: that is the field which they describe.
    """
    name = ""
    is_first = True  # of its statement
    with path.open("rb") as file:
        for token in tokenize.tokenize(file.readline):
            if token.type == tokenize.COMMENT:
                yield token.string
            elif token.type == tokenize.STRING:
                text = token.string.strip("'\"")
                yield " ".join(f"{name}: {text}".split())
            elif token.type == tokenize.NAME and is_first:
                name = token.string
            if token.type in _BEFORE_STATEMENT:
                is_first = True
            elif token.type not in {tokenize.COMMENT, tokenize.NL}:
                is_first = False


def _plain(name: str) -> str:
    return {"q": "query", "url": "urls"}.get(name, name.replace("_", "").lower())


def find_version(name: str, folder: Path) -> str:
    """Return the version of a provider's SDK in *folder*; empty if it is not there."""
    package = packages()[name].partition(" ")[0]
    installed = distributions(path=[str(folder)])
    return next((one.version for one in installed if one.name == package), "")


def describe(name: str, folder: Path) -> str:
    """Return which SDK a provider was compared with, now and when its adapter was
    written.
    """
    package, _, version = packages()[name].partition(" ")
    now = find_version(name, folder) or "nothing"
    return f"{name}: {package} {now}" + (
        f" (its adapter was compared with {version})" if now != version else ""
    )


if __name__ == "__main__":
    print(*(package.partition(" ")[0] for package in packages().values()))
