"""A claim of a dump that does not hold."""

from dataclasses import dataclass

from topk.selector import Counts

from .dump_reader import DumpRecord

MOST_NAMED = 10


@dataclass(frozen=True)
class Finding:
    """A claim that does not hold: its subject, and how it differs."""

    about: str
    said: str

    def __str__(self) -> str:
        return f"{self.about}: {self.said}"


def findings_of_workers(record: DumpRecord, arms: Counts, message: str) -> list[Finding]:
    """Make the same finding for each of these arms, at most for the first MOST_NAMED."""
    return [
        Finding(f"Worker {record.worker_name(arm)}", message) for arm in arms[:MOST_NAMED].tolist()
    ]
