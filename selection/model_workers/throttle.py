"""Throttling of calls: concurrency and rate of a server, rests after failures."""

import random
import time
from dataclasses import dataclass, field

LONGEST_REST = 300.0  # seconds
SPREAD = 0.5  # share of a rest that is random, so that models do not return at the same moment


@dataclass
class Throttle:
    """The state of a server, while it is called.

    concurrency  most calls at once
    rate         most calls a minute; None: no limit
    refused      models whose calls were too many, since the last reply: the server rests if they
                 are several. One alone has a limit of its own, and rests alone
    """

    concurrency: int
    rate: int | None = None
    failures: int = 0
    rests_until: float = 0.0
    refused: set[int] = field(default_factory=set)
    _recent: list[float] = field(default_factory=list)

    def room(self, in_flight: int) -> int:
        """Count the calls that may be sent now. in_flight: number of calls without an outcome."""
        now = time.monotonic()
        if now < self.rests_until:
            return 0
        room = self.concurrency - in_flight
        if self.rate is not None:
            self._recent = [at for at in self._recent if at > now - 60]
            room = min(room, self.rate - len(self._recent))
        return max(room, 0)

    def note_sent(self, calls: int) -> None:
        if self.rate is not None:
            self._recent += [time.monotonic()] * calls

    def note_reply(self) -> None:
        self.failures = 0
        self.refused.clear()

    def note_refusal(self, model: int, retry_after: float) -> None:
        """Rest, because the server had too many calls of several models."""
        now = time.monotonic()
        self.refused.add(model)
        if len(self.refused) < 2 or (now < self.rests_until and not retry_after):
            return  # its own limit, or one of many calls that were refused at once
        self.failures += 1
        rest = max(rest_seconds(self.failures), retry_after)
        self.rests_until = max(self.rests_until, now + rest)


def rest_seconds(failures: int) -> float:
    """Choose the rest after so many consecutive failures: 1, 2, 4 … seconds, with jitter."""
    rest = min(float(2 ** min(failures - 1, 20)), LONGEST_REST)
    return rest * random.uniform(1 - SPREAD, 1)
