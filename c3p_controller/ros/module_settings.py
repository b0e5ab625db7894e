# SPDX-License-Identifier: Apache-2.0
"""Settings of the plan of modules from the parameters of the module controller."""

from __future__ import annotations

from typing import Any

import numpy as np

from c3p_controller.module_joints import ModuleJoints
from c3p_description.model import CasterRobot
from c3p_kinematics.module_settings import ModuleSettings

# parameters from which on a limit is off
OFF = 1e9


def module_settings(values: Any, robot: CasterRobot, joints: ModuleJoints) -> ModuleSettings:
    """
    Return the settings of `values`, none beyond what the description of the robot allows.

    Stops are the narrower ones of the parameters and of the description.

    Raises
    ------
    ModuleRobotError
        Stops of another number of joints.
    """
    own = ModuleSettings.of(robot)
    acceleration = min(values.acceleration, own.acceleration)
    yaw_acceleration = min(values.yaw_acceleration, own.yaw_acceleration)
    low = np.asarray(values.steering_lower)
    high = np.asarray(values.steering_upper)
    lower, upper = joints.stops(np.where(low <= -OFF, -np.inf, low),
                                np.where(high >= OFF, np.inf, high))
    return ModuleSettings(
        acceleration, yaw_acceleration, acceleration / values.jerk_time,
        yaw_acceleration / values.jerk_time,
        stop_acceleration=min(values.stop_acceleration, own.acceleration),
        steering_rate=values.steering_rate_limit if values.steering_rate_limit < OFF else np.inf,
        steering_acceleration=np.minimum(values.steering_acceleration,
                                         own.steering_acceleration),
        steering_lower=lower, steering_upper=upper,
        steering_lag=values.steering_lag, wheel_lag=values.wheel_lag,
        steering_gain=values.steering_gain if values.steering_interface == 'velocity' else 0.0,
        straight_time=values.straight_time)
