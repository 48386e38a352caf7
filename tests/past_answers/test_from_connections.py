"""Past answers that are read from a connection."""

import pytest

from crowdselect.past_answers.models import Replay
from tests.pages import text_of
from tests.selection.admin.test_connections import connection, do, inside, studio

pytestmark = pytest.mark.django_db
__all__ = ["connection", "inside", "studio"]


def test_past_annotations_are_tried_with_one_click(requester, connection, studio):
    page = do(requester, connection, do="past", source=str(min(studio.projects)))
    state = Replay.objects.get().state
    assert state not in (Replay.State.ASKING, Replay.State.FAILED), text_of(page)
