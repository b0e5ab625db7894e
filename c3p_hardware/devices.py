# SPDX-License-Identifier: Apache-2.0
"""
State of each device on the bus, from its frames alone.

A device is late when cycles pass without its sample, silent after `silence_timeout`, and duplicate
when more samples arrive than SYNCs were sent. `problems` yields these conditions, with device,
state and remedy; the supervisor decides.

If the master itself was delayed, no device is declared silent: the sample of the present cycle
counts however late the check runs, and a heartbeat is late only against the samples of its device.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from c3p_hardware.canopen.cia301 import (
    HEARTBEATS,
    NmtState,
    decode_emergency,
    emergency_text,
)
from c3p_hardware.canopen.cia402 import (
    VOLTAGE_ENABLED,
    WARNING,
    DriveState,
    mode_name,
    state_of,
)
from c3p_hardware.canopen.cia406 import alarm_texts, warning_texts
from c3p_hardware.canopen.process_data import DRIVE_SAMPLE, ENCODER_SAMPLE, drive_health
from c3p_hardware.problem import RECOVER, Problem
from c3p_hardware.settings import CardSettings, DriveSettings, EncoderSettings

# surplus of samples over SYNCs that proves a second device: one may be a frame repeated by the
# bus, and one precede the count
SURPLUS = 3

# groups of the error codes of sensors (first byte) and of communication (first digit), CiA 301/402
SENSOR_ERRORS = 0x73
COMMUNICATION_ERRORS = 0x8

_FAULTY = (DriveState.FAULT, DriveState.FAULT_REACTION_ACTIVE)

CABLE = 'check its power, cable and node id'


@dataclass
class Device:
    """
    Common part of drives and encoders: received frames and their times.

    Attributes
    ----------
    name : str
    node_id : int
    joint : str
    sampled_at : float
        Time of the last sample, s; -inf before the first.
    sampled : bool
        The sample of this cycle has been received.
    missed : int
        Finished cycles without a sample since the last one.
    lost, samples : int
        Total numbers of cycles without a sample, and of samples.
    nmt : NmtState or None
        Network state in the last heartbeat.
    heartbeat_at : float
        Time of the last heartbeat, s.
    emergency : str
        Text of the present emergency.
    """

    name: str
    node_id: int
    joint: str
    sampled_at: float = -math.inf
    sampled: bool = False
    missed: int = 0
    lost: int = 0
    samples: int = 0
    nmt: NmtState | None = None
    heartbeat_at: float = -math.inf
    emergency: str = ''
    _booted: bool = field(default=False, repr=False)
    _surplus: float = field(default=0, repr=False)
    _requested_at: float = field(default=math.inf, repr=False)

    @property
    def behind(self) -> int:
        """Cycles without a sample, including the present one; 0 with its sample."""
        return 0 if self.sampled else self.missed + 1

    def new_cycle(self, max_backlog: int, now: float) -> None:
        """
        Begin a cycle: the SYNC requests a sample.

        Samples are counted against cycles. Late samples may arrive all at once, at most
        `max_backlog` of them, so that samples lost long ago do not hide a second device. A second
        device with the same node id is detected after `SURPLUS` cycles in which both respond, and
        at most ``max_backlog + SURPLUS - 1`` after many lost samples: 15 ms and 70 ms at 200 Hz
        and a silence timeout of 50 ms. After more than `max_backlog` missing samples counting
        stops until `begin`: the device is silent, which is a fault already, and its late samples
        are not a second device.

        Parameters
        ----------
        max_backlog : int
            Samples that may be late: at least the cycles of `silence_timeout`.
        now : float, s
            Silence is measured from the request, so that a pause of the master does not count.
        """
        if self.sampled:
            self._requested_at = now
        else:
            self.missed += 1
            self.lost += 1
        self.sampled = False
        if self.missed > max_backlog:
            self._surplus = -math.inf
        elif self._surplus > -math.inf:
            self._surplus = max(self._surplus - 1, -max_backlog)

    def on_sample(self, data: bytes, now: float) -> None:
        """
        Take a sample at time `now`, s.

        Raises
        ------
        ValueError
            Another size than that of the layout.
        """
        self._read(data)
        self.sampled = True
        self.samples += 1
        self.missed = 0
        self.sampled_at = now
        self._surplus += 1

    def on_heartbeat(self, data: bytes, now: float) -> None:
        """
        Take a heartbeat, or the boot-up message of a restarted device.

        Raises
        ------
        ValueError
            An undefined state.
        """
        state = HEARTBEATS.get(bytes(data))
        if state is None:
            raise ValueError(f'heartbeat {bytes(data).hex(" ")}: undefined state; another device '
                             'may use this node id')
        self.nmt = state
        self._booted |= self.nmt == NmtState.INITIALISING
        self.heartbeat_at = now

    def on_emergency(self, data: bytes) -> None:
        """
        Take an emergency message; a reset message clears the emergency.

        Raises
        ------
        ValueError
            Not eight bytes.
        """
        emergency = decode_emergency(data)
        self.emergency = '' if emergency.is_reset else f'emergency: {emergency.text}'

    def begin(self, now: float) -> None:
        """Start monitoring at `now`, s: the device has just been configured."""
        self.sampled_at = self.heartbeat_at = self._requested_at = now
        self.nmt = NmtState.OPERATIONAL
        self.emergency = ''
        self._booted = False
        self._surplus = 0
        self.missed = 0
        self.sampled = True

    def _read(self, data: bytes) -> None:
        raise NotImplementedError

    def problems(self, now: float, settings: CardSettings) -> Iterator[Problem]:
        """Yield the problems at `now`."""
        if self._booted:
            yield Problem(self.name, 'reboot', 'it has restarted and lost its configuration, or '
                          'a second device has its node id', f'{CABLE}, {RECOVER}', True)
        elif self.nmt not in (NmtState.OPERATIONAL, None):
            yield Problem(self.name, 'nmt', f'it is {self.nmt.name}, not OPERATIONAL',
                          'it lost the heartbeat of this node or another master stopped it; '
                          f'{RECOVER}', True)
        if self._surplus >= SURPLUS:
            yield Problem(self.name, 'duplicate', 'more samples than SYNCs: two devices have this '
                          'node id, or another master sends SYNC',
                          f'give each device its own node id, {RECOVER}', True)
        silent = 0.0 if self.sampled else now - self._requested_at
        # against the samples, not the clock: a delayed master reads both late
        beatless = self.sampled_at - self.heartbeat_at
        if self.sampled_at == -math.inf:
            yield Problem(self.name, 'silence', 'no sample received yet', f'{CABLE}, {RECOVER}',
                          True)
        elif silent > settings.silence_timeout:
            yield Problem(self.name, 'silence', f'silent for {silent:.2f} s{self._last()}',
                          f'{CABLE}, {RECOVER}', True)
        elif beatless > settings.heartbeat_timeout:
            yield Problem(self.name, 'heartbeat', f'no heartbeat for {beatless:.2f} s'
                          f'{self._last()}', f'{CABLE}, {RECOVER}', True)
        if self.emergency:
            yield Problem(self.name, 'emergency', f'{self.emergency}{self._last()}',
                          f'see the manual of the device, {RECOVER}')

    def warning(self) -> str:
        """Return the warnings as text, empty without any."""
        raise NotImplementedError

    def _last(self) -> str:
        """Return the last state as text."""
        return ''


@dataclass
class Drive(Device):
    """
    Axis of a drive: of a driven joint, or one that is only read.

    One that is only read needs no motor: its faults and emergencies are warnings, unless they
    concern the counts.

    Attributes
    ----------
    settings : DriveSettings
    statusword, position, torque : int
        Last sample; counts and permille.
    mode, error_code, voltage, temperature : int, int, float, float
        Last slow PDO; V and °C; 0, 0 and NaN before the first.
    ramp : float, rad/s²
        Deceleration of the joint in a quick stop (6085h), inf when unknown.
    """

    settings: DriveSettings = field(kw_only=True)
    statusword: int = 0
    position: int = 0
    torque: int = 0
    mode: int = 0
    error_code: int = 0
    voltage: float = math.nan
    temperature: float = math.nan
    ramp: float = math.inf

    @classmethod
    def of(cls, settings: DriveSettings) -> Drive:
        """Return a drive without samples."""
        return cls(settings.name, settings.node_id, settings.joint, settings=settings)

    def __post_init__(self) -> None:
        """Compile the layout of the slow PDO."""
        self._health = drive_health(self.settings.temperature_index,
                                    self.settings.temperature_subindex)

    @property
    def state(self) -> DriveState:
        """State of the CiA 402 state machine in the last sample."""
        return state_of(self.statusword)

    def _read(self, data: bytes) -> None:
        self.statusword, self.position, self.torque = DRIVE_SAMPLE.unpack(data)

    def begin(self, now: float) -> None:
        """Start monitoring, as `Device.begin`."""
        super().begin(now)
        self.statusword = self.torque = self.mode = self.error_code = 0
        self.voltage = self.temperature = math.nan

    def on_emergency(self, data: bytes) -> None:
        """Take an emergency message, as `Device.on_emergency`."""
        super().on_emergency(data)
        if not self.settings.driven and not _counts_concerned(decode_emergency(data).code):
            self.emergency = ''

    def know_ramp(self, counts: int) -> None:
        """Take the deceleration of the quick stop, 6085h [counts/s²]; 0 for an unknown one."""
        self.ramp = counts * self.settings.units.angle_resolution if counts else math.inf

    def on_health(self, data: bytes) -> None:
        """Take the slow PDO."""
        self.mode, self.error_code, millivolts, self.temperature = self._health.unpack(data)
        self.voltage = 1e-3 * millivolts

    def problems(self, now: float, settings: CardSettings) -> Iterator[Problem]:
        """Yield the problems at `now`."""
        yield from super().problems(now, settings)
        if not self.settings.driven:
            yield from self._read_problems()
            return
        if self.state in _FAULTY:
            cause = emergency_text(self.error_code) if self.error_code else 'no error code yet'
            yield Problem(self.name, 'fault', f'{self.state.name}: {cause}',
                          f'remove the cause, {RECOVER}')
        # before the first slow PDO the mode is the one that was read back at configuration
        if self.mode != self.settings.mode and not math.isnan(self.voltage):
            yield Problem(self.name, 'mode', f'its mode is {mode_name(self.mode)}, not '
                          f'{mode_name(self.settings.mode)}{self._last()}', 'another master '
                          f'writes 6060h; stop it, {RECOVER}', True)

    def _read_problems(self) -> Iterator[Problem]:
        """Yield the problems of an axis that is only read."""
        if self.state == DriveState.OPERATION_ENABLED:
            yield Problem(self.name, 'enabled', 'it is enabled, but has no motor in the '
                          'description', f'another master enabled it; stop it, {RECOVER}', True)
        if self.state in _FAULTY and _counts_concerned(self.error_code):
            yield Problem(self.name, 'fault', f'{self.state.name}: '
                          f'{emergency_text(self.error_code)}', 'check the encoder and its '
                          f'cable, {RECOVER}')

    def left(self) -> Problem | None:
        """Return a problem when the armed drive is no longer enabled."""
        return self._not_enabled('it left OPERATION_ENABLED on its own')

    def refused(self, waited: float) -> Problem | None:
        """Return a problem when the drive is not enabled `waited` seconds after arming."""
        return self._not_enabled(f'it did not reach OPERATION_ENABLED in {waited:.1f} s')

    def _not_enabled(self, what: str) -> Problem | None:
        if self.state == DriveState.OPERATION_ENABLED:
            return None
        power = '' if self.statusword & VOLTAGE_ENABLED else ', no voltage at the power stage'
        remedy = ('check the motor supply and the STO inputs' if power
                  else 'read its error history (1003h)')
        return Problem(self.name, 'left', f'{what}: {self.state.name}{power}',
                       f'{remedy}, {RECOVER}')

    def warning(self) -> str:
        """Return the warning of the statusword as text, empty without one."""
        if not self.settings.driven and self.state in _FAULTY:
            return (f'{self.state.name}: {emergency_text(self.error_code)}; the axis is only read'
                    if self.error_code else f'{self.state.name}; the axis is only read')
        return 'the drive warns (statusword bit 7)' if self.statusword & WARNING else ''

    def _last(self) -> str:
        return f' in {self.state.name}'


def _counts_concerned(code: int) -> bool:
    """Return True for the error codes of sensors (73xxh) and communication (8xxxh)."""
    return code >> 8 == SENSOR_ERRORS or code >> 12 == COMMUNICATION_ERRORS


@dataclass
class Encoder(Device):
    """
    Encoder of a steering axis, or of a wheel without a drive.

    Attributes
    ----------
    settings : EncoderSettings
    position, alarms, warnings : int
        Last sample.
    """

    settings: EncoderSettings = field(kw_only=True)
    position: int = 0
    alarms: int = 0
    warnings: int = 0

    @classmethod
    def of(cls, settings: EncoderSettings) -> Encoder:
        """Return an encoder without samples."""
        return cls(settings.name, settings.node_id, settings.joint, settings=settings)

    def begin(self, now: float) -> None:
        """Start monitoring, as `Device.begin`."""
        super().begin(now)
        self.position = self.alarms = self.warnings = 0

    def _read(self, data: bytes) -> None:
        self.position, self.alarms, self.warnings = ENCODER_SAMPLE.unpack(data)

    def problems(self, now: float, settings: CardSettings) -> Iterator[Problem]:
        """Yield the problems at `now`."""
        yield from super().problems(now, settings)
        if self.alarms:
            yield Problem(self.name, 'alarm', f'alarm {", ".join(alarm_texts(self.alarms))}',
                          f'clean or replace the encoder, {RECOVER}')
        if self.position >= self.settings.range:
            yield Problem(self.name, 'range', f'position {self.position}: must be below '
                          f'{self.settings.range}', 'correct encoders.counts and encoders.range, '
                          f'{RECOVER}')

    def warning(self) -> str:
        """Return the warnings as text."""
        return ', '.join(warning_texts(self.warnings))
