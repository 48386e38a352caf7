"""Run one benchmark, or all of them on SQLite and then on PostgreSQL.

python -m benchmarks            everything
python -m benchmarks engine     one, on the database of DATABASE_URL (default: a new SQLite file)
"""

import importlib
import logging
import os
import subprocess
import sys
import tempfile

import django
from django.core.management import call_command

ON_DATABASES = ("engine", "load", "api", "page", "tells", "calls", "watches")
PLAIN = ("bandit", "rates", "forecasts", "life", "start")


def main(names: list[str]) -> None:
    if names:
        prepare()
        for name in names:
            importlib.import_module(f"benchmarks.{name}").main()
        return
    command = [sys.executable, "-m", "benchmarks"]
    subprocess.run([*command, *ON_DATABASES, *PLAIN], check=True)
    subprocess.run([sys.executable, "-m", "tests.postgres", *command, *ON_DATABASES], check=True)


def prepare() -> None:
    folder = tempfile.mkdtemp(prefix="crowdselect-bench-")
    os.environ.setdefault("DATABASE_URL", f"sqlite:///{folder}/bench.sqlite3")
    os.environ["REDIS_URL"] = f"unix://{folder}/redis.sock"
    os.environ["DJANGO_SETTINGS_MODULE"] = "crowdselect.settings"
    os.environ["ALLOWED_HOSTS"] = "127.0.0.1"
    django.setup()
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)


if __name__ == "__main__":
    main(sys.argv[1:])
