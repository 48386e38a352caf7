"""Quotas: at least and at most so many from each value of a worker attribute."""

import pytest

from selection import reports
from selection.errors import Refused
from selection.models import Run
from selection.runs import lifecycle
from selection.runs.roster import quotas
from tests.pages import admin_url, lines_of, run_form, save_run, text_of
from tests.worlds import crowd, make_pool, make_questions, make_run, play

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

LANGUAGES = ["English", "English", "Spanish"]  # of w0, w1, w2, and again from w3
ASKED = {"attribute": "language", "limits": {"Spanish": [1, 1], "English": [0, 2]}}


def quota_run(**fields: object) -> Run:
    values = {"k": 2, "algorithm": "clucb-pac", "quotas": ASKED, "questions": 1000}
    few_steps = {"slots": 120, "slots_per_worker": 20}
    return make_run(**values | few_steps | {"pool": make_pool(6, language=LANGUAGES)} | fields)


# -- as people write them


@pytest.mark.parametrize(
    ("line", "limit"),
    [
        ("English: 2-4", [2, 4]),
        ("English:2 – 4", [2, 4]),
        ("English: 3", [3, 3]),
        ("English: 2-", [2, None]),
        ("English: -4", [0, 4]),
    ],
)
def test_quota_line_is_parsed(line, limit):
    limits = quotas.parse_quotas(f"\n  {line} \n")
    assert limits == {"English": limit}
    assert quotas.parse_quotas(quotas.text_of(limits)) == limits


@pytest.mark.parametrize("line", ["English", "English: many", ": 2", "English: -", "English: 2 4"])
def test_unreadable_quota_line_is_named(line):
    with pytest.raises(Refused, match=f"“{line}” cannot be read"):
        quotas.parse_quotas(line)


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ("English: 1-2\nEnglish: 1", "“English” is there twice."),
        ("English: 4-2", "“English: 4-2” asks for more than it allows."),
        ("Klingon: 1", "No worker has “Klingon” as language; there are English, Spanish."),
        ("Spanish: 3", "3 are wanted of Spanish, but the pool has only 2."),
        ("English: 2-\nSpanish: 1-", "want at least 3 workers, but K is 2."),
        ("English: 0\nSpanish: -1", "allow at most 1 worker, but K is 2."),
    ],
)
def test_the_form_refuses_quotas_that_cannot_be_kept(requester, lines, why):
    form = run_form(
        make_pool(6, language=LANGUAGES),
        make_questions(5),
        algorithm="clucb-pac",
        quota_attribute="language",
        quota_lines=lines,
    )
    response = save_run(requester, form)
    assert text_of(response).count(why) == 2
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"quota_attribute": ""}, "Say which attribute the quotas are about."),
        ({"quota_lines": ""}, "Say how many there may be of each value."),
        ({"quota_attribute": "country"}, "No worker of this pool has the attribute “country”."),
        (
            {"algorithm": "lucb"},
            "LUCB1 cannot keep quotas; Certified, CLUCB-PAC and lil'CLUCB can.",
        ),
    ],
)
def test_form_names_the_missing_quota(requester, changes, why):
    form = run_form(
        make_pool(6, language=LANGUAGES),
        make_questions(5),
        **{"algorithm": "clucb-pac", "quota_attribute": "language", "quota_lines": "English: 1"}
        | changes,
    )
    assert text_of(save_run(requester, form)).count(why) == 2  # in the summary and at the field
    assert not Run.objects.exists()


def test_a_draft_keeps_its_quotas_and_shows_them_again(requester):
    form = run_form(
        make_pool(6, language=LANGUAGES),
        make_questions(5),
        algorithm="clucb-pac",
        quota_attribute="language",
        quota_lines="Spanish: 1\nEnglish: -2",
    )
    page = text_of(save_run(requester, form, follow=True))
    assert "Quotas by language English at most 2, Spanish exactly 1" in page
    assert "among all selections that keep to the quotas" in page
    run = Run.objects.get()
    assert run.quotas == ASKED
    assert "English: -2\nSpanish: 1" in requester.get(
        admin_url("run_change", run.pk)
    ).content.decode().replace("\r", "")


# -- in a run


def test_the_selection_keeps_to_the_quotas():
    run = play(quota_run(), crowd(3, good=2))  # w0 and w1 are the best, both English
    assert run.ending == "guarantee"
    chosen = reports.export_run(run)["workers"]
    assert sorted(row["group"] for row in chosen) == ["English", "Spanish"]
    assert {row["worker"] for row in chosen} & {"w0", "w1"}


def test_quota_groups_stay_those_of_the_start():
    run = quota_run()
    run.pool.workers.update(attributes={"language": "Latin"})
    groups = {line.worker: line.group for line in reports.worker_standings(run)}
    assert groups == {f"w{i}": LANGUAGES[i % 3] for i in range(6)}


def test_a_worker_without_the_attribute_is_in_a_group_of_its_own():
    pool = make_pool(6, language=LANGUAGES)
    pool.workers.filter(key="w5").update(attributes={})
    run = quota_run(pool=pool, quotas=ASKED | {"limits": {"not given": [1, 1]}})
    play(run, crowd(3, good=2))
    assert [
        row["worker"] for row in reports.export_run(run)["workers"] if row["group"] != "English"
    ] == ["w5"]


def test_starting_refuses_quotas_that_no_longer_fit_the_pool():
    run = quota_run(start=False)
    run.pool.workers.update(attributes={"language": "English"})
    with pytest.raises(Refused, match="No worker has “Spanish” as language"):
        lifecycle.start_run(run)


def test_the_page_and_the_export_show_the_groups(requester):
    run = play(quota_run(), crowd(3, good=2))
    words = text_of(requester.get(admin_url("run_page", run.pk)))
    assert "Quotas by language" in words
    assert "Spanish 1 exactly 1 2" in words
    assert "English 1 at most 2 4" in words
    header, *rows = lines_of(requester.get(admin_url("run_export", run.pk, "csv")))
    assert header.split(",")[9] == "group"
    assert {row.split(",")[9] for row in rows} == {"English", "Spanish"}
    assert reports.export_run(run)["quotas"]["groups"][1] == {
        "group": "Spanish",
        "selected": 1,
        "wanted": "exactly 1",
        "workers": 2,
    }


def test_a_run_without_quotas_shows_no_groups(requester):
    run = play(make_run(), crowd(3, good=2), most=3)
    assert "Quotas" not in text_of(requester.get(admin_url("run_page", run.pk)))
    assert "group" not in lines_of(requester.get(admin_url("run_export", run.pk, "csv")))[0]


def test_an_attribute_may_be_named_as_in_the_file_that_it_came_from():
    assert quotas.value_of({"sprache": " Deutsch "}, "Sprache") == "Deutsch"
    assert quotas.value_of({"sprache": "Deutsch", "Sprache": "Dänisch"}, "Sprache") == "Dänisch"
    assert quotas.value_of({"sprache": "Deutsch"}, "Herkunft") == quotas.NOT_GIVEN
    asked = ASKED | {"attribute": "Language"}
    run = play(quota_run(quotas=asked), crowd(2, 6))
    chosen = run.candidates.filter(verdict=1).select_related("worker")
    assert sorted(one.worker.attributes["language"] for one in chosen) == ["English", "Spanish"]
