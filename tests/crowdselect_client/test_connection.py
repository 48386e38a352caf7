"""The client with a server that is unreachable, busy, or refuses."""

from collections.abc import Callable
from types import SimpleNamespace

import httpx
import pytest

from crowdselect_client import ApiError, Client, connection

Answer = Callable[[httpx.Request], httpx.Response]


@pytest.fixture
def naps(monkeypatch) -> list[float]:
    """Record the pauses instead of sleeping."""
    slept: list[float] = []
    monkeypatch.setattr(connection, "time", SimpleNamespace(sleep=slept.append))
    return slept


class Server:
    """Return these replies in turn, the last one repeatedly; an exception is raised."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers, self.got = list(answers), list[httpx.Request]()

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.got.append(request)
        answer = self.answers[min(len(self.got), len(self.answers)) - 1]
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **options: int) -> Client:
        return Client(
            "https://crowd.test/", "cs_secret", transport=httpx.MockTransport(self), **options
        )


def done(body: object = None) -> httpx.Response:
    return httpx.Response(200, json=body if body is not None else {"id": 7})


def busy(seconds: str | None = None, status: int = 429) -> httpx.Response:
    headers = {"Retry-After": seconds} if seconds else {}
    return httpx.Response(status, json={"error": "Wait."}, headers=headers)


def test_client_sends_its_token_to_the_api_address(naps):
    server = Server(done())
    server.client().create_pool("Judges")
    (request,) = server.got
    assert str(request.url) == "https://crowd.test/api/pools"
    assert request.headers["Authorization"] == "Bearer cs_secret"


def test_client_waits_as_long_as_a_busy_server_says(naps):
    server = Server(busy("17"), busy("3", 503), done())
    server.client().run(7).start()
    assert naps == [17, 3]
    assert len(server.got) == 3


@pytest.mark.parametrize("status", [502, 504])
def test_client_repeats_safe_requests_while_a_proxy_waits_for_the_server(naps, status):
    page = httpx.Response(status, text="<html>Bad Gateway</html>")
    server = Server(page, page, done())
    assert server.client().run(7).show() == {"id": 7}
    server = Server(page, done())
    with pytest.raises(ApiError, match="does not answer now") as found:
        server.client().run(7).stop()  # it may have had its effect
    assert found.value.status == status


def test_client_doubles_its_wait_if_the_server_names_no_time(naps):
    server = Server(*[busy("soon")] * 4, done())
    server.client().run(7).show()
    assert [0.5 * 2**n / 2 <= nap <= 0.5 * 2**n for n, nap in enumerate(naps)] == [True] * 4


def test_creation_is_sent_again_under_one_idempotency_key(naps):
    server = Server(httpx.ReadTimeout("lost"), busy(), done())
    client = server.client()
    client.create_pool("Judges")
    client.create_pool("Judges")
    keys = [request.headers["Idempotency-Key"] for request in server.got]
    assert keys[0] == keys[1] == keys[2] != keys[3]
    client.create_pool("Judges", key="mine")
    assert server.got[-1].headers["Idempotency-Key"] == "mine"


def test_a_move_that_may_have_arrived_is_not_sent_again(naps):
    server = Server(httpx.ReadTimeout("lost"), done())
    with pytest.raises(ApiError, match="did not answer") as found:
        server.client().run(7).stop()
    assert found.value.status == 0
    assert len(server.got) == 1


def test_a_move_that_was_never_sent_is_sent_again(naps):
    server = Server(httpx.ConnectError("away"), done())
    assert server.client().run(7).stop() == {"id": 7}


def test_client_gives_up_after_its_number_of_tries(naps):
    server = Server(httpx.ConnectError("away"))
    with pytest.raises(ApiError, match="did not answer"):
        server.client(tries=3).run(7).show()
    assert len(server.got) == 3
    assert len(naps) == 2
    with pytest.raises(ApiError, match="Wait") as found:
        Server(busy()).client(tries=2).run(7).show()
    assert found.value.status == 429


def test_a_refusal_has_the_api_s_sentence_and_is_not_sent_again(naps):
    said = {"error": "This name is already in use.", "field": "name"}
    server = Server(httpx.Response(422, json=said))
    with pytest.raises(ApiError) as found:
        server.client().create_pool("Judges")
    error = found.value
    assert (error.status, error.sentence, error.field) == (422, said["error"], "name")
    assert str(error) == "This name is already in use. (status 422)"
    assert len(server.got) == 1


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(500, text="<h1>Server error</h1>"),
        httpx.Response(301, headers={"Location": "https://else.test/"}),
        httpx.Response(404, json=["nothing"]),
        httpx.Response(200, text="<h1>Welcome</h1>"),
    ],
)
def test_answer_of_another_server_raises_an_api_error(naps, answer):
    with pytest.raises(ApiError, match="not what a CrowdSelect API answers"):
        Server(answer).client().run(7).show()


def test_an_address_without_its_beginning_is_refused():
    with pytest.raises(ValueError, match=r"crowd\.test"):
        Client("crowd.test", "cs_secret")


def test_list_follows_its_next_page_but_sends_the_token_to_no_other_host(naps):
    link = {"Link": '<https://thief.test/api/pools?name=a+b&cursor=2>; rel="next"'}
    server = Server(httpx.Response(200, json=[{"id": 1}], headers=link), done([{"id": 2}]))
    assert [pool["id"] for pool in server.client().pools(name="a b")] == [1, 2]
    assert [request.url.host for request in server.got] == ["crowd.test"] * 2
    assert dict(server.got[1].url.params) == {"name": "a b", "cursor": "2"}


@pytest.mark.parametrize("token", ["", " ", "cs_a\ncs_b", "cs_ä"])
def test_token_that_no_header_takes_is_refused(token):
    with pytest.raises(ValueError, match="token"):
        Client("https://crowd.test", token)
