"""Celery's beat, for a host whose clock may be set anew."""

from typing import Any

from celery.beat import PersistentScheduler


class Scheduler(PersistentScheduler):  # type: ignore[misc]
    """Celery's own goes by the time of day: were the clock put back by an hour, it would wait an
    hour longer for the next sweep, also when it is started again."""

    def tick(self, *arguments: Any, **options: Any) -> float:
        now = self.app.now()
        for entry in self.schedule.values():
            if entry.last_run_at > now:
                entry.last_run_at, self._heap = now, None  # the order of what is due is made anew
        return float(super().tick(*arguments, **options))
