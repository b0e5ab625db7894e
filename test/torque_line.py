# SPDX-License-Identifier: Apache-2.0
"""Torques of an input delay as (duration, torque)."""

import numpy as np


def acting(line, seconds):
    """Return the torques of an InputDelay that act from now for `seconds`."""
    edges = np.clip(np.append(line.begins, np.inf), 0.0, seconds)
    return [(duration, torque.copy())
            for duration, torque in zip(np.diff(edges), line.torques, strict=True)
            if duration > 1e-9]
