# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from excited import RATE, excited
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import C3P, caster_robots
from scipy.integrate import solve_ivp

from c3p_description import load
from c3p_dynamics.caster_dynamics import forward_dynamics
from c3p_dynamics.identification.recording import (
    IdentificationError,
    Recording,
    ShootingSettings,
    check,
    cut,
)
from c3p_dynamics.identification.shooting import Shooting
from c3p_kinematics.casters import inverse
from c3p_simulation.plants.plant import AnalyticPlant

ROBOT = load('c3p')
SETTINGS = ShootingSettings()


def shooting(robot, recording, chosen=SETTINGS):
    return Shooting(robot, recording, *cut(robot, recording, chosen), chosen)


def integrated(robot, start, time, change, torque, delay):
    """Return the joints at `time` by an adaptive integrator of another family, piece by piece."""
    n = robot.count

    def rate(_, state, tau):
        wheel, steer, _ = inverse(robot, state[3:3 + n], state[:3])
        return np.concatenate([forward_dynamics(robot, state[3:3 + n], state[:3], tau), steer,
                               wheel])

    edges = np.unique(np.concatenate([time, change + delay]))
    edges = edges[(edges >= time[0]) & (edges <= time[-1])]
    state, found = start, {time[0]: start[3:]}
    for a, b in zip(edges[:-1], edges[1:], strict=True):
        row = max(0, np.searchsorted(change, 0.5 * (a + b) - delay) - 1)
        state = solve_ivp(rate, (a, b), state, 'LSODA', args=(torque[row],), rtol=1e-10,
                          atol=1e-12).y[:, -1]
        found[b] = state[3:]
    return np.array([found[t] for t in time])


@settings(max_examples=8)
@given(caster_robots(), st.floats(0.0, 0.03), st.integers(0, 2**32 - 1))
def test_prediction_is_the_motion_under_late_torques(robot, delay, seed):
    rng = np.random.default_rng(seed)
    n = robot.count
    # samples and commands on clocks of their own, neither of them even
    time = np.cumsum(rng.uniform(2e-3, 8e-3, 40))
    change = np.cumsum(rng.uniform(5e-3, 3e-2, 30)) - 0.1
    torque = rng.normal(size=(30, n)) * robot.platform_mass * robot.wheel_radius.mean()
    start = np.concatenate([rng.uniform(-0.3, 0.3, 3), rng.uniform(-3, 3, 2 * n)])
    recording = Recording(time, np.zeros((40, n)), np.zeros((40, n)), change, torque)
    segment = Shooting(robot, recording, np.array([0]), np.array([40]), SETTINGS)
    predicted = -segment.errors(robot, delay, start[None]) / segment.lever
    # Runge-Kutta with steps of 2.5 ms against time constants of some 20 ms
    np.testing.assert_allclose(predicted, integrated(robot, start, time, change, torque, delay),
                               atol=1e-4)


def test_nothing_is_left_when_robot_delay_and_beginning_are_right():
    recording = excited(ROBOT, 3.0)
    segments = shooting(ROBOT, recording)
    errors, _ = segments.settle(ROBOT, 0.0, np.ones(6))
    # the plant takes steps of 1 ms, the prediction of 2.5 ms
    assert np.abs(errors).max() < 1e-6
    wrong, _ = segments.settle(ROBOT, 0.01, np.ones(6))
    assert np.sqrt(np.mean(wrong**2)) > 10 * np.sqrt(np.mean(errors**2))


def test_beginnings_are_found_from_noisy_angles():
    """The optimum of least squares: no beginning nearby explains more."""
    recording = excited(ROBOT, 2.0)
    rng = np.random.default_rng(1)
    noisy = recording._replace(
        steering=recording.steering + 1e-3 * rng.normal(size=recording.steering.shape),
        wheel_angle=recording.wheel_angle + 1e-3 * rng.normal(size=recording.steering.shape))
    segments = shooting(ROBOT, noisy)
    least = np.sum(segments.settle(ROBOT, 0.0, np.ones(6))[0]**2)
    for _ in range(20):
        step = 3e-4 * rng.normal(size=segments.start.shape)
        assert np.sum(segments.errors(ROBOT, 0.0, segments.start + step)**2) > least


def test_what_a_beginning_explains_is_taken_out():
    recording = excited(ROBOT, 2.0)
    segments = shooting(ROBOT, recording)
    errors, bases = segments.settle(ROBOT, 0.0, np.ones(6))
    moved = segments.start.copy()
    moved[:, 0] += 1e-5
    moved[:, 4] -= 1e-5
    changed = segments.errors(ROBOT, 0.0, moved) - errors
    left = segments.unexplained(changed[..., None], bases)
    # what remains is of second order in the change
    assert np.linalg.norm(left) < 1e-3 * np.linalg.norm(changed)


def test_segments_do_not_cross_gaps_and_hold_what_they_may():
    recording = excited(ROBOT, 6.0)
    keep = np.ones(len(recording.time), bool)
    keep[500:560] = False  # 0.3 s lost
    recording = Recording(*(a[keep] for a in recording))
    begin, end = cut(ROBOT, recording, SETTINGS)
    assert np.all(end > begin) and np.all(begin[1:] >= end[:-1])
    for b, e in zip(begin, end, strict=True):
        assert recording.time[e - 1] - recording.time[b] <= SETTINGS.segment
        assert np.diff(recording.time[b:e]).max() < 0.1
    # the torques around the gap are not known either
    lost = recording.time[500 - 1]
    assert not any(lost + 0.1 + 1e-9 < t < lost + 0.3 + SETTINGS.most_delay
                   for b, e in zip(begin, end, strict=True) for t in recording.time[b:e])


def test_segments_end_before_casters_have_fallen_over():
    """Pushed backwards a caster departs as e^(distance/offset): at most e⁴ within a segment."""
    plant = AnalyticPlant(ROBOT)
    steering = np.array([0.0, 0.01, -0.01])
    sample = plant.reset(steering=steering, twist=[0.0, -0.5, 0.0])
    samples = []
    for _ in range(100):
        samples.append(sample)
        sample = plant.step(np.zeros(3), 1 / RATE)
    time = np.arange(100) / RATE
    recording = Recording(time, np.array([s.steering for s in samples]),
                          np.array([s.wheel_angle for s in samples]), time - 0.2,
                          np.zeros((100, 3)))
    begin, end = cut(ROBOT, recording, SETTINGS)
    rolled = recording.wheel_angle * ROBOT.wheel_radius
    back = [(np.maximum.accumulate(rolled[b:e]) - rolled[b:e]).max()
            for b, e in zip(begin, end, strict=True)]
    assert max(back) <= SETTINGS.growth * 0.04 and len(begin) >= 2
    assert (end - begin).max() < 0.5 * RATE


def test_long_recordings_are_thinned_evenly():
    recording = excited(ROBOT, 6.0)
    few = ShootingSettings(most_segments=5)
    begin, _ = cut(ROBOT, recording, few)
    every, _ = cut(ROBOT, recording, SETTINGS)
    assert len(begin) == 5 and set(begin) < set(every)
    assert begin[0] == every[0] and begin[-1] == every[-1]


def standing(count=400):
    time = np.arange(count) / RATE
    still = np.zeros((count, 3))
    return Recording(time, still, still, time, 0.01 * np.ones((count, 3)))


def test_a_robot_that_stood_is_named():
    with pytest.raises(IdentificationError, match='did not move'):
        cut(C3P, standing(), SETTINGS)


def test_commands_at_another_time_are_named():
    recording = excited(C3P, 1.0)
    with pytest.raises(IdentificationError, match='no command is within the time'):
        cut(C3P, recording._replace(torque_time=recording.torque_time + 100.0), SETTINGS)


@pytest.mark.parametrize('name, value, says', [
    ('steering', np.nan, 'steering at time = 0.050 s'),
    ('wheel_angle', np.inf, 'wheel_angle at time = 0.050 s'),
    ('torque', np.nan, 'torque at torque_time = 0.050 s')])
def test_numbers_that_are_not_finite_are_named(name, value, says):
    recording = standing()
    wrong = getattr(recording, name).copy()
    wrong[10, 1] = value
    with pytest.raises(IdentificationError, match=says):
        check(C3P, recording._replace(**{name: wrong}))


def test_shapes_and_order_are_checked():
    recording = standing()
    with pytest.raises(IdentificationError, match=r'torque has shape \(400, 2\)'):
        check(C3P, recording._replace(torque=recording.torque[:, :2]))
    with pytest.raises(IdentificationError, match=r'torque_time has shape \(400, 1\)'):
        check(C3P, recording._replace(torque_time=recording.torque_time[:, None]))
    with pytest.raises(IdentificationError, match='time has 400 values'):
        check(C3P, recording._replace(time=recording.time[::-1]))


@pytest.mark.parametrize('name', ['segment', 'substep', 'gap'])
def test_settings_must_be_positive(name):
    with pytest.raises(ValueError, match=f'{name} = -1'):
        ShootingSettings(**{name: -1.0})
