"""Selection in one call: of a table of results, or by a function that asks."""

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from typing import Any, Unpack

import numpy as np

from topk.problem import ProblemError

from .result import Selected
from .settings import SelectSettings
from .study import Pair, Study
from .tables import build_frame, read_table
from .told import NotAsked

Score = Callable[[Any, Any], Any]
Frame = Callable[[list[dict[str, Any]]], Any]


def select(
    candidates: Any,
    items: Any = None,
    score: Score | None = None,
    *,
    concurrency: int = 1,
    progress: bool = False,
    **settings: Unpack[SelectSettings],
) -> Selected:
    """Select the k best candidates, asked no more often than the guarantee needs.

    candidates   with a score: texts or other objects, a mapping of names to objects, or a Study.
                 Without: a table of results with a row for each candidate, that is an array, a
                 DataFrame (named by its index, or by its only column of texts) or a mapping of
                 names to results, where NaN is not asked; a mapping of names to functions of an
                 item; or a function of a worker's number, 0 to n − 1, with n
    items        what candidates are asked; None: 0, 1, 2, …
    score        function of a candidate and an item that returns True, False or a number from 0 to
                 1, or a coroutine of that. An exception means that the result is missing, and
                 StopIteration that the candidate has no more items
    concurrency  calls at a time; in threads, unless the score is async
    progress     True: show a progress bar
    settings     those of ``Study``, k at least; and ``rows`` of a table, "candidates" or "items"

    An interruption or another exception has what was told so far in its attribute ``study``.
    """
    study, ask, frame = _prepare(candidates, items, score, settings)
    with _keep_told(study, candidates), _show_progress(study, progress) as show:
        if concurrency > 1 or _is_async(ask):
            _refuse_running_loop()
            asyncio.run(_ask_concurrently(study, ask, concurrency, show))
        else:
            _ask_in_turn(study, ask, show)
        return replace(study.best, frame=frame(study.best.frame))


async def aselect(
    candidates: Any,
    items: Any = None,
    score: Score | None = None,
    *,
    concurrency: int = 16,
    progress: bool = False,
    **settings: Unpack[SelectSettings],
) -> Selected:
    """Select the k best candidates, as ``select`` does, with so many calls at a time."""
    study, ask, frame = _prepare(candidates, items, score, settings)
    with _keep_told(study, candidates), _show_progress(study, progress) as show:
        await _ask_concurrently(study, ask, concurrency, show)
        return replace(study.best, frame=frame(study.best.frame))


# -- candidates, items and the function that asks


def _prepare(
    candidates: Any, items: Any, score: Score | None, settings: SelectSettings
) -> tuple[Study, Score, Frame]:
    """Prepare the study, the function that asks, and one that builds the frame of the result."""
    rows, n = settings.pop("rows", None), settings.pop("n", None)
    if isinstance(candidates, Study):
        if score is None:
            raise ProblemError("A study needs a score, the function that asks a pair.")
        return candidates, score, list
    if score is None and callable(candidates):
        if n is None:
            raise ProblemError("n must say how many workers there are, if answers is a function.")
        return Study(range(n), items, **settings), lambda worker, _: candidates(worker), list
    if isinstance(candidates, Mapping):
        functions = list(candidates.values())
        if score is not None or all(map(callable, functions)):
            ask = _ask_by_name(candidates, score, any(map(_is_async, [score, *functions])))
            return Study(candidates, items, **settings), ask, list
    if score is None:
        return _prepare_table(candidates, rows, settings)
    return Study(candidates, items, **settings), score, list


def _ask_by_name(candidates: Mapping[Any, Any], score: Score | None, is_async: bool) -> Score:
    def ask(name: Any, item: Any) -> Any:
        return candidates[name](item) if score is None else score(candidates[name], item)

    async def ask_async(name: Any, item: Any) -> Any:
        result = ask(name, item)
        return await result if inspect.isawaitable(result) else result

    return ask_async if is_async else ask


def _prepare_table(
    given: Any, rows: str | None, settings: SelectSettings
) -> tuple[Study, Score, Frame]:
    table = read_table(given, rows)
    if settings.get("scores") is None:
        settings["scores"] = bool((np.nan_to_num(table.values) % 1).any())
    places = [{name: i for i, name in enumerate(names)} for names in (table.names, table.items)]

    def look_up(name: Any, item: Any) -> Any:
        value = table.values[places[0][name], places[1][item]]
        return NotAsked() if np.isnan(value) else value

    study = Study(table.names, table.items, **settings)
    return study, look_up, lambda frame: build_frame(frame, table.library)


# -- asking


def _ask_in_turn(study: Study, ask: Score, show: Callable[[], object]) -> None:
    """Ask one pair after another; each result is kept before the next pair is asked."""
    waiting = study.outstanding
    while pairs := waiting or study.ask():
        waiting = []
        for pair in pairs:
            study.tell([(pair, _attempt(ask, pair))])
            show()


async def _ask_concurrently(
    study: Study, ask: Score, concurrency: int, show: Callable[[], object]
) -> None:
    """Keep so many calls out; cancel those that are still out at the end."""
    waiting, running = study.outstanding, dict[asyncio.Task[Any], Pair]()
    threads = None if _is_async(ask) else ThreadPoolExecutor(concurrency)
    try:
        while not study.ended:
            free = concurrency - len(running)
            waiting = waiting or (study.ask(free) if free else [])
            for pair in waiting[:free]:
                running[asyncio.create_task(_attempt_async(ask, pair, threads))] = pair
            waiting = waiting[free:]
            if not running:
                break
            ready, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            study.tell([(running.pop(task), _result_of(task)) for task in ready])
            show()
    finally:
        for task in running:
            task.cancel()
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)


def _attempt(ask: Score, pair: Pair) -> Any:
    try:
        return ask(*pair)
    except (Exception, asyncio.CancelledError) as error:
        return error


async def _attempt_async(ask: Score, pair: Pair, threads: ThreadPoolExecutor | None) -> Any:
    try:
        if threads is None:
            return await ask(*pair)
        result = await asyncio.get_running_loop().run_in_executor(threads, _attempt, ask, pair)
        return await result if inspect.isawaitable(result) else result
    except Exception as error:
        return error


def _result_of(task: asyncio.Task[Any]) -> Any:
    """Take the result; a score that was cancelled from within, as by a timeout, has none."""
    return asyncio.CancelledError("cancelled") if task.cancelled() else task.result()


def _is_async(ask: Any) -> bool:
    return any(map(inspect.iscoroutinefunction, (ask, getattr(ask, "__call__", None))))  # noqa: B004


def _refuse_running_loop() -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise ProblemError("In a notebook or a coroutine, write await topk.aselect(...).")


# -- around the calls


@contextmanager
def _keep_told(study: Study, candidates: Any) -> Iterator[None]:
    """Give an exception the study as an attribute; close the study unless it was given."""
    try:
        yield
    except BaseException as error:
        error.study = study  # type: ignore[attr-defined]
        raise
    finally:
        if study is not candidates:
            study.close()


@contextmanager
def _show_progress(study: Study, wanted: bool) -> Iterator[Callable[[], object]]:
    """Yield a function that brings the progress bar up to date."""
    if not wanted:
        yield lambda: None
        return
    try:
        tqdm = import_module("tqdm.auto").tqdm
    except ImportError:
        raise ProblemError("A progress bar needs the package tqdm: pip install tqdm.") from None
    most = None if study.items is None else len(study.names) * len(study.items)
    with tqdm(total=most, initial=study.calls, unit=" calls") as bar:
        yield lambda: bar.update(study.calls - bar.n)
