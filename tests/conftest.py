"""No network in tests, except the loopback interface in tests marked
``enable_socket``; and hostile pages.

pytest-socket disables sockets (see ``addopts``); the mark enables them again for
127.0.0.1. Both frameworks are tested with the hostile pages.
"""

from __future__ import annotations
import gzip
import importlib
import os
import shutil
import signal
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import pytest_socket
from hypothesis import HealthCheck, settings

from tests.server import Server, closing, say_nothing
from websearch_core._browser.find import find_browser
from websearch_core.errors import ConfigurationError
from websearch_core.provider._declare import environment
from websearch_core.providers import known, provider_class

TESTS = Path(__file__).parent
IN_SDIST = not (TESTS.parent / "CONTRIBUTING.md").exists()
LONG = {"blocking", "bounds", "browser", "e2e", "faults", "soak"}  # folders
_PACKED = {"gzip": b"\x1f\x8b", "zip": b"PK"}  # how they begin
APART = LONG - {"e2e"} | {"timed"}  # folders that `make test` leaves to others
# folders that are traced for coverage
COVERING = {"browser", "core", "e2e", "langchain", "llamaindex"}
# what is tested as it comes, with the processes that read pages
FENCED = (
    "benchmarks",
    "blocking",
    "bounds",
    "e2e",
    "faults",
    "soak",
    "timed",
    "core/reading/isolation",
    "core/test_contract.py",
    "core/test_fence.py",
)
KEYS = {
    name
    for provider in known()
    for names in environment(provider_class(provider)).values()
    for name in names
}

# The same examples every time, however slow the machine, so that every run has the same
# outcome. `make fuzz` draws new ones.
settings.register_profile(
    "same",
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "fuzz",
    settings.get_profile("same"),
    derandomize=False,
    max_examples=1_000,
    print_blob=True,
)
settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Give each run a temporary folder of its own.

    pytest's own is one for all checkouts of a user: two runs that end at once remove the
    same old folders, and a warning about that is an error here. xdist tells its workers
    where the folder is.
    """
    if config.option.basetemp is None:
        config.option.basetemp = tempfile.mkdtemp(prefix="websearch-tests-")
        config.add_cleanup(
            partial(shutil.rmtree, config.option.basetemp, ignore_errors=True)
        )


def pytest_sessionstart() -> None:
    """Let tests interrupt programs. When wheels are tested, make sure that all or the
    named packages come from them.
    """
    # as in what a shell runs in the background
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # programs that tests start would ignore it too
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if named := os.environ.get("WEBSEARCH_REQUIRE_WHEELS"):
        packages = (
            "websearch_core langchain_websearch llamaindex_websearch"
            if named == "all"
            else named
        )
        for package in packages.split():
            found = importlib.import_module(package).__file__ or ""
            if Path(sysconfig.get_path("purelib")) not in Path(found).parents:
                raise pytest.UsageError(
                    f"{package} comes from {found}, not from an installed wheel: make wheels"
                )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the folders whose files take long: at the end, one worker would be
    left with such a file.

    Tracing for coverage more than doubles the time of a test. Those that repeat what
    others do once go without it, as do those that hypothesis runs with a hundred
    examples.
    """
    folders = {
        path: path.relative_to(TESTS).parts for path in {item.path for item in items}
    }
    items.sort(key=lambda item: not LONG.intersection(folders[item.path]))
    for item in items:
        if IN_SDIST and item.get_closest_marker("repository"):
            item.add_marker(pytest.mark.skip(reason="reads files of the repository"))
        if folders[item.path][0] in APART and not item.get_closest_marker("smoke"):
            item.add_marker("apart")
        if folders[item.path][0] not in COVERING or getattr(
            getattr(item, "obj", None), "is_hypothesis_test", False
        ):
            item.add_marker("no_cover")


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name what is packed by its kind: its bytes have the time in them, and all workers
    must find the same names.
    """
    if isinstance(val, bytes):
        return next((kind for kind, sign in _PACKED.items() if val[:2] == sign), None)
    return None


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Give each worker files, and one of them all that start a browser: several
    browsers at once starve each other.
    """
    # not in every environment of the Makefile
    from xdist.scheduler import LoadFileScheduling

    class OneBrowser(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return (
                "tests/browser"
                if nodeid.startswith("tests/browser/")
                else super()._split_scope(nodeid)
            )

    return OneBrowser(config, log) if config.option.dist == "loadfile" else None


@pytest.hookimpl(trylast=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("enable_socket"):
        pytest_socket.socket_allow_hosts(
            ["127.0.0.0/8", "::1"], allow_unix_socket=True
        )  # all of them loopback


@pytest.fixture(autouse=True)
def _read_pages_here(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Read pages in this process, where the patches of a test reach, and which takes no
    third of a second to start: as ``isolate=False`` does, except where the way to
    another process is what is tested. ``isolate="require"`` takes that way anywhere.
    """
    path = request.path.relative_to(TESTS).as_posix()
    if path.startswith(FENCED):
        return
    from websearch_core.reading._isolation import fence

    def run(ask: Any, instead: Any, parsing: Any) -> Any:
        if parsing.isolate == "require":
            return pool_run(ask, instead, parsing)
        return instead()

    pool_run = fence.run
    monkeypatch.setattr(fence, "run", run)
    monkeypatch.setattr(fence, "MAX_HERE", sys.maxsize)
    # nothing is to be started while the page is on its way, or by the doctor
    monkeypatch.setattr("websearch_core.reading.find_problem", lambda: "")
    monkeypatch.setattr("websearch_core.provider._reading.submit", lambda work: None)


@pytest.fixture(autouse=True)
def _end_processes() -> Iterator[None]:
    """End the processes that read pages: an idle one would take the next test's page,
    beyond the reach of its patches.
    """
    yield
    if pool := sys.modules.get("websearch_core.reading._isolation.pool"):
        pool._pool.end()


@pytest.fixture(autouse=True)
def _hide_what_is_the_users(
    monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Hide the keys, proxies and files of the user who runs the tests: settings, cache,
    index and what was used today.
    """
    for name in [
        *KEYS,
        *(name for name in os.environ if name.startswith("WEB_SEARCH_")),
    ]:
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    user = tmp_path_factory.mktemp("user")
    for name in (
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
        "XDG_CACHE_HOME",
        "APPDATA",
        "LOCALAPPDATA",
    ):
        monkeypatch.setenv(name, str(user / name))  # made by whoever writes there
    (user / "cwd").mkdir()
    monkeypatch.chdir(user / "cwd")


@pytest.fixture(autouse=True)
def _hide_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Start a browser only where a test names the reader ``browser``, whether this
    machine has one or not.
    """

    def find_named(path: object, *rest: object) -> object:
        if path is None:
            raise ConfigurationError("tests start no browser that they do not name")
        return find_browser(path, *rest)

    monkeypatch.setattr("websearch_core.providers.browser.find_browser", find_named)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Fail tests that skip because a peer is missing, if the peers are required."""
    report = yield
    if (
        report.skipped
        and item.get_closest_marker("e2e")
        and os.environ.get("WEBSEARCH_REQUIRE_PEERS")
    ):
        report.outcome = "failed"
        report.longrepr = f"skipped where it must not be: {report.longrepr}"
    return report


class HostilePage(NamedTuple):
    """
    A page that must fail safely.

    Args:
        url: Where it is, on this machine.
        expected: What the model gets: the beginning of an error, or a part of the text.
        failed: Whether the model gets an error.
        timeout: How many seconds a reader should wait for it.

    """

    url: str
    expected: str
    failed: bool
    timeout: float


_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
_PAGE = b"<title>Kelp</title><p>Brown algae of the northern seas."
_SECRET = b"<p>Password: hunter2 at 10.1.2.3"
_HOSTILE: dict[str, tuple[bytes | None, str]] = {  # None: no response
    "a page": (_HEAD + b"\r\n" + _PAGE, "Brown algae"),
    "two members of gzip": (
        _HEAD
        + b"Content-Encoding: gzip\r\n\r\n"
        + gzip.compress(_PAGE[:30])
        + gzip.compress(_PAGE[30:]),
        "Brown algae",
    ),
    "a bomb": (
        _HEAD
        + b"Content-Encoding: gzip\r\n\r\n"
        + gzip.compress(b"<p>" + b"boom " * 2_200_000),
        "boom",
    ),
    "nested": (_HEAD + b"\r\n" + b"<div>" * 100_000 + _PAGE, "Brown algae"),
    "not found": (
        b"HTTP/1.1 404 Not Found\r\n\r\n" + _SECRET,
        "ERROR [page_not_found]",
    ),
    "an error page": (b"HTTP/1.1 500 Oops\r\n\r\n" + _SECRET, "ERROR [unavailable]"),
    "forbidden": (b"HTTP/1.1 403 Forbidden\r\n\r\n" + _SECRET, "ERROR [blocked]"),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", "ERROR [bad_response]"),
    "a redirect inside": (
        b"HTTP/1.1 302 Found\r\nLocation: http://10.1.2.3/\r\n\r\n",
        "ERROR [unsafe_url]",
    ),
    "brotli": (_HEAD + b"Content-Encoding: br\r\n\r\nxxx", "ERROR [bad_response]"),
    "cut off": (_HEAD + b"Content-Length: 999\r\n\r\n" + _PAGE, "Brown algae"),
    "no HTTP": (_SECRET, "ERROR [unavailable]"),
    "a video": (_HEAD + b"\r\n\0\0\0\x18ftypmp42", "ERROR [unsupported_content]"),
    "silence": (None, "ERROR [timed_out]"),
}


@pytest.fixture(params=_HOSTILE)
def hostile_page(request: pytest.FixtureRequest) -> Iterator[HostilePage]:
    """Serve each of the hostile pages, byte for byte, once per connection."""
    answer, expected = _HOSTILE[request.param]
    with Server([closing(answer) if answer is not None else say_nothing]) as server:
        yield HostilePage(
            f"{server.url}/",
            expected,
            failed=expected.startswith("ERROR"),
            timeout=0.5 if answer is None else 60,
        )
