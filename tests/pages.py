"""The requester's pages, for tests: addresses, words, forms, buttons and files."""

import html
import json
import re
from collections.abc import Sequence
from typing import Any

from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse

from selection.models import Pool, QuestionSet, Run
from tests.worlds import make_pool, make_questions


def admin_url(name: str, *args: object) -> str:
    return reverse(f"admin:selection_{name}", args=args)


def text_of(response) -> str:
    """The page's words, without markup, with single spaces."""
    page = re.sub(r"<(script|style|svg).*?</\1>", " ", response.content.decode(), flags=re.S)
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", page)).split())


def run_form(pool: Pool, question_set: QuestionSet, **changes: object) -> dict[str, object]:
    """The form of a draft; ε, δ and the budget under the names of the run's columns."""
    rule = {"epsilon": 0.2, "delta": 0.1, "budget": ""} | changes
    return {
        "name": "Spring",
        "pool": pool.pk,
        "question_set": question_set.pk,
        "k": 2,
        "algorithm": "lucb",
        "precise": "own",
        "precise_own": _percent(rule.pop("epsilon")),
        "sure": "own",
        "sure_own": _percent(rule.pop("delta"), 1),
        "spend": rule.pop("budget"),
        "spend_unit": "answers",
        "slots": 10,
        "slots_per_worker": 2,
        "minutes": 30,
        "seed": 11,
    } | rule


def _percent(share: object, whole: int = 0) -> object:
    return share if isinstance(share, str) else round(100 * (whole - share if whole else share), 6)


def skill_lines(further: Sequence[tuple[int, int]]) -> str:
    return "\n".join(f"{QuestionSet.objects.get(pk=pk)}: {k}" for pk, k in further)


def open_form(client):
    """The form of a draft, with all settings."""
    draft = _new_draft(make_pool(5), make_questions(5))
    return client.get(admin_url("run_change", draft.pk))


def save_run(client, form: dict[str, Any], **options: Any):
    """Fill in the form of a draft that has this pool and this question set already."""
    draft = _new_draft(
        Pool.objects.get(pk=form["pool"]), QuestionSet.objects.get(pk=form["question_set"])
    )
    response = client.post(admin_url("run_change", draft.pk), form, **options)
    Run.objects.filter(pk=draft.pk, name=draft.name).delete()  # refused
    return response


def _new_draft(pool: Pool, question_set: QuestionSet) -> Run:
    name = f"draft {Run.objects.count()}"
    return Run.objects.create(name=name, pool=pool, question_set=question_set, k=1)


def upload(requester, url: str, text: str | bytes, follow: bool = True):
    body = text.encode() if isinstance(text, str) else text
    return requester.post(url, {"file": SimpleUploadedFile("file.csv", body)}, follow=follow)


def confirm(requester, preview):
    return requester.post(preview.request["PATH_INFO"], follow=True)


def press(requester, run: Run, verb: str) -> str:
    response = requester.post(admin_url("run_verb", run.pk, verb), follow=True)
    run.refresh_from_db()
    return text_of(response)


def lines_of(response) -> list[str]:
    return response.getvalue().decode("utf-8-sig").splitlines()


def json_of(response) -> Any:
    """Of a download, which is sent while it is made."""
    return json.loads(response.getvalue())
