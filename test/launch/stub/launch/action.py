# SPDX-License-Identifier: Apache-2.0
"""Base of actions."""

from launch.entity import LaunchDescriptionEntity


class Action(LaunchDescriptionEntity):
    """An entity with a condition."""

    def __init__(self, *, condition=None):
        self.condition = condition

    def visit(self, context):
        if self.condition is None or self.condition.evaluate(context):
            return self.execute(context)
        return None

    def execute(self, context):
        return None
