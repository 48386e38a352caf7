"""Only workers shown to reach the pass mark are selected, with any rule."""

import pytest
from django.test import Client

from packages.topk.tests.parameters import mostly_slow
from selection import engine, reports
from selection.admin.page import object_url
from selection.engine.rejudge import rejudge
from selection.errors import Refused
from selection.models import Answer, Run
from selection.reports.dump import dump_run
from selection.runs import lifecycle
from selection.runs.settings import drafts
from tests import worlds
from tests.selection.api.conftest import Program
from topk.verify import verify_dump

pytestmark = pytest.mark.django_db

RULES = ("certified", "credible", "kl-racing", "uniform")


def play(good: int, **fields) -> Run:
    """Play a run among six workers: so many are always right, the others half."""
    usual = {"n": 6, "k": 3, "questions": 150, "slots": 120, "slots_per_worker": 20}
    run = worlds.make_run(**(usual | {"pass_mark": 0.75, "epsilon": 0.5} | fields))
    return worlds.play(run, worlds.crowd(2, good, 1.0, 0.5))


@pytest.mark.parametrize("rule", mostly_slow(RULES, ("certified", "uniform")))
def test_only_who_reach_the_mark_are_selected(rule: str) -> None:
    run = play(2, algorithm=rule, budget=300 if rule == "uniform" else None)
    lines = reports.worker_standings(run)
    selected = sorted(line.worker for line in lines if line.selected)
    assert selected == ["w0", "w1"]
    assert {line.mark for line in lines if line.selected} == {"reaches the mark"}
    assert run.candidates.filter(verdict=1).count() == 2
    document = reports.export_run(run)
    assert len(document["workers"]) == 2
    assert "1 of them is not selected" in document["guarantee"]
    assert "each of the 2 selected answers at least 75% right" in document["mark_guarantee"]
    assert verify_dump(dump_run(run)).same


def test_run_goes_on_until_the_marks_are_shown() -> None:
    marked, plain = play(3, algorithm="certified"), play(3, algorithm="certified", pass_mark=None)
    assert marked.ending == plain.ending == Run.Ending.GUARANTEE
    assert sum(line.selected for line in reports.worker_standings(marked)) == 3
    assert marked.count_spent() > plain.count_spent()


def test_run_ends_with_its_guarantee_when_questions_run_out() -> None:
    run = play(3, questions=25, pass_mark=0.95, algorithm="certified")
    assert run.ending == Run.Ending.GUARANTEE
    lines = reports.worker_standings(run)
    assert not any(line.selected for line in lines)
    assert reports.claims_at_end(run, lines).mark_guarantee.startswith(
        "Pass mark: no worker is selected"
    )


def test_the_mark_counts_after_a_correction() -> None:
    run = play(3, algorithm="certified")
    assert run.candidates.filter(verdict=1).count() == 3
    lost = run.candidates.get(worker__key="w0")
    wrong = Answer.objects.filter(
        assignment__candidate=lost, assignment__position__gte=round(0.7 * lost.pulls)
    )
    wrong.update(right=False)
    rejudge(run)
    assert run.finished
    worst_third = run.candidates.exclude(worker__key__in=("w0", "w1", "w2")).order_by("-rewards")[0]
    lost.refresh_from_db()
    assert lost.rewards / lost.pulls > worst_third.rewards / worst_third.pulls
    assert lost.verdict == -1
    assert run.candidates.filter(verdict=1).exists()


def test_mark_of_a_question_set_is_shown_by_all_its_questions() -> None:
    options = {"accuracy": "on this question set"}
    run = play(3, questions=40, algorithm="universal", options=options)
    assert sum(line.selected for line in reports.worker_standings(run)) == 3
    assert "of this question set right" in reports.export_run(run)["mark_guarantee"]


def test_early_end_selects_only_who_reached_the_mark() -> None:
    run = worlds.make_run(n=6, k=2, questions=60, slots=60, pass_mark=0.3)
    for _ in range(6):
        engine.advance(run.pk)
        worlds.answer_all(run, worlds.crowd(2, 4, 1.0, 0.2))
    marks = {line.mark for line in reports.worker_standings(run)}
    assert "reaches the mark" in marks
    lifecycle.stop_run(run)
    run.refresh_from_db()
    lines = reports.worker_standings(run)
    assert all(line.mark == "reaches the mark" for line in lines if line.selected)
    assert verify_dump(dump_run(run)).same


def test_page_api_and_report_state_the_mark(requester: Client, token: str) -> None:
    run = play(2, algorithm="credible")
    page = requester.get(object_url(run)).text
    sentence = reports.export_run(run)["mark_guarantee"]
    assert sentence in page
    assert "reaches the mark" in page
    reply = Program(token).get(f"runs/{run.pk}/selection").json()
    assert (reply["pass_mark"], reply["mark_guarantee"]) == (0.75, sentence)
    assert reply["workers"][0]["mark"] == "reaches the mark"


@pytest.mark.parametrize("mark", [0.0, 1.0, -0.5, 80.0])
def test_mark_outside_the_shares_is_refused(mark: float) -> None:
    pool, gold = worlds.make_pool(3), worlds.make_questions(5)
    given = {"name": "Marked", "pool": pool, "question_set": gold, "k": 1, "pass_mark": mark}
    with pytest.raises(Refused, match="The pass mark must be above 0 and below 1"):
        drafts.create_draft(given)


def test_copy_keeps_the_mark() -> None:
    run = worlds.make_run(n=6, k=2, pass_mark=0.7)
    assert drafts.copy_run(run, "Again").pass_mark == 0.7
