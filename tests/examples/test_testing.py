"""The examples of tests for agents pass as they are, in a project of their own."""

from __future__ import annotations
import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "testing"


@pytest.mark.parametrize("framework", ["langchain", "llamaindex"])
@pytest.mark.apart
def test_the_tests_of_an_agent_pass_without_the_web(framework, tmp_path):
    (tmp_path / "pytest.ini").write_text("[pytest]\n")  # instead of this repository's
    command = [sys.executable, "-m", "pytest", "-q", "-c", tmp_path / "pytest.ini", "-p", "pytest_websearch", "-p", "pytest_socket",
               "-p", "no:cacheprovider", "--disable-socket", "--allow-unix-socket",
               EXAMPLES / f"test_{framework}_agent.py"]  # fmt: skip
    # the plugins of others take seconds to load
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=600
    )

    assert done.returncode == 0, done.stdout + done.stderr
