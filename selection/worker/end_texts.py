"""Texts at a worker's end: completion code, earnings, next steps."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.utils.safestring import SafeString

from selection.models import Candidate
from selection.questions.sanitize import QuestionTexts
from selection.runs import money, worker_texts
from selection.runs.worker_texts import Outcome, PageFacts

PROLIFIC = "https://app.prolific.com/submissions/complete"


@dataclass(frozen=True)
class EndText:
    """Texts of the last page; pay and earned are empty if the run does not state its pay.

    back  address to hand in the code, for workers from Prolific; else empty
    """

    code: str
    back: str
    after: SafeString
    pay: str
    earned: str


def end_text(candidate: Candidate, state: str, answered: int, gone: str) -> EndText:
    run = candidate.run
    facts = PageFacts.from_run(run)
    code = worker_texts.completion_code(run, _end_outcome(state, answered, gone))
    back = prolific_return_url(code) if candidate.platform == Candidate.Platform.PROLIFIC else ""
    after = QuestionTexts(True, {}).html(facts.after)
    if facts.pay is None:
        return EndText(code, back, after, pay="", earned="")
    earned = money.compute_cost(answered, facts.pay, run.currency)
    amounts = (money.format_amount(amount, run.currency) for amount in (facts.pay, earned))
    return EndText(code, back, after, *amounts)


def prolific_return_url(code: str) -> str:
    """Return the address where Prolific takes the completion code."""
    return f"{PROLIFIC}?{urlencode({'cc': code})}"


def _end_outcome(state: str, answered: int, gone: str) -> Outcome:
    """Return the outcome that selects the code; accepted and rejected workers get the same one."""
    if gone:
        return "screened"
    return "done" if state in ("done", "over") and answered else "nothing"
