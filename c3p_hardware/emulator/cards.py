# SPDX-License-Identifier: Apache-2.0
"""
Emulated motor cards and encoders of a robot on one bus, with a simulated robot.

A single thread reads frames, steps the robot and the devices. `run` follows the clock; `advance`
simulates a given time, reproducibly: the same frames give the same bits.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from typing import Any, Protocol

import can
import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_hardware.canopen.process_data import NMT_ID, SYNC_ID
from c3p_hardware.emulator.axes import EmulatedDevices, make_drives, make_encoders
from c3p_hardware.emulator.faults import Fault, FaultSchedule, affected, parse_faults
from c3p_hardware.emulator.profiles import EmulatedDevice

# longest step of the robot and of the timers of the devices, s
TICK = 1e-3
# shortest step, s; a shorter time waits for the next one: ten frames take half a millisecond
SHORTEST_STEP = 1e-4
# remainder of a given time that is rounding, s
INSTANT = 1e-9

# longest pause of the process that is caught up, s; the rest is dropped
LONGEST_CATCH_UP = 0.05
# time between two reads of a failing bus, s
BUS_RETRY = 0.01


class FrameBus(Protocol):
    """The part of a python-can bus that the cards use."""

    def recv(self, timeout: float | None = None) -> can.Message | None:
        """Return the next frame within `timeout`, s; None without one."""

    def send(self, message: can.Message, /) -> None:
        """Send a frame."""


class TrueJoints(Protocol):
    """True joints (n,) of the model, rad and rad/s; angles are not wrapped."""

    @property
    def steering(self) -> Array:
        """θ_s."""

    @property
    def steering_rate(self) -> Array:
        """Rates of the steering joints."""

    @property
    def wheel_angle(self) -> Array:
        """θ_x."""

    @property
    def wheel_rate(self) -> Array:
        """Rates of the wheels."""


class RobotPlant(Protocol):
    """A robot that takes wheel torques, such as the plants of the simulation."""

    @property
    def robot(self) -> CasterRobot:
        """Model of the robot."""

    def sense(self) -> TrueJoints:
        """Return the present joints."""

    def step(self, wheel_torque: ArrayLike, dt: float) -> TrueJoints | None:
        """Apply `wheel_torque` (efforts,) N·m for `dt` seconds; the joints then, if sampled."""

    def truth(self) -> Any:
        """Return the present pose and twist."""


class EmulatedCards:
    """
    Devices of a robot on `bus`, which drive `plant`.

    Parameters
    ----------
    bus : can.BusABC
    plant : RobotPlant
        With ideal sensors, as the cards emulate counts and delays.
    settings : EmulatedDevices, optional
    faults : str
        Script, see `faults.py`.

    Attributes
    ----------
    devices : dict of str to EmulatedDevice
        ``drive1`` … and ``encoder1`` …, in the order of the settings; a card with several channels
        is one of them.
    time : float, s
        Time of the cards and the robot, since the start.
    truth : GroundTruth
    sample : TrueJoints
    syncs, missed_syncs : int
        SYNC frames with and without response; the newest waiting one gets it.
    dropped : int
        Frames rejected by the bus.
    pauses, lost_time : int and float, s
        Number and total duration of pauses of the process.

    Raises
    ------
    ValueError
        Equal node ids, or settings for another number of axes.
    """

    def __init__(self, bus: FrameBus, plant: RobotPlant,
                 settings: EmulatedDevices | None = None, faults: str = '') -> None:
        """Boot the devices."""
        self._bus = bus
        self.plant = plant
        self.drives, self._axes = make_drives(settings or EmulatedDevices(), plant.robot,
                                              self._send)
        self.encoders, self._angles = make_encoders(settings or EmulatedDevices(), plant.robot,
                                                    self._send)
        # bus arbitration: the smaller identifier is sent first
        self._all: list[EmulatedDevice] = sorted([*self.drives, *self.encoders],
                                                 key=lambda d: d.id)
        self.devices = {device.name: device for device in (*self.drives, *self.encoders)}
        if len({device.id for device in self._all}) != len(self._all):
            raise ValueError(f'node ids {[device.id for device in self._all]}: must be different')
        self.time = 0.0
        self.syncs = self.missed_syncs = self.dropped = self.pauses = 0
        self.lost_time = 0.0
        self._injected: deque[Fault] = deque()
        self._schedule = FaultSchedule(
            tuple(self.devices), lambda f, name: self.devices[name].begin(f, self.time),
            lambda f, name: self.devices[name].end(f, self.time))
        self.inject(faults)
        self._see(plant.sense())
        for device in self._all:
            device.boot(0.0)

    @property
    def present_faults(self) -> tuple[str, ...]:
        """Present faults as ``kind:device``."""
        return self._schedule.present

    def inject(self, faults: str | Fault) -> None:
        """
        Add faults, from any thread; those with a past time begin now.

        FaultError for an invalid script, or a device without this fault.
        """
        given = parse_faults(faults) if isinstance(faults, str) else (faults,)
        for fault in given:
            affected(fault, tuple(self.devices))
        self._injected.extend(given)

    def advance(self, seconds: float) -> None:
        """Take waiting frames and simulate a given time in steps of 1 ms."""
        end = self.time + seconds
        while end - self.time > INSTANT:
            self._take(self._waiting(0.0))
            self._step(min(TICK, end - self.time))

    def run(self, stop: threading.Event) -> None:
        """Follow the clock until `stop` is set; a failing bus is read again."""
        zero = time.monotonic() - self.time
        while not stop.is_set():
            try:
                frames = self._waiting(max(0.0, self.time + TICK - (time.monotonic() - zero)))
            except can.CanError:
                frames = []
                stop.wait(BUS_RETRY)
            ahead = time.monotonic() - zero - self.time
            if ahead > LONGEST_CATCH_UP:
                # the robot does not move while it cannot be commanded
                self.pauses += 1
                self.lost_time += ahead - LONGEST_CATCH_UP
                zero += ahead - LONGEST_CATCH_UP
                ahead = LONGEST_CATCH_UP
            if ahead >= SHORTEST_STEP:
                steps = int(np.ceil(ahead / TICK - INSTANT))
                for _ in range(steps):
                    self._step(ahead / steps)
            self._take(frames, live=True)

    def _waiting(self, timeout: float) -> list[can.Message]:
        """Return all waiting frames, after at most `timeout` seconds for the first."""
        frames = []
        message = self._bus.recv(timeout)
        while message is not None:
            frames.append(message)
            message = self._bus.recv(0)
        return frames

    def _take(self, frames: list[can.Message], live: bool = False) -> None:
        """
        Give the frames to the devices, of several SYNCs the newest alone.

        A device samples when SYNC is on the bus, but this process reads SYNC later. When `live`,
        the samples are those at the time of the frame.
        """
        syncs = [i for i, frame in enumerate(frames) if frame.arbitration_id == SYNC_ID]
        self.missed_syncs += max(0, len(syncs) - 1)
        for i, frame in enumerate(frames):
            if frame.is_extended_id or frame.is_remote_frame or frame.is_error_frame:
                continue
            number = frame.arbitration_id
            data = bytes(frame.data)
            receivers = [d for d in self._all if d.connected and d.alive]
            if number == SYNC_ID:
                if i == syncs[-1]:
                    self.syncs += 1
                    self._turn(min(max(0.0, time.time() - frame.timestamp), LONGEST_CATCH_UP)
                               if live else 0.0)
                    for device in receivers:
                        device.sync(self.time)
                    self._turn(0.0)
            elif number == NMT_ID:
                if len(data) == 2:
                    for device in receivers:
                        if data[1] in (0, device.id):
                            device.command(data[0], self.time)
            else:
                for device in receivers:
                    device.receive(number, data, self.time)

    def _step(self, dt: float) -> None:
        """Step motors and robot by `dt`, then the devices."""
        sample = self.sample
        angle, rate = _joints(sample.wheel_angle, sample.steering), _joints(
            sample.wheel_rate, sample.steering_rate)
        # wheels, then steering joints
        torques = np.zeros(len(angle))
        for axis in self._axes:
            torques[axis.motor] += axis.drive.torque(dt, float(angle[axis.joint]),
                                                     float(rate[axis.joint]), axis.channel)
        torque = torques[:self.plant.robot.efforts]
        self._see(self.plant.step(torque, dt) or self.plant.sense())
        self.time += dt
        while self._injected:
            self._schedule.add(self._injected.popleft(), self.time)
        self._schedule.step(self.time)
        for device in self._all:
            device.step(self.time)

    def _see(self, sample: TrueJoints) -> None:
        """Set the encoders to the joints of the robot."""
        self.sample, self.truth = sample, self.plant.truth()
        self._turn(0.0)

    def _turn(self, ago: float) -> None:
        """Set the encoders to the joints `ago` seconds before the last sample."""
        sample = self.sample
        angle = _joints(sample.wheel_angle, sample.steering) - ago * _joints(
            sample.wheel_rate, sample.steering_rate)
        for axis in self._axes:
            axis.drive.sense(float(angle[axis.joint]), axis.channel)
        for joint, encoder in zip(self._angles, self.encoders, strict=True):
            encoder.sense(float(angle[joint]))

    def _send(self, can_id: int, data: bytes) -> None:
        try:
            self._bus.send(can.Message(arbitration_id=can_id, data=data, is_extended_id=False))
        except can.CanError:  # a full buffer, which a real device would not notice
            self.dropped += 1


def _joints(wheels: Array, steering: Array) -> Array:
    """Return values of the wheels, then of the steering joints."""
    return np.concatenate([wheels, steering])
