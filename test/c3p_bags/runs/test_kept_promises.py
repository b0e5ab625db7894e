# SPDX-License-Identifier: Apache-2.0
"""Promises on runs with a planted break of each, and on runs without."""

from pathlib import Path

import numpy as np
import pytest

from c3p_bags.promises.judged_parameters import (
    JudgedParameters,
    StopTimes,
    judged_parameters,
    stop_times,
)
from c3p_bags.runs.kept_promises import kept_promises
from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.run_log import Joints, Motion, RunLog, Series
from c3p_bags.storage.bag import Bag
from c3p_description import load

ROBOT = load('c3p')
LIMIT = ROBOT.effort_limit[0]
TIME = 0.005 * np.arange(1400)
GOLDEN = Path(__file__).parents[2] / 'data/golden_bag'


def run(driven=3.0, stops=3.2, silent=(9.0, 9.0), torque=0.2, motor=None):
    """Return a drive of 0.3 m/s: commands until `driven`, at rest from `stops` on, s."""
    moves = np.where(TIME < stops, 0.3, 0.0)
    of = np.where(TIME < stops, torque * LIMIT, 0.0)[:, None] * np.ones(3)
    sent = (TIME < silent[0]) | (TIME > silent[1])
    zero = np.zeros((len(TIME), 3))
    twist = np.column_stack([moves, 0 * TIME, 0 * TIME])
    square = np.zeros((len(TIME), 3, 3))
    felt = of if motor is None else motor
    commanded = driven > TIME
    return RunLog(Path('run'), 0, Joints(TIME, zero, zero, zero, twist[:, :1] / 0.04 + zero, felt),
                  odom=Motion(TIME, zero, twist, square, square, 'odom', 'base_link'),
                  cmd_vel=Series(TIME[commanded], twist[commanded]),
                  wheel_effort=Series(TIME[sent], of[sent]))


def names(log):
    return [one.promise for one in kept_promises(log, ROBOT, JudgedParameters(StopTimes())).broken]


def test_a_drive_that_stops_breaks_none():
    assert names(run()) == []


def test_the_golden_bag_breaks_none():
    with Bag(GOLDEN) as bag:
        robot = bag.casters(None, bag.namespace(None))
        log = read_run(bag, robot, bag.namespace(None))
        known = judged_parameters(bag.parameters, bag.namespace(None))
    assert known.times is not None and known.times.cmd_vel_timeout == 0.5
    kept = kept_promises(log, robot, known)
    assert kept.broken == ()
    assert kept.judged == ('torque-limits', 'command-timeout', 'gate-opens-by-zero')


def test_times_are_those_of_the_parameters_in_the_bag():
    log = run(stops=6.0)
    assert names(log) == ['command-timeout']
    patient = stop_times({'/a/velocity_controller': {'cmd_vel_timeout': 1.5},
                          '/a/hardware_interface': {'command_timeout': 0.7}}, '/a')
    assert patient == StopTimes(1.5, 0.7)
    assert kept_promises(log, ROBOT, JudgedParameters(patient)).broken == ()
    # nothing is known of the timeouts of another robot; its torques have the limits of this one
    assert stop_times({'/other': {}}) is None
    assert kept_promises(run(stops=9.0, torque=1.1), ROBOT).broken[0].promise == 'torque-limits'
    assert len(kept_promises(run(stops=9.0, torque=1.1), ROBOT).broken) == 1


@pytest.mark.parametrize(('log', 'name', 'time'), [
    (run(stops=9.0), 'command-timeout', 5.3), (run(torque=1.1), 'torque-limits', 0.0),
    # no torque command for half a second, but the motors go on
    (run(silent=(1.0, 1.5)), 'gate-opens-by-zero', 1.3)])
def test_a_planted_break_is_named_with_its_time(log, name, time):
    found = kept_promises(log, ROBOT, JudgedParameters(StopTimes())).broken
    assert [one.promise for one in found] == [name]
    # to a few samples
    assert found[0].time == pytest.approx(time, abs=0.02)
    assert found[0].evidence and found[0].events > 1
