"""Build the site: ``make docs-site``."""

from __future__ import annotations
import argparse
import os
import subprocess
import sys
from pathlib import Path

from docs.site import check, names, pages


def main() -> int:
    """Write the pages, run the tool, and check what it wrote."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--tools", required=True, help="the environment that Zensical is in"
    )
    parser.add_argument(
        "--repository",
        default="",
        help="its URL; by default that of CI, or of the remote origin",
    )
    options = parser.parse_args()
    repository = pages.find_repository(options.repository)
    pages.prepare(repository)
    done = subprocess.run(
        [Path(options.tools).absolute() / "bin" / "zensical", "build", "--strict", "--config-file", "mkdocs.yml"],
        cwd=pages.BUILT, env=os.environ | {"PYTHONPATH": str(pages.ROOT)}, text=True,
        check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    problems = [line for line in done.stdout.splitlines() if line.startswith("griffe:")]
    if done.returncode:
        problems.append(done.stdout)
    else:
        pages.publish_markdown()
        html = pages.BUILT / "html"
        problems += check.find_problems(html)
        problems += check.find_missing(html / "search.json", names.list_headings())
    print(
        "\n".join(problems)
        or f"The site is in {pages.BUILT.relative_to(pages.ROOT)}/html."
    )
    if not repository:
        print(
            "Links to the repository are plain text: make docs-site "
            "REPOSITORY=https://... says where it is."
        )
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
