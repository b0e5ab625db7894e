# SPDX-License-Identifier: Apache-2.0
"""A wiring that reverses the yaw leaves the pose in doubt, and takes nothing from faults."""

from dataclasses import replace

import numpy as np
import pytest
from robots import C3P
from test_fault_monitor import DT, STEERING, WHEEL, broken, counts, drive
from test_wiring_monitor import FOUR, OPPOSITE, Rolling

from c3p_kinematics.contradiction import Contradiction
from c3p_kinematics.fault_report import KINDS, SURE
from c3p_kinematics.odometry import Odometry
from c3p_kinematics.residual_alarm import Doubt, alarm_of, doubt_of
from c3p_kinematics.wiring_hypotheses import wirings
from c3p_kinematics.wiring_monitor import DOUBTFUL

JOINTS = ['a', 'b', 'c', 'd']
# straight ahead: casters that begin anywhere swing round, and the robot turns by nothing
AHEAD = (0.3, 0.0, 0.0)
# a curve in which they swing round
CURVE = (0.3, 0.0, 0.3)
ZEROS = next(w for w in wirings(4) if w.text() == 'all steering zeros are 180° off')


def rolled(robot, wiring, seed, twist, path=0.6):
    """Return a robot that has rolled a path, m."""
    rolling = Rolling(robot, wiring, seed, twist)
    while rolling.path < path:
        rolling.step()
    return rolling


@pytest.mark.parametrize('wiring', [OPPOSITE, ZEROS], ids=['opposite', 'zeros'])
def test_casters_that_swing_round_in_a_curve_show_the_other_side(wiring):
    for seed in range(6):
        estimate = rolled(FOUR, wiring, seed, CURVE).step()
        assert estimate.wiring.other_side > DOUBTFUL, seed
        alarm = alarm_of(estimate, Contradiction(), JOINTS)
        assert alarm.doubt >= Doubt.DOUBTED
        assert wiring.text() in estimate.wiring.side_text()
        assert wiring.text() in estimate.wiring.side_metric()


def test_the_pose_is_in_doubt_while_no_other_evidence_has_it():
    """The contradiction of offsets is below that of an alarm; the doubt has its own words."""
    alone = 0
    for seed in range(6):
        rolling = Rolling(FOUR, OPPOSITE, seed, CURVE)
        while rolling.path < 0.6:
            estimate = rolling.step()
            quiet = not (estimate.faults.alarm or estimate.slip.slipping
                         or estimate.wiring.doubted)
            if quiet and estimate.wiring.side_text():
                alarm = alarm_of(estimate, Contradiction(), JOINTS)
                assert alarm.doubt is Doubt.DOUBTED and alarm.text == estimate.wiring.side_text()
                alone += 1
    assert alone > 0


def test_a_doubt_about_the_side_does_not_hide_a_fault_without_a_name():
    estimate = Rolling(FOUR).step()
    side = estimate.wiring._replace(other_side=0.3, reversing=(ZEROS.text(),))
    several = estimate.faults._replace(alarm=True, probability=np.zeros((4, len(KINDS))))
    text = alarm_of(estimate._replace(wiring=side, faults=several), Contradiction(), JOINTS).text
    assert text.startswith(side.side_text()) and 'more than one wheel slips' in text


@pytest.mark.parametrize('robot', [C3P, FOUR], ids=['c3p', 'four'])
@pytest.mark.parametrize('twist', [AHEAD, CURVE, (0.1, 0.1, 0.5)])
def test_a_rightly_wired_robot_with_wrong_lengths_and_zeros_is_not_doubted(robot, twist):
    for seed in range(4):
        rng = np.random.default_rng(100 + seed)
        true = replace(robot,
                       wheel_radius=robot.wheel_radius * (1 + 0.015 * rng.standard_normal(
                           robot.count)),
                       steering_zero=np.radians(2.0) * rng.standard_normal(robot.count))
        rolling = Rolling(true, None, seed, twist)
        rolling.odometry = Odometry(robot, rolling.odometry.settings)
        while rolling.path < 0.6:
            assert rolling.step().wiring.other_side < DOUBTFUL


def test_a_turn_excludes_the_other_side():
    wiring = rolled(FOUR, None, 3, (0.1, 0.1, 0.5)).step().wiring
    assert wiring.reversing == () and wiring.other_side == 0.0
    assert wiring.side_metric() == 'observed'


def test_a_drift_that_looks_like_the_other_side_is_named_all_the_same():
    """
    An encoder that drifts is followed by unknown zeros of the wrong side for some centimetres.

    The probability of a caster at fault must not fall by that: the pose would drift with it.
    """
    steering, wheel, pose = drive(C3P, 48)
    shown = broken('steering encoder drift', steering, wheel, 2, np.random.default_rng(8))
    odometry = Odometry(C3P)
    contradiction = Contradiction()
    most = 0.0
    for k, (s, w) in enumerate(zip(counts(shown[0], STEERING), counts(shown[1], WHEEL),
                                   strict=True)):
        estimate = odometry.step(DT * k, s, w)
        contradiction.step(estimate.time, estimate.faults.several)
        most = max(most, estimate.wiring.other_side)
    assert most > 0.5
    assert estimate.faults.caster == 2 and estimate.faults.confidence > SURE
    assert not estimate.faults.trust[2].any()
    assert np.hypot(*(estimate.pose - pose[-1])[:2]) < 0.02
    assert doubt_of(estimate, contradiction) is Doubt.NONE


def test_a_reset_forgets_the_side_and_a_copy_of_the_evidence_has_it():
    rolling = rolled(FOUR, OPPOSITE, 1, CURVE)
    before = rolling.step().wiring.other_side
    rolling.odometry.place_at((1.0, 2.0, 0.0))
    assert rolling.step().wiring.other_side == pytest.approx(before, abs=0.05)
    rolling.odometry.reset()
    assert rolling.step().wiring.other_side == 0.0
