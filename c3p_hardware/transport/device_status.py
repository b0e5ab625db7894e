# SPDX-License-Identifier: Apache-2.0
"""State of every device as DiagnosticStatus, for /diagnostics."""

from __future__ import annotations

import time

from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from c3p_hardware.canopen.cia402 import mode_name
from c3p_hardware.devices import Device, Drive, Encoder
from c3p_hardware.supervisor import ArmState
from c3p_hardware.transport.card_link import CardLink
from c3p_ros.diagnostics import ERROR, OK, WARN
from c3p_ros.fault_codes.code import FAULT_CODES, joined
from c3p_ros.fault_codes.table import card_code


def conditions(link: CardLink) -> list[tuple[str, bytes, str, str]]:
    """Return name, level, text and codes of the state of motors, samples and wheels."""
    codes = joined(card_code(fault.kind, fault.text) for fault in link.problems)
    motors = ((ERROR, '; '.join(link.faults), codes) if link.state == ArmState.FAULT
              else (OK, link.state.value, ''))
    held = link.held
    gate = link.gate_reason if link.state == ArmState.ARMED else ''
    return [
        ('motors', *motors),
        ('late', WARN if held else OK, f'{held}: no sample; all torques are zero'
         if held else 'all devices respond again', ''),
        ('wheels', WARN if gate else OK, f'{gate}: they brake' if gate else 'driven', '')]


def device_statuses(prefix: str, robot: str, link: CardLink | None) -> list[DiagnosticStatus]:
    """
    Return a status for each device.

    Parameters
    ----------
    prefix : str
        Name of the node.
    robot : str
    link : CardLink or None
        None for a closed bus: no devices.
    """
    if link is None:
        return []
    now = time.monotonic()
    serials = {i.name: i.serial for i in link.identities}
    return [_status(prefix, robot, device, link, now, serials.get(device.name))
            for device in (*link.drives, *link.encoders)]


def _status(prefix: str, robot: str, device: Device, link: CardLink, now: float,
            serial: int | None) -> DiagnosticStatus:
    found = [*device.problems(now, link.settings)]
    problems = [f'{p.text}; {p.remedy}' for p in found]
    warning = device.warning()
    codes = ([card_code(p.kind, p.text) for p in found]
             or ([card_code('warning', warning)] if warning else []))
    level = ERROR if problems else WARN if warning else OK
    kind = 'drive' if isinstance(device, Drive) else 'encoder'
    values = {FAULT_CODES: joined(codes)} | _values(device) | {
        'network state': device.nmt.name if device.nmt is not None else 'unknown',
        'samples lost': device.lost, 'serial number': serial,
        'last sample [ms]': f'{1e3 * (now - device.sampled_at):.1f}'}
    return DiagnosticStatus(
        level=level, name=f'{prefix}/{device.joint}: {kind} (node {device.node_id})',
        message='; '.join(problems) or warning or 'OK', hardware_id=robot,
        values=[KeyValue(key=key, value=f'{value}') for key, value in values.items()])


def _values(device: Device) -> dict[str, object]:
    """Return the last values of a device."""
    if isinstance(device, Drive):
        torque = device.settings.units.torque(device.torque)
        return {'state': device.state.name, 'mode': mode_name(device.mode),
                'statusword': f'{device.statusword:04X}h',
                'error code': f'{device.error_code:04X}h',
                'supply voltage [V]': f'{device.voltage:.1f}',
                'temperature [°C]': device.temperature, 'torque [N·m]': f'{torque:.3f}'}
    assert isinstance(device, Encoder)
    return {'position [counts]': device.position, 'alarms': f'{device.alarms:04X}h',
            'warnings': f'{device.warnings:04X}h'}

