"""The effort that one page may cost.

What refers to itself is small where it is written and large where it is read: a limit
on what comes out is too late, since nothing may come out. So the work is counted.
"""

from __future__ import annotations

_MAX_STEPS = 300_000  # values of data
_MAX_CHARACTERS = 3_000_000  # of texts in data, each time that one is read


class Effort:
    """What is left of the effort for one page."""

    def __init__(
        self, steps: int = _MAX_STEPS, characters: int = _MAX_CHARACTERS
    ) -> None:
        self._steps = steps
        self._characters = characters
        self.is_spent = False

    def spend(self, steps: int = 1, characters: int = 0) -> bool:
        """Return whether the next piece of work may be done, and count it."""
        self._steps -= steps
        self._characters -= characters
        if self._steps < 0 or self._characters < 0:
            self.is_spent = True
        return not self.is_spent
