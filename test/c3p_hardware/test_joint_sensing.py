# SPDX-License-Identifier: Apache-2.0
"""Counts of motions that are known give their angles and rates; broken encoders are named."""

import numpy as np
import pytest
from device_bench import UNITS, card_settings_of
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import C3P, caster_robots

from c3p_description.model import CasterRobot
from c3p_hardware.canopen.process_data import DRIVE_SAMPLE, ENCODER_SAMPLE, DriveUnits
from c3p_hardware.devices import Drive, Encoder
from c3p_hardware.joint_angles import AbsoluteAngle
from c3p_hardware.joint_sensing import JITTER, JointSensing
from c3p_hardware.settings import DriveSettings, EncoderSettings
from c3p_kinematics.casters import inverse
from c3p_kinematics.joint_watch import JointWatch

RATE = 200.0
COUNTS = 4096
STEP = 2 * np.pi / COUNTS  # rad per count of a steering encoder


class Rig:
    """Sensing of a robot with drives and encoders that get the counts of given angles."""

    def __init__(self, robot, direction=1, zero=0, span=0, rate=RATE, max_steering_rate=60.0):
        self.robot, units = robot, DriveUnits(0.11, 14.0, 0.8, 2000, direction)
        self.settings = card_settings_of(
            robot.count, rate=rate, max_steering_rate=max_steering_rate,
            drives=tuple(DriveSettings(k + 1, f'wheel_joint_{k + 1}', units, 1.2)
                         for k in range(robot.count)),
            encoders=tuple(EncoderSettings(k + 11, f'steering_joint_{k + 1}', COUNTS, span,
                                           direction, zero) for k in range(robot.count)))
        self.drives = [Drive.of(d) for d in self.settings.drives]
        self.encoders = [Encoder.of(e) for e in self.settings.encoders]
        self.sensing = JointSensing(robot, self.settings, self.drives, self.encoders)

    def step(self, now, steering, wheel, torque=0):
        """Quantise, wrap and send the angles of a cycle, and sense."""
        for encoder, angle in zip(self.encoders, steering, strict=True):
            e = encoder.settings
            raw = e.zero + round(e.direction * angle / STEP)
            encoder.on_sample(ENCODER_SAMPLE.pack(raw % e.range, 0, 0), now)
        for drive, angle in zip(self.drives, wheel, strict=True):
            units = drive.settings.units
            raw = round(units.direction * angle / units.angle_resolution)
            drive.on_sample(DRIVE_SAMPLE.pack(0x1237, (raw + 2**31) % 2**32 - 2**31, torque), now)
        return self.sensing.step(now)


def motion(robot, twist, start, dt):
    """
    Integrate the casters of several platforms at once, by the midpoint rule.

    `twist` (T, B, 3) and `start` (B, n) give steering and wheel angles (T, B, n), rad.
    """
    steering, wheel = start, np.zeros_like(start)
    angles = np.empty((2, *twist.shape[:2], robot.count))
    for k, nu in enumerate(twist):
        _, half, _ = inverse(robot, steering, nu)
        rolling, turning, _ = inverse(robot, steering + 0.5 * dt * half, nu)
        steering, wheel = steering + dt * turning, wheel + dt * rolling
        angles[:, k] = steering, wheel
    return angles


def driving(seed, batch, seconds):
    """
    Return random twists (T, batch, 3): ways, turns and rests of 0.5 to 4 s, reached with 0.15 s.

    A third of them straight along x, forward or back, but for a percent: the singular motion of
    parallel casters. The percent says when they turn round: not the rounding of a processor.
    """
    rng, steps = np.random.default_rng(seed), round(seconds * RATE)
    wanted = np.zeros((steps, batch, 3))
    for b in range(batch):
        begin = 0
        while begin < steps:
            end = begin + round(rng.uniform(0.5, 4.0) * RATE)
            way, speed = rng.uniform(0, 2 * np.pi), rng.uniform(0.05, 0.7)
            wanted[begin:end, b] = [
                (speed * np.cos(way), speed * np.sin(way), 0), (0, 0, rng.uniform(-1.5, 1.5)),
                (0, 0, 0), (speed * np.cos(way), speed * np.sin(way), rng.uniform(-1, 1)),
                (speed, 0, 0.02), (-speed, 0.005, -0.01)][rng.integers(6)]
            begin = end
    keep, twist = np.exp(-1 / (0.15 * RATE)), np.zeros((batch, 3))
    for k in range(steps):
        twist = wanted[k] + (twist - wanted[k]) * keep
        wanted[k] = twist
    return wanted


def quantised(angle, step):
    return step * np.floor(angle / step)


@pytest.fixture(scope='module')
def ten_minutes():
    """Steering and wheel angles (6000, 20, 3) of 20 drives of 30 s of the C3P."""
    rng = np.random.default_rng(5)
    return motion(C3P, driving(7, 20, 30.0), rng.uniform(-np.pi, np.pi, (20, 3)), 1 / RATE)


def watch(steering, wheel, robot=C3P):
    """Let a `JointWatch` see (T, n) angles; return (cycle, caster) of the first that it finds."""
    eye = JointWatch(robot, np.full(robot.count, JITTER * STEP))
    for k, (s, w) in enumerate(zip(steering, wheel, strict=True)):
        if found := eye.step(s, w):
            return k, found.caster
    return None


# -- angles and rates -----------------------------------------------------------------------------

@settings(max_examples=25)
@given(caster_robots(), st.integers(0, 2**32 - 1), st.sampled_from([1, -1]),
       st.integers(-5000, 5000), st.sampled_from([0, 16 * COUNTS]))
def test_counts_of_a_motion_give_its_angles_and_rates(robot, seed, direction, zero, span):
    rng, cycles = np.random.default_rng(seed), 120
    # twists that keep all rates well below half a turn in a cycle, and change slowly
    fastest = 3.0 * min(robot.caster_offset.min(), robot.wheel_radius.min())
    size = np.linalg.norm(robot.hip_position, axis=1).max()
    first, last = rng.uniform(-1, 1, (2, 3)) * [fastest, fastest, fastest / size]
    share = np.linspace(0, 1, cycles)[:, None]
    twist = (first + share * (last - first))[:, None]
    steering, wheel = motion(robot, twist, rng.uniform(-9, 9, (1, robot.count)), 1 / RATE)[:, :, 0]
    rig = Rig(robot, direction, zero, span)
    for k in range(cycles):
        joints, problems = rig.step(10.0 + k / RATE, steering[k], wheel[k])
        assert not problems
        # half a count, and as many whole turns as the first sample did not tell
        whole = 2 * np.pi * (span or COUNTS) / COUNTS
        off = joints.steering - steering[k]
        assert np.abs(off - whole * np.round(off / whole)).max() < 0.51 * STEP
        assert np.abs(joints.wheel_angle - wheel[k]).max() < 0.51 * UNITS.angle_resolution
        if k == 0:
            turns = off
        assert joints.steering - steering[k] == pytest.approx(turns, abs=1.01 * STEP)
    rolled, turned, _ = inverse(robot, steering[-1], twist[-1, 0])
    # a count in one cycle is taken for (1 - z)² counts per cycle, z = exp(-2π 40 Hz/200 Hz); two
    # such roundings, and the lag 1/(π 40 Hz) = 8 ms times accelerations of at most 40 rad/s²
    noise = 2 * (1 - np.exp(-2 * np.pi * 40 / RATE)) ** 2 * RATE
    lag = 0.008 * np.abs(np.diff(np.diff(steering, axis=0), axis=0)[-20:]).max(0) * RATE**2
    assert np.all(np.abs(joints.steering_rate - turned) < noise * STEP + 2 * lag + 0.02)
    lag = 0.008 * np.abs(np.diff(np.diff(wheel, axis=0), axis=0)[-20:]).max(0) * RATE**2
    assert np.all(np.abs(joints.wheel_rate - rolled)
                  < noise * UNITS.angle_resolution + 2 * lag + 0.02)


def test_the_first_cycle_tells_angles_at_rest_and_torques_at_the_wheel():
    joints, problems = Rig(C3P, direction=-1).step(3e5, [0.5, -2.0, 3.0], [0.0, 0.0, 0.0], 100)
    assert joints.steering == pytest.approx([0.5, -2.0, 3.0], abs=STEP)
    assert not joints.steering_rate.any() and not joints.wheel_rate.any() and not problems
    # 10 % of 0.11 N·m · 14 · 0.8, and the drive turns the other way
    assert joints.wheel_torque == pytest.approx([-0.1232] * 3)


def test_wheels_are_followed_across_the_end_of_their_counter():
    rig, begin = Rig(C3P), (2**31 - 100) * UNITS.angle_resolution
    for k in range(100):
        joints, problems = rig.step(k / RATE, np.zeros(3), np.full(3, begin + 0.01 * k))
        assert joints.wheel_angle == pytest.approx(begin + 0.01 * k, abs=UNITS.angle_resolution)
        assert not problems
    assert joints.wheel_rate == pytest.approx(2.0, abs=0.05)


def test_cycles_that_were_left_out_keep_angle_and_rate():
    rig = Rig(C3P)
    for k in [*range(50), *range(55, 100)]:
        joints, problems = rig.step(k / RATE, np.full(3, 0.02 * k), np.full(3, 0.05 * k))
        assert not problems and np.abs(joints.steering - 0.02 * k).max() < STEP
        if 20 < k:
            assert joints.wheel_rate == pytest.approx(10.0, abs=0.1)


def test_a_position_out_of_range_changes_nothing():
    rig = Rig(C3P)
    for k in range(10):
        before, _ = rig.step(k / RATE, np.full(3, 0.01 * k), np.zeros(3))
    rig.encoders[1].on_sample(ENCODER_SAMPLE.pack(COUNTS, 0, 0), 10 / RATE)
    with pytest.raises(ValueError, match='position = 4096: must be 0 to 4095'):
        rig.sensing.step(10 / RATE)
    # the supervisor names it in the same cycle
    assert 'range' in [p.kind for p in rig.encoders[1].problems(10 / RATE, rig.settings)]
    after, problems = rig.step(11 / RATE, np.full(3, 0.11), np.zeros(3))
    assert not problems and after.steering == pytest.approx(0.11, abs=STEP)
    assert after.steering_rate == pytest.approx(before.steering_rate, abs=0.5)


def test_after_a_pause_angles_go_on_and_rates_begin_at_rest():
    """Drives that have started again count from 0; odometry adds up what angles do."""
    rig = Rig(C3P)
    for k in range(400):  # two and a half turns of the steering, six of the wheels
        before, _ = rig.step(k / RATE, np.full(3, 0.04 * k), np.full(3, 0.1 * k))
    rig.sensing.resume()
    # meanwhile a caster was turned by 2 rad, and nobody knows what the wheels did
    after, problems = rig.step(10.0, np.full(3, 0.04 * 399 + 2.0), np.zeros(3))
    assert not problems and not after.wheel_rate.any() and not after.steering_rate.any()
    assert after.wheel_angle == pytest.approx(before.wheel_angle, abs=0)
    assert after.steering == pytest.approx(before.steering + 2.0, abs=1.5 * STEP)
    then, _ = rig.step(10.0 + 1 / RATE, np.full(3, 0.04 * 399 + 2.0), np.full(3, 0.05))
    assert then.wheel_angle == pytest.approx(after.wheel_angle + 0.05, abs=1e-3)


# -- encoders that jump ---------------------------------------------------------------------------

@given(st.integers(0, 2), st.integers(-COUNTS // 2 + 1, COUNTS // 2 - 1),
       st.sampled_from([1, 2, 3]))
def test_what_is_further_than_a_caster_turns_is_a_jump(caster, jump, cycles):
    rig, start = Rig(C3P), np.array([0.3, -1.0, 2.0])
    for k in range(5):
        rig.step(k / RATE, start, np.zeros(3))
    jumped = start.copy()
    jumped[caster] += jump * STEP
    _, problems = rig.step((4 + cycles) / RATE, jumped, np.zeros(3))
    # 60 rad/s in the time since the last complete cycle, and the jitter
    most = 60.0 * cycles / RATE / STEP + JITTER
    assert [p.kind for p in problems] == (['jump'] if abs(jump) > most else [])
    if problems:
        text = f'{problems[0]}'
        assert f'steering_joint_{caster + 1} (node {caster + 11})' in text
        assert f'{360 * jump / COUNTS:.1f}°' in text and '~/recover' in text
    # it is told once: what came is where it is now
    assert not rig.step((5 + cycles) / RATE, jumped, np.zeros(3))[1]


# -- encoders that stand --------------------------------------------------------------------------

def test_a_jump_makes_no_other_encoder_look_stuck(ten_minutes):
    """Whenever the others are looked at, which is every fifth cycle or later."""
    steering, wheel = (angles[:, 0] for angles in ten_minutes)
    for begin in range(300, 310):
        rig = Rig(C3P)
        for k in range(begin):
            assert rig.step(k / RATE, steering[k], wheel[k])[1] == []
        _, problems = rig.step(begin / RATE, steering[begin] + [0.0, 0.0, 2.0], wheel[begin])
        assert [(p.device, p.kind) for p in problems] == [(rig.encoders[2].name, 'jump')]


def test_ten_minutes_of_driving_raise_no_alarm(ten_minutes):
    steering, wheel = quantised(ten_minutes[0], STEP), quantised(ten_minutes[1],
                                                                 UNITS.angle_resolution)
    assert np.abs(np.diff(wheel, axis=0)).sum() > 1e4  # they did drive: 400 m of wheels
    assert not any(watch(steering[:, b], wheel[:, b]) for b in range(20))


@pytest.mark.parametrize('radius_error', [0.02, 0.05])
def test_wrong_radii_and_steady_slip_raise_no_alarm(ten_minutes, radius_error):
    # all signs of all wheels; at 10 % some of them do
    for b, signs in enumerate(np.array(np.meshgrid(*[[-1, 1]] * 3)).T.reshape(-1, 3)):
        assert not watch(quantised(ten_minutes[0, :, b], STEP),
                         ten_minutes[1, :, b] * (1 + radius_error * signs))


@pytest.mark.parametrize(('more', 'seconds'), [(0.2, 0.3), (0.3, 0.2)])
def test_wheels_that_spin_for_a_while_raise_no_alarm(ten_minutes, more, seconds):
    rng, long = np.random.default_rng(3), round(seconds * RATE)
    rolled = np.diff(ten_minutes[1, :, :8], axis=0, prepend=0.0)
    for b in range(8):
        for begin in range(100, len(rolled) - long, 200):
            rolled[begin:begin + long, b, rng.integers(3)] *= 1 + more * rng.choice([-1, 1])
    wheel = np.cumsum(rolled, axis=0)
    assert not any(watch(quantised(ten_minutes[0, :, b], STEP), wheel[:, b]) for b in range(8))


def test_a_stuck_encoder_is_named_and_no_other(ten_minutes):
    steering, wheel = quantised(ten_minutes[0], STEP), ten_minutes[1]
    turned, since = [], 400
    for b in range(20):
        for caster in range(3):
            seen = steering[since - 50:, b].copy()
            seen[50:, caster] = seen[50, caster]
            found = watch(seen, wheel[since - 50:, b])
            assert found, f'drive {b}: encoder {caster} was not found'
            cycle, who = found
            assert who == caster
            way = np.abs(steering[since:since + cycle - 50, b, caster] - seen[50, caster]).max()
            turned.append((way, (cycle - 50) / RATE))
    way, seconds = np.array(turned).T
    # how far its caster turns unseen: half of them 0.6 rad; at most nearly half a turn, when the
    # robot turns so gently that slip could look the same
    assert np.median(way) < 1.0 and way.max() < 3.3
    # how long that takes is a matter of the driving: straight on, for ever
    assert np.median(seconds) < 3.0 and seconds.max() < 20.0


def test_a_robot_that_turns_on_the_spot_shows_a_stuck_encoder_at_once():
    # casters trail forward; then it turns, which brings them across: by 120° within a second
    twist = np.zeros((600, 1, 3))
    twist[:300, 0, 0], twist[300:, 0, 2] = 0.3, 1.0
    steering, wheel = motion(C3P, twist, np.full((1, 3), -np.pi / 2), 1 / RATE)[:, :, 0]
    rig, kinds = Rig(C3P), []
    for k in range(600):
        shown = quantised(steering[k], STEP)
        shown[1] = steering[0, 1]
        _, problems = rig.step(1e5 + k / RATE, shown, wheel[k])
        kinds += [(k, p.kind, p.device) for p in problems]
    assert kinds[0][1:] == ('stuck', 'encoder of steering_joint_2 (node 12)')
    # within 0.2 s; and no other is blamed in the half second in which the robot stops
    assert 300 < kinds[0][0] < 340
    assert {d for k, _, d in kinds if k < kinds[0][0] + 100} == {kinds[0][2]}


def test_casters_that_stand_rightly_are_never_stuck():
    # straight on for five minutes, on counts that flicker by one
    rng = np.random.default_rng(0)
    steering = STEP * rng.integers(0, 2, (60_000, 3))
    wheel = np.cumsum(np.full((60_000, 3), 0.06), axis=0) * [1.0, 1.02, 0.98]
    assert not watch(steering[::4], wheel[::4])


def test_with_two_casters_nothing_is_claimed():
    # one other caster says nothing about the direction across the line between the two
    pair = CasterRobot.regular(0.3, np.radians([0.0, 180.0]), 0.04, 0.04, 30.0, 3.51)
    wheel = np.cumsum(np.full((1000, 2), 0.06), axis=0) * [1.0, -1.0]
    assert not watch(np.zeros((1000, 2)), wheel, pair)


@settings(max_examples=15)
@given(caster_robots(min_casters=3), st.integers(0, 2**32 - 1))
def test_random_robots_raise_no_alarm_and_name_the_right_encoder(robot, seed):
    rng = np.random.default_rng(seed)
    # motions in the robot's own size, so that wheels turn as those of the C3P do
    scale = robot.caster_offset.min() / 0.04
    twist = driving(seed, 1, 15.0) * [scale, scale, 0.5]
    steering, wheel = motion(robot, twist, rng.uniform(-np.pi, np.pi, (1, robot.count)),
                             1 / RATE)[:, :, 0]
    steering = quantised(steering, STEP)
    assert not watch(steering, wheel, robot)
    caster = rng.integers(robot.count)
    steering[100:, caster] = steering[100, caster]
    assert (watch(steering, wheel, robot) or (0, caster))[1] == caster


def test_the_encoders_of_the_rig_are_those_of_the_master():
    # the rig's counts are decoded by what is tested elsewhere against exact fractions
    axis = AbsoluteAngle(EncoderSettings(11, 'axis', COUNTS, 0, -1, 100))
    assert axis.step((100 - round(0.7 / STEP)) % COUNTS) == pytest.approx(0.7, abs=STEP)
