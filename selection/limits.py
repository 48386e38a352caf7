"""Limits on sizes and counts, in one place: code, refusals and the API's document read them here.

docs/operations.md lists them. Limits that an operator may change come from the environment, by way
of the settings. Rate limits are elsewhere: ``accounts.rate_limits``.
"""

from django.conf import settings

MB = 1024 * 1024

# -- files

MOST_FILE = settings.MOST_FILE_MB * MB  # bytes of an imported file
MOST_ROWS: int = settings.MOST_FILE_ROWS
MOST_COLUMNS = 1_000
LONGEST_CELL = 100_000  # characters
LONGEST_ROW = 1_000_000
MOST_OF_THE_PAST = 5_000_000  # answers that are read at once, to be replayed
MOST_REPLAYED = 200_000  # answers that a page or a program replays
MOST_REPLAYED_WORKERS = 2_000
MOST_MEDIA = {"image": 5 * MB, "audio": 20 * MB, "video": 40 * MB}  # bytes of a file
MOST_MEDIA_FILES = 5_000  # of a question set

# -- entries in one request to the API

MOST_ENTRIES = 10_000  # workers, questions, submissions
MOST_ANSWERS = 1_000  # that are recorded, each with a result of its own
MOST_IMPORTED = 100_000  # answers made elsewhere, workers of a list
MOST_PRESENT = 100  # workers who claim questions, and questions of each
MOST_PAGE = 1_000  # rows of a page of a list

# -- texts, in characters

LONGEST_RESPONSE = 10_000
LONGEST_REPORT = 2_000
LONGEST_KEY = 200  # of a worker or a question, and names of all kinds
LONGEST_WHY = 300
LONGEST_TEXT = 100_000  # instructions, explanations
LONGEST_JSON = 10_000_000  # a document of another machine, in bytes or characters
LONGEST_MODEL_REPLY = 100_000  # that is read and kept
LONGEST_ADDRESS = 500  # of a webhook, or a platform
LONGEST_PARAMETER = 60  # a name in a link
LONGEST_EMAIL = 254  # of a worker

MOST_WEBHOOKS = 20  # of a team
MOST_JOBS = 4  # of a team at once: so it holds few threads of the process for them
