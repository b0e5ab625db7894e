# SPDX-License-Identifier: Apache-2.0
"""
WebSocket of one live page: heartbeats, commands with acknowledgement, and what the page shows.

===============================  ==================================================================
message of the page              meaning
===============================  ==================================================================
``{"code": C}``                  first message: the code of the address …
``{"session": S}``               … or the secret that a code was exchanged for
``{"ready": true}``              the last values are drawn: send the next ones
``{"id", "name", "body", …}``    command; ``beat`` is the number of the last heartbeat received,
                                 ``since`` its age in the page, s
===============================  ==================================================================

===============================  ==================================================================
message of the server            meaning
===============================  ==================================================================
``{"welcome": …}``               secret and robot, after a valid code or secret
``{"beat": k}``                  heartbeat, each second; the page answers with a command ``ping``
``{"ack": id, "ok", "text"}``    the command was carried out, or refused with a reason
``{"samples": …, "status": …}``  new values: at most `MOST_SAMPLES`, and not before ``ready``
===============================  ==================================================================

The values wait for the page, so that acknowledgements of a slow page or tunnel never queue behind
more than one batch of them. The page's clock is not compared with the server's: the age of a
command follows from the time at which its ``beat`` was sent, and includes both directions.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

from tornado.ioloop import IOLoop
from tornado.web import HTTPError
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from c3p_viewers.dashboard.access import Access, is_loopback, is_own_origin
from c3p_viewers.dashboard.command_queue import Requests
from c3p_viewers.dashboard.refusal import Refusal
from c3p_viewers.dashboard.samples import History, Seen

# bytes of a message of a page, and samples in one message to it
MOST_MESSAGE = 4096
MOST_SAMPLES = 50
# pages at a time; a browser opens 255 WebSockets at most
MOST_PAGES = 64
# period of the heartbeat, and time limit of the first message of a page, s
BEAT = 1.0
FIRST = 5.0
# oldest command that may start a motion, s: the page reports at this age that it was not sent
FRESH = 1.0
# a command of a hand is repeated ten times a second, and an old one is of the past, s
FRESH_BY_HAND = 0.3
# commands that end a motion or change nothing are carried out however late
ALWAYS = frozenset({'e_stop', 'cancel', 'halt', 'ping'})
# codes of the closure of a WebSocket for the page (RFC 6455, 7.4.2: private use)
NO_ACCESS = 4403
TOO_MANY = 4429
MALFORMED = 4400
LOST = ('This address is not valid, or no longer. Open the address that c3p dashboard printed '
        'last in its terminal.')


@dataclass
class Shared:
    """
    Objects that all pages share.

    Attributes
    ----------
    access : Access
    welcome : dict
        JSON object that a page receives first: what it draws.
    history : History
    requests : Requests
    pages : set of PageSocket
        Open connections.
    """

    access: Access
    welcome: dict[str, Any]
    history: History
    requests: Requests
    pages: set[PageSocket] = field(default_factory=set)


class PageSocket(WebSocketHandler):
    """Connection with one page."""

    def initialize(self, shared: Shared) -> None:
        """Store the shared objects; the connection is not open yet."""
        self._shared = shared
        self._known = False
        self._ready = False
        self._opened = 0.0
        self._seen = Seen()
        # number of the last heartbeat, and whether the page has answered it
        self._beat = 0
        self._answered = True
        # name of the last press by which this page drove
        self._press = ''
        # times of the last two heartbeats by number, s: a command may cross the last one
        self._beats = {0: -math.inf}

    def prepare(self) -> None:
        """Refuse what is not the page of this server."""
        host = self.request.headers.get('Host', '')
        if not is_loopback(host):
            raise HTTPError(403, f'Host {host[:80]!r}: must be a name of this computer')
        origin = self.request.headers.get('Origin', '')
        if not is_own_origin(origin, host):
            raise HTTPError(403, f'Origin {origin[:80]!r}: only the page of this server may '
                            'connect')

    def check_origin(self, origin: str) -> bool:
        """Accept what `prepare` has accepted."""
        return True

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Reply with one line of text."""
        error = kwargs.get('exc_info', (None, None))[1]
        reason = error.log_message if isinstance(error, HTTPError) else None
        self.set_header('Content-Type', 'text/plain; charset=utf-8')
        self.finish(f'{reason or self._reason}\n')

    # -- events of the connection ----------------------------------------------------------------

    def open(self, *args: str, **kwargs: str) -> None:
        """Take the connection, unless too many are open."""
        if len(self._shared.pages) >= MOST_PAGES:
            self.close(TOO_MANY, f'{MOST_PAGES} pages are open already; close one')
            return
        self.set_nodelay(True)
        self._opened = time.monotonic()
        self._shared.pages.add(self)

    def on_close(self) -> None:
        """Forget the connection; the robot that its page drove stops."""
        self._shared.pages.discard(self)
        if self._press:
            self._shared.requests.submit('halt', {'press': self._press}, math.inf)

    def on_message(self, message: str | bytes) -> None:
        """Take a message of the page; returns at once, so that messages keep their order."""
        try:
            values = json.loads(message)
        except (ValueError, RecursionError):
            values = None
        if not isinstance(values, dict):
            self.close(MALFORMED, 'a message must be a JSON object')
        elif not self._known:
            self._enter(values)
        elif 'ready' in values:
            self._ready = True
            self._send_news()
        else:
            self._command(values)

    def _enter(self, values: Mapping[str, Any]) -> None:
        """Exchange a code for the secret, or check the secret."""
        access = self._shared.access
        code = values.get('code')
        session = values.get('session')
        if isinstance(session, str) and access.knows(session):
            secret = session
        else:
            secret = access.redeem(code) if isinstance(code, str) else ''
        if not secret:
            self.close(NO_ACCESS, LOST)
            return
        self._known = True
        self._ready = True
        self._send({'welcome': {'session': secret, **self._shared.welcome}})
        self._send_beat(time.monotonic())

    def _command(self, values: Mapping[str, Any]) -> None:
        """Queue a command; its reply is sent when it has been carried out."""
        number = values.get('id')
        name = values.get('name')
        body = values.get('body')
        if not (isinstance(number, int) and isinstance(name, str) and isinstance(body, dict)):
            self.close(MALFORMED, 'a command has the fields id, name and body')
            return
        self._answered |= values.get('beat') == self._beat
        if name == 'move' and isinstance(press := body.get('press'), str):
            self._press = press
        fresh = FRESH_BY_HAND if name == 'move' else FRESH
        latest = math.inf if name in ALWAYS else self._sent_at(values) + fresh
        try:
            reply = self._shared.requests.submit(name, body, latest)
        except Refusal as refusal:
            self._acknowledge(number, False, f'{refusal}')
            return
        # called by the thread of the node
        loop = IOLoop.current()
        reply.add_done_callback(
            lambda done: loop.add_callback(self._on_reply, number, done))

    def _sent_at(self, values: Mapping[str, Any]) -> float:
        """Return the earliest time at which a command can have been sent; −∞ if not known."""
        beat = values.get('beat')
        since = values.get('since')
        if not (isinstance(beat, int) and isinstance(since, int | float) and since >= 0.0):
            return -math.inf
        return self._beats.get(beat, -math.inf) + since

    def _on_reply(self, number: int, done: Future[str]) -> None:
        error = done.exception()
        if error is not None and not isinstance(error, Refusal):
            # a fault of the program; the page states it, and the terminal has its traceback
            self._acknowledge(number, False, f'{type(error).__name__} in the dashboard: {error}')
            raise error
        self._acknowledge(number, error is None,
                          done.result() if error is None else f'{error}')

    # -- messages to the page --------------------------------------------------------------------

    def step(self) -> None:
        """Send what is due; called 20 times a second."""
        now = time.monotonic()
        if not self._known:
            if now - self._opened > FIRST:
                self.close(NO_ACCESS, LOST)
            return
        # a page that does not answer gets no further one, so that nothing piles up
        if self._answered and now - self._beats[self._beat] >= BEAT:
            self._send_beat(now)
        self._send_news()

    def _send_beat(self, now: float) -> None:
        self._beats = {self._beat: self._beats[self._beat], self._beat + 1: now}
        self._beat += 1
        self._answered = False
        self._send({'beat': self._beat})

    def _send_news(self) -> None:
        """Send values that the page has not seen, if it has drawn the last ones."""
        if not self._ready:
            return
        self._seen, samples, status = self._shared.history.after(self._seen, MOST_SAMPLES)
        if samples or status is not None:
            self._ready = False
            self._send({'samples': samples, 'status': status})

    def _acknowledge(self, number: int, done: bool, text: str) -> None:
        self._send({'ack': number, 'ok': done, 'text': text})

    def _send(self, values: Mapping[str, Any]) -> None:
        try:
            sent = self.write_message(json.dumps(values, separators=(',', ':'), allow_nan=False))
        except WebSocketClosedError:
            # `on_close` follows
            return
        sent.add_done_callback(_take_closure)


def _take_closure(sent: asyncio.Future[None]) -> None:
    """Take the error of a page that goes away during a message; `on_close` follows."""
    error = None if sent.cancelled() else sent.exception()
    if error is not None and not isinstance(error, WebSocketClosedError):
        raise error
