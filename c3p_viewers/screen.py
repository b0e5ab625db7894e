# SPDX-License-Identifier: Apache-2.0
"""Requirements of windows and pictures on this computer."""

from __future__ import annotations

import os
import re
import socket
import sys


class PictureError(ValueError):
    """A picture or window that cannot be drawn here; the text has the remedy."""


# time limit of the connection to an X server, s
LIMIT = 5.0
# port of display 0 of an X server on another computer
FIRST_PORT = 6000
# host (empty: this computer), display and screen
X_DISPLAY = re.compile(r'(?:(?:[a-z]+/)?(?P<host>[^/]*)):(?P<number>\d+)(?:\.\d+)?')
REMEDY = ('--headless-screenshot FILE.png makes a picture of a bag without a screen, --save '
          'FILE.rrd a file for Rerun, --viewer foxglove shows it on another computer')


def require_screen() -> None:
    """
    Check that a window can be opened here.

    Raises
    ------
    PictureError
        No screen, or an X server that does not accept connections; the text has the options that
        need none.
    """
    if not sys.platform.startswith('linux') or any(os.environ.get(name) for name in (
            'WAYLAND_DISPLAY', 'WAYLAND_SOCKET')):
        return
    display = os.environ.get('DISPLAY', '')
    if not display:
        raise PictureError(f'no screen (DISPLAY is not set); {REMEDY}')
    problem = _x_problem(display)
    if problem:
        raise PictureError(f'no screen (DISPLAY is {display}: {problem}); {REMEDY}')


def _x_problem(display: str) -> str:
    """Return why nothing can be connected to an X display; empty if it accepts connections."""
    named = X_DISPLAY.fullmatch(display)
    # paths and other forms that only the X libraries read
    if named is None:
        return '' if '/' in display else 'not of the form HOST:NUMBER'
    host = named['host']
    number = int(named['number'])
    try:
        if host in ('', 'unix'):
            _connect_local(number)
        else:
            socket.create_connection((host, FIRST_PORT + number), LIMIT).close()
    except OSError as error:
        return error.strerror or str(error)
    return ''


def _connect_local(number: int) -> None:
    """Connect to the X server of this computer by a file, or by Linux's abstract name."""
    path = f'/tmp/.X11-unix/X{number}'
    for place in ('\0' + path, path):
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(LIMIT)
            try:
                probe.connect(place)
                return
            except OSError:
                if place == path:
                    raise
