"""The requester's own verdict on a worker, next to the algorithm's."""

from django.db import transaction

from selection.errors import Conflict, Refused
from selection.history import events, notifications
from selection.models import Candidate, Run
from selection.texts import counted

Verdicts = Candidate.Verdicts
WORDS: dict[int, str] = {Verdicts.ACCEPTED: "accepted", Verdicts.REJECTED: "rejected"}


def preview_verdict(candidate: Candidate, verdict: int | None) -> str:
    """Describe the effect of a manual verdict, or of its removal (None).

    Raises Conflict or Refused if it cannot be stored.
    """
    run = candidate.run
    if run.status == Run.Status.DRAFT:
        raise Conflict(f"The run “{run}” has not begun.")
    if verdict is not None and verdict not in WORDS:
        raise Refused("A verdict by hand is accepted or rejected.")
    if verdict == candidate.by_hand:
        now = "not judged" if verdict is None else WORDS[verdict]
        raise Refused(f"“{candidate.worker}” is {now} by hand already.")
    if verdict is None:
        return (
            f"The verdict by hand on “{candidate.worker}” is removed: the algorithm’s verdict "
            "counts again."
        )
    place = "among" if verdict == Verdicts.ACCEPTED else "not among"
    return (
        f"“{candidate.worker}” is {place} the selected by your own verdict, and marked “by hand” "
        "everywhere. The algorithm ignores it: its guarantee covers the "
        f"{counted(run.k, 'worker')} that it selects itself."
    )


@transaction.atomic
def override_verdict(
    candidate: Candidate, verdict: int | None, who: str = "", why: str = ""
) -> str:
    """Store a manual verdict, or remove it (None); return and raise as ``preview_verdict`` does.

    Raises Refused for a verdict without a reason.
    """
    run = Run.objects.lock(candidate.run_id)
    if verdict is not None and not why.strip():
        raise Refused("Enter a reason: every export shows it with the verdict.")
    candidate.refresh_from_db()
    sentence = preview_verdict(candidate, verdict)
    candidate.by_hand, candidate.by_hand_why = verdict, why[:300] if verdict is not None else ""
    candidate.save(update_fields=["by_hand", "by_hand_why"])
    events.write_event(run, "by hand", sentence, who, why)
    notifications.notify_manual_verdict(run, candidate)
    return sentence
