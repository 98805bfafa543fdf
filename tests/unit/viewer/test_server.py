"""Where the viewer listens."""

import http.client
import socket
import threading

import pytest

from memrig.errors import UsageError
from memrig.viewer import Shelf, make_app, serve
from memrig.viewer.server import listening, server_of
from support.viewed import made_run, served


def test_it_listens_on_the_loopback_address_alone():
    """Nobody else on the network can connect."""
    with listening(0) as listener:
        assert listener.getsockname()[0] == "127.0.0.1"


def test_whoever_asks_as_soon_as_the_address_is_told_is_answered(tmp_path):
    """It is listened at already: a question waits until it can be answered, and is."""
    made_run(tmp_path / "run")
    with listening(0) as listener, socket.create_connection(listener.getsockname(), 10) as asker:
        asker.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        server = server_of(make_app(Shelf(tmp_path)))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
        thread.start()
        with asker.makefile("rb") as answer:
            said = answer.read()
        server.should_exit = True
        thread.join(10)
    assert said.startswith(b"HTTP/1.1 200 ")
    assert b'href="/runs/run"' in said


def test_a_port_that_is_taken_is_named(tmp_path):
    """With what to do about it."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(UsageError, match="cannot be listened at") as caught:
            serve(tmp_path, port, lambda _: None)
    assert caught.value.where == f"--port {port}"


def test_a_folder_that_is_not_there_is_named_before_anything_listens(tmp_path):
    """A page about nothing would help nobody."""
    with pytest.raises(UsageError, match="there is no such folder"):
        serve(tmp_path / "nowhere", 0, lambda _: None)


def test_it_answers_over_a_real_connection(tmp_path):
    """Head and body; to HEAD the head alone, and no word of what serves it."""
    made_run(tmp_path / "run")
    with served(tmp_path) as address:
        connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=10)
        connection.request("GET", "/runs/run")
        answer = connection.getresponse()
        assert answer.status == 200
        assert b"fake" in answer.read()
        assert answer.getheader("server") is None
        connection.request("HEAD", "/runs/run")
        head = connection.getresponse()
        assert (head.status, head.read()) == (200, b"")
        connection.close()
