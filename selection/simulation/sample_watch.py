"""The sample watch: six workers for a month; one falls in its middle."""

from datetime import timedelta

from django.db import transaction

from selection import db_clock
from selection.models import GoldAnswer, Pool, QuestionSet, Watch
from selection.watches import begin, gold, steps

from .crowd import SyntheticCrowd

NAME = "Sample watch: one of six has fallen"
WORKERS, DAYS, PER_DAY = 6, 30, 3
BEFORE, AFTER, FALLEN = 0.95, 0.35, "w3"


def prepare_sample_watch(pool: Pool, question_set: QuestionSet) -> None:
    """Create the watch with its answers, unless it exists."""
    if Watch.objects.filter(name=NAME).exists():
        return
    with transaction.atomic():
        levels = dict.fromkeys(f"w{number}" for number in range(1, WORKERS + 1))
        watch = begin.create_watch(pool, [question_set], levels, name=NAME, level=0.8, every=50)
        gold.record_gold(watch, _play_month(question_set, levels))
        GoldAnswer.objects.filter(watched__watch=watch).update(due=None)  # no other is on its way
    steps.advance_watch(watch.pk)


def _play_month(question_set: QuestionSet, workers: begin.Levels) -> list[gold.GivenGold]:
    """Return the answers; the first questions of the set belong to the sample run."""
    questions = list(question_set.questions.order_by("-number")[: DAYS * PER_DAY])
    key = {question.key: question.accepted[0] for question in questions}
    now, answers = db_clock.database_now(), []
    for place, question in enumerate(questions):
        day = place // PER_DAY
        time = now - timedelta(days=DAYS - day, hours=-8 * (place % PER_DAY))
        fallen = {FALLEN: BEFORE if day < DAYS // 2 else AFTER}
        crowd = SyntheticCrowd(dict.fromkeys(workers, BEFORE) | fallen, key)
        for worker in workers:
            response = crowd.respond(worker, question.key, question.choices)
            if response is not None:
                answers.append(gold.GivenGold(worker, question.key, response, time))
    return answers
