# SPDX-License-Identifier: Apache-2.0
"""Requirements of windows and pictures on this computer."""

from __future__ import annotations

import os
import sys


class PictureError(ValueError):
    """A picture or window that cannot be drawn here; the text has the remedy."""


def require_screen() -> None:
    """
    Check that a window can be opened here.

    Raises
    ------
    PictureError
        No screen; the text has the options that need none.
    """
    if sys.platform.startswith('linux') and not any(os.environ.get(name) for name in (
            'DISPLAY', 'WAYLAND_DISPLAY', 'WAYLAND_SOCKET')):
        raise PictureError('no screen (DISPLAY is not set); --headless-screenshot FILE.png makes '
                           'a picture of a bag without one, --save FILE.rrd a file for Rerun, '
                           '--viewer foxglove shows it on another computer')
