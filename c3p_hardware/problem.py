# SPDX-License-Identifier: Apache-2.0
"""Reasons to stop the robot, with device, condition and remedy."""

from __future__ import annotations

from dataclasses import dataclass

RECOVER = 'then call ~/recover and ~/enable'


@dataclass(frozen=True)
class Problem:
    """
    Reason to stop the robot.

    Attributes
    ----------
    device : str
        Name with joint and node id; ``bus`` for the bus itself.
    kind : str
        ``silence``, ``reboot``, …
    text, remedy : str
        Condition with values, and remedy.
    configure : bool
        The device has lost its configuration and must be configured again.
    """

    device: str
    kind: str
    text: str
    remedy: str
    configure: bool = False

    def __str__(self) -> str:
        """Return device, condition and remedy."""
        return f'{self.device}: {self.text}; {self.remedy}'
