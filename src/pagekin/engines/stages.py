"""How long each stage of a build took."""

import time

from pagekin.store import Progress


class Stages:
    """A clock that measures how long each stage takes, and passes progress on.

    Stages report when a piece of work is done, so the time since the last report is theirs.
    """

    def __init__(self, progress: Progress) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress
        self._since = time.perf_counter()

    def tell(self, stage: str, share: float) -> None:
        """Note that a part of a stage is done."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._since
        self._since = now
        self._progress(stage, share)
