# SPDX-License-Identifier: Apache-2.0
"""
What the master knows of each device on the bus, from its frames alone.

A device is late when cycles pass without its sample, silent after `silence_timeout`, and doubled
when more samples come than were asked for. Nothing here decides; `problems` tells what is wrong,
in words that name the device, its state and the remedy.

A master that was itself held up accuses nobody: a device that has answered this cycle is not
silent however late one looks, and its heartbeat is late only against its own samples.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field

from c3p_hardware.canopen.cia301 import NmtState, decode_emergency, emergency_text, heartbeat_state
from c3p_hardware.canopen.cia402 import (
    MODE_CST,
    VOLTAGE_ENABLED,
    WARNING,
    DriveState,
    mode_name,
    state_of,
)
from c3p_hardware.canopen.cia406 import alarm_texts, warning_texts
from c3p_hardware.canopen.process_data import DRIVE_SAMPLE, ENCODER_SAMPLE, drive_health
from c3p_hardware.settings import CardSettings, DriveSettings, EncoderSettings

# samples more than SYNCs that mean that two devices answer: one may be a frame repeated by the
# bus, and one of before the count began
SURPLUS = 3

CABLE = 'check its power, cable and node id'
RECOVER = 'then call ~/recover and ~/enable'


@dataclass(frozen=True)
class Problem:
    """
    Why the robot must not move.

    Attributes
    ----------
    device : str
        Its name with joint and node id; ``bus`` for the bus itself.
    kind : str
        One word for tables: ``silence``, ``reboot`` and so on.
    text, remedy : str
        What is wrong, with values, and what to do.
    configure : bool
        The device has lost its configuration: it must be configured again before it may be used.
    """

    device: str
    kind: str
    text: str
    remedy: str
    configure: bool = False

    def __str__(self) -> str:
        """Return it as one sentence."""
        return f'{self.device}: {self.text}; {self.remedy}'


@dataclass
class Device:
    """
    The part that drives and encoders share; memory of what came and when.

    Attributes
    ----------
    name : str
    node_id : int
    joint : str
    heard : float
        Time of the last sample, s; -inf before the first.
    sampled : bool
        The sample of this cycle has come.
    missed : int
        Finished cycles without a sample since the last one.
    lost : int
        Cycles without a sample altogether.
    nmt : NmtState or None
        As its last heartbeat says.
    heartbeat : float
        Time of the last heartbeat, s.
    emergency : str
        The present emergency in words.
    """

    name: str
    node_id: int
    joint: str
    heard: float = -math.inf
    sampled: bool = False
    missed: int = 0
    lost: int = 0
    nmt: NmtState | None = None
    heartbeat: float = -math.inf
    emergency: str = ''
    _booted: bool = field(default=False, repr=False)
    _surplus: float = field(default=0, repr=False)
    _asked: float = field(default=math.inf, repr=False)

    @property
    def behind(self) -> int:
        """Cycles without a sample, with the present one: 0 when its sample has come."""
        return 0 if self.sampled else self.missed + 1

    def new_cycle(self, patience: int, now: float) -> None:
        """
        Begin a cycle: a sample is asked for.

        Samples are counted against cycles, and those that are owed may still come all at once:
        at most `patience` of them, so that samples lost long ago do not excuse a second device.
        One of the same node id is thus found after `SURPLUS` cycles in which both answer, at most
        ``patience + SURPLUS - 1`` when many samples were lost before: 15 ms and 70 ms at 200 Hz
        and a silence of 50 ms. A device that was missing for more than `patience` cycles has lost
        count until `begin`; it is silent, which is a fault already, and its backlog is no second
        device.

        Parameters
        ----------
        patience : int
            Samples that it may be behind: at least the cycles of `silence_timeout`.
        now : float, s
            Silence begins with a question: a master that paused has nobody to blame.
        """
        if self.sampled:
            self._asked = now
        else:
            self.missed += 1
            self.lost += 1
        self.sampled = False
        if self.missed > patience:
            self._surplus = -math.inf
        elif self._surplus > -math.inf:
            self._surplus = max(self._surplus - 1, -patience)

    def on_sample(self, data: bytes, now: float) -> None:
        """
        Take a sample at time `now`, s.

        Raises
        ------
        ValueError
            It has not the size of the layout.
        """
        self._read(data)
        self.sampled, self.missed, self.heard = True, 0, now
        self._surplus += 1

    def on_heartbeat(self, data: bytes, now: float) -> None:
        """
        Take a heartbeat, or the boot-up message of a device that has begun anew.

        Raises
        ------
        ValueError
            No state that there is.
        """
        self.nmt = heartbeat_state(data)
        self._booted |= self.nmt == NmtState.INITIALISING
        self.heartbeat = now

    def on_emergency(self, data: bytes) -> None:
        """
        Take an emergency message; one that takes back says that all errors are gone.

        Raises
        ------
        ValueError
            Not eight bytes.
        """
        emergency = decode_emergency(data)
        self.emergency = '' if emergency.is_reset else f'emergency: {emergency.text}'

    def begin(self, now: float) -> None:
        """Forget what was before `now`, s: it has just been configured."""
        self.heard = self.heartbeat = self._asked = now
        self.nmt, self.emergency, self._booted = NmtState.OPERATIONAL, '', False
        self._surplus, self.missed, self.sampled = 0, 0, True

    def _read(self, data: bytes) -> None:
        raise NotImplementedError

    def problems(self, now: float, settings: CardSettings) -> Iterator[Problem]:
        """Yield what is wrong with it at `now`."""
        if self._booted:
            yield Problem(self.name, 'reboot', 'it has started anew and lost its configuration, '
                          'or a second device has its node id', f'{CABLE}, {RECOVER}', True)
        elif self.nmt not in (NmtState.OPERATIONAL, None):
            yield Problem(self.name, 'nmt', f'it is {self.nmt.name}, not OPERATIONAL',
                          f'it has missed our heartbeat or somebody stopped it; {RECOVER}', True)
        if self._surplus >= SURPLUS:
            yield Problem(self.name, 'duplicate', 'more samples come than are asked for: two '
                          'devices have this node id, or somebody else sends SYNC',
                          f'give each device its own node id, {RECOVER}', True)
        silent = 0.0 if self.sampled else now - self._asked
        beatless = self.heard - self.heartbeat
        if self.heard == -math.inf:
            yield Problem(self.name, 'silence', 'it has never answered', f'{CABLE}, {RECOVER}',
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

    def _last(self) -> str:
        return ''


@dataclass
class Drive(Device):
    """
    A wheel's drive.

    Attributes
    ----------
    settings : DriveSettings
    statusword, position, torque : int
        Of the last sample: counts and per-mille.
    mode, error_code, voltage, temperature : int, int, float, float
        Of the slow PDO: V and °C; 0, 0 and NaN before the first.
    """

    settings: DriveSettings | None = None
    statusword: int = 0
    position: int = 0
    torque: int = 0
    mode: int = 0
    error_code: int = 0
    voltage: float = math.nan
    temperature: float = math.nan

    @classmethod
    def of(cls, settings: DriveSettings) -> Drive:
        """Return the drive of these settings, never heard of."""
        return cls(settings.name, settings.node_id, settings.joint, settings=settings)

    def __post_init__(self) -> None:
        """Compile the layout of the slow PDO."""
        self._health = drive_health(self.settings.temperature_index,
                                    self.settings.temperature_subindex)

    @property
    def state(self) -> DriveState:
        """State of the CiA 402 machine in its last sample."""
        return state_of(self.statusword)

    @property
    def warns(self) -> bool:
        """Its statusword has the warning bit."""
        return bool(self.statusword & WARNING)

    def _read(self, data: bytes) -> None:
        self.statusword, self.position, self.torque = DRIVE_SAMPLE.unpack(data)

    def begin(self, now: float) -> None:
        """Forget what was before `now`, s: it has just been configured."""
        super().begin(now)
        self.statusword = self.torque = self.mode = self.error_code = 0
        self.voltage = self.temperature = math.nan

    def on_health(self, data: bytes) -> None:
        """Take the slow PDO."""
        self.mode, self.error_code, millivolts, self.temperature = self._health.unpack(data)
        self.voltage = 1e-3 * millivolts

    def problems(self, now: float, settings: CardSettings) -> Iterator[Problem]:
        """Yield what is wrong with it at `now`."""
        yield from super().problems(now, settings)
        if self.state in (DriveState.FAULT, DriveState.FAULT_REACTION_ACTIVE):
            cause = emergency_text(self.error_code) if self.error_code else 'no error code yet'
            yield Problem(self.name, 'fault', f'{self.state.name}: {cause}',
                          f'remove the cause, {RECOVER}')
        # before its first slow PDO it is in the mode that was read back when it was configured
        if self.mode != MODE_CST and not math.isnan(self.voltage):
            yield Problem(self.name, 'mode', f'its mode is {mode_name(self.mode)}, not cyclic '
                          f'synchronous torque{self._last()}', 'somebody else writes 6060h to '
                          f'it; stop them, {RECOVER}', True)

    def left(self) -> Problem | None:
        """Return why it no longer holds its wheel, None while it does."""
        return self._not_enabled('it left OPERATION_ENABLED by itself')

    def refused(self, waited: float) -> Problem | None:
        """Return why it does not hold its wheel `waited` seconds after arming, None if it does."""
        return self._not_enabled(f'it did not reach OPERATION_ENABLED in {waited:.1f} s')

    def _not_enabled(self, what: str) -> Problem | None:
        if self.state == DriveState.OPERATION_ENABLED:
            return None
        power = '' if self.statusword & VOLTAGE_ENABLED else ', no voltage at the power stage'
        remedy = ('check the motor supply and the STO inputs' if power
                  else 'read its error history (1003h)')
        return Problem(self.name, 'left', f'{what}: {self.state.name}{power}',
                       f'{remedy}, {RECOVER}')

    def _last(self) -> str:
        return f' in {self.state.name}'


@dataclass
class Encoder(Device):
    """
    A steering axis' encoder.

    Attributes
    ----------
    settings : EncoderSettings
    position, alarms, warnings : int
        Of the last sample.
    """

    settings: EncoderSettings | None = None
    position: int = 0
    alarms: int = 0
    warnings: int = 0

    @classmethod
    def of(cls, settings: EncoderSettings) -> Encoder:
        """Return the encoder of these settings, never heard of."""
        return cls(settings.name, settings.node_id, settings.joint, settings=settings)

    def begin(self, now: float) -> None:
        """Forget what was before `now`, s: it has just been configured."""
        super().begin(now)
        self.position = self.alarms = self.warnings = 0

    def _read(self, data: bytes) -> None:
        self.position, self.alarms, self.warnings = ENCODER_SAMPLE.unpack(data)

    def problems(self, now: float, settings: CardSettings) -> Iterator[Problem]:
        """Yield what is wrong with it at `now`."""
        yield from super().problems(now, settings)
        if self.alarms:
            yield Problem(self.name, 'alarm', f'alarm {", ".join(alarm_texts(self.alarms))}',
                          f'clean or replace the encoder, {RECOVER}')
        if self.position >= self.settings.range:
            yield Problem(self.name, 'range', f'position {self.position}: must be below '
                          f'{self.settings.range}', 'correct encoders.counts and encoders.range, '
                          f'{RECOVER}')

    def warning(self) -> str:
        """Return its warnings in words."""
        return ', '.join(warning_texts(self.warnings))
