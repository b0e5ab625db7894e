# SPDX-License-Identifier: Apache-2.0
"""Analysis of one bag for a report: run, odometry, slip, timing, node states and goals."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from c3p_bags.promises.judged_parameters import JudgedParameters, judged_parameters
from c3p_bags.report.goals import goal_metrics
from c3p_bags.report.health import Span, spans
from c3p_bags.report.slip_events import SlipEvent, SlipReplay, replay, slip_events
from c3p_bags.report.timing import Timing, timing
from c3p_bags.runs import mapped
from c3p_bags.runs.log_reader import read_run
from c3p_bags.runs.metrics import truth_in_odom
from c3p_bags.runs.recompute_bag import recompute_bag, recorded_settings
from c3p_bags.runs.run_log import Motion, RunLog
from c3p_bags.storage.bag import Bag
from c3p_controller.goals.goal_life import GOAL_TOLERANCE, YAW_TOLERANCE
from c3p_description.model import Array, CasterRobot
from c3p_kinematics.singularity import singularity

# earlier stamps are those of a simulation from zero on, not of a clock: 1990, s
CLOCKS = 6.3e8

# interval of the singular values, s: casters turn with a time constant d/v of 80 ms at walking
# speed; at every sample they would take as long as reading all messages
STRIDE = 0.02


@dataclass(frozen=True, eq=False)
class AnalysedRun:
    """
    One bag, read and analysed.

    Attributes
    ----------
    name : str
        Of the bag, for titles.
    log : RunLog
        ``odom`` is computed from the joint states where the bag has none.
    robot : CasterRobot
    computed : Motion
        Odometry computed from the joint states, from (0, 0, 0).
    odom_recorded : bool
    truth : Motion or None
        Ground truth in the frame of the odometry.
    slip : SlipReplay
    events : tuple of SlipEvent
    timing : Timing
    states : tuple of Span
    sigma : (k,) array
        Smallest singular value of the scaled wheel Jacobian, of `measure`.
    goals : list of dict
        Of `goal_metrics`.
    goal_tolerance, yaw_tolerance : float, m and rad
        The goal zone.
    judged : JudgedParameters
        Parameters in the bag on which the promises of safety.md depend.
    odometry_lost : int
        Odometry messages of the node that are not in the bag.
    remarks : tuple of str
        What differs from a tidy bag, of `Bag.remarks`.
    """

    name: str
    log: RunLog
    robot: CasterRobot
    computed: Motion
    odom_recorded: bool
    truth: Motion | None
    slip: SlipReplay
    events: tuple[SlipEvent, ...]
    timing: Timing
    states: tuple[Span, ...]
    sigma: Array
    goals: list[dict[str, Any]]
    goal_tolerance: float = 0.05
    yaw_tolerance: float = float('inf')
    judged: JudgedParameters = JudgedParameters()
    odometry_lost: int = 0
    remarks: tuple[str, ...] = ()

    @property
    def odom(self) -> Motion:
        """Odometry: recorded, else computed from the joint states."""
        return self.log.odom or self.computed

    @property
    def duration(self) -> float:
        """Time between the first and the last joint states, s."""
        return float(self.log.joints.time[-1] - self.log.joints.time[0])

    def give_back(self) -> None:
        """Give back the memory of columns that are mapped from files; they remain readable."""
        log = self.log
        for part in (log.joints, log.odom, log.ground_truth, log.cmd_vel, log.wheel_effort,
                     log.dynamics_effort, log.reference_acceleration, log.slip, self.computed,
                     self.slip, self.truth):
            mapped.give_back(*(part or ()))
        mapped.give_back(self.sigma, *log.recorded.values(), self.timing.interval,
                         self.timing.time, self.timing.latency)

    @property
    def by_clock(self) -> bool:
        """Return True for stamps of a clock, False for those of a simulation from zero on."""
        return self.log.start_ns * 1e-9 > CLOCKS


def measure(robot: CasterRobot, log: RunLog) -> Array:
    """Return σ_min (k,) at the joint states; between samples 20 ms apart it is interpolated."""
    time = log.joints.time
    step = max(1, int(len(time) * STRIDE / max(time[-1] - time[0], STRIDE)))
    some = np.append(np.arange(0, len(time) - 1, step), len(time) - 1)
    sigma = mapped.computed(lambda part: singularity(robot, log.joints.steering[part]).sigma_min,
                            some)
    rows = mapped.GrowingRows()
    for part in mapped.parts(len(time)):
        rows.append(np.interp(np.arange(part.start, part.stop), some, sigma))
    return rows.array()


def read(bag: Bag, robot: str | None = None, namespace: str | None = None,
         goal_tolerance: float | None = None, yaw_tolerance: float | None = None,
         progress: Callable[[float], object] = lambda part: None) -> AnalysedRun:
    """
    Read and analyse a `bag`.

    `robot` is a name or path, default that of the bag; `namespace` that of the robot, default the
    only one. `goal_tolerance` [m] and `yaw_tolerance` [rad] define the goal zone, default that of
    the position controller in the bag, else 5 cm and any yaw. `progress` receives the fraction
    done, 0 to 1.

    Raises
    ------
    BagError
        The bag cannot be read, or has no joint states of this robot.
    """
    space = bag.namespace(namespace)
    model = bag.casters(robot, space)
    # the replay takes about twice as long as reading
    # of the files; those on the run have answers of their own
    remarks = tuple(bag.remarks)
    log = read_run(bag, model, space, lambda part: progress(part / 3.0))
    computed, slip = replay(model, log.joints, recorded_settings(bag, space)[0],
                            lambda part: progress((1.0 + 2.0 * part) / 3.0))
    recorded = log.odom is not None
    if not recorded:
        log = replace(log, odom=computed)
    end = float(log.joints.time[-1])
    kept = timing(log)
    # joint states without odometry were rejected by the node, unless their odometry was lost
    lost = recompute_bag(bag, robot or '', space).odometry_lost if (
        recorded and kept.unanswered.lost) else 0
    pace = kept.reported['realtime_factor_achieved'] or 1.0
    # a folder named `bag` identifies a run less well than the folder around it
    place = bag.path if bag.path.name not in ('bag', '') else bag.path.resolve()
    name = f'{place.parent.name}/{place.name}' if place.name == 'bag' else place.name
    zone = goal_zone(log, goal_tolerance, yaw_tolerance)
    return AnalysedRun(name, log, model, computed, recorded, truth_in_odom(log), slip,
                       slip_events(slip, log.slip), kept, spans(log.diagnostics, end, pace),
                       measure(model, log), goal_metrics(log, model, *zone), *zone,
                       judged_parameters(bag.parameters, space), lost, remarks)


def goal_zone(log: RunLog, goal_tolerance: float | None = None, yaw_tolerance: float | None = None
              ) -> tuple[float, float]:
    """
    Return radius and yaw of the goal zone, m and rad.

    The given values, else the last ones of the position controller, else 5 cm and any yaw.
    """
    found: Mapping[str, str] = {}
    for health in log.diagnostics:
        if GOAL_TOLERANCE in health.values:
            found = health.values
    known = [_positive(found.get(key)) for key in (GOAL_TOLERANCE, YAW_TOLERANCE)]
    chosen = zip((goal_tolerance, yaw_tolerance), known,
                 (AnalysedRun.goal_tolerance, AnalysedRun.yaw_tolerance), strict=True)
    radius, yaw = (next(v for v in values if v is not None) for values in chosen)
    return radius, yaw


def _positive(text: str | None) -> float | None:
    """Return a positive number, None for any other text."""
    try:
        value = float(text or 'nan')
    except (TypeError, ValueError):
        return None
    return value if value > 0.0 else None
