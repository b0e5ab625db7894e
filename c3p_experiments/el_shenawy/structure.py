# SPDX-License-Identifier: Apache-2.0
"""
Control structure, fusion and angles of paper I, Figs 5 to 8, drawn after its text.

Angles and curves come from the functions of `c3p_controller.paper`.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Arc, FancyArrowPatch, Rectangle

from c3p_controller.paper.fusion import FusionOptions, fusion_weights, singularity_indicator
from c3p_controller.paper.position import CORRECTED, TABLE_I, PaperPositionOptions, line_error
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.page_curves import save_page
from c3p_plots import style

NAME = 'structure'
TITLE = "Control structure, fusion and angles of the papers' law"
SOURCE = 'paper I, Figs 5-8, after the text'

# measured and reference velocity of panel (c), m/s
ACTUAL = np.array([0.20, 0.35, 0.0])
REFERENCE = np.array([0.45, 0.10, 0.0])
# goal and place of panel (d), m: right of the line from the origin
GOAL = np.array([4.0, 2.0])
PLACE = np.array([1.8, 0.2])
# exponents of panel (e); distance to go along the line of panel (f), m
EXPONENTS = (0.5, 1.0)
TO_GO = 2.0

PRINTED = FusionOptions(cosine='as_printed', complex_power='stop')

ROWS = (
    Row('psi_deg', '(c) singularity indicator |Ψ|', '°', digits=2),
    Row('delta_er_deg', '(d) δ_er, clockwise as printed', '°', digits=2),
    Row('delta_er_counter_deg', '(d) δ_er, counter-clockwise', '°', digits=2),
    Row('turn_back', '(e) weight of τ_K at 180°, λ2 = 1, absolute cosine', digits=1, printed='1'),
    Row('turn_back_printed', '(e) the same, cosine as printed', digits=1),
    Row('turn_away_radps', '(f) K_er δ_er 0.5 m right of the line, as printed', 'rad/s'))

# blocks of panels (a) and (b): name, equation below it, centre and width; then arrows
STRUCTURE = (
    ('position\ncontroller', '    (14)-(16)', 0.10, 0.62, 0.15),
    ('velocity\ncontroller', '', 0.34, 0.62, 0.14),
    ('inverse\ndynamics', '(10)-(12)', 0.57, 0.80, 0.15),
    ('inverse\nkinematics', '(2)', 0.57, 0.40, 0.15),
    ('fusion', '(13)', 0.78, 0.62, 0.12),
    ('C3P', 'motor cards  ', 0.94, 0.62, 0.10))
SIGNALS = (
    ((0.175, 0.62), (0.27, 0.62), r'$\dot p_r$'),
    ((0.41, 0.66), (0.495, 0.80), r'$\ddot p_r + \ddot e$   '),
    ((0.225, 0.33), (0.495, 0.33), r'$\dot p_r$'), ((0.645, 0.80), (0.72, 0.66), r'$\tau_D$'),
    ((0.645, 0.40), (0.72, 0.58), r'$\tau_K$      '), ((0.84, 0.62), (0.89, 0.62), r'$\tau$'))
BACK = (((0.984, 0.52), (0.984, 0.14)), ((0.984, 0.14), (0.04, 0.14)),
        ((0.04, 0.14), (0.04, 0.51)), ((0.34, 0.14), (0.34, 0.51)))
FUSION = (
    ('direction of\nthe motion', r'$\delta$', 0.14, 0.78, 0.22),
    ('direction\ncommanded', r'$\beta$', 0.14, 0.30, 0.22),
    (r'$|\Psi| = |\delta - \beta|$', 'singularity_indicator', 0.44, 0.54, 0.20),
    (r'$(1 - c)^{\lambda_1}\,\tau_D$', r'$c = |\cos\Psi|$', 0.74, 0.78, 0.20),
    (r'$c^{\lambda_2}\,\tau_K$', 'fusion_weights', 0.74, 0.30, 0.20),
    ('+', '', 0.95, 0.54, 0.06))
FUSED = (((0.25, 0.78), (0.34, 0.58), ''), ((0.25, 0.30), (0.34, 0.50), ''),
         ((0.54, 0.58), (0.64, 0.78), ''), ((0.54, 0.50), (0.64, 0.30), ''),
         ((0.84, 0.78), (0.92, 0.60), ''), ((0.84, 0.30), (0.92, 0.48), ''))


def structure(out: Path, options: Conditions, progress: Any = lambda done: None
              ) -> dict[str, Any]:
    """Write the page into `out`; return the metrics. There are no `options`."""
    psi = singularity_indicator(ACTUAL, REFERENCE)
    printed, counter = (line_error(GOAL, GOAL - PLACE, reading)
                        for reading in (PaperPositionOptions(), CORRECTED))
    right = np.array([TO_GO, 0.5])
    metrics = {
        'psi_deg': math.degrees(psi), 'delta_er_deg': math.degrees(printed),
        'delta_er_counter_deg': math.degrees(counter),
        'turn_back': fusion_weights(math.pi, 1.0, 1.0)[1],
        'turn_back_printed': fusion_weights(math.pi, 1.0, 1.0, PRINTED)[1],
        'turn_away_radps': TABLE_I.line_yaw_gain * line_error(
            np.array([1.0, 0.0]), right, PaperPositionOptions())}
    # the angles are those between the arrows of the panels
    between = math.acos(ACTUAL @ REFERENCE / math.hypot(*ACTUAL) / math.hypot(*REFERENCE))
    metrics['reached'] = abs(psi - between) < 1e-12 and abs(printed + counter) < 1e-12
    sheet, grid = style.page(
        TITLE, [f'|Ψ| {metrics["psi_deg"]:.1f}°',
                rf'$\delta_{{er}}$ {metrics["delta_er_deg"]:.1f}°'],
        SOURCE, size=(16.0, 7.2), rows=2, columns=4, wspace=0.24)
    cells = [grid[0, :2], grid[0, 2:], *(grid[1, k] for k in range(4))]
    panels = [sheet.add_subplot(cell) for cell in cells]
    _blocks(panels[0], '(a) Fig. 5: controllers', STRUCTURE, SIGNALS)
    panels[0].plot([0.225, 0.225], [0.62, 0.33], color=style.SENSED, linewidth=1.2)
    for begin, end in BACK:
        _arrow(panels[0], begin, end, style.GREY)
    panels[0].text(0.55, 0.16, 'pose and velocity by odometry', fontsize=style.SMALL,
                   color=style.GREY)
    _blocks(panels[1], '(b) Fig. 6: fusion of dynamics and kinematics', FUSION, FUSED)
    _velocities(panels[2], psi)
    _line(panels[3], metrics)
    _weights(panels[4])
    _turn(panels[5])
    progress(1.0)
    return {**metrics, 'conditions': {}, 'files': save_page(sheet, out / NAME)}


def _arrow(axes: Axes, begin: Any, end: Any, colour: str, width: float = 1.2) -> None:
    axes.add_patch(FancyArrowPatch(begin, end, arrowstyle='-|>', mutation_scale=10, color=colour,
                                   linewidth=width, shrinkA=0, shrinkB=0))


def _blocks(axes: Axes, title: str, blocks: Any, arrows: Any) -> None:
    """Draw a block diagram in the unit square."""
    style.dress(axes, title, '', '')
    axes.set_axis_off()
    axes.set_xlim(0.0, 1.02)
    axes.set_ylim(0.0, 1.0)
    for name, below, x, y, width in blocks:
        axes.add_patch(Rectangle((x - width / 2, y - 0.1), width, 0.2, facecolor=style.RULE,
                                 edgecolor=style.INK, linewidth=0.9))
        axes.text(x, y, name, ha='center', va='center', fontsize=style.LABEL, color=style.INK)
        axes.text(x, y - 0.12, below, ha='center', va='top', fontsize=style.SMALL,
                  color=style.MUTED)
    for begin, end, label in arrows:
        _arrow(axes, begin, end, style.SENSED)
        axes.text((begin[0] + end[0]) / 2, (begin[1] + end[1]) / 2 + 0.02, label,
                  fontsize=style.LABEL, ha='center', va='bottom', color=style.INK)


def _velocities(axes: Axes, psi: float) -> None:
    """Draw both velocities and the angle between them."""
    style.dress(axes, '(c) Fig. 7: singularity indicator Ψ', 'Ẋ [m/s]', 'Ẏ [m/s]')
    axes.set_aspect('equal')
    ends = ((ACTUAL, 'measured, δ', style.TRUE, 2.0),
            (REFERENCE, 'reference, β', style.REFERENCE, 1.0))
    for velocity, label, colour, width in ends:
        _arrow(axes, (0.0, 0.0), velocity[:2], colour, width)
        axes.plot([0.0, velocity[0]], [0.0, velocity[1]], color=colour, label=label,
                  linewidth=width)
    first, last = (math.degrees(math.atan2(v[1], v[0])) for v in (REFERENCE, ACTUAL))
    axes.add_patch(Arc((0.0, 0.0), 0.3, 0.3, theta1=first, theta2=last, color=style.INK))
    middle = math.radians((first + last) / 2)
    axes.text(0.18 * math.cos(middle), 0.18 * math.sin(middle),
              f'|Ψ| = {math.degrees(psi):.1f}°', fontsize=style.LABEL, color=style.INK)
    axes.set_xlim(-0.05, 0.55)
    axes.set_ylim(-0.05, 0.42)
    style.legend(axes, loc='upper right')


def _line(axes: Axes, metrics: dict[str, Any]) -> None:
    """Draw the line to the goal, the error and the angle between them."""
    style.dress(axes, r'(d) Fig. 8: angle $\delta_{er}$ between line and error', 'X [m]', 'Y [m]')
    axes.set_aspect('equal')
    axes.plot([0.0, GOAL[0]], [0.0, GOAL[1]], color=style.REFERENCE, linestyle='--',
              label='line from start to goal, ϑ')
    axes.plot([PLACE[0], GOAL[0]], [PLACE[1], GOAL[1]], color=style.ALERT,
              label=r'error, $\delta_g$')
    axes.plot(*PLACE, 'o', color=style.TRUE, label='robot')
    axes.plot(*GOAL, '*', color=style.GOAL, markersize=11, label='goal')
    first, last = (180.0 + math.degrees(math.atan2(v[1], v[0])) for v in (GOAL, GOAL - PLACE))
    axes.add_patch(Arc((GOAL[0], GOAL[1]), 2.4, 2.4, theta1=first, theta2=last, color=style.INK))
    axes.text(2.1, 1.35, rf'$\delta_{{er}}$ = {metrics["delta_er_deg"]:.1f}°',
              fontsize=style.LABEL, ha='right', color=style.INK)
    axes.set_xlim(-0.3, 4.6)
    axes.set_ylim(-0.5, 2.6)
    style.legend(axes, loc='upper left')


def _weights(axes: Axes) -> None:
    """Draw the weights of (13) over Ψ, with the absolute cosine and as printed."""
    style.dress(axes, '(e) weights of (13)', '|Ψ| [°]', 'weight')
    angles = np.linspace(0.0, np.pi, 181)
    for power, width in zip(EXPONENTS, (0.9, 1.8), strict=True):
        for options, dashes, reading in ((FusionOptions(), ('-', '--'), ''),
                                         (PRINTED, (':', '-.'), ', printed')):
            both = np.array([fusion_weights(a, power, power, options) for a in angles])
            for k, (name, colour) in enumerate(((r'$\tau_D$', style.SENSED),
                                                (r'$\tau_K$', style.TRUE))):
                axes.plot(np.degrees(angles), both[:, k], color=colour, linestyle=dashes[k],
                          linewidth=width, label=f'{name}, λ = {power:g}{reading}')
    axes.set_ylim(-2.4, 2.2)
    style.legend(axes, loc='lower left', ncol=2)


def _turn(axes: Axes) -> None:
    """Draw K_er δ_er of (16) over the distance beside the line."""
    style.dress(axes, f'(f) yaw rate of (16), {TO_GO:g} m before the goal',
                'left of the line [m]', r'$K_{er}\,\delta_{er}$ [rad/s]')
    beside = np.linspace(-1.0, 1.0, 201)
    for options, dash, label in ((PaperPositionOptions(), '-', 'clockwise, as printed'),
                                 (CORRECTED, '--', 'counter-clockwise')):
        axes.plot(beside, [TABLE_I.line_yaw_gain * line_error(
            np.array([1.0, 0.0]), np.array([TO_GO, -y]), options) for y in beside],
            linestyle=dash, color=style.SENSED, label=label)
    style.legend(axes, loc='upper center')
