# SPDX-License-Identifier: Apache-2.0
"""A server of the live page without a robot, and a plain client in the place of a page."""

import contextlib
import json
import threading

import pytest
from robots import C3P

from c3p_viewers.dashboard.command_queue import Requests
from c3p_viewers.dashboard.refusal import Refusal
from c3p_viewers.dashboard.samples import History
from c3p_viewers.dashboard.server import DashboardServer
from c3p_viewers.dashboard.static_page import static_page, welcome

client = pytest.importorskip('websockets.sync.client', reason='pip install websockets')
exceptions = pytest.importorskip('websockets.exceptions')
# those of the page's node that are tried here
COMMANDS = ('goal', 'e_stop', 'ping', 'move', 'halt')
# a loaded computer answers slowly, s
PATIENCE = 30.0


class Served:
    """A server whose commands are kept in `received`; `carry_out` plays the thread of the node."""

    def __init__(self):
        self.received, self.history = [], History()
        self.requests = Requests({name: self.command(name) for name in COMMANDS})
        self.server = DashboardServer(static_page(), welcome(C3P), self.history, self.requests)
        self.server.start()
        self.host = f'127.0.0.1:{self.server.port}'
        self.code = self.server.access.url.partition('?code=')[2]

    def command(self, name):
        """Return a command that is kept; a goal at 13 is refused."""
        def act(body):
            if body.get('x') == 13:
                raise Refusal('the stop is pressed; release it first')
            self.received.append((name, body))
            return f'{name} sent'
        return act

    def carry_out(self):
        """Carry out what the server receives, until the test ends."""
        self.ended = threading.Event()
        thread = threading.Thread(target=self._serve, daemon=True)
        thread.start()

    def _serve(self):
        while not self.ended.wait(0.001):
            self.requests.carry_out()

    def close(self):
        """End both."""
        if hasattr(self, 'ended'):
            self.ended.set()
        self.server.close()


class Page:
    """A plain client in the place of a page."""

    def __init__(self, served, first=None):
        self.served = served
        self.beat = 0
        self.number = 0
        self._open = contextlib.ExitStack()
        self.socket = self._open.enter_context(client.connect(
            f'ws://{served.host}/socket', origin=f'http://{served.host}', ping_interval=None))
        # one page too many is closed at once
        with contextlib.suppress(exceptions.ConnectionClosed):
            self.send({'code': served.code} if first is None else first)

    def send(self, message):
        """Send a JSON object, or a text."""
        self.socket.send(message if isinstance(message, str) else json.dumps(message))

    def next(self, *keys):
        """Return the next message with one of these keys."""
        while True:
            message = json.loads(self.socket.recv(timeout=PATIENCE))
            self.beat = message.get('beat', self.beat)
            if not keys or set(keys) & set(message):
                return message

    def command(self, name, body=None, **more):
        """Send a command; return its acknowledgement."""
        self.number += 1
        self.send({'id': self.number, 'name': name, 'body': body or {}, 'beat': self.beat,
                   'since': 0.0, **more})
        return self.next('ack')

    def closed(self):
        """Wait until the server closes the connection; return its code and reason."""
        with pytest.raises(exceptions.ConnectionClosed) as caught:
            while True:
                self.socket.recv(timeout=PATIENCE)
        return caught.value.rcvd.code, caught.value.rcvd.reason

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._open.close()
