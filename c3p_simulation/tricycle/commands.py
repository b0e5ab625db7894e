# SPDX-License-Identifier: Apache-2.0
"""
From a commanded speed and yaw rate, or none, to the joint rates that the tricycle shall have.

What is desired here is not yet what the vehicle does: the closed chains allow three free rates of
six, and the equations take the allowed ones nearest to these.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from c3p_description.pvc_model import JOINTS, PvcTricycle

Array = NDArray[np.float64]

STEERING, DRIVE_1, CAMBER_2, DRIVE_2, CAMBER_3, DRIVE_3 = range(len(JOINTS))
DRIVES, CAMBERS = [DRIVE_1, DRIVE_2, DRIVE_3], [CAMBER_2, CAMBER_3]

# share of the steering limit that commands use: on rough ground the nearest allowed rates differ
# from the desired ones, and the steering must not be pushed into its stop
USABLE_STEERING = 0.95

# what `Commands.source` says
AUTODRIVE, COMMANDED, WAITING, STALE, REFUSED = (
    'autodrive', 'cmd_vel', 'waiting for cmd_vel', 'cmd_vel is stale', 'cmd_vel was refused')


def ackermann(model: PvcTricycle, speed: float, yaw_rate: float, steering: float,
              period: float) -> Array:
    """
    Return the joint rates for a twist of {P} as on flat ground, camber rates zero.

    The steering moves towards ``φ* = atan(L ω/v)``; the wheels turn as the steering φ of now asks,
    with κ = tan φ/L: ``v/cos φ`` in front, ``v (1 ∓ b κ)`` left and right, over R + ρ.

    Parameters
    ----------
    model : PvcTricycle
    speed, yaw_rate : float, m/s and rad/s
        v along x and ω about z of {P}. Without speed only the steering turns: the vehicle cannot
        turn on the spot.
    steering : float, rad
        φ, the angle now.
    period : float, s
        After which the steering shall be there, as far as its rate limit allows.

    Returns
    -------
    (6,) array, rad/s
        In the order of `pvc_model.JOINTS`; all drives are slowed down together where one would
        exceed its limit.

    Examples
    --------
    >>> from c3p_description import load
    >>> ackermann(load('pvc'), 0.3, 0.0, 0.0, 0.01)
    array([0., 1., 0., 1., 0., 1.])
    """
    limit = USABLE_STEERING * model.steering_limit
    if speed == 0.0:
        wanted = math.copysign(limit, yaw_rate) if yaw_rate else steering
    else:
        wanted = math.atan(model.wheelbase * yaw_rate / speed)
    wanted = min(max(wanted, -limit), limit)
    rates = np.zeros(len(JOINTS))
    rates[STEERING] = np.clip((wanted - steering) / period, -model.steering_rate_limit,
                              model.steering_rate_limit)
    turn = model.half_track * math.tan(steering) / model.wheelbase
    drives = speed / model.outer_radius * np.array([1 / math.cos(steering), 1 - turn, 1 + turn])
    rates[DRIVES] = drives / max(1.0, float(np.max(np.abs(drives))) / model.drive_rate_limit)
    return rates


class Commands:
    """
    Remembers the newest command and says which joint rates are desired now.

    Parameters
    ----------
    model : PvcTricycle
    autodrive : bool
        Drive with `drive_rate` on every wheel until the first command comes; else stand.
    drive_rate : float, rad/s
    camber_gain : float, 1/s
        k of the desired camber rates −k γ; the paper's vehicle has 0.
    timeout : float, s
        Age at which a command is no longer used.

    Examples
    --------
    >>> from c3p_description import load
    >>> commands = Commands(load('pvc'), autodrive=True, drive_rate=1.0)
    >>> commands.rates(np.zeros(6), now=0.0, period=0.01)
    array([0., 1., 0., 1., 0., 1.])
    >>> commands.refuse()
    >>> commands.rates(np.zeros(6), now=0.1, period=0.01), commands.source(0.1)
    (array([0., 0., 0., 0., 0., 0.]), 'cmd_vel was refused')
    """

    def __init__(self, model: PvcTricycle, autodrive: bool = True, drive_rate: float = 1.0,
                 camber_gain: float = 0.0, timeout: float = 0.5) -> None:
        """Start without a command."""
        self._model = model
        self.autodrive, self.drive_rate, self.timeout = autodrive, drive_rate, timeout
        self.camber_gain = camber_gain
        self._command: tuple[float, float] | None = None
        self._since, self._refused = -math.inf, False

    def forget(self) -> None:
        """Drop the command, as at the start."""
        self._command, self._since, self._refused = None, -math.inf, False

    def command(self, speed: float, yaw_rate: float, now: float) -> None:
        """Take a command at time `now`, s, whose values are finite."""
        self._command, self._since, self._refused = (speed, yaw_rate), now, False

    def refuse(self) -> None:
        """Take note that a command could not be used: the vehicle stops until one can."""
        self._command, self._refused = (0.0, 0.0), True

    def source(self, now: float) -> str:
        """Return where the desired rates come from: one of the texts above."""
        if self._refused:
            return REFUSED
        if self._command is None:
            return AUTODRIVE if self.autodrive else WAITING
        return STALE if now - self._since > self.timeout else COMMANDED

    def rates(self, joint: Array, now: float, period: float) -> Array:
        """
        Return the desired joint rates (6,), rad/s.

        Parameters
        ----------
        joint : (6,) array, rad
            The joint angles now, in the order of `pvc_model.JOINTS`.
        now : float, s
            By the clock of `command`.
        period : float, s
            For which the rates will be held.
        """
        source, rates = self.source(now), np.zeros(len(JOINTS))
        if source == COMMANDED:
            rates = ackermann(self._model, *self._command, joint[STEERING], period)
        elif source == AUTODRIVE:
            rates[DRIVES] = self.drive_rate
        if np.any(rates):
            # a gain beyond one period's worth would overshoot
            gain = min(self.camber_gain, 1.0 / period)
            rates[CAMBERS] = 0.0 - gain * joint[CAMBERS]
        return rates
