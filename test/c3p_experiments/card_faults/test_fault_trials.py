# SPDX-License-Identifier: Apache-2.0
"""The promises of docs/hardware.md, in a time of their own, by the very loop of the robot."""

import signal
from pathlib import Path

import pytest
from virtual_robot import VirtualRobot

from c3p_experiments.card_faults.laboratory import DURATION, Laboratory
from c3p_experiments.card_faults.measures import measured
from c3p_experiments.card_faults.process import TrialError, TrialProcess
from c3p_experiments.card_faults.table import cells_of, steady
from c3p_experiments.card_faults.trials import SPEED, TRIALS, Trial
from c3p_hardware.stopping import reactions
from c3p_hardware.supervisor import ArmState
from c3p_hardware.transport.configure import ConfigurationError

PAGE = (Path(__file__).parents[3] / 'docs/hardware.md').read_text(encoding='utf-8')
SCRIPTED = [t for t in TRIALS if ':' in t.script and not t.goes_on]

# how long to look after a fault: it is over after 1 s, s
STOPPING, COASTING, COAST = 1.5, 3.0, ('sto:drives', 'power_cut:drives')

# a busy machine that stops for half a second is no fault in tests with processes, s
PATIENT = {'silence_timeout': 2.0, 'heartbeat_timeout': 4.0, 'heartbeat_period': 0.1,
           'command_timeout': 2.0, 'arming_timeout': 10.0, 'missed_cycles': 100}


@pytest.fixture
def robot(virtual_time):
    robot = VirtualRobot(virtual_time)
    yield robot
    robot.close()


def arm(robot):
    """Arm with zeros, as the controllers do at rest."""
    robot.push = [0.0] * 3
    robot.run(lambda: False, 0.05)
    robot.link.arm()
    assert robot.link.state is ArmState.ARMED


def drive(robot, push):
    """Push until the fault may come."""
    robot.push = list(push)
    assert robot.run(lambda: robot.speed >= SPEED)


@pytest.mark.parametrize('trial', SCRIPTED, ids=lambda t: t.script.split(':')[0])
def test_a_fault_stops_all_wheels_in_time_and_nothing_moves_before_arming(trial, robot):
    arm(robot)
    drive(robot, trial.push)
    begin = robot.now
    # for ever is enough
    script = trial.script.replace('+3', '')
    robot.cards.inject(' '.join(p if '+' in p or 'serial' in p else f'{p}+{DURATION}'
                                for p in script.split()))
    # the controller goes on pushing all the time, also when the fault is over
    robot.run(lambda: False, COASTING if trial.script in COAST else STOPPING)
    assert robot.link.state is ArmState.FAULT
    message = next(t for t in robot.link.faults if trial.message in t or trial.refused)
    if trial.refused:
        with pytest.raises(ConfigurationError, match=trial.message) as error:
            robot.link.recover()
        message = f'{error.value}'
        robot.cards.devices['drive2'].wrong_serial = None
    robot.link.recover()
    assert robot.link.state is ArmState.DISARMED
    # neither does it move when zeros come and end while it is disarmed
    for push in (trial.push, (0.0,) * 3, trial.push):
        robot.push = list(push)
        robot.run(lambda: False, 0.1)
    stop = measured(robot.record(), begin, robot.now, trial.push)
    assert trial.cycles is None or stop.cycles <= trial.cycles
    assert stop.stand is not None and stop.moved < 2 * SPEED / 30
    # within the table of docs/stopping.md, at the fastest after the fault
    fastest = max(step[3] for step in robot.plant.steps if step[0] >= begin)
    assert stop.distance <= trial.longest(robot.plant.robot, fastest)
    arm(robot)
    drive(robot, trial.push)
    # the message of the page is that of the robot; its numbers are of another computer
    name, bound, *_, moves, back, shown = cells_of(PAGE)[trial.fault]
    assert (name, bound, moves, back) == (trial.fault, trial.bound, 'no', 'yes')
    assert shown == steady(message)


def test_a_silent_controller_brakes_the_wheels_until_a_zero_command_comes(robot):
    trial = next(t for t in TRIALS if t.script == 'silence controller')
    arm(robot)
    drive(robot, trial.push)
    begin, robot.push = robot.now, None
    robot.run(lambda: False, 1.5)
    message = robot.link.gate_reason
    robot.push = list(trial.push)
    robot.run(lambda: False, 0.2)
    stop = measured(robot.record(), begin, robot.now, trial.push)
    assert stop.driven < trial.seconds and stop.stand is not None and stop.moved < 0.01
    fastest = max(step[3] for step in robot.plant.steps if step[0] >= begin)
    assert stop.distance <= trial.longest(robot.plant.robot, fastest)
    robot.push = [0.0] * 3
    robot.run(lambda: False, 0.05)
    drive(robot, trial.push)
    assert cells_of(PAGE)[trial.fault][-1] == steady(message)


def test_a_warning_stops_nothing(robot):
    trial = next(t for t in TRIALS if t.goes_on)
    arm(robot)
    drive(robot, trial.push)
    robot.cards.inject(trial.script)
    robot.run(lambda: False, 0.3)
    assert robot.link.state is ArmState.ARMED and robot.speed > 1.3 * SPEED
    warned = [d.name for d in robot.link.drives if d.warning()]
    assert warned == ['drive of wheel_joint_2 (node 2)']


def test_the_page_has_a_row_for_every_trial_and_misses_no_promise():
    rows = cells_of(PAGE)
    assert list(rows) == [t.fault for t in TRIALS]
    for trial in TRIALS:
        assert rows[trial.fault][1] == trial.bound
        assert trial.message in rows[trial.fault][-1]
        assert not {'NO', 'YES'} & set(rows[trial.fault])


def test_each_fault_has_a_row_in_the_table_of_stopping_distances():
    # a stuck encoder is seen by the rotation that is missing, whose path depends on the curve
    assert [t.script for t in TRIALS if not t.part] == [
        'encoder_stuck:encoder1', 'over_temperature:drive2']
    parts = {reaction.part for reaction in reactions()}
    assert {t.part for t in TRIALS if t.part} == parts - {'computer'}


@pytest.mark.slow
def test_processes_of_a_trial_stop_and_come_back():
    # the figures are those of a busy machine, what happens is not
    trial = Trial('error of a drive', 'emcy:drive3', '', message='2310h')
    with Laboratory(PATIENT) as laboratory:
        outcome = laboratory.run(trial)
    assert outcome.missed == ''


def test_a_process_reports_failed_requests_and_its_end():
    with TrialProcess('bus') as process:
        with pytest.raises(TrialError, match='KeyError'):
            process.call('nothing')
        process.signal(signal.SIGKILL)
        with pytest.raises(TrialError, match='has ended'):
            for _ in range(3):
                process.call('lay', one='', other='')
