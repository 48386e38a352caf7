"""Table of all addresses and the access rights to them. A missing address fails the test.

A page's rule has two parts: to view it (GET), to act on it (POST). Each is the least role with
access:

    open       everybody, without a login
    link       visitors with a worker's link
    signed in  users with a login; the page has no team's data
    viewer, manager, owner   of the object's team, or of any team if there is no object
    superuser  superusers only
    nobody     not even superusers
"""

OPEN, LINK, SIGNED_IN, NOBODY = "open", "link", "signed in", "nobody"
VIEWER, MANAGER, OWNER, SUPERUSER = "viewer", "manager", "owner", "superuser"

Rule = tuple[str, str]


def standard(model: str, look: str, do: str, **others: Rule) -> dict[str, Rule]:
    """Return the pages that Django's admin makes for a model; others by their last word."""
    at = f"admin/{model.replace('.', '/')}/"
    pages = {
        "": (look, look),
        "add/": (do, do),
        "<path:object_id>/": (SIGNED_IN, SIGNED_IN),  # redirects to the next one
        "<path:object_id>/change/": (look, do),
        "<path:object_id>/delete/": (do, do),
        "<path:object_id>/history/": (look, look),
    }
    named = {
        page: others.get(page.rstrip("/").split("/")[-1], rule) for page, rule in pages.items()
    }
    return {at + page: rule for page, rule in named.items()}


def of_run(*files: str) -> dict[str, Rule]:
    return {f"admin/selection/run/<int:pk>/{file}": (VIEWER, NOBODY) for file in files}


PAGES: dict[str, Rule] = {
    "": (OPEN, OPEN),
    "admin/": (SIGNED_IN, SIGNED_IN),
    "admin/search/": (SIGNED_IN, SIGNED_IN),
    "admin/login/": (OPEN, OPEN),
    # Signed-in users are redirected inside, others to the login; see also accounts/signin.
    "admin/login/code/": (SIGNED_IN, SIGNED_IN),
    "admin/login/passkey/": (SIGNED_IN, SIGNED_IN),
    "admin/sso/<slug:provider_id>/": (NOBODY, NOBODY),  # without a provider
    "admin/sso/<slug:provider_id>/back/": (NOBODY, NOBODY),
    "admin/terms/": (SIGNED_IN, NOBODY),
    "admin/account/": (SIGNED_IN, SIGNED_IN),
    "admin/account/disconnect/": (NOBODY, SIGNED_IN),
    "admin/account/mail/": (NOBODY, SIGNED_IN),
    "admin/account/confirm/": (NOBODY, NOBODY),  # without a password or a factor
    "admin/account/confirm/code/": (NOBODY, NOBODY),
    "admin/account/confirm/passkey/": (NOBODY, NOBODY),
    "admin/account/app/": (SIGNED_IN, SIGNED_IN),
    "admin/account/app/remove/": (NOBODY, NOBODY),  # without an app
    "admin/account/codes/": (NOBODY, NOBODY),
    "admin/account/codes/new/": (SIGNED_IN, SIGNED_IN),
    "admin/account/passkeys/add/": (SIGNED_IN, SIGNED_IN),
    "admin/account/passkeys/<int:pk>/remove/": (NOBODY, NOBODY),
    "admin/logout/": (NOBODY, OPEN),
    "admin/password_change/": (SIGNED_IN, SIGNED_IN),
    "admin/password_change/done/": (SIGNED_IN, SIGNED_IN),
    "admin/autocomplete/": (NOBODY, NOBODY),  # without a field; with one: test_scope
    "admin/jsi18n/": (SIGNED_IN, SIGNED_IN),
    "admin/r/<path:content_type_id>/<path:object_id>/": (NOBODY, NOBODY),
    "admin/^(?P<app_label>selection|auth)/$": (VIEWER, VIEWER),
    "admin/(?P<url>.*)$": (NOBODY, NOBODY),
    **standard("auth.user", SUPERUSER, SUPERUSER),
    "admin/auth/user/<id>/password/": (SUPERUSER, SUPERUSER),
    **standard("auth.group", SUPERUSER, SUPERUSER),
    **standard("selection.team", OWNER, OWNER, add=(SUPERUSER,) * 2, delete=(SUPERUSER,) * 2),
    **standard("selection.apitoken", MANAGER, MANAGER, change=(MANAGER, NOBODY)),
    **standard("selection.webhook", MANAGER, MANAGER),
    "admin/selection/webhook/<int:pk>/deliveries/": (MANAGER, MANAGER),
    **standard("selection.answer", VIEWER, NOBODY),
    **standard("selection.auditentry", OWNER, NOBODY),
    "admin/selection/auditentry/export/": (OWNER, NOBODY),
    "admin/selection/auditentry/export.jsonl": (OWNER, NOBODY),
    "admin/selection/heartbeat/": (SUPERUSER, SUPERUSER),
    **standard("selection.pool", VIEWER, MANAGER),
    "admin/selection/pool/<int:pk>/import/": (MANAGER, MANAGER),
    "admin/selection/pool/<int:pk>/import/<uuid:upload>/": (MANAGER, MANAGER),
    **standard("selection.worker", VIEWER, MANAGER),
    "admin/selection/worker/<int:pk>/data.json": (VIEWER, NOBODY),
    "admin/selection/worker/<int:pk>/erase/": (MANAGER, MANAGER),
    **standard("selection.questionset", VIEWER, MANAGER),
    "admin/selection/questionset/<int:pk>/gold/": (VIEWER, NOBODY),
    "admin/selection/questionset/<int:pk>/import/": (MANAGER, MANAGER),
    "admin/selection/questionset/<int:pk>/import/<uuid:upload>/": (MANAGER, MANAGER),
    "admin/selection/questionset/<int:pk>/media/": (MANAGER, MANAGER),
    **standard("selection.question", VIEWER, MANAGER, delete=(NOBODY, NOBODY)),
    "admin/selection/question/<int:pk>/correct/": (MANAGER, MANAGER),
    "admin/selection/question/<int:pk>/preview/": (VIEWER, NOBODY),
    "admin/selection/question/<int:pk>/heard/": (NOBODY, MANAGER),
    "admin/selection/question/<int:pk>/retire/": (MANAGER, MANAGER),
    "admin/selection/question/<int:pk>/restore/": (MANAGER, MANAGER),
    **standard("selection.practice", VIEWER, MANAGER),
    # Without a query the form redirects to the guided start; with one: test_scope.
    **standard("selection.run", VIEWER, MANAGER, add=(SIGNED_IN, MANAGER)),
    "admin/selection/run/<path:object_id>/": (VIEWER, NOBODY),  # its own page comes first
    "admin/selection/run/promises/": (MANAGER, MANAGER),
    "admin/selection/run/prices/": (MANAGER, MANAGER),
    "admin/selection/run/begin/": (MANAGER, MANAGER),
    "admin/selection/run/forecast/<int:pk>/": (MANAGER, MANAGER),
    "admin/selection/run/forecast/<int:pk>/numbers/": (MANAGER, MANAGER),
    "admin/selection/run/past/": (MANAGER, MANAGER),
    "admin/selection/run/past/<uuid:replay>/": (MANAGER, MANAGER),
    "admin/selection/run/past/<uuid:replay>/columns/": (MANAGER, MANAGER),
    "admin/selection/run/past/<uuid:replay>/numbers/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/expected/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/": (VIEWER, NOBODY),
    "admin/selection/run/<int:pk>/compare/": (VIEWER, NOBODY),
    "admin/selection/run/<int:pk>/copy/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/submissions/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/do/<slug:verb>/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/do/change/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/told/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/mail/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/mail/send/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/import/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/import/<uuid:upload>/": (MANAGER, MANAGER),
    "admin/selection/run/<int:pk>/worker/<int:candidate>/": (VIEWER, NOBODY),
    "admin/selection/run/<int:pk>/worker/<int:candidate>/why/": (VIEWER, NOBODY),
    "admin/selection/run/<int:pk>/worker/<int:candidate>/change/": (MANAGER, MANAGER),
    **of_run("live/", "report/", "selected.csv", "selected.json", "open.csv", "answers.csv"),
    "admin/selection/run/<int:pk>/export/<slug:format>/": (VIEWER, NOBODY),
    **of_run("dump.json"),
    "admin/selection/run/<int:pk>/links.csv": (MANAGER, NOBODY),
    "api/openapi.json": (OPEN, OPEN),
    "api/docs": (OPEN, OPEN),
    "api/": (NOBODY, NOBODY),
    "healthz": (OPEN, NOBODY),
    "readyz": (OPEN, NOBODY),
    "metrics": (NOBODY, NOBODY),  # with a token of its own: test_watching
    "join/<str:token>/": (LINK, LINK),
    "media/<str:token>/": (LINK, NOBODY),
    "mturk/<str:token>/": (LINK, LINK),
    "mturk/at/<str:token>/": (LINK, LINK),
    "unsubscribe/<str:token>/": (LINK, LINK),
    "work/<str:token>/": (LINK, LINK),
}

# Scopes with access besides the scope to manage, by method and address.
OPERATIONS: dict[tuple[str, str], set[str]] = {
    ("get", "/api/pools"): {"read"},
    ("post", "/api/pools"): set(),
    ("get", "/api/pools/{pool_id}"): {"read"},
    ("patch", "/api/pools/{pool_id}"): set(),
    ("delete", "/api/pools/{pool_id}"): set(),
    ("get", "/api/pools/{pool_id}/workers"): {"read"},
    ("put", "/api/pools/{pool_id}/workers"): set(),
    ("get", "/api/pools/{pool_id}/workers/{worker}"): {"read"},
    ("patch", "/api/pools/{pool_id}/workers/{worker}"): set(),
    ("delete", "/api/pools/{pool_id}/workers/{worker}"): set(),
    ("get", "/api/question-sets"): {"read"},
    ("post", "/api/question-sets"): set(),
    ("get", "/api/question-sets/{set_id}"): {"read"},
    ("patch", "/api/question-sets/{set_id}"): set(),
    ("delete", "/api/question-sets/{set_id}"): set(),
    ("get", "/api/question-sets/{set_id}/questions"): {"read"},
    ("put", "/api/question-sets/{set_id}/questions"): set(),
    ("get", "/api/question-sets/{set_id}/questions/{question}"): {"read"},
    ("put", "/api/question-sets/{set_id}/questions/{question}"): set(),
    ("post", "/api/question-sets/{set_id}/questions/{question}/retire"): set(),
    ("post", "/api/question-sets/{set_id}/questions/{question}/restore"): set(),
    ("get", "/api/runs"): {"read"},
    ("post", "/api/runs"): set(),
    ("put", "/api/runs/{run_id}"): set(),
    ("delete", "/api/runs/{run_id}"): set(),
    ("post", "/api/runs/{run_id}/copy"): set(),
    ("post", "/api/runs/{run_id}/claims"): {"answer"},
    ("post", "/api/answers"): {"answer"},
    ("get", "/api/runs/{run_id}/answers"): {"read"},
    ("get", "/api/runs/{run_id}/steps"): {"read"},
    ("get", "/api/runs/{run_id}/events"): {"read"},
    ("post", "/api/runs/{run_id}/links"): set(),
    ("delete", "/api/runs/{run_id}/workers/{worker}/link"): set(),
    ("get", "/api/runs/{run_id}"): {"read"},
    ("patch", "/api/runs/{run_id}"): set(),
    ("get", "/api/runs/{run_id}/assignments"): {"read", "answer"},
    ("post", "/api/assignments/{assignment_id}/answer"): {"answer"},
    ("post", "/api/runs/{run_id}/answers"): set(),
    ("post", "/api/runs/{run_id}/moves/{move}"): set(),
    ("get", "/api/runs/{run_id}/expected"): {"read"},
    ("post", "/api/runs/{run_id}/expected"): set(),
    ("post", "/api/forecasts"): set(),
    ("get", "/api/forecasts/{forecast_id}"): {"read"},
    ("delete", "/api/forecasts/{forecast_id}"): set(),
    ("post", "/api/replays"): set(),
    ("get", "/api/replays/{replay_id}"): {"read"},
    ("delete", "/api/replays/{replay_id}"): set(),
    ("post", "/api/replays/{replay_id}/pool"): set(),
    ("post", "/api/replays/{replay_id}/draft"): set(),
    ("get", "/api/runs/{run_id}/standings"): {"read"},
    ("get", "/api/runs/{run_id}/selection"): {"read"},
    ("get", "/api/runs/{run_id}/export"): {"read"},
    ("get", "/api/runs/{run_id}/history"): {"read"},
    ("get", "/api/workers/{worker}/data"): {"read"},
    ("delete", "/api/workers/{worker}/data"): set(),
    ("get", "/api/runs/{run_id}/signs"): {"read"},
    ("get", "/api/runs/{run_id}/workers"): {"read"},
    ("post", "/api/runs/{run_id}/workers"): set(),
    ("post", "/api/runs/{run_id}/workers/{worker}/withdraw"): set(),
    ("post", "/api/runs/{run_id}/workers/{worker}/return"): set(),
    ("post", "/api/runs/{run_id}/workers/{worker}/verdict"): set(),
    ("post", "/api/runs/{run_id}/workers/{worker}/link"): set(),
    ("post", "/api/runs/{run_id}/submissions"): set(),
    ("post", "/api/runs/{run_id}/label-studio"): {"answer"},
    ("get", "/api/question-sets/{set_id}/practice"): {"read"},
    ("post", "/api/question-sets/{set_id}/practice"): set(),
    ("put", "/api/question-sets/{set_id}/practice/{practice_id}"): set(),
    ("delete", "/api/question-sets/{set_id}/practice/{practice_id}"): set(),
    ("get", "/api/question-sets/{set_id}/media"): {"read"},
    ("post", "/api/question-sets/{set_id}/media"): set(),
    ("delete", "/api/question-sets/{set_id}/media/{name}"): set(),
    ("get", "/api/runs/{run_id}/mail"): {"read"},
    ("put", "/api/runs/{run_id}/mail"): set(),
    ("post", "/api/runs/{run_id}/invitations"): set(),
    ("delete", "/api/runs/{run_id}/invitations"): set(),
    ("get", "/api/runs/{run_id}/page"): {"read"},
    ("put", "/api/runs/{run_id}/page"): set(),
    ("post", "/api/pools/{pool_id}/files"): set(),
    ("post", "/api/question-sets/{set_id}/files"): set(),
    ("post", "/api/runs/{run_id}/files"): set(),
    ("get", "/api/files/{file_id}"): {"read"},
    ("patch", "/api/files/{file_id}"): set(),
    ("delete", "/api/files/{file_id}"): set(),
    ("get", "/api/files/{file_id}/rows"): {"read"},
    ("post", "/api/files/{file_id}/take"): set(),
    ("post", "/api/files/{file_id}/undo"): set(),
    ("get", "/api/webhooks"): set(),
    ("post", "/api/webhooks"): set(),
    ("get", "/api/webhooks/{webhook_id}"): set(),
    ("patch", "/api/webhooks/{webhook_id}"): set(),
    ("delete", "/api/webhooks/{webhook_id}"): set(),
    ("post", "/api/webhooks/{webhook_id}/secret"): set(),
    ("post", "/api/webhooks/{webhook_id}/test"): set(),
    ("get", "/api/webhooks/{webhook_id}/deliveries"): set(),
    ("post", "/api/deliveries/{delivery_id}/replay"): set(),
}
# Operations without an existing object, open to every team's token, with their status.
NEW = {
    ("post", "/api/forecasts"): 200,
    ("post", "/api/replays"): 202,
    ("post", "/api/pools"): 201,
    ("post", "/api/question-sets"): 201,
    ("post", "/api/answers"): 200,
    ("post", "/api/webhooks"): 201,
    ("get", "/api/webhooks"): 200,
    ("get", "/api/pools"): 200,
    ("get", "/api/question-sets"): 200,
    ("get", "/api/runs"): 200,
}
# Placeholder of a file, which is sent in a form.
FILE = object()
# Valid bodies, so that a refusal is due to the caller and not to a missing field.
BODIES: dict[str, dict[str, object]] = {
    "post answer": {"response": "yes"},
    "post answers": {"answers": [{"assignment": 1, "response": "yes"}]},
    "post runs/answers": {"answers": []},
    "post workers": {"worker": "somebody"},
    "put workers": {"workers": [{"worker": "somebody"}]},
    "post verdict": {"verdict": None},
    "post forecasts": {"workers": 4, "k": 1, "questions": 9},
    "post pools": {"name": "another"},
    "patch pools": {"name": "another"},
    "post question-sets": {"name": "another"},
    "put questions": {"questions": [{"question": "q", "prompt": "?", "accepted": ["yes"]}]},
    "put question": {"prompt": "?", "accepted": ["yes"]},
    "post runs": {"name": "another", "k": 1},
    "put runs": {"name": "another", "k": 1},
    "post claims": {"workers": ["somebody"]},
    "post label-studio": {"action": "PROJECT_UPDATED"},
    "post submissions": {"submissions": [{"worker": "w", "status": "APPROVED"}]},
    "post files": {"file": FILE},
    "post media": {"file": FILE},
    "post replays": {"file": FILE, "k": 1},
    "post practice": {"prompt": "?", "accepted": ["yes"]},
    "put practice": {"prompt": "?", "accepted": ["yes"]},
    "put page": {},
    "put mail": {},
    "post invitations": {},
    "post webhooks": {"url": "https://example.org/new", "events": ["run.ended"]},
}
