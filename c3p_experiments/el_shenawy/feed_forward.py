# SPDX-License-Identifier: Apache-2.0
"""
Paper II, Fig. 6 as printed: the inverse model alone drives the forward model with its unit delay.

Wheel torque dynamics and dynamic steering estimator (13)-(14) receive τ = M_x p̈_r + G_xi of
(15)-(18); velocity controller and axis loops are zero, without friction. Each reading of
wheel_torque_dynamics.py is its own pair of models.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from c3p_description.model import Array, CasterRobot, Friction
from c3p_experiments.el_shenawy.postures import papers_robot
from c3p_experiments.el_shenawy.wheel_torque_dynamics import WheelTorqueSimulation, joint_inverse
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row
from c3p_experiments.page_curves import save_page
from c3p_plots import style

NAME = 'feed_forward'
TITLE = 'Inverse model alone on the forward model, ramp along Y, two starts'
SOURCE = 'paper II, Fig. 6'

# acceleration of the ramp, 0.17 of a wheel times its radius of 4 cm, m/s²; its end and that of
# the run, s; the papers' step is not printed
RAMP = 6.8e-3
UNTIL = 3.2
END = 6.0
STEP = 5e-3

# start, its steering angles [deg], and the readings that exist there
CASES = (('example 1', (0.0, 0.0, 0.0), ('constrained', 'blocks')),
         ('example 2', (45.0, -45.0, 90.0), ('wheels', 'constrained', 'blocks')))

# a run ends when its chains are this far apart, rad/s
TORN = 1e3
# least closure error that is drawn, rad/s
LEAST_CLOSURE = 1e-12

ROWS = tuple(
    row for k, (label, form) in enumerate((name, form) for name, _, forms in CASES
                                          for form in forms) for row in (
        Row(f'runs.{k}.velocity_error_mps', f'{label}, {form}: velocity error at the end', 'mm/s',
            1e3),
        Row(f'runs.{k}.steering_max_deg', f'{label}, {form}: largest steering angle at the end',
            '°', digits=0, printed='0'),
        Row(f'runs.{k}.closure_error_radps', f'{label}, {form}: closure error, largest', 'rad/s',
            scientific=True)))


class Simulated(NamedTuple):
    """
    One run: times (k,) s, and at each the state and accelerations of the joints, SI units.

    `steering` (k, 3), `speed` (k,) along Y, `accel` (k,) along Y, `steering_accel`, `wheel_accel`
    (k, 3), `closure` (k,) error.
    """

    case: str
    form: str
    time: Array
    steering: Array
    speed: Array
    accel: Array
    steering_accel: Array
    wheel_accel: Array
    closure: Array


def reference(time: float) -> tuple[Array, Array]:
    """Return twist and acceleration of the ramp at `time`, ``base_link``."""
    return (np.array([0.0, RAMP * min(time, UNTIL), 0.0]),
            np.array([0.0, RAMP if time < UNTIL else 0.0, 0.0]))


def simulate(robot: CasterRobot, case: str, steering: Array, form: str, step: float = STEP
             ) -> Simulated:
    """
    Return the run of a `case`: `robot` from `steering` (3,), rad, by the reading `form`.

    Inverse model and unit delay change once in `step`, s. The run ends early if it diverges.
    """
    plant = WheelTorqueSimulation(robot, form, unit_delay=True)
    rows = []
    plant.reset(steering)
    for k in range(round(END / step)):
        twist, accel = reference(k * step)
        matrix = joint_inverse(robot, plant.steering, twist, form)
        joints = plant.step(matrix.mass @ accel + matrix.bias, step)
        closure = plant.closure_error
        if not closure < TORN:
            break
        rows.append(np.concatenate([[k * step], plant.steering, [plant.twist[1], joints.twist[1]],
                                    joints.steering, joints.wheel, [closure]]))
    table = np.array(rows)
    return Simulated(case, form, table[:, 0], table[:, 1:4], table[:, 4], table[:, 5],
                     table[:, 6:9], table[:, 9:12], table[:, 12])


def feed_forward(out: Path, options: Conditions, progress: Any = lambda done: None
                 ) -> dict[str, Any]:
    """Write the page into `out`; return the metrics."""
    name = options.robot or 'c3p_25kg'
    robot = replace(papers_robot(name), friction=Friction())
    runs = []
    planned = [(case, np.radians(angles), form) for case, angles, forms in CASES
               for form in forms]
    with np.errstate(all='ignore'):
        for k, (case, angles, form) in enumerate(planned):
            runs.append(simulate(robot, case, angles, form))
            progress((k + 1) / len(planned))
    files = _page(runs, out / NAME)
    wanted = RAMP * UNTIL
    return {'conditions': {'robot': str(name), 'step_s': STEP},
            'reached': all(len(r.time) == round(END / STEP) for r in runs if r.form != 'blocks'),
            'runs': [{'case': r.case, 'form': r.form, 'ended_s': float(r.time[-1] + STEP),
                      'velocity_error_mps': float(abs(r.speed[-1] - wanted)),
                      'steering_max_deg': float(np.degrees(np.abs(r.steering[-1])).max()),
                      'closure_error_radps': float(r.closure.max())} for r in runs],
            'files': files}


def _page(runs: list[Simulated], path: Path) -> list[Path]:
    one = next(r for r in runs if r.case == 'example 1')
    two = [r for r in runs if r.case == 'example 2']
    sheet, grid = style.page(
        'Inverse model alone on the forward model', [
            f'friction none, unit delay of {1e3 * STEP:g} ms',
            'example 1: 0°, 0°, 0°', 'example 2: 45°, −45°, 90°',
            'blocks: leaves the axes, its chains separate'],
        SOURCE, size=(15.0, 7.2), rows=2, columns=3, wspace=0.24)
    panels = [sheet.add_subplot(grid[k // 3, k % 3]) for k in range(6)]
    exact = next(r for r in two if r.form == 'wheels')
    others = [r for r in two if r.form != 'wheels']
    _joints(panels[0], '(a) steering angles, example 2', r'$\theta_s$ [°]', exact, others,
            lambda r: np.degrees(r.steering), (-60.0, 100.0))
    for axes, title, label, pick, limits in (
            (panels[1], '(b) velocity along Y', '$V_y$ [mm/s]', lambda r: 1e3 * r.speed,
             (-5.0, 30.0)),
            (panels[2], '(c) acceleration along Y', '$a_y$ [mm/s²]', lambda r: 1e3 * r.accel,
             (-6.0, 14.0))):
        wanted = np.array([[*reference(t)[0][1:2], *reference(t)[1][1:2]] for t in one.time])
        column = 0 if title.startswith('(b)') else 1
        axes.plot(one.time, 1e3 * wanted[:, column], color=style.REFERENCE, linewidth=2.2,
                  label='reference')
        axes.plot(one.time, pick(one), color=style.GREY, linewidth=style.LINE, linestyle='--',
                  label='example 1')
        for run, dash in zip(two, ('-', '-.', ':'), strict=True):
            axes.plot(run.time, pick(run), linewidth=style.LINE + 0.3, linestyle=dash,
                      label=f'example 2, {run.form}',
                      color=style.ALERT if run.form == 'blocks' else style.SENSED)
        axes.set_ylim(*limits)
        style.dress(axes, title, 'time [s]', label)
        style.legend(axes, loc='lower right' if column == 0 else 'lower left')
    _joints(panels[3], '(d) steering accelerations, example 2', r'$\alpha_s$ [rad/s²]', exact,
            others, lambda r: r.steering_accel, (-0.25, 0.3))
    _joints(panels[4], '(e) wheel accelerations, example 2', r'$\alpha_x$ [rad/s²]', exact,
            others, lambda r: r.wheel_accel, (-0.1, 0.4))
    axes = panels[5]
    for run, dash in zip(two, ('-', '-.', ':'), strict=True):
        axes.semilogy(run.time, np.maximum(run.closure, LEAST_CLOSURE), linestyle=dash,
                      linewidth=style.LINE + 0.3, label=run.form,
                      color=style.ALERT if run.form == 'blocks' else style.SENSED)
    style.clip_below(axes, LEAST_CLOSURE)
    style.dress(axes, '(f) closure error, example 2', 'time [s]', '|A q̇| [rad/s]')
    style.legend(axes, loc='lower right')
    for axes in panels:
        axes.set_xlim(0.0, END)
    return save_page(sheet, path)


def _joints(axes: Axes, title: str, label: str, exact: Simulated, others: list[Simulated],
            pick: Any, limits: tuple[float, float]) -> None:
    """Draw the three joints of the exact reading, and those of the others fine."""
    for i in range(3):
        colour = style.caster_colour(i)
        axes.plot(exact.time, pick(exact)[:, i], color=colour, linewidth=style.LINE + 0.6,
                  linestyle=style.caster_dash(i), label=f'caster {i + 1}, wheels')
        for run in others:
            if run.form == 'constrained':
                axes.plot(run.time, pick(run)[:, i], color=colour, linewidth=0.7, alpha=0.7,
                          label='constrained, fine' if i == 2 else None)
    axes.set_ylim(*limits)
    style.dress(axes, title, 'time [s]', label)
    style.legend(axes, loc='upper right', ncol=2)
