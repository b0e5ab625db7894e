# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: ANN001, ANN202 (the compiler infers the types of kernels)
"""
Previews within limits of speed and distance, and the preview of a controlled stop.

The path of a preview stays; only the time along it is stretched.
"""

from __future__ import annotations

import math

import numpy as np

from c3p_controller.limits import ReferenceLimits
from c3p_controller.predictive._kernels import on_piece, piece_of
from c3p_controller.torque_law import Preview
from c3p_description.model import Array
from c3p_kernels.compiled import kernel
from c3p_kernels.elementary import wrap_angle

# a preview must not take longer at the limits, s
LONGEST = 1000.0

# largest distance of a preview from the robot: what the limits allow in this time, s. A law pulls
# in proportion to the distance, without a limit of its own
REACH = 0.3

# time between the points of a stop, s, and largest number of them
STOP_SPACING = 0.05
STOP_POINTS = 100


def limit_preview(preview: Preview, limits: ReferenceLimits) -> Preview:
    """
    Return `preview` with its time stretched where it exceeds speed or yaw rate of the limits.

    With n the velocity as a multiple of the limits, v ← v / max(n, 1) at each point. The time
    between two points grows as their mean velocity falls, and is at least that of their distance
    at the limits. The points stay where they are.

    Raises
    ------
    ValueError
        A preview that takes longer than LONGEST at the limits.

    Examples
    --------
    >>> pose, velocity = np.zeros((3, 3)), np.zeros((3, 3))
    >>> pose[:, 0], velocity[:, 0] = [0.0, 0.1, 0.2], 2.0
    >>> fast = Preview(np.array([0.0, 0.05, 0.1]), pose, velocity)
    >>> slow = limit_preview(fast, ReferenceLimits(0.5))
    >>> slow.time.tolist(), slow.velocity[:, 0].tolist()
    ([0.0, 0.2, 0.4], [0.5, 0.5, 0.5])
    """
    with np.errstate(over='ignore', invalid='ignore'):
        vx, vy, turn = preview.velocity.T
        excess = np.maximum(np.hypot(vx, vy) / limits.speed, np.abs(turn) / limits.yaw_rate)
        gaps = np.diff(preview.time)
        steps = np.abs(np.diff(preview.pose, axis=0))
        least = np.maximum(np.hypot(steps[:, 0], steps[:, 1]) / limits.speed,
                           steps[:, 2] / limits.yaw_rate)
        if (excess <= 1.0).all() and (least <= gaps).all():
            return preview
        allowed = np.minimum(excess, 1.0)
        before = excess[1:] + excess[:-1]
        after = allowed[1:] + allowed[:-1]
        stretch = np.divide(before, after, out=np.ones(len(gaps)), where=after > 0.0)
        time = np.concatenate(([0.0], np.cumsum(np.maximum(gaps * stretch, least))))
    if not time[-1] <= LONGEST:
        raise ValueError(f'preview takes {time[-1]:.3g} s at the limits of speed and yaw '
                         f'rate: must take at most {LONGEST:g} s')
    return Preview(time, preview.pose, preview.velocity / np.maximum(excess, 1.0)[:, None])


def stay_near(preview: Preview, time: float, pose: Array, limits: ReferenceLimits) -> Preview:
    """
    Return `preview` moved towards `pose` where it is further away than the limits reach.

    A distant preview, after a push or from a wrong place, pulls as one at REACH does. `time`, s,
    is now in the time of `preview`; `limits` are those of speed and yaw rate.
    """
    gap = np.empty(3)
    if _near(preview.time, preview.pose, time, pose, REACH * limits.speed,
             REACH * limits.yaw_rate, gap):
        return preview
    x, y, turn = gap.tolist()
    distance = math.hypot(x, y)
    turn = abs(turn)
    reach = REACH * limits.speed
    most = REACH * limits.yaw_rate
    beyond = np.array([max(0.0, 1.0 - reach / distance) if distance > 0.0 else 0.0] * 2
                      + [max(0.0, 1.0 - most / turn) if turn > 0.0 else 0.0])
    return preview._replace(pose=preview.pose - beyond * gap)


@kernel
def _near(points, poses, time, pose, reach, most, gap):
    # write the gap from `pose` to the preview; return whether it is within `reach` and `most`
    piece = piece_of(time, points)
    for j in range(3):
        gap[j] = on_piece(piece, time, points, poses, j) - pose[j]
    gap[2] = wrap_angle(gap[2])
    return math.hypot(gap[0], gap[1]) <= reach and abs(gap[2]) <= most


def stop_time(twist: Array, lever: float, deceleration: float) -> float:
    """
    Return the duration of a stop, s: ``T = max(|v₀|, lever |ω₀|) / deceleration``.

    Examples
    --------
    >>> stop_time(np.array([0.3, 0.4, 1.0]), 0.3, 1.0)
    0.5
    """
    return float(max(math.hypot(twist[0], twist[1]), lever * abs(twist[2])) / deceleration)


def stop_preview(pose: Array, twist: Array, lever: float, deceleration: float) -> Preview:
    """
    Return the trajectory of a stop: along the arc of the motion, with constant deceleration.

        ν(t) = ν₀ (1 − t/T)     T = max(|v₀|, lever |ω₀|) / deceleration

    with ν₀ the `twist` in ``base_link`` at `pose`, `deceleration` in m/s², and `lever`, m, the
    distance of the outermost pivot from the centre, so that its speed counts, too.

    Examples
    --------
    >>> stop = stop_preview(np.zeros(3), np.array([0.5, 0.0, 0.0]), 0.3, 1.0)
    >>> float(stop.time[-1]), float(stop.pose[-1, 0].round(9)), stop.velocity[-1].tolist()
    (0.5, 0.125, [0.0, 0.0, 0.0])
    """
    duration = stop_time(twist, lever, deceleration)
    if not 0.0 < duration < math.inf:
        return Preview(np.zeros(1), np.array([pose], float), np.zeros((1, 3)))
    count = min(max(2, 1 + math.ceil(duration / STOP_SPACING)), STOP_POINTS)
    time = np.linspace(0.0, duration, count)
    part = time - time**2 / (2.0 * duration)
    rate = 1.0 - time / duration
    yaw = pose[2] + part * twist[2]
    # the chord of an arc points half the turn aside and is shorter by a sinc
    half = 0.5 * part * twist[2]
    chord = part * np.sinc(half / math.pi)
    angle = pose[2] + half
    place = np.column_stack([
        pose[0] + chord * (np.cos(angle) * twist[0] - np.sin(angle) * twist[1]),
        pose[1] + chord * (np.sin(angle) * twist[0] + np.cos(angle) * twist[1]), yaw])
    velocity = rate[:, None] * np.column_stack([
        np.cos(yaw) * twist[0] - np.sin(yaw) * twist[1],
        np.sin(yaw) * twist[0] + np.cos(yaw) * twist[1], np.full(count, twist[2])])
    return Preview(time, place, velocity)
