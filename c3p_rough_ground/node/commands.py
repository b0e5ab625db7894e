# SPDX-License-Identifier: Apache-2.0
"""
Desired joint rates of the tricycle from commanded speed and yaw rate.

The closed chains allow three of six rates; the vehicle takes the allowed rates nearest to the
desired ones.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from c3p_description.pvc_model import JOINTS, PvcTricycle
from c3p_description.vehicle_model import RoughVehicle

Array = NDArray[np.float64]

STEERING, DRIVE_1, CAMBER_2, DRIVE_2, CAMBER_3, DRIVE_3 = range(len(JOINTS))
DRIVES = [DRIVE_1, DRIVE_2, DRIVE_3]
CAMBERS = [CAMBER_2, CAMBER_3]

# fraction of the steering limit for commands: on rough ground the allowed rates differ from the
# desired ones, and the steering must not reach its stop
USABLE_STEERING = 0.95

# values of `Commands.source`
AUTODRIVE = 'autodrive'
COMMANDED = 'cmd_vel'
WAITING = 'waiting for cmd_vel'
STALE = 'cmd_vel is stale'
REFUSED = 'cmd_vel was refused'


def ackermann(model: PvcTricycle, speed: float, yaw_rate: float, steering: float,
              period: float) -> Array:
    """
    Return the joint rates for a twist of {P} as on flat ground, camber rates zero.

    The steering moves towards ``φ* = atan(L ω/v)``; the wheels turn for the present steering φ,
    with κ = tan φ/L: ``v/cos φ`` in front, ``v (1 ∓ b κ)`` left and right, over R + ρ.

    Parameters
    ----------
    model : PvcTricycle
    speed, yaw_rate : float, m/s and rad/s
        v along x and ω about z of {P}. At zero speed only the steering moves: the vehicle cannot
        turn on the spot.
    steering : float, rad
        Present angle φ.
    period : float, s
        Time to reach φ*, subject to the rate limit.

    Returns
    -------
    (6,) array, rad/s
        In the order of `pvc_model.JOINTS`; all drives are scaled together to their limit.

    Examples
    --------
    >>> from c3p_description import load
    >>> ackermann(load('pvc'), 0.3, 0.0, 0.0, 0.01)
    array([0., 1., 0., 1., 0., 1.])
    """
    limit = USABLE_STEERING * model.steering_limit
    if speed == 0.0:
        target = math.copysign(limit, yaw_rate) if yaw_rate else steering
    else:
        target = math.atan(model.wheelbase * yaw_rate / speed)
    target = min(max(target, -limit), limit)
    rates = np.zeros(len(JOINTS))
    rates[STEERING] = np.clip((target - steering) / period, -model.steering_rate_limit,
                              model.steering_rate_limit)
    turn = model.half_track * math.tan(steering) / model.wheelbase
    drives = speed / model.outer_radius * np.array([1 / math.cos(steering), 1 - turn, 1 + turn])
    rates[DRIVES] = drives / max(1.0, float(np.max(np.abs(drives))) / model.drive_rate_limit)
    return rates


class Commands:
    """
    Latest command and the desired joint rates.

    Parameters
    ----------
    model : PvcTricycle
    autodrive : bool
        Drive every wheel at `drive_rate` until the first command; False waits at standstill.
    drive_rate : float, rad/s
    camber_gain : float, 1/s
        k of the desired camber rates −k γ; 0 in the paper.
    timeout : float, s
        Largest age of a command.

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

    def __init__(self, model: PvcTricycle | RoughVehicle, autodrive: bool = True,
                 drive_rate: float = 1.0, camber_gain: float = 0.0, timeout: float = 0.5) -> None:
        """Start without a command."""
        self._model = model
        self._size = len(JOINTS)
        self._drives = DRIVES
        self._cambers = CAMBERS
        self.autodrive = autodrive
        self.drive_rate = drive_rate
        self.timeout = timeout
        self.camber_gain = camber_gain
        self._command: tuple[float, float] | None = None
        self._since = -math.inf
        self._refused = False

    def forget(self) -> None:
        """Drop the command, as after the start."""
        self._command, self._since, self._refused = None, -math.inf, False

    def command(self, speed: float, yaw_rate: float, now: float) -> None:
        """Store a finite command at time `now`, s."""
        self._command = (speed, yaw_rate)
        self._since = now
        self._refused = False

    def refuse(self) -> None:
        """Record a rejected command: the vehicle stops until the next valid one."""
        self._command = (0.0, 0.0)
        self._refused = True

    def source(self, now: float) -> str:
        """Return the source of the desired rates: one of the constants above."""
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
            Joint angles in the order of `pvc_model.JOINTS`.
        now : float, s
            On the clock of `command`.
        period : float, s
            Duration of the rates.
        """
        source = self.source(now)
        rates = np.zeros(self._size)
        if source == COMMANDED and self._command is not None:
            rates = self._commanded(*self._command, joint, period)
        elif source == AUTODRIVE:
            rates[self._drives] = self.drive_rate
        if np.any(rates):
            # a larger gain would overshoot within a period
            gain = min(self.camber_gain, 1.0 / period)
            rates[self._cambers] = 0.0 - gain * joint[self._cambers]
        return rates

    def _commanded(self, speed: float, yaw_rate: float, joint: Array, period: float) -> Array:
        """Return the joint rates of a command."""
        assert isinstance(self._model, PvcTricycle)
        return ackermann(self._model, speed, yaw_rate, joint[STEERING], period)
