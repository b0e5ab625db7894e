# SPDX-License-Identifier: Apache-2.0
"""Setpoints of the law for every command, stop and standstill, and checks of its torques."""

from dataclasses import replace

import numpy as np
import pytest
from robots import C3P

from c3p_controller.command_follower import (
    REST_AFTER,
    STOP_PATIENCE,
    WAITING,
    CommandFollower,
    FollowerSettings,
    LawFailure,
)
from c3p_controller.limits import ReferenceLimits
from c3p_controller.predictive.controller import PredictiveController, PredictiveSettings
from c3p_controller.previews import REACH
from c3p_controller.torque_law import Preview, Sensed
from c3p_description.reading.loader import load
from c3p_simulation.plants.plant import AnalyticPlant

LIMITS = ReferenceLimits(0.5, 1.0)
ROBOT = replace(C3P, torque_limit=np.full(3, 1.2))
# with friction
CONTACT = load('c3p')
LEVER = 0.343
MS = 1_000_000


class Recorder:
    """A law that records its setpoints."""

    def __init__(self, torque=None):
        self.torque, self.setpoints, self.resets = torque, [], 0

    def reset(self, sensed=None):
        self.resets += 1

    def step(self, sensed, setpoint, dt):
        self.setpoints.append(setpoint)
        if isinstance(self.torque, Exception):
            raise self.torque
        return np.zeros(3) if self.torque is None else np.array(self.torque)

    def prepare(self):
        pass


def make(torque=None):
    law = Recorder(torque)
    return CommandFollower(ROBOT, law, FollowerSettings(LIMITS)), law


def sensed(time=0.0, pose=(0.0, 0.0, 0.0), twist=(0.0, 0.0, 0.0), wheel_rate=(0.0, 0.0, 0.0)):
    return Sensed(time, np.zeros(3), np.array(wheel_rate), np.array(pose), np.array(twist))


def straight(speed=0.3, count=5):
    pose, velocity = np.zeros((count, 3)), np.zeros((count, 3))
    pose[:, 0], velocity[:, 0] = 0.1 * speed * np.arange(count), speed
    return Preview(0.1 * np.arange(count), pose, velocity)


def test_a_command_without_a_reference_of_its_stamp_is_a_bare_twist():
    chain, law = make()
    assert chain.follows == 'nothing'
    chain.take_preview(7 * MS, straight())
    chain.step(sensed(), np.array([0.3, 0.0, 0.0]), 8 * MS, 10 * MS, 0.005)
    assert chain.follows == 'twist' and law.setpoints[-1].preview is None
    chain.step(sensed(1.0), np.array([0.3, 0.0, 0.0]), 7 * MS, 12 * MS, 0.005)
    assert chain.follows == 'ahead'
    assert law.setpoints[-1].preview.velocity[0, 0] == 0.3
    # time 0 of the reference is that of the command's stamp, 5 ms before this cycle
    assert law.setpoints[-1].preview_time == pytest.approx(1.0 - 0.005)


def test_only_the_newest_references_wait():
    chain, _ = make()
    for k in range(WAITING + 2):
        chain.take_preview(k, straight())
    for k, follows in enumerate(['twist'] * 2 + ['ahead'] * WAITING):
        chain.step(sensed(), np.array([0.3, 0.0, 0.0]), k, k, 0.005)
        assert chain.follows == follows
    chain.forget()
    chain.step(sensed(), np.array([0.3, 0.0, 0.0]), WAITING, WAITING, 0.005)
    assert chain.follows == 'twist'


def test_twist_and_reference_are_within_the_limits_also_when_these_change():
    chain, law = make()
    chain.take_preview(1, straight(2.0))
    chain.step(sensed(), np.array([2.0, 0.0, 1.0]), 1, 1, 0.005)
    setpoint = law.setpoints[-1]
    assert setpoint.twist == pytest.approx([0.5, 0.0, 0.25])
    assert setpoint.preview.velocity[:, 0] == pytest.approx(0.5)
    assert setpoint.preview.time[-1] == pytest.approx(4.0 * 0.4)
    chain.settings = FollowerSettings(ReferenceLimits(0.25, 1.0))
    chain.step(sensed(), np.array([2.0, 0.0, 1.0]), 1, 1, 0.005)
    assert law.setpoints[-1].preview.velocity[:, 0] == pytest.approx(0.25)
    assert law.setpoints[-1].preview.time[-1] == pytest.approx(8.0 * 0.4)


def test_a_reference_from_elsewhere_pulls_no_further_than_the_limits_reach():
    chain, law = make()
    chain.take_preview(1, straight())
    chain.step(sensed(pose=(-50.0, 0.0, 0.0)), np.zeros(3), 1, 1, 0.005)
    assert law.setpoints[-1].preview.pose[0, 0] == pytest.approx(-50.0 + REACH * LIMITS.speed)


@pytest.mark.parametrize('bad, words', [
    (Preview(np.array([0.0, 0.0]), np.zeros((2, 3)), np.zeros((2, 3))), 'increase'),
    (Preview(np.array([0.0]), np.full((1, 3), np.nan), np.zeros((1, 3))), 'finite'),
    (Preview(np.array([0.0, 0.1]), np.array([[0.0] * 3, [1e6] * 3]), np.zeros((2, 3))), 'takes')])
def test_a_reference_that_cannot_be_is_refused_and_not_kept(bad, words):
    chain, _ = make()
    with pytest.raises(ValueError, match=words):
        chain.take_preview(1, bad)
    chain.step(sensed(), np.array([0.3, 0.0, 0.0]), 1, 1, 0.005)
    assert chain.follows == 'twist'


def test_without_a_command_the_robot_stops_along_its_motion_and_is_not_pulled_back():
    chain, law = make()
    chain.step(sensed(2.0, twist=(0.4, 0.0, 0.0)), None, 0, 0, 0.005)
    first = law.setpoints[-1]
    assert chain.follows == 'stop' and not first.twist.any() and first.preview_time == 2.0
    assert first.preview.time[-1] == pytest.approx(0.4)
    assert first.preview.pose[-1, 0] == pytest.approx(0.4**2 / 2.0)
    # the same stop while it lasts, whatever is sensed
    chain.step(sensed(2.1, twist=(0.2, 0.1, 0.0)), None, 0, 0, 0.005)
    assert law.setpoints[-1].preview is first.preview
    # a robot that still moves then is braked without the law, and not pulled back
    end, count = 2.0 + 0.4 + STOP_PATIENCE, len(law.setpoints)
    pushed = sensed(end + 0.01, pose=(5.0, 0.0, 0.0), twist=(0.1, 0.0, 0.0))
    torque = chain.step(pushed, None, 0, 0, 0.005)
    assert chain.follows == 'brake' and len(law.setpoints) == count and not torque.any()
    # a command ends the stop, and the next one begins from the motion then
    chain.step(sensed(end + 0.02), np.array([0.1, 0.0, 0.0]), 1, 1, 0.005)
    chain.step(sensed(end + 0.03, twist=(0.0, 0.1, 0.0)), None, 0, 0, 0.005)
    assert law.setpoints[-1].preview.velocity[0] == pytest.approx([0.0, 0.1, 0.0])


@pytest.mark.parametrize('standing', [None, np.zeros(3)], ids=['silence', 'zeros'])
def test_a_loop_that_is_far_too_late_comes_to_rest_all_the_same(standing):
    # 0.1 s, ten times the latency of the law: with it alone the robot would limit-cycle
    plant, late = AnalyticPlant(CONTACT), [np.zeros(3)] * 20
    chain = CommandFollower(CONTACT, PredictiveController(CONTACT), FollowerSettings(LIMITS))
    sample, speeds = plant.sense(), []
    for k in range(700):
        truth = plant.truth()
        now = Sensed(sample.time, sample.steering, sample.wheel_rate, truth.pose, truth.twist)
        command = np.array([0.3, 0.1, 0.2]) if k < 200 else standing
        late.append(chain.step(now, command, 1, 1, 0.005))
        sample = plant.step(late.pop(0), 0.005)
        speeds.append(np.hypot(*truth.twist[:2]))
    # it did swing, for half a second longer than a stop takes, and stands after two
    assert max(speeds[200:400]) > 0.1 and max(speeds[600:]) < 1e-3
    assert chain.follows == 'rest'


def test_brake_is_against_the_wheels_and_ends_with_a_command():
    chain, law = make((0.5, 0.5, 0.5))
    moving = {'twist': (0.3, 0.0, 0.0), 'wheel_rate': (2.0, -1.0, 0.0)}
    for k, time in enumerate((0.0, 0.7, 0.9)):
        torque = chain.step(sensed(time, **moving), np.zeros(3), k, k, 0.005)
    assert chain.follows == 'brake' and torque == pytest.approx([-0.2, 0.1, 0.0])
    chain.step(sensed(0.91, **moving), np.array([0.1, 0.0, 0.0]), 3, 3, 0.005)
    assert chain.follows == 'twist'
    # a preview may need motion to reach its place of rest
    chain.take_preview(4, Preview(np.zeros(1), np.zeros((1, 3)), np.zeros((1, 3))))
    for time in (1.0, 3.0):
        chain.step(sensed(time, **moving), np.zeros(3), 4, 4, 0.005)
    assert chain.follows == 'ahead'


def test_a_robot_at_commanded_standstill_gets_exactly_zero_whatever_the_law_returns():
    chain, law = make((0.5, 0.5, 0.5))
    count = int(REST_AFTER / 0.005 + 0.5)
    for command in (None, np.zeros(3)):
        for k in range(count + 3):
            torque = chain.step(sensed(0.005 * k), command, 1, 1, 0.005)
            assert torque.any() == (k + 1 < count)
        assert chain.follows == 'rest'
        # pushed, or commanded to move, the law runs again, from the measured state
        resets = law.resets
        assert chain.step(sensed(twist=(0.0, 0.1, 0.0)), command, 1, 1, 0.005).any()
        assert chain.follows != 'rest' and law.resets == resets
    for _ in range(count):
        chain.step(sensed(), None, 1, 1, 0.005)
    assert chain.step(sensed(), np.array([0.0, 0.0, 0.1]), 1, 1, 0.005).any()


def test_a_faster_deceleration_makes_a_shorter_stop():
    chain, law = make()
    chain.settings = FollowerSettings(LIMITS, 4.0)
    chain.step(sensed(twist=(0.4, 0.0, 0.0)), None, 0, 0, 0.005)
    assert law.setpoints[-1].preview.time[-1] == pytest.approx(0.1)


@pytest.mark.parametrize('torque, words', [
    ((np.nan, 0.0, 0.0), 'finite'), ((0.0, np.inf, 0.0), 'finite'),
    (ZeroDivisionError('division by zero'), 'division'), (OverflowError('too large'), 'large')])
def test_an_invalid_torque_is_reported_and_never_sent(torque, words):
    chain, _ = make(torque)
    with pytest.raises(LawFailure, match=f'Recorder: .*{words}'):
        chain.step(sensed(), np.zeros(3), 1, 1, 0.005)
    # traction control judges the next sample by what was sent
    assert not chain._sent.any()


def test_torques_beyond_the_limit_are_scaled_as_a_whole():
    chain, _ = make((3.0, -1.5, 0.0))
    assert chain.step(sensed(), np.zeros(3), 1, 1, 0.005) == pytest.approx([1.2, -0.6, 0.0])


def stop_of(kind, settings, deceleration, twist):
    """Travel with `twist`, then lose the command; return time, true poses and twists from then."""
    plant = AnalyticPlant(CONTACT)
    sample = plant.reset(steering=np.arctan2(-twist[0], twist[1]))
    chain = CommandFollower(CONTACT, kind(CONTACT, settings),
                            FollowerSettings(LIMITS, deceleration))
    rows = []
    for k in range(700):
        truth = plant.truth()
        now = Sensed(sample.time, sample.steering, sample.wheel_rate, truth.pose, truth.twist)
        torque = chain.step(now, np.array(twist) if k < 300 else None, 1, 1, 0.005)
        sample = plant.step(torque, 0.005)
        rows.append((0.005 * k, *truth.pose, *truth.twist))
    assert not torque.any()
    return np.array(rows)[300:]


@pytest.mark.parametrize('deceleration', [0.3, 1.0])
@pytest.mark.parametrize('twist', [(0.0, 0.4, 0.0), (0.3, 0.2, 0.0), (0.3, 0.0, 0.5)])
def test_a_stop_takes_as_long_as_its_deceleration_says(deceleration, twist):
    rows = stop_of(PredictiveController, PredictiveSettings(latency=0.0), deceleration, twist)
    time, speed = rows[:, 0] - rows[0, 0], np.hypot(rows[:, 4], rows[:, 5])
    begin = speed[0]
    assert begin == pytest.approx(np.hypot(*twist[:2]), rel=0.1)
    duration = max(begin, LEVER * abs(rows[0, 6])) / deceleration
    # at half the time half the speed; a little after the end rest
    assert speed[int(0.5 * duration / 0.005)] == pytest.approx(0.5 * begin, abs=0.12 * begin)
    rest = time >= duration + 0.3
    assert speed[rest].max() < 0.02 and abs(rows[rest, 6]).max() < 0.05
    way = np.hypot(*(rows[-1, 1:3] - rows[0, 1:3]))
    assert way == pytest.approx(0.5 * begin * duration, rel=0.2)


def test_a_law_warmed_up_begins_as_a_new_one_does():
    fresh, warm = (CommandFollower(ROBOT, PredictiveController(ROBOT)) for _ in range(2))
    warm.warm_up()
    command = np.array([0.0, 0.3, 0.0])
    for k in range(20):
        now = sensed(0.005 * k, pose=(0.0, 1e-4 * k, 0.0), twist=(0.0, 0.02, 0.0))
        one, other = (chain.step(now, command, 1, 1, 0.005) for chain in (fresh, warm))
        assert np.array_equal(one, other)
    assert np.any(one)
