# SPDX-License-Identifier: Apache-2.0
"""A real browser without a window, controlled by its DevTools protocol."""

import base64
import contextlib
import itertools
import json
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

PROGRAMS = ('chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable')
PATIENCE = 90.0


def program():
    """Return the browser; skips the test without one."""
    for name in PROGRAMS:
        if path := shutil.which(name):
            return path
    pytest.skip(f'no browser: install one of {", ".join(PROGRAMS)}')


class Page:
    """
    A page of a browser by its DevTools address.

    `problems` are its exceptions and errors on the console, `requests` the addresses it loads,
    `history` those of all entries of its history.
    """

    def __init__(self, address):
        client = pytest.importorskip('websockets.sync.client',
                                     reason='pip install websockets')
        self.problems, self.requests, self._numbers = [], [], itertools.count(1)
        self._open = contextlib.ExitStack()
        self._socket = self._open.enter_context(client.connect(address, max_size=None,
                                                               ping_interval=None))
        for domain in ('Page', 'Runtime', 'Log', 'Network'):
            self.do(f'{domain}.enable')

    def close(self):
        """Close the connection; the page stays."""
        self._open.close()

    @property
    def history(self):
        """Addresses of the history of the page."""
        return [entry['url'] for entry in self.do('Page.getNavigationHistory')['entries']]

    def do(self, method, **values):
        """Carry out a command of the protocol; return its result."""
        number = next(self._numbers)
        self._socket.send(json.dumps({'id': number, 'method': method, 'params': values}))
        while True:
            message = json.loads(self._socket.recv(timeout=PATIENCE))
            self._note(message)
            if message.get('id') == number:
                assert 'error' not in message, message
                return message['result']

    def _note(self, message):
        values = message.get('params', {})
        match message.get('method'):
            case 'Runtime.exceptionThrown':
                self.problems.append(values['exceptionDetails'])
            # a refused command is a reply and not a problem
            case 'Log.entryAdded' if (values['entry']['level'] == 'error'
                                      and values['entry']['source'] != 'network'):
                self.problems.append(values['entry'])
            case 'Network.requestWillBeSent':
                self.requests.append(values['request']['url'])

    def size(self, width, height):
        """Set the size of the window, pixels."""
        self.do('Emulation.setDeviceMetricsOverride', width=width, height=height,
                deviceScaleFactor=1, mobile=width < 500)

    def open(self, url):
        """Open a page and wait until it is loaded."""
        self.do('Page.navigate', url=url)
        self.until('document.readyState === "complete" && location.href !== "about:blank"')

    def value(self, expression):
        """Return the value of an expression of JavaScript."""
        found = self.do('Runtime.evaluate', expression=expression, returnByValue=True,
                        awaitPromise=True)
        assert 'exceptionDetails' not in found, found
        return found['result'].get('value')

    def until(self, expression, patience=PATIENCE):
        """Wait until an expression of JavaScript is true."""
        end = time.monotonic() + patience
        while not self.value(f'Boolean({expression})'):
            assert time.monotonic() < end, f'{expression} did not become true'
            time.sleep(0.05)

    def mouse(self, kind, x, y, **more):
        """Send an event of the mouse at a place of the window."""
        self.do('Input.dispatchMouseEvent', type=kind, x=x, y=y, **more)

    def click(self, x, y, to=None):
        """Press the left button at a place and release it there, or at another one."""
        self.mouse('mousePressed', x, y, button='left', clickCount=1, buttons=1)
        if to:
            self.mouse('mouseMoved', *to, button='left', buttons=1)
        self.mouse('mouseReleased', *(to or (x, y)), button='left', clickCount=1)

    def key(self, name):
        """Press and release a key."""
        for kind in ('keyDown', 'keyUp'):
            text = {'text': '\r'} if (kind, name) == ('keyDown', 'Enter') else {}
            self.do('Input.dispatchKeyEvent', type=kind, key=name, code=name, **text,
                    windowsVirtualKeyCode={'Escape': 27, 'ArrowRight': 39, 'ArrowLeft': 37,
                                           'Enter': 13}.get(name, 0))

    def box(self, selector):
        """Return left, top, width and height of an element, scrolled into the window."""
        return self.value(f'(() => {{ const e = document.querySelector({json.dumps(selector)}); '
                          'e.scrollIntoView({block: "center", behavior: "instant"}); '
                          'const b = e.getBoundingClientRect(); '
                          'return [b.left, b.top, b.width, b.height]; })()')

    def picture(self, path, whole=False):
        """Write a PNG of the window, or of the whole page."""
        data = self.do('Page.captureScreenshot', format='png', captureBeyondViewport=whole)
        Path(path).write_bytes(base64.b64decode(data['data']))


class Browser(Page):
    """A browser of its own and its first page; `tab` opens others."""

    def __init__(self, width=1280, height=900, dark=False):
        pytest.importorskip('websockets.sync.client', reason='pip install websockets')
        self._folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self._process = subprocess.Popen(
            [program(), '--headless=new', '--no-sandbox', '--disable-gpu', '--mute-audio',
             '--disable-dev-shm-usage', '--hide-scrollbars', '--remote-debugging-port=0',
             f'--user-data-dir={self._folder.name}', 'about:blank'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port = Path(self._folder.name) / 'DevToolsActivePort'
        end = time.monotonic() + PATIENCE
        while not (port.exists() and port.read_text().strip()):
            assert self._process.poll() is None and time.monotonic() < end, 'no browser'
            time.sleep(0.05)
        self._port = port.read_text().split()[0]
        self._tabs = []
        super().__init__(self._new())
        self.size(width, height)
        self.do('Emulation.setEmulatedMedia', features=[
            {'name': 'prefers-color-scheme', 'value': 'dark' if dark else 'light'}])

    def _new(self):
        """Open an empty page; return its DevTools address."""
        made = urlopen(Request(f'http://127.0.0.1:{self._port}/json/new?about:blank',
                               method='PUT'))
        return json.load(made)['webSocketDebuggerUrl']

    def tab(self):
        """Return a further page in the same window; it hides the others."""
        self._tabs.append(Page(self._new()))
        return self._tabs[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for one in (*self._tabs, self):
            one.close()
        self._process.send_signal(signal.SIGTERM)
        self._process.wait(20)
        self._folder.cleanup()
