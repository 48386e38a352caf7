"""An evaluation from where it stands to its end: the study asks, and the models answer."""

import asyncio
from collections.abc import Callable, Iterable

from selection.errors import Refused
from selection.model_workers.server_calls import GuardedLoop
from selection.texts import counted

from .calls import Caller
from .runs import GUARANTEE, MONEY, QUESTIONS, Evaluation, Tell, refusing

TURN = 0.2  # seconds between two looks
GRACE = 8.0  # seconds that an interruption leaves to the calls in flight
Pair = tuple[str, str]


def play_run(evaluation: Evaluation, tell: Tell, show: Callable[[Caller], object]) -> list[str]:
    """Make calls until the study ends, or its money or questions; return models that ask.

    Those wait for a decision on replies without an answer. An interruption leaves a few seconds to
    the calls in flight. Raises Refused if too few models reply.
    """
    caller = Caller(
        evaluation.ledger,
        evaluation.number,
        evaluation.questions,
        evaluation.inputs.cells,
        evaluation.limit,
        evaluation.counted_wrong,
    )
    with asyncio.Runner(loop_factory=GuardedLoop) as runner, refusing():
        runner.run(_Play(evaluation, caller, tell, show).run())
    if not caller.asking:
        ended = GUARANTEE if evaluation.study.ended else QUESTIONS
        evaluation.end(MONEY if caller.too_dear else ended)
    return sorted(caller.asking)


class _Play:
    def __init__(
        self,
        evaluation: Evaluation,
        caller: Caller,
        tell: Tell,
        show: Callable[[Caller], object],
    ) -> None:
        self.study, self.evaluation, self.caller = evaluation.study, evaluation, caller
        self.tell, self.show = tell, show
        self.waiting: list[Pair] = self.study.outstanding  # of an earlier process: asked first
        self.running: dict[asyncio.Task[bool | None], Pair] = {}

    async def run(self) -> None:
        self.caller.open(self.evaluation.models)
        try:
            while self._begin_calls():
                await self._take_results(TURN)
                self._set_aside_broken()
                self.show(self.caller)
            self.caller.stopping = True
            while self.running:  # they are paid
                await self._take_results(None)
            self.show(self.caller)
        finally:
            self.caller.stopping = True
            if self.running:
                await asyncio.wait(self.running, timeout=GRACE)
                self._tell([task for task in self.running if task.done()])
            await self.caller.close()

    def _begin_calls(self) -> bool:
        """Ask the study, and let calls begin; return False if there is nothing more to do."""
        if self.caller.asking or self.caller.too_dear:
            return False
        free = self.caller.slots - len(self.running)
        is_held_up = self.caller.holds_others and self.running
        if not self.waiting and free > 0 and not is_held_up:
            self.waiting = self.study.ask(free)
        if self.study.ended:
            return False
        for name, key in self.waiting[:free]:
            task = asyncio.create_task(self.caller.ask(name, key))
            self.running[task] = name, key
        self.waiting = self.waiting[free:]
        return bool(self.running)

    async def _take_results(self, seconds: float | None) -> None:
        how = asyncio.FIRST_COMPLETED
        done, _ = await asyncio.wait(self.running, timeout=seconds, return_when=how)
        self._tell(done)

    def _tell(self, done: Iterable[asyncio.Task[bool | None]]) -> None:
        results = [(self.running.pop(task), task.result()) for task in done]
        self.study.tell((pair, value) for pair, value in results if value is not None)

    def _set_aside_broken(self) -> None:
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
            models[name].gone = True
            self.waiting = [pair for pair in self.waiting if pair[0] != name]
            self.tell(
                f"“{name}” cannot answer and is set aside: {models[name].problem} When it works, "
                f"use --take-back “{name}”; to leave it out from the beginning, --drop “{name}”."
            )
