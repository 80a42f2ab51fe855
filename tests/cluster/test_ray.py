"""`websearch_core.ray` in a local cluster of several worker processes, with Redis:
``make test-cluster``.
"""

from __future__ import annotations
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

PAGES = 10_000
JOB = Path(__file__).with_name("job.py")

pytestmark = [pytest.mark.enable_socket]


@pytest.fixture
def redis_port():
    executable = shutil.which("redis-server")
    if executable is None:
        pytest.skip(
            "Redis is not installed: apt-get install --no-install-recommends redis-server"
        )
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with subprocess.Popen(
        [executable, "--port", str(port), "--save", ""], stdout=subprocess.DEVNULL
    ) as process:
        time.sleep(1)
        yield port
        process.kill()


@pytest.mark.skipif(
    importlib.util.find_spec("ray") is None,
    reason="Ray is not installed: make test-cluster",
)
def test_a_cluster_that_loses_a_worker_reads_every_page_once_and_no_host_too_fast(
    redis_port,
):
    command = [sys.executable, str(JOB), str(PAGES), str(redis_port)]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        env={**os.environ, "RAY_DEDUP_LOGS": "0"},
    )
    assert done.returncode == 0, done.stderr[-4000:]
    result = json.loads(done.stdout.splitlines()[-1])
    print(result)

    assert result["killed"] == 1
    assert (result["missing"], result["repeated"]) == (0, 0)
    assert result["most_at_once"] <= 2
    # the burst, robots.txt for two workers, and what timing adds
    assert result["beyond_pace"] <= 10 + 4
    codes = result["codes"]
    assert {code for code in codes if code.startswith("None")} == {"None: None"}
    assert {code for code in codes if code.startswith(("redirects", "slow"))} == {
        "redirects: None",
        "slow: None",
    }
    assert {code for code in codes if code.startswith("robots")} == {
        "robots: disallowed_by_robots"
    }
    assert not {"fails: None", "hangs: None"} & codes.keys()
