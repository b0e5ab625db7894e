# SPDX-License-Identifier: Apache-2.0
"""
Report of a drive in a process of its own, which is prepared while the nodes start.

Importing matplotlib, reading its fonts and drawing for the first time take a second; the page has
a PNG and a PDF, which are written at the same time. Run as a module, this is the process: it reads
a pickled `Job` from its input and writes the metrics; it reads them with the reason for a missed
goal, and writes the files.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from c3p_ros.child_process import ChildProcess

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from c3p_bags.runs.run_log import RunLog
    from c3p_description.model import CasterRobot

# of the preparation, so that the nodes come first
NICE = 19

# time limit for the end of a process that writes, s
PATIENCE = 5.0


class Job(NamedTuple):
    """A `bag`, its `robot`, the `goal`, its `zone` (m and rad), and the folder `out`."""

    bag: Path
    robot: str
    goal: tuple[float, ...]
    zone: tuple[float, float]
    out: Path


def write(job: Job, missed: Callable[[Mapping[str, Any]], str]) -> dict[str, Any]:
    """
    Return the metrics of a drive with its ``files``, and draw its page.

    `missed` returns the reason for a missed goal from the metrics of the `job`, empty for a
    reached one.
    """
    log, robot, metrics = evaluate(job)
    mark_missed(metrics, missed(metrics))
    metrics['files'] = draw(log, robot, metrics, job.out)
    return metrics


def evaluate(job: Job) -> tuple[RunLog, CasterRobot, dict[str, Any]]:
    """Read the bag of a `job`; return its log, the robot and the metrics."""
    from c3p_bags.runs.log_reader import read_run
    from c3p_bags.runs.metrics import drive_metrics
    from c3p_bags.storage.bag import Bag
    from c3p_description.reading.loader import load_casters

    robot = load_casters(job.robot)
    with Bag(job.bag) as opened:
        log = read_run(opened, robot)
    return log, robot, drive_metrics(log, robot, job.goal, *job.zone)


def mark_missed(metrics: dict[str, Any], reason: str) -> None:
    """Write a `reason` to the `metrics`, unless it is empty: the goal is missed."""
    if reason:
        metrics['reached'] = False
        metrics['missed'] = reason


def draw(log: RunLog, robot: CasterRobot, metrics: Mapping[str, Any], out: Path,
         **how: Callable[[Figure, Path], list[Path]]) -> dict[str, str]:
    """Draw the page of a drive in the folder `out`; `how` is passed to `drive_figure`."""
    from c3p_bags.report.write import write_drive

    return write_drive(log, robot, metrics, out, **how)


class Reporter:
    """Process that writes the report, and ends with the context; it prepares itself."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._process: ChildProcess | None = None
        self._asked = False

    def __enter__(self) -> Reporter:
        """Return this."""
        return self

    def start(self) -> None:
        """Start the process in a session of its own, so that Ctrl-C does not reach it."""
        self._process = ChildProcess(
            [sys.executable, '-m', __name__], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL)

    def write(self, job: Job, missed: Callable[[Mapping[str, Any]], str]) -> dict[str, Any]:
        """Do as `write`; in this process where the other one has failed or has ended."""
        try:
            metrics: dict[str, Any] = self._ask(job)
            mark_missed(metrics, missed(metrics))
            metrics['files'] = self._ask(metrics.get('missed'))
        except (OSError, EOFError, pickle.UnpicklingError):
            return write(job, missed)
        return metrics

    def _ask(self, what: Any) -> Any:
        if self._process is None:
            raise EOFError
        self._asked = True
        pickle.dump(what, self._process.stdin)
        self._process.stdin.flush()
        return pickle.load(self._process.stdout)

    def __exit__(self, *_: object) -> None:
        """End the process: at once if it has nothing to write."""
        if self._process is None:
            return
        if self._asked:
            self._process.end(patience=PATIENCE)
        else:
            self._process.kill()


def save_both(sheet: Figure, path: str | Path) -> list[Path]:
    """Write a figure as PNG and PDF at the same time; return the two files."""
    from c3p_plots import style

    base = Path(path).with_suffix('')
    base.parent.mkdir(parents=True, exist_ok=True)
    files = [base.with_suffix('.png'), base.with_suffix('.pdf')]
    number = os.fork()
    if number == 0:
        code = 1
        try:
            style.save_as(sheet, files[1])
            code = 0
        finally:
            os._exit(code)
    style.save_as(sheet, files[0])
    if os.waitpid(number, 0)[1]:
        # again, which shows the reason
        style.save_as(sheet, files[1])
    return files


def prepare() -> None:
    """Import and draw what every page needs, in a thread of the lowest priority."""
    import io

    os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICE)
    from c3p_plots import style
    for module in ('report.write', 'runs.log_reader', 'runs.metrics', 'storage.bag'):
        import_module(f'c3p_bags.{module}')
    sheet = style.figure(3.0, 2.0)
    sheet.add_subplot().set_title(r'$\dot\theta_x$, $\mathrm{m/s^2}$')
    for kind in ('png', 'pdf'):
        sheet.savefig(io.BytesIO(), format=kind)


def main() -> int:
    """Serve one job; without one nothing is written."""
    asked = sys.stdin.buffer
    answered = sys.stdout.buffer
    # nothing that is printed may be taken for a result
    sys.stdout = sys.stderr

    def answer(what: Any) -> None:
        pickle.dump(what, answered)
        answered.flush()

    # the report itself has the usual priority: the robot stands by then
    preparation = threading.Thread(target=prepare)
    preparation.start()
    preparation.join()
    try:
        job = pickle.load(asked)
    except EOFError:
        return 0
    # an error ends this process, and is found again by the other
    log, robot, metrics = evaluate(job)
    answer(metrics)
    mark_missed(metrics, pickle.load(asked) or '')
    answer(draw(log, robot, metrics, job.out, save=save_both))
    return 0


if __name__ == '__main__':
    code = main()
    # the files are written: an orderly end of all imports takes half a second
    os._exit(code)
