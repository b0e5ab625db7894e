# SPDX-License-Identifier: Apache-2.0
"""Experiments of constrained motion, with acceptance bars."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from c3p_experiments.kelly import crossover, flexible, methods
from c3p_experiments.kelly.berthing import run_berthing
from c3p_experiments.kelly.chain import run_chain
from c3p_experiments.kelly.grasp import run_grasp
from c3p_experiments.loop.conditions import Conditions
from c3p_experiments.loop.outcome import Row

Progress = Callable[[float], None]

SMALL: dict[str, Any] = {'digits': 1, 'scientific': True}
ENERGY = Row('energy_error_j', 'energy account, error', 'J', bar=1e-8, **SMALL)
DRIFT = Row('drift_max_m', 'constraint error, largest', 'm', bar=1e-12, **SMALL)


class KellyStudy(NamedTuple):
    """
    An experiment of the report, mostly with temporary constraints.

    Attributes
    ----------
    name, title, source : str
    draw : callable
        Takes the directory; runs the experiment, draws its page, returns the metrics.
    rows : tuple of Row
    """

    name: str
    title: str
    source: str
    draw: Callable[[Path], dict[str, Any]]
    rows: tuple[Row, ...]

    def run(self, out: Path, options: Conditions, progress: Progress = lambda done: None
            ) -> dict[str, Any]:
        """Run the experiment, draw its page in `out`, return the metrics; `options` are unused."""
        metrics = self.draw(out)
        progress(1.0)
        return metrics


STUDIES = (
    KellyStudy('crossover', crossover.TITLE, crossover.SOURCE, crossover.run_crossover,
               crossover.ROWS),
    KellyStudy('methods', methods.TITLE, methods.SOURCE, methods.run_methods, methods.ROWS),
    KellyStudy('flexible', flexible.TITLE, flexible.SOURCE, flexible.run_flexible, flexible.ROWS),
    KellyStudy('berthing', 'The arm captures a satellite and berths it', 'Kelly, Fig. 1',
               run_berthing, (ENERGY, DRIFT,
                Row('momentum_error_ns', 'change of total momentum', 'N·s', bar=1e-9, **SMALL),
                Row('berth_error_m', 'position error of the hand at the berth', 'mm', 1e3,
                    digits=3),
                Row('planar.rank_latched', 'rank of 12 rows once latched, in the plane', digits=0),
                Row('spatial.rank_latched', 'the same in space', digits=0),
                Row('planar.capture_loss_j', 'energy lost in the capture, in the plane', 'J',
                    digits=4),
                Row('spatial.capture_loss_j', 'the same in space', 'J', digits=4))),
    KellyStudy('grasp', 'Two arms catch a box, carry it and let go',
               'Kelly, temporary constraints', run_grasp,
               (ENERGY, DRIFT, Row('rows_held', 'constraint rows while the box is held', digits=0),
                Row('rank_held', 'of them independent', digits=0),
                Row('grasp_loss_j', 'energy lost in the catch', 'J', digits=4),
                Row('energy_lost_in_impacts_j', 'energy lost in all impacts', 'J', digits=4))),
    KellyStudy('chain', 'A springy chain falls and rests against a wall', 'ours', run_chain,
               (ENERGY._replace(bar=1e-5),
                Row('penetration_max_m', 'inside ground or wall, deepest', 'm', bar=1e-9, **SMALL),
                Row('impacts', 'impacts', digits=0),
                Row('openings', 'contacts that opened', digits=0),
                Row('energy_lost_in_impacts_j', 'energy lost in impacts', 'J', digits=3),
                Row('energy_lost_in_joints_j', 'energy lost in joints', 'J', digits=3),
                Row('kinetic_energy_end_j', 'kinetic energy at the end', 'J', **SMALL))),
)
