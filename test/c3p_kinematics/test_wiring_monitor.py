# SPDX-License-Identifier: Apache-2.0
"""A wrong order, sign or zero of the joints is doubted and named, and no innocent caster is."""

from dataclasses import replace

import numpy as np
import pytest
from robots import C3P

from c3p_description.model import CasterRobot
from c3p_kinematics.casters import inverse
from c3p_kinematics.contradiction import Contradiction
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.odometry_data import SYNCHRONOUS
from c3p_kinematics.residual_alarm import Doubt, alarm_of, doubt_of
from c3p_kinematics.se2 import compose, exp
from c3p_kinematics.sensed_kinematics_parameters import GyroFusionSettings
from c3p_kinematics.wiring_hypotheses import orders, wirings

DT = 0.005
FOUR = CasterRobot.regular(0.35, np.radians([45, 135, 225, 315]), 0.04, 0.05, 40.0, 4.5)
ROBOTS = {
    'c3p': C3P,
    'four': FOUR,
    'askew': replace(FOUR, hip_position=np.array([[0.3, 0.2], [-0.3, 0.2], [-0.35, -0.2],
                                                  [0.25, -0.25]])),
    'three': CasterRobot.regular(0.30, np.radians([10, 140, 260]), 0.03, 0.05, 25.0, 2.0)}

# wheel and steering angles in counts, as encoders give them
COUNTS = np.array([2.0 * np.pi / 4096, 2.0 * np.pi / 2000])

TURNING = (0.3, 0.1, 0.4)


def required(count):
    """Return the wirings of one or of exchanged casters."""
    return [w for w in wirings(count)
            if w.change == 'exchanged' or (w.casters and w.parts != 'modules')]


def channels(wiring, steering, wheel):
    """Return the angles that the channels state: true = sign · measured + turn."""
    measured = np.empty((2, len(steering)))
    for k in range(len(steering)):
        measured[0, wiring.steering_of[k]] = (steering[k] - wiring.turn[k]) * (
            wiring.steering_sign[k])
        measured[1, wiring.wheel_of[k]] = wheel[k] * wiring.wheel_sign[k]
    return np.rint(measured / COUNTS[:, None]) * COUNTS[:, None]


class Rolling:
    """
    A robot that rolls with a twist; `odometry` has what its channels state.

    `error`, m, is that of the odometry; `accused` the largest confidence of each caster, and
    `path` the true one, m. By `drifted`, rad, the first steering encoder is off.
    """

    def __init__(self, robot, wiring=None, seed=0, twist=TURNING):
        self.robot = robot
        self.wiring = wiring
        self.twist = np.array(twist)
        self.odometry = Odometry(robot, OdometrySettings(**SYNCHRONOUS))
        self.steering = np.random.default_rng(seed).uniform(-np.pi, np.pi, robot.count)
        self.wheel = np.zeros(robot.count)
        self.pose = np.zeros(3)
        self.time = self.path = self.drifted = 0.0
        self.accused = dict.fromkeys(range(robot.count), 0.0)

    def step(self, spin=0.0):
        """Roll for `DT`; the first wheel turns by `spin` more, rad/s."""
        twist = self.twist * min(1.0, self.time / 0.5)
        _, turning, _ = inverse(self.robot, self.steering, twist)
        rate, turning, _ = inverse(self.robot, self.steering + 0.5 * DT * turning, twist)
        self.steering = self.steering + DT * turning
        self.wheel = self.wheel + DT * rate
        self.wheel[0] += DT * spin
        self.pose = compose(self.pose, exp(DT * twist))
        self.path += DT * float(np.hypot(*twist[:2]))
        self.time += DT
        shown = self.steering + [self.drifted, *[0.0] * (self.robot.count - 1)]
        angles = (shown, self.wheel) if self.wiring is None else channels(
            self.wiring, shown, self.wheel)
        estimate = self.odometry.step(self.time, *angles)
        for caster, report in ((estimate.slip.suspect, estimate.slip),
                               (estimate.faults.caster, estimate.faults)):
            if caster >= 0:
                self.accused[caster] = max(self.accused[caster], report.confidence)
        return estimate

    @property
    def error(self):
        return float(np.hypot(*(self.pose - self.odometry.pose)[:2]))


def until_doubted(robot, wiring, seed, twist, longest=1.0):
    """Roll until the wiring is doubted or a path, m, is over; return the robot and estimate."""
    rolling = Rolling(robot, wiring, seed, twist)
    estimate = rolling.step()
    while not estimate.wiring.doubted and rolling.path < longest and rolling.time < 6.0:
        estimate = rolling.step()
    return rolling, estimate


def test_orders_are_all_permutations_of_four_and_pairs_and_rings_of_more():
    assert len(set(orders(4))) == 23 and (1, 0, 3, 2) in set(orders(4))
    assert (1, 2, 3, 4, 0) in set(orders(5)) and len(set(orders(5))) == 12
    for count in (2, 3, 4, 6):
        every = wirings(count)
        assert len({w[3:] for w in every}) == len(every)
        # both senses of a quarter turn have one text
        assert len({w.text() for w in every}) == len(every) - (count + 1)


@pytest.mark.parametrize('name', ROBOTS)
def test_a_wrong_wiring_is_doubted_in_the_first_metre_and_no_innocent_caster_is_named(name):
    robot = ROBOTS[name]
    first = 0
    among = 0
    doubted = 0
    for number, wiring in enumerate(required(robot.count)):
        rolling, estimate = until_doubted(robot, wiring, number, TURNING)
        innocent = set(range(robot.count)) - set(wiring.casters)
        assert max((rolling.accused[i] for i in innocent), default=0.0) <= 0.5, wiring.text()
        assert estimate.wiring.doubted, wiring.text()
        assert rolling.path < 0.25 and rolling.error < 0.1
        doubted += 1
        likely = [one.wiring for one in estimate.wiring.likely]
        first += likely[0] == wiring
        among += wiring in likely
    assert first > 0.7 * doubted and among > 0.9 * doubted


def test_a_caster_whose_own_joints_are_wired_wrongly_is_left_out():
    """Whether its encoder is reversed or has a fault: odometry is right without it."""
    for number, wiring in enumerate(required(4)):
        if len(wiring.casters) > 1 or wiring.change != 'reversed':
            continue
        rolling, _ = until_doubted(FOUR, wiring, number, TURNING)
        for _ in range(200):
            estimate = rolling.step()
        assert estimate.faults.caster == wiring.casters[0], wiring.text()
        assert estimate.faults.confidence > 0.95 and rolling.error < 0.005


def test_the_text_has_the_best_hypotheses_the_evidence_and_the_remedy():
    wiring = next(w for w in wirings(4) if w.text() == 'casters 1 and 2 exchanged')
    rolling, _ = until_doubted(ROBOTS['askew'], wiring, 1, TURNING)
    for _ in range(100):
        estimate = rolling.step()
    likeliest = estimate.wiring.likely[0]
    assert likeliest.wiring == wiring and likeliest.probability > 0.99
    assert likeliest.residual < 1.0 < 3.0 < estimate.wiring.residual
    contradiction = Contradiction()
    alarm = alarm_of(estimate, contradiction, ['a', 'b', 'c', 'd'])
    assert alarm.doubt is Doubt.UNKNOWN and doubt_of(estimate, contradiction) is Doubt.UNKNOWN
    for words in ('casters 1 and 2 exchanged, 1.00', 'times their deviation', 'reset_odometry'):
        assert words in alarm.text
    assert alarm.values['casters 1 and 2 exchanged'] == '1.00'


@pytest.mark.parametrize('name', ROBOTS)
def test_every_wrong_wiring_is_excluded_by_a_drive_and_a_spinning_wheel_is_named_at_once(name):
    rolling = Rolling(ROBOTS[name], seed=3)
    estimate = rolling.step()
    while estimate.wiring.open and rolling.time < 10.0:
        # all directions
        rolling.twist = np.array([0.3 * np.cos(rolling.time), 0.3 * np.sin(1.3 * rolling.time),
                                  0.4])
        estimate = rolling.step()
    assert not estimate.wiring.open and not estimate.faults.alarm
    for _ in range(12):
        estimate = rolling.step(spin=8.0)
    assert estimate.faults.caster == 0 and estimate.faults.confidence > 0.95
    assert not estimate.wiring.doubted


@pytest.mark.parametrize('name', ROBOTS)
def test_a_wheel_that_spins_before_all_are_excluded_is_named_and_no_wiring_is_doubted(name):
    rolling = Rolling(ROBOTS[name], seed=4)
    for k in range(200):
        estimate = rolling.step(spin=8.0 if k > 80 else 0.0)
        assert not estimate.wiring.doubted
    assert rolling.accused[0] > 0.95 and max(list(rolling.accused.values())[1:]) <= 0.5


def test_parallel_casters_that_drive_straight_show_no_exchange_and_need_none():
    wiring = next(w for w in wirings(3) if w.text() == 'casters 1 and 2 exchanged')
    rolling = Rolling(C3P, wiring, twist=(0.0, 0.3, 0.0))
    rolling.steering = np.zeros(3)
    for _ in range(400):
        estimate = rolling.step()
    assert not estimate.wiring.doubted and estimate.wiring.open and rolling.error < 1e-3


def until_judged(wiring, gyro, twist, longest=1.5):
    """
    Roll a square robot whose gyro has the factor `gyro`; return the doubts on the way.

    It stands for two seconds before, with casters that trail of a drive along x. The drive ends
    when the wiring is doubted.
    """
    rolling = Rolling(FOUR, wiring, 3, (0.0, 0.0, 0.0))
    rolling.steering = np.full(4, -0.5 * np.pi)
    rolling.odometry = Odometry(FOUR, OdometrySettings(
        gyro=GyroFusionSettings(enabled=True), **SYNCHRONOUS))
    contradiction = Contradiction()
    doubts = []
    while rolling.path < longest and Doubt.UNKNOWN not in doubts:
        if rolling.time > 2.0:
            rolling.twist = np.array(twist)
        rate = gyro * rolling.twist[2]
        rolling.odometry.gyro.measure(round(1e9 * (rolling.time + DT)), rate)
        estimate = rolling.step()
        contradiction.step(estimate.time, estimate.faults.several)
        doubts.append(doubt_of(estimate, contradiction))
    return doubts, alarm_of(estimate, contradiction, ['a', 'b', 'c', 'd'])


OPPOSITE = next(w for w in wirings(4)
                if w.text() == 'casters 1 and 3 exchanged, and 2 and 4 exchanged')
WIDE = (0.3, 0.0, 0.25)


def test_a_gyro_shows_opposite_casters_of_a_square_robot_exchanged():
    """In a curve of 1.2 m the joints alone contradict each other by their errors at most."""
    doubts, _ = until_judged(OPPOSITE, -1.0, WIDE, 1.0)
    assert Doubt.UNKNOWN not in doubts and doubts[-1] is Doubt.NONE
    doubts, alarm = until_judged(OPPOSITE, 1.0, WIDE, 1.0)
    assert alarm.doubt is Doubt.DOUBTED
    assert OPPOSITE.text() in alarm.text and 'all steering zeros are 180° off' in alarm.text
    assert 'upside down (imu.axis)' in alarm.text


def test_a_gyro_upside_down_is_what_remains_once_the_wirings_are_excluded():
    doubts, _ = until_judged(None, -1.0, (0.1, 0.1, 0.5), 1.5)
    assert Doubt.UNKNOWN not in doubts and doubts[-1] is Doubt.NONE


def test_evidence_stays_when_the_pose_is_set_and_ends_with_a_reset():
    wiring = next(w for w in wirings(3) if w.text() == 'casters 1 and 2 exchanged')
    rolling, estimate = until_doubted(C3P, wiring, 1, TURNING)
    rolling.odometry.place_at((1.0, 2.0, 0.0))
    assert rolling.step().wiring.doubted
    assert rolling.odometry.step_by(None, [0, 0, 0], [0, 0, 0]).wiring.doubted
    rolling.odometry.reset()
    assert not rolling.step().wiring.doubted


def test_the_doubt_ends_when_the_joints_agree_again():
    """As of a robot that is pushed by hand after its plugs were changed."""
    wiring = next(w for w in wirings(3) if w.text() == 'casters 1 and 2 exchanged')
    rolling, _ = until_doubted(C3P, wiring, 1, TURNING)
    rolling.wiring = None
    estimate = rolling.step()
    assert estimate.wiring.doubted
    for _ in range(400):
        rolling.twist = np.array([0.3 * np.cos(rolling.time), 0.3 * np.sin(rolling.time), 0.4])
        estimate = rolling.step()
    assert not estimate.wiring.doubted


def trailing(robot, twist):
    """Return a robot that has rolled for 1 s with its casters already trailing."""
    before = Rolling(robot, twist=twist)
    while before.path < 1.0:
        before.step()
    rolling = Rolling(robot, twist=twist)
    rolling.steering = before.steering
    while rolling.time < 1.0:
        rolling.step()
    return rolling


@pytest.mark.parametrize('twist', [(0.3, 0.1, 0.7), (0.1, 0.0, 1.2)])
@pytest.mark.parametrize('rate', [-2.0, 2.0])
def test_casters_cannot_have_led_for_long_so_that_a_drift_is_named_at_once(twist, rate):
    """
    Wheels that count backwards are not visible while no caster steers, and then explain a drift.

    But the casters would have led: free ones turn round within some offsets.
    """
    rolling = trailing(C3P, twist)
    begin = rolling.time
    wheels = next(w for w in wirings(3) if w.text() == 'all wheel encoders reversed')
    assert wheels.text() not in [one.name for one in rolling.step().wiring.likely]
    while rolling.time < begin + 1.0:
        rolling.drifted = rate * (rolling.time - begin)
        estimate = rolling.step()
    assert not estimate.wiring.doubted and estimate.faults.caster == 0
    assert estimate.faults.confidence > 0.95
    # found within 0.1 s, of which the steps are made again
    assert rolling.error < 0.005


def test_a_robot_whose_wheels_count_backwards_is_doubted_when_its_casters_swing_round():
    """True casters that lead are not excluded before they swing, wherever they begin."""
    for seed in range(8):
        wheels = next(w for w in wirings(3) if w.text() == 'all wheel encoders reversed')
        rolling = Rolling(C3P, wheels, twist=(0.2, 0.0, 0.0))
        # 0.5 to 4 degrees from where they lead
        off = np.radians(np.random.default_rng(seed).uniform(0.5, 4.0, 3))
        rolling.steering = np.full(3, 0.5 * np.pi) + off
        estimate = rolling.step()
        while not estimate.wiring.doubted and rolling.path < 1.0:
            estimate = rolling.step()
        assert estimate.wiring.doubted, seed
        assert wheels in [one.wiring for one in estimate.wiring.likely]
