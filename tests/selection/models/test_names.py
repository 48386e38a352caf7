"""Names, whichever door they come by."""

import pytest

from selection.models import Pool, Worker
from tests.worlds import make_pool


@pytest.mark.django_db
@pytest.mark.parametrize("end", ["\r\n", "\u2028", "\x85", "\x1b"])
def test_a_name_is_one_line_by_every_door(end):
    pool = make_pool(1)
    Pool.objects.filter(pk=pool.pk).update(name=f"Spring{end}crowd")
    Worker.objects.bulk_create([Worker(pool=pool, key="v", name=f"Ada{end}B{end}")])
    copied = Pool(team=pool.team, name=f"A{end}B")
    copied.full_clean()
    assert (Pool.objects.get().name, copied.name) == ("Spring crowd", "A B")
    assert Worker.objects.get(key="v").name == "Ada B"
