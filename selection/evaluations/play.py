"""An evaluation from where it stands to its end: the study asks, and the models answer."""

import time
from collections import Counter
from collections.abc import Callable, Iterable

from selection.errors import Refused
from selection.model_workers.call_pool import CallPool
from selection.model_workers.completions import Fault
from selection.model_workers.ledger import MOST_TRIES
from selection.model_workers.unreadable import FIRST, MOST_LOST
from selection.models import Endpoint
from selection.texts import counted

from .calls import Caller
from .runs import GUARANTEE, MONEY, QUESTIONS, Evaluation, Tell, refusing

TURN = 0.1  # seconds between two looks if a call may be made
GRACE = 8.0  # seconds that an interruption leaves to the calls in flight
Pair = tuple[str, str]
Show = Callable[[Caller], object]


@refusing()
def play_run(evaluation: Evaluation, tell: Tell, show: Show) -> list[str]:
    """Make calls until the study ends, or its money or questions; return models that ask.

    Those wait for a decision on replies without an answer. An interruption leaves a few seconds to
    the calls in flight. Raises Refused if too few models reply.
    """
    with CallPool() as pool:
        play = _Play(evaluation, pool, tell)
        try:
            while play.begin_calls():
                play.take_outcomes()
                play.set_aside_broken()
                show(play.caller)
            while play.caller.in_flight:  # they are paid
                play.take_outcomes()
            show(play.caller)
        finally:
            end = time.monotonic() + GRACE
            while play.caller.in_flight and time.monotonic() < end:
                play.take_outcomes()
    if not play.asking:
        ended = GUARANTEE if evaluation.study.ended else QUESTIONS
        evaluation.change(ending=MONEY if play.caller.too_dear else ended)
    return sorted(play.asking)


class _Play:
    """asking: models with too many replies without an answer."""

    def __init__(self, evaluation: Evaluation, pool: CallPool, tell: Tell) -> None:
        self.study, self.evaluation, self.tell = evaluation.study, evaluation, tell
        run, inputs, models = evaluation.number, evaluation.inputs, evaluation.models
        self.caller = Caller(pool, evaluation.ledger, run, inputs, models, evaluation.limit)
        self.waiting: list[Pair] = []
        self.tries, self.asking = Counter[Pair](), set[str]()
        for name in models:
            self._note_losses(name)
        self._answer_stored(self.study.outstanding)  # of an earlier process: asked first

    def begin_calls(self) -> bool:
        """Ask the study, and let calls begin; return False if there is nothing more to do."""
        if self.asking or self.caller.too_dear:
            return False
        pairs, out = [], len(self.waiting) + len(self.caller.in_flight)
        if out < self.caller.slots and not (out and self._is_held_up()):
            pairs = self.study.ask(self.caller.slots - out)
            self._answer_stored(pairs)
        if self.study.ended:
            return False
        self.waiting = [pair for pair in self.waiting if not self.caller.begin(*pair)]
        return bool(pairs or self.waiting or self.caller.in_flight)

    def _is_held_up(self) -> bool:
        waiting, busy = Counter(name for name, _ in self.waiting), self.caller.busy
        return any(
            model.holds_others(waiting[name], busy[name])
            for name, model in self.caller.models.items()
            if name not in self.study.set_aside
        )

    def _answer_stored(self, pairs: Iterable[Pair]) -> None:
        """Tell the study the stored replies to these pairs; the others wait for a call."""
        results = []
        for pair in pairs:
            row = self.caller.find_reply(*pair)
            if row is None:
                self.waiting.append(pair)
            else:
                results.append((pair, self._grade(pair, row["answer"])))
        self.study.tell(results)

    def take_outcomes(self) -> None:
        """Tell the study the results of the calls that ended; the other calls wait again."""
        results = []
        for row in self.caller.collect(TURN):
            pair, model = (row["model"], row["question"]), self.caller.models[row["model"]]
            retries = model.endpoint.unreadable == Endpoint.Unreadable.RETRY
            self.tries[pair] += row["fault"] is None
            if row["fault"] == Fault.REQUEST and model.replied:
                results.append((pair, False))  # only this request is refused
            elif row["fault"] is None and (
                row["answer"] or not retries or self.tries[pair] == MOST_TRIES
            ):
                results.append((pair, self._grade(pair, row["answer"])))
            else:
                self.waiting.insert(0, pair)
        self.study.tell(results)

    def _grade(self, pair: Pair, answer: str) -> bool:
        if not answer:
            self._note_losses(pair[0])
        return bool(answer) and self.evaluation.questions[pair[1]].grade(answer)

    def _note_losses(self, name: str) -> None:
        """Ask for a decision if too many of the model's first replies have no answer."""
        results = dict[str, str]()
        for row in self.evaluation.ledger.list_replies(self.evaluation.number, name):
            if results.get(row["question"]) != "read":
                results[row["question"]] = row["result"]
        losses = sum(result != "read" for result in list(results.values())[:FIRST])
        if losses > MOST_LOST and name not in self.evaluation.counted_wrong:
            self.asking.add(name)

    def set_aside_broken(self) -> None:
        """Set broken models aside if another replies. Raises Refused without a choice left."""
        models = self.caller.models
        present = [name for name in models if name not in self.study.set_aside]
        broken = [name for name in present if models[name].broken]
        rest = [name for name in present if name not in broken]
        text = "; ".join(f"“{name}”: {models[name].problem}" for name in broken[:3])
        if broken and not rest:
            raise Refused(f"No model replies. {text}")
        if not broken or not any(models[name].replied for name in rest):
            return
        if len(rest) <= self.evaluation.settings["k"]:
            number = f"{len(broken)} of {counted(len(present), 'model')}"
            raise Refused(f"{number} cannot answer, so there is nothing to choose from. {text}")
        if not self.study.keeps_guarantee_without(broken):
            raise Refused(
                "After its first answers the guarantee would be lost without a model that answers "
                f"no more. {text} Go on when it works, or leave it out by --drop."
            )
        for name in broken:
            self.study.give_up(name, models[name].problem)
            self.waiting = [pair for pair in self.waiting if pair[0] != name]
            self.tell(
                f"“{name}” cannot answer and is set aside: {models[name].problem} When it works, "
                f"use --take-back “{name}”; to leave it out from the beginning, --drop “{name}”."
            )
