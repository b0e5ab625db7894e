# SPDX-License-Identifier: Apache-2.0
"""Panels of the pages of rough ground: the first run in colour, the others in grey."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from c3p_plots import style

TIME = 'time [s]'
DASHES = ('-', '--', '-.')
FAINT = '#a6a6a6'
# least half ranges of the axes, so that zero looks like zero
LEAST_ANGLE = 0.5
LEAST_RATE = 0.005
LEAST_VELOCITY = 0.02
# of the axis of the condition; errors below are drawn there
LEAST_CONDITION = 0.1
LEAST_ERROR = 1e-17


def _lines(axes: Axes, letter: str, title: str, label: str,
           lines: Sequence[tuple[str | None, np.ndarray, np.ndarray, str, str]]) -> None:
    style.dress(axes, f'({letter}) {title}', TIME, label)
    for name, time, value, colour, dash in lines:
        axes.plot(*style.thin(time, value), color=colour, linestyle=dash, label=name,
                  linewidth=0.9 if colour in (style.REFERENCE, FAINT) else style.LINE)


def _widened(axes: Axes, middle: float, least: float) -> None:
    """Extend the y axis to at least `least` on both sides of the middle."""
    low, high = axes.get_ylim()
    axes.set_ylim(min(low, middle - least), max(high, middle + least))


def drive_rates(axes: Axes, drives: Sequence[Any], letter: str) -> None:
    """Draw the drive rates of the first of `drives` and the desired one; its Fig. 5."""
    run = drives[0].run
    _lines(axes, letter, 'drive rates (Fig. 5)', r'$\dot\alpha$ [rad/s]', [
        ('desired', run.time, run.desired[:, run.vehicle.spins[0]], style.REFERENCE, ':'),
        *((f'wheel {i + 1}', run.time, run.joint_rates[:, spin], style.caster_colour(i),
           DASHES[i % 3]) for i, spin in enumerate(run.vehicle.spins))])
    _widened(axes, 1.0, LEAST_RATE)
    style.headroom(axes, above=0.2)
    style.legend(axes, ncols=4, loc='upper center')


def joint_angles(axes: Axes, drives: Sequence[Any], letter: str) -> None:
    """Draw steering and camber angles of all `drives`; Fig. 5."""
    run = drives[0].run
    camber = [run.vehicle.index(name) for name in run.vehicle.camber]
    steering = [i for i in range(run.vehicle.size[0])
                if i not in (*camber, *run.vehicle.spins)]
    lines: list[tuple[str | None, Any, Any, str, Any]] = [
        ('desired', run.time, 0.0 * run.time, style.REFERENCE, ':')]
    for one in drives[1:]:
        lines += [(f'PVC, {one.label}' if j == camber[0] else None, one.run.time,
                   np.degrees(one.run.joint[:, j]), FAINT, DASHES[1 + k])
                  for k, j in enumerate(camber)]
    lines += [(r'steering $\phi_1$', run.time, np.degrees(run.joint[:, j]),
               style.caster_colour(0), '-') for j in steering]
    lines += [(rf'PVC $\gamma_{2 + k}$', run.time, np.degrees(run.joint[:, j]),
               style.caster_colour(1 + k), DASHES[1 + k]) for k, j in enumerate(camber)]
    _lines(axes, letter, 'steering and PVC angles (Fig. 5)', 'angle [deg]', lines)
    _widened(axes, 0.0, LEAST_ANGLE)
    style.headroom(axes, above=0.32)
    style.legend(axes, ncols=3, loc='upper center')


def paths(axes: Axes, drives: Sequence[Any], letter: str) -> None:
    """Draw contact points (dotted) and wheel centres (solid) of the first run; Fig. 7."""
    style.dress(axes, f'({letter}) contact points (dotted) and wheel centres (solid) seen from '
                'above (Fig. 7)', r'$x_G$ [m]', r'$y_G$ [m]')
    run = drives[0].run
    for i in range(run.vehicle.size[1]):
        colour = style.caster_colour(i)
        axes.plot(*style.thin(*run.wheel_center[:, i, :2].T), color=colour, linewidth=style.LINE,
                  label=f'wheel {i + 1}')
        axes.plot(*style.thin(*run.contact_point[:, i, :2].T), color=colour, linestyle=':',
                  linewidth=1.6)
    places = np.concatenate([run.wheel_center, run.contact_point])[..., :2].reshape(-1, 2)
    middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
    reach = 0.5 * np.ptp(places, axis=0) + 0.12
    # as wide as the panel, with the same scale along x and y
    box = axes.get_window_extent()
    shape = box.width / box.height
    half = max(reach[0], shape * reach[1])
    axes.set_xlim(middle[0] - half, middle[0] + half)
    axes.set_ylim(middle[1] - half / shape, middle[1] + half / shape)
    # wheel 1 begins ahead of the axle: there is room behind it
    style.legend(axes, loc='center left')


def platform_velocity(axes: Axes, drives: Sequence[Any], letter: str, angular: bool) -> None:
    """
    Draw velocities of the platform in its own axes; Fig. 8.

    Parameters
    ----------
    axes : Axes
    drives : sequence of Drive
    letter : str
    angular : bool
        Angular ones, else linear.
    """
    run = drives[0].run
    symbol = r'\omega' if angular else 'v'
    title, unit = ('angular', 'rad/s') if angular else ('linear', 'm/s')
    _lines(axes, letter, f'{title} velocity of the platform (Fig. 8)', f'${symbol}$ [{unit}]', [
        (rf'${symbol}_{name}$', run.time, run.platform_twist[:, i + (3 if angular else 0)],
         style.caster_colour(3 + i), DASHES[i]) for i, name in enumerate('xyz')])
    _widened(axes, 0.0, LEAST_VELOCITY)
    style.headroom(axes, above=0.18)
    style.legend(axes, ncols=3, loc='upper center')


def errors(axes: Axes, drives: Sequence[Any], letter: str) -> None:
    """Draw closure, rolling and material slip of the first run, closure of the others; Fig. 9."""
    run = drives[0].run
    floor = lambda value: np.maximum(value, LEAST_ERROR)  # noqa: E731
    _lines(axes, letter, 'L2 errors of the constraints (Fig. 9)', 'error', [
        *((f'closure, {one.label}', one.run.time, floor(one.run.closure_l2), FAINT, '-')
          for one in drives[1:]),
        ('closure (12)', run.time, floor(run.closure_l2), style.caster_colour(0), '-'),
        ('rolling (4)', run.time, floor(run.rolling_l2), style.caster_colour(1), '-'),
        ('slip of material [m/s]', run.time, floor(run.material_slip.max(axis=1)),
         style.caster_colour(2), '-')])
    axes.set_yscale('log')
    if axes.get_ylim()[0] < LEAST_ERROR:
        style.clip_below(axes, LEAST_ERROR)
    style.headroom(axes, above=0.3)
    style.legend(axes, ncols=2, loc='upper center')


def slip(axes: Axes, drives: Sequence[Any], letter: str) -> None:
    """Draw the slip without camber and what is left with the best drive rates; ours."""
    lines = []
    for name, colour, part in (('equal drives', style.caster_colour(1), 'equal'),
                               ('best drives', style.caster_colour(0), 'best')):
        for kind, dash, source in (('this path', '-', drives[0].slip),
                                   ('any path', '--', drives[0].least)):
            lines.append((f'{name}, {kind}', source.time,
                          1e3 * getattr(source, part).max(axis=1), colour, dash))
    _lines(axes, letter, 'slip without PVC, largest of the wheels (ours)', 'slip [mm/s]', lines)
    axes.set_ylim(bottom=0.0)
    style.headroom(axes, above=0.3)
    style.legend(axes, ncols=2, loc='upper center')


def condition(axes: Axes, drives: Sequence[Any], letter: str) -> None:
    """Draw the condition of J_GC on all grounds; ours."""
    found = drives[0].conditioning
    _lines(axes, letter, f'condition of $J_{{GC}}$, rank {found.rank.min()}, '
           f'{found.free.min()} free inputs (ours)', 'condition', [
               (one.label, one.conditioning.time, one.conditioning.condition, colour, dash)
               for one, colour, dash in reversed(list(zip(
                   drives, (style.caster_colour(0), FAINT), ('-', '--'), strict=False)))])
    _widened(axes, float(found.condition[0]), LEAST_CONDITION)
    style.headroom(axes, above=0.2)
    style.legend(axes, ncols=2, loc='upper center')
