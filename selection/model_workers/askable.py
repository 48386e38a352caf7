"""Questions that no model can be asked, found before a run starts."""

from collections.abc import Iterable

from django.db.models import OuterRef, Subquery

from selection.models import Endpoint, ModelServer, Pool, Question, QuestionSet
from selection.texts import counted

from .prompts import LETTERS, MEDIA, UNSEEN, list_fields


def list_columns(team: int | None) -> list[str]:
    """List the columns that a template may name: each set's, by its first question with any."""
    questions = Question.objects.filter(question_set=OuterRef("pk")).exclude(columns={})
    first = Subquery(questions.order_by("number").values("columns")[:1])
    found = QuestionSet.objects.filter(team=team).annotate(columns=first).exclude(columns=None)
    return sorted({name for columns in found.values_list("columns", flat=True) for name in columns})


def refuse_questions(question_set: QuestionSet, models: Iterable[Endpoint]) -> str:
    """Refuse a set that models cannot be asked, naming the first such question; empty if none."""
    fields = {name for model in models for name in list_fields(model.template)}
    named = fields.intersection(list_columns(question_set.team_id)) if fields else set()
    pictures = question_set.media.filter(type__startswith="image/")
    names = {f"media:{name}" for name in pictures.values_list("name", flat=True)}
    if reason := refuse_text(question_set.instructions, names):
        return f"Models take part, and in the instructions of “{question_set}” {reason}"
    rows = question_set.questions.filter(retired=None).order_by("number")
    parts = rows.values_list("key", "prompt", "choices", "columns")
    for key, prompt, choices, columns in parts.iterator():
        if missing := named - columns.keys():
            column = f"the column “{min(missing)}”, which the template of a model names"
            return f"The question “{key}” of “{question_set}” lacks {column}."
        text = "\n".join([prompt, *(columns[name] for name in named)])
        if reason := refuse_text(text, names) or refuse_choices(choices):
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
