"""supervisord, which tells what it cannot start, too: ``python -m crowdselect.start.supervisor``.

It takes that for as little news as a start, so that whoever hears of deaths alone hears nothing
of a part that is not there.
"""

from typing import Any

from supervisor import loggers, supervisord

TOLD = ("spawnerr:", "gave up:")


class Logger(loggers.Logger):  # type: ignore[misc]
    def info(self, msg: str | bytes, **words: Any) -> None:
        """msg: bytes are what a part says itself."""
        told = isinstance(msg, str) and msg.startswith(TOLD)
        (self.warn if told else super().info)(msg, **words)


if __name__ == "__main__":
    loggers.Logger = Logger
    supervisord.main()
