# SPDX-License-Identifier: Apache-2.0
"""Report of the fault monitor: kinds of faults with their probabilities, and their words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from c3p_description.model import Array
from c3p_kinematics import _fault_alarm_kernels as alarm
from c3p_kinematics import _fault_kernels as kernels

# words of the kinds, in the order of the columns of `FaultReport.probability`
KINDS = ('rolling slip', 'wheel encoder stuck', 'wheel encoder jump', 'wheel encoder drift',
         'side slip', 'steering encoder stuck', 'steering encoder jump', 'steering encoder drift')
ENCODER = np.array([False, True, True, True, False, True, True, True])
OF_STEERING = np.arange(len(KINDS)) > kernels.SIDE_SLIP
OF_WHEEL = np.arange(len(KINDS)) < kernels.SIDE_SLIP

# confidence from which a fault is named alone; a kind below LEAST is not mentioned
SURE = alarm.SURE
LEAST = 0.05

# probability of a wrong wheel encoder from which odometry does without the row along, and of any
# fault of a wheel or its angle from which it does without the caster
DOUBTED = alarm.DOUBTED


class FaultReport(NamedTuple):
    """
    Faults after a sample.

    Attributes
    ----------
    alarm : bool
    probability : (n, 8) array
        Of each kind (`KINDS`) at each caster, given the alarm; zero without one. The rest to 1 is
        "several casters". With two casters 0: they are not distinguishable.
    statistic, threshold : float
        χ² of the residuals, and its limit.
    speed : (n,) array, m/s
        Velocity of each contact against the prediction of the others.
    """

    alarm: bool
    probability: Array
    statistic: float
    threshold: float
    speed: Array

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
            return f'more than one wheel slips, or has a wrong encoder, probability {several:.2f}'
        words = [f'{joint}: {kind} {part:.2f}' for joint, kind, part in likely[:3]]
        sure = likely[0][2] >= SURE
        return words[0] if sure else ' or '.join(words) + ('' if len(words) == 1 else
                                                           ', not distinguishable')


NO_FAULT = FaultReport(False, np.zeros((0, len(KINDS))), 0.0, math.inf, np.zeros(0))
