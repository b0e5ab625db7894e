# SPDX-License-Identifier: Apache-2.0
"""What can be asked of experiments with models."""

from __future__ import annotations

from typing import NamedTuple


class ModelOptions(NamedTuple):
    """
    What can be asked of an experiment with a model; each takes what means something to it.

    Attributes
    ----------
    robot : str or None
        Name or path of a parameter file; None is that of the paper.
    seed : int
        Of what is drawn.
    duration : float or None, s
        Of a run; None is that of the paper.
    film : str
        ``mp4`` or ``gif``: a film too; empty: none.
    """

    robot: str | None = None
    seed: int = 0
    duration: float | None = None
    film: str = ''
