"""What was acknowledged survives the death of the process that wrote it, and the file
stays whole.
"""

from __future__ import annotations
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_ROUNDS = 10  # for each file


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_what_was_acknowledged_is_there_after_a_kill():
    command = [sys.executable, "-m", "tests.soak.kills", str(_ROUNDS)]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=280
    )

    assert done.returncode == 0, done.stderr
    for name, findings in json.loads(done.stdout).items():
        assert (name, findings["problems"]) == (name, [])
        assert findings["kills"] == 2 * _ROUNDS
        assert findings["writes"] > _ROUNDS, name
