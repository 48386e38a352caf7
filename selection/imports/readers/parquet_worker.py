"""Process of its own that reads a Parquet file from standard input, with limited memory and time.

Writes an object of JSON for each row. No other module of the project is imported here.
"""

import io
import json
import resource
import sys

from arro3.io import read_parquet

MOST_MEMORY = 2 * 1024**3  # bytes of addresses
MOST_SECONDS = 30  # of a processor
BATCH = 1000  # rows


def main() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for batch in read_parquet(io.BytesIO(sys.stdin.buffer.read()), batch_size=BATCH):
        columns = [column.to_pylist() for column in batch.columns]
        for row in zip(*columns, strict=True):
            named = dict(zip(batch.column_names, row, strict=True))
            sys.stdout.write(json.dumps(named, default=str) + "\n")


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:  # the reader has seen enough
        sys.stderr.close()
