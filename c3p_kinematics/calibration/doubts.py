# SPDX-License-Identifier: Apache-2.0
"""Calibration while driving that should not be relied on: why, and what to do, in words."""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array
from c3p_kinematics.calibration.evidence import LARGEST_NOISE, WindowHistory
from c3p_kinematics.calibration.parameters import DOUBTFUL, NAMES

# windows from which a judgement on the last ones is possible, and for which a change is reported
ENOUGH = 20

CHECK = 'check the wiring, slip, and that the description is of this robot'


def contradiction(history: WindowHistory) -> str:
    """Return why no lengths explain the last windows, '' if the present ones do."""
    seen = len(history)
    beyond = history.contradicted()
    if seen >= ENOUGH and 2 * beyond > seen:
        return (f'the lengths do not explain this motion: {beyond} of the last {seen} windows '
                f'contradict them; {CHECK}')
    if history.noise >= LARGEST_NOISE:
        return (f'the lengths do not explain this motion: residuals are {LARGEST_NOISE:g} times '
                f'their noise or more; {CHECK}')
    return ''


def doubt(history: WindowHistory, unknown: Array, most: float, source: str) -> str:
    """
    Return why an estimate should not be relied on, with the remedy; '' if it can be.

    Parameters
    ----------
    history : WindowHistory
        The last windows.
    unknown : (5n,) array
        Estimate less description, in standard deviations of the prior.
    most : float
        Limit of its numbers.
    source : str
        What the estimate began from, if it was replaced within the last windows, else ''.

    Examples
    --------
    >>> history = WindowHistory(3, 15, limit=16.0, most=4.0)
    >>> doubt(history, np.zeros(15), 4.0, '')
    ''
    >>> unknown = np.zeros(15)
    >>> unknown[9] = 4.0
    >>> doubt(history, unknown, 4.0, '').split(',')[0]
    'steering zero of caster 2 is at its limit'
    """
    if found := contradiction(history):
        return f'{found}; ~/forget_calibration returns to the description'
    farthest = int(np.argmax(np.abs(unknown)))
    if abs(unknown[farthest]) >= most:
        caster, kind = divmod(farthest, len(NAMES))
        return (f'{NAMES[kind]} of caster {caster + 1} is at its limit, {most:g} standard '
                'deviations of the prior from the description: check it, or state how well it is '
                'known (description_std)')
    if source:
        return (f'the motion contradicted the calibration, which begins again from {source}: a '
                'wheel slips or slipped, or a tyre or an encoder has changed')
    if history.noise > DOUBTFUL:
        return (f'residuals of the calibration are {history.noise:.1f} times their noise: wheels '
                'slip or creep more than calibration.creep states, the times of the joints '
                'differ, or a length is farther from the description than description_std '
                'states; the intervals are for that')
    return ''
