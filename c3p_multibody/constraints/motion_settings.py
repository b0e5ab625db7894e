# SPDX-License-Identifier: Apache-2.0
"""Settings of the integration of constrained motion."""

from __future__ import annotations

from dataclasses import dataclass

from c3p_multibody.constraints.packing import ConstraintError

STABILISATIONS = ('projection', 'baumgarte', 'none')


@dataclass(frozen=True)
class MotionSettings:
    """
    Settings of the integration of a `ConstrainedMotion`.

    Attributes
    ----------
    step : float, s
    hold : int
        Steps for which the torque is held.
    stabilisation : str
        ``'projection'`` of place and velocity after each step, in the metric of A;
        ``'baumgarte'``; or ``'none'``.
    frequency : float, rad/s
        Baumgarte's ω.
    rest_speed : float, m/s
        A contact that closes more slowly does not bounce (first guard against Zeno behaviour; the
        second one is in `Contacts`).
    generated : bool
        Straight-line code for each set of constraints that is in force for 256 steps, compiled
        then (about 1 s) and kept: the same motion to rounding, about ten times as fast. States in
        which the rows are not clearly independent use the general solver.

    Raises
    ------
    ConstraintError
        A step or a number of steps that is not positive, or an unknown stabilisation.
    """

    step: float = 1e-3
    hold: int = 1
    stabilisation: str = 'projection'
    frequency: float = 50.0
    rest_speed: float = 1e-3
    generated: bool = False

    def __post_init__(self) -> None:
        """Check the settings."""
        if not self.step > 0.0:
            raise ConstraintError(f'step = {self.step}: must be positive, s')
        if self.stabilisation not in STABILISATIONS:
            raise ConstraintError(f'stabilisation = {self.stabilisation!r}: must be one of '
                                  f'{", ".join(STABILISATIONS)}')
        if self.hold < 1:
            raise ConstraintError(f'hold = {self.hold}: must be one step or more')


DEFAULT = MotionSettings()
