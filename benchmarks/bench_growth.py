# SPDX-License-Identifier: Apache-2.0
"""
How times grow with the size of the problem: casters, bodies and length of bags.

``python benchmarks/bench_growth.py`` prints the curves; `run.py` draws them. Times are processor
times, medians; memory is the largest resident one of the command in a process of its own.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from long_bag import write_long_bag
from measuring import python, turns

from c3p_description.model import CasterRobot
from c3p_dynamics.prepared import InverseDynamics
from c3p_kinematics.odometry import Odometry

CASTERS, MINUTES = (2, 3, 4, 6, 8, 12), (0.25, 0.5, 1.0, 2.0, 4.0)
JOINTS = (3, 7, 12, 24, 48)


def curve(name: str, over: str, unit: str, points: dict[float, float]) -> dict[str, Any]:
    """Return a curve for JSON; `points` are values by size."""
    return {'name': name, 'over': over, 'unit': unit, 'x': list(points), 'y': [
        float(value) for value in points.values()]}


def casters(quick: bool) -> list[dict[str, Any]]:
    """Return the time of a cycle of odometry and inverse dynamics by the number of casters."""
    odometry, inverse = {}, {}
    for n in CASTERS[:4] if quick else CASTERS:
        robot = CasterRobot.regular(0.343, np.linspace(0, 2 * np.pi, n, endpoint=False), 0.04,
                                    0.04, 30.0, 3.51)
        stream, prepared = Odometry(robot), InverseDynamics(robot)
        still, angles = np.zeros(n), np.linspace(0.0, 1.0, n)
        state = np.concatenate([angles, [0.3, -0.2, 0.5], np.ones(3)])
        times = turns({
            'odometry': python(lambda o=stream, a=angles, z=still: o.step_by(0.005, a, z, z, z)),
            'inverse': python(lambda p=prepared, s=state: p(s))}, 11 if quick else 41)
        odometry[n], inverse[n] = (1e6 * np.median(times[key]) for key in ('odometry', 'inverse'))
    return [curve('odometry, cycle', 'casters', 'µs', odometry),
            curve('inverse dynamics', 'casters', 'µs', inverse)]


def joints(quick: bool) -> list[dict[str, Any]]:
    """Return the time of one state of inverse and forward dynamics by the number of joints."""
    from bench_trees import arm, ours

    inverse, forward = {}, {}
    for n in JOINTS[:3] if quick else JOINTS:
        what = ours(arm(n, False))
        times = turns({key: what[key] for key in ('rnea batch', 'aba batch')},
                      11 if quick else 41)
        inverse[n], forward[n] = (1e6 * np.median(times[key]) for key in times)
    return [curve('inverse dynamics, batch', 'joints of a tree', 'µs', inverse),
            curve('forward dynamics, batch', 'joints of a tree', 'µs', forward)]


def command(*arguments: str) -> tuple[float, float]:
    """Run ``c3p``; return its processor time [s] and its largest resident memory [MB]."""
    # the largest memory of this program alone: getrusage counts that of its parent, too
    script = ('import sys, time\n'
              'sys.argv[0] = "c3p"\n'
              'from c3p_bringup.cli.main import main\n'
              'main(sys.argv[1:])\n'
              'status = dict(line.split(":", 1) for line in open("/proc/self/status"))\n'
              'print(time.process_time(), status["VmHWM"].split()[0], file=sys.stderr)')
    done = subprocess.run([sys.executable, '-c', script, *arguments], check=True,
                          capture_output=True, text=True)
    seconds, kilobytes = map(float, done.stderr.strip().splitlines()[-1].split())
    return seconds, kilobytes / 1000.0


def bags(quick: bool) -> list[dict[str, Any]]:
    """Return time and memory of report and recompute by the length of the bag."""
    found: dict[str, dict[float, float]] = {
        f'{what} {of}': {} for what in ('report', 'recompute') for of in ('time', 'memory')}
    with tempfile.TemporaryDirectory() as folder:
        for minutes in MINUTES[:2] if quick else MINUTES:
            bag = Path(folder) / f'{minutes}'
            write_long_bag(bag, 60.0 * minutes)
            for what, more in (('report', ['--out', f'{folder}/report']), ('recompute', [])):
                found[f'{what} time'][minutes], found[f'{what} memory'][minutes] = command(
                    what, str(bag), *more)
            shutil.rmtree(bag)
    return [curve(name, 'minutes of a bag', 's' if name.endswith('time') else 'MB', points)
            for name, points in found.items()]


def figures(quick: bool = False) -> list[dict[str, Any]]:
    """Return the curves; `quick` leaves out the large sizes."""
    return [*casters(quick), *joints(quick), *bags(quick)]


def main() -> None:
    """Print the curves."""
    for one in figures('--quick' in sys.argv):
        print(f'{one["name"]} [{one["unit"]}] by {one["over"]}: '
              + ', '.join(f'{x:g}: {y:.3g}' for x, y in zip(one['x'], one['y'], strict=True)))


if __name__ == '__main__':
    main()
