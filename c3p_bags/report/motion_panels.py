# SPDX-License-Identifier: Apache-2.0
"""Panels of motion: path, velocities, errors, steering, singularity measure and torques."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle
from matplotlib.ticker import MaxNLocator

from c3p_bags.report.drive_page import axis_word, near_limits
from c3p_bags.report.path import draw_robots
from c3p_bags.report.run import AnalysedRun
from c3p_bags.report.sheet import at_least, dress, leave_out_spikes, legend, line
from c3p_bags.runs import mapped
from c3p_bags.runs.metrics import pose_at
from c3p_bags.runs.run_log import Motion, between
from c3p_description.model import Array
from c3p_description.wheels import shown_axes
from c3p_plots import style
from c3p_plots.palette import INK, MUTED

# above this number of robots only the ends of a path show one
ROBOTS = 16

# labels of the velocity panels, and their smallest range, m/s and rad/s
VELOCITIES = ('vx [m/s]', 'vy [m/s]', 'ω [rad/s]')
LEAST_RANGE = 0.1

# lower end of the errors, m: the noise of encoders
LEAST_ERROR = 1e-4

# below this measure a singularity is near: the weakest direction requires several times the torque
# of the others (σ_max is between 1 and √3)
NEAR = 0.1


def wheel_name(wheel: int, count: int = 3) -> str:
    """Return the name of a wheel (from 0) of `count`; −1 is several, or one of two."""
    if wheel >= 0:
        return f'wheel {wheel + 1}'
    return 'wheel 1 or 2' if count == 2 else 'several wheels'


def wheel_colour(wheel: int) -> str:
    """Return the colour of a wheel, or of several."""
    return style.caster_colour(wheel) if wheel >= 0 else MUTED


def _plan(motion: Motion) -> tuple[Array, Array]:
    """Return x and y of some thousand points at most."""
    step = max(1, len(motion.time) // 6000)
    return motion.pose[::step, 0], motion.pose[::step, 1]


def draw_path(axes: Axes, run: AnalysedRun) -> None:
    """Draw the path: truth, odometry, goals, robots along it, and slips."""
    dress(axes, 'y [m]')
    axes.set_xlabel('x [m]', fontsize=style.LABEL, color=INK)
    axes.set_aspect('equal', adjustable='datalim')
    shown = run.truth or run.odom
    draw_robots(axes, run.log, run.robot, shown, float(shown.time[0]), ROBOTS, 0.8)
    if run.truth is not None:
        axes.plot(*_plan(run.truth), color=style.TRUE, linewidth=3.2, label='ground truth',
                  solid_capstyle='round', zorder=3)
    axes.plot(*_plan(run.odom), color=style.SENSED, linewidth=1.3, zorder=4,
              label='odometry' if run.odom_recorded else 'odometry, computed')
    for k, goal in enumerate(run.goals):
        x, y, yaw = goal['goal_pose']
        axes.add_patch(Circle((x, y), 0.05, facecolor='none', edgecolor=style.GOAL, linewidth=1.6,
                              label='goal' if k == 0 else None, zorder=6))
        axes.annotate(f'{k + 1}' if len(run.goals) > 1 else 'goal', (x, y), xytext=(-9, 9),
                      textcoords='offset points', fontsize=9, color=style.GOAL, ha='right',
                      fontweight='bold', zorder=7)
    for event in run.events:
        during = mapped.where((shown.time >= event.begin) & (shown.time <= event.end))
        axes.plot(*shown.pose[during, :2].T, color=wheel_colour(event.wheel), linewidth=7.0,
                  alpha=0.45, solid_capstyle='round', zorder=2)
    # only the farthest slips are labelled
    for event in sorted(run.events, key=lambda e: -e.distance)[:5]:
        place = tuple(pose_at(shown, event.peak_time)[:2])
        axes.annotate(f'{wheel_name(event.wheel, run.robot.count)} slips', place, xytext=(10, -16),
                      textcoords='offset points', fontsize=8.5, zorder=8,
                      color=wheel_colour(event.wheel), fontweight='bold',
                      arrowprops={'arrowstyle': '-', 'color': wheel_colour(event.wheel)})
    axes.plot(*pose_at(shown, shown.time[0])[:2], marker='o', color=INK, markersize=4,
              linestyle='none', label='start', zorder=6)
    legend(axes)


def draw_velocity(axes: Axes, run: AnalysedRun, which: int) -> None:
    """Draw a component of the twist in the frame of the robot: `which` of vx, vy, ω."""
    dress(axes, VELOCITIES[which])
    if run.truth is not None:
        line(axes, run.truth.time, run.truth.twist[:, which], color=style.TRUE, linewidth=2.6,
             label='ground truth')
    odom = run.odom
    line(axes, odom.time, odom.twist[:, which], color=style.SENSED, label='sensed')
    if run.log.cmd_vel is not None:
        time = run.log.cmd_vel.time
        value = run.log.cmd_vel.value[:, which]
        # a command holds until the next one; a gap is left open
        pause = np.flatnonzero(np.diff(time) > 0.5)
        broken = np.insert(value, pause + 1, np.nan), np.insert(time, pause + 1, time[pause])
        thin = max(1, len(time) // 1800)
        axes.plot(broken[1][::thin], broken[0][::thin], color=INK, linewidth=1.0,
                  linestyle=(0, (4, 2)), label='commanded')
    leave_out_spikes(axes)
    at_least(axes, LEAST_RANGE)
    if which == 0:
        legend(axes)


def odometry_error(run: AnalysedRun) -> tuple[Array, Array, Array] | None:
    """Return time, distance [m] and yaw [rad] between odometry and truth; None without truth."""
    if run.truth is None:
        return None
    odom = run.odom
    truth = run.truth
    inside = mapped.where((odom.time >= truth.time[0]) & (odom.time <= truth.time[-1]))
    time = odom.time[inside]

    def apart(at: Array, pose: Array) -> Array:
        return np.abs(pose - between(at, truth.time, truth.pose))

    gap = mapped.computed(apart, time, odom.pose[inside])
    return time, mapped.computed(np.hypot, gap[:, 0], gap[:, 1]), gap[:, 2]


def _clipped(error: Array) -> Array:
    return mapped.computed(lambda part: np.maximum(part, LEAST_ERROR), error)


def draw_errors(axes: Axes, run: AnalysedRun) -> None:
    """Draw the distances of odometry from goal and truth."""
    dress(axes, 'distance [m]')
    axes.set_yscale('log')
    off = odometry_error(run)
    if off is not None:
        line(axes, off[0], _clipped(off[1]), color=style.TRUE,
             label='odometry from ground truth')
    odom = run.odom
    for k, goal in enumerate(run.goals):
        inside = mapped.where((odom.time >= goal['begin_s']) & (odom.time <= goal['end_s']))
        place = np.array(goal['goal_pose'][:2])
        away = mapped.computed(lambda pose, place=place: np.hypot(*(pose[:, :2] - place).T),
                               odom.pose[inside])
        line(axes, odom.time[inside], _clipped(away), color=style.GOAL,
             label='odometry from goal' if k == 0 else None)
    if off is None and not run.goals:
        style.absent(axes, 'neither a goal nor ground truth in this bag')
        axes.set_yscale('linear')
        return
    style.clip_below(axes, LEAST_ERROR)
    legend(axes)


def draw_steering(axes: Axes, run: AnalysedRun) -> None:
    """Draw the steering angles, continuous."""
    dress(axes, 'steering [°]')
    angle = mapped.computed(np.degrees, mapped.unwrapped(run.log.joints.steering))
    for i in shown_axes(run.robot).tolist():
        line(axes, run.log.joints.time, angle[:, i], color=style.caster_colour(i),
             label=f'{axis_word(run.robot)} {i + 1}', linestyle=style.caster_dash(i))
    if not axes.lines:
        style.absent(axes, 'no steering angle is measured')
        return
    at_least(axes, 20.0)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 1.5, 3, 4.5, 9, 10]))
    legend(axes)


def draw_measure(axes: Axes, run: AnalysedRun) -> None:
    """Draw the singularity measure."""
    dress(axes, 'σ_min [1]')
    if run.robot.other_wheels:
        style.absent(axes, 'of casters with all encoders')
        return
    axes.axhspan(0.0, NEAR, color=style.ALERT, alpha=0.12, linewidth=0,
                 label=f'near a singularity, below {NEAR}')
    line(axes, run.log.joints.time, run.sigma, color=INK, label='smallest singular value')
    axes.set_ylim(0.0, 1.05 * max(float(run.sigma.max()), 3 * NEAR))
    legend(axes)


def draw_torque(axes: Axes, run: AnalysedRun, steering: bool = False) -> None:
    """Draw the torques of wheels, or of `steering` motors; commanded where they were recorded."""
    commanded = run.log.wheel_effort is not None
    robot = run.robot
    dress(axes, f'{"commanded" if commanded else "measured"}\n'
                f'{"steering " if steering else ""}torque [N·m]')
    time, torque = run.log.torque
    of = torque[:, robot.count:] if steering else torque
    name = 'steering' if steering else 'wheel'
    turned = robot.actuated[robot.count:]
    for i in np.flatnonzero(turned) if steering else range(robot.count):
        if i < of.shape[1] and np.isfinite(of[:, i]).any():
            line(axes, time, of[:, i], linewidth=0.9, **style.caster_marks(int(i)),
                 label=f'{name} {i + 1}')
    limits = near_limits(of, robot) if steering else robot.torque_limit[robot.driven]
    if steering and not axes.lines:
        style.absent(axes, 'not in this bag' if robot.steered.any() else 'no steering motors')
    style.limits(axes, limits, linewidth=0.9, linestyle=(0, (4, 2)), color=INK)
    at_least(axes, 0.1)
    legend(axes)
