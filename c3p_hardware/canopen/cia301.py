# SPDX-License-Identifier: Apache-2.0
"""
CiA 301 messages of every CANopen device: network states, emergencies, aborts, device types.

Error codes are the classes of CiA 301 and the codes that CiA 402 adds (603Fh has the same
numbers); kinds of encoders are those of CiA 406.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from enum import IntEnum


class NmtCommand(IntEnum):
    """First byte of a frame with identifier 0; the second is a node id, 0 for all."""

    START = 1
    STOP = 2
    ENTER_PRE_OPERATIONAL = 128
    RESET_NODE = 129
    RESET_COMMUNICATION = 130


class NmtState(IntEnum):
    """Network state in a heartbeat; INITIALISING is the boot-up message."""

    INITIALISING = 0
    STOPPED = 4
    OPERATIONAL = 5
    PRE_OPERATIONAL = 127


class ErrorBehaviour(IntEnum):
    """1029h:1: network state of a device after the loss of its master or another error."""

    PRE_OPERATIONAL = 0
    NO_CHANGE = 1
    STOPPED = 2


def nmt_message(command: NmtCommand, node_id: int = 0) -> bytes:
    """Return the data of the NMT frame with `command` for `node_id`, 0 for all nodes."""
    if not 0 <= node_id <= 127:
        raise ValueError(f'node id = {node_id}: must be 1 to 127, or 0 for all nodes')
    return bytes((command, node_id))


# data of a heartbeat: network state; bit 7, the toggle of node guarding, is ignored
HEARTBEATS = {bytes([state | toggle]): state for state in NmtState for toggle in (0, 0x80)}


def heartbeat_consumer(node_id: int, milliseconds: int) -> int:
    """
    Return the value of 1016h, the timeout of the heartbeat of `node_id`.

    ``node_id · 2¹⁶ + milliseconds``; CiA 301, 7.5.2.19.

    >>> f'{heartbeat_consumer(127, 150):08X}'
    '007F0096'

    Raises
    ------
    ValueError
        A time of 0, which disables the timeout, or a value out of range.
    """
    if not 1 <= node_id <= 127:
        raise ValueError(f'node id = {node_id}: must be 1 to 127')
    if not (1 <= milliseconds <= 0xFFFF and milliseconds == int(milliseconds)):
        raise ValueError(f'heartbeat time = {milliseconds} ms: must be a whole number from 1 to '
                         '65535; 0 disables the timeout')
    return node_id << 16 | int(milliseconds)


_EMERGENCY = struct.Struct('<HB5s')


@dataclass(frozen=True)
class Emergency:
    """
    Content of an emergency message.

    Attributes
    ----------
    code : int
        As 603Fh; 0000h to 00FFh resets earlier ones.
    register : int
        Error register, 1001h.
    vendor : bytes (5,)
    """

    code: int
    register: int = 0
    vendor: bytes = bytes(5)

    @property
    def is_reset(self) -> bool:
        """True when all errors are gone."""
        return self.code >> 8 == 0

    @property
    def text(self) -> str:
        """The code in words, as `emergency_text`."""
        return emergency_text(self.code)

    def pack(self) -> bytes:
        """Return the eight bytes of the message."""
        return _EMERGENCY.pack(self.code, self.register, self.vendor)


def decode_emergency(data: bytes) -> Emergency:
    """
    Return the content of an emergency message.

    Raises
    ------
    ValueError
        Not eight bytes.
    """
    if len(data) != _EMERGENCY.size:
        raise ValueError(f'emergency message of {len(data)} bytes: must be {_EMERGENCY.size}')
    return Emergency(*_EMERGENCY.unpack(data))


# mask: {code & mask: words}; looked up from the narrowest to the widest
_CODES: dict[int, dict[int, str]] = {
    0xFFFF: {
        0x2320: 'short circuit or earth leakage',
        0x2311: 'continuous over-current no. 1', 0x2312: 'continuous over-current no. 2',
        0x2330: 'earth leakage', 0x2340: 'short circuit between phases',
        0x2350: 'load level fault (I²t, thermal state)',
        0x2351: 'load level warning (I²t, thermal state)',
        0x3130: 'phase failure', 0x3211: 'over-voltage of the DC link no. 1',
        0x3221: 'under-voltage of the DC link no. 1',
        0x3230: 'load error', 0x3310: 'output over-voltage', 0x3331: 'field circuit interrupted',
        0x4110: 'excess ambient temperature', 0x4120: 'too low ambient temperature',
        0x4210: 'over-temperature of the device', 0x4220: 'too low temperature of the device',
        0x4310: 'over-temperature of the drive', 0x4320: 'too low temperature of the drive',
        0x5110: 'under-voltage of the electronics supply', 0x5112: 'under-voltage of +24 V',
        0x5113: 'under-voltage of +5 V', 0x5210: 'error of the measuring circuit',
        0x5400: 'error of the power section', 0x5410: 'error of the output stages',
        0x5430: 'error of the input stages', 0x5440: 'error of the contacts',
        0x5530: 'error of the non-volatile memory',
        0x6010: 'software reset by the watchdog', 0x6320: 'parameter error',
        0x7110: 'error of the brake chopper', 0x7121: 'motor blocked',
        0x7122: 'motor error or wrong commutation', 0x7123: 'motor tilted',
        0x7301: 'tachometer fault',
        0x7305: 'incremental encoder 1 fault', 0x7306: 'incremental encoder 2 fault',
        0x7310: 'speed error', 0x7320: 'position sensor error',
        0x7500: 'error of the communication', 0x7600: 'error of the data storage',
        0x8110: 'CAN overrun: frames were lost', 0x8120: 'CAN controller is error passive',
        0x8130: 'heartbeat or life guard was missed', 0x8140: 'recovered from bus-off',
        0x8150: 'another device sends with the identifier of this one',
        0x8210: 'PDO not processed: too short', 0x8220: 'PDO longer than mapped',
        0x8230: 'PDO not processed: destination object not available',
        0x8240: 'SYNC with unexpected length', 0x8250: 'PDO did not come in time',
        0x8311: 'excess torque', 0x8312: 'difficult start-up', 0x8313: 'standstill torque',
        0x8321: 'insufficient torque', 0x8331: 'torque fault', 0x8400: 'velocity controller',
        0x8500: 'position controller', 0x8600: 'positioning controller',
        0x8611: 'following error', 0x8612: 'reference limit',
        0xF001: 'deceleration', 0xF002: 'sub-synchronous run', 0xF003: 'stroke operation',
        0xF004: 'control',
    },
    0xFFF0: {0x2310: 'continuous over-current', 0x3110: 'mains over-voltage',
             0x3120: 'mains under-voltage', 0x3210: 'over-voltage of the DC link',
             0x3220: 'under-voltage of the DC link', 0x7120: 'motor error',
             0x7300: 'sensor error'},
    0xFF00: {
        0x2100: 'current, input side', 0x2200: 'current inside the device',
        0x2300: 'current, output side', 0x3100: 'mains voltage',
        0x3200: 'voltage inside the device', 0x3300: 'output voltage',
        0x4100: 'ambient temperature', 0x4200: 'device temperature', 0x4300: 'drive temperature',
        0x5100: 'supply', 0x5200: 'control hardware', 0x5400: 'power section',
        0x6100: 'internal software', 0x6200: 'user software', 0x6300: 'data set',
        0x7100: 'power', 0x7300: 'sensor', 0x7500: 'communication',
        0x8100: 'communication', 0x8200: 'protocol error', 0x8300: 'torque control',
        0x8400: 'velocity control', 0x8500: 'position control', 0x8600: 'positioning',
    },
    0xF000: {
        0x0000: 'no error', 0x1000: 'generic error', 0x2000: 'current', 0x3000: 'voltage',
        0x4000: 'temperature', 0x5000: 'device hardware', 0x6000: 'device software',
        0x7000: 'additional modules', 0x8000: 'monitoring', 0x9000: 'external error',
        0xF000: 'additional functions',
    },
}


def emergency_text(code: int) -> str:
    """
    Return an error code (603Fh, emergency message) in words, with its number.

    The text is that of the narrowest known class, as manufacturers add codes inside classes.

    >>> emergency_text(0x8130), emergency_text(0x431F)
    ('heartbeat or life guard was missed (8130h)', 'drive temperature (431Fh)')
    """
    if code & 0xFF00 == 0xFF00:
        return f"manufacturer's own ({code:04X}h)"
    text = next((names[code & mask] for mask, names in _CODES.items() if code & mask in names),
                'reserved code')
    return f'{text} ({code:04X}h)'


_ABORTS = {
    0x05030000: 'toggle bit not alternated',
    0x05040000: 'SDO timed out',
    0x05040001: 'unknown command specifier',
    0x05040002: 'block size not valid',
    0x05040003: 'sequence number not valid',
    0x05040004: 'wrong CRC',
    0x05040005: 'out of memory',
    0x06010000: 'this access is not supported',
    0x06010001: 'object is write only',
    0x06010002: 'object is read only',
    0x06020000: 'object does not exist',
    0x06040041: 'object cannot be mapped to a PDO',
    0x06040042: 'mapped objects are longer than a PDO',
    0x06040043: 'parameters do not fit together',
    0x06040047: 'internal incompatibility of the device',
    0x06060000: 'hardware error',
    0x06070010: 'wrong length of the data',
    0x06070012: 'data too long',
    0x06070013: 'data too short',
    0x06090011: 'subindex does not exist',
    0x06090030: 'value not allowed',
    0x06090031: 'value too great',
    0x06090032: 'value too small',
    0x06090036: 'maximum is less than minimum',
    0x060A0023: 'resource not available: no SDO connection',
    0x08000000: 'general error',
    0x08000020: 'data cannot be transferred or stored',
    0x08000021: 'data cannot be transferred or stored: local control',
    0x08000022: 'data cannot be transferred or stored in this state of the device',
    0x08000023: 'no object dictionary, or it could not be generated',
    0x08000024: 'no data',
}


def abort_text(code: int) -> str:
    """Return the reason of an SDO abort, with its code; CiA 301, 7.2.4.3.17."""
    return f'{_ABORTS.get(code, "unknown reason")} ({code:08X}h)'


PROFILE_DRIVE = 402
PROFILE_ENCODER = 406
PROFILES = {0: 'no standard profile', 401: 'input/output device', 404: 'measuring device',
            408: 'hydraulic drive', 410: 'inclinometer', 418: 'battery module',
            PROFILE_DRIVE: 'drive', PROFILE_ENCODER: 'encoder'}
_DRIVES = ('frequency converter', 'servo drive', 'stepper motor')
_ENCODERS = {1: 'single-turn absolute', 2: 'multi-turn absolute',
             3: 'single-turn absolute with turns counted', 4: 'incremental',
             5: 'incremental with turns counted', 6: 'linear incremental',
             7: 'linear incremental with cycles counted', 8: 'linear absolute',
             9: 'linear absolute, cyclic', 10: 'several sensors'}


@dataclass(frozen=True)
class DeviceType:
    """
    Device type (1000h): `profile` in the low half, `additional` information in the high half.

    >>> str(DeviceType.decode(0x00020192)), str(DeviceType.decode(0x00010196))
    ('drive (CiA 402): servo drive', 'encoder (CiA 406): single-turn absolute')
    """

    profile: int
    additional: int = 0

    @classmethod
    def decode(cls, value: int) -> DeviceType:
        """Return the parts of the u32 in 1000h."""
        return cls(value & 0xFFFF, value >> 16 & 0xFFFF)

    def __str__(self) -> str:
        """Return profile and kind in words."""
        name = f'{PROFILES.get(self.profile, "device")} (CiA {self.profile})'
        if self.profile == PROFILE_DRIVE:
            kinds = [kind for bit, kind in enumerate(_DRIVES) if self.additional >> bit & 1]
        elif self.profile == PROFILE_ENCODER:
            kinds = [_ENCODERS[self.additional]] if self.additional in _ENCODERS else []
        else:
            return PROFILES[0] if self.profile == 0 else name
        return f'{name}: {", ".join(kinds)}' if kinds else name
