"""Copy documentation into ``build/site``, with links that lead somewhere from there,
and write the reference.
"""

from __future__ import annotations
import ast
import importlib
import inspect
import json
import os
import re
import shutil
import subprocess
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel

from docs.generators.docstrings import read_args
from docs.generators.reference import MODULES, find_homes
from docs.site import names

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BUILT = ROOT / "build" / "site"
SETTINGS = Path(__file__).with_name("mkdocs.yml")
SOURCES = ("core/src", "langchain_websearch/src", "llamaindex_websearch/src")
# Pages that stand elsewhere in the repository, because packages have them too.
GUESTS = {
    "langchain.md": "langchain_websearch/README.md",
    "llamaindex.md": "llamaindex_websearch/README.md",
}
REFERENCE = "reference"
NAMES = "names.md"  # for the search: it has no file in docs/
_PUBLISHED = {".md", ".svg", ".txt"}
_OURS = DOCS / "site"  # the pages' tools: no documentation
_LINK = re.compile(
    r"!?\[(?P<text>(?:[^\[\]]|\[[^\[\]]*\])*)\]\((?P<target>[^)\s]+)(?:\s[^)]*)?\)"
)
_PACKAGES = {"websearch_core", "langchain_websearch", "llamaindex_websearch"}
_MAX_DEFAULT = 80  # characters; of a longer one, the reference has only an ellipsis
_FENCE = re.compile(r"^ *(```+|~~~+)")


def prepare(repository: str) -> None:
    """Write all that the tool needs into ``build/site``.

    Args:
        repository: The URL of a file in the repository, up to its path. If empty, links
            there become plain text.
    """
    shutil.rmtree(BUILT, ignore_errors=True)
    sources = find_pages()
    settings = load_settings()
    folders = {one.rstrip("/") for one in walk(settings["nav"]) if one.endswith("/")}
    written: dict[str, str] = {}
    for name, source in sources.items():
        if source.suffix == ".md":
            text = source.read_text("utf-8")
            written[name] = move_links(text, source, sources, repository)
            written[name] += link_source(source, repository)
    written["api.md"] = link_names(written["api.md"])
    written |= write_reference()
    written[NAMES] = names.write_page()
    written |= {
        f"{folder}/index.md": write_index(folder, written) for folder in folders
    }
    settings["nav"] = expand(settings["nav"], written)
    python = next(
        one["mkdocstrings"] for one in settings["plugins"] if "mkdocstrings" in one
    )["handlers"]["python"]
    python["paths"] = [str(ROOT / one) for one in SOURCES]
    python["options"]["extensions"] = [
        {str(_OURS / "docstrings.py"): {"facts": str(BUILT / "facts.json")}}
    ]
    for name, text in written.items():
        target = BUILT / "pages" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")
    copied = {
        name: source for name, source in sources.items() if source.suffix != ".md"
    }
    copied |= {name: _OURS / name for name in ("site.css", "site.js")}
    for name, source in copied.items():
        target = BUILT / "pages" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
    (BUILT / "facts.json").write_text(json.dumps(find_facts()), "utf-8")
    (BUILT / "mkdocs.yml").write_text(
        yaml.safe_dump(settings, sort_keys=False), "utf-8"
    )


def find_pages() -> dict[str, Path]:
    """Return the files to publish: their names on the site, and where they are."""
    excluded = set(load_settings()["exclude_docs"].split())
    names = {
        str(path.relative_to(DOCS)): path
        for path in sorted(DOCS.rglob("*"))
        if path.suffix in _PUBLISHED
    }
    own = {
        name: path
        for name, path in names.items()
        if _OURS not in path.parents and name not in excluded
    }
    return own | {name: ROOT / path for name, path in GUESTS.items()}


def publish_markdown() -> None:
    """Put each page as Markdown beside its HTML, where ``llms.txt`` links to it; not
    the reference, which has none.
    """
    for name in find_pages():
        if name.endswith(".md"):
            shutil.copyfile(BUILT / "pages" / name, BUILT / "html" / name)


def find_repository(given: str = "") -> str:
    """Return the URL of a file in the repository, up to its path, or nothing if it is
    unknown.

    Args:
        given: The URL of the repository; by default, what CI says, or the remote
            ``origin`` of Git.
    """
    url = given
    if not url and (name := os.environ.get("GITHUB_REPOSITORY")):
        url = f"{os.environ.get('GITHUB_SERVER_URL', 'https://github.com')}/{name}"
    if not url:
        asked = ["git", "config", "--get", "remote.origin.url"]
        url = subprocess.run(
            asked, cwd=ROOT, capture_output=True, text=True, check=False
        ).stdout.strip()
        url = re.sub(r"^(?:ssh://)?git@([^:/]+)[:/]", r"https://\1/", url)
    if not url.startswith("https://"):
        return ""
    return f"{url.removesuffix('/').removesuffix('.git')}/blob/HEAD/"


def load_settings() -> dict[str, Any]:
    """Return what ``mkdocs.yml`` says."""
    loaded: dict[str, Any] = yaml.safe_load(SETTINGS.read_text("utf-8"))
    return loaded


def walk(nav: list[Any]) -> Iterator[str]:
    """Yield the pages and folders that a navigation names."""
    for entry in nav:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            if isinstance(value, list):
                yield from walk(value)
            else:
                yield value


def expand(nav: list[Any], pages: Mapping[str, str]) -> list[Any]:
    """Return a navigation in which each folder is a section of its pages, its index
    first.
    """
    done: list[Any] = []
    for entry in nav:
        ((title, value),) = entry.items()
        if isinstance(value, list):
            done.append({title: expand(value, pages)})
        elif value.endswith("/"):
            inside = [
                name
                for name in pages
                if name.startswith(value) and name != f"{value}index.md"
            ]
            inside.sort(key=lambda name: _order(name, pages))
            titles = [
                find_title(pages[name]).removeprefix("websearch_core.")
                for name in inside
            ]
            done.append(
                {
                    title: [
                        f"{value}index.md",
                        *(
                            {one: name}
                            for one, name in zip(titles, inside, strict=True)
                        ),
                    ]
                }
            )
        else:
            done.append(entry)
    return done


def _order(name: str, pages: Mapping[str, str]) -> tuple[int, str]:
    """Return where a page stands among those of its folder: modules as in the
    reference, others by name.
    """
    module = name.removeprefix(f"{REFERENCE}/").removesuffix(".md")
    return (MODULES.index(module), "") if module in MODULES else (len(pages), name)


def find_title(page: str) -> str:
    """Return the first heading of a page as plain text."""
    found = re.search(r"^# (.*)", page, re.MULTILINE)
    if found is None:
        raise ValueError(f"a page has no heading: {page[:60]!r}")
    return re.sub(r"[`*]", "", found[1]).strip()


def write_index(folder: str, pages: Mapping[str, str]) -> str:
    """Return a page that lists the others of its folder."""
    title = {
        "changing": "For contributors",
        "decisions": "Decisions",
        REFERENCE: "Modules",
    }[folder]
    inside = sorted(
        (name for name in pages if name.startswith(f"{folder}/")),
        key=lambda name: _order(name, pages),
    )
    lines = [
        f"- [{find_title(pages[name])}]({name.removeprefix(f'{folder}/')})"
        for name in inside
    ]
    return f"# {title}\n\n" + "\n".join(lines) + "\n"


def move_links(
    text: str, source: Path, pages: Mapping[str, Path], repository: str
) -> str:
    """Return a page whose links lead to another page of the site, or to the repository.

    Args:
        text: The page.
        source: Where it stands in the repository.
        pages: What is published: names on the site, and where each file is.
        repository: See `prepare`.
    """
    names = {path: name for name, path in pages.items()}
    here = Path(names[source]).parent

    def move(link: re.Match[str]) -> str:
        target, hash_, anchor = link["target"].partition("#")
        if not target or re.match(r"[a-z][a-z0-9+.-]*:", target):
            return link[0]
        path = Path(os.path.normpath(source.parent / target))
        if not path.exists():
            raise FileNotFoundError(
                f"{source.relative_to(ROOT)} links to {target}, which does not exist"
            )
        if path in names:
            target = os.path.relpath(names[path], here)
        elif (
            path.is_dir()
            and path.parent == DOCS
            and any(path in one.parents for one in names)
        ):
            target = os.path.relpath(f"{path.name}/index.md", here)
        elif repository:
            target = f"{repository}{path.relative_to(ROOT)}"
        else:
            return link["text"]
        return link[0].replace(f"]({link['target']}", f"]({target}{hash_}{anchor}", 1)

    return "".join(
        part if is_code else _LINK.sub(move, part) for part, is_code in _split(text)
    )


def link_source(source: Path, repository: str) -> str:
    """Return a link to where a page can be edited, or nothing without a repository."""
    if not repository:
        return ""
    place = repository.replace("/blob/HEAD/", "/edit/HEAD/")
    return f"\n[Edit this page]({place}{source.relative_to(ROOT)}){{ .edit }}\n"


def _split(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of a page, and whether each is a block of code."""
    fence, part = "", ""
    for line in text.splitlines(keepends=True):
        found = _FENCE.match(line)
        if found and not fence:
            yield part, False
            fence, part = found[1], line
        elif found and found[1].startswith(fence) and fence:
            yield part + line, True
            fence, part = "", ""
        else:
            part += line
    yield part, bool(fence)


def link_names(page: str) -> str:
    """Return the list of public names with a link from each to its entry in the
    reference.
    """
    module = ""
    lines = []
    for line in page.splitlines():
        if line.startswith("## "):
            module = line.removeprefix("## ")
            line = f"{line}\n\n[All of `{module}`]({REFERENCE}/{module}.md)"  # noqa: PLW2901 - one line becomes three
        elif re.fullmatch(r"- `\w+`(, `\w+`)*", line):
            line = re.sub(r"`(\w+)`", rf"[`\1`][{module}.\1]", line)  # noqa: PLW2901 - each becomes a link
        elif found := re.match(r"- (`(\w+)[^`]*`)(?!.*: see \[)(.*)", line):
            line = f"- [{found[1]}][{module}.{found[2]}]{found[3]}"  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines) + "\n"


def write_reference() -> dict[str, str]:
    """Return a page for each public module, with its names that no earlier module
    has.
    """
    homes = find_homes()
    pages = {}
    for name in MODULES:
        names = importlib.import_module(name).__all__
        own = [one for one in names if homes[name, one] == name]
        others = [
            f"[`{one}`][{homes[name, one]}.{one}]"
            for one in names
            if homes[name, one] != name
        ]
        page = (
            f"# {name}\n\n::: {name}\n    options:\n      members: {json.dumps(own)}\n"
        )
        if name.endswith(".errors"):
            page += "      show_bases: true\n"
        if others:
            page += f"\nAlso here: {', '.join(others)}.\n"
        pages[f"{REFERENCE}/{name}.md"] = page
    return pages


def find_facts() -> dict[str, Any]:
    """Return what the sources do not show: the arguments of classes that are made by a
    decorator or a framework.

    ``names`` has, for each package, the place of its public names in the reference, and
    ``classes`` the arguments of each public class: name, kind, annotation and default.
    """
    classes = {}
    names: dict[str, dict[str, str]] = {}
    for (module, name), home in find_homes().items():
        value = getattr(importlib.import_module(module), name)
        names.setdefault(module.partition(".")[0], {})[name] = f"{home}.{name}"
        if home == module and isinstance(value, type):
            classes[f"{value.__module__}.{value.__qualname__}"] = list(
                _arguments(value)
            )
    return {"names": names, "modules": list(MODULES), "classes": classes}


def _arguments(cls: type[Any]) -> Iterator[tuple[str, str, str, str | None]]:
    if typing.is_typeddict(cls):
        yield from (
            (name, "KEYWORD_ONLY", _annotation(type_), "...")
            for name, type_ in cls.__annotations__.items()
        )
        return
    try:
        parameters = dict(inspect.signature(cls).parameters)
    except ValueError:  # built into Python, such as an exception
        return
    # pydantic leaves some of its arguments out
    if "__init__" in vars(cls) and issubclass(cls, BaseModel):
        _, *given = inspect.signature(vars(cls)["__init__"]).parameters.values()
        parameters |= {one.name: one for one in given}
    documented = read_args(cls)
    for one in sorted(parameters.values(), key=lambda one: one.kind):
        homes = [
            base
            for base in cls.__mro__
            if one.name in vars(base).get("__annotations__", ())
        ]
        is_ours = not homes or homes[0].__module__.partition(".")[0] in _PACKAGES
        if one.name.startswith("_") or not (is_ours or one.name in documented):
            continue  # LangChain's and LlamaIndex's own fields
        is_source = isinstance(one.annotation, str) or not homes
        annotation = one.annotation if is_source else homes[0].__annotations__[one.name]
        default = None if one.default is one.empty else repr(one.default)
        is_readable = default is None or (
            len(default) < _MAX_DEFAULT and not re.search(r"<|Undefined", default)
        )
        yield (
            one.name,
            one.kind.name,
            _annotation(annotation),
            default if is_readable else "...",
        )
    others = _find_others(cls)
    # A decorator shows them one by one; the docstring says whose they are.
    if others in documented and others not in parameters:
        yield others, "VAR_KEYWORD", "Any", None


def _find_others(cls: type[Any]) -> str:
    """Return the name of the argument that takes all further ones, if there is one."""
    init = vars(cls).get("__init__")
    if init is None:
        return ""
    code = getattr(inspect.unwrap(init), "__code__", None)
    if code is None or not code.co_flags & inspect.CO_VARKEYWORDS:
        return ""
    before = code.co_argcount + code.co_kwonlyargcount
    before += bool(code.co_flags & inspect.CO_VARARGS)
    return str(code.co_varnames[before])


def _annotation(annotation: Any) -> str:
    """Return a type as in the source, without notes for programs and names of
    modules.
    """
    if annotation is inspect.Parameter.empty:
        return ""
    annotation = getattr(annotation, "__forward_arg__", annotation)
    text = (
        annotation
        if isinstance(annotation, str)
        else inspect.formatannotation(annotation)
    )
    try:
        return ast.unparse(_Plain().visit(ast.parse(text, mode="eval")))
    except SyntaxError:
        return text


class _Plain(ast.NodeTransformer):
    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        self.generic_visit(node)
        if (
            isinstance(node.value, ast.Name)
            and node.value.id == "Annotated"
            and isinstance(node.slice, ast.Tuple)
        ):
            return node.slice.elts[0]
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        return ast.Name(node.attr)
