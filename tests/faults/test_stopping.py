"""Ctrl-C during a blocking call: it ends at once, sends nothing more, and the program
can go on.
"""

from __future__ import annotations
import signal
import sys
import threading
from contextlib import closing

import pytest

from tests.faults.stopping import PAGE, PROGRAMS, check_alive, run, stop
from tests.server import Server

pytestmark = [
    pytest.mark.enable_socket,
    pytest.mark.skipif(
        sys.platform == "win32", reason="signals are sent differently there"
    ),
]


@pytest.mark.parametrize("name", PROGRAMS)
def test_an_interrupted_call_ends_and_sends_nothing_more(name, tmp_path):
    stopped = stop(name, tmp_path)

    assert stopped.status == 0
    assert stopped.errors == ""
    assert stopped.paths[-1] == "/after"
    assert (
        len([path for path in stopped.paths if "/held/" in path]) <= PROGRAMS[name][1]
    )


@pytest.mark.parametrize(
    ("words", "sign", "status"),
    [
        (["search", "kelp", "--read-top", "3"], signal.SIGINT, 130),
        (["read", "{site}/held/0"], signal.SIGTERM, 143),
        (["index", "{site}/"], signal.SIGINT, 130),
        (["index", "{site}/"], signal.SIGTERM, 143),
    ],
)
def test_the_command_line_ends_at_ctrl_c_and_at_sigterm(words, sign, status, tmp_path):
    release = threading.Event()

    def reply(request):
        if request[0] != "/robots.txt":
            release.wait()
        return PAGE

    with closing(Server(reply=reply)) as site:
        variables = {
            "TAVILY_API_KEY": "k" * 20,
            "TAVILY_BASE_URL": site.url,
            "WEB_SEARCH_INTERNAL": "127.0.0.0/8",
            # only the signal ends the call, however long a busy machine takes to send it
            "WEB_SEARCH_TIMEOUT": "300",
            "WEB_SEARCH_CONNECT_TIMEOUT": "300",
        }
        command = [
            sys.executable,
            "-m",
            "websearch_core",
            *(word.format(site=site.url) for word in words),
        ]
        with run(command, tmp_path, release, **variables) as process:
            while not [path for path in site.paths if path != "/robots.txt"]:
                check_alive(process)
            process.send_signal(sign)
            _, errors = process.communicate()

    assert process.returncode == status
    assert "Traceback" not in errors
