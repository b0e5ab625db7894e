# SPDX-License-Identifier: Apache-2.0
"""One page for each experiment on rough ground: Figs 4 to 9 of the paper, and ours."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from c3p_description.model import ModelError
from c3p_experiments.auchter_moore import panels
from c3p_experiments.auchter_moore.drawing import RunStudio
from c3p_experiments.page_curves import save_page
from c3p_plots import style
from c3p_rough_ground.closed_chain import Run
from c3p_viewers.mujoco.studio import WHITE
from c3p_viewers.mujoco.terrain import HEIGHTS, GroundRectangle
from c3p_viewers.mujoco.view import View
from c3p_viewers.screen import PictureError

# width and height of a page, inches, and of its picture, pixels
SIZE = (12.0, 12.4)
PICTURE = (2900, 1010)
# of the picture: ground beyond the contact paths along x and y, least distance between vehicles,
# height of a label above its vehicle, m
MARGIN = (0.7, 1.3)
APART = 1.9
ABOVE = 0.72
# direction from which the picture is taken, and its angle of view, rad
AZIMUTH = math.radians(105)
ELEVATION = math.radians(27)
OPENING = math.radians(18)


def stations(run: Run) -> list[int]:
    """Return records whose vehicles do not overlap in one picture, the last record included."""
    along = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(run.position[:, :2], axis=0).T))])
    return [int(np.searchsorted(along, mark))
            for mark in np.linspace(0.0, along[-1], 1 + int(along[-1] / APART))]


def rough_page(title: str, source: str, figures: Mapping[str, Any], drives: Sequence[Any],
               robot: str | Path, path: Path) -> list[Path]:
    """
    Write the page of an experiment on rough ground.

    Parameters
    ----------
    title, source : str
    figures : mapping
        Of `measures.run_figures`, together.
    drives : sequence of Drive
        The first one is drawn.
    robot : str or Path
        Name or path of the tricycle's description.
    path : Path
        Without suffix.

    Returns
    -------
    list of Path
        The files.
    """
    page, grid = _page(title, source, figures)
    picture(page.add_subplot(grid[0, :]), drives[0], robot, 'a')
    first = page.add_subplot(grid[1, 0])
    others = [page.add_subplot(grid[cell], sharex=first)
              for cell in ((1, 1), (1, 2), (2, 2), (3, 0), (3, 1), (3, 2))]
    panels.drive_rates(first, drives, 'b')
    panels.joint_angles(others[0], drives, 'c')
    panels.condition(others[1], drives, 'd')
    panels.paths(page.add_subplot(grid[2, :2]), drives, 'e')
    panels.platform_velocity(others[2], drives, 'f', angular=False)
    panels.platform_velocity(others[3], drives, 'g', angular=True)
    panels.errors(others[4], drives, 'h')
    panels.slip(others[5], drives, 'i')
    first.set_xlim(0.0, drives[0].run.time[-1])
    return save_page(page, path)


def _page(title: str, source: str, figures: Mapping[str, Any]) -> tuple[Figure, GridSpec]:
    """Return the page with its headline, and the grid of its panels."""
    cases = '; '.join(
        f'{case["case"]}: slip of material {case["material_slip_max_mps"]:.0e} m/s, camber '
        f'{np.degrees(case["camber_max_rad"]):.2f}°' for case in figures['cases'])
    return style.page(
        title + ('' if figures['reached'] else ': MISSED'),
        [f'largest closure error {figures["closure_l2_max"]:.0e}', cases,
         f'without PVC {1e3 * figures["least_slip_equal_rms_mps"]:.1f} mm/s rms or more'],
        source, good=figures['reached'], size=SIZE, rows=4, hspace=0.35, wspace=0.2,
        height_ratios=(2.45, 1.0, 1.0, 1.0))


def picture(axes: Axes, drive: Any, robot: str | Path, letter: str) -> None:
    """
    Draw the vehicle at several places on its ground, with its contact marks; Figs 4, 6.

    Into the panel `axes` with this `letter`: the first run of `drive`, the description of `robot`.
    Without MuJoCo or OpenGL the panel has a line with the remedy instead.
    """
    run = drive.run
    at = stations(drive.run)
    axes.set_axis_off()
    axes.set_title(f'({letter}) {drive.label}; mesh 1 m, contour lines 0.1 m, dots: contacts',
                   fontsize=style.TITLE, loc='left', fontweight='bold', pad=4)
    try:
        studio = RunStudio(run, robot, PICTURE, MARGIN, WHITE)
    except (PictureError, ModelError) as error:  # no OpenGL, MuJoCo or xacro
        axes.text(0.5, 0.5, '\n'.join(textwrap.wrap(f'No picture: {error}', 110)), ha='center',
                  va='center', transform=axes.transAxes, fontsize=style.TITLE)
        return
    tops = run.position[at] + [0.0, 0.0, ABOVE]
    points = np.concatenate([studio.ground.corners, tops])
    view = View(points.mean(axis=0), 15.0, AZIMUTH, ELEVATION, OPENING).fitted(
        points, PICTURE, 0.03)
    with studio:
        axes.imshow(studio.at(at, view), interpolation='lanczos')
    for k, (x, y) in zip(at, view.project(tops, PICTURE), strict=True):
        axes.text(x, y, f't = {run.time[k]:.1f} s', ha='center', va='bottom',
                  fontsize=style.SMALL + 0.5)
    _scale(axes, studio.ground, view)
    axes.set_xlim(0, PICTURE[0])
    axes.set_ylim(PICTURE[1], 0)
    bar = axes.figure.colorbar(
        ScalarMappable(Normalize(*studio.ground.heights),
                       LinearSegmentedColormap.from_list('height', HEIGHTS)),
        cax=axes.inset_axes((0.012, 0.56, 0.010, 0.36)))
    bar.set_label('height [m]', fontsize=style.SMALL, labelpad=2)
    bar.ax.tick_params(labelsize=style.SMALL, length=2, pad=1.5)
    bar.outline.set_linewidth(0.5)


def _scale(axes: Axes, ground: GroundRectangle, view: View) -> None:
    """Write x along the front edge and y along the right one."""
    front = ground.y_range[0]
    right = ground.x_range[1]
    last = int(ground.x_range[1] - 0.4)
    height = ground.terrain.height
    for x in range(int(np.ceil(ground.x_range[0])), last + 1):
        _tick(axes, view, (x, front, float(height(x, front))), (0, 0, -0.14),
              f'{x}' if x != last else f'x = {x} m')
    for y in range(int(np.ceil(ground.y_range[0])), int(ground.y_range[1]) + 1):
        _tick(axes, view, (right, y, float(height(right, y))), (0.3, 0, 0),
              f'{y}'.replace('-', '\N{MINUS SIGN}') if y else 'y = 0 m', style.REFERENCE)


def _tick(axes: Axes, view: View, place: Sequence[float], off: Sequence[float], text: str,
          colour: str = 'white') -> None:
    (x0, y0), (x1, y1) = view.project(np.array([place, np.add(place, off)]), PICTURE)
    axes.plot([x0, 0.7 * x0 + 0.3 * x1], [y0, 0.7 * y0 + 0.3 * y1], color=colour, linewidth=0.8)
    axes.text(x1, y1, text, ha='center', va='center', fontsize=style.SMALL, color=colour)
