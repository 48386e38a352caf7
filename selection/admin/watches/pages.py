"""A watch: its beginning, its page with the alarms, its settings and files."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Case, Count, IntegerField, Q, QuerySet, Value, When
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect

from selection import connectors, exports, reports
from selection.admin.connectors.watch_page import GoldPlacePage, describe_link
from selection.admin.page import ActionPage, FormPage, Page, file_response, object_url
from selection.admin.safe_lookups import parse_id
from selection.charts import worker_charts
from selection.errors import Refused
from selection.models import Watch, WatchedWorker
from selection.models.watches import SETTINGS
from selection.texts import count_noun
from selection.watches import alarms, begin, meetings, overview, practice, requalification
from selection.worker import link_rotation, links

from .forms import PERMISSION, SHARES, BeginForm, SettingsForm, WorkersForm

PER_PAGE = 50
State = WatchedWorker.State
# The most urgent state comes first.
URGENCY = [
    State.ALARM,
    State.FALLING,
    State.PAUSED,
    State.PRACTICE,
    State.TESTING,
    State.FINE,
    State.LEFT,
]
DONE = {
    "pause": "is paused",
    "resume": "goes on",
    "dismiss": "begins anew",
    "requalify": "is tested again, by gold questions asked from now on",
    "practise": "practises first: send them their gold link",
}
MOVED = {
    "stop": "The watch is stopped.",
    "resume": "The watch goes on.",
    "recount": "All answers are graded again; this takes a moment.",
}


class BeginPage(FormPage):
    permission_required = [PERMISSION]
    location = ("begin/", "begin")
    template_name = "selection/watch_form.html"
    title, button = "Watch workers", "Start watching"
    object: Any = None

    def build_form(self, *data: Any) -> BeginForm:
        query = self.request.GET
        initial = {name: query[name] for name in ("run", "pool") if name in query}
        return BeginForm(*data[:1], request=self.request, initial=initial)

    def apply_form(self, form: BeginForm) -> HttpResponse:
        chosen, settings = form.cleaned_data, form.settings()
        levels: begin.Levels = dict.fromkeys(chosen["workers"])
        sets, level = list(chosen["question_sets"]), settings["level"]
        plan = reports.plan_watch(chosen["run"], chosen["pool"], sets, levels, level)
        watch = begin.create_watch(
            plan.pool, plan.question_sets, plan.levels, chosen["run"], **settings
        )
        messages.success(self.request, f"{count_noun(len(plan.levels), 'worker', 'are')} watched.")
        return redirect(object_url(watch))


class WatchPage(ActionPage):
    """The first screen has the next action; below is a line for each worker."""

    location = ("<int:pk>/", "page")
    template_name = "selection/watch.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        watch: Watch = self.object
        state, search = self.request.GET.get("state", ""), self.request.GET.get("q", "").strip()
        rows = self._rows(state, search)
        page = Paginator(rows, PER_PAGE).get_page(self.request.GET.get("page"))
        rows_of_page = list(page.object_list)
        recent = overview.recent_answers(rows_of_page)
        summary = overview.summarise(watch)
        return super().get_context_data(
            watch=watch,
            summary=summary,
            rule=overview.describe_rule(watch),
            pause=overview.describe_pause(watch),
            practice_questions=practice.find_practice(watch).count(),
            states=[(one.value, one.label, summary.counts.get(one.value, 0)) for one in URGENCY],
            state=state,
            search=search,
            page=page,
            lines=[
                (
                    row,
                    worker_charts.draw_sparkline(recent[row.pk], row.level),
                    links.gold_address(row.pk, row.link_version),
                    requalification.fewest_answers(watch, row),
                )
                for row in rows_of_page
            ],
            most=requalification.MOST,
            sets=watch.question_sets.all(),
            twins=meetings.list_twins(watch),
            uncounted=reports.count_uncounted_gold([watch])[watch.pk],
            files=exports.WATCH_FILES,
            places=[describe_link(link) for link in connectors.list_links(watch)],
            **kwargs,
        )

    def _rows(self, state: str, search: str) -> QuerySet[WatchedWorker]:
        lessons = Count("practised", filter=Q(practised__done=True))
        rows = self.object.workers.select_related("worker").annotate(practice_done=lessons)
        rows = rows.filter(state=state) if state in State.values else rows.exclude(state=State.LEFT)
        if search:
            rows = rows.filter(Q(worker__key__icontains=search) | Q(worker__name__icontains=search))
        places = [When(state=one, then=Value(place)) for place, one in enumerate(URGENCY)]
        urgent = Case(*places, default=Value(len(URGENCY)), output_field=IntegerField())
        return rows.annotate(urgency=urgent).order_by("urgency", "-evidence", "pk")

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not self.may("selection.change_watch"):
            raise Http404
        action, number = request.POST.get("do", ""), parse_id(request.POST.get("worker", ""))
        why = request.POST.get("why", "")
        try:
            if number:
                self._act_on_worker(action, number, why)
            elif action == "links":
                count = link_rotation.rotate_all_gold_links(self.object, self.username, why)
                messages.success(request, f"{count_noun(count, 'worker', 'have')} a new gold link.")
            elif action in begin.MOVES:
                begin.MOVES[action](self.object)
                messages.success(request, MOVED[action])
            else:
                raise Http404
        except Refused as refusal:
            messages.error(request, str(refusal))
        return self.redirect_back()

    def _act_on_worker(self, action: str, number: int, why: str) -> None:
        row = get_object_or_404(self.object.workers.select_related("worker"), pk=number)
        if action == "leave":
            begin.remove_workers(self.object, [row.worker.key])
            messages.success(self.request, f"“{row.worker}” is not watched any more.")
        elif action in alarms.ACTIONS:
            alarms.ACTIONS[action](row, self.username, why)
            row.refresh_from_db(fields=["state"])
            outcome = "practise" if row.state == State.PRACTICE else action
            messages.success(self.request, f"“{row.worker}” {DONE[outcome]}.")
        elif action == "link":
            link_rotation.rotate_gold_link(row, self.username, why)
            messages.success(self.request, f"“{row.worker}” has a new gold link: send it to them.")
        else:
            raise Http404


class EditPage(FormPage):
    permission_required = ["selection.change_watch"]
    location = ("<int:pk>/edit/", "edit")
    template_name = "selection/watch_form.html"
    heading, button, edits = "Edit {}", "Save changes", True
    below_object = True

    def build_form(self, *data: Any) -> SettingsForm:
        watch: Watch = self.object
        initial = {name: getattr(watch, name) for name in ("name", *SETTINGS)}
        initial |= {
            name: round(100 * initial[name], 6) for name in SHARES if initial[name] is not None
        }
        initial["question_sets"] = watch.question_sets.all()
        return SettingsForm(*data[:1], request=self.request, initial=initial)

    def apply_form(self, form: SettingsForm) -> HttpResponse:
        begin.change_watch(self.object, list(form.cleaned_data["question_sets"]), **form.settings())
        messages.success(self.request, "The changes are saved.")
        return redirect(object_url(self.object))


class WorkersPage(FormPage):
    permission_required = ["selection.change_watch"]
    location = ("<int:pk>/workers/", "workers")
    template_name = "selection/watch_form.html"
    heading, button = "Add workers to {}", "Add workers"
    below_object = True
    form_class = WorkersForm

    def build_form(self, *data: Any) -> WorkersForm:
        return WorkersForm(*data[:1])

    def apply_form(self, form: WorkersForm) -> HttpResponse:
        new = begin.add_workers(self.object, form.levels())
        messages.success(self.request, f"{count_noun(new, 'worker')} added.")
        return redirect(object_url(self.object))


class FilePage(Page):
    location = ("<int:pk>/export/<slug:format>/", "export")

    def get(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if kwargs["format"] not in exports.WATCH_FILES:
            raise Http404
        style = exports.choose_style()
        return file_response(exports.watch_file(self.object, kwargs["format"], style))


WATCH_PAGES = (BeginPage, WatchPage, EditPage, WorkersPage, GoldPlacePage, FilePage)
