# SPDX-License-Identifier: Apache-2.0
"""
Server of the live page: one static page, and one WebSocket for each page in both directions.

It listens on the loopback address. Another user of this computer, and a page of another site in
the same browser, can reach that address too. The page itself has nothing of the robot; values and
commands pass through the WebSocket, which opens for the page of this server only (headers Host and
Origin) and requires the secret of `Access` first. Tornado keeps one thread for all connections: a
page that does not read delays neither the others nor its own commands.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable
from typing import Any

from tornado.httpserver import HTTPServer
from tornado.netutil import bind_sockets
from tornado.web import Application, HTTPError, RequestHandler

from c3p_viewers.dashboard.access import LISTENS, Access, is_loopback
from c3p_viewers.dashboard.command_queue import Requests
from c3p_viewers.dashboard.page_socket import MOST_MESSAGE, PageSocket, Shared
from c3p_viewers.dashboard.samples import RATE, History
from c3p_viewers.dashboard.static_page import StaticPage

# time limit of a silent connection without a WebSocket, s
SILENCE = 15.0
# a WebSocket whose browser does not answer pings is closed after two of these periods, s
PING = 10.0
# the page runs its own script and connects to its own server, nothing else; browsers differ in
# whether 'self' includes the scheme ws
POLICY = ("default-src 'none'; script-src '{script}'; style-src 'unsafe-inline'; "
          "connect-src 'self' ws://{host}; img-src data:; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'")


class DashboardServer:
    """
    Serves the live page until `close`.

    Parameters
    ----------
    page : StaticPage
    welcome : dict
        JSON object that a page receives first: what it draws.
    history : History
    requests : Requests
        Receives the commands of the pages.
    port : int
        0 takes a free one.
    announce : callable
        Receives the next address, when the present one is used.

    Raises
    ------
    ValueError
        The port cannot be used.
    """

    def __init__(self, page: StaticPage, welcome: dict[str, Any], history: History,
                 requests: Requests, port: int = 0,
                 announce: Callable[[str], None] = lambda url: None) -> None:
        """Listen; requests are answered from `start` on."""
        remedy = 'choose another --port, 0 takes a free one'
        if not 0 <= port <= 65535:
            raise ValueError(f'port {port}: must be 0 to 65535; {remedy}')
        try:
            self._sockets = bind_sockets(port, LISTENS)
        except OSError as error:
            raise ValueError(f'port {port}: {error.strerror or error}; {remedy}') from error
        self.port: int = self._sockets[0].getsockname()[1]
        self.access = Access(self.port, announce)
        self._page = page
        self._shared = Shared(self.access, welcome, history, requests)
        self._loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name='dashboard', daemon=True)

    def start(self) -> None:
        """Answer requests in a thread."""
        self._thread.start()

    def close(self) -> None:
        """Close all pages and stop listening."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._end.set)
            self._thread.join()
        for one in self._sockets:
            one.close()

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        """Serve until `close`; send to every page what is due."""
        # lines of the access log contain the code, and a malformed request is not an event
        for name in ('tornado.access', 'tornado.general'):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        application = Application(
            [('/', _Page, {'page': self._page}),
             ('/socket', PageSocket, {'shared': self._shared})],
            default_handler_class=_Nothing,
            websocket_max_message_size=MOST_MESSAGE,
            websocket_ping_interval=PING, websocket_ping_timeout=PING)
        http = HTTPServer(application, idle_connection_timeout=SILENCE, body_timeout=SILENCE,
                          max_body_size=MOST_MESSAGE, max_header_size=16384)
        http.add_sockets(self._sockets)
        try:
            while not self._end.is_set():
                for page in tuple(self._shared.pages):
                    page.step()
                try:
                    await asyncio.wait_for(self._end.wait(), 1.0 / RATE)
                except asyncio.TimeoutError:
                    continue
        finally:
            http.stop()
            for page in tuple(self._shared.pages):
                page.close(reason='the dashboard ends')
            # a browser that is still connected must not delay Ctrl-C
            await asyncio.sleep(0.05)


class _Local(RequestHandler):
    """Request to a name of this computer; replies with one line of text to what is refused."""

    def set_default_headers(self) -> None:
        self.clear_header('Server')
        for name, value in {'Content-Type': 'text/plain; charset=utf-8',
                            'Cache-Control': 'no-store', 'X-Content-Type-Options': 'nosniff',
                            'Referrer-Policy': 'no-referrer',
                            'Cross-Origin-Opener-Policy': 'same-origin',
                            'Cross-Origin-Resource-Policy': 'same-origin'}.items():
            self.set_header(name, value)

    def prepare(self) -> None:
        # not request.host, which is a name of this computer where the header is empty
        host = self.request.headers.get('Host', '')
        if not is_loopback(host):
            raise HTTPError(403, f'Host {host[:80]!r}: must be a name of this computer')

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        error = kwargs.get('exc_info', (None, None))[1]
        reason = error.log_message if isinstance(error, HTTPError) else None
        self.finish(f'{reason or self._reason}\n')


class _Page(_Local):
    """The page, which is the same for every robot and contains no secret."""

    def initialize(self, page: StaticPage) -> None:
        self._page = page

    def get(self) -> None:
        page = self._page
        self.set_header('Content-Type', 'text/html; charset=utf-8')
        self.set_header('Content-Security-Policy',
                        POLICY.format(script=page.script_hash, host=self.request.host))
        self.finish(page.text)


class _Nothing(_Local):
    """Any other path."""

    def prepare(self) -> None:
        super().prepare()
        raise HTTPError(404, f'{self.request.path[:80]}: not here')
