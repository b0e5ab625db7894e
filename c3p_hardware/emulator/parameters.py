# SPDX-License-Identifier: Apache-2.0
"""Parameters of emulated cards for a hardware interface, without the protocol's library."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from c3p_description.model import CasterRobot
from c3p_hardware.emulator.wiring import CardWiring, wired
from c3p_hardware.tools.parameter_file import ANY, blocks, hardware_values

NODE = 'emulated_cards'

# group of parameters of what is wired otherwise
WIRING = 'wiring'

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


def expected_cards(files: Sequence[Path]) -> dict[str, list[Any]]:
    """
    Return the parameters of emulated cards that the hardware interface expects.

    Where one of the parameter `files` has a wiring, it is meant against the files up to this one:
    a later file changes what the interface expects, not what is wired.
    """
    last = [i for i, path in enumerate(files) if _wiring_of(path)]
    return cards_like(hardware_values(files[:last[-1] + 1] if last else files))


def given_wiring(files: Sequence[Path]) -> CardWiring:
    """Return the wiring in parameter `files`; later ones have priority, value by value."""
    found: dict[str, tuple[str, ...]] = {}
    for path in files:
        found |= _wiring_of(path)
    return CardWiring(**found)


def check_wiring(robot: CasterRobot, files: Sequence[Path]) -> None:
    """
    Reject a wiring in parameter `files` that the robot cannot have.

    CardWiringError names parameter, value and remedy.
    """
    wiring = given_wiring(files)
    if wiring:
        from c3p_hardware.emulator.axes import EmulatedDevices

        wired(EmulatedDevices(**devices_of(expected_cards(files))), wiring, robot)


def devices_of(values: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the fields of `EmulatedDevices` for parameters of emulated cards."""
    # a single 0 is automatic, and an empty text names nothing
    numbered = ('drive_ids', 'encoder_ids', 'drive_serials', 'encoder_serials')
    return {name: () if value in ([''], []) or name in numbered and value == [0] else tuple(value)
            for name, value in values.items()}


def _wiring_of(path: Path) -> dict[str, tuple[str, ...]]:
    """Return the wiring in a parameter file; its values are checked by the schema elsewhere."""
    found = {}
    for node, values in blocks(path):
        if node != NODE and node not in ANY:
            continue
        for name, value in values.items():
            group, _, key = name.partition('.')
            if group == WIRING and key in CardWiring.__dataclass_fields__:
                texts = value if isinstance(value, list) else [value]
                found[key] = tuple(f'{text}' for text in texts if f'{text}'.strip())
    return found
