"""Every failure of every provider reaches the model as one, in both frameworks,
blocking and async.
"""

from __future__ import annotations
import re

import pytest

from benchmarks import failures
from tests.cassettes import player
from websearch_core.testing import SECRET


@pytest.mark.parametrize("fault", failures.FAULTS)
@pytest.mark.parametrize("name", player.find_searchers())
def test_a_model_is_told_of_a_failure_with_a_code_and_without_keys(name, fault):
    outcomes = failures.try_each(name, failures.FAULTS[fault])

    (code,) = set(map(failures.code, outcomes))
    assert code not in {"success", "crash"}
    assert all(failed for failed, _ in outcomes)
    assert not any(SECRET in text or "Sign in" in text for _, text in outcomes)
    if "Retry-After" in fault and code == "rate_limited":
        assert all(
            re.search(r"Retry after (60|[1-5]\d(\.\d)?) s\.$", text)
            for _, text in outcomes
        )


def test_the_page_is_up_to_date():
    assert failures.PAGE.read_text("utf-8") == failures.write_page(), (
        "run python -m benchmarks.failures"
    )
