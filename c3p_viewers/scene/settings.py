# SPDX-License-Identifier: Apache-2.0
"""Scales, thresholds and layers of the scene."""

from __future__ import annotations

from dataclasses import dataclass

from c3p_viewers.marker_parameters import SceneParameters


@dataclass(frozen=True)
class SceneSettings(SceneParameters):
    """
    Scales and thresholds of the scene.

    The unit *size* is `singularity.length_scale`, L, the root mean square distance of the pivots
    from their middle, so that a robot of any size looks the same.

    Attributes
    ----------
    frame : str
        Frame of all shapes, that of the platform.
    ground : float, m
        Height of the ground in `frame`; below zero where the frame's origin is above it.
    line_reach : float, size
        Half the length of a rolling line.
    centre_reach : float, size
        Farthest place at which the instantaneous centre is drawn; beyond, an arrow points to it.
    centre_limit : float, size
        Distance of a centre from which the platform counts as translating.
    safe_sigma : float, 1
        Least singular value from which on the rolling lines are all green; red at 0.
    lost_sigma : float, 1
        Least singular value below which the direction about to be lost is drawn.
    rest_speed : float, m/s
        Motion is drawn from this platform speed, or L times yaw rate, on.
    twist_time : float, s
        Arrow and arc of the twist show the distance travelled in this time.
    slip_time : float, s
        A slip arrow shows the distance slipped in this time.
    least_slip : float, m/s
        Smaller residuals are noise and not drawn.
    torque_reach : float, size
        Length of a torque arrow at the wheel's limit, or at 1 N·m where it has none.
    least_torque : float, 1
        Part of the limit below which a torque is not drawn.
    line_width, label_height : float, size
    """

    line_reach: float = 3.0
    centre_reach: float = 6.0
    centre_limit: float = 150.0
    safe_sigma: float = 0.6
    lost_sigma: float = 0.3
    rest_speed: float = 0.01
    torque_reach: float = 1.0
    least_torque: float = 0.02
    line_width: float = 0.03
    label_height: float = 0.14


DEFAULT_SETTINGS = SceneSettings()

# first word of a shape's name, and its layer where that has another name
LAYERS = {'rolling': 'rolling_lines', 'sigma': 'rolling_lines', 'axle': 'axle_lines',
          'turn': 'twist', 'icr': 'instantaneous_centre', 'suspect': 'slip'}


def layer(name: str) -> str:
    """
    Return the layer of a shape by its name: what a viewer switches on and off together.

    Layers are ``rolling_lines``, ``unactuated``, ``axle_lines``, ``instantaneous_centre``,
    ``twist``, ``torque``, ``slip``, ``uncertainty`` and ``planned``.

    Examples
    --------
    >>> layer('rolling_line_2'), layer('turn_head'), layer('slip_1')
    ('rolling_lines', 'twist', 'slip')
    """
    first = name.split('_', 1)[0]
    return LAYERS.get(first, first)
