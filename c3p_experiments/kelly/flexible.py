# SPDX-License-Identifier: Apache-2.0
"""
An arm with an elastic link slews with a load, and vibrates; a beam stiffens as it rotates.

The torque is constant in three phases (forwards, backwards, none), so that its work is exact.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from c3p_experiments.kelly.page import TIME
from c3p_experiments.loop.outcome import Row
from c3p_experiments.page_curves import save_page
from c3p_multibody.flexible import Beam, FlexibleTree, tip_joints
from c3p_multibody.trees import Body, Joint, Tree
from c3p_multibody.trees.parts import Array
from c3p_plots import style

TITLE = 'An elastic arm slews with a load'
SOURCE = 'Kelly, flexible bodies'

# m, kg/m, N·m²
LENGTH = 2.0
DENSITY = 0.5
STIFFNESS = 150.0
TIP = ('tip_x', 'tip_y', 'tip_turn')
TORQUE = 5.0
PHASE = 0.8
END = 3.0
SAMPLES = 80
# relative, of the integrator
TOLERANCE = 1e-9
# rates of rotation over √(EI/ρA L⁴), and the first frequency out of the plane of rotation there
# (Wright and others 1982)
RATES = (0, 1, 2, 3, 4, 5, 6)
TABLE = (3.5160, 3.6816, 4.1373, 4.7973, 5.5850, 6.4495, 7.3604)

ROWS = (Row('energy_error_j', 'energy account, error', 'J', bar=1e-8, digits=1, scientific=True),
        Row('frequency_error', 'first frequency of the rotating beam, relative error', bar=1e-3,
            digits=1, scientific=True),
        Row('bending_max_m', 'largest deflection of the free end', 'm', digits=3),
        Row('bending_after_m', 'after the torque', 'm', digits=3),
        Row('angle_end_rad', 'angle of the hub, mean after the torque', 'rad', digits=3))


class Slew(NamedTuple):
    """Time (k,), states z and ż (k, N), error of the energy account (k,), the arm."""

    time: Array
    z: Array
    zd: Array
    error: Array
    arm: FlexibleTree


def loaded_arm(modes: int = 3) -> FlexibleTree:
    """Return a hub, a beam with `modes` and a load at its free end, without gravity."""
    joints, bodies = tip_joints('tip', (0, 0, 0), LENGTH)
    bodies[-1] = Body('load', 0.7, inertia=0.02 * np.eye(3))
    tree = Tree.from_connection(range(-1, 3), [Joint('hub'), *joints],
                                [Body('hub', 1.0, inertia=0.2 * np.eye(3)), *bodies], (0, 0, 0))
    return FlexibleTree(tree, [Beam(body='hub', length=LENGTH, density=DENSITY,
                                    stiffness=STIFFNESS, modes=modes, tip=TIP)])


def slew(modes: int = 3, samples: int = SAMPLES) -> Slew:
    """Return the motion with `modes`, with about `samples` points of time in each phase."""
    arm = loaded_arm(modes)
    z = zd = np.zeros(arm.size)
    parts = []
    work = 0.0
    begin = 0.0
    for torque, end in ((TORQUE, PHASE), (-TORQUE, 2 * PHASE), (0.0, END)):
        time = np.linspace(begin, end, samples + 1)
        places, rates = arm.simulate(z, zd, time, lambda *_, torque=torque: [torque], TOLERANCE)
        energy = np.array([arm.energy(*state) for state in zip(places, rates, strict=True)])
        error = energy - work - torque * (places[:, 0] - z[0])
        parts.append((time, places, rates, error))
        work = work + torque * (places[-1, 0] - z[0])
        begin = end
        z = places[-1]
        zd = rates[-1]
    when, places, rates, error = (np.concatenate(part) for part in zip(*parts, strict=True))
    return Slew(when, places, rates, error, arm)


def rotating(rates: tuple[int, ...] = RATES, modes: int = 6) -> Array:
    """
    Return first frequencies of a rotating beam in units of √(EI/ρA L⁴): (3, k).

    Out of the plane of rotation, in it, and in it without shortening, for `rates` in these units
    and a beam with `modes`.
    """
    unit = np.sqrt(STIFFNESS / (DENSITY * LENGTH**4))
    out = []
    for axis, shortening in (((0, 1, 0), True), ((0, 0, 1), True), ((0, 0, 1), False)):
        tree = Tree.from_connection([-1], [Joint('hub', axis=axis)],
                                    [Body('hub', 1.0, inertia=np.eye(3))], (0, 0, 0))
        arm = FlexibleTree(tree, [Beam(body='hub', length=LENGTH, density=DENSITY, modes=modes,
                                       stiffness=STIFFNESS, shortening=shortening)])
        row = []
        for rate in rates:
            spin = np.zeros(arm.size)
            spin[0] = rate * unit
            row.append(arm.frequencies(np.zeros(arm.size), spin)[0] / unit)
        out.append(row)
    return np.array(out)


def run_flexible(out: Path, samples: int = SAMPLES) -> dict[str, Any]:
    """Run with `samples` points of time in a phase; draw the page in `out`, return metrics."""
    found = slew(samples=samples)
    curves = rotating()
    bending = np.array([found.arm.tree_state(*state)[0][2]
                        for state in zip(found.z, found.zd, strict=True)])
    after = found.time > 2 * PHASE
    metrics: dict[str, Any] = {
        'energy_error_j': float(np.abs(found.error).max()),
        'frequency_error': float(np.abs(curves[0] / TABLE - 1.0).max()),
        'bending_max_m': float(np.abs(bending).max()),
        'bending_after_m': float(np.abs(bending[after]).max()),
        'angle_end_rad': float(found.z[after, 0].mean())}
    metrics['reached'] = all(metrics[row.key] < row.bar for row in ROWS if row.bar is not None)
    metrics['files'] = _page(found, bending, curves, metrics, out)
    return metrics


def _page(found: Slew, bending: Array, curves: Array, metrics: dict[str, Any], out: Path
          ) -> list[Path]:
    page, grid = style.page(TITLE, [
        f'{LENGTH:g} m, {DENSITY:g} kg/m, EI {STIFFNESS:g} N·m², load 0.7 kg, three modes',
        f'energy account {metrics["energy_error_j"]:.0e} J'], SOURCE, rows=1, columns=3,
        size=(14.0, 4.8))
    left, middle, right = (page.add_subplot(grid[0, k]) for k in range(3))
    for k in np.linspace(0, np.searchsorted(found.time, 2 * PHASE), 9).astype(int):
        x, y, _ = found.arm.line(found.z[k]).T
        left.plot(np.append(0.0, x), np.append(0.0, y), color=style.SENSED, linewidth=style.LINE,
                  alpha=0.25 + 0.75 * k / len(found.time))
        left.plot(x[-1], y[-1], 'o', markersize=4, color=style.TRUE)
    left.set_aspect('equal')
    style.dress(left, '(a) arm during the slew', 'x [m]', 'y [m]')
    middle.plot(found.time, found.z[:, 0], color=style.INK, linewidth=style.LINE,
                label='angle of the hub [rad]')
    middle.plot(found.time, bending, color=style.SENSED, linewidth=style.LINE,
                label='deflection of the free end [m]')
    style.dress(middle, '(b) slew and vibration', TIME, '')
    style.legend(middle)
    for row, label, colour in zip(curves, ('out of the plane of rotation', 'in the plane',
                                           'in the plane, without shortening'),
                                  (style.INK, style.SENSED, style.ALERT), strict=True):
        right.plot(RATES, row, color=colour, linewidth=style.LINE, label=label)
    right.plot(RATES, TABLE, 'o', markersize=4, color=style.TRUE, label='Wright and others, 1982')
    style.dress(right, '(c) first frequency of a rotating beam', 'rate Ω √(ρA L⁴/EI)',
                'frequency ω √(ρA L⁴/EI)')
    style.legend(right)
    return save_page(page, out / 'flexible')
