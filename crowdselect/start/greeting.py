"""``python crowdselect/start/greeting.py``: the greeting of ``make run``, once a page answers.

Its environment has the server's address (HERE) and the text (GREETING).
"""

import http.client
import os
import time
from urllib.parse import urlsplit

PAGE = "/admin/login/"
PAUSE_SECONDS = 0.5
PATIENCE_SECONDS = 10  # for one reply


def answers(url: str) -> bool:
    """Tell if the server at this address answers a request for a page."""
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=PATIENCE_SECONDS)
    try:
        connection.request("GET", PAGE)
        return connection.getresponse().status < http.client.INTERNAL_SERVER_ERROR
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def main() -> None:
    while not answers(os.environ["HERE"]):
        time.sleep(PAUSE_SECONDS)
    print(os.environ["GREETING"], flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
