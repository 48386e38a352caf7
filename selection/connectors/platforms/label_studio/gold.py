"""Gold questions of a watch among the tasks of the production project.

A gold task has the data that the interface shows and nothing else: it looks like all other tasks,
and has only its id. The community edition has no task for one person: there a worker has a project
of their own, or a task is for all workers of the common one.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from selection import db_clock
from selection.connectors import gold_intake, gold_plan, health
from selection.connectors.faults import Fault, Missing, Rejected
from selection.connectors.gold_intake import OutsideGold
from selection.connectors.gold_plan import Place
from selection.errors import Refused
from selection.models import GoldTask, OutsideTask, Question, WatchConnection, WatchedMember
from selection.texts import counted

from . import gold_project, interface, places, reading
from .client import PAGE, Client, Object
from .gold_project import MOST_NAMED, NOTES, PLACES
from .interface import Control

State = OutsideTask.State
OWN_PLACE = "label_studio_project"  # attribute of a worker: the number of their own project
# Label Studio's clock may differ from ours; a change may be committed after a later one.
SKEW, OVERLAP = timedelta(hours=1), timedelta(minutes=2)
LEASE = timedelta(seconds=90)  # of the creation of a task
LONGEST_LEAD = 86_400  # seconds from showing a task to its answer
IN_TURN, BY_HAND = "Sequential sampling", "assigned_only"


def exchange(link: WatchConnection, client: Client) -> None:
    """Take the answers, and bring the gold tasks there up to date. It may be killed at any time."""
    notes = _match_members(link, client) if link.on else []
    contents, descriptions = {}, {}
    for project in _projects(link):
        content = _read_project(link, client, project)
        if content is None:
            continue
        contents[project] = content
        descriptions[project] = _describe_place(link, project, content)
        if descriptions[project].in_turn:
            notes.append(
                f"The project “{content.get('title')}” shows its tasks in turn: gold comes "
                "behind the tasks that are there. Choose random sampling in its settings."
            )
        if not link.watch.stopped:
            _take_answers(link, client, project, content)
            _check_presence(link, client, project)
    gold_plan.mark_unwanted(link, descriptions)
    _remove_tasks(link, client, contents)
    if without := gold_plan.plan_gold(link, descriptions):
        more = f" and {counted(len(without) - MOST_NAMED, 'other')}" if without[MOST_NAMED:] else ""
        names = ", ".join(without[:MOST_NAMED]) + more
        notes.append(f"No gold question is left for {names}: add questions to the question sets.")
    _create_tasks(link, client, contents)
    if link.memory.get(NOTES) != notes:
        link.remember(notes=notes)


def _match_members(link: WatchConnection, client: Client) -> list[str]:
    """Store the accounts of watched workers; return a sentence on workers without one."""
    rows = link.watch.workers.exclude(state="left").select_related("worker")
    new = list(rows.exclude(pk__in=link.members.exclude(watched=None).values("watched")))
    if not new:
        return []
    accounts = reading.accounts_by_name(client.list_users())
    members: list[WatchedMember] = []
    unknown: list[str] = []
    for row in new:
        account = reading.account_of(places.names_of(row.worker), accounts)
        if not account:
            unknown.append(f"“{row.worker}”")
            continue
        own = str(row.worker.attributes.get(OWN_PLACE, "")).strip()
        place = own if own.isdigit() else str(link.settings["project"])
        member = WatchedMember(link=link, watched=row, outside_id=account, place=place)
        member.alone = place == own
        members.append(member)
    WatchedMember.objects.bulk_create(members, 1000, ignore_conflicts=True)
    return [places.UNKNOWN.format(", ".join(unknown[:MOST_NAMED]))] if unknown else []


def _projects(link: WatchConnection) -> list[str]:
    lying = link.gold_tasks.filter(state__in=gold_plan.PRESENT).values_list("place", flat=True)
    used = link.members.values_list("place", flat=True) if link.on else ()
    return sorted({*used, *lying})


def _read_project(link: WatchConnection, client: Client, project: str) -> Object | None:
    """Fetch the project; None, with a problem, if it is gone or asks something else."""
    try:
        content = client.project(project)
        interface.read_control(content)
        return content
    except Missing as fault:
        link.gold_tasks.filter(place=project, state__in=gold_plan.PRESENT).update(
            state=State.REMOVED
        )
        health.note_problem(link, str(fault))
    except Refused as refusal:
        health.note_problem(link, str(refusal))
    return None


def _describe_place(link: WatchConnection, project: str, content: Object) -> Place:
    lying = link.gold_tasks.filter(place=project).exclude(state=State.REMOVED)
    lying = lying.exclude(outside_id="", tried=None)  # one that was tried may be there
    stored = link.memory.get(PLACES, {}).get(project)
    if stored is None:
        answers = lying.filter(state=State.ANSWERED).count()
        stored = {"base": _number(content, "finished_task_number") - answers}
        _remember_place(link, project, stored)
    return Place(
        tasks=max(0, _number(content, "task_number") - lying.count() - stored["base"]),
        overlap=max(1, _number(content, "maximum_annotations")),
        assigns=_is_by_hand(content),
        in_turn=content.get("sampling") == IN_TURN,
    )


def _is_by_hand(content: Object) -> bool:
    """Tell if people see only the tasks that are assigned to them."""
    settings = content.get("assignment_settings")
    way = settings.get("label_stream_task_distribution") if isinstance(settings, dict) else ""
    return bool(way == BY_HAND)


def _remember_place(link: WatchConnection, project: str, notes: Mapping[str, Any]) -> None:
    stored = link.memory.get(PLACES, {})
    link.remember(places={**stored, project: {**stored.get(project, {}), **notes}})


def _number(content: Object, name: str) -> int:
    value = content.get(name)
    return value if isinstance(value, int) else 0


# -- answers


def _take_answers(link: WatchConnection, client: Client, project: str, content: Object) -> None:
    """Take the answers in all tasks that changed since the last time."""
    lying = link.gold_tasks.filter(place=project).exclude(outside_id="")
    first = lying.order_by("made").values_list("made", flat=True).first()
    if first is None:
        return
    stored = link.memory[PLACES][project].get("read")
    latest = since = _moment(stored) if stored else first - SKEW
    tasks = client.list_tasks(project, since - OVERLAP)
    while page := list(islice(tasks, PAGE)):
        _take_page(link, lying, page, content)
        latest = max(latest, *(_moment(task.get("updated_at")) for task in page))
    if latest > since:
        _remember_place(link, project, {"read": latest.isoformat()})


def _take_page(
    link: WatchConnection, lying: QuerySet[GoldTask], tasks: Sequence[Object], content: Object
) -> None:
    control, most = interface.read_control(content), _number(content, "maximum_annotations")
    by_id = {str(task.get("id")): task for task in tasks}
    answers: list[OutsideGold] = []
    closed = []
    for row in lying.filter(outside_id__in=by_id).select_related("question"):
        news = list(_answers_of(row, by_id[row.outside_id], control))
        answers += news
        if sum(not one.is_skipped for one in news) >= (1 if row.watched_id else max(1, most)):
            closed.append(row.pk)
    gold_intake.take_gold(link, answers)
    link.gold_tasks.filter(pk__in=closed).update(state=State.ANSWERED)


def _answers_of(row: GoldTask, task: Object, control: Control) -> Iterator[OutsideGold]:
    """Yield the answers in a task; a skipped one has none yet, since the task comes again."""
    for annotation in reading.valid_annotations(task):
        if annotation.get("ground_truth"):
            continue
        by = annotation.get("completed_by")
        user = str(by.get("id") if isinstance(by, dict) else by)
        name = str((by.get("email") if isinstance(by, dict) else "") or user)
        is_skipped = bool(annotation.get("was_cancelled"))
        response = None if is_skipped else reading.response_of(annotation, control.name)
        yield OutsideGold(row, user, name, response, _time_of_asking(annotation), is_skipped)


def _time_of_asking(annotation: Mapping[str, Any]) -> datetime:
    lead = annotation.get("lead_time")
    seconds = float(lead) if isinstance(lead, int | float) and 0 <= lead <= LONGEST_LEAD else 0.0
    return _moment(annotation.get("created_at")) - timedelta(seconds=seconds)


def _moment(value: Any) -> datetime:
    try:
        moment = datetime.fromisoformat(str(value))
    except ValueError:
        return db_clock.database_now() - LEASE
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _check_presence(link: WatchConnection, client: Client, project: str) -> None:
    """Look for one of the open tasks, each in its turn: it may have been deleted by hand."""
    rows = link.gold_tasks.filter(place=project, state=State.SENT)
    row = rows.order_by("tried", "pk").first()
    if row is None:
        return
    try:
        client.task(row.outside_id)
        rows.filter(pk=row.pk).update(tried=db_clock.database_now())
    except Missing:
        rows.filter(pk=row.pk).update(state=State.REMOVED)
        health.note_problem(link, "Gold tasks were deleted in Label Studio: others are sent.")


# -- tasks


def _create_tasks(link: WatchConnection, client: Client, contents: Mapping[str, Object]) -> None:
    rows = link.gold_tasks.filter(state=State.WAITING, place__in=list(contents))
    for row in rows.select_related("question", "watched"):
        now = db_clock.database_now()
        if row.tried is not None and now - row.tried < LEASE:
            continue  # another process creates it
        if not rows.filter(pk=row.pk, tried=row.tried).update(tried=now):
            continue
        try:
            outside = _create_task(link, client, row, contents[row.place])
            link.gold_tasks.filter(pk=row.pk).update(outside_id=outside)
            rows.filter(pk=row.pk).update(state=State.SENT)
        except (Missing, Rejected, Refused) as fault:
            rows.filter(pk=row.pk).update(state=State.REFUSED)
            health.note_problem(link, f"Gold question “{row.question}”: {fault}")
        except Fault:
            rows.filter(pk=row.pk).update(tried=now - LEASE)
            raise


def _create_task(link: WatchConnection, client: Client, row: GoldTask, content: Object) -> str:
    data = _build_data(link, client, row.question, content)
    outside = row.outside_id or (_find_task(link, client, row, data) if row.tried else "")
    if not outside:
        outside = str(client.create_tasks(row.place, [{"data": data}])[0])
    member = link.members.filter(watched=row.watched_id).first() if row.watched_id else None
    if member is not None and _is_by_hand(content):
        client.assign_task(row.place, outside, member.outside_id)
    return outside


def _build_data(
    link: WatchConnection, client: Client, question: Question, content: Object
) -> dict[str, Any]:
    """Make what the interface shows, and never the answer."""
    names = interface.variables_of(str(content.get("label_config", "")))
    source = str(link.settings.get("gold_project", "")).strip()
    if not source:
        choices = [{"value": choice} for choice in question.choices]
        values = {gold_project.text_variable(content): question.prompt, "choices": choices}
        return {name: value for name, value in values.items() if name in names}
    task = client.task(question.key) if question.key.isdigit() else {}
    if str(task.get("project")) != source or not isinstance(task.get("data"), dict):
        raise Missing(f"The project {source} has no task “{question.key}”.")
    return {name: value for name, value in task["data"].items() if name in names}


def _find_task(
    link: WatchConnection, client: Client, row: GoldTask, data: Mapping[str, Any]
) -> str:
    """Find the task that an earlier attempt may have created; "" if there is none."""
    others = GoldTask.objects.filter(link__connection=link.connection_id, place=row.place)
    others_ids = {*others.values_list("outside_id", flat=True), row.question.key}
    tasks = client.list_tasks(row.place, row.made - SKEW)
    ids = (str(task.get("id")) for task in tasks if task.get("data") == data)
    return next((pk for pk in ids if pk not in others_ids), "")


def _remove_tasks(link: WatchConnection, client: Client, contents: Mapping[str, Object]) -> None:
    """Remove unwanted tasks; those that were answered meanwhile stay, and are read."""
    for project, content in contents.items():
        rows = link.gold_tasks.filter(state=State.LEAVING, place=project)
        for row in rows.filter(outside_id="").exclude(tried=None).select_related("question"):
            data = _build_data(link, client, row.question, content)
            rows.filter(pk=row.pk).update(outside_id=_find_task(link, client, row, data))
        rows.filter(outside_id="").update(state=State.REMOVED)
        ids = [int(pk) for pk in rows.values_list("outside_id", flat=True)]
        if not ids:
            continue
        removals = set(map(str, ids))
        if client.delete_unanswered(project, ids) < len(ids):
            removals = {pk for pk in removals if not _is_there(client, pk)}
        rows.filter(outside_id__in=removals).update(state=State.REMOVED)
        if rows.exists() and not link.watch.stopped:
            _take_answers(link, client, project, content)
        rows.update(state=State.ANSWERED)


def _is_there(client: Client, task: str) -> bool:
    try:
        return bool(client.task(task))
    except Missing:
        return False
