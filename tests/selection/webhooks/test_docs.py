"""The receiver of docs/webhooks.md, run unchanged."""

import re
import threading
from pathlib import Path

import pytest

from selection import webhooks
from selection.models import Delivery
from selection.outbox.queues import DELAYS, MOST_TRIES
from selection.runs import lifecycle
from selection.webhooks import registration
from tests.worlds import make_run

pytestmark = pytest.mark.django_db
PAGE = (Path(__file__).parents[3] / "docs" / "webhooks.md").read_text(encoding="utf-8")


def test_example_takes_signed_messages_once_and_no_unsigned_one(settings, capsys):
    settings.WEBHOOKS_INSIDE = True
    (code,) = re.findall(r"(?s)```python run-by-test\n(.*?)```", PAGE)
    names: dict = {"port": 0, "secret": ""}
    exec(code, names)
    server = names["server"]
    server.RequestHandlerClass.log_message = lambda *words: None
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/"
        hook = registration.create_webhook(None, url, ["run.ended"])
        names["secret"] = hook.secret
        lifecycle.stop_run(make_run())
        webhooks.send_due(hook.pk)
        registration.replay_delivery(Delivery.objects.select_related("webhook").get())
        webhooks.send_due(hook.pk)
        assert Delivery.objects.get().code == 204
        registration.renew_secret(hook)
        registration.replay_delivery(Delivery.objects.select_related("webhook").get())
        webhooks.send_due(hook.pk)
        assert Delivery.objects.get().code == 401
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
    said = capsys.readouterr().out
    assert said.count("run.ended") == 1


def test_the_page_names_the_true_number_of_tries():
    assert f"{MOST_TRIES} tries in 9 hours" in PAGE
    assert round(sum(delay.total_seconds() for delay in DELAYS) / 3600) == 9
