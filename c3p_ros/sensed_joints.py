# SPDX-License-Identifier: Apache-2.0
"""Joint states of drivers that may have no rates: the odometry needs positions only."""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array
from c3p_ros.chain_messages import JointFields
from c3p_ros.messages import JointCoding, MessageError


class SensedJointCoding(JointCoding):
    """
    Conversion of JointState messages with or without rates.

    A driver may leave ``velocity`` empty, or fill it with NaN.
    """

    def read(self, message: JointFields) -> tuple[Array, Array, Array, Array]:
        """
        Return ``steering, steering_rate, wheel_angle, wheel_rate`` of the model, rad and rad/s.

        The rates are NaN for a message without the rate of any of the joints.

        Raises
        ------
        MessageError
            As `JointCoding.read`, but for missing rates.
        """
        velocity = message.velocity
        # with all rates, as in most messages, the sum is a number
        if len(velocity) and math.isfinite(sum(velocity)):
            return super().read(message)
        steering, wheel_angle = self.positions(message)
        if len(velocity):
            if len(velocity) != len(message.name):
                raise MessageError(f'velocity has {len(velocity)} values for '
                                   f'{len(message.name)} names')
            rates = dict(zip(message.name, velocity, strict=True))
            mine = [rates[name] for name in self.robot.sensed_joints]
            # the rates of other joints do not matter
            if not any(map(math.isnan, mine)):
                return super().read(message)
            if any(map(math.isinf, mine)):
                raise MessageError('velocity is infinite: must be finite, or NaN for a rate that '
                                   'is not known')
        unknown = np.full(self.robot.count, math.nan)
        return steering, unknown, wheel_angle, unknown
