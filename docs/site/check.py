"""Check the site as it was built: each link leads somewhere, and each picture has a
text.
"""

from __future__ import annotations
import json
import os
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class _Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.images_without_text = 0
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        self.links += [value for name in ("href", "src") if (value := values.get(name))]
        self.ids |= {value for name in ("id", "name") if (value := values.get(name))}
        self.images_without_text += tag == "img" and not values.get("alt")


def find_problems(site: Path) -> list[str]:
    """Return what is wrong with a site, a line for each problem.

    Args:
        site: The folder with the HTML.
    """
    read = {
        path: _Page(path.read_text("utf-8"))
        for path in sorted(site.rglob("*.html"))
        if path.name != "404.html"
    }
    problems = []
    for path, page in read.items():
        name = path.relative_to(site)
        if page.images_without_text:
            problems.append(
                f"{name} has a picture without a text that says what it shows"
            )
        for link in sorted(set(page.links)):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (
                Path(os.path.normpath(path.parent / unquote(parts.path)))
                if parts.path
                else path
            )
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or site not in target.parents:
                problems.append(f"{name} links to {link}, which does not exist")
            elif (
                parts.fragment
                and target in read
                and unquote(parts.fragment) not in read[target].ids
            ):
                problems.append(f"{name} links to {link}, which has no such section")
    for path in sorted(site.rglob("llms.txt")):
        links = re.findall(r"\]\((?!https?:)([^)#\s]+)", path.read_text("utf-8"))
        gone = [link for link in links if not (path.parent / link).is_file()]
        problems += [
            f"{path.relative_to(site)} links to {link}, which does not exist"
            for link in gone
        ]
    return problems


def find_missing(index: Path, headings: Iterable[str]) -> list[str]:
    """Return the headings that the search of the site would not find, a line for each.

    Args:
        index: The file that the search reads.
        headings: The headings, as Markdown.
    """
    items = json.loads(index.read_text("utf-8"))["items"]
    titles = {re.sub(r"<[^>]*>", "", item["title"]) for item in items}
    names = [heading.replace("`", "") for heading in headings]
    return [f"the search does not find {name}" for name in names if name not in titles]
