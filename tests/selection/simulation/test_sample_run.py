"""The sample pool, question set and run."""

from io import StringIO

import numpy as np
import pytest
from django.core.management import call_command

from selection.imports import row_parsers
from selection.models import Candidate, Pool, QuestionSet, Run
from selection.simulation import crowd, sample_run
from tests import file_rows, worlds
from tests.worlds import make_run
from topk.simulate import simulate_run

MOST = 1800  # answers: two minutes at fifteen a second
SEEDS = 3


def sample(*options):
    output = StringIO()
    call_command("sample", *options, stdout=output)
    return int(output.getvalue())


@pytest.mark.django_db
def test_sample_run_is_started_once():
    first, again = sample(), sample()
    assert first == again
    run = Run.objects.get()
    assert (run.pk, run.status, run.k, run.candidates.count()) == (first, "running", 6, 24)
    assert Candidate.objects.exclude(worker__name="").count() == 24


@pytest.mark.django_db
def test_gold_file_matches_the_questions(tmp_path):
    sample("--gold-out", str(tmp_path / "new" / "gold.csv"))
    gold = file_rows.parse_gold(row_parsers.read_path(tmp_path / "new" / "gold.csv"), "gold")
    questions = Run.objects.get().question_set.questions.all()
    assert {question.key: question.accepted[0] for question in questions} == gold


def test_questions_are_distinct_with_the_answer_among_four():
    questions = sample_run.sample_questions()
    assert len({question.prompt for question in questions}) == len(questions) >= 1200
    for question in questions:
        left, right = question.prompt.removeprefix("What is ").removesuffix("?").split(" + ")
        assert question.accepted == [str(int(left) + int(right))]
        assert len(set(question.choices)) == 4
        assert question.accepted[0] in question.choices


def test_sample_is_always_the_same():
    assert sample_run.sample_questions() == sample_run.sample_questions()
    assert sample_run.sample_workers() == sample_run.sample_workers()
    assert len({worker.name for worker in sample_run.sample_workers()}) == 24


@pytest.mark.django_db
def test_the_run_keeps_its_guarantee_soon_enough_to_be_watched():
    run = sample_run.prepare_sample_run()
    means = np.array(list(crowd.draw_accuracies(24, seed=0).values()))
    best = np.sort(means)[-run.k :].mean()
    for seed in range(10):
        outcome = simulate_run(
            run.algorithm, means, k=run.k, epsilon=run.epsilon, delta=run.delta, seed=seed
        )
        assert outcome.reasons == ("guarantee",)
        assert best - means[outcome.selection].mean() <= run.epsilon
        assert outcome.pulls <= MOST
        assert outcome.pulls_per_arm.max() <= run.deck_size


@pytest.mark.django_db
def test_the_readme_s_first_selection_keeps_its_guarantee_on_40_questions(tmp_path):
    sample_run.prepare_sample_run(tmp_path / "gold.csv")
    answers, bad = file_rows.parse_answers(
        row_parsers.read_path(tmp_path / "sample-answers.csv"), "answers"
    )
    assert (len(answers), bad) == (24 * sample_run.SHORT, [])
    responses = {(row.worker, row.question): row.response for row in answers}
    pool, question_set = Pool.objects.get(), QuestionSet.objects.get(name=sample_run.SHORT_NAME)
    for seed in range(SEEDS):
        run = make_run(
            pool=pool,
            question_set=question_set,
            k=6,
            algorithm="credible",
            epsilon=0.1,
            delta=0.05,
            slots=100,
            seed=seed,
        )
        worlds.play(run, lambda slip: responses[slip.candidate.worker.key, slip.question.key])
        assert run.ended_by_guarantee
        assert sum(run.candidates.values_list("pulls", flat=True)) <= 200
