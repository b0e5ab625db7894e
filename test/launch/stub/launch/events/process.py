# SPDX-License-Identifier: Apache-2.0
"""Events of processes; none is made here."""

from launch.event import Event


class ProcessStarted(Event):
    """The start of a process."""


class ProcessExited(Event):
    """The end of a process."""
