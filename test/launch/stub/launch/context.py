# SPDX-License-Identifier: Apache-2.0
"""State of a launch: values of the arguments."""


class LaunchContext:
    """Values of the arguments by name, and what actions leave for each other."""

    def __init__(self, *, argv=None, noninteractive=False):
        self.launch_configurations = {}
        self.is_shutdown = False
        self._locals, self._scopes = {}, []

    def extend_locals(self, extension):
        self._locals.update(extension)

    def perform_substitution(self, substitution):
        return substitution.perform(self)

    def _push_launch_configurations(self):
        self._scopes.append(dict(self.launch_configurations))

    def _pop_launch_configurations(self):
        self.launch_configurations = self._scopes.pop()
