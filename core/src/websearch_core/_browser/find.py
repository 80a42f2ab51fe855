"""Find an installed Chromium: Chromium itself, Chrome, Edge, or its headless shell,
which needs the least memory.
"""

from __future__ import annotations
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from ..errors import ConfigurationError

# The versions that the suite of attacks passed with: a new one can open a way around
# the gate.
PROVEN = ("156.0.8078.79",)

_VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){3}")
INSTALL = (
    "Debian and Ubuntu: apt-get install chromium-headless-shell chromium-sandbox (or "
    "chromium); "
    "macOS: brew install --cask chromium, or Google Chrome; "
    "Windows: Google Chrome, or Edge, which is there already; "
    "any system, and containers: npx playwright install --with-deps --only-shell "
    "chromium"
)

# Debian's /usr/bin/chromium is a script that adds flags of the system; the program
# itself is beside its data.
_LINUX = (
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/headless_shell",
    "/usr/lib64/chromium-browser/chromium-browser",
    "/opt/google/chrome/chrome",
    "/opt/microsoft/msedge/msedge",
)
_ON_PATH = (
    *("chromium-headless-shell", "headless_shell", "chromium", "chromium-browser"),
    *(
        "google-chrome",
        "google-chrome-stable",
        "microsoft-edge",
        "microsoft-edge-stable",
    ),
)
_MAC = (
    "Chromium.app/Contents/MacOS/Chromium",
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
)
_WINDOWS = (
    r"Chromium\Application\chrome.exe",
    r"Google\Chrome\Application\chrome.exe",
    r"Microsoft\Edge\Application\msedge.exe",
)
_PLAYWRIGHT = (  # newest first, once sorted; the shell before the whole browser
    "chromium_headless_shell-*/*/*headless*shell*",
    "chromium-*/*/chrome",
    "chromium-*/*/chrome.exe",
    "chromium-*/*/*.app/Contents/MacOS/*",
)


def find_browser(
    path: Path | str | None = None, *, platform: str = sys.platform
) -> Path:
    """Return the program to start: *path*, or one that is installed. The error for none
    says how to get one.
    """
    if path is not None:
        program = Path(path)
        if not _is_program(program):
            raise ConfigurationError(f"browser_path: {path} is not a program")
        return program
    for candidate in _candidates(platform):
        if _is_program(candidate):
            return candidate
    raise ConfigurationError(
        f"the reader browser needs Chromium, Chrome or Edge, and found none. {INSTALL}"
    )


def read_version(path: Path) -> str | None:
    """Return the version of a browser, such as ``156.0.8078.79``; None if it does not
    say.
    """
    # there, --version opens a window; the folder beside the program has that name
    if sys.platform == "win32":
        if not path.parent.is_dir():
            return None
        names = [entry.name for entry in path.parent.iterdir()]
        return next((name for name in names if _VERSION.fullmatch(name)), None)
    try:
        output = subprocess.run(  # noqa: S603
            [path, "--version"], capture_output=True, timeout=10, check=False
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    match = _VERSION.search(output.decode("utf-8", "replace"))
    return match[0] if match else None


def _candidates(platform: str) -> Iterator[Path]:
    if platform == "win32":
        roots = [
            os.environ.get(name)
            for name in ("LOCALAPPDATA", "PROGRAMFILES", "PROGRAMFILES(X86)")
        ]
        for program in _WINDOWS:
            yield from (Path(root, program) for root in roots if root)
    elif platform == "darwin":
        folders = (Path("/Applications"), Path.home() / "Applications")
        for program in _MAC:
            yield from (folder / program for folder in folders)
    else:
        yield from map(Path, _LINUX)
        for name in _ON_PATH:
            location = shutil.which(name)
            if location:
                yield Path(location)
    yield from _find_in_playwright(platform)


def _find_in_playwright(platform: str) -> Iterator[Path]:
    """Yield the browsers that Playwright has downloaded, as many containers have
    them.
    """
    folders = {
        "win32": Path(os.environ.get("LOCALAPPDATA", ""), "ms-playwright"),
        "darwin": Path.home() / "Library" / "Caches" / "ms-playwright",
    }
    chosen = os.environ.get("PLAYWRIGHT_BROWSERS_PATH", "")
    folder = (
        Path(chosen)
        if chosen not in {"", "0"}
        else folders.get(platform, Path.home() / ".cache/ms-playwright")
    )
    for pattern in _PLAYWRIGHT:
        yield from sorted(folder.glob(pattern), reverse=True)


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
