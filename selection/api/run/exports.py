"""Exports: a run as a file, in any format of its page."""

from decimal import Decimal
from typing import Literal

from django.http import HttpRequest, StreamingHttpResponse
from ninja import Field, Query, Schema

from selection import exports
from selection.api.base import ERRORS, api, find_object
from selection.api.fields import Id, price_field
from selection.limits import LONGEST_KEY
from selection.models import Run

LISTED = "\n".join(
    f"- `{each.name}`: {each.title}. {each.about}" for each in exports.FORMATS.values()
)
MEDIA = {each.media.partition(";")[0] for each in exports.FORMATS.values()}
FILE = {"type": "string", "format": "binary"}
CONTENT = {kind: {"schema": {} if kind == "application/json" else FILE} for kind in sorted(MEDIA)}
ANSWER = {"responses": {200: {"description": "The file.", "content": CONTENT}}}


class ExportIn(Schema):
    format: str = Field("csv", json_schema_extra={"enum": list(exports.FORMATS)})
    named: str = Field(
        "",
        max_length=LONGEST_KEY,
        description="Name of the qualification on the platform; default: the run's name. "
        "Used by mturk and mturk-revoke.",
    )
    pay: Decimal | None = price_field(
        "Payment for an answer. Default: the payment shown to workers; without that payment, the "
        "run's price. Used by payment and the bonuses."
    )
    csv: Literal["comma", "semicolon"] = Field(
        "comma",
        description="Marks of a CSV file for people: semicolon has decimal commas, as spreadsheets "
        "in German or French expect. Files of platforms have their own.",
    )


@api.get(
    "/runs/{run_id}/export",
    response=ERRORS,
    openapi_extra=ANSWER,
    description=f"Return a started run as a file, in parts.\n\n{LISTED}",
)
def export_run(request: HttpRequest, run_id: Id, query: Query[ExportIn]) -> StreamingHttpResponse:
    run = find_object(request, Run, run_id)
    file = exports.make_file(run, query.format, query.named, query.pay, exports.STYLES[query.csv])
    headers = {"Content-Disposition": f'attachment; filename="{file.name}"'}
    return StreamingHttpResponse(file.pieces, content_type=file.media, headers=headers)
