"""Report of a run: for each state and kind, self-contained, with a paragraph for a paper."""

import html
import re
from datetime import timedelta

import pytest
from django.test import Client

from selection import exports, reports
from selection.algorithms import ALGORITHMS
from selection.exports.methods_paragraph import format_bibtex
from selection.models import Run
from selection.runs import changes, lifecycle
from selection.version import __version__
from tests.pages import admin_url, text_of
from tests.worlds import crowd, make_pool, make_run, play

from .test_formats import (
    CLEAR,
    SETTINGS,
    corrected,
    early,
    kept,
    kinds,
    mixed,
    running,
)

pytestmark = pytest.mark.django_db


def report_text(run: Run) -> str:
    """Return the text of the report, without markup."""
    page = re.sub(r"<(style|svg).*?</\1>", " ", exports.render_page(run), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def draft() -> Run:
    run = make_run(start=False, budget=500, price="0.10", epsilon=0.05)
    return Run.objects.get(pk=run.pk)


def reopened() -> Run:
    run = Run.objects.get(pk=make_run(budget=24, epsilon=0.05, slots=12).pk)
    play(run, CLEAR)
    changes.apply_changes(run, {"budget": 60}, "ada", "more money")
    return Run.objects.get(pk=run.pk)


# -- contents


def test_draft_report_has_settings_only():
    text = report_text(draft())
    assert "A draft: no questions have been sent" in text
    assert "Select the best 2 of 6 workers" in text
    assert "at most 5 percentage points below the best" in text
    assert "The budget is 500 answers (50.00 €)" in text
    assert "Answers and cost" not in text
    assert "appears here after the end of the run" in text


def test_running_report_states_the_present_guarantee():
    text = report_text(running())
    assert "still running" in text
    assert "Current selection" in text
    assert "Target: With probability at least 90%" in text
    assert "60 answers counted" in text
    assert "3.00 $ for 60 answers given, at 0.05 $ each" in text


def test_report_of_a_paused_run():
    run = running()
    lifecycle.pause_run(run)
    assert "paused" in report_text(Run.objects.get(pk=run.pk))


def test_report_of_a_kept_guarantee():
    text = report_text(kept())
    assert "The run ended because its rule to stop was met" in text
    assert "target is not claimed" not in text
    assert "None: every worker of the run answered" in text
    assert "None: every answer was graded by the original key" in text


def test_report_of_an_early_end():
    text = report_text(early())
    assert "The guarantee covers exactly the selected workers" in text
    assert "The original target is not claimed" in text
    assert "Expected" in text
    assert "ada Stopped by hand. no time" in text


def test_report_lists_gold_corrections_with_reasons():
    text = report_text(corrected())
    assert "accepted “yes”, now “no”" in text
    assert "ada: wrong key" in text
    assert "One gold question was corrected or retired" in text


def test_report_lists_missing_workers_and_verdicts_by_hand():
    text = report_text(mixed())
    assert "1 withdrawn: w5." in text
    assert "w4 accepted known from before" in text
    assert "10 answered too late or not at all" in text


def test_report_names_workers_without_answers():
    run = make_run(n=60, questions=40)
    lifecycle.stop_run(run)
    assert "60 on the roster without any answer: w" in report_text(run)
    assert "and 10 more" in report_text(run)


def test_several_kinds_each_have_their_selection():
    run = kinds()
    text = report_text(run)
    first, second = run.skills
    assert f"select the best 2 for “{first}” and the best 1 for “{second}”, each worker for" in text
    assert exports.render_page(run).count("<svg") == 3
    assert f"“{first}” (300 questions, 2 workers wanted) and “{second}”" in text


def test_report_of_a_reopened_run():
    assert "The run had ended before, and was resumed" in report_text(reopened())


def test_a_fixed_budget_is_no_guarantee():
    run = play(make_run(algorithm="sar", budget=60, slots=60), CLEAR)
    assert "no guarantee" in report_text(run)
    assert "The run ended early" not in report_text(run)


def test_quotas_stand_with_the_workers():
    pool = make_pool(6, language=["German", "Welsh"])
    quotas = {"attribute": "language", "limits": {"Welsh": [1, 1]}}
    run = make_run(pool=pool, algorithm="certified", quotas=quotas, **SETTINGS)
    text = report_text(play(run, CLEAR))
    assert "Quotas by language Welsh exactly 1" in text
    assert "Language" in text


def test_twenty_thousand_names_do_not_make_it_endless():
    run = play(make_run(n=120, k=50, questions=60, slots=600), crowd(1, 60), most=2)
    page = exports.render_page(run)
    assert page.count('class="tick"') == 45
    assert "75 more workers are not drawn" in page


# -- the paragraph and its citations


def test_methods_paragraph_is_complete():
    run = kept()
    text = report_text(run).split("For a paper")[1]
    for part in (
        "We chose 2 of 6 workers",
        "(200 questions)",
        "LUCB1 (Kalyanakrishnan, Tewari, Auer, Stone 2012, Theorem 1)",
        "ε = 0.6, δ = 0.1",
        "The run ended because its rule to stop was met. With probability at least 90%",
        "This assumes that",
        "The seed of the run was 7",
        "@inproceedings{kalyanakrishnan2012pac",
    ):
        assert part in text


def test_algorithms_cite_a_paper_or_are_ours():
    for algorithm in ALGORITHMS.values():
        citation = algorithm.guarantee.citation
        entries = format_bibtex(citation)
        assert entries.count("{") == entries.count("}")
        assert entries.count("@") == 2 or citation.startswith("Ours"), citation


# -- the page


def test_page_is_self_contained_without_scripts(requester):
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


def test_states_lead_to_their_report(requester):
    for make in (draft, running, early):
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


@pytest.mark.parametrize("url", ["https://crowd.example.org", "http://127.0.0.1:8000"])
def test_the_software_is_cited_with_version_and_address(settings, url):
    settings.CITATION_URL = url
    text = report_text(kept())
    shown = url.startswith("https")
    assert f"version = {{{__version__}}}" in text
    assert (f"url = {{{url}}}" in text) is shown
    place = f" ({url})" if shown else ""
    assert f"as CrowdSelect {__version__}{place} implements it" in text


@pytest.mark.parametrize(
    ("name", "scope"),
    [
        ("credible", "95 % credible interval for one worker at one look"),
        ("universal", "95 % credible interval for one worker at one look"),
        ("certified", "confidence bounds at all times at once"),
        ("kl-lucb", "confidence bounds at all times at once"),
        ("pair-lucb", "bounds that the algorithm compares"),
    ],
)
def test_bounds_have_one_definition_in_pages_files_and_api(name, scope, requester, token):
    run = make_run(algorithm=name)
    meaning = reports.interval_meaning(run)
    assert meaning.startswith(f"{scope}: ")
    page = text_of(requester.get(admin_url("run_page", run.pk)))
    assert f"Range {meaning[0].upper()}{meaning[1:]}." in page
    assert f"From, To: {meaning}." in report_text(run)
    api = Client(headers={"authorization": f"Bearer {token}"})
    assert api.get(f"/api/runs/{run.pk}/selection").json()["interval"] == meaning


def test_bounds_of_every_algorithm_say_when_they_hold():
    scopes = "at one look", "at all times at once", "need not hold"
    for kind in ALGORITHMS.values():
        assert any(scope in kind.interval for scope in scopes), kind.name
