"""What processes cost: processor time and memory, as the kernel counts them (Linux)."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import psutil
from django.db import connection

MB = 1024 * 1024
GONE = psutil.NoSuchProcess


def processors(parents: Iterable[int]) -> float:
    """Seconds of a processor that these and all their children took, also those that ended."""
    found = 0.0
    for one in map(psutil.Process, parents):
        for each in [one, *one.children(recursive=True)]:
            try:
                found += sum(each.cpu_times()[:4])  # own, and of children that ended
            except GONE:
                continue
    return found


def peak(pid: int) -> float:
    """MB of memory that this process held at most, or since ``forget_peak``: what it shares with
    others that began as the same process is in it."""
    said = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", said)[0]) / 1024


def forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def children(pid: int) -> list[int]:
    return [one.pid for one in psutil.Process(pid).children(recursive=True)]


def database() -> list[int]:
    """The server of the database, where it is one of this machine; none for SQLite."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute("SHOW data_directory")
        folder = cursor.fetchone()[0]
    return [int((Path(folder) / "postmaster.pid").read_text().split()[0])]


def busy() -> str:
    """How many processes wanted a processor in the last minute, of how many there are."""
    return f"{os.getloadavg()[0]:.1f} of {os.cpu_count()} processors wanted in the last minute"
