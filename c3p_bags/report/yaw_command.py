# SPDX-License-Identifier: Apache-2.0
"""
The commanded yaw rate of a drive to a goal, drawn only where it is followed.

Along a path to a goal a law for casters weighs yaw low: the platform must yaw for its casters to
turn, and the yaw is corrected at the goal. The commanded yaw rate, which the position controller
computes from the yaw error, is then not a reference of the motion, and looks like a failure beside
it.
"""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes

from c3p_description.model import Array
from c3p_plots import palette, style

NOTE = 'command not drawn: the yaw is free\nalong the path, and corrected at the goal'
# commands of a smaller root mean square are shown as they are, rad/s
LEAST = 0.005


def is_followed(commanded: Array, sensed: Array) -> bool:
    """
    Return whether a yaw rate follows its command: the rms error is smaller than the command's rms.

    Both are (k,), rad/s, at the same times; samples that are not finite are left out.

    Examples
    --------
    >>> import numpy as np
    >>> command = np.full(9, 0.1)
    >>> is_followed(command, 0.9 * command), is_followed(command, -command)
    (True, False)
    """
    both = np.isfinite(commanded) & np.isfinite(sensed)
    size, error = (float(np.sqrt(np.mean(np.square(values)))) if np.any(both) else 0.0
                   for values in (commanded[both], (sensed - commanded)[both]))
    return size < LEAST or error <= size


def note(axes: Axes) -> None:
    """State in a panel why the commanded yaw rate is missing."""
    axes.annotate(NOTE, (0.98, 0.03), xycoords='axes fraction', ha='right', va='bottom',
                  fontsize=style.SMALL, color=palette.MUTED)
