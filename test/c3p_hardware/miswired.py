# SPDX-License-Identifier: Apache-2.0
"""
A robot of any shape behind emulated cards that may be wired wrongly, on a virtual clock.

The whole chain without ROS: cards, bus, link with its cycle, odometry, and the velocity
controller's law, which follows one twist.
"""

import threading
import time
from dataclasses import fields, replace
from pathlib import Path
from typing import NamedTuple

import can
import numpy as np

import c3p_controller
from c3p_controller.command_follower import LawFailure
from c3p_controller.controllers import make_chain
from c3p_controller.limits import braking_torque
from c3p_controller.torque_law import Sensed
from c3p_description.model import CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_hardware.axes import card_settings
from c3p_hardware.canopen.cia402 import DriveState
from c3p_hardware.emulator.axes import EmulatedDevices
from c3p_hardware.emulator.cards import EmulatedCards
from c3p_hardware.supervisor import ArmState
from c3p_hardware.tools.parameter_file import hardware_values
from c3p_hardware.transport.can_bus import BusAddress
from c3p_hardware.transport.card_link import CardLink
from c3p_ros.schema import read_schema, typed, values_class
from c3p_simulation.make_plant import make_plant

AHEAD, ASIDE, TURN = (0.0, 0.3, 0.0), (0.3, 0.0, 0.0), (0.0, 0.0, 0.8)
COMMANDS = {'ahead': AHEAD, 'aside': ASIDE, 'turn': TURN}

# states in which the motor of a drive gives torque
DRIVING = (DriveState.OPERATION_ENABLED, DriveState.QUICK_STOP_ACTIVE,
           DriveState.FAULT_REACTION_ACTIVE)


def robots():
    """Return the robots of the measurements: the papers', one of four casters, a heavy one."""
    c3p = load_casters('c3p')
    four = replace(CasterRobot.regular(0.35, np.radians([45, 135, 225, 315]), 0.04, 0.05, 40.0,
                                       4.5), torque_limit=np.full(4, 1.2),
                   wheel_rate_limit=np.full(4, 25.0), name='four',
                   friction=replace(c3p.friction, **{
                       f.name: np.resize(getattr(c3p.friction, f.name), 4)
                       for f in fields(c3p.friction) if f.name != 'smoothing'}))
    heavy = replace(c3p, platform_mass=3.0 * c3p.platform_mass,
                    platform_inertia=3.0 * c3p.platform_inertia, name='heavy')
    return {'c3p': c3p, 'four': four, 'heavy': heavy}


def law_values(**given):
    """Return the parameters of the velocity controller."""
    path = Path(c3p_controller.__file__).with_name('velocity_controller_parameters.yaml')
    every = read_schema(path)
    values = {name: entry['default_value'] for name, entry in every.items()} | given
    return typed(values_class(every), values)


class Moment(NamedTuple):
    """Truth of one cycle."""

    time: float
    pose: np.ndarray
    rates: np.ndarray
    motors: tuple
    state: ArmState


class MiswiredRobot:
    """
    Cards, link and law of a robot; `run` lets time pass.

    Parameters
    ----------
    virtual_time : VirtualTime
    robot : CasterRobot
    wiring : dict
        Fields of `EmulatedDevices` that differ from the parameters of the interface.
    twist : (3,) array_like
        The command, m/s and rad/s.
    plant : Plant, optional
        The true robot; by default one as described.
    parameters
        Of the hardware interface.

    Attributes
    ----------
    moments : list of Moment
        Truth of each cycle.
    moves : bool
        The law follows `twist`, otherwise it stops.
    """

    def __init__(self, virtual_time, robot, wiring=None, twist=AHEAD, plant=None, **parameters):
        self._clock, self._channel = virtual_time, f'robot {id(self)}'
        self.robot = robot
        self.plant = plant or make_plant('analytic', robot)
        self._bus = can.Bus(self._channel, interface='virtual')
        self.cards = EmulatedCards(self._bus, self.plant, EmulatedDevices(**(wiring or {})))
        self._over = threading.Event()
        self._thread = threading.Thread(target=self.cards.run, args=(self._over,))
        self._thread.start()
        self.twist, self.moves = np.array(twist), False
        values = law_values()
        self._law, self._last = make_chain(values, robot), None
        self._damping, self._standstill = values.stop_damping, values.standstill_speed
        self.moments, self.failure = [], ''
        settings = card_settings(robot, hardware_values(**parameters))
        self.link = CardLink(BusAddress('virtual', self._channel), robot, settings,
                             self._on_joints, time.time_ns)
        self.link.connect()
        self.link.allow(True)

    def _on_joints(self, joints, stamp):
        now = time.monotonic()
        truth = self.cards.truth
        self.moments.append(Moment(now, truth.pose.copy(), self.cards.sample.wheel_rate.copy(),
                                   self.driving(), self.link.state))
        self.link.command(self._torque(joints, truth, now), stamp)

    def _torque(self, joints, truth, now):
        # the true pose and twist: what the odometry makes of a wrong wheel is no part of this
        sensed = Sensed(now, joints.steering, joints.wheel_rate, truth.pose, truth.twist)
        last, self._last = self._last, now
        if self.link.state != ArmState.ARMED or last is None:
            self._law.reset(sensed)
            return np.zeros(self.robot.efforts)
        try:
            return self._law.step(sensed, self.twist if self.moves else np.zeros(3), 0,
                                  round(1e9 * now), now - last)
        except LawFailure as error:
            self.failure = f'{error}'
            return braking_torque(self.robot, joints.wheel_rate, self._damping, self._standstill)

    def driving(self):
        """Return the places of the drives whose motor has torque."""
        return tuple(i for i, drive in enumerate(self.cards.drives)
                     if drive.drive.state in DRIVING)

    def run(self, until=lambda: False, seconds=5.0):
        """Let time pass until a condition holds or `seconds` are over; return whether it holds."""
        return self._clock.advance(seconds, until)

    def arm(self):
        """Arm and command the twist."""
        assert self.run(lambda: len(self.moments) > 20)
        assert self.ask('arm') == 'armed', self.link.faults
        self.moves = True

    def stopped(self, seconds):
        """Let time pass until no motor has torque; return that time, s, or None for too long."""
        begin = time.monotonic()
        off = self.run(lambda: not self.driving(), seconds)
        return time.monotonic() - begin if off else None

    def later(self, answers, name, *arguments):
        """Call the link in a thread; `answers` gets its answer, or the reason of a rejection."""
        def call():
            try:
                answers.append(getattr(self.link, name)(*arguments))
            except ValueError as error:
                answers.append(f'refused: {error}')

        threading.Thread(target=call).start()

    def ask(self, name, *arguments):
        """Call the link and let time pass until its answer, or the reason of a rejection."""
        answers = []
        self.later(answers, name, *arguments)
        assert self.run(lambda: bool(answers), 20.0)
        return answers[0]

    @property
    def rates(self):
        return self.cards.sample.wheel_rate

    def way(self, begin, end):
        """Return the length of the path of the centre between two times, m."""
        poses = np.array([m.pose[:2] for m in self.moments if begin <= m.time <= end])
        return float(np.hypot(*np.diff(poses, axis=0).T).sum()) if len(poses) > 1 else 0.0

    def close(self):
        self.link.close()
        self._over.set()
        self._thread.join()
        self._bus.shutdown()
