"""Learning from an earlier run: only on request, copied once, shown, and removable."""

import pytest
from django.test import Client

from selection import engine, reports
from selection.models import Run
from selection.runs import lifecycle
from selection.runs.settings import priors
from tests.pages import admin_url, json_of, lines_of, press, run_form, text_of
from tests.worlds import crowd, make_pool, make_questions, make_run, play

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]


@pytest.fixture
def earlier() -> Run:
    """Return a run of 30 workers that was stopped after some answers of each."""
    run = make_run(n=30, k=5, algorithm="credible", slots=60, name="Spring", epsilon=0.01)
    play(run, crowd(2, 30, high=0.75), most=4)
    lifecycle.stop_run(run)
    run.refresh_from_db()
    return run


def post(requester, earlier: Run, chosen: object, **changes: object):
    form = run_form(make_pool(10), earlier.question_set, name="Autumn", algorithm="credible")
    form |= {"learn_from": chosen} | changes
    return requester.post(admin_url("run_add"), form, follow=True)


def learning_run(earlier: Run, **fields: object) -> Run:
    values = {"n": 10, "k": 3, "algorithm": "credible", "question_set": earlier.question_set}
    return make_run(**values | {"options": {"prior": priors.copy_prior(earlier.pk)}} | fields)


def test_run_learns_only_if_asked(requester, earlier):
    post(requester, earlier, "")
    assert Run.objects.get(name="Autumn").options == {}


def test_form_lists_earlier_runs_to_learn_from(requester, earlier):
    make_run(name="Still running")
    unanswered = make_run(name="Without answers")
    lifecycle.stop_run(unanswered)
    page = requester.get(admin_url("run_add"), {"full": 1}).content.decode()
    answers = sum(earlier.candidates.values_list("pulls", flat=True))
    assert f"Spring: 30 workers of {earlier.pool}, {answers} answers" in page
    assert f'<optgroup label="{earlier.question_set}"' in page
    assert "Still running:" not in page
    assert "Without answers:" not in page


def test_form_says_if_there_is_no_earlier_run(requester):
    words = text_of(requester.get(admin_url("run_add"), {"full": 1}))
    assert "No run with answers has ended yet" in words


def test_tallies_are_copied_and_the_page_names_them(requester, earlier):
    words = text_of(post(requester, earlier, earlier.pk))
    prior = Run.objects.get(name="Autumn").options["prior"]
    assert prior["worth"] == 20
    assert sum(workers for _, _, workers in prior["tallies"]) == 30
    answers = sum(earlier.candidates.values_list("pulls", flat=True))
    assert f"“Spring” on “{earlier.question_set}”: 30 workers with {answers} answers" in words
    assert "counting as 20 workers" in words
    assert "tallies" not in words
    assert "asked other questions" not in words


def test_page_doubts_a_prior_from_other_questions(requester, earlier):
    form = {"question_set": make_questions(30).pk}
    words = text_of(post(requester, earlier, earlier.pk, **form))
    assert f"“Spring” asked other questions, of “{earlier.question_set}”" in words


def test_prior_can_be_removed_before_the_start(requester, earlier):
    run = learning_run(earlier, start=False)
    assert "no longer uses results of an earlier one" in press(requester, run, "forget")
    assert run.options == {}
    started = learning_run(earlier)
    assert "only a run that is draft can do that" in press(requester, started, "forget")
    assert "prior" in started.options


def test_changing_other_settings_keeps_the_copy_and_nothing_takes_it_away(requester, earlier):
    run = learning_run(earlier, start=False)
    before = run.options
    earlier.delete()
    page = requester.get(admin_url("run_change", run.pk)).content.decode()
    assert "Keep “Spring”" in page
    form = run_form(run.pool, run.question_set, algorithm="credible", k=4)
    requester.post(admin_url("run_change", run.pk), form | {"learn_from": "kept"})
    run.refresh_from_db()
    assert (run.k, run.options) == (4, before)
    requester.post(admin_url("run_change", run.pk), form | {"learn_from": ""})
    run.refresh_from_db()
    assert run.options == {}


def test_algorithms_without_priors_learn_from_no_run(requester, earlier):
    post(requester, earlier, earlier.pk, algorithm="lucb")
    assert Run.objects.get(name="Autumn").options == {}


def test_a_run_that_is_gone_is_refused_in_one_sentence(requester, earlier):
    response = post(requester, earlier, 999)
    assert text_of(response).count("This run has no usable answers") == 2  # also in the summary
    assert not Run.objects.filter(name="Autumn").exists()


def test_the_run_goes_on_when_the_earlier_one_is_deleted(earlier):
    run = learning_run(earlier)
    earlier.delete()
    assert engine.advance(run.pk) is not None
    play(run, crowd(2, 10, high=0.75), most=3)
    assert reports.model_fit(run).population is not None


def test_prior_changes_the_estimated_population(earlier):
    """A crowd with few answers looks like the earlier one."""
    alone, learning = make_run(n=10, k=3, algorithm="credible"), learning_run(earlier)
    for run in (alone, learning):
        play(run, crowd(2, 10, high=0.75), most=1)
        play(run, crowd(2, 10, high=0.75), most=1)
    found = [reports.model_fit(run).population for run in (alone, learning)]
    assert found[1].spread < found[0].spread


def test_page_and_files_tell_of_it_without_the_tallies(requester, earlier, token):
    run = play(learning_run(earlier), crowd(2, 10, high=0.75), most=3)
    page = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "Based on “Spring”" in page
    assert "similar to the workers of “Spring”" in page
    assert "tallies" not in page
    document = json_of(requester.get(admin_url("run_export", run.pk, "json")))
    assert document["learned_from"]["run"] == "Spring"
    assert document["options"]["prior"]["tallies"]
    assert "tallies" not in "".join(lines_of(requester.get(admin_url("run_selected_csv", run.pk))))
    shown = Client(headers={"authorization": f"Bearer {token}"}).get(f"/api/runs/{run.pk}").json()
    assert shown["learned_from"]["counts_as"] == 20
    assert "prior" not in shown["options"]
