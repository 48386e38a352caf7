"""Faults on one database, from an empty stack to the last law: ``python -m tests.faults`` calls it.

All addresses are in the environment already, because Django's settings are read here.
"""

import argparse
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import django

django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import DatabaseError, connection, connections  # noqa: E402

from selection.models import Answer, ApiToken, Event, ModelCall, Run, Step  # noqa: E402
from tests.worlds import make_pool, make_questions  # noqa: E402

from . import laws, models, traffic  # noqa: E402
from .kinds import KINDS, Kind  # noqa: E402
from .services import Heal, run_sql  # noqa: E402
from .stack import MARK, Stack, parts, services  # noqa: E402

END_SECONDS = 180  # for all that was begun to come to its end
PATIENCE_SECONDS = 8  # for an answer between two faults
OVERTIME_SECONDS = 60
LONG_SHARE, LONG_SECONDS = 0.08, (25.0, 60.0)


@dataclass
class Result:
    """Results as numbers for a table.

    skipped  faults that are impossible here, with the reason
    wrong    violated laws, with the fault before
    """

    seed: int
    faults: Counter[str] = field(default_factory=Counter)
    skipped: dict[str, str] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    checks: int = 0
    put_off: int = 0
    figures: dict[str, int] = field(default_factory=dict)


@dataclass
class Strike:
    kind: Kind
    over: float
    heal: Heal


class Play:
    """Faults in a steady rhythm, some of which overlap, with a check of the laws after each."""

    def __init__(
        self,
        stack: Stack,
        crowd: traffic.Crowd,
        model_runs: models.ModelRuns,
        given: argparse.Namespace,
    ) -> None:
        self.stack, self.crowd, self.model_runs = stack, crowd, model_runs
        self.count, self.seconds, self.only = given.faults, given.seconds, given.only
        self.rng, self.result = random.Random(given.seed), Result(given.seed)
        self.going: list[Strike] = []
        self.settled: set[int] = set()  # runs that ended and held
        self.due = False
        self.hand: list[Kind] = []
        self.taken, self.struck = -1, 0.0  # answers, and when, at the last fault

    def play(self) -> Result:
        began, gap = time.monotonic(), self.seconds / self.count
        try:
            for number in range(self.count if self._all() else 0):  # perhaps none fits here
                while time.monotonic() < began + number * gap or not self._flows():
                    self._tend()
                if time.monotonic() > began + self.seconds + OVERTIME_SECONDS:
                    break  # a slow machine gets fewer faults, not a longer evening
                self._strike(gap)
            while self.going:
                self._tend()
        finally:
            for strike in self.going:
                strike.heal()
        self._finish()
        return self.result

    # -- faults

    def _flows(self) -> bool:
        """Return True if an answer was taken since the last fault, or after some patience."""
        now = time.monotonic()
        return len(self.crowd.ledger.taken) > self.taken or now > self.struck + PATIENCE_SECONDS

    def _strike(self, gap: float) -> None:
        kind = self._next()
        long = not kind.brief and gap > 2 and self.rng.random() < LONG_SHARE
        lasts = self.rng.uniform(*LONG_SECONDS) if long else self.rng.uniform(0.25, 1.5) * gap
        say(f"{kind.name}" + ("" if kind.brief else f" for {lasts:.0f} s"))
        heal = kind.strike(self.stack, self.rng, lasts)
        self.result.faults[kind.name] += 1
        self.taken, self.struck = len(self.crowd.ledger.taken), time.monotonic()
        self.going.append(Strike(kind, time.monotonic() + (0.5 if kind.brief else lasts), heal))

    def _next(self) -> Kind:
        """Return the next kind: each comes once before any is repeated; blocked kinds wait."""
        blocked = {strike.kind.place for strike in self.going}
        free = [kind for kind in self.hand if kind.place not in blocked]
        if not free:
            self.hand = self._all()
            free = [kind for kind in self.hand if kind.place not in blocked] or self.hand
        self.hand.remove(free[0])
        return free[0]

    def _all(self) -> list[Kind]:
        kinds = [kind for kind in KINDS if kind.fits(self.stack) and self.only in kind.name]
        for kind in kinds:
            if reason := kind.cannot(self.stack):
                self.result.skipped[kind.name] = reason
        possible = [kind for kind in kinds if kind.name not in self.result.skipped]
        self.rng.shuffle(possible)
        return possible

    def _tend(self) -> None:
        """End the faults that are due, and check the laws if one ended."""
        time.sleep(0.1)
        for strike in [one for one in self.going if one.over < time.monotonic()]:
            strike.heal()
            self.going.remove(strike)
            self.due = True
        if self.due:
            self._check()

    # -- laws

    def _check(self) -> None:
        """Check the laws as soon as the database responds."""
        if any(strike.kind.place in ("database", "lock") for strike in self.going):
            return
        try:
            wrong = self._wrong()
        except DatabaseError:
            self.result.put_off += 1
            connections.close_all()
            return
        self.due = False
        self.result.checks += 1
        self._tell(wrong)
        replies = dict(self.crowd.ledger.told)
        say(f"checked: {len(self.crowd.ledger.taken)} answers taken, replies {replies}")

    def _wrong(self) -> list[str]:
        wrong = laws.of_ledger(self.crowd.ledger) + self._wrong_of_models()
        runs = [*self.crowd.ledger.runs, *self.model_runs.ledger.runs]
        for run in [one for one in runs if one not in self.settled]:
            ended = Run.objects.filter(pk=run, status=Run.Status.ENDED).exists()
            found = laws.of_run(run)
            wrong += found
            if ended and not found:
                self.settled.add(run)
        return wrong

    def _wrong_of_models(self) -> list[str]:
        ledger = self.model_runs.ledger
        return models.find_faults(ledger.runs) + [f"odd: {reply}" for reply in ledger.odd]

    def _tell(self, wrong: list[str]) -> None:
        for fault in wrong:
            if fault not in self.result.wrong:
                say(f"BROKEN {fault}")
                self.result.wrong.append(fault)

    # -- the end

    def _finish(self) -> None:
        """Let every run come to its end without faults, and check that all laws hold."""
        say("all is well again")
        ledger = self.crowd.ledger
        both = (self.crowd, self.model_runs)
        for one in both:
            one.closing.set()

        def ended() -> bool:
            models.end_rests()
            begun = all(one.ledger.runs and not one.going for one in both)
            return begun and not any(laws.of_end(one.ledger.runs) for one in both)

        traffic.wait_for(ended, END_SECONDS)
        runs = [*ledger.runs, *self.model_runs.ledger.runs]
        self._tell([*laws.of_end(runs), *laws.of_ledger(ledger), *self._wrong_of_models()])
        for run in runs:
            self._tell(laws.of_run(run))
        self.result.checks += 1
        servers = self.stack.models
        say(f"model calls: {models.count_calls()}")
        say(f"good server: {dict(servers.good.outcomes)}, bad: {dict(servers.bad.outcomes)}")
        self.result.figures = {
            "runs": len(runs),
            "answers": len(ledger.taken),
            "lapsed": Answer.objects.filter(expired=True).count(),
            "steps": Step.objects.count(),
            "outages": Event.objects.filter(kind="outage").count(),
            "model calls": ModelCall.objects.count(),
            "model replies": ModelCall.objects.filter(state="replied").count(),
            "away": ledger.told[0],
            "busy": ledger.told[503],
        }


def say(message: str) -> None:
    moment = time.strftime("%H:%M:%S")
    print(f"{moment}  {connection.vendor:<10}  {message}", file=sys.stderr, flush=True)


def prepare(stack: Stack) -> tuple[str, int, list[int], int]:
    """Create a database with pools and questions; return a token and their ids."""
    if stack.database is not None:
        run_sql(stack.database.port, "CREATE DATABASE faults")
    call_command("migrate", verbosity=0)
    pool, questions = make_pool(traffic.N), make_questions(120)
    return ApiToken.issue("crowd"), pool.pk, models.make_models(stack.models), questions.pk


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--faults", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with ExitStack() as until_end:
        stack = until_end.enter_context(services(Path(os.environ[MARK])))
        token, pool, model_pools, questions = prepare(stack)
        until_end.enter_context(parts(stack))
        say(stack.url)
        crowd = traffic.Crowd(stack.url, token, pool, questions, options.seed)
        until_end.enter_context(crowd)
        model_runs = models.ModelRuns(stack.url, token, model_pools, questions, options.seed)
        until_end.enter_context(model_runs)
        result = Play(stack, crowd, model_runs, options).play()
    print(json.dumps(vars(result)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
