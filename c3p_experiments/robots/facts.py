# SPDX-License-Identifier: Apache-2.0
"""Tables of a robot's page: casters, masses, assumptions, abilities and drives."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from c3p_bags.report.markup import Markup, html
from c3p_bags.report.tables import level_name, number, percent, sentences, table
from c3p_description.model import CasterRobot
from c3p_description.reading.notes import Note
from c3p_experiments.robots.ability import Ability
from c3p_experiments.robots.battery import DriveOutcome
from c3p_experiments.robots.pace import Pace


def caster_table(robot: CasterRobot, ability: Ability) -> Markup:
    """Return one row for each caster: joints, sizes, motor and grip."""
    rows = []
    for i in range(robot.count):
        x, y = robot.hip_position[i].round(9) + 0.0
        driven = bool(robot.driven[i])
        rows.append((
            f'{i + 1}', f'{robot.steering_joints[i]}, {robot.wheel_joints[i]}',
            f'{x:.4g}, {y:.4g}', f'{100 * robot.caster_offset[i]:.3g}',
            f'{100 * robot.wheel_radius[i]:.3g}', f'{np.degrees(robot.steering_zero[i]):.4g}',
            motors(robot, i), limit(robot.torque_limit[i]) if driven else '–',
            f'{ability.grip[i]:.3g}',
            html('<b>$bound</b>', bound=f'{ability.bound[i]:.3g}') if driven else '–',
            limit(robot.wheel_rate_limit[i]),
            f'{ability.steering_bound[i]:.3g}' if robot.steered[i] else '–',
            f'{ability.load[i]:.3g}'))
    return table(('caster', 'joints', 'hip x, y [m]', 'offset [cm]', 'radius [cm]', 'zero [deg]',
                  'motors', 'motor [N·m]', 'tyre [N·m]', 'used [N·m]', 'rate limit [rad/s]',
                  'steering, used [N·m]', 'least load [N]'), rows, left=3)


def motors(robot: CasterRobot, caster: int) -> str:
    """Return the driven axes of a caster, counted from 0, as text."""
    names = [name for name, has in (('wheel', robot.driven[caster]),
                                    ('steering', robot.steered[caster])) if has]
    return ', '.join(names) or 'none'


def limit(value: float) -> str:
    """
    Return a limit as text.

    Examples
    --------
    >>> limit(2.5), limit(float('inf'))
    ('2.5', 'none')
    """
    return f'{value:.3g}' if np.isfinite(value) else 'none'


def body_table(robot: CasterRobot) -> Markup:
    """Return masses, inertias and friction."""
    def spread(values: np.ndarray, form: str = '.3g') -> str:
        low = float(np.min(values))
        high = float(np.max(values))
        return format(low, form) if np.isclose(low, high) else f'{low:{form}} to {high:{form}}'

    friction = robot.losses
    x, y = robot.platform_com.round(9) + 0.0
    rows = [
        ('whole robot', f'{robot.total_mass:.4g} kg'),
        ('platform', f'{robot.platform_mass:.4g} kg, {robot.platform_inertia:.4g} kg·m² about '
         f'the vertical, centre of mass ({x:.4g}, {y:.4g}) m'),
        ('steering links', f'{spread(robot.link_mass)} kg, {spread(robot.link_inertia)} kg·m², '
         f'centre of mass {spread(100 * robot.link_com)} cm behind the pivot'),
        ('wheels', f'{spread(robot.wheel_mass)} kg, {spread(robot.wheel_spin_inertia)} kg·m² '
         f'about the axle, {spread(robot.wheel_yaw_inertia)} kg·m² about the vertical'),
        ('steering friction', f'{spread(friction[:, 1])} N·m and {spread(friction[:, 0])} '
         'N·m·s/rad'),
        ('rolling friction', f'{spread(friction[:, 3])} N·m and {spread(friction[:, 2])} '
         'N·m·s/rad'),
        ('scrub of a turning tyre', f'{spread(friction[:, 4])} N·m'),
        ('tyre on floor', f'µ {robot.tyre_friction:g}, of which controllers use '
         f'{percent(robot.traction_margin)}')]
    return table(('part', ''), rows, left=2)


def note_table(notes: Sequence[Note], warnings: Sequence[str] = ()) -> Markup:
    """Return what was doubtful or assumed, with the remedy, and `warnings` that no note has."""
    rows = [(level_name(note.kind, 'warn' if note.kind == 'warning' else 'ok'), note.field,
             shown(note.value), note.text) for note in notes]
    noted = {note.text for note in notes}
    rows += [(level_name('warning', 'warn'), '–', '–', text) for text in warnings
             if text not in noted]
    return sentences(('kind', 'field', 'value in use', 'reason, and how to give another'),
                     rows) if rows else Markup()


def shown(value: object) -> str:
    """
    Return the value of a note, lists of equal numbers as one.

    Examples
    --------
    >>> shown([0.5, 0.5]), shown((1.0, 2.0)), shown('base')
    ('0.5', '1, 2', 'base')
    """
    if isinstance(value, float):
        return limit(value)
    if isinstance(value, list | tuple):
        texts = [shown(entry) for entry in value]
        return texts[0] if len(set(texts)) == 1 else ', '.join(texts)
    return f'{value}'


def pace_table(pace: Pace) -> Markup:
    """Return the limits of the goals of the battery."""
    rows = [('speed', f'{pace.speed:.3g} m/s'),
            ('acceleration, deceleration', f'{pace.acceleration:.3g}, {pace.deceleration:.3g} '
             'm/s²'),
            ('yaw rate', f'{pace.yaw_rate:.3g} rad/s'),
            ('straight drives', f'{pace.length:.3g} m'),
            ('rings of the figure eight', f'{pace.radius:.3g} m radius')]
    return table(('goals of the battery', ''), rows, left=2)


def battery_table(drives: Sequence[DriveOutcome]) -> Markup:
    """Return one row for each drive."""
    rows = []
    for drive in drives:
        m = drive.metrics
        rows.append((
            drive.task.title, drive.plant,
            html('<b>not driven</b>') if not m else 'reached' if drive.reached else
            html('<b>out of control</b>') if m['runaway'] else html('<b>missed</b>'),
            number(m.get('time_s'), '.1f'), number(m.get('align_time_s'), '.2f'),
            number(m.get('ground_truth_path_error_max_m'), '.2f', 100),
            number(m.get('ground_truth_final_error_m'), '.2f', 100),
            number(m.get('rms_wheel_torque_nm'), '.2f'),
            number(m.get('torque_variation_nm_per_s'), '.1f'), drive.failure))
    return table(('drive', 'plant', 'goal', 'took [s]', 'aligned after [s]', 'off the path [cm]',
                  'final error [cm]', 'torque rms [N·m]', 'variation [N·m/s]', ''), rows, left=3)
