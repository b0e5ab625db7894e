# SPDX-License-Identifier: Apache-2.0
"""
Measurement of the zeros of the steering encoders.

At θ_s = 0 a wheel rolls along +Y of the platform with its contact behind the pivot. Casters align
when the robot is pushed along +Y: the error shrinks by e for each caster offset of path. The
preset of the cards (6003h) is never written.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import can

from c3p_hardware.canopen.cia406 import EncoderObject, alarm_texts
from c3p_hardware.settings import CardSettings, EncoderSettings
from c3p_hardware.transport.can_bus import ConfigurationError, Objects, conversation
from c3p_hardware.transport.configure import Identity, check_encoder, identify

SAMPLES = 25
PAUSE = 0.02

# motion of a caster at rest: an encoder between two counts, and a tenth of a degree
STILL_COUNTS = 2
STILL_ANGLE = math.radians(0.1)

HOW = """\
The steering zero is the angle at which every wheel rolls along +Y of the platform, with its
contact point behind its steering axis.
  1. Switch the motors off (release the emergency stop's power, or press it).
  2. Push the robot by hand straight along its +Y for about a metre, against a straight edge.
     The casters trail and align; do not roll back.
  3. Leave it at rest. Check with a ruler that all wheels are parallel to +Y."""


class Moved(ValueError):
    """A caster that moved during the measurement."""


@dataclass(frozen=True)
class Zero:
    """
    Measured zero of one encoder.

    Attributes
    ----------
    name : str
    joint : str
    node_id : int
    counts : int
        Position, the middle of all samples.
    spread : int
        Counts between the smallest and the largest sample.
    serial : int
        Serial number of the encoder.
    change_deg : float
        Difference from the zero in the parameters, °.
    """

    name: str
    joint: str
    node_id: int
    counts: int
    spread: int
    serial: int
    change_deg: float


def measure_zeros(bus: can.BusABC, settings: CardSettings, samples: int = SAMPLES,
                  pause: float = PAUSE) -> list[Zero]:
    """
    Read every encoder repeatedly by SDO and return its position.

    Parameters
    ----------
    bus : can.BusABC
        Open; stays open.
    settings : CardSettings
    samples : int
        Number of samples of each encoder.
    pause : float, s
        Between two rounds.

    Raises
    ------
    Moved
        The named casters moved.
    ConfigurationError
        No response, another kind of device, other counts, or an alarm.
    """
    encoders = settings.encoders
    with conversation(bus) as network:
        objects = [Objects(network, e.node_id, e.name) for e in encoders]
        serials = [_checked(*pair).serial for pair in zip(objects, encoders, strict=True)]
        # rounds over all encoders, so that their samples belong to one time
        taken: list[list[int]] = [[] for _ in encoders]
        for _ in range(samples):
            for device, positions in zip(objects, taken, strict=True):
                positions.append(device.read(EncoderObject.POSITION, 0, 'I', 'position'))
            time.sleep(pause)
    zeros = [zero_of(encoder, positions, serial) for encoder, positions, serial in zip(
        encoders, taken, serials, strict=True)]
    moved = [f'{z.name} moved by {z.spread} counts' for z, e in zip(zeros, encoders, strict=True)
             if z.spread > max(STILL_COUNTS, STILL_ANGLE * e.counts / (2 * math.pi))]
    if moved:
        raise Moved(f'{"; ".join(moved)}: hold the casters still and measure again')
    return zeros


def _checked(device: Objects, encoder: EncoderSettings) -> Identity:
    """Return the identity of an encoder with the counts of the parameters and without alarm."""
    found = identify(device)
    # an encoder in the place of another one is calibrated here
    check_encoder(device, replace(encoder, serial=0), found)
    alarms = alarm_texts(device.optional(EncoderObject.ALARMS, 0, 'H') or 0)
    if alarms:
        raise ConfigurationError(f'{device.name}: {"; ".join(alarms)}; its position is '
                                 'invalid: see its manual, or replace it')
    return found


def zero_of(encoder: EncoderSettings, positions: Sequence[int], serial: int = 0) -> Zero:
    """
    Return the middle of some `positions`, counts, also across the end of the range.

    >>> zero_of(EncoderSettings(11, 'steering_joint_1'), [4095, 0, 1]).counts
    0
    """
    span = encoder.range
    first = positions[0]
    away = [(p - first + span // 2) % span - span // 2 for p in positions]
    middle = (first + (min(away) + max(away)) // 2) % span
    change = (middle - encoder.zero + encoder.counts // 2) % encoder.counts - encoder.counts // 2
    return Zero(encoder.name, encoder.joint, encoder.node_id, middle, max(away) - min(away),
                serial, 360.0 * change / encoder.counts)


def parameters(zeros: Sequence[Zero]) -> dict[str, Any]:
    """Return the measured parameters."""
    return {'encoders.zeros': [z.counts for z in zeros],
            'encoders.serial_numbers': [z.serial for z in zeros]}
