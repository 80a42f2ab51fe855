"""Start a browser, with the flags that keep it from going anywhere but through a gate.

Each flag says what it is for. Those of `NETWORK_FLAGS` carry weight: without any of
them, an attack of tests/browser comes through. A new version can change what they mean,
so the suite runs against the installed browser.
"""

from __future__ import annotations
import contextlib
import os
import signal
import subprocess
import sys
from collections import deque
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Thread

from ..errors import ConfigurationError, Unavailable
from .find import find_browser
from .profile import Profile
from .trust import trust

NETWORK_FLAGS = (
    "--proxy-bypass-list=<-loopback>",  # else loopback is reached without the proxy
    # UDP goes around a proxy: WebRTC would send packets anywhere. The headless shell
    # knows the first name only, the whole Chromium the second only.
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",  # UDP, too
    "--dns-prefetch-disable",  # a look-up would tell a stranger's name server
    "--no-pings",
    # What the browser itself asks for. It meets a gate that is shut; this saves the
    # attempts.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-client-side-phishing-detection",
    # MediaRouter looks for devices in the local network. HttpsUpgrades asks https:
    # first, where the caller's rules may allow http: only. The others ask servers of
    # the browser's vendor.
    (
        "--disable-features=MediaRouter,HttpsUpgrades,HttpsFirstBalancedModeAutoEnable,"
        "OptimizationHints,Translate,AutofillServerCommunication,"
        "CertificateTransparencyComponentUpdater,DestroyProfileOnBrowserClose"
    ),
)
_QUIET = (
    "--headless",
    "--no-first-run",
    "--no-default-browser-check",
    "--no-service-autorun",
    "--disable-extensions",
    "--disable-default-apps",
    "--disable-component-extensions-with-background-pages",
    "--disable-breakpad",  # no crash reports
    "--disable-crash-reporter",
    "--disable-dev-shm-usage",  # /dev/shm has 64 MB in most containers
    "--disable-gpu",
    "--disable-3d-apis",  # large, and a large surface to attack
    "--disable-back-forward-cache",  # pages that were left would keep their memory
    "--disable-search-engine-choice-screen",
    "--metrics-recording-only",
    "--password-store=basic",
    "--use-mock-keychain",
    "--mute-audio",
    "--hide-scrollbars",
    "--lang=en-US",
    "--renderer-process-limit=8",
)
# unlike interception, free of cost
_TEXT_ONLY = ("--blink-settings=imagesEnabled=false", "--disable-remote-fonts")
_DIAGNOSTICS = 30  # lines of what the browser says
_NO_SANDBOX = (
    "No usable sandbox",
    "SUID sandbox",
    "setuid sandbox",
    "Operation not permitted",
    "zygote_host",
)


@dataclass(frozen=True, kw_only=True)
class Launch:
    """How to start a browser. Pages that ask for the same share one."""

    path: Path | str | None = None  # the program; None finds one
    sandbox: bool = True  # whether renderers run in Chromium's sandbox
    images: bool = False  # whether pages load images and fonts
    memory: int = 640 * 2**20  # bytes that one renderer may use before it is ended
    pages_at_once: int = 4  # how many are open at a time; others wait
    certificates: Path | None = None  # a file of more of them that pages may have
    flags: tuple[str, ...] = ()  # more of them, for tests

    def make_flags(self, proxy: str, address: str, profile: str) -> list[str]:
        """Return the flags. The browser's own requests go to *proxy*; *address* is all
        it may resolve.
        """
        image_flags = () if self.images else _TEXT_ONLY
        sandbox_flags = () if self.sandbox else ("--no-sandbox",)
        heap = max(64, self.memory // 2**20 * 2 // 3)  # MB
        return [
            *_QUIET,
            *NETWORK_FLAGS,
            *image_flags,
            *sandbox_flags,
            f"--js-flags=--max-old-space-size={heap}",
            f"--proxy-server={proxy}",
            # The second wall, should anything go around the proxy: no name but this one
            # address resolves.
            f"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE {address}",
            f"--user-data-dir={profile}",
            # a TCP port could be reached by pages and by everybody on this machine
            "--remote-debugging-pipe",
            *self.flags,
            "about:blank",
        ]


class Process:
    """A running browser, its two pipes and its folder.

    Raise `ConfigurationError` if there is none, or none in a sandbox for this user;
    `Unavailable` if the system fails.
    """

    def __init__(self, launch: Launch, proxy: str, address: str) -> None:
        program = find_browser(launch.path)
        user = _find_user() if launch.sandbox else None
        self.user = user[0] if user else find_own_user()
        self._sandbox = launch.sandbox
        self._profile = Profile()
        self.profile = str(self._profile.path)
        self._said: deque[bytes] = deque(maxlen=_DIAGNOSTICS)
        try:
            if launch.certificates is not None:
                trust(launch.certificates, Path(self.profile))
            self._profile.hand_over(user)
            self._start(
                [str(program), *launch.make_flags(proxy, address, self.profile)], user
            )
        except ConfigurationError:
            self._profile.remove()
            raise
        except OSError as error:
            self._profile.remove()
            raise Unavailable(
                f"the browser cannot be started: {os.strerror(error.errno or 0)}"
            ) from error
        self._log = Thread(
            target=self._listen, name="websearch-browser-log", daemon=True
        )
        self._log.start()

    def _start(self, command: list[str], user: tuple[int, int] | None) -> None:
        to_browser, self.write_fd = os.pipe()
        self.read_fd, from_browser = os.pipe()
        try:
            if sys.platform == "win32":
                self.popen = _start_on_windows(
                    command, to_browser, from_browser, self.profile
                )
            else:
                # The browser wants its pipes as 3 and 4. A shell moves them there,
                # which runs none of our code between fork and exec, where a program
                # with threads can hang.
                move = [
                    "/bin/sh",
                    "-c",
                    'exec "$0" "$@" 3<&0 4>&1 </dev/null >/dev/null',
                ]
                self.popen = subprocess.Popen(  # noqa: S603 - see `find_browser`
                    [*move, *command],
                    stdin=to_browser,
                    stdout=from_browser,
                    stderr=subprocess.PIPE,
                    env=_make_environment(self.profile),
                    cwd=self.profile,
                    start_new_session=True,
                    user=user[0] if user else None,
                    group=user[1] if user else None,
                    extra_groups=[] if user else None,
                )
        except BaseException:
            os.close(self.write_fd)
            os.close(self.read_fd)
            raise
        finally:
            os.close(to_browser)
            os.close(from_browser)

    def _listen(self) -> None:
        """Keep the last lines that the browser writes, to say why it ended."""
        output = self.popen.stderr
        if output is None:
            return
        with contextlib.suppress(ValueError, OSError):
            for line in iter(partial(output.readline, 4096), b""):
                self._said.append(line)

    def explain(self) -> ConfigurationError | Unavailable:
        output = b"".join(self._said).decode("utf-8", "replace")
        if self._sandbox and any(sign in output for sign in _NO_SANDBOX):
            return ConfigurationError(
                "the browser cannot make its sandbox here. Install the package "
                "chromium-sandbox, or allow user "
                "namespaces (Docker: --security-opt seccomp=chromium.json or "
                "--cap-add=SYS_ADMIN). Only where nothing "
                "else runs, pass sandbox=False"
            )
        error = Unavailable("the browser ended as soon as it was started")
        error.add_note(output[-2000:])
        return error

    def end(self) -> None:
        """End the browser with everything that it started, and remove its files."""
        if sys.platform == "win32":
            self.popen.kill()
        else:
            with contextlib.suppress(OSError):
                os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()
        self._log.join(1)
        if self.popen.stderr and not self._log.is_alive():
            self.popen.stderr.close()
        self._profile.remove()


def find_own_user() -> int | None:
    """Return the id of the user that this process runs as; None on Windows."""
    return None if sys.platform == "win32" else os.geteuid()


def _find_user() -> tuple[int, int] | None:
    """Return the user and group to start a browser as, since its sandbox refuses root;
    None for the current one.
    """
    if sys.platform == "win32" or os.geteuid() != 0:
        return None
    import pwd

    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError:
        raise ConfigurationError(
            "the browser's sandbox does not work for root, and there is no user "
            "'nobody' to start it as: run as "
            "another user, or, only where nothing else runs, pass sandbox=False"
        ) from None
    return nobody.pw_uid, nobody.pw_gid


def _make_environment(home: str) -> dict[str, str]:
    """Return an environment without keys, proxies and paths of the user."""
    environment = {
        name: os.environ[name]
        for name in ("PATH", "SYSTEMROOT", "WINDIR")
        if name in os.environ
    }
    nowhere = "unix:path=/dev/null"
    return environment | {
        **dict.fromkeys(
            (
                "HOME",
                "TMPDIR",
                "TEMP",
                "TMP",
                "XDG_CONFIG_HOME",
                "XDG_CACHE_HOME",
                "XDG_RUNTIME_DIR",
            ),
            home,
        ),
        # it would ask other programs for settings and passwords
        "DBUS_SESSION_BUS_ADDRESS": nowhere,
        "DBUS_SYSTEM_BUS_ADDRESS": nowhere,
        "LANG": "C.UTF-8",
        "TZ": "UTC",
    }


def _start_on_windows(
    command: list[str], to_browser: int, from_browser: int, home: str
) -> subprocess.Popen[bytes]:  # pragma: no cover - needs Windows
    """Start a browser that inherits just the two handles, which Chromium takes by
    number on this system.
    """
    if sys.platform != "win32":
        raise AssertionError
    import msvcrt

    handles = [msvcrt.get_osfhandle(fd) for fd in (to_browser, from_browser)]
    for handle in handles:
        os.set_handle_inheritable(handle, True)  # noqa: FBT003 - takes no keyword
    return subprocess.Popen(  # noqa: S603 - see above
        [
            *command[:-1],
            f"--remote-debugging-io-pipes={handles[0]},{handles[1]}",
            command[-1],
        ],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env=_make_environment(home),
        startupinfo=subprocess.STARTUPINFO(lpAttributeList={"handle_list": handles}),
    )
