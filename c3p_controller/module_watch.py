# SPDX-License-Identifier: Apache-2.0
"""Watch of the modules: those that stay behind their angles, and wheels that do not stop."""

from __future__ import annotations

import math

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_kinematics.module_plan import ALIGNED, ModulePlan

# speed of a wheel's rim below which it stands, m/s
STANDS = 0.05


class ModuleWatch:
    """
    Durations of what modules and wheels should not do, in the time of the cycles.

    Parameters
    ----------
    robot : CasterRobot
    patience : float, s
        Time after which it is reported.
    """

    def __init__(self, robot: CasterRobot, patience: float) -> None:
        """Start without a fault."""
        self._robot = robot
        self.patience = patience
        self.forget()

    def forget(self) -> None:
        """Forget the past, as after a gap of the joint states."""
        self._behind = np.zeros(self._robot.count)
        self._turning = np.zeros(self._robot.count)
        self._plan: ModulePlan | None = None
        self._angles = np.zeros(self._robot.count)

    def step(self, plan: ModulePlan, wheel_rate: Array, commanded: Array, dt: float) -> None:
        """
        Process a cycle.

        Parameters
        ----------
        plan : ModulePlan
        wheel_rate, commanded : (n,) array, rad/s
            Measured, nan where unknown, and commanded.
        dt : float, s
        """
        self._plan = plan
        self._angles = plan.lag
        self._behind = np.where(plan.lag > ALIGNED, self._behind + dt, 0.0)
        with np.errstate(invalid='ignore'):
            turns = np.abs(wheel_rate) * self._robot.wheel_radius > STANDS
        against = self._robot.driven & self._robot.wheel_encoder & turns & (commanded == 0.0)
        self._turning = np.where(against, self._turning + dt, 0.0)

    def beyond(self) -> str:
        """Return the modules whose direction is beyond a stop; '' without any."""
        if self._plan is None or self._plan.inside.all():
            return ''
        names = _named(self._robot.steering_joints, ~self._plan.inside)
        return (f'{names}: the direction of the command is beyond the stops, and the robot '
                'stands; command another direction, or check steering_lower and steering_upper')

    def late(self) -> str:
        """Return the modules that have been behind for longer than patience; '' without any."""
        late = self._behind > self.patience
        if not late.any() or self.beyond():
            return ''
        names = _named(self._robot.steering_joints, late)
        worst = math.degrees(float(self._angles[late].max()))
        return (f'{names}: {worst:.0f}° from the commanded angle for more than '
                f'{self.patience:g} s, and the robot waits; check that the controller of the '
                'joint is active, and its signs and zeros in the description')

    def turning(self) -> str:
        """Return the wheels that turn although they are commanded to stand; '' without any."""
        turning = self._turning > self.patience
        return '' if not turning.any() else (
            f'{_named(self._robot.wheel_joints, turning)}: turn although zero has been commanded '
            f'for more than {self.patience:g} s; press the emergency stop, and check the '
            'controller of the wheels')


def _named(names: tuple[str, ...], which: Array) -> str:
    """Return the names of the joints in `which`, each once."""
    return ', '.join(dict.fromkeys(names[i] for i in np.flatnonzero(which)))
