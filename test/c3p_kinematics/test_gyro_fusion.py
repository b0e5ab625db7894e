# SPDX-License-Identifier: Apache-2.0
"""A gyro in the odometry: against a filter in NumPy, known turns, and drives that slip."""

import math
from dataclasses import replace

import numpy as np
import pytest
from gyro_drives import C3P, GYRO, STAND, Gyro, gyro_samples, odometry, replay, roll, twists

from c3p_kinematics.calibrating_odometry import CalibratingOdometry
from c3p_kinematics.calibration.parameters import Prior, calibrated, parameters_of
from c3p_kinematics.odometry import Odometry, OdometrySettings
from c3p_kinematics.se2 import wrap

NOISE = 1.7e-4

# all equations of the wheels have equal weights, and no errors but those that are given
EQUAL = {'tyre_creep': 0.0, 'side_slip': 0.0}


@pytest.fixture(scope='module')
def drive():
    return roll(C3P, *twists(12.0, 1))


def turned(twist, seconds=40.0, stand=2.0, counts=(2000, 4096)):
    """Return the drive of a robot that stands, turns at a constant rate, and stands.

    Its casters trail from the begin: while they swing a gyro without noise sees one radius alone.
    """
    time = np.arange(0.0, seconds, 0.005)
    soft = np.clip((time - stand) / 0.5, 0, 1) * np.clip((seconds - stand - time) / 0.5, 0, 1)
    swung = roll(C3P, time[:1000], np.tile(twist, (1000, 1)), counts=(0, 0)).steering[-1]
    return roll(C3P, time, soft[:, None] * np.asarray(twist), start=swung, counts=counts)


def joints_alone(**settings):
    return Odometry(C3P, OdometrySettings(stamp_jitter=0.0, sample_skew=0.0, **settings))


def test_without_a_gyro_nothing_is_computed_and_nothing_changes(drive):
    plain = replay(joints_alone(), drive)
    # enabled for the calibration alone
    off = replay(joints_alone(gyro=replace(GYRO, odometry=False)), drive)
    assert joints_alone().gyro is None and plain[-1].gyro is None
    for a, b in zip(plain, off, strict=True):
        assert np.array_equal(a.pose, b.pose)
        assert np.array_equal(a.pose_covariance, b.pose_covariance)


def test_a_silent_gyro_leaves_the_pose_of_the_joints(drive):
    silent = replay(odometry(), drive)
    plain = replay(joints_alone(), drive)
    apart = [a.pose - b.pose for a, b in zip(silent, plain, strict=True)]
    # moved by another order of the same products
    assert np.abs(apart).max() < 1e-12
    ratio = silent[-1].pose_covariance / plain[-1].pose_covariance
    # errors of the yaw within a span act from its middle on
    assert np.allclose(np.diag(ratio), 1.0, atol=0.02)
    assert 'no message so far' in silent[-1].gyro.text()


def test_the_pose_follows_its_stamps_whenever_the_messages_arrive(drive):
    samples = gyro_samples(drive, Gyro(noise=NOISE, bias=0.01, rate=150.0))
    early, late = (replay(odometry(), drive, samples, late=late) for late in (0.0, 0.04))
    for a, b in zip(early, late, strict=True):
        assert np.array_equal(a.pose, b.pose)
        assert np.array_equal(a.pose_covariance, b.pose_covariance)


@pytest.mark.parametrize('rate', [50.0, 200.0, 1000.0])
def test_bias_and_scale_are_learned_at_any_rate(rate):
    """Ten turns by wheels that are right, and a gyro with 0.7 % of scale and 0.6°/s of bias."""
    drive = turned((0.0, 0.0, 1.8))
    exact = Prior(1e-6, 1e-6, 1e-6, 1e-6)
    found = replay(odometry(prior=exact), drive, gyro_samples(
        drive, Gyro(rate, bias=0.01, scale=0.007, noise=NOISE)))[-1].gyro
    assert abs(drive.pose[-1, 2]) > 10 * 2 * math.pi
    assert abs(found.bias - 0.01) < 4 * found.bias_std < 2e-3
    assert abs(found.scale - 1.007) < 4 * found.scale_std < 4e-3


def test_a_known_turn_is_the_fusion_of_two_scales():
    """
    Robot with one wheel radius for all, wrong by 0.9 %; gyro with a scale of 1 ± 1 %.

    Turned ten times, both deviate by their scale. The best estimate is their mean, weighted by
    the inverse variances, and that has the inverse variance of their sum.
    """
    drive = turned((0.0, 0.0, 1.8))
    # common error of the radii: three independent ones of σ have σ/√3 in the yaw
    radius = 0.01 * math.sqrt(3.0)
    wrong = parameters_of(C3P)
    wrong[:, 0] *= 1.009
    prior = Prior(radius, 1e-6, 1e-6, 1e-6)
    found = replay(odometry(calibrated(C3P, wrong), prior=prior, **EQUAL,
                            yaw_variance_per_metre=0.0, yaw_variance_per_radian=1e-9,
                            initial_yaw_std=1e-6), drive,
                   gyro_samples(drive, Gyro(scale=-0.004, noise=NOISE)))[-1]
    turn = drive.pose[-1, 2]
    wheels = wrap(found.pose[2] - turn)
    # r of the caster and d/h of its contact give the yaw: by the joints alone for the weights
    alone = replay(Odometry(calibrated(C3P, wrong), OdometrySettings(
        prior=prior, stamp_jitter=0.0, sample_skew=0.0, yaw_variance_per_metre=0.0,
        yaw_variance_per_radian=1e-9, initial_yaw_std=1e-6, **EQUAL)), drive)[-1]
    e_w = wrap(alone.pose[2] - turn)
    s_w = math.sqrt(alone.pose_covariance[2, 2])
    e_g = -0.004 * turn
    s_g = 0.01 * abs(turn)
    # the weights that it has used, and the deviation that follows from them
    part = (wheels - e_g) / (e_w - e_g)
    follows = math.hypot(part * s_w, (1.0 - part) * s_g)
    stated = math.sqrt(found.pose_covariance[2, 2])
    assert stated == pytest.approx(follows, rel=0.04)
    # a filter that does not estimate the radii is within 5 % of the best one
    assert 1.0 / math.hypot(1.0 / s_w, 1.0 / s_g) == pytest.approx(stated, rel=0.05)


def test_the_filter_is_that_of_numpy():
    """
    Straight on with white yaw noise of the wheels: a Kalman filter of yaw, bias and scale.

    Without errors of description and steering angles nothing else is uncertain.
    """
    drive = turned((0.4, 0.0, 0.0), 20.0, counts=(2000, 0))
    exact = Prior(1e-6, 1e-6, 1e-6, 1e-6)
    growth = 3e-6
    # half of the noise that the filter assumes: no turn counts as slip of the wheels
    samples = gyro_samples(drive, Gyro(noise=0.5 * NOISE, bias=0.005))
    mine = odometry(prior=exact, steering_resolution=0.0, yaw_variance_per_metre=growth,
                    yaw_variance_per_radian=0.0, position_variance_per_metre=0.0,
                    position_variance_per_radian=0.0, **EQUAL)
    spans = []

    def collect(k, estimate):
        pending = mine.gyro._state.pending
        span = (*pending.time, float(pending.turned[0]))
        if span[1] > 0.0 and (not spans or spans[-1] != span):
            spans.append(span)

    found = replay(mine, drive, samples, each=collect)[-1]
    angle = np.concatenate([[0.0], np.cumsum(0.5 * (samples[1][1:] + samples[1][:-1])
                                             * np.diff(samples[0]) * 1e-9)])
    path = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(drive.pose[:, :2], axis=0).T))])
    # errors of yaw, bias, and of the yaw by the rounded angles of the last sample
    state = np.zeros(2)
    covariance = np.diag([1e-6, 0.035**2, 0.0])
    rounding = mine.gyro._state.rounding
    for begin, end, turned_by_wheels in spans[:found.gyro.fused]:
        span = end - begin
        moved = np.diff(np.interp([begin, end], drive.time, path))[0]
        gyro = np.diff(np.interp([begin, end], samples[0] * 1e-9, angle))[0]
        # the same, then: noise of the wheels, walk of the bias, new rounding, noise of the gyro
        joint = np.zeros((7, 7))
        joint[:3, :3] = covariance
        joint[3:, 3:] = np.diag([growth * moved, 4e-8 * span, rounding, NOISE**2 * span])
        after = np.array([[1, 0, -1, 1, 0, 1, 0], [0, 1, 0, 0, 1, 0, 0], [0, 0, 0, 0, 0, 1, 0]])
        # gyro less bias and turn of the wheels, which is hardly more than rounding: straight on
        seen = np.array([0, -span, 1, -1, -span, -1, 1])
        variance = seen @ joint @ seen
        gain = after @ joint @ seen / variance
        covariance = after @ joint @ after.T - np.outer(gain, gain) * variance
        state -= gain[:2] * (gyro - state[1] * span - turned_by_wheels)
        state[0] += turned_by_wheels
    yaw, bias = state
    assert found.gyro.bias == pytest.approx(bias, abs=0.02 * found.gyro.bias_std)
    assert found.gyro.bias_std == pytest.approx(math.sqrt(covariance[1, 1]), rel=1e-3)
    assert mine.gyro._state.base[2] == pytest.approx(yaw, abs=0.02 * math.sqrt(covariance[0, 0]))
    assert math.sqrt(mine.gyro._state.covariance[2, 2]) == pytest.approx(
        math.sqrt(covariance[0, 0]), rel=1e-3)


def test_the_gyro_carries_the_heading_while_wheels_slip(drive):
    """One wheel turns 4 % too far for four seconds, below every alarm."""
    def slipping(k):
        return (k > 1000) & (k < 1800)

    k = np.arange(len(drive.time))
    more = np.cumsum(np.diff(drive.wheel[:, 0], prepend=drive.wheel[0, 0]) * slipping(k) * 0.04)
    wheel = drive.wheel.copy()
    wheel[:, 0] += more
    slipped = drive._replace(wheel=wheel)
    samples = gyro_samples(drive, Gyro(noise=NOISE, bias=0.01))
    # learned weights would have a tenth of this error already
    fused = replay(odometry(**EQUAL), slipped, samples)[-1]
    plain = replay(joints_alone(**EQUAL), slipped)[-1]

    def off(estimate):
        return abs(wrap(estimate.pose[2] - drive.pose[-1, 2]))

    assert off(plain) > 0.015
    assert off(fused) < 0.35 * off(plain)


@pytest.mark.parametrize('learns', [False, True])
def test_the_covariance_is_as_large_as_the_errors(learns):
    """
    Eight wrong descriptions and gyros, three times each: 72 freedoms, of which times correlate.

    For independent ones 99 % are within 0.62 and 1.47; 24 of them within 0.41 and 1.9.
    """
    settings = OdometrySettings(gyro=GYRO, stamp_jitter=0.0, sample_skew=0.0)
    deviations = Prior().deviations(C3P).reshape(3, 5)
    squares = []
    for seed in range(8):
        rng = np.random.default_rng([23, seed])
        true = calibrated(C3P, parameters_of(C3P) + deviations * rng.normal(size=(3, 5)))
        drive = roll(true, *twists(16.0, 100 + seed))
        samples = gyro_samples(drive, Gyro(
            bias=0.02 * rng.normal(), scale=0.01 * rng.normal(), latency=0.015, noise=NOISE,
            walk=GYRO.bias_walk, seed=seed))
        mine = (CalibratingOdometry if learns else Odometry)(C3P, settings)
        mine.reset(rng.normal(size=3) * 1e-3)
        found = replay(mine, drive, samples, late=0.02)
        for k in (1400, 2200, 3000):
            miss = found[k].pose - drive.pose[k]
            miss[2] = wrap(miss[2])
            squares.append(miss @ np.linalg.solve(found[k].pose_covariance, miss) / 3.0)
        assert found[-1].gyro.trusted
    assert 0.35 < np.mean(squares) < 1.9


@pytest.mark.parametrize(('wrong', 'named'), [
    (lambda t, r: 57.3 * r, 'degrees per second?'),
    (lambda t, r: -r, 'upside down?'),
    (lambda t, r: r / 57.3, 'converted to radians twice?'),
    (lambda t, r: 0.0 * r, 'stuck or saturated?'),
    (lambda t, r: np.where(t > 5.0, r[t > 5.0][0], r), 'stuck or saturated?'),
    (lambda t, r: np.clip(r, -0.2, 0.2), 'stuck or saturated?'),
    (lambda t, r: 1.3 * r, "1.3 times the joints' yaw rate: a wrong scale"),
    (lambda t, r: np.where(t < 5.0, r, 0.5 * np.sin(9.0 * t)), "times the joints' yaw rate")])
def test_a_gyro_that_contradicts_the_joints_is_named_and_left_out(drive, wrong, named):
    stamps, rates = gyro_samples(drive, Gyro(noise=NOISE))
    found = replay(odometry(), drive, (stamps, wrong(stamps * 1e-9, rates)))
    texts = {estimate.gyro.text() for estimate in found if estimate.gyro}
    assert any(named in text for text in texts), texts
    assert not found[-1].gyro.used
    # neither in the heading, nor as a jump: a scale of 1.3 acts for a fifth of a second
    yaw = np.unwrap([estimate.pose[2] for estimate in found])
    assert np.abs(yaw - drive.pose[:, 2]).max() < 0.02
    assert np.abs(np.diff(yaw - drive.pose[:, 2])).max() < 0.02


def test_a_gyro_that_agrees_again_is_used_again(drive):
    stamps, rates = gyro_samples(drive, Gyro(noise=NOISE))
    time = stamps * 1e-9
    found = replay(odometry(), drive, (stamps, np.where((time > 5.0) & (time < 6.0), -rates,
                                                        rates)))
    out = np.array([e.gyro is not None and not e.gyro.trusted for e in found])
    assert 5.1 < drive.time[out][0] < 5.6
    assert 2.0 < drive.time[out][-1] - 6.0 < 4.0
    assert found[-1].gyro.used


def test_samples_without_order_are_left_out_and_clock_steps_begin_anew(drive):
    stamps, rates = gyro_samples(drive, Gyro(noise=NOISE))
    mine = odometry()
    assert mine.gyro.measure(10**9, 0.1) and not mine.gyro.measure(10**9, 0.1)
    assert not mine.gyro.measure(10**9 - 10**6, 0.1) and not mine.gyro.measure(2 * 10**9, math.nan)
    # set back: another time line
    assert mine.gyro.measure(10**8, 0.1)
    # a second lost, and repeated stamps
    kept = (stamps < 6 * 10**9) | (stamps > 7 * 10**9)
    doubled = np.repeat(np.flatnonzero(kept), 2)
    found = replay(odometry(), drive, (stamps[doubled], rates[doubled]))
    assert found[-1].gyro.used
    assert np.hypot(*(found[-1].pose - drive.pose[-1])[:2]) < 0.01


def test_joints_whose_clock_is_set_keep_the_pose_and_go_on(drive):
    stamps, rates = gyro_samples(drive, Gyro(noise=NOISE, bias=0.01))
    half = 1400
    shift = np.where(np.arange(len(drive.time)) < half, 0.0, -5.0)
    jump = int(drive.time[half] * 1e9)
    mine = odometry()
    before = replay(mine, drive._replace(time=drive.time + shift),
                    (np.where(stamps < jump, stamps, stamps - 5 * 10**9), rates))
    assert before[-1].gyro.used
    # the step over the jump is lost
    assert np.hypot(*(before[-1].pose - drive.pose[-1])[:2]) < 0.02


def test_bits_do_not_depend_on_which_sample_came_first(drive):
    stamps, rates = gyro_samples(drive, Gyro(noise=NOISE, bias=0.01))
    first = odometry()
    first.gyro.measure(int(stamps[0]) - 3_000_001, 0.01)
    first.gyro.forget()
    first.step(drive.time[0], drive.steering[0], drive.wheel[0])
    first.warm_up()
    begun = replay(first, drive, (stamps, rates))
    for a, b in zip(begun, replay(odometry(), drive, (stamps, rates)), strict=True):
        assert np.array_equal(a.pose_covariance, b.pose_covariance)
        assert np.array_equal(a.pose, b.pose)


def test_a_set_pose_keeps_what_is_known_of_the_gyro(drive):
    mine = odometry()
    replay(mine, drive, gyro_samples(drive, Gyro(noise=NOISE, bias=0.01)))
    mine.reset((1.0, 2.0, 0.5))
    assert mine.pose.tolist() == [1.0, 2.0, 0.5]
    still = [drive.steering[-1], drive.wheel[-1]]
    estimate = mine.step(drive.time[-1] + 0.005, *still)
    assert estimate.pose.tolist() == [1.0, 2.0, 0.5]
    assert abs(estimate.gyro.bias - 0.01) < 1e-3
    assert np.diag(estimate.pose_covariance)[:2].max() < 1e-5


def test_standstill_holds_the_heading_and_learns_the_bias():
    time, twist = twists(20.0, 3)
    drive = roll(C3P, time, 0.0 * twist)
    samples = gyro_samples(drive, Gyro(noise=NOISE, bias=0.02))
    found = replay(odometry(), drive, samples)[-1]
    assert abs(found.pose[2]) < 1e-4 and abs(found.gyro.bias - 0.02) < 1e-3
    assert STAND > 0


def test_a_forgotten_calibration_leaves_a_valid_covariance(drive):
    """The errors of another estimate are not those that the pose has."""
    mine = CalibratingOdometry(C3P, OdometrySettings(gyro=GYRO, stamp_jitter=0.0,
                                                     sample_skew=0.0))
    samples = gyro_samples(drive, Gyro(noise=NOISE))

    def forget(k, estimate):
        if k in (1200, 1900):
            mine.forget()
        assert np.linalg.eigvalsh(estimate.pose_covariance)[0] > 0.0

    replay(mine, drive, samples, each=forget)
    joint = mine.gyro._state
    assert np.linalg.eigvalsh(np.block([[joint.covariance, joint.cross],
                                        [joint.cross.T, mine._lasting.spread]]))[0] > -1e-9


def test_a_copy_goes_on_alone(drive):
    import copy
    samples = gyro_samples(drive, Gyro(noise=NOISE))
    mine = odometry()
    replay(mine, drive._replace(**{f: getattr(drive, f)[:1000] for f in drive._fields}), samples)
    other = copy.deepcopy(mine)
    before = mine.gyro._state.block.copy()
    other.gyro.measure(99 * 10**9, 1.0)
    other.reset()
    assert np.array_equal(mine.gyro._state.block, before, equal_nan=True)
