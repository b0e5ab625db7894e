# SPDX-License-Identifier: Apache-2.0
"""Faults that last: ratios of wheels, play and noise of a steering, exchanged casters."""

import numpy as np
import pytest
from robots import C3P
from test_fault_monitor import DT, FOUR, JOINTS, STEERING, WHEEL, counts, drive, watched

from c3p_kinematics.fault_report import KINDS, SURE
from c3p_kinematics.joint_watch import JointWatch
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.odometry_data import SYNCHRONOUS

# samples of a drive
COUNT = 4000


def with_play(angle, play):
    """Return what an encoder behind a gear with `play` [rad] shows of `angle` (k,)."""
    shown = np.empty_like(angle)
    follower = angle[0]
    for k, now in enumerate(angle):
        follower = min(max(follower, now - 0.5 * play), now + 0.5 * play)
        shown[k] = follower
    return shown


def named(reports):
    """Return the reports that name one caster with confidence."""
    return [r for r in reports if r.caster >= 0 and r.confidence >= SURE]


@pytest.mark.parametrize(('ratio', 'seed'), [(1.03, 1), (1.05, 2), (1.1, 1), (0.95, 2), (0.9, 1),
                                             (2.0, 2)])
def test_a_constant_ratio_is_named_with_its_size_and_remedy(ratio, seed):
    robot = (C3P, FOUR)[seed % 2]
    steering, wheel, _ = drive(robot, seed, COUNT)
    wheel[:, 1] *= ratio
    last = named(watched(robot, steering, wheel))[-1]
    assert last.caster == 1
    assert last.kind == ('wheel ratio' if ratio > 1.0 else 'wheel encoder loses counts')
    # either is the same without another reference: a larger tyre, or counts that are lost
    assert ratio > 1.0 or last.probability[1, KINDS.index('wheel ratio')] > 0.3
    sizes = last.sizes
    # lengths of the description and creep are in its deviation
    assert abs(sizes.ratio[1] - ratio) < 0.02 * ratio
    text = last.text(JOINTS)
    assert text.startswith('w_2: ') and f'{100 * abs(sizes.ratio[1] - 1.0):.1f} ±' in text
    assert ('gear ratio' if ratio == 2.0 else 'smaller' if ratio > 1.0 else 'larger') in text
    assert 'check' in text


def test_creep_and_a_description_as_expected_are_no_ratio():
    rng = np.random.default_rng(5)
    for seed in range(3):
        steering, wheel, _ = drive(C3P, 20 + seed, COUNT)
        wheel = wheel * (1.0 + rng.normal(0.0, 0.003, 3))
        creep = np.zeros(3)
        shown = wheel.copy()
        for k in range(1, COUNT):
            creep = creep * np.exp(-DT / 0.25) + 0.01 * np.sqrt(
                1.0 - np.exp(-2.0 * DT / 0.25)) * rng.standard_normal(3)
            shown[k] = shown[k - 1] + (1.0 + creep) * (wheel[k] - wheel[k - 1])
        assert not any(r.alarm for r in watched(C3P, steering, shown))


def test_no_sensor_is_called_faulty_for_a_ratio_within_a_tenth():
    """What a finding of the joint watch does is a stop: a worn tyre is no reason for one."""
    for ratio in (0.9, 0.97, 1.03, 1.1):
        steering, wheel, _ = drive(C3P, 3, COUNT)
        wheel[:, 1] *= ratio
        watch = JointWatch(C3P, np.full(3, 0.006))
        assert not any(watch.step(s, w) for s, w in zip(steering, wheel, strict=True))


def test_a_slip_that_ends_is_no_ratio():
    steering, wheel, _ = drive(C3P, 6, 2000)
    time = DT * np.arange(2000)
    wheel[:, 1] += 0.1 / 0.04 * np.clip(time - 4.0, 0.0, 0.4)
    reports = watched(C3P, steering, wheel)
    sure = named(reports)
    assert {r.kind for r in sure} == {'rolling slip'} and {r.caster for r in sure} == {1}
    assert not any(r.probability[:, KINDS.index('wheel ratio')].any() for r in sure)
    assert not any(r.alarm for r in reports[1200:])


def test_play_of_a_steering_is_named_with_its_size():
    for seed in (3, 4):
        robot = (C3P, FOUR)[seed % 2]
        steering, wheel, _ = drive(robot, seed, COUNT)
        steering[:, 1] = with_play(steering[:, 1], np.radians(3.0))
        last = named(watched(robot, steering, wheel))[-1]
        assert (last.caster, last.kind) == (1, 'steering backlash')
        assert np.degrees(last.sizes.backlash[1]) == pytest.approx(3.0, abs=1.0)
        assert 'of play; check the gear' in last.text(JOINTS)


def test_noise_of_a_steering_encoder_is_named():
    rng = np.random.default_rng(4)
    steering, wheel, _ = drive(C3P, 5, 2000)
    steering[:, 2] += np.radians(1.1) * rng.standard_normal(2000)
    sure = named(watched(C3P, steering, wheel))
    assert {r.caster for r in sure} == {2}
    assert np.mean([r.kind == 'steering encoder noise' for r in sure]) > 0.9


@pytest.mark.parametrize('robot', [C3P, FOUR])
@pytest.mark.parametrize('what', ['modules', 'encoders', 'wheels', 'signs', 'zeros'])
def test_no_single_caster_is_accused_of_a_wrong_description(robot, what):
    """Three casters leave one equation without the accused one, which a mirrored robot fulfils."""
    for seed in (0, 1):
        steering, wheel, _ = drive(robot, seed)
        order = [1, 0, *range(2, robot.count)]
        if what in ('modules', 'encoders'):
            steering = steering[:, order]
        if what in ('modules', 'wheels'):
            wheel = wheel[:, order]
        if what == 'signs':
            steering = -steering
        if what == 'zeros':
            steering = steering + np.where(np.arange(robot.count) < 2, 1.0, 0.0)
        odometry = Odometry(robot, OdometrySettings(
            wheel_resolution=WHEEL, steering_resolution=STEERING, **SYNCHRONOUS))
        found = [odometry.step(DT * k, s, w) for k, (s, w) in enumerate(zip(
            counts(steering, STEERING), counts(wheel, WHEEL), strict=True))]
        # the first motion may look like a slip; what lasts does not
        accused = [r for r in found[200:] if r.faults.caster >= 0
                   and r.faults.confidence >= SURE]
        assert len(accused) < 0.05 * len(found)
        assert np.mean([r.faults.several for r in found]) > 0.5
        late = [r for r in found[700:] if r.slip.slipping and r.slip.suspect >= 0
                and r.slip.confidence >= 0.9]
        assert len(late) < 0.05 * len(found)
