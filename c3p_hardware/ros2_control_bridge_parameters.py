# SPDX-License-Identifier: Apache-2.0
# Written by scripts/write_settings.py from ros2_control_bridge_parameters.yaml:
# change that, not this file.
"""
Settings from the parameters of ros2_control_bridge.

Default, bounds and description of each field are those of its parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from c3p_description.settings import CheckedSettings, setting


@dataclass(frozen=True)
class GateSettings(CheckedSettings):
    """
    Limits of the last check before the motors.

    Attributes
    ----------
    command_timeout : float
        Age at which a command, and the wheel rates for braking, time out [s].
    stop_damping : float
        Braking torque per wheel rate after a command timeout [N·m·s/rad]; 0 coasts.
    """

    command_timeout: float = setting(0.2, bounds=(0.005, 5.0), parameter='command_timeout')
    stop_damping: float = setting(0.1, bounds=(0.0, 5.0), parameter='stop_damping')
