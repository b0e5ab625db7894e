# SPDX-License-Identifier: Apache-2.0
"""
Order of recording, where times fall in the order of a file.

Either the file is not in the order of time (threads of a recorder exchange blocks), and its
messages are to be sorted; or the clock was set while it was recorded, and they are not.
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import Array

# a step of more than this multiple of the usual one ends a run of messages
USUAL = 5.0


def exchanged(time: Array) -> bool:
    """
    Return whether messages with times (k,) [ns], in the order of a file, are exchanged blocks.

    These fit together in the order of time: no two of them overlap, and fewer steps are unusual
    than in the order of the file. Times of a clock that was set back overlap, or leave as many
    gaps.

    Examples
    --------
    >>> time = np.arange(0, 100, 10)
    >>> exchanged(np.concatenate([time[5:], time[:5]])), exchanged(np.append(time, time))
    (True, False)
    >>> exchanged(np.append(time, time - 9000))
    False
    """
    step = np.diff(time)
    if not (step < 0).any():
        return False
    usual = USUAL * float(np.median(np.abs(step)))
    ends = np.flatnonzero((step < 0) | (step > usual))
    first = time[np.append(0, ends + 1)]
    last = time[np.append(ends, len(time) - 1)]
    order = np.argsort(first, kind='stable')
    between = first[order][1:] - last[order][:-1]
    if (between < 0).any():
        return False
    return int(np.sum(between > usual)) < len(ends)
