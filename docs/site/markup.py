"""From the reStructuredText of docstrings to Markdown: its literal blocks and names,
which is all that they use.
"""

from __future__ import annotations
import re
from collections.abc import Callable

_BLOCK = re.compile(
    r"^(?P<indent> *)(?P<lead>.*?)::\n\n(?P<code>(?:(?P=indent)(?: {2,}).*\n?|\n)+)",
    re.MULTILINE,
)
_NAME = re.compile(r"(?<![`\w\[])`([A-Za-z_][\w.]*)(\(\))?`(?![`\w])")


def to_markdown(text: str, find: Callable[[str], str | None]) -> str:
    """Return a docstring as Markdown.

    Args:
        text: The docstring.
        find: Returns where a name is described, or None; such a name in single
            backticks becomes a link.
    """
    text = _BLOCK.sub(_fence, text)
    parts = re.split(r"(^ *```.*?^ *```$)", text, flags=re.MULTILINE | re.DOTALL)
    parts[::2] = [
        _NAME.sub(lambda name: _link(name, find), part) for part in parts[::2]
    ]
    return "".join(parts)


def _fence(block: re.Match[str]) -> str:
    code = block["code"].rstrip("\n")
    after = block["code"][len(code) :]
    margin = min(
        len(line) - len(line.lstrip()) for line in code.splitlines() if line.strip()
    )
    lines = [f"{block['indent']}{line[margin:]}".rstrip() for line in code.splitlines()]
    lead = f"{block['indent']}{block['lead']}:\n\n" if block["lead"].strip() else ""
    language = (
        "python"
        if _is_python("\n".join(line[margin:] for line in code.splitlines()))
        else "text"
    )
    fenced = [f"{block['indent']}```{language}", *lines, f"{block['indent']}```"]
    return lead + "\n".join(fenced) + after


def _is_python(code: str) -> bool:
    try:
        # with await at the top level
        compile(code, "docstring", "exec", flags=0x2000, dont_inherit=True)
    except SyntaxError:
        return False
    return True


def _link(name: re.Match[str], find: Callable[[str], str | None]) -> str:
    place = find(name[1])
    if place is None:
        return name[0]
    return f"[`{name[1]}{name[2] or ''}`]" + (
        f"({place})" if place.endswith(".md") else f"[{place}]"
    )
