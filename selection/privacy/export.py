"""Export of all data about a worker."""

from typing import Any

from selection import db_clock, extensions
from selection.models import (
    Answer,
    Assignment,
    Candidate,
    OutsideWorker,
    QuestionReport,
    WatchedMember,
    WatchedWorker,
    Worker,
)

from .identity import entries_of, events_of, mention_pattern


def export_worker(rows: list[Worker]) -> dict[str, Any]:
    """Collect all data about a worker as a document.

    rows  of ``same_person``: at least one

    It has questions, responses and grades, but never the accepted answers.
    """
    pattern = mention_pattern({row.key for row in rows} | {row.name for row in rows})
    return {
        "worker": rows[0].key,
        "exported": db_clock.database_now().isoformat(),
        "pools": [_pool_data(row) for row in rows],
        "runs": [_run_data(candidate) for candidate in _candidates_of(rows)],
        "watches": [
            _watch_data(row)
            for row in WatchedWorker.objects.filter(worker__in=rows).select_related("watch")
        ],
        "history": [
            {"run": str(event.run), "at": event.at.isoformat()}
            | {"said": event.what, "why": event.why}
            for event in events_of(rows).select_related("run")
            if pattern.search(f"{event.what} {event.why}")
        ],
        "audit_log": [
            {"at": entry.at.isoformat(), "who": entry.who, "did": entry.kind, "to": entry.model}
            | {"before": entry.before, "after": entry.after, "why": entry.why}
            for entry in entries_of(rows)
            if entry.model == "worker" or pattern.search(f"{entry.after} {entry.why}")
        ],
    }


def _pool_data(row: Worker) -> dict[str, Any]:
    data = {"pool": str(row.pool), "name": row.name, "attributes": row.attributes}
    return data | ({"email": row.mail_address} if row.mail_address else {})


def _candidates_of(rows: list[Worker]) -> list[Candidate]:
    candidates = Candidate.objects.filter(worker__in=rows).select_related(
        "run", "run__question_set"
    )
    return list(candidates.order_by("run_id", "skill"))


def _run_data(row: Candidate) -> dict[str, Any]:
    assignments = row.assignments.select_related("question", "answer", "report")
    return {
        "run": str(row.run),
        "question_set": str(row.run.skills[row.skill] if row.run.several else row.run.question_set),
        "status": row.run.status,
        "last_seen": _format_moment(row.seen),
        "came_from": row.get_platform_display(),
        "task_there": row.task,
        "answered_in": [
            {"connection": str(one.link.connection), "id_there": one.outside_id}
            for one in OutsideWorker.objects.filter(link__run=row.run, worker=row.worker)
        ],
        "gone": row.get_gone_display() if row.gone else "",
        "verdict": row.status,
        "verdict_because": row.decided_why if row.pulls else "",
        "by_hand": "" if row.by_hand is None else row.get_by_hand_display(),
        "by_hand_because": row.by_hand_why,
        "practice": _practice_data(row),
        "answers": [_answer_data(item) for item in assignments.order_by("position")],
        "answers_not_asked_for_yet": [
            {"question": item.question.key, "response": item.response}
            for item in row.recorded.select_related("question")
        ],
    } | {name: part for data in extensions.PERSONAL_DATA for name, part in data.export(row).items()}


def _watch_data(row: WatchedWorker) -> dict[str, Any]:
    return {
        "watch": str(row.watch),
        "state": row.get_state_display(),
        "because": row.why,
        "level": row.level,
        "alarm": _format_moment(row.alarmed),
        "alarm_dismissed": _format_moment(row.dismissed),
        "practice": _practice_data(row),
        "answers": [
            {"question": answer.question.key, "prompt": answer.question.prompt}
            | {"asked": _format_moment(answer.asked), "answered": _format_moment(answer.at)}
            | {"response": answer.response, "right": answer.right}
            for answer in row.gold_answers.select_related("question")
        ],
        "works_in": [
            {"connection": str(one.link.connection), "id_there": one.outside_id}
            | {"place": one.place, "pause": one.get_pause_display()}
            for one in WatchedMember.objects.filter(watched=row)
        ],
    }


def _practice_data(row: Candidate | WatchedWorker) -> list[dict[str, Any]]:
    return [
        {"prompt": item.practice.prompt, "response": item.response, "right": item.right}
        | {"wrong_tries": item.tries, "at": _format_moment(item.at)}
        for item in row.practised.select_related("practice").order_by("pk")
    ]


def _answer_data(row: Assignment) -> dict[str, Any]:
    answer: Answer | None = getattr(row, "answer", None)
    report: QuestionReport | None = getattr(row, "report", None)
    return {
        "question": row.question.key,
        "prompt": row.question.prompt,
        "shown": _format_moment(row.shown),
        "due": _format_moment(row.due),
        "answered": _format_moment(answer.at) if answer else None,
        "response": answer.response if answer else None,
        "right": answer.right if answer else None,
        "not_in_time": answer.expired if answer else None,
        "retired_question": answer.void if answer else None,
        "complaint": report.text if report else None,
    }


def _format_moment(moment: Any) -> str | None:
    return moment.isoformat() if moment else None
