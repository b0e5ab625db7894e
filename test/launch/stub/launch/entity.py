# SPDX-License-Identifier: Apache-2.0
"""Base of actions and descriptions."""


class LaunchDescriptionEntity:
    """Something that a launch visits; the entities that follow from it are returned."""

    def visit(self, context):
        return None
