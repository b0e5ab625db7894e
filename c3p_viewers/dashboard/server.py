# SPDX-License-Identifier: Apache-2.0
"""
HTTP server of the live page: one page, one stream of events, few commands.

It listens on the loopback address. Another user of this computer, and a page of another site in
the same browser, can reach that address too: the page, its stream and every command need the token
in the address that ``c3p dashboard`` prints. A command must come from the page itself (header
Origin), and the name of the server in a request must be one of this computer, so that a site whose
name resolves to the loopback address is refused.
"""

from __future__ import annotations

import hmac
import json
import secrets
import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from c3p_viewers.dashboard.samples import History

# address of the server, and names of this computer in the header Host
LISTENS, LOOPBACK = '127.0.0.1', frozenset({'127.0.0.1', 'localhost', '::1'})
# bytes of a command, browsers at a time, and time limit of a silent connection, s
MOST_BODY, MOST_STREAMS, SILENCE = 4096, 8, 15.0
TOKEN_HEADER = 'X-C3P-Token'
# the page may run its own scripts and connect to its own server, nothing else
POLICY = ("default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; "
          "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
          "frame-ancestors 'none'")
LOST = ('This address lacks the token of the running dashboard. Open the address that c3p '
        'dashboard printed in its terminal.\n')


class Refusal(ValueError):
    """A request that is not carried out; its `code` is that of HTTP, its text has the reason."""

    def __init__(self, code: int, text: str) -> None:
        """Store both."""
        super().__init__(text)
        self.code = code


class Place(NamedTuple):
    """Port of the server and its token."""

    port: int
    token: str

    @property
    def url(self) -> str:
        """Address for a browser."""
        return f'http://{LISTENS}:{self.port}/?token={self.token}'


class DashboardServer(ThreadingHTTPServer):
    """
    Serves the live page until `close`.

    Parameters
    ----------
    page : str
        HTML with ``NONCE`` where the nonce of its scripts belongs.
    history : History
    commands : mapping
        Name → function that takes the JSON object of a POST and returns a text; Refusal for what
        is not carried out.
    port : int
        0 takes a free one.

    Raises
    ------
    ValueError
        The port cannot be used.
    """

    daemon_threads = True
    # a browser that is still connected must not delay Ctrl-C
    block_on_close = False
    request_queue_size = 32

    def __init__(self, page: str, history: History,
                 commands: Mapping[str, Callable[[Mapping[str, Any]], str]],
                 port: int = 0) -> None:
        """Listen; requests are answered from `start` on."""
        self.page, self.history, self.commands = page, history, commands
        self.streams = threading.BoundedSemaphore(MOST_STREAMS)
        try:
            super().__init__((LISTENS, port), _Handler)
        except (OSError, OverflowError) as error:
            reason = getattr(error, 'strerror', None) or error
            raise ValueError(f'port {port}: {reason}; choose another --port, 0 takes a free '
                             'one') from error
        self.place = Place(self.server_address[1], secrets.token_urlsafe(24))
        self._thread = threading.Thread(target=self.serve_forever, args=(0.1,),
                                        name='dashboard', daemon=True)

    def start(self) -> None:
        """Answer requests in a thread."""
        self._thread.start()

    def close(self) -> None:
        """End all streams and stop listening."""
        self.history.close()
        if self._thread.is_alive():
            self.shutdown()
            self._thread.join()
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore connections that the browser has ended."""


class _Handler(BaseHTTPRequestHandler):
    """One request; replies with one line of text to what is refused."""

    server: DashboardServer
    protocol_version = 'HTTP/1.1'
    server_version, sys_version = 'c3p', ''
    timeout = SILENCE

    def log_message(self, format: str, *args: Any) -> None:
        """Log nothing: addresses contain the token."""

    def do_GET(self) -> None:
        self._carry_out({'/': self._page, '/stream': self._stream})

    def do_POST(self) -> None:
        self._carry_out({f'/{name}': self._command for name in self.server.commands})

    def _carry_out(self, actions: Mapping[str, Callable[[], None]]) -> None:
        try:
            self._check_host()
            path = urlsplit(self.path).path
            action = actions.get(path)
            if action is None:
                raise Refusal(404, f'{path[:80]}: not here')
            action()
        except Refusal as refusal:
            self._reply(refusal.code, f'{refusal}')
            # the rest of the request is not read
            self.close_connection = True
        except OSError:
            self.close_connection = True

    def _check_host(self) -> None:
        hosts = self.headers.get_all('Host') or []
        name = (urlsplit(f'//{hosts[0]}').hostname or '') if len(hosts) == 1 else ''
        if name not in LOOPBACK:
            raise Refusal(403, f'Host {name[:80]!r}: must be a name of this computer, such as '
                          f'127.0.0.1:{self.server.place.port}')

    def _check_token(self, given: str) -> None:
        if not hmac.compare_digest(given.encode(), self.server.place.token.encode()):
            raise Refusal(403, LOST)

    def _query_token(self) -> str:
        return parse_qs(urlsplit(self.path).query).get('token', [''])[0]

    def _page(self) -> None:
        self._check_token(self._query_token())
        nonce = secrets.token_urlsafe(12)
        self._reply(200, self.server.page.replace('NONCE', nonce), 'text/html',
                    {'Content-Security-Policy': POLICY.format(nonce=nonce)})

    def _command(self) -> None:
        """Carry out a command of the page itself."""
        origin, host = self.headers.get('Origin', ''), self.headers.get('Host', '')
        if urlsplit(origin).netloc != host:
            raise Refusal(403, f'Origin {origin[:80]!r}: commands are accepted from the page of '
                          'this server only')
        self._check_token(self.headers.get(TOKEN_HEADER, ''))
        if self.headers.get_content_type() != 'application/json':
            raise Refusal(415, 'the body must be application/json')
        text = self.headers.get('Content-Length', '')
        if not (text.isascii() and text.isdigit()):
            raise Refusal(411, 'Content-Length is missing')
        # a leading part of the digits is enough to see that it is too long
        if int(text[:12]) > MOST_BODY:
            raise Refusal(413, f'{text[:12]} bytes: must be at most {MOST_BODY}')
        try:
            body = json.loads(self.rfile.read(int(text)))
        except (ValueError, RecursionError) as error:
            raise Refusal(400, 'the body is not JSON') from error
        if not isinstance(body, dict):
            raise Refusal(400, 'the body must be a JSON object')
        name = urlsplit(self.path).path[1:]
        self._reply(200, self.server.commands[name](body))

    def _stream(self) -> None:
        """Send samples and status as server-sent events until the browser leaves."""
        self._check_token(self._query_token())
        if not self.server.streams.acquire(blocking=False):
            raise Refusal(503, f'{MOST_STREAMS} pages are open already; close one')
        try:
            self.close_connection = True
            self.send_response(200)
            self._headers('text/event-stream', {'Connection': 'close'})
            history, number = self.server.history, 0
            while not history.closed:
                number, samples, status = history.after(number, 1.0)
                events: list[tuple[str, Any]] = [('samples', samples)] if samples else []
                events += [] if status is None else [('status', status)]
                # a comment keeps the connection alive, and notices its end
                text = ''.join(f'event: {name}\ndata: {_json(value)}\n\n'
                               for name, value in events) or ': \n\n'
                self.wfile.write(text.encode())
        finally:
            self.server.streams.release()

    def _headers(self, kind: str, more: Mapping[str, str]) -> None:
        for name, value in {'Content-Type': f'{kind}; charset=utf-8', 'Cache-Control': 'no-store',
                            'X-Content-Type-Options': 'nosniff',
                            'Referrer-Policy': 'no-referrer', **more}.items():
            self.send_header(name, value)
        self.end_headers()

    def _reply(self, code: int, text: str, kind: str = 'text/plain',
               more: Mapping[str, str] | None = None) -> None:
        data = text.encode()
        self.send_response(code)
        self._headers(kind, {'Content-Length': f'{len(data)}', **(more or {})})
        self.wfile.write(data)


def _json(value: Any) -> str:
    return json.dumps(value, separators=(',', ':'), allow_nan=False)
