# SPDX-License-Identifier: Apache-2.0
"""
Masses, centre of mass and friction of a robot from a recorded motion, with intervals.

Least squares on the errors of short predictions (shooting.py, shooting_fit.py). What the motion
does not show is not estimated: a number whose interval would reach further than half its size is
put back to its description, and the result says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.identification.parameters import (
    PARAMETERS,
    USUAL,
    Unknown,
    bounds,
    described,
    scale,
    unknowns,
)
from c3p_dynamics.identification.shooting import (
    IdentificationError,
    Recording,
    Shooting,
    ShootingSettings,
    check,
    cut,
)
from c3p_dynamics.identification.shooting_fit import ShootingFit

# a number counts as known when its interval is within this part of its size on either side
KNOWN_WITHIN = 0.5

# of unknowns with too wide intervals, those within this part of the worst are about as bad
ABOUT_AS_BAD = 0.1

# segments with which the search begins, and how exact it is there and before what the motion does
# not show is left out: parts of the sum of squares
FEW, VERY_ROUGHLY, ROUGHLY = 40, 1e-3, 1e-6

# a segment is set aside when its error exceeds the median by this factor and stands out from the
# spread of all segments by so many deviations
OUTLIER_FACTOR, OUTLIER_DEVIATIONS = 2.0, 5.0

# a smoothing below this times the least one is at its bound
AT_LEAST = 1.05

# rounds in which segments may be set aside or taken back
MOST_ROUNDS = 4

# median absolute deviation → standard deviation of a normal distribution
NORMAL = 1.4826

# change of a fixed number for which `Identification.influence` tells the consequence
INFLUENCE_OF = 0.01


class Estimate(NamedTuple):
    """
    One number that was found.

    Attributes
    ----------
    unknown : Unknown
    value, low, high : float
        And the ends of its interval.
    described : float
        In the description.
    """

    unknown: Unknown
    value: float
    low: float
    high: float
    described: float

    @property
    def name(self) -> str:
        """Name of the unknown."""
        return self.unknown.name

    @property
    def unit(self) -> str:
        """SI unit."""
        return PARAMETERS[self.unknown.parameter].unit


class Unseen(NamedTuple):
    """
    One number that the motion does not show; it keeps its description.

    Attributes
    ----------
    unknown : Unknown
    described : float
    half_width : float
        Of the interval that it would have had; infinite where others have the same effect.
    remedy : str
        A motion that would show it.
    """

    unknown: Unknown
    described: float
    half_width: float
    remedy: str


@dataclass(frozen=True, eq=False)
class Identification:
    """
    What a recorded motion tells about a robot.

    Attributes
    ----------
    robot : CasterRobot
        The description with the estimates in it.
    delay : float, s
        Between a command and its effect on the joints as they are measured.
    estimates : tuple of Estimate
    unseen : tuple of Unseen
    confidence : float
        Of the intervals, such as 0.95.
    correlation : (p, p) array
        Of the estimates' errors.
    influence : dict
        Number that was not estimated → by how much the estimates (p,) would change, were it 1 %
        larger.
    noise : (2,) array, m
        Rms error of steering and of wheel angles, over ground.
    persistence : float
        Correlation of the errors of consecutive samples: near 0 for noise, near 1 where the model
        misses something.
    sudden : bool
        Dry friction changes its sign as fast as was allowed: `smoothing` is a bound.
    segments : (S, 2) array, s
        When each segment began and ended.
    segment_error : (S,) array
        Rms error of each segment, in units of the noise.
    set_aside : (S,) bool array
        Segments that fit much worse than the others (slip, a push) and were left out.
    samples : (k,) array of int
        Rows of the recording behind `errors`.
    errors, described_errors : (k, 2n) array, m
        Measured minus predicted, steering then wheels, over ground: by the robot that was found,
        and by the one that was described (with the delay that was found).
    """

    robot: CasterRobot
    delay: float
    estimates: tuple[Estimate, ...]
    unseen: tuple[Unseen, ...]
    confidence: float
    correlation: Array
    influence: dict[str, Array]
    noise: Array
    persistence: float
    sudden: bool
    segments: Array
    segment_error: Array
    set_aside: Array
    samples: Array
    errors: Array
    described_errors: Array

    def __getitem__(self, name: str) -> Estimate:
        """Return the estimate of this name."""
        for estimate in self.estimates:
            if estimate.name == name:
                return estimate
        raise KeyError(f'{name}: not estimated; there are {[e.name for e in self.estimates]}')

    def correlated(self, limit: float = 0.9) -> list[tuple[str, str, float]]:
        """Return the pairs that the motion hardly tells apart: names and correlation."""
        names = [e.name for e in self.estimates]
        return [(names[j], names[i], float(self.correlation[i, j]))
                for i in range(len(names)) for j in range(i)
                if abs(self.correlation[i, j]) > limit]


def identify(robot: CasterRobot, recording: Recording, estimate: Iterable[str] = USUAL,
             per_caster: Iterable[str] = (), settings: ShootingSettings | None = None,
             confidence: float = 0.95) -> Identification:
    """
    Return what a recorded motion tells about masses, centre of mass, friction and delay.

    Parameters
    ----------
    robot : CasterRobot
        Description: where the search begins, and the values of everything not estimated.
    recording : Recording
        Torques beyond the robot's limits count as those limits.
    estimate : iterable of str
        Keys of `parameters.PARAMETERS`.
    per_caster : iterable of str
        Those of them that get one value per caster.
    settings : ShootingSettings, optional
    confidence : float
        Of the intervals.

    Returns
    -------
    Identification

    Raises
    ------
    IdentificationError
        Too little motion, or numbers in the recording that are not finite.
    ValueError
        An unknown name, or a confidence outside 0 to 1.

    Notes
    -----
    A mass at a pivot cannot be told from one that turns with the caster: the motion shows
    ``platform_mass + Σ link_mass`` and the like, so that links and wheels are weighed, not
    estimated (docs/identification.md).
    """
    if not 0.0 < confidence < 1.0:
        raise ValueError(f'confidence = {confidence}: must lie between 0 and 1, such as 0.95')
    settings = settings or ShootingSettings()
    where = unknowns(robot, estimate, per_caster)
    # lists are welcome, and so are slices: kernels are compiled for rows without gaps
    recording = Recording(*(np.ascontiguousarray(a, float) for a in recording))
    check(robot, recording)
    recording = recording._replace(torque=np.where(
        robot.driven, np.clip(recording.torque, -robot.torque_limit, robot.torque_limit), 0.0))
    shooting = Shooting(robot, recording, *cut(robot, recording, settings), settings)
    spans = recording.time[np.column_stack([shooting.begin, shooting.end - 1])]
    # a few segments bring the search close, at a part of the cost
    fit = ShootingFit(robot, shooting.few(FEW), where, _sizes(robot, where, recording))
    fit, unseen = _without_indistinct(fit)
    fit.solve(VERY_ROUGHLY)
    fit, segment_error, aside = _without_outliers(fit, shooting)
    if _sudden(fit):
        # only now: small steps for all of the search would take long
        fit = fit.of(fit.shooting.finer())
        fit.solve(ROUGHLY)
    noise = fit.weigh()
    fit, half, correlation = _without_unseen(fit, confidence, unseen)
    found, delay = fit.model
    before, _ = fit.shooting.part(slice(None)).settle(robot, delay, fit.weight)
    return Identification(
        robot=found, delay=delay, estimates=_estimates(fit, half), unseen=tuple(unseen),
        confidence=confidence, correlation=correlation, influence=_influence(fit), noise=noise,
        persistence=_persistence(fit), sudden=_sudden(fit), segments=spans,
        segment_error=segment_error, set_aside=aside, samples=fit.shooting.samples,
        errors=fit.errors / fit.weight, described_errors=before / fit.weight)


def _sizes(robot: CasterRobot, where: Sequence[Unknown], recording: Recording) -> Array:
    """Return what counts as much of each unknown in this motion."""
    torque = float(np.sqrt(np.mean(recording.torque[:, robot.driven]**2)))
    span = recording.time[-1] - recording.time[0]
    # mean speed of all joints; rates themselves would be full of noise
    turned = np.abs(np.diff(np.hstack([recording.steering, recording.wheel_angle]), axis=0))
    rate = float(turned.sum(axis=0).mean() / span)
    if torque == 0.0:
        raise IdentificationError('nothing to learn from: all commanded wheel torques are zero')
    return np.array([scale(robot, u, torque, rate) for u in where])


def _without_outliers(fit: ShootingFit, shooting: Shooting) -> tuple[ShootingFit, Array, Array]:
    """Fit all segments but those that fit much worse; also return every error, and who is out."""
    aside = None
    for _ in range(MOST_ROUNDS):
        # judged by what was found without them, so that they do not hide behind their own pull
        fit = fit.of(shooting)
        fit.settle()
        fit.weigh()
        error = fit.segment_errors()
        before, aside = aside, _outliers(error)
        if before is not None and np.array_equal(before, aside):
            break
        fit = fit.of(shooting.part(~aside))
        _enough(fit)
        fit.solve(ROUGHLY)
    fit = fit.of(shooting.part(~aside))
    fit.settle()
    return fit, error, aside


def _sudden(fit: ShootingFit) -> bool:
    """Return whether dry friction changes its sign as fast as it may."""
    least = fit.shooting.settings.least_smoothing
    return any(u.parameter == 'smoothing' and v < AT_LEAST * least
               for u, v in zip(fit.where, fit.values, strict=True))


def _outliers(error: Array) -> Array:
    """Return which segments fit much worse than most."""
    log = np.log(error)
    middle = np.median(log)
    spread = NORMAL * np.median(np.abs(log - middle))
    return log - middle > max(np.log(OUTLIER_FACTOR), OUTLIER_DEVIATIONS * spread)


def _enough(fit: ShootingFit) -> None:
    shooting, needed = fit.shooting, len(fit.where) + 2
    if len(shooting.rows) < needed:
        raise IdentificationError(
            f'only {len(shooting.rows)} pieces of motion of {shooting.settings.segment} s for '
            f'{len(fit.where)} unknowns, which need {needed}: drive longer (20 s or more, with '
            'turns and changes of direction), or estimate fewer')


def _without_indistinct(fit: ShootingFit) -> tuple[ShootingFit, list[Unseen]]:
    """Put back what has no effect of its own, the last of several with the same effect first."""
    unseen: list[Unseen] = []
    while np.any(indistinct := fit.indistinct()):
        fit = _put_back(fit, int(np.flatnonzero(indistinct)[-1]), np.inf, unseen)
    return fit, unseen


def _without_unseen(fit: ShootingFit, confidence: float, unseen: list[Unseen]
                    ) -> tuple[ShootingFit, Array, Array]:
    """Put back, one after the other, what the motion hardly shows; fit the rest again."""
    quantile = float(student.ppf(0.5 + confidence / 2.0, len(fit.shooting.rows) - 1))
    leaning = True
    while True:
        deviation, correlation = fit.spread()
        half = quantile * deviation
        # the equations bend: where nothing shows an unknown the search may end at a value that
        # would have shown it, and the interval there would be a fiction
        wide = half * np.maximum(1.0, fit.blunter()) if leaning else half
        excess = wide / (KNOWN_WITHIN * np.maximum(fit.size, np.abs(fit.values)))
        if np.any(excess > 1.0):
            # of several that are about as bad, because they have nearly the same effect, the last
            worst = int(np.flatnonzero(excess >= ABOUT_AS_BAD * excess.max())[-1])
            fit, leaning = _put_back(fit, worst, float(wide[worst]), unseen), True
            fit.solve(ROUGHLY)
        elif leaning:
            # what is left needs no description to lean on
            fit.solve(leash=np.inf)
            leaning = False
        else:
            return fit, half, correlation


def _put_back(fit: ShootingFit, index: int, half: float, unseen: list[Unseen]) -> ShootingFit:
    unknown = fit.where[index]
    unseen.append(Unseen(unknown, described(fit.robot, unknown), half,
                         PARAMETERS[unknown.parameter].shown_by))
    if len(fit.where) == 1:
        raise IdentificationError('the motion shows nothing of what was asked for; it would have '
                                  'to ' + '; '.join(f'({u.unknown.name}) {u.remedy}'
                                                    for u in unseen))
    return fit.without(index)


def _estimates(fit: ShootingFit, half: Array) -> tuple[Estimate, ...]:
    # an interval does not reach where no robot is
    low, high = bounds(fit.where, fit.robot, np.inf, 0.0)
    return tuple(
        Estimate(u, float(v), float(max(v - h, a)), float(min(v + h, b)),
                 described(fit.robot, u))
        for u, v, h, a, b in zip(fit.where, fit.values, half, low, high, strict=True))


def _influence(fit: ShootingFit) -> dict[str, Array]:
    """Return what an error in the numbers that were not estimated would do."""
    estimated = {u.parameter for u in fit.where}
    fixed = [Unknown(p) for p in PARAMETERS if p != 'delay' and p not in estimated
             and described(fit.robot, Unknown(p)) != 0.0]
    shifts = fit.influence(fixed, INFLUENCE_OF)
    return {u.name: shift for u, shift in zip(fixed, shifts, strict=True)}


def _persistence(fit: ShootingFit) -> float:
    """Return the correlation of errors one sample apart, within segments."""
    before = np.concatenate([fit.errors[r][:-1] for r in fit.shooting.rows])
    after = np.concatenate([fit.errors[r][1:] for r in fit.shooting.rows])
    return float(np.sum(before * after) / np.sqrt(np.sum(before**2) * np.sum(after**2)))
