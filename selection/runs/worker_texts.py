"""What a run's workers are told on their page beside the questions: pay, codes, what comes next."""

from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any, Literal

from django.db import transaction
from django.utils.crypto import salted_hmac

from selection.errors import NotFound, Refused
from selection.history import events
from selection.models import Run

Outcome = Literal["done", "screened", "nothing"]
OUTCOMES: dict[Outcome, str] = {
    "done": "when they have answered all that they are asked",
    "screened": "when they were not let in, have left or were taken out",
    "nothing": "when there is no question for them just now",
}
LONGEST_CODE = 60
PLACES = 4  # of the pay


@dataclass(frozen=True)
class PageFacts:
    """pay    what a worker gets for an answer; None: nothing is said about pay
    codes  to hand in on the platform, by outcome; where there is none, one is made up
    after  what happens next, in the requester's words
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
    """What the worker hands in on the platform; the same for everybody of this outcome."""
    given: str = run.page.get("codes", {}).get(outcome, "")
    return given or generated_code(run, outcome)


def generated_code(run: Run, outcome: Outcome) -> str:
    """Eight characters that nobody guesses and that are the same every time."""
    digest = salted_hmac("selection.code", f"{run.pk} {outcome}").hexdigest()
    return digest[:8].upper()


@transaction.atomic
def change_facts(run: Run, facts: PageFacts, who: str = "", why: str = "") -> None:
    """At any time: the platform's codes are often known only once the run is going.

    Raises Refused for two outcomes with one code, a code that is too long, and more than four
    decimal places of pay.
    """
    facts = _tidy_codes(run, facts)
    _validate_facts(run, facts)
    locked = Run.objects.locked(run.pk)
    if locked is None:
        raise NotFound("This run does not exist any more.")
    if locked.page == facts.stored():
        return
    locked.page = facts.stored()
    locked.save(update_fields=["page"])
    events.write_event(locked, "worker page", "What workers are told was changed.", who, why)


def _tidy_codes(run: Run, facts: PageFacts) -> PageFacts:
    """Without codes that are empty, or would be made up anyway."""
    given = {outcome: facts.codes.get(outcome, "").strip() for outcome in OUTCOMES}
    own: dict[str, str] = {
        name: one for name, one in given.items() if one and one != generated_code(run, name)
    }
    return replace(facts, codes=own)


def _validate_facts(run: Run, facts: PageFacts) -> None:
    codes = [facts.codes.get(outcome) or generated_code(run, outcome) for outcome in OUTCOMES]
    if len(set(codes)) < len(codes):
        raise Refused("Two outcomes have the same code; give each its own, or leave them empty.")
    if any(len(one) > LONGEST_CODE for one in codes):
        raise Refused(f"A code has at most {LONGEST_CODE} characters.")
    if facts.pay is not None and facts.pay != round(facts.pay, PLACES):
        raise Refused(f"The pay has at most {PLACES} decimal places.")
