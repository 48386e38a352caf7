"""Play a crowd against a running server, by the client of its API."""

import time
from collections.abc import Callable
from typing import Any

from crowdselect_client import ApiError, Run
from selection.errors import Refused

from .crowd import SyntheticCrowd

LOOK_SECONDS = 1.0
MOST_ANSWERS = 60  # between two looks: a dashboard shows the run moving


def play_crowd(
    run: Run, crowd: SyntheticCrowd, on_progress: Callable[[dict[str, Any], int], object]
) -> int:
    """Answer until the run has ended. Return the number of accepted answers.

    on_progress  called about once a second with the state of the run and the number of accepted
                 answers

    Raises Refused when the server refuses, or does not answer for long.
    """
    taken = 0
    try:
        while (state := dict(run.show()))["status"] != "ended":
            on_progress(state, taken)
            answers = [
                (one["id"], response)
                for one in run.open()
                if (response := crowd.respond(one["worker"], one["question"], one["choices"]))
            ]
            results = run.tell_many(answers[:MOST_ANSWERS])
            taken += sum(result["status"] == 201 for result in results)
            time.sleep(LOOK_SECONDS)
    except ApiError as error:
        raise Refused(error.sentence) from error
    return taken
