"""Inspect: an evaluation of several models that stops when the best are known.

It uses Inspect's early stopping (inspect_ai 0.3.155 or newer): a sample runs once the study asks
for it, and is left out if the study ends before.
"""

import copy
from collections.abc import Callable, Iterable
from typing import Any, Unpack

import anyio
from inspect_ai import Task, task_with
from inspect_ai import eval as evaluate
from inspect_ai.dataset import MemoryDataset
from inspect_ai.hooks import Hooks, SampleEnd, TaskEnd, hooks
from inspect_ai.model import Model
from inspect_ai.scorer import value_to_float
from inspect_ai.util import EarlyStop

from topk.problem import ProblemError
from topk.study import Selected, Study
from topk.study.settings import StudySettings

STOPS: dict[str, "ModelStop"] = {}  # by evaluation
read_value = value_to_float()


def select_models(
    task: Task | Callable[[], Task],
    models: Iterable[str | Model],
    *,
    concurrency: int = 16,
    eval_options: dict[str, Any] | None = None,
    **settings: Unpack[StudySettings],
) -> tuple[Selected, list[Any]]:
    """Evaluate models until the k best are known; return these and Inspect's logs.

    models        with names of their own: texts, or Inspect's models
    task          with one epoch; the first of its scores counts: C is 1, P ½, I and N 0
    concurrency   most samples at a time, of all models
    eval_options  of ``inspect_ai.eval``, such as ``log_dir``
    settings      of ``Study``: k at least. With a path, samples with a result are not run again

    A sample that ends in an error has no result. Raises ProblemError for settings out of range.
    """
    whole, models = task() if callable(task) else task, list(models)
    if (whole.epochs or 1) != 1:
        raise ProblemError("The task has more than one epoch: topk asks each sample once.")
    for number, sample in enumerate(whole.dataset, 1):
        sample.id = number if sample.id is None else sample.id
    samples = {sample.id: sample for sample in whole.dataset}
    names = [str(model) for model in models]  # of an Inspect Model too
    with Study(names, [sample.id for sample in whole.dataset], **settings) as study:
        suite = _Suite(study, concurrency)
        tasks = [
            task_with(
                copy.copy(whole),
                dataset=MemoryDataset([samples[each] for each in study.order_items(name)]),
                model=model,
                early_stopping=ModelStop(suite, name),
            )
            for name, model in zip(names, models, strict=True)
        ]
        options = {"fail_on_error": False} | (eval_options or {})
        logs = evaluate(tasks, max_tasks=len(tasks), **options)
        return study.best, list(logs)


class _Suite:
    """The study of all models, and the pairs that it has asked for."""

    def __init__(self, study: Study, concurrency: int) -> None:
        self.study, self.concurrency = study, concurrency
        self.asked = set(study.outstanding)
        self._told = {(name, item) for name, item, _ in study.results}  # in an earlier evaluation
        self._changed = anyio.Event()

    async def wait_for(self, pair: tuple[str, Any]) -> bool:
        """Tell whether the pair is to be run, once that is known."""
        while not (self.study.ended or pair in self._told or pair in self.asked):
            free = self.concurrency - len(self.study.outstanding)
            if pairs := self.study.ask(free) if free > 0 else []:
                self.asked.update(pairs)
            elif not self.study.ended:
                await self._changed.wait()
        return pair in self.asked and not self.study.ended

    def tell(self, results: Iterable[tuple[tuple[str, Any], Any]]) -> None:
        if not self.study.ended:
            self.study.tell(results)
        self._changed.set()
        self._changed = anyio.Event()


class ModelStop:
    """The samples of one model: ``inspect_ai.util.EarlyStopping``."""

    def __init__(self, suite: _Suite, name: str) -> None:
        self.suite, self.name = suite, name

    async def start_task(self, task: Any, samples: list[Any], epochs: int) -> str:
        STOPS[task.eval_id] = self
        return "topk"

    async def schedule_sample(self, id: str | int, epoch: int) -> EarlyStop | None:
        if await self.suite.wait_for((self.name, id)):
            return None
        return EarlyStop(id=id, epoch=epoch, reason="The selection does not need this sample.")

    async def complete_sample(self, id: str | int, epoch: int, scores: Any) -> None:
        """Do nothing: the hook below also sees samples that end in an error."""

    async def complete_task(self) -> dict[str, Any]:
        best = self.suite.study.best
        return {"selected": best.names, "guarantee": best.guarantee}

    def tell_sample(self, sample: Any) -> None:
        scores = list((sample.scores or {}).values())
        error = RuntimeError(sample.error.message) if sample.error else None
        value = read_value(scores[0].value) if scores and not error else error
        self.suite.tell([((self.name, sample.id), value)])

    def end_task(self) -> None:
        """Let the other models go on without the samples that never ran."""
        pairs = [pair for pair in self.suite.study.outstanding if pair[0] == self.name]
        self.suite.tell((pair, StopIteration()) for pair in pairs)


@hooks("topk", "Tells the study of topk.adapters.inspect_ai how samples end.")
class _StudyHooks(Hooks):  # type: ignore[misc]  # Inspect has no types without its package
    async def on_sample_end(self, data: SampleEnd) -> None:
        if data.eval_id in STOPS:
            STOPS[data.eval_id].tell_sample(data.sample)

    async def on_task_end(self, data: TaskEnd) -> None:
        if stop := STOPS.pop(data.eval_id, None):
            stop.end_task()
