"""Command line of the verification: ``python -m topk.verify dump.json``."""

import argparse
import json
import sys
from pathlib import Path

from .dump_reader import DumpError
from .report import describe_verification
from .verdict import verify_dump


def main(arguments: list[str] | None = None) -> int:
    """Return 0 if every claim of the dump holds, 1 if one does not, 2 for a file that is not a
    dump.
    """
    parser = argparse.ArgumentParser(prog="python -m topk.verify", description=__doc__)
    parser.add_argument("dump", type=Path, help="a dump of a run")
    try:
        verification = verify_dump(
            json.loads(parser.parse_args(arguments).dump.read_text(encoding="utf-8"))
        )
    except (OSError, ValueError, DumpError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write("".join(f"{line}\n" for line in describe_verification(verification)))
    return 0 if verification.same else 1


if __name__ == "__main__":
    sys.exit(main())
