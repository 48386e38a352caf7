"""Texts at a worker's end: completion code, earnings, next steps."""

from dataclasses import dataclass

from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from selection.models import Candidate, Platform
from selection.questions.sanitize import QuestionTexts
from selection.runs import join_platforms, money, worker_texts
from selection.runs.join_platforms import Visit
from selection.runs.worker_texts import Outcome, PageFacts


@dataclass(frozen=True)
class EndText:
    """Texts of the last page; pay and earned are empty if the run does not state its pay.

    back  address that takes workers back to their platform, and its label; else empty
    """

    code: str
    back: str
    back_label: str
    after: SafeString
    pay: str
    earned: str


def end_text(candidate: Candidate, state: str, answered: int, gone: str) -> EndText:
    run = candidate.run
    facts = PageFacts.from_run(run)
    outcome = _end_outcome(state, answered, gone)
    code = worker_texts.completion_code(run, outcome)
    visit = Visit.from_candidate(candidate)
    back = join_platforms.return_address(run, visit, code, done=outcome == "done")
    label = return_label(candidate.platform)
    after = QuestionTexts(True, {}).html(facts.after)
    if facts.pay is None:
        return EndText(code, back, label, after, pay="", earned="")
    earned = money.compute_cost(answered, facts.pay, run.currency)
    amounts = (money.format_amount(amount, run.currency) for amount in (facts.pay, earned))
    return EndText(code, back, label, after, *amounts)


def return_label(platform: str) -> str:
    if not platform:
        return ""
    if platform == Platform.CUSTOM:
        return _("Go back to the platform")
    return _("Go back to %(platform)s") % {"platform": Platform(platform).label}


def _end_outcome(state: str, answered: int, gone: str) -> Outcome:
    """Return the outcome that selects the code; accepted and rejected workers get the same one."""
    if gone:
        return "screened"
    return "done" if state in ("done", "over") and answered else "nothing"
