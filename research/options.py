"""What the commands' options have in common."""

import argparse
import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def parse_positive(text: str) -> int:
    if (value := int(text)) < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, but it is {value}")
    return value


def above_zero(text: str) -> float:
    if not (value := float(text)) > 0:
        raise argparse.ArgumentTypeError(f"must be above 0, but it is {value:g}")
    return value


def shared_options() -> argparse.ArgumentParser:
    """How to play, which is the same for every command."""
    parser = argparse.ArgumentParser(add_help=False)
    players = parser.add_mutually_exclusive_group()
    players.add_argument(
        "--processes",
        type=parse_positive,
        default=os.cpu_count() or 1,
        metavar="N",
        help="processes on this machine (default: one a core, %(default)s)",
    )
    players.add_argument(
        "--celery", action="store_true", help="hand the cells to Celery workers instead"
    )
    parser.add_argument("--quiet", action="store_true", help="no progress and no summary")
    return parser
