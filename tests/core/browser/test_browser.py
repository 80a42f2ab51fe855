"""Finding, starting and driving a browser, with programs of a few lines in its
place.
"""

from __future__ import annotations
import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from websearch_core._browser import find, launch, profile
from websearch_core._browser.find import find_browser, read_version
from websearch_core._browser.launch import Launch, Process
from websearch_core._browser.pipe import CommandFailed, Connection, Gone
from websearch_core.errors import ConfigurationError, Unavailable
from websearch_core.providers import Browser

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="starts shell scripts")


@pytest.fixture
def program(tmp_path_factory):
    """``program(text)`` makes a shell script."""

    def make(text):
        path = tmp_path_factory.mktemp("program") / "chromium"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return path

    return make


def test_the_chosen_program_is_taken_or_an_error(program, tmp_path):
    path = program("exit 0")

    assert find_browser(path) == path
    for bad in (tmp_path / "none", tmp_path):
        with pytest.raises(
            ConfigurationError, match="browser_path: .* is not a program"
        ):
            find_browser(bad)


@pytest.mark.parametrize("platform", ["linux", "darwin", "win32"])
def test_without_a_browser_the_error_says_how_to_get_one(
    platform, monkeypatch, tmp_path
):
    monkeypatch.setattr(find, "_is_program", lambda _: False)
    monkeypatch.setenv("PROGRAMFILES", str(tmp_path))
    monkeypatch.delenv("PLAYWRIGHT_BROWSERS_PATH", raising=False)

    with pytest.raises(
        ConfigurationError,
        match="found none. Debian and Ubuntu: apt-get install .* Windows: .* containers: ",
    ):
        find_browser(platform=platform)


def test_browsers_of_playwright_are_found_the_newest_shell_first(monkeypatch, tmp_path):
    names = ("chromium-1180/chrome-linux/chrome", *(
        f"chromium_headless_shell-{n}/chrome-linux/headless_shell" for n in (1179, 1180)
    ))  # fmt: skip
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.touch(mode=0o755)
    monkeypatch.setattr(find, "_LINUX", ())
    monkeypatch.setattr(find, "_ON_PATH", ())
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path))

    assert find_browser(platform="linux") == tmp_path / names[2]


def test_a_missing_browser_is_a_problem_that_is_shown(tmp_path):
    assert "is not a program" in (Browser(browser_path=tmp_path).problem() or "")


def test_flags_close_every_way_around_the_proxy():
    flags = Launch().make_flags("http://127.9.9.9:1", "127.9.9.9", "/profile")

    for needed in (
        "--proxy-server=http://127.9.9.9:1",
        "--proxy-bypass-list=<-loopback>",
        "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.9.9.9",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--disable-quic",
        "--remote-debugging-pipe",
        "--blink-settings=imagesEnabled=false",
    ):
        assert needed in flags
    assert not [
        flag
        for flag in flags
        if flag.startswith(("--no-sandbox", "--remote-debugging-port", "--ignore-cert"))
    ]
    assert "--no-sandbox" in Launch(sandbox=False).make_flags("", "", "")
    assert "--disable-remote-fonts" not in Launch(images=True).make_flags("", "", "")


def test_no_flag_switches_a_protection_of_the_browser_off():
    """One needs a test of `tests/browser` that fails without it; none has one."""
    flags = [one for one in Launch().make_flags("", "", "") if one.startswith("--dis")]

    protections = ("flood", "hang", "popup", "repost", "throttl", "background")
    switched_off = [flag for flag in flags if any(word in flag for word in protections)]
    assert set(switched_off) == {
        # these stop the browser's own requests
        "--disable-background-networking",
        "--disable-component-extensions-with-background-pages",
    }


def test_a_browser_sees_nothing_of_our_environment(monkeypatch):
    monkeypatch.setenv("TAVILY_API_KEY", "SECRET")
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example")

    environment = launch._make_environment("/profile")

    assert {"TAVILY_API_KEY", "HTTPS_PROXY"}.isdisjoint(environment)
    assert environment["HOME"] == "/profile"


def test_root_starts_it_as_nobody(monkeypatch):
    import pwd

    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert launch._find_user() == (
        pwd.getpwnam("nobody").pw_uid,
        pwd.getpwnam("nobody").pw_gid,
    )

    def unknown(_):
        raise KeyError

    monkeypatch.setattr(pwd, "getpwnam", unknown)
    with pytest.raises(ConfigurationError, match="run as another user"):
        launch._find_user()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert launch._find_user() is None


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ("No usable sandbox! If you are on Ubuntu ...", ConfigurationError),
        ("Segmentation fault", Unavailable),
    ],
)
def test_a_browser_that_ends_at_once_says_why(program, said, error, monkeypatch):
    monkeypatch.setattr(launch, "_find_user", lambda: None)
    process = Process(
        Launch(path=program(f"echo '{said}' >&2; exit 1")),
        "http://127.0.0.1:1",
        "127.0.0.1",
    )
    os.close(process.read_fd)
    os.close(process.write_fd)
    process.popen.wait()
    process._log.join()
    process.end()

    assert type(process.explain()) is error
    assert not Path(process.profile).exists()


def test_a_program_that_cannot_be_started_leaves_no_files(tmp_path, monkeypatch):
    path = tmp_path / "chromium"
    path.write_text("")
    path.chmod(0o755)
    monkeypatch.setattr(
        profile.tempfile, "mkdtemp", lambda prefix: str(tmp_path / "profile")
    )
    (tmp_path / "profile").mkdir()

    def fail(*_, **__):
        raise PermissionError(13, "no")

    monkeypatch.setattr(launch.subprocess, "Popen", fail)

    with pytest.raises(
        Unavailable, match="the browser cannot be started: Permission denied"
    ):
        Process(Launch(path=path), "", "")
    assert not (tmp_path / "profile").exists()


KILLED = """
import os, sys
from websearch_core._browser.profile import Profile
profile = Profile()
profile.hand_over(None)
print(profile.path, flush=True)
sys.stdin.readline()
os._exit(1)
"""


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr(profile.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(profile.tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_files_that_a_killed_program_left_are_removed_by_the_next(temporary):
    with subprocess.Popen(
        [sys.executable, "-c", KILLED],
        env={**os.environ, "TMPDIR": str(temporary)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        left = Path(program.stdout.readline().strip())
        (left / "Default").mkdir()
        (left / "Default" / "Cookies").write_text("x")

        profile.remove_abandoned()
        assert left.parent == temporary
        assert left.exists()  # it is in use
        program.communicate("end\n")

    profile.remove_abandoned()
    assert not left.exists()


def test_folders_of_others_that_are_called_alike_stay(temporary):
    for name in ("without", "link", "linked"):
        (temporary / f"websearch-browser-{name}").mkdir()
    (temporary / "websearch-browser-file").write_text("mine")
    (temporary / "own").write_text("mine")
    link = temporary / "websearch-browser-link" / "websearch.lock"
    link.symlink_to(temporary / "own")
    (temporary / "elsewhere").mkdir()
    (temporary / "elsewhere" / "websearch.lock").write_text("")
    (temporary / "websearch-browser-to").symlink_to(temporary / "elsewhere")
    before = sorted(temporary.rglob("*"))

    profile.remove_abandoned()

    assert sorted(temporary.rglob("*")) == before


class Peer:
    """The browser's ends of a pair of pipes."""

    def __init__(self):
        self.theirs, self._write = os.pipe()
        self._read, self.ours = os.pipe()

    def hear(self):
        data = b""
        while not data.endswith(b"\0"):
            data += os.read(self._read, 1)
        return json.loads(data[:-1])

    def say(self, *messages):
        for message in messages:
            data = (
                message
                if isinstance(message, bytes)
                else json.dumps(message).encode() + b"\0"
            )
            os.write(self._write, data)

    def close(self):
        os.close(self._write)
        os.close(self._read)


@pytest.fixture
def peer():
    return Peer()


async def test_commands_get_their_answers_in_any_order_and_events_their_listeners(peer):
    connection = Connection(peer.theirs, peer.ours)
    events = []
    connection.listen("s", lambda name, params: events.append((name, params)))
    first = asyncio.create_task(connection.send("A", {"b": 1}))
    second = asyncio.create_task(connection.send("B", session="s"))
    heard = [await asyncio.to_thread(peer.hear) for _ in range(2)]

    whole = json.dumps({"id": 1, "result": {"x": "ü"}}).encode() + b"\0"
    peer.say(
        {"id": 2, "error": {"message": "no"}},
        {"method": "E", "sessionId": "s", "params": {"c": 2}},
        whole[:9],
    )
    peer.say(whole[9:], {"method": "E", "sessionId": "other"}, {"id": 77})

    assert await first == {"x": "ü"}
    with pytest.raises(CommandFailed, match="no"):
        await second
    assert events == [("E", {"c": 2})]
    assert heard == [
        {"id": 1, "method": "A", "params": {"b": 1}},
        {"id": 2, "method": "B", "params": {}, "sessionId": "s"},
    ]
    connection.close()
    peer.close()
    await connection.ended


async def test_a_browser_that_goes_fails_all_that_wait(peer):
    connection = Connection(peer.theirs, peer.ours)
    waiting = asyncio.create_task(connection.send("A"))
    await asyncio.to_thread(peer.hear)
    peer.close()

    with pytest.raises(Gone):
        await waiting
    with pytest.raises(Gone):
        await connection.send("B")


async def test_a_page_that_goes_fails_only_its_own_commands(peer):
    connection = Connection(peer.theirs, peer.ours)
    lost, kept = (
        asyncio.create_task(connection.send("A", session=name))
        for name in ("lost", "kept")
    )
    for _ in range(2):
        await asyncio.to_thread(peer.hear)

    connection.forget("lost")
    peer.say({"id": 2, "result": {}})

    with pytest.raises(Gone):
        await lost
    assert await kept == {}
    connection.close()
    peer.close()
    await connection.ended


@pytest.mark.parametrize(
    "garbage",
    [
        b"not json",
        b"",
        b"\xff\xfe",
        b"[1]",
        b"7",
        b"[" * 900,
        b'{"a":' * 5000,
        b"x" * 3000,
        b'{"id": 1, "error": "no"}',
        b'{"id": 1, "result": []}',
        b'{"id": [1], "result": {}}',
        b'{"id": {"a": 1}, "result": {}}',
        b'{"method": "E", "params": 7}',
        b'{"method": ["E"], "sessionId": "s"}',
        b'{"method": "E", "sessionId": {"s": 1}}',
    ],
)
async def test_what_is_no_message_does_not_end_the_connection(
    peer, garbage, monkeypatch
):
    monkeypatch.setattr("websearch_core._browser.pipe._MAX_EVENT", 1000)
    connection = Connection(peer.theirs, peer.ours)
    waiting = asyncio.create_task(connection.send("A"))
    await asyncio.to_thread(peer.hear)

    peer.say(garbage, b"\0", {"id": 1, "result": {"a": "whole"}})

    assert await waiting == {"a": "whole"}
    connection.close()
    peer.close()
    await connection.ended


async def test_an_event_that_is_too_long_loses_its_parameters_only(peer, monkeypatch):
    monkeypatch.setattr("websearch_core._browser.pipe._MAX_EVENT", 1000)
    connection = Connection(peer.theirs, peer.ours)
    events = []
    connection.listen("s", lambda name, params: events.append((name, params)))
    waiting = asyncio.create_task(connection.send("A", session="s"))
    await asyncio.to_thread(peer.hear)

    url = b"x" * 5000
    long = b'{"method":"N.sent","params":{"url":"%b"},"sessionId":"s"}\0' % url
    peer.say(b'{"method":"N.sent","params":{"id":1},"sessionId":"s"}\0')
    peer.say(long[:900])
    peer.say(long[900:3000])
    peer.say(long[3000:], long, {"id": 1, "result": {"long": "y" * 5000}})

    assert await waiting == {"long": "y" * 5000}
    assert events == [("N.sent", {"id": 1}), ("cut:N.sent", {}), ("cut:N.sent", {})]
    connection.close()
    peer.close()
    await connection.ended


async def test_an_answer_that_is_too_long_is_the_failure_of_its_command(
    peer, monkeypatch
):
    monkeypatch.setattr("websearch_core._browser.pipe._MAX_ANSWER", 1000)
    connection = Connection(peer.theirs, peer.ours)
    waiting = asyncio.create_task(connection.send("A"))
    other = asyncio.create_task(connection.send("B"))
    for _ in range(2):
        await asyncio.to_thread(peer.hear)

    peer.say(b'{"id":1,"result":{"data":"%b"}}\0' % (b"x" * 5000))
    peer.say({"id": 2, "result": {}})

    assert await other == {}
    with pytest.raises(CommandFailed, match="too long"):
        await waiting
    connection.close()
    peer.close()
    await connection.ended


@pytest.mark.parametrize(
    ("said", "version"),
    [
        ("Chromium 156.0.8078.79 built on Debian", "156.0.8078.79"),
        ("", None),
        ("1.2", None),
    ],
)
def test_a_version_is_what_the_program_says(program, said, version):
    assert read_version(program(f"echo '{said}'")) == version


def test_a_program_that_cannot_say_its_version_has_none(tmp_path):
    assert read_version(tmp_path / "none") is None


def test_on_windows_the_folder_beside_the_program_has_the_version(
    tmp_path, monkeypatch
):
    (tmp_path / "130.0.6723.59").mkdir()
    monkeypatch.setattr(sys, "platform", "win32")

    assert read_version(tmp_path / "chrome.exe") == "130.0.6723.59"


def test_doctor_names_the_browser_and_whether_it_was_proven(program, monkeypatch):
    from websearch_core._cli.checks import describe_environment
    from websearch_core._cli.commands.doctor import _describe_browser
    from websearch_core.settings import Settings

    path = program("echo Chromium 99.0.1.2")
    monkeypatch.setenv("WEB_SEARCH_BROWSER_PATH", str(path))
    old = _describe_browser(describe_environment(Settings.load())["browser"])
    monkeypatch.setattr(find, "PROVEN", ("99.0.1.2",))
    monkeypatch.setattr("websearch_core._cli.checks.PROVEN", ("99.0.1.2",))
    proven = _describe_browser(describe_environment(Settings.load())["browser"])
    monkeypatch.setenv("WEB_SEARCH_BROWSER_PATH", str(path.parent / "none"))
    missing = _describe_browser(describe_environment(Settings.load())["browser"])

    assert old.startswith(
        f"{path} (99.0.1.2; the attacks of the test suite were tried with "
    )
    assert proven == f"{path} (99.0.1.2)"
    assert "is not a program" in missing
