# SPDX-License-Identifier: Apache-2.0
"""Page of the drive power with camber, without, and with a variable length axle."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from c3p_experiments.auchter_moore.mujoco_check import SimulatorAgreement
from c3p_experiments.page_curves import save_page
from c3p_plots import style
from c3p_rough_ground.dynamics import DynamicRun
from c3p_rough_ground.dynamics.presets import AXLE, CAMBER, LOCKED

NAMES = {LOCKED: 'camber locked', CAMBER: 'camber on springs', AXLE: 'variable axle'}
COLOURS = {LOCKED: style.REFERENCE, CAMBER: style.CASTERS[0], AXLE: style.CASTERS[2]}
MARKS = {LOCKED: 'o', CAMBER: 's', AXLE: '^'}
TIME = 'time [s]'
# seconds over which a power is averaged for the eye
WINDOW = 0.25


def camber_power_page(title: str, source: str, metrics: Mapping[str, Any],
                      found: Mapping[Any, Any], shown: Mapping[str, DynamicRun],
                      checked: SimulatorAgreement | None, path: Path) -> list[Path]:
    """
    Write the page.

    Parameters
    ----------
    title, source : str
    metrics : mapping
        Of the comparison.
    found : mapping
        Trial → measures.
    shown : mapping
        Form → a run on the same ground.
    checked : SimulatorAgreement or None
        With MuJoCo.
    path : Path
        Without suffix.

    Returns
    -------
    list of Path
    """
    facts = [f'{metrics["runs"]} runs of {metrics["conditions"]["duration_s"]:g} s, '
             f'energy balance {metrics["balance_error_max"]:.0e}']
    if checked is not None:
        facts.append(f'drive power within {100 * checked.power_error:.1f} % of MuJoCo')
    page, grid = style.page(title, facts, source, good=metrics['reached'], size=(12.0, 7.8),
                            rows=2, columns=3, left=0.06, wspace=0.26)
    axes = [page.add_subplot(grid[k // 3, k % 3]) for k in range(6)]
    _power(axes[0], shown)
    _more(axes[1], found, 'random', 'soft', '(b) against locked, random; dotted: one torque')
    _more(axes[2], found, 'hills', 'soft', '(c) the same on hills; dotted: one torque')
    _losses(axes[3], found)
    _slip(axes[4], found)
    _check(axes[5], checked)
    return save_page(page, path, '_curves.csv')


def _smooth(values: np.ndarray, time: np.ndarray) -> np.ndarray:
    width = max(1, round(WINDOW / float(time[1] - time[0])))
    window = np.ones(width)
    # at both ends over what there is
    return (np.convolve(values, window, mode='same')
            / np.convolve(np.ones(len(values)), window, mode='same'))


def _power(axes: Axes, shown: Mapping[str, DynamicRun]) -> None:
    for form, run in shown.items():
        axes.plot(*style.thin(run.time, _smooth(run.motor_power.sum(axis=1), run.time)),
                  color=COLOURS[form], linewidth=style.LINE, label=NAMES[form])
    style.dress(axes, '(a) power of all motors, random ground', TIME, 'power [W]')
    style.legend(axes)


def _more(axes: Axes, found: Mapping[Any, Any], ground: str, tyre: str, title: str) -> None:
    """Draw what each form takes more than the locked one, sorted over the seeds."""
    for form in (CAMBER, AXLE):
        for control, dash in (('equal rates', '-'), ('one torque', ':')):
            more = sorted(100 * (m.drive_power / found[t._replace(form=LOCKED)].drive_power - 1)
                          for t, m in found.items()
                          if t.ground == ground and t.form == form and t.control == control
                          and t.tyre == tyre)
            part = 100 * (np.arange(len(more)) + 1) / max(1, len(more))
            axes.plot(more, part, dash, marker=MARKS[form], markersize=3,
                      color=COLOURS[form], linewidth=style.LINE,
                      label=NAMES[form] if dash == '-' else None)
    axes.axvline(0.0, color=style.GREY, linewidth=0.8)
    style.dress(axes, title, 'more drive power [%]', 'seeds up to [%]')
    style.legend(axes)


def _losses(axes: Axes, found: Mapping[Any, Any]) -> None:
    """Draw the median losses of each form as bars on each other."""
    parts = (('rolling_power', 'rolling', style.GREY), ('joint_power', 'joints', style.SENSED),
             ('slip_power', 'slip', style.ALERT))
    for k, form in enumerate(NAMES):
        below = 0.0
        for name, label, colour in parts:
            value = float(np.median([getattr(m, name) for t, m in found.items()
                                     if t.ground == 'random' and t.form == form
                                     and t.control == 'equal rates' and t.tyre == 'soft']))
            axes.bar(k, value, bottom=below, width=0.6, color=colour,
                     label=label if k == 0 else None)
            below += value
    style.dress(axes, '(d) losses on random ground, median', '', 'power [W]')
    axes.set_xticks(range(len(NAMES)), list(NAMES.values()))
    style.legend(axes)


def _slip(axes: Axes, found: Mapping[Any, Any]) -> None:
    for form in NAMES:
        for tyre, dash in (('soft', '-'), ('hard', ':')):
            slip = sorted(1e3 * m.slip_power for t, m in found.items()
                          if t.ground == 'random' and t.form == form and t.tyre == tyre
                          and t.control == 'equal rates')
            part = 100 * (np.arange(len(slip)) + 1) / max(1, len(slip))
            axes.plot(slip, part, dash, marker=MARKS[form], markersize=3,
                      color=COLOURS[form], linewidth=style.LINE,
                      label=NAMES[form] if dash == '-' else None)
    axes.set_xscale('log')
    style.dress(axes, '(e) lost by slip, random; dotted: hard tyres', 'power [mW]',
                'seeds up to [%]')
    style.legend(axes)


def _check(axes: Axes, checked: SimulatorAgreement | None) -> None:
    style.dress(axes, '(f) the same drive in MuJoCo', TIME, 'power [W]')
    if checked is None:
        style.absent(axes, 'needs MuJoCo')
        return
    one = checked.drives[0]
    theirs = np.sum(one.theirs.motor_torque * one.theirs.joint_rates, axis=1)
    for values, time, colour, label, width in (
            (one.ours.motor_power.sum(axis=1), one.ours.time, style.CASTERS[0], 'ours', 2.2),
            (theirs, one.theirs.time, style.ALERT, 'MuJoCo', 0.9)):
        axes.plot(*style.thin(time, _smooth(values, time)), color=colour, linewidth=width,
                  label=label)
    style.legend(axes)
