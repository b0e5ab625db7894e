# SPDX-License-Identifier: Apache-2.0
# Written by scripts/write_settings.py from marker_parameters.yaml:
# change that, not this file.
"""
Settings from the parameters of marker.

Default, bounds and description of each field are those of its parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from c3p_description.settings import CheckedSettings, setting


@dataclass(frozen=True, kw_only=True)
class SceneParameters(CheckedSettings):
    """
    Frame, scales and thresholds of the scene that are parameters.

    Attributes
    ----------
    frame : str
        Frame of the platform, in which the scene is drawn.
    ground : float
        Height of the ground in base_frame; negative where its origin is above the ground [m].
    twist_time : float
        Time span of the twist arrows, whose length is the distance travelled in it [s].
    slip_time : float
        Time span of the slip arrows, whose length is the distance slipped in it [s].
    least_slip : float
        Slip speed below which no slip arrow is drawn [m/s].
    """

    frame: str = setting('base_link', filled=True, parameter='base_frame')
    ground: float = setting(0.0, bounds=(-10.0, 10.0), parameter='ground')
    twist_time: float = setting(1.0, bounds=(0.01, 100.0), parameter='twist_time')
    slip_time: float = setting(2.0, bounds=(0.01, 1000.0), parameter='slip_time')
    least_slip: float = setting(0.01, bounds=(0.0, 10.0), parameter='least_slip')
