# SPDX-License-Identifier: Apache-2.0
"""A client of Foxglove's WebSocket protocol, as the app is one."""

import json
import struct
import time
from collections import defaultdict
from contextlib import ExitStack
from typing import NamedTuple

import pytest

connect = pytest.importorskip('websockets.sync.client', reason='pip install websockets').connect

PATIENCE = 60.0
# binary messages of the server, and the client's request to the player
MESSAGE, TIME, ASSET, STATE, PLAYBACK = 1, 2, 4, 5, 3


class State(NamedTuple):
    """What the server's player says: 0 playing, 1 paused, 3 ended; ns; the request answered."""

    status: int
    now: int
    speed: float
    sought: bool
    request: str


class FoxgloveClient:
    """Connects, learns the channels, and keeps what it hears."""

    def __init__(self, url):
        self._open = ExitStack()
        self._socket = self._open.enter_context(
            connect(url, subprotocols=['foxglove.sdk.v1'], max_size=None))
        self.info, self.channels, self.states = None, {}, []
        self.heard, self.assets = defaultdict(list), {}
        self.until(lambda: self.info is not None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._open.close()

    def until(self, condition):
        """Take messages until `condition` holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f'heard {({t: len(m) for t, m in self.heard.items()})}'
            try:
                self._take(self._socket.recv(timeout=0.01))
            except TimeoutError:
                pass

    def _take(self, message):
        if isinstance(message, str):
            content = json.loads(message)
            if content['op'] == 'serverInfo':
                self.info = content
            elif content['op'] == 'advertise':
                self.channels |= {c['topic']: c for c in content['channels']}
            return
        if message[0] == MESSAGE:
            number, when = struct.unpack_from('<IQ', message, 1)
            topic = next(t for t, c in self.channels.items() if c['id'] == number)
            self.heard[topic].append((when, message[13:]))
        elif message[0] == ASSET:
            number, status, length = struct.unpack_from('<IBI', message, 1)
            self.assets[number] = message[10 + length:] if status == 0 else None
        elif message[0] == STATE:
            status, now, speed, sought, length = struct.unpack_from('<BQfBI', message, 1)
            self.states.append(State(status, now, speed, bool(sought), message[19:].decode()))

    def subscribe(self, *topics):
        """Subscribe topics, which have been advertised or will be."""
        self.until(lambda: set(topics) <= set(self.channels))
        self._send(op='subscribe', subscriptions=[
            {'id': self.channels[t]['id'], 'channelId': self.channels[t]['id']} for t in topics])

    def unsubscribe(self, *topics):
        """Look away."""
        self._send(op='unsubscribe', subscriptionIds=[self.channels[t]['id'] for t in topics])

    def fetch(self, uri):
        """Return a file that the server hands out, None where it refuses."""
        number = len(self.assets) + 1
        self._send(op='fetchAsset', uri=uri, requestId=number)
        self.until(lambda: number in self.assets)
        return self.assets[number]

    def play(self, speed=1.0, pause=False, seek=None):
        """Ask the player; return its answer."""
        request = f'request {len(self.states)}'
        self._socket.send(struct.pack('<BBfBQI', PLAYBACK, pause, speed, seek is not None,
                                      seek or 0, len(request)) + request.encode())
        self.until(lambda: any(s.request == request for s in self.states))
        return next(s for s in self.states if s.request == request)

    def _send(self, **content):
        self._socket.send(json.dumps(content))
