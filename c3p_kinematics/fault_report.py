# SPDX-License-Identifier: Apache-2.0
"""Report of the fault monitor: kinds of faults with their probabilities, and their words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_kinematics import _fault_alarm_kernels as alarm

# words of the kinds, in the order of the columns of `FaultReport.probability`
KINDS = ('rolling slip', 'wheel encoder stuck', 'wheel encoder jump', 'wheel encoder drift',
         'side slip', 'steering encoder stuck', 'steering encoder jump', 'steering encoder drift',
         'wheel ratio', 'wheel encoder loses counts', 'steering backlash',
         'steering encoder noise')
ENCODER = np.array(['encoder' in kind for kind in KINDS])
OF_STEERING = np.array(['steering' in kind for kind in KINDS])
OF_WHEEL = np.array([kind == 'rolling slip' or kind.startswith('wheel') for kind in KINDS])

# confidence from which a fault is named alone; a kind below LEAST is not mentioned
SURE = alarm.SURE
LEAST = 0.05

# probability of a wrong wheel encoder from which odometry does without the row along, and of any
# fault of a wheel or its angle from which it does without the caster
DOUBTED = alarm.DOUBTED

# kinds of faults that last, and the ratio of a wheel from which a worn tyre does not explain it
RATIOS = ('wheel ratio', 'wheel encoder loses counts')
BACKLASH = 'steering backlash'
NOISE = 'steering encoder noise'
GEAR = 0.15


class LastingSizes(NamedTuple):
    """
    Sizes of lasting faults.

    Attributes
    ----------
    ratio, ratio_std : (n,) array
        Turn of each wheel per turn by the motion of the others, and its standard deviation; 1 is
        right. inf while nothing is known.
    backlash, backlash_std : (n,) array, rad
        Play between each steering axis and its encoder, and its standard deviation.
    """

    ratio: Array
    ratio_std: Array
    backlash: Array
    backlash_std: Array

    def text(self, caster: int, kind: str) -> str:
        """
        Return size and remedy of a lasting fault of a caster; empty for other kinds.

        Examples
        --------
        >>> known = LastingSizes(*np.array([[1.031], [0.004], [0.0], [0.01]]))
        >>> known.text(0, 'wheel ratio')  # doctest: +NORMALIZE_WHITESPACE
        'turns 3.1 ± 0.4 % more than the platform moves: its radius is 3.0 % smaller than
        described; recalibrate, or check the tyre'
        """
        if kind == BACKLASH:
            return (f'{math.degrees(self.backlash[caster]):.1f} ± '
                    f'{math.degrees(self.backlash_std[caster]):.1f}° of play; check the gear '
                    'and the coupling of the encoder')
        if kind == NOISE:
            return 'check its supply, its shield and its coupling'
        if kind not in RATIOS:
            return ''
        ratio = float(self.ratio[caster])
        more = 'more' if ratio > 1.0 else 'less'
        size = f'{100 * abs(ratio - 1.0):.1f} ± {100 * self.ratio_std[caster]:.1f} %'
        text = f'turns {size} {more} than the platform moves: '
        if abs(ratio - 1.0) > GEAR:
            return text + 'check its gear ratio, its counts per turn and its radius'
        if ratio > 1.0:
            return text + (f'its radius is {100 * (1.0 - 1.0 / ratio):.1f} % smaller than '
                           'described; recalibrate, or check the tyre')
        return text + ('its encoder loses counts, or its radius is '
                       f'{100 * (1.0 / ratio - 1.0):.1f} % larger than described; check the '
                       'encoder, or recalibrate')


class FaultReport(NamedTuple):
    """
    Faults after a sample.

    Attributes
    ----------
    alarm : bool
    probability : (n, 12) array
        Of each kind (`KINDS`) at each caster, given the alarm; zero without one. The rest to 1
        is the probability of several casters, or of a wrong description. With two casters 0: they
        are not distinguishable.
    statistic, threshold : float
        χ² of the residuals, and its limit.
    speed : (n,) array, m/s
        Velocity of each contact against the prediction of the others.
    sizes : LastingSizes or None
        Of faults that last.
    """

    alarm: bool
    probability: Array
    statistic: float
    threshold: float
    speed: Array
    sizes: LastingSizes | None = None

    def shared(self, share: float) -> FaultReport:
        """Return the report where single faults have only this `share` of the probability."""
        return self if share == 1.0 else self._replace(probability=share * self.probability)

    @property
    def caster(self) -> int:
        """The most probable caster, from 0; −1 without an alarm, or if several is likelier."""
        by_caster = self.probability.sum(1)
        best = int(np.argmax(by_caster))
        return best if self.alarm and by_caster[best] > max(
            0.0, 1.0 - float(by_caster.sum())) else -1

    @property
    def confidence(self) -> float:
        """Probability of this caster."""
        return float(self.probability[self.caster].sum()) if self.caster >= 0 else 0.0

    @property
    def kind(self) -> str:
        """The most probable kind at the caster; empty without a caster."""
        return KINDS[int(np.argmax(self.probability[self.caster]))] if self.caster >= 0 else ''

    @property
    def several(self) -> bool:
        """True for an alarm that no single caster of three or more explains: the pose drifts."""
        return self.alarm and len(self.probability) > 2 and self.caster < 0

    @property
    def trust(self) -> Array:
        """
        Rows (n, 2) along and across that odometry uses, 1, and those that it does without, 0.

        A wrong wheel encoder spoils the row along alone. A wrong steering angle spoils both, and a
        tyre that spins does not hold the wheel sideways either.
        """
        trust = np.ones((len(self.probability), 2))
        caster = self.caster
        if caster >= 0 and self.confidence >= SURE:
            alarm.leave_out(self.probability[caster], trust[caster])
        return trust

    def text(self, joints: Sequence[str]) -> str:
        """
        Return the faults in words, empty without alarm.

        Parameters
        ----------
        joints : sequence of str
            Names of the wheels.
        """
        if not self.alarm:
            return ''
        if len(joints) < 3:
            return (f'{" or ".join(joints)}: slip or a wrong encoder; two casters do not '
                    'isolate it')
        order = np.argsort(self.probability, axis=None)[::-1]
        likely = [(joints[i], KINDS[k], float(self.probability[i, k])) for i, k in zip(
            *np.unravel_index(order, self.probability.shape), strict=True)
            if self.probability[i, k] >= LEAST]
        several = 1.0 - float(self.probability.sum())
        if not likely or several > likely[0][2]:
            return ('more than one wheel slips, or has a wrong encoder, or the description is '
                    f'wrong (order, sign or zero of the joints), probability {several:.2f}')
        words = [f'{joint}: {kind} {part:.2f}' for joint, kind, part in likely[:3]]
        sure = likely[0][2] >= SURE
        text = words[0] if sure else ' or '.join(words) + ('' if len(words) == 1 else
                                                           ', not distinguishable')
        size = self.sizes.text(self.caster, self.kind) if self.sizes else ''
        return f'{text}; {size}' if size else text


NO_FAULT = FaultReport(False, np.zeros((0, len(KINDS))), 0.0, math.inf, np.zeros(0))
