# SPDX-License-Identifier: Apache-2.0
"""Panels of the wheels: steering, singularity measure and torques."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from c3p_bags.report import style
from c3p_bags.report.palette import INK
from c3p_bags.report.run import Run
from c3p_bags.report.sheet import at_least, dress, legend, line

# below this measure a singularity is near: the weakest direction requires several times the torque
# of the others (σ_max is between 1 and √3)
NEAR = 0.1


def draw_steering(axes: Axes, run: Run) -> None:
    """Draw the steering angles, continuous."""
    dress(axes, 'steering [°]')
    angle = np.degrees(np.unwrap(run.log.joints.steering, axis=0))
    for i in range(run.robot.count):
        line(axes, run.log.joints.time, angle[:, i], color=style.caster_colour(i),
             label=f'caster {i + 1}', linestyle=('-', (0, (5, 1)), (0, (3, 1, 1, 1)))[i % 3])
    at_least(axes, 20.0)
    axes.yaxis.set_major_locator(MaxNLocator(5, steps=[1, 1.5, 3, 4.5, 9, 10]))
    legend(axes)


def draw_measure(axes: Axes, run: Run) -> None:
    """Draw the singularity measure."""
    dress(axes, 'σ_min [1]')
    axes.axhspan(0.0, NEAR, color=style.ALERT, alpha=0.12, linewidth=0,
                 label=f'near a singularity, below {NEAR}')
    line(axes, run.log.joints.time, run.sigma, color=INK, label='smallest singular value')
    axes.set_ylim(0.0, 1.05 * max(float(run.sigma.max()), 3 * NEAR))
    legend(axes)


def draw_torque(axes: Axes, run: Run) -> None:
    """Draw the wheel torques, commanded where they were recorded."""
    log = run.log
    commanded = log.wheel_effort is not None
    dress(axes, 'torque [N·m]')
    time, torque = log.wheel_effort if commanded else (log.joints.time, log.joints.wheel_torque)
    for i in range(run.robot.count):
        if np.isfinite(torque[:, i]).any():
            line(axes, time, torque[:, i], color=style.caster_colour(i), linewidth=0.9,
                 label=f'wheel {i + 1}, {"commanded" if commanded else "measured"}')
    limit = run.robot.torque_limit[run.robot.driven]
    for k, value in enumerate(np.unique(limit[np.isfinite(limit)])):
        for sign in (1, -1):
            axes.axhline(sign * value, color=INK, linewidth=0.9, linestyle=(0, (4, 2)),
                         label='limit' if k == 0 and sign > 0 else None)
    at_least(axes, 0.1)
    legend(axes)
