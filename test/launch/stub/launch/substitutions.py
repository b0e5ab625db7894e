# SPDX-License-Identifier: Apache-2.0
"""Texts that depend on the context."""

import os

from launch.utilities import normalize_to_list_of_substitutions, perform_substitutions


class LaunchConfiguration:
    """The value of an argument."""

    def __init__(self, variable_name, *, default=None):
        self._name = normalize_to_list_of_substitutions(variable_name)
        self._default = default

    def perform(self, context):
        name = perform_substitutions(context, self._name)
        if name in context.launch_configurations:
            return context.launch_configurations[name]
        if self._default is None:
            raise RuntimeError(f"launch configuration '{name}' does not exist")
        return perform_substitutions(
            context, normalize_to_list_of_substitutions(self._default))


class PathJoinSubstitution:
    """A path of several parts."""

    def __init__(self, substitutions):
        self._parts = [normalize_to_list_of_substitutions(part) for part in substitutions]

    def perform(self, context):
        return os.path.join(*(perform_substitutions(context, part) for part in self._parts))
