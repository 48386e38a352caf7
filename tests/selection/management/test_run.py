"""``manage.py run``."""

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from selection import actor, engine
from selection.admin.run.forms import RunForm
from selection.management import run_arguments
from selection.models import ApiToken, AuditEntry, Run, Team
from selection.runs.settings import run_settings
from tests.worlds import answer_all, crowd, make_pool, make_questions, make_run, play

pytestmark = pytest.mark.django_db

ROOT = Path(__file__).parents[3]


def run(*given: object) -> str:
    said = io.StringIO()
    call_command("run", *map(str, given), stdout=said)
    return said.getvalue()


def refused(*given: object) -> str:
    with pytest.raises(CommandError) as caught:
        run(*given)
    assert caught.value.returncode == 2
    assert "\n" not in str(caught.value)
    return str(caught.value)


def create(*more: object, name: str = "Spring", k: int = 2) -> Run:
    pool, asked = make_pool(6, language=["German", "Welsh"]), make_questions(40)
    run("create", "--pool", pool, "--question-set", asked.pk, "--k", k, *more, "--", name)
    return Run.objects.get(name=name)


# -- making one


def test_draft_has_the_defaults_of_the_form():
    made = create()
    assert (made.status, made.k, made.pool.workers.count()) == ("draft", 2, 6)
    assert (made.algorithm, made.hours_to_come) == ("credible", 48)
    assert made.epsilon == Run._meta.get_field("epsilon").default
    assert made.seed != 0


def test_settings_of_the_form_are_arguments_of_the_command():
    given = {
        "algorithm": "clucb-pac",
        "epsilon": 0.2,
        "delta": 0.1,
        "budget": 900,
        "price": "0.05",
        "currency": "$",
        "slots": 7,
        "slots_per_worker": 2,
        "minutes": 30,
        "hours_to_come": 5.5,
        "enrol_until": "2030-05-06 07:08",
        "enrol_most": 40,
        "seed": 2**60,
    }
    flags = [text for name, value in given.items() for text in (_flag(name), value)]
    made = create(*flags, "--enrolling")
    for name, value in given.items():
        stored = getattr(made, name)
        shown = stored.strftime("%Y-%m-%d %H:%M") if name == "enrol_until" else stored
        assert str(shown).rstrip("0") == str(value).rstrip("0"), name
    assert timezone.is_aware(made.enrol_until)
    assert made.enrolling
    assert create("--recorded-only", name="Recorded").recorded_only


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def test_command_lacks_no_field_of_the_form():
    asked = set(RunForm.Meta.fields)
    assert asked == {"name", "pool", "question_set", "k", *run_arguments.FIELDS}


def test_options_quotas_kinds_and_an_earlier_run_can_be_given():
    made = create("--algorithm", "ugape-b", "--budget", 500, "--option", "eta=2.5", name="a")
    assert made.options == {"eta": 2.5}
    quota = ["--quota-attribute", "language", "--quota", "Welsh: 1-", "--quota", "German: -1"]
    made = create("--algorithm", "certified", *quota, name="b")
    assert made.quotas["limits"] == {"Welsh": [1, None], "German": [0, 1]}
    more = make_questions(30)
    made = create("--algorithm", "clucb-pac", "--also", f"{more}=1", "--one-kind-each", name="c")
    assert [skill.k for skill in made.skills] == [2, 1]
    assert made.one_kind_each
    play(make_run(name="past", questions=3000), crowd(1, 2))
    assert "prior" in create("--learn-from", "past", name="d").options


def test_algorithm_that_does_not_learn_refuses_learn_from():
    earlier, base = make_run(), ["create", "Spring", "--k", 2, "--algorithm", "lucb"]
    base += ["--pool", earlier.pool, "--question-set", earlier.question_set]
    assert "does not learn" in refused(*base, "--learn-from", earlier)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (["--epsilon", "2"], "Epsilon must"),
        (["--epsilon", "little"], "--epsilon: “little” value must be a float"),
        (["--budget", "0"], "--budget: "),
        (["--k", "9"], "9"),
        (["--option", "eta=1"], "has no option eta"),
        (["--option", "eta"], "write it as --option name=value"),
        (["--algorithm", "certified", "--quota", "Welsh: 1"], "Say which attribute"),
        (["--also", "nothing"], "write --also"),
        (["--also", "nothing=1"], "no question set “nothing”"),
        (["--learn-from", "nothing"], "no run “nothing”"),
        (["--enrol-until", "soon"], "--enrol-until: "),
    ],
)
def test_impossible_draft_is_refused_in_a_line_and_not_created(given, why):
    pool, asked = make_pool(6, language=["German", "Welsh"]), make_questions(40)
    base = ["create", "Spring", "--pool", pool, "--question-set", asked, "--k", 2]
    assert why in refused(*base, *given)
    assert not Run.objects.exists()


def test_run_that_cannot_start_is_not_created_by_start():
    pool, empty = make_pool(6), make_questions(0)
    base = ["create", "Spring", "--pool", pool, "--question-set", empty, "--k", 2]
    assert "is empty: import gold questions first" in refused(*base, "--start")
    assert not Run.objects.exists()
    run(*base)
    assert Run.objects.get().status == "draft"


def test_teams_that_have_things_of_one_name_are_told_apart():
    ours, theirs = make_pool(4), make_pool(3)
    asked = make_questions(20)
    other = Team.objects.create(name="others")
    type(theirs).objects.filter(pk=theirs.pk).update(name=ours.name, team=other)
    base = ["create", "Spring", "--pool", ours.name, "--question-set", asked, "--k", 1]
    assert "Several teams have a pool" in refused(*base)
    run(*base, "--team", ours.team.name)
    assert Run.objects.get().pool == ours


# -- its life


def test_command_moves_a_run_from_start_to_end_with_reasons_in_its_history():
    made = create("--start", "--price", "0.05", name="-dashed")
    assert made.status == "running"
    for what, status in [("pause", "paused"), ("resume", "running"), ("stop", "ended")]:
        run(what, "--why", "because", "--", "-dashed")
        made.refresh_from_db()
        assert made.status == status
    assert "concluded" in run("conclude", made.pk)
    assert "ready for review" in run("take-up", made.pk)
    told = list(made.events.order_by("id").values_list("kind", "why"))
    assert told[:2] == [("start", ""), ("pause", "because")]
    assert {who.split()[0] for who in made.events.values_list("who", flat=True)} == {"command"}
    assert "only a run that is" in refused("pause", made.pk)


def test_changed_settings_print_their_effect_on_the_guarantee():
    made = make_run(budget=12, price="0.05")
    engine.advance(made.pk)
    answer_all(made, crowd(1, 2))
    engine.advance(made.pk)
    assert "ended" in Run.objects.get(pk=made.pk).status
    said = run("change", made.pk, "--budget", 60, "--price", "0.10", "--why", "more money")
    assert "The budget is 60 answers instead of 12 answers" in said
    assert "An answer costs 0.10 €" in said
    assert f"Run {made.pk}, “{made}”: running." in said
    told = made.events.filter(kind="budget").get()
    assert (told.why, told.who.split()[0]) == ("more money", "command")
    assert AuditEntry.objects.filter(kind="budget", item=str(made.pk)).exists()
    run("change", made.pk, "--budget=")
    made.refresh_from_db()
    assert made.budget is None
    assert "Nothing changes" in run("change", made.pk, "--minutes", made.minutes)
    assert "--slots: " in refused("change", made.pk, "--slots", "many")
    assert "edit it in its form" in refused("change", create().pk, "--slots", 3)


def test_the_audit_log_has_it():
    made = create("--start")
    run("stop", made.pk, "--why", "no time")
    entries = AuditEntry.objects.filter(model="run", item=str(made.pk)).order_by("pk")
    assert list(entries.values_list("kind", flat=True)) == ["added", "start", "stop"]
    assert entries.last().why == "no time"
    assert entries.last().who.startswith("command")


def test_audit_log_has_an_action_of_a_login_once():
    made = make_run()
    with actor.acting_as_command(["manage.py", "run"]):
        run("stop", made.pk)
    (stop,) = AuditEntry.objects.filter(kind="stop", item=str(made.pk))
    assert stop.who.endswith(", manage.py run")


def test_status_command_describes_the_run():
    made = make_run(budget=500, price="0.05", epsilon=0.05)
    assert "no guarantee yet" in run("status", made.name)
    engine.advance(made.pk)
    answer_all(made, crowd(1, 2))
    engine.advance(made.pk)
    said = run("status", made.pk)
    assert "12 answers counted, 12 out; 24 of 500 handed out, 1.20 €" in said
    assert "Estimated remaining" in said
    document = json.loads(run("status", made.pk, "--json"))
    assert (document["state"], document["progress"]["counted"]) == ("running", 12)
    draft = make_run(start=False, epsilon=0.2)
    assert "within 0.2 of the 2nd best" in run("status", draft.name)
    assert json.loads(run("status", draft.pk, "--json"))["progress"] is None
    run("stop", made.pk)
    ended = run("status", made.pk)
    assert "ready for review, because it was stopped by hand" in ended
    assert "Estimated remaining" not in ended


# -- its help


def test_run_help_has_the_words_and_defaults_of_the_form():
    command = [sys.executable, "manage.py", "run", "create", "--help"]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    words = " ".join(said.split())
    for name in ("epsilon", "minutes", "slots"):
        field = Run._meta.get_field(name)
        assert f"(default: {field.default})" in words
        assert str(field.help_text).rstrip(".") in words
    assert f"(default: {run_settings.INITIAL['hours_to_come']})" in words
    assert f"(default: {run_settings.INITIAL['algorithm']})" in words
    assert "A name that begins with - goes after --" in words


def test_token_name_may_begin_with_a_dash(client):
    made = create("--start")
    secret = ApiToken.issue("-dash")
    headers = {"authorization": f"Bearer {secret}"}
    url = f"/api/runs/{made.pk}/moves/pause"
    assert client.generic("POST", url, headers=headers).status_code == 200  # without a body
    assert made.events.filter(who="token -dash").exists()


def test_worker_lists_are_separated_by_commas(capsys):
    pool, asked = make_pool(6), make_questions(20)
    given = ["--pool", str(pool.pk), "--question-set", str(asked.pk), "--k", "1"]
    lists = ["--only", "w1, w2,w3", "--left-out", "w3"]
    call_command("run", "create", "Few", *given, *lists)
    run = Run.objects.get(name="Few")
    assert (run.only, run.left_out, run.met) == (["w1", "w2", "w3"], ["w3"], "skip")
