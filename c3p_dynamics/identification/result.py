# SPDX-License-Identifier: Apache-2.0
"""Result of an identification: estimates with intervals, and the quality of the fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from c3p_description.model import Array, CasterRobot
from c3p_dynamics.identification.parameters import PARAMETERS, Unknown


class Estimate(NamedTuple):
    """
    Estimated number with its confidence interval.

    Attributes
    ----------
    unknown : Unknown
    value, low, high : float
    described : float
        Value in the description.
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
    Number that the motion does not identify; it keeps its described value.

    Attributes
    ----------
    unknown : Unknown
    described : float
    half_width : float
        Half-width of its rejected interval; infinite if other unknowns have the same effect.
    remedy : str
        Motion that would identify it.
    """

    unknown: Unknown
    described: float
    half_width: float
    remedy: str


@dataclass(frozen=True, eq=False)
class Identification:
    """
    Result of an identification.

    Attributes
    ----------
    robot : CasterRobot
        The description with the estimates in it.
    delay : float, s
        Between a command and its effect on the measured joints.
    estimates : tuple of Estimate
    unseen : tuple of Unseen
    confidence : float
        Level of the intervals, such as 0.95.
    correlation : (p, p) array
        Correlation of the estimates' errors.
    influence : dict
        Number that was not estimated → change of the estimates (p,) if it were 1 % larger.
    noise : (2,) array, m
        Rms error of steering and of wheel angles, over ground.
    persistence : float
        Correlation of the errors of consecutive samples: near 0 for noise, near 1 for a model
        error.
    sudden : bool
        The estimated `smoothing` is at its lower bound.
    segments : (S, 2) array, s
        Begin and end of each segment.
    segment_error : (S,) array
        Rms error of each segment, in units of the noise.
    set_aside : (S,) bool array
        Outliers (slip, a push) that were left out.
    samples : (k,) array of int
        Rows of the recording behind `errors`.
    errors, described_errors : (k, 2n) array, m
        Measured minus predicted, steering then wheels, over ground, with the identified and with
        the described robot (both with the identified delay).
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
        raise KeyError(f'{name}: not estimated; estimated: {[e.name for e in self.estimates]}')

    def correlated(self, limit: float = 0.9) -> list[tuple[str, str, float]]:
        """Return pairs with a correlation above `limit` in size: two names, correlation."""
        names = [e.name for e in self.estimates]
        return [(names[j], names[i], float(self.correlation[i, j]))
                for i in range(len(names)) for j in range(i)
                if abs(self.correlation[i, j]) > limit]
