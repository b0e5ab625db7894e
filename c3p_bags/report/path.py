# SPDX-License-Identifier: Apache-2.0
"""Path panel: reference line, odometry, truth, goal zone, and the robot along the path."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon

from c3p_bags.runs import mapped
from c3p_bags.runs.metrics import goal_time, pose_at, truth_in_odom
from c3p_bags.runs.run_log import Motion, RunLog
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.se2 import wrap
from c3p_plots import style

# distance of the drawn robots, robot widths or radians of turn
APART_WIDTHS = 1.35
APART_TURN = 0.8

# most drawn robots: on a longer path they would hide it
MOST_ROBOTS = 24

# least ratio of width and height of a path for a wide panel
WIDE = 1.6


def _on_floor(pose: Array, points: Array) -> Array:
    """Return body points (k, 2) in the floor's frame."""
    c, s = np.cos(pose[2]), np.sin(pose[2])
    return points @ np.array([[c, s], [-s, c]]) + pose[:2]


def outline(robot: CasterRobot) -> Array:
    """Return the hips (n, 2) in `base_link` in the order around their middle, m."""
    middle = robot.hip_position.mean(axis=0)
    angle = np.arctan2(*(robot.hip_position - middle).T[::-1])
    return robot.hip_position[np.argsort(angle)]


def instants(motion: Motion, start: float, width: float) -> Array:
    """Return times at which the robot has moved by a good part of its size, s."""
    after = mapped.where(motion.time >= start)
    pose = motion.pose[after]
    if not len(pose):
        return np.zeros(0)
    # noise at standstill must not add up to a distance
    first = pose[0]
    reached = np.zeros(2)

    def farthest(part: Array) -> Array:
        away = np.stack([np.hypot(*(part[:, :2] - first[:2]).T), np.abs(part[:, 2] - first[2])],
                        axis=1)
        # no less than before
        away[0] = np.maximum(away[0], reached)
        np.maximum.accumulate(away, axis=0, out=away)
        reached[:] = away[-1]
        return np.max(away / [APART_WIDTHS * width, APART_TURN], axis=1)

    steps = mapped.computed(farthest, pose)
    if len(steps) < 2 or steps[-1] < 0.5:
        return motion.time[after][:1]
    count = min(max(1, round(float(steps[-1]))), MOST_ROBOTS)
    wanted = np.linspace(0.0, steps[-1], count + 1)
    return motion.time[after][np.minimum(np.searchsorted(steps, wanted), len(pose) - 1)]


def draw_robot(axes: Axes, robot: CasterRobot, pose: Array, steering: Array,
               strength: float = 1.0) -> None:
    """Draw platform, heading and casters of a robot at `pose`."""
    hull = _on_floor(pose, outline(robot))
    axes.add_patch(Polygon(hull, closed=True, facecolor='#d9d9d9', edgecolor=style.GREY,
                           linewidth=0.8, alpha=0.45 * strength, zorder=1))
    size = np.abs(robot.hip_position).max()
    nose = _on_floor(pose, np.array([[0.0, 0.0], [0.45 * size, 0.0]]))
    axes.plot(*nose.T, color=style.GREY, linewidth=1.0, alpha=strength, zorder=2)
    for i in range(robot.count):
        hip = robot.hip_position[i]
        angle = steering[i]
        forward = np.array([-np.sin(angle), np.cos(angle)])
        axle = np.array([np.cos(angle), np.sin(angle)])
        contact = hip - robot.caster_offset[i] * forward + robot.lateral_offset[i] * axle
        fork = _on_floor(pose, np.array([hip, contact]))
        tyre = _on_floor(pose, contact + np.outer([-1.0, 1.0], robot.wheel_radius[i] * forward))
        axes.plot(*fork.T, color=style.REFERENCE, linewidth=0.8, alpha=strength, zorder=4)
        axes.plot(*tyre.T, color=style.caster_colour(i), linewidth=2.6, alpha=strength,
                  solid_capstyle='butt', zorder=5)


def draw_robots(axes: Axes, log: RunLog, robot: CasterRobot, motion: Motion, start: float,
                most: int = MOST_ROBOTS + 1, strength: float = 1.0) -> None:
    """
    Draw the robot along a `motion` from `start` [s] on, only at its ends where more than `most`.

    The steering angles are those of `log`; `axes`, `robot` and `strength` as for `draw_robot`.
    """
    times = instants(motion, start, 2.0 * np.linalg.norm(robot.hip_position, axis=1).max())
    steering = mapped.unwrapped(log.joints.steering)
    for time in times if len(times) <= most else times[[0, -1]]:
        angles = [np.interp(time, log.joints.time, column) for column in steering.T]
        draw_robot(axes, robot, pose_at(motion, time), np.array(angles), strength)


def corners(motion: Motion) -> list[Array]:
    """Return the lower and the upper corner of the box around a path, m."""
    place = motion.pose[:, :2]
    return [place.min(axis=0), place.max(axis=0)]


def is_wide(log: RunLog, robot: CasterRobot, metrics: Mapping[str, Any]) -> bool:
    """Return True for a path that, with the robot on it, is wider than high."""
    places = [np.array(metrics['goal_pose'])[:2]]
    for motion in (log.odom, truth_in_odom(log)):
        places += [] if motion is None else corners(motion)
    size = np.ptp(places, axis=0) + 2.0 * np.abs(robot.hip_position).max()
    return bool(size[0] > WIDE * size[1])


def draw_path(axes: Axes, log: RunLog, robot: CasterRobot, metrics: Mapping[str, Any],
              wide: bool) -> None:
    """Draw the path panel; data missing in the run are left out."""
    style.dress(axes, '(a) path in the odometry frame', 'x [m]',
                'y [m]')
    axes.set_aspect('equal', adjustable='datalim')
    truth = truth_in_odom(log)
    shown = truth or log.odom
    if shown is None:
        style.absent(axes, 'odom was not recorded')
        return
    start = goal_time(log)
    goal = np.array(metrics['goal_pose'])
    begin = pose_at(log.odom or shown, start)
    width = 2.0 * np.linalg.norm(robot.hip_position, axis=1).max()
    draw_robots(axes, log, robot, shown, start)
    axes.plot(*np.array([begin[:2], goal[:2]]).T, color=style.REFERENCE, linestyle='--',
              linewidth=0.9, label='reference line', zorder=6)
    # the truth is a broad line below the odometry: both are visible where they agree
    for motion, name, colour, width_pt in ((truth, 'ground truth', style.TRUE, 2.6),
                                           (log.odom, 'odometry', style.SENSED, 1.0)):
        if motion is not None:
            axes.plot(*style.thin(motion.pose[:, 0], motion.pose[:, 1]), color=colour,
                      linewidth=width_pt, label=name, zorder=7)
    place = float(goal[0]), float(goal[1])
    axes.add_patch(Circle(place, metrics['goal_tolerance_m'], facecolor='none',
                          edgecolor=style.GOAL, linewidth=1.6, label='goal zone', zorder=8))
    axes.plot(*begin[:2], marker='o', color=style.REFERENCE, markersize=4, linestyle='none',
              label='start', zorder=8)
    if abs(wrap(goal[2] - begin[2])) > APART_TURN / 2:
        tip = goal[:2] + 0.3 * width * np.array([np.cos(goal[2]), np.sin(goal[2])])
        axes.annotate('', tuple(tip), place, zorder=8,
                      arrowprops={'arrowstyle': '->', 'color': style.GOAL, 'linewidth': 1.4})
    style.legend(axes, ncols=5 if wide else 3, loc='upper center')
    # room for the legend; limits cannot be set where the aspect is
    low, high = axes.dataLim.intervaly
    axes.update_datalim([(begin[0], high + 0.15 * (high - low))])
    axes.autoscale_view()
