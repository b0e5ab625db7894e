# SPDX-License-Identifier: Apache-2.0
"""
Access to the live page: codes of addresses, the secret of a session, and names of this computer.

An address contains a code, never the secret. The page exchanges the code for the secret, which it
keeps in the storage of its origin: storage is separate for each port, while a cookie is sent to
every port of a host, and another user of this computer can listen on one of them. A code expires a
minute after its first use, so that the address in the history of a browser is worth nothing.
"""

from __future__ import annotations

import hmac
import re
import secrets
import time
from collections.abc import Callable

# address of the server
LISTENS = '127.0.0.1'
# names of this computer in the header Host: an ssh tunnel may have another port at its end
LOOPBACK = re.compile(r'(?:127\.0\.0\.1|localhost|\[::1\])(?::[0-9]{1,5})?')
# a code is valid until so long after its first use, s: for all tabs of a browser that starts
GRACE = 60.0
# random bytes of a code and of the secret
STRENGTH = 24


def same(given: str, secret: str) -> bool:
    """Return whether two texts are equal, in a time that does not depend on their content."""
    return hmac.compare_digest(given.encode('utf-8', 'replace'), secret.encode())


def is_loopback(host: str) -> bool:
    """
    Return whether the header Host is a name of this computer.

    A site whose name resolves to the loopback address sends its own name.

    Examples
    --------
    >>> is_loopback('127.0.0.1:8766'), is_loopback('evil@127.0.0.1:8766')
    (True, False)
    """
    return LOOPBACK.fullmatch(host) is not None


def is_own_origin(origin: str, host: str) -> bool:
    """
    Return whether the header Origin is the page of the server `host`, scheme included.

    Examples
    --------
    >>> is_own_origin('http://localhost:8766', 'localhost:8766')
    True
    >>> is_own_origin('https://localhost:8766', 'localhost:8766')
    False
    """
    return is_loopback(host) and origin == f'http://{host}'


class Access:
    """
    Codes of addresses, and the secret that a code is exchanged for.

    Parameters
    ----------
    port : int
        Of the server.
    announce : callable
        Receives the next address for other devices, when the present one is used.
    clock : callable
        Monotonic time, s.

    Attributes
    ----------
    session : str
        The secret that permits reading and commanding until the server ends.
    """

    def __init__(self, port: int, announce: Callable[[str], None],
                 clock: Callable[[], float] = time.monotonic) -> None:
        """Make the secret and the first address."""
        self._port = port
        self._announce = announce
        self._clock = clock
        self.session = secrets.token_urlsafe(STRENGTH)
        # time of the first use, None before it
        self._codes: dict[str, float | None] = {}
        self._printed = self.new_code()

    def new_code(self) -> str:
        """Return a new code."""
        code = secrets.token_urlsafe(STRENGTH)
        self._codes[code] = None
        return code

    def address(self, code: str) -> str:
        """Return the address of the page with a code."""
        return f'http://{LISTENS}:{self._port}/?code={code}'

    @property
    def url(self) -> str:
        """Address for a browser, to be printed."""
        return self.address(self._printed)

    def redeem(self, code: str) -> str:
        """Return the secret for a valid code; '' for any other text."""
        now = self._clock()
        self._codes = {known: used for known, used in self._codes.items()
                       if used is None or now - used <= GRACE}
        # all are compared, so that the time reveals nothing
        found = [known for known in self._codes if same(code, known)]
        if not found:
            return ''
        if self._codes[found[0]] is None:
            self._codes[found[0]] = now
            if found[0] == self._printed:
                self._printed = self.new_code()
                self._announce(self.url)
        return self.session

    def knows(self, session: str) -> bool:
        """Return whether `session` is the secret of this server."""
        return same(session, self.session)
