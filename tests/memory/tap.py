"""Watching what goes to a Redis: a tap in front of it that counts round trips, and its own MONITOR."""

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import urlsplit, urlunsplit

import redis


class Tap:
    """A TCP proxy. A round trip is counted when the client sends after the server last spoke, or first of all."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = (parts.hostname, parts.port)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.round_trips = 0
        self.url = urlunsplit(parts._replace(netloc=f":{parts.password}@127.0.0.1:{self._listener.getsockname()[1]}"))
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                try:
                    server = socket.create_connection(self._server)
                except OSError:
                    client.close()
                    continue
                answered = threading.Event()
                answered.set()
                for carry in (self._requests, self._answers):
                    threading.Thread(target=carry, args=(client, server, answered), daemon=True).start()

    def _requests(self, client: socket.socket, server: socket.socket, answered: threading.Event) -> None:
        with suppress(OSError), server:
            while data := client.recv(65536):
                if answered.is_set():
                    answered.clear()
                    self.round_trips += 1
                server.sendall(data)

    def _answers(self, client: socket.socket, server: socket.socket, answered: threading.Event) -> None:
        with suppress(OSError), client:
            while data := server.recv(65536):
                answered.set()
                client.sendall(data)


@contextmanager
def monitored(url: str) -> Iterator[list[str]]:
    """The names of the commands that a server is sent in the block, those that scripts send included."""
    seen: list[str] = []
    end = "tacit-test-the-end"
    with redis.Redis.from_url(url) as client, client.monitor() as monitor:
        yield seen
        with redis.Redis.from_url(url) as other:
            other.echo(end)
        for event in monitor.listen():
            if end in event["command"]:
                break
            seen.append(re.split(r"\s", event["command"], maxsplit=1)[0].upper())
