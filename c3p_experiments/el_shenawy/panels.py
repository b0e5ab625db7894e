# SPDX-License-Identifier: Apache-2.0
"""Panels over time of the pages of experiments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from c3p_bags.report import yaw_command
from c3p_bags.report.drive_page import commanded_steering, near_limits
from c3p_bags.runs.metrics import ALIGNED
from c3p_bags.runs.run_log import Joints
from c3p_description.model import Array, CasterRobot
from c3p_dynamics.traction import torque_bounds
from c3p_experiments.el_shenawy.measures import path_error
from c3p_experiments.loop.outcome import ExperimentRun
from c3p_kinematics.se2 import to_floor
from c3p_plots import style

TIME = 'time [s]'

# names, symbols and units of the velocity over the floor
VELOCITIES = (('velocity along X', r'$\dot X$ [m/s]'), ('velocity along Y', r'$\dot Y$ [m/s]'),
              ('yaw rate', r'$\dot\Phi$ [rad/s]'))

# smallest half range of velocity axes, m/s, and range of error axes, cm
LEAST_VELOCITY = 0.05
LEAST_ERROR = 0.1

# window of the slopes of rates, s
SLOPE_TIME = 0.1


def steering(axes: Axes, run: ExperimentRun, robot: CasterRobot, letter: str) -> None:
    """
    Draw the steering angles of a `run` with their commanded angles and alignment times.

    Into the panel `axes` with this `letter`. The facts of the run may hold the times ``aligned``
    and the end ``times`` of its legs; `robot` is the model.
    """
    _title(axes, letter, 'steering angles', r'$\theta_s$ [deg]')
    log = run.log
    time, angles, commanded = style.thin(
        log.joints.time, np.degrees(np.unwrap(log.joints.steering, axis=0)),
        np.degrees(commanded_angles(run, robot)))
    band = np.degrees(ALIGNED)
    for i in range(robot.count):
        axes.fill_between(time, commanded[:, i] - band, commanded[:, i] + band, linewidth=0,
                          alpha=0.25, color=style.caster_colour(i),
                          label='commanded ±10°' if i == 0 else None)
    for i in range(robot.count):
        axes.plot(time, angles[:, i], color=style.caster_colour(i), linewidth=style.LINE,
                  linestyle=style.caster_dash(i), label=f'caster {i + 1}')
    for aligned in run.facts.get('aligned', ()):
        axes.axvline(aligned, color=style.REFERENCE, linewidth=0.8, linestyle=':')
        axes.annotate(f'aligned {aligned:.2f} s', (aligned, 0.97), xytext=(4, 0),
                      xycoords=('data', 'axes fraction'), textcoords='offset points',
                      fontsize=style.SMALL, va='top')
    axes.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 1.5, 3, 4.5, 9, 10]))
    # four entries in a row are wider than the panel, and would cover its numbers
    style.headroom(axes, above=0.12, below=0.4)
    style.legend(axes, ncols=(robot.count + 2) // 2, loc='lower right')


def commanded_angles(run: ExperimentRun, robot: CasterRobot) -> Array:
    """
    Return the steering angles (k, n) that align the wheels with the command, rad.

    Per leg on the branch (modulo 180°) nearest to its end; nan at zero command.
    """
    log = run.log
    joints = run.log.joints
    turns = np.unwrap(joints.steering, axis=0)
    rows = np.searchsorted(joints.time, [*run.facts.get('times', ()), np.inf], side='right')
    parts = []
    begin = 0
    for end in rows:
        leg = replace(log, joints=Joints(*(column[begin:end] for column in joints)))
        # unwrapping a leg alone may differ by whole turns
        offset = turns[begin:end] - np.unwrap(joints.steering[begin:end], axis=0)
        parts.append(commanded_steering(leg, robot) + offset)
        begin = end
    return np.concatenate(parts)


def velocity(axes: Axes, run: ExperimentRun, component: int, letter: str) -> None:
    """
    Draw a component (0 X, 1 Y, 2 yaw) of the velocity over the floor: commanded, sensed, true.

    Into the panel `axes` with this `letter`, of the `run`; `component` is its index.
    """
    log = run.log
    commanded = run.facts.get('commanded')
    # of a drive to goals, which the run has reached
    to_goal = commanded is None and log.ended
    if commanded is None:
        commanded = to_floor(log.odom.pose[:, 2], log.cmd_vel.value)
    name, label = VELOCITIES[component]
    _title(axes, letter, f'{name}, floor', label)
    hidden = component == 2 and to_goal and not yaw_command.is_followed(
        commanded[:, 2], log.odom.twist[:, 2])
    if hidden:
        yaw_command.note(axes)
    for what, value, colour, dash, width in (
            ('reference', commanded, style.REFERENCE, '--', 0.9),
            ('sensed', to_floor(log.odom.pose[:, 2], log.odom.twist), style.SENSED, '-', 1.0),
            ('true', to_floor(log.ground_truth.pose[:, 2], log.ground_truth.twist), style.TRUE,
             '-', 1.2)):
        if hidden and what == 'reference':
            continue
        axes.plot(*style.thin(log.joints.time, value[:, component]), color=colour, linestyle=dash,
                  linewidth=width, label=what)
    # a component near zero must not look like amplified noise
    low, high = axes.get_ylim()
    middle = 0.5 * (low + high)
    half = max(0.5 * (high - low), LEAST_VELOCITY)
    axes.set_ylim(middle - half, middle + half)
    style.headroom(axes, above=0.15)
    style.legend(axes, loc='upper right', ncols=3)


def rates(axes: Axes, run: ExperimentRun, robot: CasterRobot, kind: str, letter: str) -> None:
    """Draw the sensed rates of a `kind` of joints, wheel or steering; others as in `steering`."""
    joints = run.log.joints
    value = joints.wheel_rate if kind == 'wheel' else joints.steering_rate
    symbol = r'$\dot\theta_x$' if kind == 'wheel' else r'$\dot\theta_s$'
    _title(axes, letter, f'{kind} rates', f'{symbol} [rad/s]')
    _per_caster(axes, joints.time, value, robot, 'wheel' if kind == 'wheel' else 'caster')


def torques(axes: Axes, run: ExperimentRun, robot: CasterRobot, letter: str) -> None:
    """Draw the commanded wheel torques and their limits; parameters as in `steering`."""
    _title(axes, letter, 'wheel torques', r'$\tau$ [N m]')
    bounds, time, torque = torque_bounds(robot), *run.log.wheel_effort
    _limit(axes, bounds[:robot.count])
    if torque.shape[1] > robot.count:
        lower = style.split(axes)
        style.dress(lower, '', TIME, r'$\tau_s$ [N m]', style.PAPER._replace(most=3))
        axes.set_title(f'({letter}) wheel torques, below those of the steering', loc='left',
                       fontsize=style.TITLE, fontweight='bold', pad=4, color=style.INK)
        axes.set_xlabel('')
        if near_limits(torque[:, robot.count:], robot).size:
            _limit(lower, bounds[robot.count:])
        for i in np.flatnonzero(robot.steered):
            lower.plot(*style.thin(time, torque[:, robot.count + i]), linewidth=0.9,
                       **style.caster_marks(int(i)))
    _per_caster(axes, time, torque, robot, 'wheel', 0.7 if torque.shape[1] > robot.count else 0.3)


def _limit(axes: Axes, bounds: Array) -> None:
    limit = float(np.max(bounds))
    for sign in (1.0, -1.0):
        axes.axhline(sign * limit, color=style.REFERENCE, linewidth=0.8, linestyle='--',
                     label='limit' if sign > 0 else None)


def _per_caster(axes: Axes, time: Array, value: Array, robot: CasterRobot, name: str,
                room: float = 0.3) -> None:
    for i in range(robot.count):
        axes.plot(*style.thin(time, value[:, i]), linewidth=0.9, label=f'{name} {i + 1}',
                  **style.caster_marks(i))
    # four entries are as wide as the panel
    style.headroom(axes, above=0.2 if robot.count < 4 else room)
    style.legend(axes, loc='upper right', ncols=min(robot.count + 1, 4))


def errors(axes: Axes, run: ExperimentRun, letter: str) -> None:
    """Draw the distance from the desired path, true and by odometry."""
    _title(axes, letter, 'distance from the path', 'distance [cm]')
    for what, motion, colour, width in (('true', run.log.ground_truth, style.TRUE, 1.8),
                                        ('by odometry', run.log.odom, style.SENSED, 1.0)):
        axes.plot(*style.thin(motion.time, 100.0 * path_error(motion, run.facts)), color=colour,
                  linewidth=width, label=what)
    axes.set_ylim(0.0, max(axes.get_ylim()[1], LEAST_ERROR))
    style.headroom(axes, above=0.15)
    style.legend(axes, loc='upper right', ncols=2)


def slopes(time: Array, value: Array) -> Array:
    """Return the time derivative (k, …) of `value`: slope of a line fit over SLOPE_TIME."""
    half = max(1, int(round(0.5 * SLOPE_TIME / (time[1] - time[0]))))
    offsets = np.arange(-half, half + 1)
    weights = offsets / (offsets @ offsets * (time[1] - time[0]))
    flat = value.reshape(len(value), -1)
    padded = np.pad(flat, ((half, half), (0, 0)), mode='edge')
    out = np.stack([np.convolve(column, weights[::-1], mode='valid') for column in padded.T],
                   axis=-1)
    return out.reshape(value.shape)


def overlay(axes: Axes, letter: str, title: str, label: str,
            lines: Sequence[tuple[str, Array, Array, str, str]]) -> None:
    """
    Draw lines (name, time, value, colour, line style) of several runs into one panel.

    `lines` into the panel `axes` with this `letter`, `title` and `label` of its values.
    """
    _title(axes, letter, title, label)
    for name, time, value, colour, dash in lines:
        axes.plot(*style.thin(time, value), color=colour, linestyle=dash, linewidth=1.0,
                  label=name)
    style.headroom(axes, above=0.2)
    style.legend(axes, loc='upper right', ncols=4)


def _title(axes: Axes, letter: str, title: str, label: str) -> None:
    style.dress(axes, f'({letter}) {title}', TIME, label)
