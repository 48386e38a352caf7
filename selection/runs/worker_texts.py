"""Texts on a worker's page besides the questions: pay, completion codes, next steps."""

from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

from django.db import transaction
from django.utils.crypto import salted_hmac

from selection.errors import Refused
from selection.history import events
from selection.models import Run

Outcome = Literal["done", "screened", "nothing"]
OUTCOMES: dict[Outcome, str] = {
    "done": "all questions answered",
    "screened": "screened out, left or removed",
    "nothing": "no question available",
}
LONGEST_CODE = 60
PLACES = 4  # decimal places of the pay


@dataclass(frozen=True)
class PageFacts:
    """The requester's texts for the worker's page.

    pay    pay for an answer; None: pay is not mentioned
    codes  completion codes by outcome; a missing one is generated
    after  the next steps, in the requester's words
    """

    pay: Decimal | None = None
    codes: dict[str, str] = field(default_factory=dict)
    after: str = ""

    @classmethod
    def from_run(cls, run: Run) -> "PageFacts":
        stored = run.page
        pay = stored.get("pay")
        return cls(
            None if pay is None else Decimal(pay),
            stored.get("codes", {}),
            stored.get("after", ""),
        )

    def stored(self) -> dict[str, Any]:
        pay = None if self.pay is None else str(self.pay)
        return {name: value for name, value in (asdict(self) | {"pay": pay}).items() if value}


def completion_code(run: Run, outcome: Outcome) -> str:
    """Choose the completion code, which is the same for all workers of this outcome."""
    code: str = run.page.get("codes", {}).get(outcome, "")
    return code or generated_code(run, outcome)


def generated_code(run: Run, outcome: Outcome) -> str:
    """Generate a code of eight characters that is unguessable and stable."""
    digest = salted_hmac("selection.code", f"{run.pk} {outcome}").hexdigest()
    return digest[:8].upper()


@transaction.atomic
def change_facts(run: Run, facts: PageFacts, who: str = "") -> None:
    """Change the texts, at any time: the platform's codes are often known only during the run.

    Raises Refused for two outcomes with one code, a code that is too long, and more than four
    decimal places of pay.
    """
    facts = _tidy_codes(run, facts)
    _validate_facts(run, facts)
    locked = Run.objects.lock(run.pk)
    if locked.page == facts.stored():
        return
    locked.page = facts.stored()
    locked.save(update_fields=["page"])
    events.write_event(locked, "worker page", "What workers are told was changed.", who)


def _tidy_codes(run: Run, facts: PageFacts) -> PageFacts:
    """Drop codes that are empty or equal to the generated ones."""
    stripped = {outcome: facts.codes.get(outcome, "").strip() for outcome in OUTCOMES}
    codes: dict[str, str] = {
        name: code for name, code in stripped.items() if code and code != generated_code(run, name)
    }
    return replace(facts, codes=codes)


def _validate_facts(run: Run, facts: PageFacts) -> None:
    codes = [facts.codes.get(outcome) or generated_code(run, outcome) for outcome in OUTCOMES]
    if len(set(codes)) < len(codes):
        raise Refused("Two outcomes have the same code; use different codes, or leave them blank.")
    if any(len(code) > LONGEST_CODE for code in codes):
        raise Refused(f"A code has at most {LONGEST_CODE} characters.")
    if facts.pay is not None and facts.pay != round(facts.pay, PLACES):
        raise Refused(f"The pay has at most {PLACES} decimal places.")
