"""Pictures, sounds and films that a question set's texts show as ``![words](media:NAME)``."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from ninja import Field, Query, Schema

from selection import audit
from selection.models import MediaFile
from selection.questions import media

from .base import api
from .fields import Id, Key, Sent
from .idempotency import idempotent
from .pagination import Page, paginate
from .question_sets import find_question_set


class MediaOut(Schema):
    name: str = Field(description="Texts call it media:NAME.", examples=["bird.png"])
    type: str = Field(description="As recognised from its content.", examples=["image/png"])
    size: int = Field(description="In bytes.")
    created_at: datetime = Field(alias="created")


@api.get("/question-sets/{set_id}/media", response=list[MediaOut], summary="List media files")
def list_media(
    request: HttpRequest, response: HttpResponse, set_id: Id, query: Query[Page]
) -> list[MediaFile]:
    """Return the files of a question set, oldest first."""
    files = find_question_set(request, set_id).media.defer("data")
    return paginate(request, response, files, query)


@api.post("/question-sets/{set_id}/media", summary="Upload media file")
@idempotent(MediaOut)
def send_media(request: HttpRequest, set_id: Id, file: Sent) -> MediaFile:
    """Upload a picture (at most 5 MB), sound (20 MB) or film (40 MB); the same name replaces it."""
    question_set = find_question_set(request, set_id)
    stored = media.store_media(question_set, file.name or "file", file.read())
    audit.record_entry("upload", question_set, after={"files": [stored.name]})
    return stored


@api.delete("/question-sets/{set_id}/media/{name}", summary="Delete media file")
def delete_media(request: HttpRequest, set_id: Id, name: Key) -> None:
    """Delete a file; texts that mention it show its label alone."""
    question_set = find_question_set(request, set_id)
    get_object_or_404(question_set.media.defer("data"), name=name).delete()
    audit.record_entry("delete", question_set, before={"file": name})
