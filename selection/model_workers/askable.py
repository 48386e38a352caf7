"""Questions that no model can be asked, found before a run starts."""

from selection.models import ModelServer, Pool, QuestionSet
from selection.texts import counted

from .prompts import LETTERS, MEDIA, UNSEEN


def refuse_questions(question_set: QuestionSet) -> str:
    """Refuse a set that models cannot be asked, naming the first such question; empty if none."""
    pictures = question_set.media.filter(type__startswith="image/")
    names = {f"media:{name}" for name in pictures.values_list("name", flat=True)}
    if reason := refuse_text(question_set.instructions, names):
        return f"Models take part, and in the instructions of “{question_set}” {reason}"
    rows = question_set.questions.filter(retired=None).order_by("number")
    for key, prompt, choices in rows.values_list("key", "prompt", "choices").iterator():
        if reason := refuse_text(prompt, names) or refuse_choices(choices):
            return f"Models take part, and in the question “{key}” of “{question_set}” {reason}"
    return ""


def refuse_text(text: str, seen: set[str]) -> str:
    for match in MEDIA.finditer(text):
        place = match[2]
        if UNSEEN.search(place):
            return "there is a sound or a film, which models are not sent: take out either."
        if place.startswith("media:") and place not in seen:
            return f"the picture “{place.removeprefix('media:')}” is missing."
    return ""


def refuse_choices(choices: list[str]) -> str:
    if len(choices) <= len(LETTERS):
        return ""
    return f"there are {counted(len(choices), 'choice')}: models are shown {len(LETTERS)} at most."


def has_models_only(pool: Pool) -> bool:
    workers = pool.workers.all()
    return not workers.filter(endpoint=None).exists() and workers.exists()


def count_slots(pool: Pool) -> dict[str, int]:
    """Count open assignments, of the run and of a worker, that keep the pool's servers busy.

    There are half as many again as calls at once: some wait for a call to end.
    """
    servers = ModelServer.objects.filter(endpoints__worker__pool=pool).distinct()
    at_once = sum(servers.values_list("concurrency", flat=True))
    slots = max(at_once + at_once // 2, 4)
    return {"slots": slots, "slots_per_worker": max(slots // 2, 4)}
