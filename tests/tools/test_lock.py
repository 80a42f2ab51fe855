"""`make lock` writes one file of requirements, which begins with what the demo needs."""

from __future__ import annotations

import pytest
from tools import lock

DEVELOPMENT = """\
alpha==1.0 \\
    --hash=sha256:aa
beta==2.0 ; python_full_version < '3.12' \\
    --hash=sha256:b1 \\
    --hash=sha256:b2
beta==2.1 ; python_full_version >= '3.12' \\
    --hash=sha256:b3
gamma==3.0 \\
    --hash=sha256:cc
"""
DEMO = """\
beta==2.1 \\
    --hash=sha256:b3
"""


def test_what_the_demo_needs_comes_first_with_every_entry_that_it_has():
    text = lock.write(DEVELOPMENT, DEMO)
    demo, _, rest = text.partition("# For development")

    assert [line for line in demo.splitlines() if "==" in line] == [
        "beta==2.0 ; python_full_version < '3.12' \\",
        "beta==2.1 ; python_full_version >= '3.12' \\",
    ]
    assert [line.partition("==")[0] for line in lock.split(rest)] == ["alpha", "gamma"]
    assert text.count("--hash=sha256:") == 5


def test_what_was_written_is_read_as_it_was():
    written = lock.write(DEVELOPMENT, DEMO)
    assert lock.split(written) == lock.split(DEVELOPMENT)
    assert lock.write("\n".join(lock.split(written).values()), DEMO) == written


def test_a_package_that_is_not_there_is_not_upgraded():
    with pytest.raises(SystemExit, match="requirements.txt has no 'delta'"):
        lock.main(["delta"])
