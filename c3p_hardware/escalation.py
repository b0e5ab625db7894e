# SPDX-License-Identifier: Apache-2.0
"""
Stages of a stop: each order has an expected effect, a deadline, and the next stage without it.

The next stage never needs the part that has failed: it is given by another node, another device or
another object of the card. The table is printed in docs/safety.md (scripts/write_escalation.py);
its numbers are those of the code.
"""

from __future__ import annotations

from typing import NamedTuple

from c3p_controller.commanded_stop import MARGIN as COMMANDED_MARGIN
from c3p_controller.twist_mux import HALT
from c3p_controller.velocity_controller_parameters import StopParameters
from c3p_hardware.hardware_interface_parameters import CardParameters
from c3p_hardware.stop_watch import OFF_TIME
from c3p_hardware.wheel_gate import GateSettings

CARDS = CardParameters()

# default of the velocity controller, s; compared with its schema by a test
COMMAND_TIMEOUT = 0.5

# names of the stages
LOCK = 'lock of the mux'
CONTROLLED = 'controlled stop'
SILENCE = 'silence of the velocity controller'
GATE = 'brake of the wheel gate'
HELD = 'zero torque, samples missing'
QUICK_STOP = 'quick stop'
VOLTAGE_OFF = 'voltage off'
WITHHELD = 'heartbeat withheld'
BRAKES = 'holding brakes'
OWN = "drives' own reaction"
EMERGENCY = 'emergency stop (STO)'


class Stage(NamedTuple):
    """
    Stage of a stop.

    Attributes
    ----------
    name : str
    by : str
        Part that gives the order.
    effect : str
        Expected effect.
    seen : str
        By what it is seen; empty where no part of the suite can see it.
    deadline : float, s
        Time after the order at which the effect must be seen.
    then : str
        Next stage; empty for the last one.
    test : str
        Test of the step to the next stage, ``path::name``.
    """

    name: str
    by: str
    effect: str
    seen: str
    deadline: float
    then: str
    test: str


_WATCH = 'test/c3p_hardware/test_stop_watch.py::'
_BRAKE = 'test/c3p_hardware/test_holding_brakes.py::'

STAGES = (
    Stage(LOCK, 'mux', 'zeros, then silence of `cmd_vel`', 'velocity controller: command timeout',
          HALT + COMMAND_TIMEOUT, CONTROLLED,
          'test/nodes/test_watchdogs.py::test_commands_that_stop_coming_end_in_a_controlled_stop'),
    Stage(CONTROLLED, 'velocity controller', 'the wheels slow down with half of '
          f'{StopParameters.stop_acceleration} m/s²', 'velocity controller: wheel rates',
          COMMANDED_MARGIN, SILENCE,
          'test/nodes/test_commanded_stop_node.py::test_a_stop_without_effect_is_an_error_with_'
          'joints_and_the_controller_falls_silent'),
    Stage(SILENCE, 'velocity controller', 'no torque commands', 'wheel gate: command timeout',
          GateSettings.command_timeout, GATE,
          'test/c3p_hardware/test_wheel_gate.py::test_a_command_lasts_as_long_as_its_timeout_and_'
          'then_the_wheels_brake'),
    Stage(GATE, 'wheel gate', 'the wheels slow down as damped wheels do',
          'hardware interface: counts of each drive', CARDS.stop_margin, QUICK_STOP,
          f'{_WATCH}test_a_brake_without_effect_is_followed_by_a_quick_stop'),
    Stage(HELD, 'hardware interface', 'the samples return', 'hardware interface: samples',
          CARDS.silence_timeout, QUICK_STOP,
          'test/c3p_hardware/test_supervisor.py::test_a_device_may_leave_so_many_cycles_'
          'unanswered_and_no_more'),
    Stage(QUICK_STOP, 'hardware interface', 'the wheels slow down with half of ramp, torque limit '
          'or grip; they do not accelerate', 'hardware interface: counts of each drive',
          CARDS.stop_margin, VOLTAGE_OFF,
          f'{_WATCH}test_a_quick_stop_without_effect_ends_in_voltage_off_after_the_margin'),
    Stage(VOLTAGE_OFF, 'hardware interface', 'the drive leaves its states with voltage; a holding '
          'brake closes', 'hardware interface: statuswords', OFF_TIME, WITHHELD,
          f'{_WATCH}test_a_drive_that_keeps_its_voltage_ends_the_heartbeat'),
    Stage(WITHHELD, 'hardware interface', 'the drive misses it and stops on its own (6007h)',
          'hardware interface: statuswords', CARDS.heartbeat_timeout + OFF_TIME, BRAKES,
          f'{_WATCH}test_a_drive_that_ignores_a_missing_heartbeat_is_named_and_brakes_close'),
    Stage(BRAKES, 'hardware interface, outputs of the other cards', 'the wheels stand',
          'hardware interface: counts of each drive', CARDS.brake_close_time + CARDS.stop_margin,
          EMERGENCY, f'{_BRAKE}test_brakes_without_effect_are_a_fault_that_names_the_'
          'emergency_stop'),
    Stage(OWN, 'each drive, without this computer', 'ramp, then no voltage; its holding brake '
          'closes', '', CARDS.heartbeat_timeout, EMERGENCY,
          'test/nodes/test_hardware_processes.py::test_an_interface_that_is_ended_or_killed_leaves_'
          'drives_that_stop_by_themselves'),
    Stage(EMERGENCY, 'operator, or a safety relay', 'no torque; spring-applied brakes close', '',
          0.0, '', ''),
)


def escalation_table() -> str:
    """Return the stages as a table of Markdown."""
    lines = ['| stage | order by | expected effect | seen by | deadline [s] | then | test |',
             '|---|---|---|---|---|---|---|']
    for stage in STAGES:
        deadline = f'{stage.deadline:.2f}' if stage.then else ''
        test = f'`{stage.test}`' if stage.test else ''
        seen = stage.seen or 'not seen'
        lines.append(' | '.join((f'| {stage.name}', stage.by, stage.effect, seen, deadline,
                                 stage.then, test)) + ' |')
    return '\n'.join(line.replace('|  |', '| |') for line in lines)
