# SPDX-License-Identifier: Apache-2.0
"""Joint angles of a towed robot, and descriptions of it that are wrong."""

import numpy as np
from tractrix import Path, drive

from c3p_kinematics.calibration.parameters import calibrated, parameters_of
from c3p_kinematics.calibration.recording import JointRecording

# bounds of uniform errors: r ± 0.52 %, d ± 3.5 %, hip ± 3 mm, zero ± 0.52°
WHEEL_STEP, STEERING_STEP = 2 * np.pi / 2000, 2 * np.pi / 4096


def towed_drive(robot, seed=0, duration=40.0, rate=200.0, rounded=True):
    """Return the recording of a rich motion, and its poses."""
    times = np.arange(0.0, duration, 1.0 / rate)
    steering, wheel, poses, _ = drive(robot, Path(seed, 0.3, 0.6), times, np.linspace(
        -1.0, 1.0, robot.count), tolerance=1e-9)
    steering = np.unwrap(steering, axis=0)
    if rounded:
        steering = STEERING_STEP * np.round(steering / STEERING_STEP)
        wheel = WHEEL_STEP * np.floor(wheel / WHEEL_STEP)
    return JointRecording(times, steering, wheel), poses


def wrong(robot, seed, size=1.0):
    """Return a wrong description and the errors (n, 5) of its parameters: true less described."""
    rng = np.random.default_rng(seed)
    bounds = np.column_stack([0.0052 * robot.wheel_radius, 0.035 * robot.caster_offset,
                              np.full((robot.count, 2), 0.003),
                              np.full(robot.count, np.radians(0.52))])
    errors = size * rng.uniform(-1, 1, bounds.shape) * bounds
    return calibrated(robot, parameters_of(robot) - errors), errors


def measured(recording, errors):
    """Return the recording by steering encoders with the errors of the zeros."""
    return recording._replace(steering=recording.steering - errors[:, 4])
