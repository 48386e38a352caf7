"""The page of an ended run: first the selected workers, the guarantee and the cost."""

import re
from decimal import Decimal

import pytest

from selection import reports
from selection.admin.run import live
from selection.models import Run
from selection.runs import lifecycle, manual_verdicts
from tests.pages import admin_url, text_of
from tests.selection.reports.test_model_fit import odd_run
from tests.worlds import crowd, kept_run, make_run, play

pytestmark = pytest.mark.django_db

PRICE = {"price": Decimal("0.1"), "currency": "€"}


def page_of(requester, run: Run) -> tuple[str, str]:
    """Return the markup of the run's page and its words."""
    response = requester.get(admin_url("run_page", run.pk))
    return response.content.decode(), text_of(response)


def test_the_selected_and_their_guarantee_come_before_alerts_and_progress(requester):
    run = odd_run()
    lifecycle.stop_run(run)
    run.refresh_from_db()
    assert reports.guarantee_of_run(run).verdict == "weakened"
    markup, text = page_of(requester, run)
    selected = [line.worker for line in reports.worker_standings(run) if line.selected]
    last = max(markup.index(f"<b>{worker}</b>") for worker in selected[: live.MOST_NAMED])
    verdict = markup.index("The guarantee is weakened.")
    assert last < markup.index("cs-note warn") < verdict
    assert verdict < markup.index("Testing everyone") < markup.index("<h2>Details</h2>")
    assert verdict < markup.index("Download the selected as CSV")
    assert markup.count("cs-button primary") == 1
    assert text.count("The guarantee is weakened.") == 1


def test_outcome_states_accuracies_as_percentages_with_bounds(requester):
    run = kept_run()
    line = next(line for line in reports.worker_standings(run) if line.selected)
    _, text = page_of(requester, run)
    shown = re.search(rf"{line.worker} {line.name} (\d+)%, (\d+)–(\d+) ", text)
    share, lower, upper = (int(figure) for figure in shown.groups())
    assert share == round(100 * line.mean)
    assert lower <= 100 * line.lower < lower + 1
    assert upper - 1 < 100 * line.upper <= upper


def test_outcome_states_the_cost_beside_testing_everyone(requester):
    run = play(make_run(questions=300, **PRICE), crowd(1, 2))
    given = reports.count_given(run)
    assert 0 < given < 1800
    _, text = page_of(requester, run)
    assert f"{given:,} answers, €{given / 10:.2f}. Testing everyone on every question: " in text
    assert "on every question: 1,800 answers, €180.00." in text


def test_outcome_without_a_price_states_answers_alone(requester):
    run = play(make_run(questions=300), crowd(1, 2))
    given = reports.count_given(run)
    _, text = page_of(requester, run)
    assert f"{given:,} answers. Testing everyone on every question: 1,800 answers." in text


def test_a_run_that_missed_its_guarantee_says_so_beside_the_selected(requester):
    run = play(make_run(), crowd(1, 2), most=2)
    lifecycle.stop_run(run)
    markup, _ = page_of(requester, run)
    first = markup.index("cs-chosen")
    verdict = markup.index("No guarantee: there were too few answers.")
    assert first < verdict < markup.index("<h2>Details</h2>")
    assert "cs-note good" not in markup


def test_verdict_by_hand_is_stated_without_a_guarantee_too(requester):
    run = play(make_run(algorithm="uniform", budget=60), crowd(1, 2))
    manual_verdicts.override_verdict(run.candidates.get(arm=5), 1, "ada", "I know their work")
    markup, text = page_of(requester, run)
    assert reports.guarantee_of_run(run).verdict == "none"
    assert "Notes on this crowd" not in text
    assert text.count("1 accepted by hand") == 1
    assert markup.index("cs-chosen") < markup.index("1 accepted by hand")


def test_a_long_selection_leaves_room_for_the_guarantee(requester):
    run = play(make_run(n=30, k=15, questions=300), crowd(1, 15), most=3)
    lifecycle.stop_run(run)
    markup, text = page_of(requester, run)
    chosen = re.search(r"<ol class=\"cs-chosen\">.*?</ol>", markup, re.S).group()
    assert chosen.count("<li>") == live.MOST_NAMED
    assert f"See {15 - live.MOST_NAMED} more" in text


def test_a_running_run_has_no_outcome(requester):
    markup, text = page_of(requester, play(make_run(), crowd(1, 2), most=3))
    assert "cs-chosen" not in markup
    assert "Testing everyone" not in text


@pytest.mark.parametrize(("language", "first"), [("de", "xlsx"), ("en-GB", "csv"), ("fr", "xlsx")])
def test_excel_comes_first_where_decimals_have_commas(requester, language, first):
    run = make_run()
    lifecycle.stop_run(run)
    page = requester.get(
        admin_url("run_page", run.pk), headers={"accept-language": language}
    ).content.decode()
    main = re.search(r'cs-button primary" href="[^"]*/export/(\w+)/', page)
    assert main is not None
    assert main[1] == first
