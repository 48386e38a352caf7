"""The report of a run: of each state and kind, self-contained, with a paragraph for a paper."""

import html
import re
from datetime import timedelta

import pytest

from selection import exports
from selection.algorithms import ALGORITHMS
from selection.exports.bibtex import citation_entry, format_bibtex
from selection.models import Run
from selection.runs import changes, lifecycle
from tests.pages import admin_url
from tests.worlds import crowd, make_pool, make_run, play

from .test_formats import CLEAR, SETTINGS, corrected, early, going, kept, kinds, mixed

pytestmark = pytest.mark.django_db


def words(run: Run) -> str:
    """Of the report, without markup."""
    page = re.sub(r"<(style|svg).*?</\1>", " ", exports.render_page(run), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def draft() -> Run:
    made = make_run(start=False, budget=500, price="0.10", epsilon=0.05)
    return Run.objects.get(pk=made.pk)


def reopened() -> Run:
    run = Run.objects.get(pk=make_run(budget=24, epsilon=0.05, slots=12).pk)
    play(run, CLEAR)
    changes.apply_changes(run, {"budget": 60}, "ada", "more money")
    return Run.objects.get(pk=run.pk)


# -- what it says


def test_a_draft_says_what_is_asked_and_nothing_that_is_not_known():
    said = words(draft())
    assert "A draft: nothing has gone out yet" in said
    assert "Select the best 2 of 6 workers" in said
    assert "fall short of the best by 5 points of 100" in said
    assert "At most 500 assignments may be handed out, for 50.00 €" in said
    assert "What it took" not in said
    assert "stands here once the run has ended" in said


def test_a_running_one_says_what_holds_so_far():
    said = words(going())
    assert "still going on" in said
    assert "Who would be selected by now" in said
    assert "When it has stopped by itself: With probability at least 0.9" in said
    assert "60 answers counted" in said
    assert "3.00 $ for 60 answers given, at 0.05 $ each" in said


def test_a_paused_one_says_so():
    run = going()
    lifecycle.pause_run(run)
    assert "paused" in words(Run.objects.get(pk=run.pk))


def test_one_that_kept_its_promise_says_it():
    said = words(kept())
    assert "The run ended because its rule to stop was met" in said
    assert "It ended early" not in said
    assert "Nobody: every worker of the run answered" in said
    assert "None: every answer was graded by the key as it was" in said


def test_one_that_ended_early_says_what_that_means():
    said = words(early())
    assert "It ended early: before what was wanted was reached" in said
    assert "what was wanted at the start is not claimed" in said
    assert "Expected" in said
    assert "ada Stopped by hand. no time" in said


def test_gold_that_was_corrected_is_told_with_its_reason():
    said = words(corrected())
    assert "accepted “yes”, now “no”" in said
    assert "ada: wrong key" in said
    assert "Once a gold question was corrected or retired" in said


def test_who_is_missing_and_who_was_judged_by_hand_is_told_with_the_reason():
    said = words(mixed())
    assert "1 withdrawn: w5." in said
    assert "w4 accepted known from before" in said
    assert "10 shown and not answered in time" in said


def test_whoever_never_answered_is_named():
    run = make_run(n=60, questions=40)
    lifecycle.stop_run(run)
    assert "60 invited, and had not answered anything: w" in words(run)
    assert "and 10 more" in words(run)


def test_several_kinds_each_have_their_selection():
    run = kinds()
    said = words(run)
    one, other = run.skills
    assert f"select the best 2 for “{one}” and the best 1 for “{other}”, each worker for" in said
    assert exports.render_page(run).count("<svg") == 3
    assert f"“{one}” (300 questions, 2 workers wanted) and “{other}”" in said


def test_one_that_was_let_go_on_says_so():
    assert "It had ended before, and was let go on" in words(reopened())


def test_a_fixed_budget_is_no_promise():
    run = play(make_run(algorithm="sar", budget=60, slots=60), CLEAR)
    assert "no promise" in words(run)
    assert "It ended early" not in words(run)


def test_quotas_stand_with_the_workers():
    pool = make_pool(6, language=["German", "Welsh"])
    asked = {"attribute": "language", "limits": {"Welsh": [1, 1]}}
    run = make_run(pool=pool, algorithm="certified", quotas=asked, **SETTINGS)
    said = words(play(run, CLEAR))
    assert "Quotas by language Welsh exactly 1" in said
    assert "Language" in said


def test_twenty_thousand_names_do_not_make_it_endless():
    run = play(make_run(n=120, k=50, questions=60, slots=600), crowd(1, 60), most=2)
    page = exports.render_page(run)
    assert page.count('class="tick"') == 45
    assert "75 more workers are not drawn" in page


# -- the paragraph and what it cites


def test_the_paragraph_has_all_that_a_reader_needs():
    run = kept()
    said = words(run).split("For a paper")[1]
    for part in (
        "We chose 2 of 6 workers",
        "(200 questions)",
        "LUCB1 (Kalyanakrishnan, Tewari, Auer, Stone 2012, Theorem 1)",
        "ε = 0.6, δ = 0.1",
        "The run ended because its rule to stop was met. With probability at least 0.9",
        "This assumes that",
        "The seed of the run was 7",
        "@inproceedings{kalyanakrishnan2012pac",
    ):
        assert part in said


def test_every_algorithm_cites_a_paper_or_is_ours():
    for algorithm in ALGORITHMS.values():
        citation = algorithm.promise.citation
        assert citation_entry(citation) or citation.startswith("Ours"), citation
        entries = format_bibtex(citation)
        assert entries.count("{") == entries.count("}")
        assert entries.count("@") == 1 + bool(citation_entry(citation))


# -- the page


def test_nothing_outside_the_page_is_needed_and_nothing_in_it_runs(requester):
    run = kept()
    response = requester.get(admin_url("run_report", run.pk))
    policy = response["Content-Security-Policy"]
    page = response.content.decode()
    assert "script-src" not in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert not re.search(r"<(script|link|img|iframe|object)|style=|url\(|@import| on\w+=", page)
    assert re.findall(r'(?:href|src)="([^"]*)"', page) == [admin_url("run_page", run.pk)]
    assert "href" not in exports.render_page(run)


def test_names_are_never_taken_for_markup():
    run = make_run(name="<b>run</b>")
    run.pool.workers.filter(key="w0").update(name="<script>alert(1)</script>", key="<i>w0</i>")
    play(run, lambda slip: "yes", most=2)
    page = exports.render_page(run)
    assert "<script>" not in page
    assert "<i>w0" not in page
    assert "<b>run" not in page


def test_every_state_leads_to_its_report(requester):
    for make in (draft, going, early):
        run = make()
        assert requester.get(admin_url("run_report", run.pk)).status_code == 200
        page = requester.get(admin_url("run_page", run.pk)).content.decode()
        assert admin_url("run_report", run.pk) in page


def test_a_long_course_is_drawn_with_few_points():
    run = play(make_run(slots=2, slots_per_worker=1, epsilon=0.01, questions=40), CLEAR)
    step = run.history.last()
    run.history.bulk_create(
        type(step)(
            **{name: getattr(step, name) for name in ("run", "accepted", "rejected", "gap")},
            number=step.number + i,
            at=step.at + timedelta(seconds=i),
            applied=1,
            dealt=0,
            wanted=0.0,
        )
        for i in range(1, 900)
    )
    points = re.search(r'class="course" points="([^"]*)"', exports.render_page(run))[1].split()
    assert len(points) <= 302
    assert points[-1] == "640.0,0.0"
