# SPDX-License-Identifier: Apache-2.0
"""One page for each experiment on rough ground: Figs 4 to 9 of the paper, and ours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec

from c3p_bags.report import style
from c3p_description.pvc_model import PvcTricycle
from c3p_experiments.auchter_moore import panels
from c3p_experiments.auchter_moore.scene import HEIGHTS, WHITE, Scene, View
from c3p_experiments.auchter_moore.scene_vehicle import Figure as Tricycle
from c3p_experiments.auchter_moore.scene_vehicle import dots, wheel_colour
from c3p_kinematics.closed_chain_vehicle import Run

# width and height of a page, inches, and of its picture, pixels
SIZE, PICTURE = (12.0, 12.4), (2900, 1010)
# free ground around the way, ahead and aside, m; of it to a fifth of a metre
AHEAD, ASIDE, WHOLE = 0.7, 1.3, 0.2
# distance between marks of contact, m; vehicles drawn stand so far apart at least
MARKS, APART = 0.07, 1.9
ABOVE = 0.72


def piece(run: Run, margin: Sequence[float] = (AHEAD, ASIDE)
          ) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return x and y ranges of the ground that a `run` needs, with a `margin` each way, m."""
    places = run.contact_point[..., :2].reshape(-1, 2)
    low = np.floor((places.min(axis=0) - margin) / WHOLE) * WHOLE
    high = np.ceil((places.max(axis=0) + margin) / WHOLE) * WHOLE
    return (float(low[0]), float(high[0])), (float(low[1]), float(high[1]))


def marks(run: Run, until: float = np.inf) -> list[Any]:
    """Return marks of all contacts of a `run`, at equal distances, `until` a time in s."""
    shapes = []
    for i in range(run.vehicle.size[1]):
        points = run.contact_point[run.time <= until, i]
        way = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1))])
        at = np.unique(np.searchsorted(way, np.arange(0.0, way[-1], MARKS)))
        gx, gy = run.terrain.derivatives(points[at, 0], points[at, 1])[1:3]
        normals = np.column_stack([-gx, -gy, np.ones(len(at))])
        shapes += dots(points[at], normals / np.linalg.norm(normals, axis=1, keepdims=True),
                       wheel_colour(i))
    return shapes


def stations(run: Run) -> list[int]:
    """Return records at which vehicles drawn beside each other do not overlap, last included."""
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(run.position[:, :2], axis=0).T))])
    count = 1 + int(way[-1] / APART)
    return [int(np.searchsorted(way, mark)) for mark in np.linspace(0.0, way[-1], count)]


def rough_page(title: str, source: str, figures: Mapping[str, Any], drives: Sequence[Any],
               model: PvcTricycle, path: Path) -> list[Path]:
    """
    Write the page of an experiment on rough ground.

    Parameters
    ----------
    title, source : str
    figures : mapping
        Of `measures.run_figures`, together.
    drives : sequence of Drive
        The first one is drawn.
    model : PvcTricycle
    path : Path
        Without suffix.

    Returns
    -------
    list of Path
        The files.
    """
    page, grid = _page(title, source, figures)
    picture(page.add_subplot(grid[0, :]), drives[0], model, 'a')
    first = page.add_subplot(grid[1, 0])
    others = [page.add_subplot(grid[cell], sharex=first)
              for cell in ((1, 1), (1, 2), (2, 2), (3, 0), (3, 1), (3, 2))]
    panels.drive_rates(first, drives, 'b')
    panels.joint_angles(others[0], drives, 'c')
    panels.condition(others[1], drives, 'd')
    panels.ways(page.add_subplot(grid[2, :2]), drives, 'e')
    panels.platform_velocity(others[2], drives, 'f', angular=False)
    panels.platform_velocity(others[3], drives, 'g', angular=True)
    panels.errors(others[4], drives, 'h')
    panels.slip(others[5], drives, 'i')
    first.set_xlim(0.0, drives[0].run.time[-1])
    return style.save(page, path)


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


def picture(axes: Axes, drive: Any, model: PvcTricycle, letter: str) -> None:
    """
    Draw the vehicle at several places on its ground, with the marks of its wheels; Figs 4, 6.

    Parameters
    ----------
    axes : Axes
    drive : Drive
    model : PvcTricycle
    letter : str
    """
    run = drive.run
    scene, tricycle = Scene(run.terrain, *piece(run)), Tricycle(run.vehicle, model)
    at = stations(run)
    tops = run.position[at] + [0.0, 0.0, ABOVE]
    points = np.concatenate([scene.corners, tops])
    view = View(points.mean(axis=0), 15.0).fitted(points, PICTURE, 0.03)
    axes.imshow(scene.draw([*(tricycle.at(run.state(k)) for k in at), *marks(run)], view, PICTURE,
                           WHITE), interpolation='lanczos')
    for k, (x, y, _) in zip(at, view.project(tops, PICTURE), strict=True):
        axes.text(x, y, f't = {run.time[k]:.1f} s', ha='center', va='bottom',
                  fontsize=style.SMALL + 0.5)
    _scale(axes, scene, view, run)
    axes.set_axis_off()
    axes.set_xlim(0, PICTURE[0])
    axes.set_ylim(PICTURE[1], 0)
    axes.set_title(f'({letter}) {drive.label}; mesh 1 m, lines of height 0.1 m, dots: contacts',
                   fontsize=style.TITLE, loc='left', fontweight='bold', pad=4)
    bar = axes.figure.colorbar(
        ScalarMappable(Normalize(*scene.heights),
                       LinearSegmentedColormap.from_list('height', HEIGHTS)),
        cax=axes.inset_axes([0.012, 0.56, 0.010, 0.36]))
    bar.set_label('height [m]', fontsize=style.SMALL, labelpad=2)
    bar.ax.tick_params(labelsize=style.SMALL, length=2, pad=1.5)
    bar.outline.set_linewidth(0.5)


def _scale(axes: Axes, scene: Scene, view: View, run: Run) -> None:
    """Write x along the front edge and y along the right one."""
    front, right = scene.y_range[0], scene.x_range[1]
    last = int(scene.x_range[1] - 0.4)
    for x in range(int(np.ceil(scene.x_range[0])), last + 1):
        _tick(axes, view, (x, front, float(run.terrain.height(x, front))), (0, 0, -0.14),
              f'{x}' if x != last else f'x = {x} m')
    for y in range(int(np.ceil(scene.y_range[0])), int(scene.y_range[1]) + 1):
        _tick(axes, view, (right, y, float(run.terrain.height(right, y))), (0.3, 0, 0),
              f'{y}'.replace('-', '\N{MINUS SIGN}') if y else 'y = 0 m', style.REFERENCE)


def _tick(axes: Axes, view: View, place: Sequence[float], off: Sequence[float], text: str,
          colour: str = 'white') -> None:
    (x0, y0, _), (x1, y1, _) = view.project([place, np.add(place, off)], PICTURE)
    axes.plot([x0, 0.7 * x0 + 0.3 * x1], [y0, 0.7 * y0 + 0.3 * y1], color=colour, linewidth=0.8)
    axes.text(x1, y1, text, ha='center', va='center', fontsize=style.SMALL, color=colour)
