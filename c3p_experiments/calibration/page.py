# SPDX-License-Identifier: Apache-2.0
"""Page of a calibration: parameters with intervals, residuals, and odometry before and after."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.axes import Axes

from c3p_bags.runs.run_log import Motion
from c3p_description.model import Array
from c3p_kinematics.calibration.batch import OUTLIER, Calibration
from c3p_kinematics.calibration.words import INTERVAL, relative_to_gauge
from c3p_plots import style

BEFORE = style.REFERENCE
AFTER = style.SENSED

# parameter column, factor to the unit, title
PANELS = ((0, None, '(a) wheel radius', 'change [%]'),
          (1, None, '(b) caster offset', 'change [%]'),
          (2, 1e3, '(c) hip x and y', 'change [mm]'),
          (4, np.degrees(1.0), '(d) steering zero', 'change [°]'))


class OdometryPaths(NamedTuple):
    """Odometry of a recording before and after, and its ground truth: poses (k, 3), or None."""

    before: Array
    after: Array
    truth: Motion | None


def calibration_figure(found: Calibration, paths: Sequence[OdometryPaths],
                       path: str | Path) -> list[Path]:
    """
    Draw the result on one page and write it as PNG (300 dpi) and PDF.

    `paths` are those of the recordings. Returns the files beside `path`.
    """
    _, common = relative_to_gauge(found.described, found.covariance)
    aside = int(np.sum(found.weights < OUTLIER))
    page, grid = style.page(f'Calibration of {found.described.name}', [
        '95 % intervals', f'{len(found.weights)} windows, {aside} with slip',
        f'{found.path:.1f} m', f'residuals {found.rms_before:.2f} → {found.rms_after:.2f}',
        f'scale ± {INTERVAL * 100 * common[0]:.2f} %',
        f'heading ± {INTERVAL * np.degrees(common[1]):.2f}°'],
        size=(12.0, 7.6), rows=2, columns=3)
    for k, panel in enumerate(PANELS):
        _parameter(page.add_subplot(grid[k // 2, k % 2]), found, *panel)
    _odometry(page.add_subplot(grid[0, 2]), paths)
    _weights(page.add_subplot(grid[1, 2]), found)
    return style.save(page, path)


def _parameter(axes: Axes, found: Calibration, column: int, factor: float | None, title: str,
               label: str) -> None:
    """Draw change and interval of a parameter; grey is the interval of the description."""
    n = found.described.count
    prior, own = found.prior.reshape(n, -1), relative_to_gauge(found.described,
                                                                found.covariance)[0]
    for part in ((2, 3) if column == 2 else (column,)):
        described = (found.parameters - found.change)[:, part]
        # an offset of zero is exact
        scale = factor or 100.0 / np.where(described == 0.0, np.inf, described)
        at = np.arange(n) + 1 + (0.15 if part == 3 else -0.15 if part == 2 else 0.0)
        axes.errorbar(at, 0 * at, INTERVAL * scale * prior[:, part], fmt='none',
                      ecolor=style.GREY, linewidth=3.0, alpha=0.4)
        change = scale * found.change[:, part]
        axes.errorbar(at, change, INTERVAL * scale * found.deviation[:, part], fmt='none',
                      ecolor=AFTER, linewidth=0.8)
        axes.errorbar(at, change, INTERVAL * scale * own[:, part], fmt='o', color=AFTER,
                      markersize=4, linewidth=2.5)
    axes.set_xticks(np.arange(n) + 1)
    style.dress(axes, title, 'caster', label)


def _odometry(axes: Axes, paths: Sequence[OdometryPaths]) -> None:
    for k, path in enumerate(paths):
        for poses, colour, label in ((path.before, BEFORE, 'described'),
                                     (path.after, AFTER, 'calibrated')):
            axes.plot(poses[:, 0], poses[:, 1], color=colour, linewidth=style.LINE,
                      label=None if k else label)
        if path.truth is not None:
            axes.plot(path.truth.pose[:, 0], path.truth.pose[:, 1], color=style.TRUE,
                      linewidth=0.8, linestyle='--', label=None if k else 'true')
    axes.set_aspect('equal', adjustable='datalim')
    style.dress(axes, '(e) odometry', 'x [m]', 'y [m]')
    style.legend(axes)


def _weights(axes: Axes, found: Calibration) -> None:
    low = found.weights < OUTLIER
    number = np.arange(len(low)) + 1
    axes.plot(number[~low], found.weights[~low], '.', color=AFTER, markersize=4)
    axes.plot(number[low], found.weights[low], 'x', color=style.ALERT, markersize=5)
    axes.set_ylim(0.0, 1.05)
    style.dress(axes, '(f) weight of each window', 'window', 'weight [1]')
