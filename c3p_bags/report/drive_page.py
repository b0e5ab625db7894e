# SPDX-License-Identifier: Apache-2.0
"""Page of a drive to a goal: path, casters, velocities, torques, errors and slip."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec
from matplotlib.ticker import MultipleLocator

from c3p_bags.report import yaw_command
from c3p_bags.report.path import draw_path, is_wide
from c3p_bags.runs import mapped
from c3p_bags.runs.metrics import (
    ALIGNED,
    COMMANDED_SPEED,
    distance_to_segment,
    goal_time,
    hip_velocity,
    pose_at,
    truth_in_odom,
)
from c3p_bags.runs.run_log import RunLog, between, held
from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import shown_axes
from c3p_kinematics.se2 import to_floor, wrap
from c3p_plots import style

# grid of the steering angles, deg
EIGHTH_TURN = 45.0

# casters whose commanded directions differ by less have one band, rad
SAME_DIRECTION = np.radians(1.0)


def commanded_steering(log: RunLog, robot: CasterRobot) -> Array:
    """
    Return the steering angles (k, n) [rad] at which wheels roll along the commanded travel.

    On the branch (modulo 180°) nearest to the steering angles of the later half of the command,
    in the median: the direction of its last instants is that of noise. nan while the commanded
    speed is too small to have a direction.
    """
    if log.cmd_vel is None:
        raise ValueError(f'{log.path}: cmd_vel was not recorded')

    def commanded(twist: Array) -> Array:
        command = hip_velocity(robot, twist)
        angle = np.arctan2(command[..., 1], command[..., 0]) - 0.5 * np.pi
        angle[~(np.hypot(command[..., 0], command[..., 1]) > COMMANDED_SPEED)] = np.nan
        return angle

    angle = mapped.computed(commanded, held(log.cmd_vel, log.joints.time))
    steering = mapped.unwrapped(log.joints.steering)
    for i in range(robot.count):
        known = mapped.where(np.isfinite(angle[:, i]))
        smooth = mapped.unwrapped(angle[known, i], np.pi)
        if len(smooth):
            half = len(smooth) // 2
            apart = mapped.computed(np.subtract, steering[known, i][half:], smooth[half:])
            angle[known, i] = smooth + np.pi * np.rint(np.median(apart) / np.pi)
    return angle


def axis_word(robot: CasterRobot) -> str:
    """Return what turns at the pivots of a robot, for its pictures: casters, or other wheels."""
    return 'wheel' if robot.other_wheels else 'caster'


def draw_steering(axes: Axes, log: RunLog, robot: CasterRobot, metrics: Mapping[str, Any],
                  start: float) -> None:
    """Draw the steering panel; `start` is the goal's arrival, s."""
    style.dress(axes, '(b) steering angles', style.TIME, r'$\theta_s$ [deg]')
    time, steering = style.thin(log.joints.time, mapped.unwrapped(log.joints.steering))
    time = time - start
    steering = np.degrees(steering)
    axles = shown_axes(robot).tolist()
    if not axles:
        style.absent(axes, 'no steering angle is measured')
        return
    if log.cmd_vel is not None:
        (command,) = style.thin(commanded_steering(log, robot))
        spread = np.ptp(command[:, axles], axis=1)
        shared = not np.any(spread[np.isfinite(spread)] > SAME_DIRECTION)
        for i in axles[:1] if shared else axles:
            middle = np.degrees(command[:, i])
            band = np.degrees(ALIGNED)
            axes.fill_between(time, middle - band, middle + band, linewidth=0, alpha=0.25,
                              color=style.GREY if shared else style.caster_colour(i),
                              label='commanded ±10°' if i == axles[0] else None)
    for i in axles:
        axes.plot(time, steering[:, i], color=style.caster_colour(i), linewidth=style.LINE,
                  linestyle=style.caster_dash(i), label=f'{axis_word(robot)} {i + 1}')
    aligned = metrics.get('align_time_s')
    if aligned:
        axes.axvline(aligned, color=style.REFERENCE, linewidth=0.8, linestyle=':')
        axes.annotate(f'aligned {aligned:.2f} s', (aligned, 0.97), xytext=(4, 0),
                      xycoords=('data', 'axes fraction'), textcoords='offset points',
                      fontsize=style.SMALL, va='top')
    if np.ptp(axes.get_ylim()) < 8 * EIGHTH_TURN:
        axes.yaxis.set_major_locator(MultipleLocator(EIGHTH_TURN))
    style.headroom(axes, above=0.08, below=0.38)
    # four entries in one row are wider than the panel
    style.legend(axes, ncols=2, loc='lower right')


# lower end of the logarithmic panel, m: the noise of encoders is below
LEAST_DISTANCE = 1e-3

# the reason for a missed goal: distance from the upper edge of the page, inches, and letters
MISSED_AT = 0.75
MISSED_LETTERS = 190

# fraction of the limit of a steering motor below which the limit would flatten the lines
FAR = 0.2

# half a panel
SMALL_PANEL = style.PAPER._replace(most=3)

# least range of the slip panel, mm/s
LEAST_RESIDUAL = 10.0

# least peak of a drawn yaw error, rad
YAW_SHOWN = 0.05


def drive_figure(log: RunLog, robot: CasterRobot, metrics: Mapping[str, Any],
                 path: str | Path,
                 save: Callable[[Figure, Path], list[Path]] = style.save) -> list[Path]:
    """
    Draw a drive on one page and write it as PNG (300 dpi) and PDF; return the two files.

    `log`, `robot` and `metrics` are the arguments and the result of `drive_metrics`; the suffix of
    `path` is optional. `save` writes both.
    """
    page, grid = _page(robot, metrics)
    start = goal_time(log)
    # the path takes two cells, side by side or one above the other
    wide = is_wide(log, robot, metrics)
    draw_path(page.add_subplot(grid[0, :2] if wide else grid[:2, 0]), log, robot, metrics, wide)
    cells = [(0, 2), (1, 0), (1, 1), (1, 2)] if wide else [(0, 1), (0, 2), (1, 1), (1, 2)]
    panels: list[Axes] = []
    for cell in (*cells, (2, 0), (2, 1), (2, 2)):
        panels.append(page.add_subplot(grid[cell], sharex=panels[0] if panels else None))
    draw_steering(panels[0], log, robot, metrics, start)
    _velocities(panels[1:4], log, start, metrics['reached'])
    _torques(panels[4], log, robot, start)
    _errors(panels[5], log, metrics, start)
    _slip(panels[6], log, start)
    if not metrics['reached']:
        _mark_end(panels, log, start)
    panels[0].set_xlim(log.joints.time[0] - start, log.joints.time[-1] - start)
    return save(page, Path(path))


def _mark_end(panels: Sequence[Axes], log: RunLog, start: float) -> None:
    """Mark in all panels over time when the goal was given up, and when the commands locked."""
    lock = next((h for h in log.diagnostics if h.time > start and h.level
                 and h.name.startswith('velocity_controller') and h.message.startswith('lock: ')),
                None)
    end = next((h for h in log.results if h.time >= start
                and h.values.get('reason') not in (None, 'reached')), None)
    for event, word, dash in ((lock, 'locked', (0, (1, 1))), (end, 'given up', '-.')):
        if event is None:
            continue
        for axes in panels:
            axes.axvline(event.time - start, color=style.ALERT, linewidth=1.1, linestyle=dash,
                         zorder=9)
        panels[1].annotate(f'{word} {event.time - start:.1f} s', (event.time - start, 0.5),
                           xytext=(-4, 0), xycoords=('data', 'axes fraction'), ha='right',
                           textcoords='offset points', fontsize=style.SMALL, color=style.ALERT,
                           bbox={'facecolor': 'white', 'edgecolor': 'none', 'pad': 1.0})


def _value(metrics: Mapping[str, Any], key: str, form: str, scale: float = 1.0) -> str:
    value = metrics.get(key)
    return 'n/a' if value is None else format(value * scale, form)


def _page(robot: CasterRobot, metrics: Mapping[str, Any]) -> tuple[Figure, GridSpec]:
    """Return the page with its headline, and the grid of its panels."""
    x, y, yaw = metrics['goal_pose']
    end = f'reached in {metrics["time_s"]:.1f} s' if metrics['reached'] else 'goal NOT reached'
    word = axis_word(robot)
    aligned = (f'{word}s not aligned' if metrics['align_time_s'] is None else
               f'{word}s aligned after {metrics["align_time_s"]:.2f} s')
    parts = [*([aligned] if shown_axes(robot).size else []),
             f'path error max {_value(metrics, "path_error_max_m", ".2f", 100)} cm, '
             f'rms {_value(metrics, "path_error_rms_m", ".2f", 100)} cm',
             f'final error {_value(metrics, "final_error_m", ".2f", 100)} cm, '
             f'{_value(metrics, "final_yaw_error_rad", ".2f", 180 / np.pi)}°']
    if metrics.get('odometry_error_final_m') is not None:
        parts.append(f'odometry off by {_value(metrics, "odometry_error_final_m", ".2f", 100)} cm')
    if metrics['latency_ms']['p99'] is not None:
        parts.append('command latency ' + ' / '.join(
            f'{name} {value:.3g}' for name, value in metrics['latency_ms'].items()
            if value is not None) + ' ms')
    title = f'{robot.name}: drive to ({x:g} m, {y:g} m, {np.degrees(yaw):.3g}°), {end}'
    sheet, grid = style.page(title, parts, good=metrics['reached'])
    if metrics.get('missed'):
        sheet.text(0.055, 1.0 - MISSED_AT / sheet.get_figheight(), textwrap.shorten(
            metrics['missed'], MISSED_LETTERS, placeholder=' …'), fontsize=style.TITLE - 0.5,
            va='center', color=style.ALERT, parse_math=False)
    return sheet, grid


def _velocities(panels: list[Axes], log: RunLog, start: float, reached: bool) -> None:
    """Draw the twist in the floor's frame, as the papers do; `reached` explains a free yaw."""
    lines: list[tuple[str, Array, Array, str, Any, float]] = []
    if log.cmd_vel is not None and log.odom is not None:
        odom = log.odom
        twist = mapped.computed(lambda at, value: to_floor(
            between(at, odom.time, odom.pose[:, 2:])[:, 0], value), *log.cmd_vel)
        lines.append(('reference', log.cmd_vel.time, twist, style.REFERENCE, '--', 0.9))
    if log.odom is not None:
        lines.append(('sensed', log.odom.time, mapped.computed(
            to_floor, log.odom.pose[:, 2], log.odom.twist), style.SENSED, '-', 1.4))
    truth = truth_in_odom(log)
    if truth is not None:
        lines.append(('true', truth.time, mapped.computed(
            to_floor, truth.pose[:, 2], truth.twist), style.TRUE, (0, (3, 1.5)), 1.4))
    names = (('(c) velocity along X, floor frame', r'$\dot X$ [m/s]'),
             ('(d) velocity along Y, floor frame', r'$\dot Y$ [m/s]'),
             ('(e) yaw rate', r'$\omega$ [rad/s]'))
    for i, (axes, (title, label)) in enumerate(zip(panels, names, strict=True)):
        style.dress(axes, title, style.TIME, label)
        hidden = i == 2 and reached and _yaw_is_free(log)
        if hidden:
            yaw_command.note(axes)
        for name, time, value, colour, dash, width in lines:
            if hidden and name == 'reference':
                continue
            at, shown = style.thin(time, value[:, i])
            axes.plot(at - start, shown, color=colour, linestyle=dash, linewidth=width, label=name,
                      zorder=3 if name == 'reference' else 2)
        # a component that stays at zero shall look like zero, not like amplified noise
        low, high = axes.get_ylim()
        middle = 0.5 * (low + high)
        half = max(0.5 * (high - low), 0.05)
        axes.set_ylim(middle - half, middle + half)
    style.legend(panels[0])


def _yaw_is_free(log: RunLog) -> bool:
    """Return whether the yaw rate does not follow its command."""
    if log.cmd_vel is None or log.odom is None:
        return False
    sensed = between(log.cmd_vel.time, log.odom.time, log.odom.twist[:, 2:])[:, 0]
    return not yaw_command.is_followed(log.cmd_vel.value[:, 2], sensed)


def _torques(axes: Axes, log: RunLog, robot: CasterRobot, start: float) -> None:
    title = '(f) wheel torques'
    label = r'$\tau$ [N m]'
    time, torque = log.torque
    if torque.shape[1] == robot.count:
        style.dress(axes, title, style.TIME, label)
        limited_torques(axes, time - start, torque, robot)
        return
    lower = style.split(axes)
    style.dress(axes, f'{title}, below those of the steering', '', label, SMALL_PANEL)
    style.dress(lower, '', style.TIME, r'$\tau_s$ [N m]', SMALL_PANEL)
    limited_torques(axes, time - start, torque, robot)
    limited_torques(lower, time - start, torque, robot, steering=True)


def near_limits(torque: Array, robot: CasterRobot) -> Array:
    """Return the limits of the steering motors, none where the torques are far below all."""
    limit = robot.effort_limit[robot.count:][robot.actuated[robot.count:]]
    known = torque[np.isfinite(torque)]
    return limit if np.any(np.abs(known) > FAR * limit.min(initial=np.inf)) else limit[:0]


def limited_torques(axes: Axes, time: Array, torque: Array, robot: CasterRobot,
                    steering: bool = False) -> None:
    """
    Draw the torques of the wheels, or of the `steering`, with their limits, into `axes`.

    `torque` (k, efforts) [N·m] of `robot` at `time` (k,) [s]. Only steering axes with a motor have
    a line, and no legend: their colours are those of the wheels.
    """
    motors = robot.actuated[robot.count:] if steering else np.ones(robot.count, bool)
    limit = (near_limits(torque[:, robot.count:], robot) if steering else
             robot.torque_limit[robot.driven])
    for i in np.flatnonzero(motors):
        axes.plot(*style.thin(time, torque[:, i + robot.count * steering]), linewidth=0.9,
                  label=f'wheel {i + 1}', **style.caster_marks(int(i)))
    style.limits(axes, limit, color=style.REFERENCE, linewidth=0.8, linestyle='--')
    if steering:
        return
    # further rows of the legend
    crowded = torque.shape[1] > robot.count
    style.headroom(axes, above=0.14 if robot.count < 4 else 0.6 if crowded else 0.24)
    style.legend(axes, ncols=4, loc='upper right')


def _errors(axes: Axes, log: RunLog, metrics: Mapping[str, Any], start: float) -> None:
    axes.set_yscale('log')
    goal = np.array(metrics['goal_pose'])
    turning = False
    # the truth broad below, so that both are seen where they agree
    for motion, colour, width in ((truth_in_odom(log), style.TRUE, 2.4),
                                  (log.odom, style.SENSED, style.LINE)):
        if motion is None:
            continue
        after = mapped.where(motion.time >= start)
        begin = pose_at(motion, start)
        pose = motion.pose[after]
        yaw_error = mapped.computed(lambda part: np.abs(wrap(part[:, 2] - goal[2])), pose)
        turning |= bool(np.any(yaw_error > YAW_SHOWN))
        curves = [('distance to goal', mapped.computed(
            lambda part: np.hypot(*(part[:, :2] - goal[:2]).T), pose), '-'),
                  ('path error', mapped.computed(lambda part, begin=begin: distance_to_segment(
                      part[:, :2], begin[:2], goal[:2]), pose), ':')]
        if turning:
            curves.append(('yaw error [rad]', yaw_error, '--'))
        for label, value, dash in curves:
            at, shown = style.thin(motion.time[after], value)
            axes.plot(at - start, np.maximum(shown, 1e-9), color=colour, linestyle=dash,
                      linewidth=width, label=label if motion is (log.odom or motion) else None)
    axes.axhline(metrics['goal_tolerance_m'], color=style.GOAL, linewidth=0.9, label='goal zone')
    if turning and metrics['yaw_tolerance_rad']:
        axes.axhline(metrics['yaw_tolerance_rad'], color=style.GOAL, linewidth=0.9,
                     linestyle='--', label='yaw tolerance [rad]')
    if metrics['reached']:
        axes.axvline(metrics['time_s'], color=style.GOAL, linewidth=0.9, linestyle=':')
    style.dress(axes, '(g) distance to the goal and from the line', style.TIME,
                'error [m], [rad]' if turning else 'error [m]')
    style.clip_below(axes, LEAST_DISTANCE)
    style.headroom(axes, above=0.3)
    style.only_decades(axes)
    style.legend(axes, loc='upper right', ncols=2)


def _slip(axes: Axes, log: RunLog, start: float) -> None:
    style.dress(axes, '(h) slip residual of the wheels', style.TIME, 'residual [mm/s]')
    if log.slip is None:
        style.absent(axes, 'wheel slip was not recorded')
        return
    size = mapped.computed(lambda part: 1000.0 * np.hypot(part[..., 0], part[..., 1]),
                           log.slip.residual)
    for i in range(size.shape[1]):
        at, shown = style.thin(log.slip.time, size[:, i])
        axes.plot(at - start, shown, linewidth=0.7, label=f'wheel {i + 1}',
                  **style.caster_marks(i))
        if (suspect := log.slip.suspect[:, i]).any():
            axes.fill_between(log.slip.time - start, 0, 1, where=suspect, alpha=0.2, linewidth=0,
                              color=style.caster_colour(i), label=f'wheel {i + 1} suspect',
                              transform=axes.get_xaxis_transform())
    # rolling wheels shall look like rolling wheels, not like amplified noise
    axes.set_ylim(0.0, max(axes.get_ylim()[1], LEAST_RESIDUAL))
    style.headroom(axes, above=0.15, below=0.03)
    style.legend(axes, loc='upper right', ncols=2)
