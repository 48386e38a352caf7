"""Processor time and memory of processes, as counted by the kernel (Linux)."""

import os
import re
from collections.abc import Iterable
from pathlib import Path

import psutil
from django.db import connection

MB = 1024 * 1024
GONE = psutil.NoSuchProcess


def processors(parents: Iterable[int]) -> float:
    """Return the processor seconds of these processes and their children, ended ones included."""
    seconds = 0.0
    for parent in map(psutil.Process, parents):
        for process in [parent, *parent.children(recursive=True)]:
            try:
                seconds += sum(process.cpu_times()[:4])  # own, and of children that ended
            except GONE:
                continue
    return seconds


def peak(pid: int) -> float:
    """Return the peak memory of this process in MB, since its start or ``forget_peak``.

    Memory shared with other forks of the same process is included.
    """
    status = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s+(\d+) kB", status)[0]) / 1024


def forget_peak(pid: int) -> None:
    Path(f"/proc/{pid}/clear_refs").write_text("5")


def children(pid: int) -> list[int]:
    return [child.pid for child in psutil.Process(pid).children(recursive=True)]


def database() -> list[int]:
    """Return the pid of the database server if it is on this machine; none for SQLite."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute("SHOW data_directory")
        folder = cursor.fetchone()[0]
    return [int((Path(folder) / "postmaster.pid").read_text().split()[0])]


def busy() -> str:
    """Return the load of the last minute, with the number of processors."""
    return f"{os.getloadavg()[0]:.1f} of {os.cpu_count()} processors wanted in the last minute"
