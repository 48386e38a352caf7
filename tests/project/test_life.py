"""Three small studies that real life happens to, on the real stack, each to its end."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from django.db.models import Exists, OuterRef
from django.utils import timezone

from selection import wakeups
from selection.answers import overdue, presence, recording
from selection.models import Answer, Assignment, Question, Run
from selection.questions import corrections
from selection.questions.corrections import Gold
from selection.runs import changes
from selection.runs.roster import membership
from tests.processes import celery_worker, wait_until
from tests.worlds import make_run

pytestmark = pytest.mark.django_db(transaction=True)

N, ABSENT, GOOD, WRONG = 10, 3, 4, 5
STUDIES = {"certified": 0.1, "credible": 0.03, "adaptive-top-k": 0.6}
TRUTH = {f"w{i}": 0.95 if i < GOOD else 0.3 for i in range(N)}


class Study:
    """A crowd before a run: the last three never come, some are slow, some answers are lost."""

    def __init__(self, algorithm: str, epsilon: float, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        # Attendance does not depend on accuracy.
        self.absent = {f"w{i}" for i in self.rng.permutation(N)[:ABSENT].tolist()}
        self.run = make_run(
            n=N, k=2, algorithm=algorithm, epsilon=epsilon, delta=0.2, slots=16, budget=40,
            slots_per_worker=6, questions=800, hours_to_come=1, seed=seed,
        )  # fmt: skip
        self.wrong = set(
            self.run.question_set.questions.order_by("number").values_list("pk", flat=True)[:WRONG]
        )
        Question.objects.filter(pk__in=self.wrong).update(accepted=["no"])

    @property
    def ended(self) -> bool:
        return Run.objects.get(pk=self.run.pk).status == Run.Status.ENDED

    def turn(self) -> None:
        """Present workers open the page, and answer, let the time run out, or take longer."""
        own = Assignment.objects.open().filter(candidate__run=self.run)
        own = own.exclude(candidate__worker__key__in=self.absent).filter(candidate__gone="")
        here = list(own.select_related("candidate__worker", "question").order_by("pk"))
        presence.note_presence(self.run, sorted({each.candidate_id for each in here}))
        presence.record_shown(self.run, [each.pk for each in here])
        fate = self.rng.random(len(here))
        lost = [each.pk for each, luck in zip(here, fate, strict=True) if luck < 0.05]
        Assignment.objects.filter(pk__in=lost).update(due=timezone.now() - timedelta(seconds=1))
        overdue.expire_overdue()
        prompt = [each for each, luck in zip(here, fate, strict=True) if luck > 0.2]
        said = [(each, self.says(each)) for each in prompt]
        recording.record_many(self.run, said)

    def says(self, assignment: Assignment) -> str:
        right = self.rng.random() < TRUTH[assignment.candidate.worker.key]
        return "yes" if right else "no"

    def absence(self) -> None:
        """The time to come is over for workers never seen."""
        past = timezone.now() - timedelta(hours=2)
        Run.objects.filter(pk=self.run.pk).update(absence_since=past)

        def swept() -> bool:
            membership.sweep_absent()
            return self.run.candidates.filter(gone="absent").exists()

        # A sweep passes over a run that a step holds; the beat comes again, and so does this.
        wait_until(swept, "the sweep to reach the run")

    def raise_budget(self) -> None:
        changes.apply_changes(self.run, {"budget": 5000}, "her", "it was too little")

    def withdraw_any(self) -> None:
        there = self.run.candidates.filter(gone="").exclude(verdict=1).order_by("arm")
        keys = list(there.values_list("worker__key", flat=True))
        membership.withdraw_workers(self.run, [str(self.rng.choice(keys))], "her", "she asked to")

    def withdraw_the_worst(self) -> None:
        there = self.run.candidates.filter(gone="", pulls__gt=0).exclude(verdict=1)
        wait_until(there.exists, "the answers to be counted anew")
        worst = min(there, key=lambda each: each.rewards / each.pulls)
        membership.withdraw_workers(self.run, [worst.worker.key], "her", "looks bad")

    def correct_gold(self) -> None:
        for question in Question.objects.filter(pk__in=self.wrong):
            corrections.correct_question(
                question, replace(Gold.from_question(question), accepted=["yes"]), "her", "typo"
            )

    def events(self) -> list[Callable[[], None]]:
        return [
            self.absence,
            self.raise_budget,
            self.withdraw_any,
            self.correct_gold,
            self.withdraw_the_worst,
        ]


@pytest.mark.parametrize("algorithm", STUDIES)
def test_a_study_survives_absence_wrong_gold_and_changed_minds(algorithm):
    study = Study(algorithm, STUDIES[algorithm], seed=sum(map(ord, algorithm)))
    run, events = study.run, study.events()
    with celery_worker():
        wakeups.send_step(run.pk, delay=0)
        for number in range(400):
            steps = Run.objects.get(pk=run.pk).steps
            study.turn()
            if events and number:
                events.pop(0)()
            elif not events:  # the rest may go quicker
                Run.objects.filter(pk=run.pk).update(slots=400, slots_per_worker=60)
            if study.ended:
                break
            moved(run, steps)
    run.refresh_from_db()
    assert not events, "it ended before everything had happened"
    assert run.ended_by_guarantee, run.ending
    guarantee_is_kept(study)
    nobody_absent_was_judged(study)
    nothing_unseen_lapsed(run)
    tallies_are_the_answers(run)


def moved(run: Run, steps: int) -> None:
    """Wait until the worker process took a step, or had no reason to."""

    def stepped() -> bool:
        now = Run.objects.get(pk=run.pk)
        if now.steps > steps or now.status == Run.Status.ENDED:
            return True
        wakeups.send_step(run.pk, delay=0)
        out = Assignment.objects.open().filter(candidate__run=run)
        earlier = out.filter(
            candidate=OuterRef("assignment__candidate"),
            position__lt=OuterRef("assignment__position"),
        )
        waiting = Answer.objects.filter(run=run, applied_in=None).exclude(Exists(earlier))
        return not waiting.exists() and out.exists()

    wait_until(stepped, "a step")


def guarantee_is_kept(study: Study) -> None:
    stayed = study.run.candidates.filter(gone="").select_related("worker")
    truth = sorted((TRUTH[each.worker.key] for each in stayed), reverse=True)
    chosen = [TRUTH[each.worker.key] for each in stayed if each.verdict == 1]
    assert len(chosen) == 2
    assert sum(truth[:2]) / 2 - sum(chosen) / 2 <= study.run.epsilon + 1e-9


def nobody_absent_was_judged(study: Study) -> None:
    absent = study.run.candidates.filter(gone="absent")
    assert {each.worker.key for each in absent.select_related("worker")} == study.absent
    assert set(absent.values_list("verdict", "pulls")) == {(0, 0)}
    assert study.run.candidates.filter(gone="withdrawn").count() == 2


def nothing_unseen_lapsed(run: Run) -> None:
    lapsed = Answer.objects.filter(run=run, expired=True)
    assert lapsed.exists()
    assert not lapsed.filter(assignment__shown=None).exists()


def tallies_are_the_answers(run: Run) -> None:
    asked = 0
    for candidate in run.candidates.all():
        own = Answer.objects.filter(assignment__candidate=candidate).exclude(applied_in=None)
        right = list(own.order_by("assignment__position").values_list("right", flat=True))
        assert (candidate.pulls, candidate.rewards) == (len(right), sum(right))
        assert candidate.asked == candidate.assignments.count()
        asked += candidate.asked
    assert asked <= run.budget
