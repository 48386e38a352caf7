"""Models over the life of pools and runs: start, copy, dump, erasure, deletion."""

import json

import pytest
from django.utils import timezone

from selection import privacy, reports
from selection.errors import Refused
from selection.model_workers import ledger
from selection.model_workers.server_calls import Outcome
from selection.models import (
    Endpoint,
    MediaFile,
    ModelCall,
    ModelSpending,
    Question,
    Run,
    Worker,
)
from selection.questions import media
from selection.runs import deletion, lifecycle
from selection.runs.settings import drafts
from tests.selection.model_workers.conftest import make_model_run

pytestmark = pytest.mark.django_db
OFF = "http://127.0.0.1:9/v1"


def send_call(run: Run, key: str, test: bool = False) -> ModelCall:
    now = timezone.now()
    return ModelCall.objects.create(
        run=None if test else run,
        worker=Worker.objects.get(pool=run.pool, key=key),
        question=run.question_set.questions.all()[0],
        digest="d",
        sent=now,
        expires=now,
        reserved=7,
    )


def test_a_run_does_not_start_without_the_columns_of_a_template():
    run = make_model_run(OFF, start=False, endpoint={"template": '{question} {topic} {"a": 1}'})
    run.question_set.questions.update(columns={"topic": "Art"})
    run.question_set.questions.filter(key="q1").update(columns={})
    with pytest.raises(Refused, match=r"question “q1” of .* lacks the column “topic”"):
        lifecycle.start_run(run)
    run.question_set.questions.update(columns={"topic": ""})
    lifecycle.start_run(run)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (
            {"prompt": "Hear ![it](media:a.mp3)"},
            "there is a sound or a film, which models are not sent",
        ),
        ({"prompt": "See ![it](media:b.png)"}, "the picture “b.png” is missing."),
        (
            {"choices": [str(n) for n in range(27)]},
            "there are 27 choices: models are shown 26 at most.",
        ),
    ],
)
def test_run_with_questions_models_cannot_answer_does_not_start(fields, words):
    run = make_model_run(OFF, start=False)
    Question.objects.filter(question_set=run.question_set, key="q1").update(**fields)
    with pytest.raises(Refused, match="Models take part, and in the question “q1” of") as refused:
        lifecycle.start_run(run)
    assert words in str(refused.value)
    Endpoint.objects.all().delete()
    lifecycle.start_run(run)


def test_sound_in_the_instructions_is_refused_and_a_picture_is_not():
    run = make_model_run(OFF, start=False)
    media.store_media(run.question_set, "a.gif", b"GIF89a")
    assert MediaFile.objects.get().type == "image/gif"
    run.question_set.instructions = "As ![here](media:a.gif) and ![there](https://x.org/b.mp4)"
    run.question_set.save()
    with pytest.raises(Refused, match=r"in the instructions of .* there is a sound"):
        lifecycle.start_run(run)
    run.question_set.instructions = "As ![here](media:a.gif)"
    run.question_set.save()
    lifecycle.start_run(run)


def test_run_of_people_alone_may_ask_questions_models_cannot_answer():
    run = make_model_run(OFF, start=False, left_out=["w5"])
    Question.objects.filter(question_set=run.question_set).update(prompt="![a](media:a.mp3)")
    Endpoint.objects.exclude(worker__key="w5").delete()
    lifecycle.start_run(run)


def test_an_erased_worker_is_no_model_and_a_late_reply_harms_nothing():
    run = make_model_run(OFF)
    call = send_call(run, "w0")
    ModelSpending.objects.create(run=run, in_flight=7)
    privacy.erase_worker(privacy.same_person("w0", run.team), "ada")
    assert not Endpoint.objects.filter(worker=call.worker_id).exists()
    assert Endpoint.objects.count() == 5
    ledger.close_calls({call.pk: Outcome(5, reply="yes")})
    assert ledger.close_interrupted() == 1
    spending = ModelSpending.objects.get()
    assert (spending.spent, spending.in_flight) == (7, 0)


def test_a_run_of_models_is_copied_and_dumped():
    run = make_model_run(OFF)
    send_call(run, "w0")
    lifecycle.stop_run(run)
    run.refresh_from_db()
    copied = drafts.copy_run(run, "Again")
    assert not ModelCall.objects.filter(run=copied).exists()
    lifecycle.start_run(copied)
    dump = json.loads("".join(reports.dump_text(run)))
    assert len(dump["workers"]) == 6


def test_a_copy_has_the_limit_of_money_and_has_spent_nothing():
    run = make_model_run(OFF)
    assert not ModelSpending.objects.filter(run=drafts.copy_run(run, "Unlimited")).exists()
    ModelSpending.objects.create(run=run, limit=9, spent=5, in_flight=2)
    copied = ModelSpending.objects.get(run=drafts.copy_run(run, "Limited"))
    assert (copied.limit, copied.spent, copied.in_flight) == (9, 0, 0)


def test_a_deleted_run_and_a_deleted_pool_leave_no_call():
    run = make_model_run(OFF)
    ModelSpending.objects.create(run=run)
    send_call(run, "w0")
    send_call(run, "w1", test=True)
    lifecycle.stop_run(run)
    lifecycle.delete_run(run)
    assert [call.run for call in ModelCall.objects.all()] == [None]
    assert not ModelSpending.objects.exists()
    deletion.delete_item(run.pool)
    assert not ModelCall.objects.exists()
    assert not Endpoint.objects.exists()
