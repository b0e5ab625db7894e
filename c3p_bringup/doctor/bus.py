# SPDX-License-Identifier: Apache-2.0
"""State of the CAN interface of this computer, from the kernel."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from c3p_bringup.doctor.check import Check, fail, ok, warn
from c3p_hardware.transport.can_bus import BusAddress

# linux/if_arp.h
CAN_TYPE = '280'
UP = 1


def link_details(channel: str) -> dict[str, Any]:
    """Return the output of ``ip -details`` for an interface, empty if not available."""
    ip = shutil.which('ip')
    if ip is None:
        return {}
    output = subprocess.run([ip, '-details', '-json', 'link', 'show', channel], timeout=5.0,
                          capture_output=True, text=True, check=False).stdout
    try:
        return json.loads(output)[0]
    except (ValueError, IndexError):
        return {}


def interface(address: BusAddress, required: bool, system: Path = Path('/sys'),
              details: Callable[[str], dict[str, Any]] = link_details) -> Iterator[Check]:
    """
    Yield the check that the interface exists, is up, and has the right bit rate.

    `address` is as the hardware interface would open it, below `system`; `details` as
    `link_details`. `required`: the motor cards are in use, and a missing interface is a failure.
    """
    name = f'CAN {address.channel}'
    missing = fail if required else warn
    if address.interface != 'socketcan':
        there = not address.channel.startswith('/') or Path(address.channel).exists()
        yield ok(name, f'{address}') if there else missing(
            name, f'{address.channel} not found', 'connect the adapter or start the emulator; '
            'see bus.channel')
        return
    place = system / 'class/net' / address.channel
    others = sorted(p.parent.name for p in (system / 'class/net').glob('*/type')
                    if p.read_text(encoding='utf-8').strip() == CAN_TYPE)
    if not place.is_dir():
        yield missing(name, f'no such interface; found: {", ".join(others) or "none"}',
                      'connect the adapter and load its driver, or set --channel; only '
                      'needed for hardware:=can')
        return
    if address.channel not in others:
        yield fail(name, 'not a CAN interface', f'found: {", ".join(others) or "none"}')
        return
    flags = int((place / 'flags').read_text(encoding='utf-8').strip(), 16)
    if not flags & UP:
        yield missing(name, 'down', f'sudo ip link set {address.channel} up type can bitrate '
                      f'{address.bitrate} restart-ms 100')
        return
    yield from _of_link(name, address, details(address.channel))


def _of_link(name: str, address: BusAddress, link: dict[str, Any]) -> Iterator[Check]:
    data = link.get('linkinfo', {}).get('info_data', {})
    bitrate = data.get('bittiming', {}).get('bitrate')
    state = data.get('state', '')
    if bitrate is not None and bitrate != address.bitrate:
        yield fail(name, f'up at {bitrate} bit/s, bus.bitrate is {address.bitrate}',
                   f'sudo ip link set {address.channel} down, then up type can bitrate '
                   f'{address.bitrate}; or correct bus.bitrate')
    elif state in ('ERROR-PASSIVE', 'BUS-OFF'):
        yield fail(name, f'up, {state}', 'check termination, bit rate and that another node is '
                   f'on; sudo ip link set {address.channel} down, then up')
    elif state == 'ERROR-WARNING':
        yield warn(name, f'up, {state}', 'check termination, shield and cable length')
    else:
        yield ok(name, f'up, {bitrate or "no"} bit/s{f", {state}" if state else ""}')
