# SPDX-License-Identifier: Apache-2.0
"""Whether there is a screen for a window."""

from __future__ import annotations

import os
import sys

from c3p_viewers.mujoco.mujoco_studio import PictureError


def require_screen() -> None:
    """
    Refuse to open a window where there is no screen.

    Raises
    ------
    PictureError
        With the ways that need none.
    """
    if sys.platform.startswith('linux') and not any(os.environ.get(name) for name in (
            'DISPLAY', 'WAYLAND_DISPLAY', 'WAYLAND_SOCKET')):
        raise PictureError('no screen (DISPLAY is not set); --headless-screenshot FILE.png makes '
                           'a picture of a bag without one, --save FILE.rrd a file for Rerun, '
                           '--viewer foxglove shows it on another computer')
