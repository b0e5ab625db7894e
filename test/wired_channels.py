# SPDX-License-Identifier: Apache-2.0
"""Wirings of emulated cards, and what the channels of the hardware interface give with them."""

import numpy as np

from c3p_hardware.axes import card_settings
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.emulator.hand import HandMovedRobot
from c3p_hardware.emulator.wiring import CardWiring
from c3p_hardware.joint_angles import AbsoluteAngle, WheelAngle

WIRINGS = {
    'modules': CardWiring(exchanged_modules=('1 2',)),
    'a ring of modules': CardWiring(exchanged_modules=('1', '2', '3')),
    'drives': CardWiring(exchanged_drives=('wheel_joint_1 <-> wheel_joint_3',)),
    'motors': CardWiring(exchanged_motors=('1 2',)),
    'encoders': CardWiring(exchanged_encoders=('2 3',)),
    'encoders of motors': CardWiring(exchanged_encoders=('wheel_joint_2 wheel_joint_3',)),
    'signs': CardWiring(reversed_drives=('1',), reversed_motors=('2',),
                        reversed_encoders=('3', 'wheel_joint_3')),
    'zeros': CardWiring(zeros=('1 90', '2: -20°', 'all 10')),
    'gears': CardWiring(gears=('1 1.2', 'all 0.9')),
    'everything': CardWiring(exchanged_modules=('1 3',), exchanged_encoders=('1 2',),
                             reversed_encoders=('2',), zeros=('2 180', '1 30'), gears=('3 0.8',)),
}


class Silent:
    """A bus without a master."""

    def recv(self, timeout=None):
        return None

    def send(self, message):
        pass


def channels(robot, there, values, angles):
    """Return what the channels give, by the parameters, at these `angles` of the joints."""
    plant = HandMovedRobot(robot)
    cards = EmulatedCards(Silent(), plant, there)
    settings = card_settings(robot, values)
    by_id = {device.id: device for device in cards.devices.values()}
    names = [*robot.steering_joints, *robot.wheel_joints]
    counters = {}
    for encoder in settings.encoders:
        device = by_id[encoder.node_id].encoder
        counters[encoder.joint] = AbsoluteAngle(encoder), lambda device=device: device.position
    for drive in settings.drives:
        axis = by_id[drive.node_id].axes[drive.channel - 1]
        counters.setdefault(drive.joint, (WheelAngle(drive.units), axis.position))
    for joint, angle in enumerate(angles):
        plant.turn(joint, angle)
        while plant.moving:
            cards.advance(0.1)
            for counter, position in counters.values():
                counter.step(position())
    return np.array([counters[name][0].angle for name in names])
