# SPDX-License-Identifier: Apache-2.0
"""Slip and wrong encoders: statistics against second fits, names, odometry that goes on."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import C3P, robots_in_motion, vectors

from c3p_description.model import CasterRobot
from c3p_kernels.compiled import borrowed, kernel
from c3p_kinematics import _fault_kernels as kernels
from c3p_kinematics.casters import inverse
from c3p_kinematics.fault_report import ENCODER, KINDS, OF_STEERING, SURE, FaultReport
from c3p_kinematics.faults import FaultMonitor, FaultSettings
from c3p_kinematics.odometry import Odometry
from c3p_kinematics.odometry_states import Faults, RigidFit
from c3p_kinematics.se2 import integrate

cut_faults = Faults.cut
cut_fit = RigidFit.cut

DT, PARTS = 0.005, 5
WHEEL, STEERING = 2 * np.pi / 2000, 2 * np.pi / 4096
# begin of a fault, samples
AT = 300
FOUR = CasterRobot.regular(0.343, np.radians([45.0, 135.0, 225.0, 315.0]), 0.04, 0.04, 30.0, 3.51)
JOINTS = ('w_1', 'w_2', 'w_3', 'w_4')
SEVERAL = ('more than one wheel slips, or has a wrong encoder, or the description is wrong '
           '(order, sign or zero of the joints)')


@kernel
def compared(block, motion, geometry):
    """Do as `hypotheses` for one sample; the states are blocks of Faults and RigidFit."""
    n = len(geometry)
    return kernels.hypotheses(borrowed(geometry), cut_fit(motion, n), cut_faults(block, n), 0.005)


def drive(robot, seed, count=900, scale=1.0, slip=None):
    """
    Return steering, wheel angles and poses of a smooth drive, integrated by midpoints.

    With a `slip` (caster, first and last sample, its velocity along and across) of a caster.
    """
    rng = np.random.default_rng(seed)
    steering, wheel, pose = rng.uniform(-3, 3, robot.count), np.zeros(robot.count), np.zeros(3)
    phase, pace, h = rng.uniform(0, 6, 3), rng.uniform(0.5, 1.5, 3), DT / PARTS
    out = []
    for k in range(count * PARTS):
        if k % PARTS == 0:
            out.append((steering, wheel, pose))
        twist = scale * np.array([0.4, 0.4, 0.8]) * np.sin(phase + pace * (k + 0.5) * h)
        more = np.zeros((2, robot.count))
        if slip is not None and slip[1] <= k // PARTS < slip[2]:
            more[:, slip[0]] = slip[3]
        more /= [robot.wheel_radius, -robot.caster_offset]
        _, turning, _ = inverse(robot, steering, twist)
        rates, turning, _ = inverse(robot, steering + 0.5 * h * (turning + more[1]), twist)
        rates = rates + more[0]
        turning = turning + more[1]
        steering, wheel = steering + h * turning, wheel + h * rates
        pose = integrate(pose, h * twist)
    return tuple(np.array(column) for column in zip(*out, strict=True))


def counts(angle, step):
    return step * np.floor(angle / step)


def broken(kind, steering, wheel, caster, rng):
    """Return angles with a wrong encoder from AT on."""
    steering, wheel, time = steering.copy(), wheel.copy(), DT * np.arange(len(steering) - AT)
    sense = rng.choice([-1.0, 1.0])
    if kind == 'steering encoder drift':
        # the fault of the task: 2 rad/s for 2 s
        steering[AT:, caster] += sense * 2.0 * np.minimum(time, 2.0)
    elif kind == 'steering encoder jump':
        steering[AT:, caster] += sense * rng.uniform(0.3, 3.0)
    elif kind == 'steering encoder stuck':
        steering[AT:, caster] = steering[AT, caster]
    elif kind == 'wheel encoder jump':
        wheel[AT:, caster] += sense * rng.uniform(0.3, 3.0)
    elif kind == 'wheel encoder stuck':
        wheel[AT:, caster] = wheel[AT, caster]
    else:
        wheel[AT:, caster] += sense * 0.2 / 0.04 * time
    return steering, wheel


def watched(robot, steering, wheel, settings=None):
    """Return the reports of a monitor on quantised angles."""
    monitor = FaultMonitor(robot, WHEEL, STEERING, settings)
    steering, wheel = counts(steering, STEERING), counts(wheel, WHEEL)
    turned, rolled = np.diff(steering, axis=0), np.diff(wheel, axis=0)
    return [monitor.step(DT, steering[k] + 0.5 * turned[k], rolled[k] / DT, turned[k] / DT)
            for k in range(len(turned))]


@given(robots_in_motion(min_casters=3), vectors(12, 0.3), st.floats(0.0, 0.02))
@settings(max_examples=30)
def test_the_statistics_are_those_of_second_fits_without_the_rows(case, noise, creep):
    robot, steering, twist, _ = case
    n = robot.count
    wheel, turn, _ = inverse(robot, steering, twist)
    wheel, turn = wheel + np.resize(noise, n), turn + np.resize(noise[::-1], n)
    deviation = np.array([0.01, 0.02, 0.0, 0.0, 0.0, 0.0, creep])
    motion, faults = RigidFit.new(n), Faults.new(n, time_constant=1e-300, leak=0.5)
    motion.steering[:], motion.wheel_rate[:], motion.steering_rate[:] = steering, wheel, turn
    faults.noise[:], faults.trusted[:] = deviation, 1.0
    # without a low-pass; the creep by the speed along alone, as the others are of the last sample
    total = compared(faults.block, motion.block, robot.geometry)
    statistic = faults.statistic
    e = np.column_stack([-np.sin(steering), np.cos(steering)])
    a = np.column_stack([np.cos(steering), np.sin(steering)])
    x, y = robot.hip_position.T
    rows = np.stack([np.column_stack([e, x * e[:, 1] - y * e[:, 0]]),
                     np.column_stack([a, x * a[:, 1] - y * a[:, 0] + robot.caster_offset])], 1)
    value = np.column_stack([robot.wheel_radius * wheel, -robot.caster_offset * turn])
    sigma = np.hypot(deviation[:2], (creep * np.abs(value[:, :1])))

    def chi(kept):
        left, right = (rows / sigma[..., None])[kept], (value / sigma)[kept]
        return float(np.sum((right - left @ np.linalg.lstsq(left, right, rcond=None)[0])**2))

    every = np.ones((n, 2), bool)
    assert total == pytest.approx(chi(every), rel=1e-6, abs=1e-6)
    for i in range(n):
        for rows_out, hypothesis in ((0, kernels.ALONG), (1, kernels.ACROSS),
                                     ([0, 1], kernels.BOTH)):
            kept = every.copy()
            kept[i, rows_out] = False
            assert statistic[i, hypothesis] == pytest.approx(chi(kept), rel=1e-5,
                                                             abs=1e-6 * (1 + total))


@pytest.mark.parametrize('kind', KINDS[1:3] + KINDS[5:8])
def test_a_wrong_encoder_is_found_soon_and_named(kind):
    """Right caster and kind for all that are sure; found within 0.1 s of a trace of 1 mm."""
    late = []
    for seed in range(6):
        robot, rng = (C3P, FOUR)[seed % 2], np.random.default_rng([seed, 7])
        steering, wheel, _ = drive(robot, seed)
        caster = int(rng.integers(robot.count))
        shown = broken(kind, steering, wheel, caster, rng)
        lever = np.array([0.04, 0.04])
        trace = np.maximum(*(r * np.abs(s - t)[:, caster] for r, s, t in zip(
            lever, shown, (steering, wheel), strict=True)))
        begin = int(np.argmax(trace > 1e-3))
        reports = watched(robot, *shown)
        assert not any(r.alarm for r in reports[:AT - 1])
        late.append(DT * (next(k for k, r in enumerate(reports) if r.alarm) - begin))
        sure = [r for r in reports if r.probability.max() >= SURE]
        last = sure[-1] if sure else reports[-1]
        assert last.caster == caster and last.confidence >= SURE
        # a blocked wheel has no counts either: half of each
        named = last.probability[caster, KINDS.index(kind)]
        assert named >= (0.45 if kind == 'wheel encoder stuck' else SURE), last.text(JOINTS)
    assert np.median(late) <= 0.1 and max(late) <= 0.8


@pytest.mark.parametrize('kind', ['wheel encoder jump', 'steering encoder jump'])
def test_a_jump_is_named_where_the_joints_of_a_sample_are_of_different_times(kind):
    """Samples last 2 to 8 ms, and the speed of the jump itself is no reason to expect it."""
    caster = 1
    found = []
    for seed in range(8):
        robot = (C3P, FOUR)[seed % 2]
        rng = np.random.default_rng([seed, 3])
        angles = np.hstack(drive(robot, 60 + seed)[:2])
        known = DT * np.arange(len(angles))
        taken = np.cumsum(rng.uniform(0.002, 0.008, 800))
        late = rng.normal(0.0, 0.0025, angles.shape[1])
        seen = np.column_stack([np.interp(taken + t, known, a)
                                for t, a in zip(late, angles.T, strict=True)])
        column = caster + (robot.count if kind.startswith('wheel') else 0)
        seen[AT:, column] += rng.choice([-1.0, 1.0]) * rng.uniform(1.0, 3.0)
        monitor = FaultMonitor(robot, WHEEL, STEERING, skew=0.0025)
        reports = []
        for k in range(1, AT + 40):
            dt = taken[k] - taken[k - 1]
            steering, wheel = np.split(0.5 * (seen[k] + seen[k - 1]), 2)
            steered, rolled = np.split((seen[k] - seen[k - 1]) / dt, 2)
            reports.append(monitor.step(dt, steering, rolled, steered))
        assert not any(r.alarm for r in reports[:AT - 1])
        found.append(reports[-1])
    assert all(r.alarm and r.caster == caster for r in found)
    assert [r.kind for r in found] == [kind] * len(found)


@pytest.mark.parametrize('begin', [60, 150, AT])
def test_a_slip_in_any_direction_names_no_other_wheel_however_soon_after_the_start(begin):
    """
    A slip along and across competes with a slip along or across another wheel.

    Where the line between two contact points is perpendicular to it both explain it for as long as
    it lasts, and neither is named.
    """
    named = []
    for k in range(48):
        rng = np.random.default_rng([k, begin])
        angle = rng.uniform(0.0, 2.0 * np.pi)
        caster = k % 3
        slip = (caster, begin, begin + 60, 0.1 * np.array([np.cos(angle), np.sin(angle)]))
        steering, wheel, _ = drive(C3P, 100 + k % 8, begin + 70, scale=0.6, slip=slip)
        sure = [r.caster for r in watched(C3P, steering, wheel) if r.confidence >= SURE]
        named += [caster == other for other in sure[:1]]
    assert named.count(False) == 0
    assert len(named) >= 40


def test_a_wheel_that_spins_and_an_encoder_that_drifts_cannot_be_told():
    steering, wheel, _ = drive(C3P, 3)
    shown = broken('wheel encoder drift', steering, wheel, 1, np.random.default_rng(0))
    early, late = (watched(C3P, *shown)[k] for k in (AT + 20, AT + 590))
    for report in (early, late):
        assert report.caster == 1 and report.confidence > SURE
        assert 'rolling slip' in report.text(JOINTS) and 'drift' in report.text(JOINTS)
    # no slip lasts for ever
    assert early.kind == 'rolling slip'
    assert late.probability[1, 3] > early.probability[1, 3]


def test_a_wheel_without_motor_cannot_be_faster_than_the_floor():
    robot = replace(C3P, driven=np.array([True, False, True]))
    steering, wheel, _ = drive(robot, 3)
    wheel[AT:, 1] += 5.0 * DT * np.sign(wheel[AT + 20, 1] - wheel[AT, 1]) * np.arange(
        len(wheel) - AT)
    assert watched(robot, steering, wheel)[AT + 20].kind == 'wheel encoder drift'


def test_two_casters_cannot_tell():
    pair = CasterRobot.regular(0.3, np.radians([0.0, 180.0]), 0.04, 0.04, 30.0, 3.51)
    steering, wheel, _ = drive(pair, 4)
    wheel[AT:, 0] += 0.2 * np.arange(len(wheel) - AT)
    last = next(r for r in watched(pair, steering, wheel) if r.alarm)
    assert last.caster == -1 and not last.probability.any()
    assert 'two casters' in last.text(JOINTS[:2])


def test_wrong_descriptions_raise_no_alarm():
    """Errors of r 0.3 %, d 2 %, hip 2 mm, zero 0.3° (standard deviations), 60 s of driving."""
    for seed in range(15):
        rng = np.random.default_rng([seed, 1])
        robot = (C3P, FOUR)[seed % 2]
        n = robot.count
        steering, wheel, _ = drive(robot, 100 + seed, 800)
        described = replace(robot, wheel_radius=robot.wheel_radius * rng.normal(1, 0.003, n),
                            caster_offset=robot.caster_offset * rng.normal(1, 0.02, n),
                            hip_position=robot.hip_position + rng.normal(0, 0.002, (n, 2)))
        reports = watched(described, steering + np.radians(rng.normal(0, 0.3, n)), wheel)
        assert not any(r.alarm for r in reports)


@pytest.mark.parametrize(('seed', 'begin'), [(3, 61), (3, 60), (1, 64)])
def test_a_wheel_is_named_soon_after_an_alarm_wherever_a_window_of_wirings_ends(seed, begin):
    """At 100 Hz; a window that ended between the first sample of a slip and its alarm counts."""
    steering, wheel, _ = drive(C3P, seed, scale=0.3)
    steering, wheel = steering[::2], wheel[::2]
    wheel[begin:, 1] += 6.0 * 2.0 * DT * np.arange(len(wheel) - begin)
    odometry = Odometry(C3P)
    alarms = 0
    for k, (s, w) in enumerate(zip(counts(steering, STEERING), counts(wheel, WHEEL), strict=True)):
        faults = odometry.step(2.0 * DT * k, s, w).faults
        alarms += faults.alarm
        if faults.caster == 1:
            break
    assert k < begin + 8 and 0 < alarms <= 2


@pytest.mark.parametrize('seed', range(4))
def test_odometry_goes_on_without_a_drifting_steering_encoder(seed):
    """Within 2 cm and 1.5° after 3 s; with the caster in the fit it is up to a metre and 150°."""
    robot, rng = (C3P, FOUR)[seed % 2], np.random.default_rng(seed)
    steering, wheel, pose = drive(robot, 40 + seed)
    shown = broken('steering encoder drift', steering, wheel, seed % robot.count, rng)
    odometry = Odometry(robot)
    for k, (s, w) in enumerate(zip(counts(shown[0], STEERING), counts(shown[1], WHEEL),
                                   strict=True)):
        estimate = odometry.step(DT * k, s, w)
    assert not estimate.faults.trust[seed % robot.count].any()
    off = estimate.pose - pose[-1]
    assert math.hypot(*off[:2]) < 0.02
    assert abs(math.remainder(off[2], 2 * math.pi)) < math.radians(1.5)


@pytest.mark.parametrize(('kind', 'along', 'across'), [
    ('rolling slip', 0, 0), ('wheel encoder stuck', 0, 1), ('wheel encoder jump', 0, 1),
    ('wheel encoder drift', 0, 1), ('steering encoder stuck', 0, 0),
    ('steering encoder jump', 0, 0), ('steering encoder drift', 0, 0)])
def test_odometry_uses_the_row_that_a_fault_leaves(kind, along, across):
    """A tyre that spins does not hold sideways; a wrong wheel encoder says nothing about it."""
    probability = np.zeros((3, len(KINDS)))
    probability[1, KINDS.index(kind)] = 0.97
    trust = FaultReport(True, probability, 99.0, 20.0, np.zeros(3)).trust
    assert trust.tolist() == [[1, 1], [along, across], [1, 1]]


def test_the_numbering_of_casters_does_not_matter():
    steering, wheel, _ = drive(FOUR, 8, 500)
    shown = broken('steering encoder drift', steering, wheel, 2, np.random.default_rng(1))
    order = np.array([2, 0, 3, 1])
    other = replace(FOUR, hip_position=FOUR.hip_position[order])
    one = watched(FOUR, *shown)[-1]
    two = watched(other, shown[0][:, order], shown[1][:, order])[-1]
    np.testing.assert_allclose(two.probability, one.probability[order], atol=1e-6)


def test_a_sample_that_is_no_number_changes_nothing():
    monitor = FaultMonitor(C3P)
    report = monitor.step(0.01, [0, np.nan, 0], [1e9, 0, 0], [0, 0, 0])
    assert not report.alarm and report.statistic == 0.0 and report.text(JOINTS) == ''
    with pytest.raises(ValueError, match='steering has shape'):
        monitor.step(0.01, [0, 0], [0, 0], [0, 0])


def report(*rows, alarm=True):
    """Return a report with these probabilities of the kinds, in their order, by caster."""
    table = np.zeros((3, len(KINDS)))
    for caster, row in enumerate(rows):
        table[caster, :len(row)] = row
    return FaultReport(alarm, table, 100.0, 20.0, np.zeros(3))


@pytest.mark.parametrize('rows, text', [
    (([0.97],), 'w_1: rolling slip 0.97'),
    # one kind alone, and not sure: there is nothing that it is distinguished from
    (([0.9],), 'w_1: rolling slip 0.90'),
    (([0.6], [0.3]), 'w_1: rolling slip 0.60 or w_2: rolling slip 0.30, not distinguishable'),
    (([0.4, 0.3], [0.2], [0.06]), 'w_1: rolling slip 0.40 or w_1: wheel encoder stuck 0.30 or '
                                  'w_2: rolling slip 0.20, not distinguishable'),
    (([0.04], [0.04]), f'{SEVERAL}, probability 0.92'),
    (([0.3], [0.1]), f'{SEVERAL}, probability 0.60'),
    ((), f'{SEVERAL}, probability 1.00')])
def test_the_text_names_what_is_likely_and_says_when_it_is_not_one_caster(rows, text):
    assert report(*rows).text(JOINTS[:3]) == text
    assert report(*rows, alarm=False).text(JOINTS[:3]) == ''


@pytest.mark.parametrize('kind', range(len(KINDS)))
def test_kinds_of_encoders_are_those_with_encoder_in_their_name(kind):
    assert ENCODER[kind] == ('encoder' in KINDS[kind])
    assert OF_STEERING[kind] == ('steering' in KINDS[kind])


@pytest.mark.parametrize('dt', [0.012, 0.1, 1.0])
def test_one_sample_alone_changes_no_alarm_however_long_it_lasts(dt):
    """After a gap, or where late rates state a long one; joints of one sample may be apart."""
    monitor = FaultMonitor(C3P, settings=FaultSettings(released_after=0.0))

    def alarm(*statistics):
        for statistic in statistics:
            monitor.judge(dt, np.ones(3), statistic * monitor.threshold, np.zeros(3))
        return monitor.alarm

    assert not alarm(2.0) and not alarm(0.5, 2.0) and alarm(2.0)
    assert alarm(0.0) and alarm(0.5, 0.0)
    assert not alarm(*[0.0] * (1 + int(0.2 / dt + 1.0)))
    # but where no time is demanded one is enough
    monitor = FaultMonitor(C3P, settings=FaultSettings(persistence=0.0))
    assert alarm(2.0)


def test_an_alarm_begins_and_ends_after_an_uninterrupted_time():
    monitor = FaultMonitor(C3P, settings=FaultSettings(persistence=0.02, release=0.05))
    high, low = 2.0 * monitor.threshold, 0.0

    def states(*statistics):
        found = []
        for statistic in statistics:
            monitor.judge(DT, np.ones(3), statistic, np.zeros(3))
            found.append(monitor.alarm)
        return found

    # 3 cycles are too short, also with others behind a pause
    assert not any(states(*[high] * 3, low, *[high] * 3, low, *[high] * 3))
    assert states(low, *[high] * 6)[-1]
    assert all(states(*[low] * 9, high, *[low] * 9, high))
    assert not states(*[low] * 12)[-1]
    # the threshold itself is no alarm
    assert not any(states(*[monitor.threshold] * 50))
    monitor.reset()
    assert np.isinf(monitor.state.memory[:, kernels.LEAPT:kernels.LEAPT + 2]).all()
    assert FaultSettings().memory == 2.0 and FaultSettings().persistence == 0.01
