"""A hundred exports and payment lists at a time, for with_pgbouncer.py: counts by status."""

import os
import subprocess
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")

import django

django.setup()

from django.contrib.auth.models import User
from django.db import connection
from django.test import Client

from crowdselect.start.redis_server import redis_command
from tests.processes import wait_until
from tests.settings import REDIS_SOCKET
from tests.worlds import crowd, make_run, play

FORMATS = ("csv", "json", "payment", "answers")


def ask(number: int) -> int:
    client = Client(HTTP_HOST="127.0.0.1")
    client.force_login(User.objects.get(username="ada"))
    response = client.get(f"/admin/selection/run/{RUN}/export/{FORMATS[number % len(FORMATS)]}/")
    content = response.getvalue() if response.streaming else response.content
    connection.close()
    return response.status_code if content else 0


if __name__ == "__main__":
    redis = subprocess.Popen(redis_command(REDIS_SOCKET), stdout=subprocess.DEVNULL)
    wait_until(REDIS_SOCKET.exists, "the Redis socket")
    try:
        User.objects.create_superuser("ada", password="secret")
        RUN = play(make_run(price="0.05", currency="$"), crowd(3, good=2)).pk
        with ThreadPoolExecutor(20) as pool:
            print(dict(Counter(pool.map(ask, range(100)))))
    finally:
        redis.terminate()
