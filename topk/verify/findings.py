"""A claim of a dump that does not hold."""

from dataclasses import dataclass

from topk.selector import Counts

from .dump_reader import DumpRecord

MOST_NAMED = 10


@dataclass(frozen=True)
class Finding:
    """One claim that does not hold: about what, and how it differs."""

    about: str
    said: str

    def __str__(self) -> str:
        return f"{self.about}: {self.said}"


def findings_of_workers(record: DumpRecord, arms: Counts, said: str) -> list[Finding]:
    """The same of each of these arms; of many, of the first."""
    return [Finding(f"Worker {record.who(arm)}", said) for arm in arms[:MOST_NAMED].tolist()]
