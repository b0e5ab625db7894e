# SPDX-License-Identifier: Apache-2.0
"""
Enabling devices of the sources of a mux: a source moves the robot only while its device is held.

The device is a button of a ``sensor_msgs/Joy``, or a Bool. Of a device with three positions
`panic` is the contact that closes when it is pressed hard: then it counts as released. To the mux
it is a lock with a timeout, which is pressed while the button is not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from rclpy.node import Node
from sensor_msgs.msg import Joy
from std_msgs.msg import Bool

from c3p_controller.command_lock import Lock
from c3p_controller.twist_mux import HIGHEST
from c3p_ros.node import ANY_RELIABILITY

# of a device that has no such contact
NONE = -1


class Enable(NamedTuple):
    """
    Enabling device, as in the parameter file.

    Attributes
    ----------
    name, topic : str
    timeout : float, s
        Age of the last message from which it counts as released.
    source : str
        Name of the source that it enables.
    button, panic : int
        Of a Joy message: the button to hold, and the one that releases; -1 selects neither.
        Without a button the message is a Bool.
    """

    name: str
    topic: str
    timeout: float
    source: str
    button: int = NONE
    panic: int = NONE

    def lock(self) -> Lock:
        """Return the lock of the mux."""
        return Lock(self.name, self.topic, self.timeout, HIGHEST, source=self.source)


class EnableInput:
    """
    Subscription of an enabling device.

    Parameters
    ----------
    node : Node
    given : Enable
    take : callable
        Takes the name of the device, and whether it is released.
    """

    def __init__(self, node: Node, given: Enable, take: Callable[[str, bool], None]) -> None:
        """Subscribe; a lost release is followed by the next message, or by the timeout."""
        self._given = given
        self._take = take
        joy = given.button != NONE
        node.create_subscription(Joy if joy else Bool, given.topic,
                                 self._on_joy if joy else self._on_flag, ANY_RELIABILITY)

    def _on_flag(self, message: Bool) -> None:
        self._take(self._given.name, not message.data)

    def _on_joy(self, message: Any) -> None:
        buttons = message.buttons
        given = self._given
        held = _pressed(buttons, given.button) and not (
            # a contact that the message lacks may be closed
            given.panic != NONE and (given.panic >= len(buttons) or buttons[given.panic]))
        self._take(given.name, not held)


def _pressed(buttons: Any, number: int) -> bool:
    return number < len(buttons) and bool(buttons[number])
