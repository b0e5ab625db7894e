# SPDX-License-Identifier: Apache-2.0
"""Angles of all channels by SDO, with motors off: nothing is written and nothing moves."""

from __future__ import annotations

from collections.abc import Callable

import canopen
import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_hardware.canopen.cia406 import EncoderObject
from c3p_hardware.canopen.process_data import profile_object
from c3p_hardware.joint_angles import AbsoluteAngle, WheelAngle
from c3p_hardware.settings import CardSettings
from c3p_hardware.transport.can_bus import ConfigurationError, Objects

# 6064h of a drive, position
POSITION = 0x6064


class CardAngles:
    """
    Reader of the positions of drives and encoders, as angles of the joints they are taken for.

    Parameters
    ----------
    network : canopen.Network
        Of `conversation`.
    robot : CasterRobot
    settings : CardSettings

    Attributes
    ----------
    silent : dict
        Channels of devices that do not answer, with the reason.
    """

    def __init__(self, network: canopen.Network, robot: CasterRobot, settings: CardSettings
                 ) -> None:
        """Read each device once; those that do not answer are left out."""
        names = [*robot.steering_joints, *robot.wheel_joints]
        self._angles = np.full(len(names), np.nan)
        self.silent: dict[str, str] = {name: 'no device in the parameters' for name in names}
        self._channels: list[tuple[int, Callable[[], float]]] = []
        encoders = {encoder.joint: encoder for encoder in settings.encoders}
        drives = {drive.joint: drive for drive in settings.drives}
        for place, name in enumerate(names):
            if name in encoders:
                encoder = encoders[name]
                read = _encoder(Objects(network, encoder.node_id, encoder.name),
                                AbsoluteAngle(encoder))
            elif name in drives:
                drive = drives[name]
                read = _drive(Objects(network, drive.node_id, drive.name), drive.channel,
                              WheelAngle(drive.units))
            else:
                continue
            try:
                self._angles[place] = read()
            except (ConfigurationError, ValueError) as error:
                self.silent[name] = f'{error}'
                continue
            del self.silent[name]
            self._channels.append((place, read))

    def read(self) -> Array:
        """Return the angles (2n,) of steering joints, then wheels; nan without a device."""
        for place, read in self._channels:
            # a device that misses one request keeps its angle
            try:
                self._angles[place] = read()
            except (ConfigurationError, ValueError):
                continue
        return self._angles.copy()


def _encoder(objects: Objects, counter: AbsoluteAngle) -> Callable[[], float]:
    return lambda: counter.step(objects.read(EncoderObject.POSITION, 0, 'I', 'position'))


def _drive(objects: Objects, channel: int, counter: WheelAngle) -> Callable[[], float]:
    return lambda: counter.step(objects.read(profile_object(POSITION, channel), 0, 'i',
                                             'position'))
