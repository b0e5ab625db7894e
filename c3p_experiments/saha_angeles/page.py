# SPDX-License-Identifier: Apache-2.0
"""Page of the vehicle on its circle: Figs 3 to 5 of the paper, and the origin of its error."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LogNorm

from c3p_experiments.page_curves import save_page
from c3p_experiments.saha_angeles.study import PAPER_TOLERANCES, TOLERANCES, AgvStudy, largest
from c3p_multibody.agv.circle import floor_path
from c3p_plots import style

TIME = 'time [s]'
WHEELS = ('wheel 1, left', 'wheel 2, right')
# number of vehicles drawn on the path
PLACES = 8


def agv_page(done: AgvStudy, path: str | Path) -> list[Path]:
    """Draw the page of a study and write it beside `path` as PNG, PDF and CSV."""
    one, two = done.path.angles[-1]
    page, grid = style.page(
        f'{done.agv.name}: {np.degrees(done.circle.angle):g}° on a circle of '
        f'{done.circle.radius:g} m in {done.circle.duration:g} s',
        [f'wheels turn by {one:.2f} and {two:.2f} rad',
         f'direct dynamics returns to the path within {largest(done.finest):.1e} rad'],
        size=(15.0, 7.6), rows=2, columns=4, left=0.045, wspace=0.27)
    panels = [page.add_subplot(grid[k // 4, k % 4]) for k in range(8)]
    _trajectory(panels[0], done)
    _sweep(panels[1], done)
    for axes, title, label, values in (
            (panels[2], '(c) Fig. 4a: joint angles', 'angle [rad]', done.path.angles),
            (panels[3], '(d) Fig. 4b: joint rates', 'rate [rad/s]', done.path.rates),
            (panels[4], '(e) Fig. 4c: joint accelerations', 'acceleration [rad/s²]',
             done.path.accelerations),
            (panels[5], '(f) Fig. 4d: motor torques', 'torque [mN·m]', 1e3 * done.torque)):
        _joints(axes, done, title, label, values)
    _errors(panels[6], done)
    _floors(panels[7], done)
    return save_page(page, path)


def _trajectory(axes: Axes, done: AgvStudy) -> None:
    """Draw both paths on the floor, and the vehicle from above at some poses."""
    agv = done.agv
    circle = done.circle
    swept = np.linspace(0.0, circle.angle, 361)
    axle, centre = floor_path(agv, circle, swept)
    axes.plot(*axle.T, color=style.REFERENCE, linewidth=style.LINE, label='middle of the axle')
    axes.plot(*centre.T, color=style.GREY, linewidth=style.LINE, linestyle='--', label='C')
    caster = float(done.path.caster[-1])
    for beta in circle.angle * np.arange(PLACES) / PLACES:
        place = floor_path(agv, circle, beta)[0]
        right = np.array([np.cos(beta), np.sin(beta)])
        ahead = np.array([-right[1], right[0]])
        half = agv.track / 2 * right
        pivot = place + agv.pivot_lever * ahead
        roll = np.cos(caster) * ahead - np.sin(caster) * right
        axes.plot(*np.array([place - half, place + half]).T, color=style.GREY, linewidth=0.8)
        axes.plot(*np.array([place, pivot]).T, color=style.GREY, linewidth=0.8)
        for middle, along, colour in (
                (place - half, ahead, style.CASTERS[0]), (place + half, ahead, style.CASTERS[1]),
                (pivot - agv.caster_offset * roll, roll, style.CASTERS[2])):
            ends = [middle - agv.wheel_radius * along, middle + agv.wheel_radius * along]
            axes.plot(*np.array(ends).T, color=colour, linewidth=2.2, solid_capstyle='butt')
    style.dress(axes, '(a) Fig. 3a: trajectory', 'X [m]', 'Y [m]')
    axes.set_aspect('equal', adjustable='datalim')
    style.legend(axes, loc='center')


def _sweep(axes: Axes, done: AgvStudy) -> None:
    sweep = done.circle.sweep(done.time)
    axes.plot(done.time, sweep.angle, color=style.REFERENCE, linewidth=style.LINE)
    style.dress(axes, '(b) Fig. 3b: sweep angle β', TIME, 'β [rad]')


def _joints(axes: Axes, done: AgvStudy, title: str, label: str, values: np.ndarray) -> None:
    for k, name in enumerate(WHEELS):
        axes.plot(done.time, values[:, k], color=style.caster_colour(k), linewidth=style.LINE,
                  linestyle=('-', '--')[k], label=name)
    style.dress(axes, title, TIME, label)
    style.legend(axes)


def _errors(axes: Axes, done: AgvStudy) -> None:
    """Draw |θ − path| over time per tolerance, with exact torque and with the table."""
    # one shade per tolerance
    shades = ScalarMappable(LogNorm(PAPER_TOLERANCES[-1] / 30, PAPER_TOLERANCES[0] * 30),
                            'viridis')
    for k, tolerance in enumerate(PAPER_TOLERANCES):
        for runs, dashes in ((done.exact, '-'), (done.tabulated, ':')):
            run = runs[tolerance]
            axes.plot(run.time[1:], np.abs(run.error[1:]).max(axis=1), dashes,
                      color=shades.to_rgba(np.asarray(tolerance)), linewidth=style.LINE,
                      marker=style.marker(k), markersize=2.5, markevery=(2 * k, 12),
                      label=f'{tolerance:.0e}' if dashes == '-' else None)
    axes.set_yscale('log')
    axes.plot([], [], ':', color=style.GREY, label=f'table, {done.tables[1].spacing:g} s')
    style.dress(axes, '(g) Fig. 5: error of the joint angles', TIME, 'largest |error| [rad]')
    style.clip_below(axes, 1e-9)
    style.legend(axes, loc='lower right', ncols=3, title='exact torque, tolerance',
                 title_fontsize=style.SMALL)


def _floors(axes: Axes, done: AgvStudy) -> None:
    """Draw the error over the tolerance: it falls with exact torques, not with tables."""
    axes.loglog(TOLERANCES, [largest(done.exact[t]) for t in TOLERANCES], 'o-', markersize=3,
                color=style.REFERENCE, linewidth=style.LINE, label='exact torque')
    axes.loglog(TOLERANCES, [largest(done.tabulated[t]) for t in TOLERANCES], 's-', markersize=3,
                color=style.ALERT, linewidth=style.LINE,
                label=f'table of {done.tables[1].spacing:g} s, interpolated')
    for k, table in enumerate(done.tables):
        axes.axhline(table.predicted, color=style.SENSED, linewidth=0.8, linestyle='--',
                     label='floor from Δ²τ̈/12' if k == 0 else None)
        axes.text(TOLERANCES[-1], table.predicted, f'Δ = {table.spacing:g} s', va='bottom',
                  ha='left', fontsize=style.SMALL, color=style.SENSED)
    axes.axvspan(PAPER_TOLERANCES[-1], PAPER_TOLERANCES[0], color='#f0f0f0', zorder=0)
    axes.text(2e-4, 8e-3, 'tried in the paper', fontsize=style.SMALL, color=style.GREY,
              ha='center', va='center')
    axes.set_xlim(TOLERANCES[-1] / 3, 0.3)
    axes.set_ylim(1e-10, 10.0)
    style.dress(axes, '(h) largest error over the tolerance', 'tolerance of the integrator',
                'largest |error| [rad]')
    style.legend(axes, loc='lower right')
