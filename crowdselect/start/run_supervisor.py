"""supervisord that also warns of failed starts: ``python crowdselect/start/run_supervisor.py``.

It is started by its path: as a module it would load the whole project, which it does not need.

It logs these at the same level as successful starts, so a log of warnings alone would not mention a
part that never started.
"""

from typing import Any

from supervisor import loggers, supervisord

FAILURES = ("spawnerr:", "gave up:")


class Logger(loggers.Logger):  # type: ignore[misc]
    """Logger that raises failed starts to warnings."""

    def info(self, msg: str | bytes, **words: Any) -> None:
        """Log a message; bytes are the output of a part."""
        is_failure = isinstance(msg, str) and msg.startswith(FAILURES)
        (self.warn if is_failure else super().info)(msg, **words)


if __name__ == "__main__":
    loggers.Logger = Logger
    supervisord.main()
