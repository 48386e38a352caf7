"""A page that makes temporary links for workers, as a file."""

from datetime import timedelta

from django import forms
from django.http.response import HttpResponseBase
from unfold.widgets import UnfoldAdminIntegerFieldWidget, UnfoldAdminTextareaWidget

from selection import db_clock
from selection.admin.page import FormPage, csv_response
from selection.worker import temporary_links


class TemporaryLinksForm(forms.Form):
    workers = forms.CharField(
        label="Worker ids",
        widget=UnfoldAdminTextareaWidget({"rows": 8, "spellcheck": "false"}),
        help_text="One per line. While the roster is open new workers join by their link.",
    )
    hours = forms.IntegerField(
        label="Valid for (hours)",
        min_value=1,
        max_value=24 * temporary_links.LONGEST.days,
        initial=72,
        widget=UnfoldAdminIntegerFieldWidget(),
        help_text="After that the link and the page behind it no longer open.",
    )


class TemporaryLinksPage(FormPage):
    permission_required = ["selection.change_run"]
    location = ("<int:pk>/temporary-links/", "temporary_links")
    heading = "Temporary links of {}"
    below_object = True
    template_name = "selection/temporary_links.html"
    form_class = TemporaryLinksForm

    def apply_form(self, form: TemporaryLinksForm) -> HttpResponseBase:
        given = form.cleaned_data
        until = db_clock.database_now() + timedelta(hours=given["hours"])
        made = temporary_links.make_temporary_links(
            self.object, given["workers"].splitlines(), until, self.username
        )
        rows = [
            [worker, link, until.isoformat(timespec="seconds")] for worker, link in made.items()
        ]
        return csv_response(f"{self.object} temporary links", ["worker", "link", "until"], rows)
