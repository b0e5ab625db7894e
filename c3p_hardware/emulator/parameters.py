# SPDX-License-Identifier: Apache-2.0
"""Parameters of emulated cards for a hardware interface, without the protocol's library."""

from __future__ import annotations

from typing import Any

# parameters of the emulated cards, and those of the hardware interface that they follow
FOLLOWED = {
    'drive_joints': 'drives.joints', 'drive_ids': 'drives.node_ids',
    'drive_channels': 'drives.channels', 'drive_serials': 'drives.serial_numbers',
    'rated_torque': 'drives.rated_torque', 'gear_ratio': 'drives.gear_ratio',
    'efficiency': 'drives.efficiency', 'wheel_counts': 'drives.encoder_counts',
    'wheel_direction': 'drives.directions', 'velocity_gain': 'drives.velocity_gain',
    'encoder_joints': 'encoders.joints',
    'encoder_ids': 'encoders.node_ids', 'encoder_serials': 'encoders.serial_numbers',
    'steering_counts': 'encoders.counts', 'steering_direction': 'encoders.directions',
    'steering_zero_counts': 'encoders.zeros', 'encoder_gear_ratio': 'encoders.gear_ratio'}


def cards_like(values: Any) -> dict[str, list[Any]]:
    """
    Return the parameters of emulated cards for the `values` of a hardware interface.

    The cards are then those that the interface expects.
    """
    found = {}
    for name, source in FOLLOWED.items():
        group, _, key = source.partition('.')
        found[name] = list(getattr(getattr(values, group), key))
    counts = values.encoders.counts
    spans = values.encoders.range
    number = max(len(counts), len(spans))
    found['steering_turns'] = [
        max(1, span // count) for count, span in zip(
            *(list(v) * number if len(v) == 1 else list(v) for v in (counts, spans)),
            strict=False)]
    return found
