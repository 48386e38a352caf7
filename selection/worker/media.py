"""Media files of questions, served to any visitor with their secret address."""

import re
from collections.abc import Iterator

from django.db.models import BinaryField, F
from django.db.models.functions import Substr
from django.http import (
    HttpRequest,
    HttpResponse,
    HttpResponseNotFound,
    StreamingHttpResponse,
)
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_http_methods

from selection.models import MediaFile

from .rate_limit import limit_failures

PIECE = 256 * 1024
YEAR = 365 * 24 * 3600
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
# The file must not run scripts, load anything, or be framed by foreign pages.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    # Tasks in annotation tools show it on their own pages; whoever knows the address may load it.
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex",
    "Cache-Control": f"private, max-age={YEAR}, immutable",
    "Accept-Ranges": "bytes",
}


@require_http_methods(["GET", "HEAD"])
@limit_failures  # type: ignore[arg-type]  # it streams
def serve_media(request: HttpRequest, token: str) -> HttpResponseBase:
    file = MediaFile.objects.defer("data").filter(token=token).first()
    if file is None:
        return HttpResponseNotFound()
    headers = HEADERS | {
        "Content-Disposition": content_disposition_header(False, file.name) or "inline"
    }
    first, last, part = _requested_range(request.headers.get("Range", ""), file.size)
    if first > last:
        return HttpResponse(status=416, headers={"Content-Range": f"bytes */{file.size}"})
    if part:
        headers["Content-Range"] = f"bytes {first}-{last}/{file.size}"
    headers["Content-Length"] = str(last - first + 1)
    return StreamingHttpResponse(
        _file_pieces(file.pk, first, last),
        content_type=file.type,
        headers=headers,
        status=206 if part else 200,
    )


def _requested_range(header: str, size: int) -> tuple[int, int, bool]:
    """Parse first byte, last byte and True for a part; the whole file for an invalid range."""
    match = _RANGE.fullmatch(header.strip())
    if match is None or not any(match.groups()):
        return 0, size - 1, False
    first, last = match.groups()
    if not first:  # a suffix range: the last bytes
        return max(0, size - int(last)), size - 1, True
    return int(first), min(int(last or size), size - 1), True


def _file_pieces(pk: int, first: int, last: int) -> Iterator[bytes]:
    """Yield the bytes in pieces from the database: no process holds a whole film."""
    for start in range(first, last + 1, PIECE):
        count = min(PIECE, last + 1 - start)
        piece = Substr(F("data"), start + 1, count, output_field=BinaryField())
        data = MediaFile.objects.filter(pk=pk).values_list(piece, flat=True).first()
        yield bytes(data or b"")
