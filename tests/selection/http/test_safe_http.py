"""Addresses of webhooks: none in our own network, and no redirects."""

import socket

import pytest

from selection.errors import Refused
from selection.http import safe_http
from tests.selection.webhooks.receiver import receiver

INSIDE = [
    "127.0.0.1",
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::",
    "fe80::1%eth0",
    "fc00::1",
    "ff02::1",
    "::ffff:127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "::ffff:169.254.169.254",
    "fec0::1",
    "::10.0.0.1",
    "::ffff:0:10.0.0.1",
    "64:ff9b:1::a00:1",
    "2001:0:a00:1::1",
    "3fff::1",
    "5f00::1",
    "100.64.0.1",
    "192.0.0.9",
    "192.88.99.1",
    "198.18.0.1",
    "240.0.0.1",
    "224.0.0.1",
    "255.255.255.255",
]


@pytest.mark.parametrize("address", INSIDE)
def test_addresses_of_this_machine_and_its_network_are_not_public(address):
    assert not safe_http.is_public(address)


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822"])
def test_addresses_of_the_internet_are_public(address):
    assert safe_http.is_public(address)


@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("http://example.org/", "https"),
        ("ftp://example.org/", "https"),
        ("https://me:secret@example.org/", "password from the address: pages and logs would show"),
        ("https://127.0.0.1/", "WEBHOOKS_INSIDE"),
        ("https://[::1]:8000/", "WEBHOOKS_INSIDE"),
        ("https://localhost/", "WEBHOOKS_INSIDE"),
        ("https://169.254.169.254/latest/meta-data/", "WEBHOOKS_INSIDE"),
        ("https:///path", "not an address"),
        ("https://example.org:99999/", "not an address"),
        ("https://[::1/", "not an address"),
        ("https://[fe80::1%25lo]/", "is not a host like"),
        ("https://[fe80::1%lo]/", "is not a host like"),
        ("https://[v1.a]/", "is not"),
        ("https://%31/", "is not a host like"),
        ("https://example.org\\.evil.org/", "is not a host like"),
        ("https://[fec0::1]/", "WEBHOOKS_INSIDE"),
        ("https://\ud800.org/", "ASCII"),
        ("https://exa mple.org/", "spaces"),
        ("https://example.org/\r\nHost: inside", "ASCII"),
        ("https://example.org/" + "a" * 500, "500"),
        ("", "500"),
    ],
)
def test_an_address_that_nothing_is_sent_to_is_refused_in_a_sentence(url, word):
    with pytest.raises(Refused, match=word):
        safe_http.check_url(url)


def test_a_good_address_is_taken_as_it_is():
    assert (
        safe_http.check_url(" https://example.org:8443/a?b=c ") == "https://example.org:8443/a?b=c"
    )


def names(monkeypatch, *answers: str) -> list[str]:
    """Resolve every name to the first of these at the first look-up, then to the next."""
    looked: list[str] = []

    def look(host, port, **more):
        looked.append(host)
        address = answers[min(len(looked), len(answers)) - 1]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look)
    return looked


def test_a_name_that_leads_inside_is_not_connected_to(monkeypatch):
    names(monkeypatch, "10.0.0.7")
    monkeypatch.setattr(socket, "create_connection", None)  # a call would raise TypeError
    with pytest.raises(safe_http.NoAnswer, match="WEBHOOKS_INSIDE"):
        safe_http.post_message("https://looks-fine.example/", b"", {})


def test_a_name_is_looked_up_once_and_connected_to_as_it_was_checked(monkeypatch):
    looked, reached = names(monkeypatch, "93.184.216.34", "127.0.0.1"), []

    def connect(address, timeout):
        reached.append(address)
        raise ConnectionRefusedError("refused")

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(safe_http.NoAnswer, match="refused"):
        safe_http.post_message("https://rebinds.example/", b"", {})
    assert looked == ["rebinds.example"]
    assert reached == [("93.184.216.34", 443)]


def test_a_redirect_is_an_answer_and_is_not_followed(settings):
    settings.WEBHOOKS_INSIDE = True
    with receiver() as end, receiver() as first:
        first.code, first.headers = 307, {"Location": end.url}
        reply = safe_http.post_message(first.url, b"{}", {})
    assert (reply.code, reply.good) == (307, False)
    assert len(first.got) == 1
    assert not end.got


def test_beginning_of_a_long_reply_is_stored_as_text(settings):
    settings.WEBHOOKS_INSIDE = True
    with receiver() as there:
        there.says = b"\0\xff" + b"x" * 100_000
        reply = safe_http.post_message(there.url, b"{}", {})
    assert (reply.said, reply.cut) == ("\ufffd" + "x" * 498, True)


def test_a_receiver_that_never_answers_is_hung_up_on(settings):
    settings.WEBHOOKS_INSIDE = True
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        with pytest.raises(safe_http.NoAnswer, match="No answer"):
            # It never accepts the connection.
            safe_http.send_request("POST", url, b"{}", {}, seconds=0.3)


def test_refused_connection_is_reported(settings):
    settings.WEBHOOKS_INSIDE = True
    with receiver() as there:
        url = there.url
    with pytest.raises(safe_http.NoAnswer, match="refused"):
        safe_http.post_message(url, b"{}", {})


def test_untrusted_certificate_is_refused(settings, monkeypatch):
    settings.WEBHOOKS_INSIDE = True
    with receiver() as there, pytest.raises(safe_http.NoAnswer, match="SSL"):
        safe_http.post_message(there.url.replace("http:", "https:"), b"{}", {})
    assert not there.got
