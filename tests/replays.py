"""Replays of past answers by the command, and what comes out of them."""

import csv
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command


def replay(
    past: Sequence[Path], out: Path, *options: str, k: int | Sequence[int], epsilon: float
) -> str:
    """What it says.

    past  the file of answers, then each gold file; k is as many numbers
    """
    said = StringIO()
    files = ["--answers", str(past[0]), "--gold", *map(str, past[1:]), "--out", str(out)]
    wanted = [str(k)] if isinstance(k, int) else list(map(str, k))
    numbers = ["--k", *wanted, "--epsilon", str(epsilon), "--delta", "0.1", "--seed", "1"]
    call_command("replay", *files, *numbers, *options, stdout=said)
    return said.getvalue()


def refused(past: Sequence[Path], out: Path, *options: str, **numbers: Any) -> str:
    """Why; nothing is written."""
    with pytest.raises(CommandError) as caught:
        replay(past, out, *options, **numbers)
    assert caught.value.returncode == 2
    assert not out.exists()
    return str(caught.value)


def read(out: Path) -> list[dict[str, str]]:
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
