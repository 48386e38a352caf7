"""Media of a question set: upload, names to use in texts, deletion."""

from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Paginator
from django.db.models import Sum
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect

from selection import audit
from selection.admin.page import Page
from selection.admin.safe_lookups import parse_id
from selection.errors import Refused
from selection.questions import media
from selection.texts import count_noun

PER_PAGE = 50


class MediaInput(forms.ClearableFileInput):
    allow_multiple_selected = True


class FilesField(forms.FileField):
    """A field for any number of files."""

    widget = MediaInput(attrs={"accept": "image/*,audio/*,video/*"})

    def clean(self, data: Any, initial: Any = None) -> list[Any]:
        files = (data or [None]) if isinstance(data, (list, tuple)) else [data]
        return [super(FilesField, self).clean(file, initial) for file in files]


class MediaForm(forms.Form):
    uploads = FilesField(
        label="Images, audio or video", error_messages={"required": "Choose at least one file."}
    )


class MediaPage(Page):
    permission_required = ["selection.change_questionset"]
    location = ("<int:pk>/media/", "media")
    heading = "Media files of {}"
    below_object = True
    template_name = "selection/media.html"

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        files = self.object.media.defer("data")
        kwargs.setdefault("form", MediaForm())
        return super().get_context_data(
            page=Paginator(files, PER_PAGE).get_page(self.request.GET.get("page")),
            bytes=files.aggregate(total=Sum("size", default=0))["total"],
            **kwargs,
        )

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if "delete" in request.POST:
            return self._delete_file(parse_id(request.POST["delete"]))
        form = MediaForm(request.POST, request.FILES)
        if not form.is_valid():
            return self.render_to_response(self.get_context_data(form=form))
        names = []
        for file in form.cleaned_data["uploads"]:
            try:
                names.append(media.store_media(self.object, file.name, file.read()).name)
            except Refused as refusal:
                messages.error(request, str(refusal))
        if names:
            audit.record_entry("upload", self.object, after={"files": names})
            messages.success(request, f"{count_noun(len(names), 'file')} uploaded.")
        return redirect(request.path)

    def _delete_file(self, pk: int | None) -> HttpResponse:
        file = self.object.media.defer("data").filter(pk=pk).first()
        if file is not None:
            file.delete()
            audit.record_entry("delete", self.object, before={"file": file.name})
            messages.success(self.request, f"{file} deleted.")
        return redirect(self.request.path)
