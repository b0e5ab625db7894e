# SPDX-License-Identifier: Apache-2.0
"""Handlers of the events of processes, and of the end."""


class OnProcessStart:
    """Reaction to the start of a process."""

    def __init__(self, *, target_action=None, on_start, handle_once=False):
        self.on_start = on_start


class OnProcessExit:
    """Reaction to the end of a process."""

    def __init__(self, *, target_action=None, on_exit, handle_once=False):
        self.on_exit = on_exit


class OnShutdown:
    """Reaction to the end of the launch."""

    def __init__(self, *, on_shutdown, handle_once=False):
        self.on_shutdown = on_shutdown
