# SPDX-License-Identifier: Apache-2.0
"""Torques of an input delay as (duration, torque), and the passing of its time."""

import numpy as np

from c3p_controller.predictive.motion_observer import _pass_time


def pass_time(line, dt):
    """Advance the time of an InputDelay by `dt`, as a cycle of the observer does."""
    line.count = _pass_time(line.begins, line.torques, line.count, dt)


def acting(line, seconds):
    """Return the torques of an InputDelay that act from now for `seconds`."""
    edges = np.clip(np.append(line.begins[:line.count], np.inf), 0.0, seconds)
    return [(duration, torque.copy())
            for duration, torque in zip(np.diff(edges), line.torques, strict=False)
            if duration > 1e-9]
