# SPDX-License-Identifier: Apache-2.0
"""Choices of the command line, from packages that import nothing slow."""

from __future__ import annotations

from c3p_controller import CONTROLLERS
from c3p_simulation import PLANTS, STRICT, WAIT

__all__ = ['CONTROLLERS', 'HARDWARE', 'PLANTS', 'REALTIME', 'STRICT', 'WAIT']

HARDWARE = ('none', 'emulated')

# behaviour of a simulated robot while the computer is busy
REALTIME = (WAIT, STRICT)
