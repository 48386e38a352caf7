"""What a page offers works: every link and button that a role finds, followed and pressed."""

import re
from collections import Counter
from dataclasses import dataclass, field
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client

from selection.runs import lifecycle
from tests.worlds import make_run

from .test_every_address import turned_away
from .world import Camp, Role, member

pytestmark = [pytest.mark.django_db, pytest.mark.any_database]

# The documentation leads to itself only, and these end the session.
SAME = 2  # objects of a kind whose pages are looked at; all runs are
LEFT_OUT = ("/admin/docs/", "/admin/logout/", "/static/", "/api/", "/work/", "/gold/", "/join/")


@dataclass
class Button:
    action: str
    fields: dict[str, str] = field(default_factory=dict)


class Offers(HTMLParser):
    """The links of a page, and the buttons of its POST forms with what each would send."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.buttons: list[Button] = []
        self._form: Button | None = None
        self._submits: list[dict[str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        named = {name: value or "" for name, value in attrs}
        kind, name, value = named.get("type"), named.get("name"), named.get("value", "")
        if tag == "a" and "href" in named:
            self.links.append(named["href"])
        elif tag == "form":
            is_post = named.get("method", "").lower() == "post"
            self._form, self._submits = Button(named.get("action", "")) if is_post else None, []
        elif "disabled" in named:
            pass
        elif self._form and (kind in ("submit", "image") or (tag == "button" and kind is None)):
            self._submits.append({name: value} if name else {})
        elif self._form and tag == "input" and name and kind not in ("checkbox", "radio", "file"):
            self._form.fields[name] = value

    def handle_endtag(self, tag):
        if tag == "form" and self._form:
            self.buttons += [
                Button(self._form.action, self._form.fields | pressed) for pressed in self._submits
            ]
            self._form = None


def list_dead_offers(client: Client) -> list[str]:
    """Follow every link from the overview on, press every button; list what is refused."""
    waiting, visited, dead = ["/admin/"], Counter(["/admin/"]), []
    while waiting:
        path = waiting.pop()
        response = client.get(path)
        assert response.status_code == 200, (path, response.status_code)
        if response.streaming or "html" not in response["Content-Type"]:
            continue
        offers = Offers(response.content.decode())
        for button in offers.buttons:
            action = urljoin(path, button.action)
            if not action.startswith(LEFT_OUT) and turned_away(client.post(action, button.fields)):
                button.fields.pop("csrfmiddlewaretoken", None)
                dead.append(f"{path}: {action} {button.fields}")
        for link in offers.links:
            there = urljoin(path, link)
            plain = urlsplit(there).path
            shape = plain if "/run/" in plain else re.sub(r"\d+", "0", plain)
            inside = there.startswith("/admin/") and not plain.startswith(LEFT_OUT)
            if not inside or visited[plain] or visited[shape] == SAME:
                continue
            visited.update({plain, shape})
            response = client.get(there)
            if turned_away(response):
                dead.append(f"{path}: {there}")
            elif response.status_code == 200:
                waiting.append(there)
    assert len(visited) > 40
    return dead


def test_no_page_offers_a_viewer_what_only_others_may_do(zebras: Camp):
    ended = make_run(name="zebra end", pool=zebras.pool, question_set=zebras.question_set, k=1)
    lifecycle.stop_run(ended)
    client = Client()
    client.force_login(member(zebras.team, Role.VIEWER))
    dead = list_dead_offers(client)
    assert dead == [], "\n".join(dead)
