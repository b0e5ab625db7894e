# SPDX-License-Identifier: Apache-2.0
"""Gains of the position law within the reach of the robot, with a line in the log for each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rclpy.node import Node

from c3p_controller import chosen_law
from c3p_controller.controllers import position_gains
from c3p_controller.goals.position_command import PositionLaw
from c3p_controller.goals.reach_limits import limits_of_reach, within_reach
from c3p_description.model import CasterRobot


class GoalLimits:
    """
    Lowers gains of `law` to the reach of `robot`, unless within_reach is false.

    `law_name` is the torque law for which `law` makes commands.
    """

    def __init__(self, node: Node, robot: CasterRobot, law: PositionLaw, values: Any) -> None:
        """Lower the gains of the parameters `values`."""
        self._node = node
        self._law = law
        self._robot = robot
        self.law_name = chosen_law(values.controller, robot)
        self._texts: Sequence[str] = ()
        self._limits = limits_of_reach(robot) if values.within_reach else None
        self.retune(values)

    def check(self, values: Any) -> None:
        """Raise ValueError for parameters that `retune` cannot use."""
        position_gains(values, self._robot)

    def retune(self, values: Any) -> None:
        """Replace the gains of the law by the parameters within the limits; log what is new."""
        gains = position_gains(values, self._robot)
        texts: Sequence[str] = ()
        if self._limits is not None:
            gains, texts = within_reach(gains, self._limits)
        for text in texts:
            if text not in self._texts:
                self._node.get_logger().info(f'{text} (within_reach)')
        self._texts = texts
        self._law.retune(gains)
