"""Links between two parts: data in transit, and the fate of open connections."""

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress

import pytest

from .links import Link, Links


@pytest.fixture
def link() -> Iterator[Link]:
    """Yield a link to a server that echoes."""
    with socket.create_server(("127.0.0.1", 0)) as server, Links() as links:
        threading.Thread(target=echo, args=(server,), daemon=True).start()
        links.add("one to other", server.getsockname()[1])
        link_ = links.all["one to other"]
        link_.do = links.do  # type: ignore[attr-defined]
        yield link_


def echo(server: socket.socket) -> None:
    def serve(connection: socket.socket) -> None:
        with connection, suppress(ConnectionResetError):
            while data := connection.recv(1000):
                connection.sendall(data)

    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        threading.Thread(target=serve, args=(connection,), daemon=True).start()


def connect(link: Link) -> socket.socket:
    return socket.create_connection(("127.0.0.1", link.port), 1)


def says(connection: socket.socket, words: bytes = b"a") -> bytes:
    connection.sendall(words)
    return connection.recv(1000)


def test_an_open_link_passes_everything_on(link):
    with connect(link) as connection:
        assert says(connection) == b"a"


def test_refused_link_closes_connections_and_admits_new_ones_once_open(link):
    with connect(link) as connection:
        says(connection)
        link.do(link.refuse())
        with pytest.raises(ConnectionResetError):
            says(connection)
    with pytest.raises(ConnectionRefusedError):
        connect(link)
    link.do(link.open())
    with connect(link) as connection:
        assert says(connection) == b"a"


def test_hanging_link_delivers_held_data_once_open(link):
    with connect(link) as connection:
        says(connection)
        link.do(link.hang())
        with pytest.raises(TimeoutError):
            says(connection, b"late")
        link.do(link.open())
        assert connection.recv(1000) == b"late"


def test_a_half_open_one_gives_no_answers_and_breaks_off_in_the_end(link):
    with connect(link) as connection:
        says(connection)
        link.do(link.half())
        with pytest.raises(TimeoutError):
            says(connection)
        link.do(link.open())
        with pytest.raises(ConnectionResetError):
            connection.recv(1000)
