"""``python crowdselect/start/greeting.py``: the greeting of ``make run``, once a page answers.

Its environment has the server's address (HERE) and the text (GREETING). With the words of a command
it becomes that: processes that start at once share the processors with the web server, and a person
waits for its page. They start without a page as well, after a while.
"""

import http.client
import os
import sys
import time
from urllib.parse import urlsplit

PAGE = "/admin/login/"
PAUSE_SECONDS = 0.2
PATIENCE_SECONDS = 10  # for one reply
PAUSES = 50  # after which another process starts without a page


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


def main(command: list[str]) -> None:
    pauses = 0
    while not answers(os.environ["HERE"]) and not (command and pauses >= PAUSES):
        time.sleep(PAUSE_SECONDS)
        pauses += 1
    if command:
        os.execvp(command[0], command)
    print(os.environ["GREETING"], flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
