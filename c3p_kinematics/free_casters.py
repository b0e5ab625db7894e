# SPDX-License-Identifier: Apache-2.0
"""
Steering angles of casters without encoders, from the motion of the platform.

A caster with its pivot at m is turned by the motion, ``θ̇_s = −u/d − ω``. With the complex velocity
of the pivot V = (vx − ω m_y) + i (vy + ω m_x) and ``z = exp(i θ_s)`` that is

    ż = −i ω z − i (V + V* z²)/(2 d)

a flow of the unit circle, and of the disc within it, by Möbius transformations: over a step of
constant twist exactly ``z → (a z + b)/(b* z + a*)``. Such a flow keeps distributions of one
family, the wrapped Cauchy distributions, whose mean of exp(i θ_s) is z itself. So one complex
number is the exact belief about an angle: z = 0 is an angle of which nothing is known, |z| = 1 one
that is known.

On its path forward a caster aligns itself, and the spread falls by a factor of e for each offset d
of path, from any start. Driven backward it is unstable and turns around: the spread grows by the
same law, and on a straight line it does not follow from the motion to which side the caster turns.
`ReversalTurn` makes it follow, by a turn of the platform that is too small to matter.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import angle_known

# angle that a path of one offset adds to the spread, rad: what odometry does not see of the
# heading, such as a count of 2000 on wheels of 6 cm that are 0.4 m apart
DRIFT = 3e-4

# of the turn at a reversal: its angle, rad; how long it takes, when it begins to be turned back,
# and how long that takes, s
TURN = 1e-3
TURNING = 0.2
BACK = 0.6
TURNING_BACK = 0.5

# time before a caster is driven backward at which the turn begins, s
AHEAD = 0.1

# spread up to which a caster counts as aligned, rad
ALIGNED = 0.1


class FreeCasters:
    """
    Belief about the steering angles of casters without encoders.

    Parameters
    ----------
    robot : CasterRobot
        Casters behind their pivots that are not fixed and have no steering encoder are free.
    drift : float, rad
        What a path of one offset adds to the spread of an angle.

    Examples
    --------
    >>> from c3p_description import load
    >>> casters = FreeCasters(load('amr'))
    >>> casters.free.tolist(), casters.spread.round(1).tolist()[:3]
    ([False, False, True, True, True, True], [0.0, 0.0, inf])
    >>> for _ in range(60):  # 0.3 m ahead, eight offsets: they roll along −90°, as the wheels do
    ...     casters.step([0.5, 0.0, 0.0], 0.01)
    >>> np.degrees(casters.steering[2:]).round(3).tolist()
    [-90.0, -90.0, -90.0, -90.0]
    >>> bool(np.all(casters.spread < np.radians(0.1)))
    True
    """

    def __init__(self, robot: CasterRobot, drift: float = DRIFT) -> None:
        """Begin with angles of which nothing is known."""
        self.robot = robot
        trails = robot.caster_offset > 0.0
        self.free = ~angle_known(robot) & trails
        # complex numbers, as the belief exp(i θ_s)
        self.pivots = robot.hip_position @ np.array([1.0, 1.0j])
        self._offset = np.where(trails, robot.caster_offset, 1.0)
        self._drift = drift
        self.forget()

    def forget(self) -> None:
        """Begin anew, as after a robot was pushed or lifted with its encoders off."""
        # the angle of a fixed wheel is known, those of others are given
        self._belief = np.where(self.free, 0.0, np.exp(1j * self.robot.steering_zero))

    def know(self, steering: ArrayLike) -> None:
        """Take angles (n,) [rad] as known."""
        self._belief = np.exp(1j * np.asarray(steering, float))

    def step(self, twist: ArrayLike, dt: float) -> None:
        """
        Move with `twist` (3,) for `dt` [s].

        Raises
        ------
        ValueError
            A twist that is not finite or of the wrong size, or a negative time.
        """
        nu = np.asarray(twist, float)
        if nu.shape != (3,) or not np.all(np.isfinite(nu)):
            raise ValueError(f'twist = {nu.tolist()}: must be three finite numbers')
        if not 0 <= dt < np.inf:
            raise ValueError(f'dt = {dt}: must be a finite number of seconds, 0 or more')
        # half rates of the flow: its matrix is exp(dt [[−i ω/2, g], [g*, i ω/2]])
        velocity = complex(nu[0], nu[1]) + 1j * nu[2] * self.pivots
        pull = -0.5j * velocity / self._offset
        spin = 0.5 * nu[2]
        # its square is this times the unit matrix: hyperbolic functions, divided by cosh, where a
        # caster aligns itself, and circular ones where the platform turns faster
        square = np.abs(pull)**2 - spin**2
        angle = dt * np.sqrt(np.abs(square))
        aligns = square > 0.0
        even = np.where(aligns, 1.0, np.cos(angle))
        slope = np.where(aligns, np.tanh(angle), np.sin(angle)) / np.where(angle > 0, angle, 1.0)
        odd = dt * np.where(angle > 0.0, slope, 1.0)
        a = even - 1j * spin * odd
        b = pull * odd
        moved = (a * self._belief + b) / (np.conj(b) * self._belief + np.conj(a))
        # a Cauchy noise in proportion to the path keeps the family
        moved *= np.exp(-self._drift * np.abs(velocity) * dt / self._offset)
        self._belief = np.where(self.free, moved, self._belief)

    def ahead(self, twist: ArrayLike, time: float) -> FreeCasters:
        """Return what is expected after `time` [s] more with `twist` (3,), for a loop's delay."""
        later = FreeCasters(self.robot, self._drift)
        later._belief = self._belief
        later.step(twist, time)
        return later

    @property
    def steering(self) -> Array:
        """Mean direction of each angle (n,), rad; of wheels that are not free what was given."""
        angles: Array = np.angle(self._belief)
        return angles

    @property
    def spread(self) -> Array:
        """
        Half width of the belief of each angle (n,), rad; inf where nothing is known.

        ``−ln |z|``: half of the probability is within it if it is small; 0 of wheels that are not
        free.
        """
        with np.errstate(divide='ignore'):
            spread: Array = -np.log(np.minimum(np.abs(self._belief), 1.0)) + 0.0
        return np.where(self.free, spread, 0.0)

    def possible(self, count: int) -> Array:
        """
        Return `count` sets of angles (count, n), rad, equally likely.

        Means over them approximate expected values; for an angle that is known all are equal.
        """
        unit = np.exp(2j * np.pi * (np.arange(count)[:, None] + 0.5) / count)
        z = self._belief
        angles: Array = np.angle((unit + z) / (1.0 + np.conj(z) * unit))
        return np.where(self.free, angles, self.steering)


class ReversalTurn:
    """
    A small turn of the platform where aligned casters begin to be driven backward.

    On a straight line they would turn around to a side that nothing determines, and push the
    platform when nothing predicts it. A turn by ψ about the reversal moves a pivot that is x ahead
    of the axle by ψ x, which turns its caster by ψ (x/d − 1): with 1 mrad of the platform about
    8 mrad of the caster, many times what odometry does not see. It is turned back when the casters
    have turned around.

    Parameters
    ----------
    casters : FreeCasters
    turn : float, rad
        ψ; twice the default where dry friction sticks, as on the contact plant.

    Examples
    --------
    >>> from c3p_description import load
    >>> casters = FreeCasters(load('amr'))
    >>> casters.know([-np.pi / 2] * 6)
    >>> turning = ReversalTurn(casters)
    >>> turned = 0.0
    >>> for k in range(30):  # begins to reverse
    ...     rate, _ = turning.step([-0.01 * k, 0.0, 0.0], [-1.0, 0.0, 0.0], 0.01)
    ...     turned += 0.01 * rate
    >>> round(turned, 4)
    0.001
    """

    def __init__(self, casters: FreeCasters, turn: float = TURN) -> None:
        """Begin without a turn."""
        self._casters = casters
        self._turn = turn
        # time since the turn began, s
        self._time = np.inf

    def step(self, twist: ArrayLike, accel: ArrayLike, dt: float) -> tuple[float, float]:
        """Return the yaw rate and acceleration to add to a reference ν, ν̇ (3,) after `dt` [s]."""
        if self._time > BACK + TURNING_BACK and self._reverses(np.asarray(twist, float),
                                                              np.asarray(accel, float)):
            self._time = 0.0
        self._time += dt
        rate, change = _bump(self._time, TURNING)
        back, more = _bump(self._time - BACK, TURNING_BACK)
        return self._turn * (rate - back), self._turn * (change - more)

    def _reverses(self, twist: Array, accel: Array) -> bool:
        """Return whether a caster that is aligned will be driven backward."""
        casters = self._casters
        forward = 1j * np.exp(1j * casters.steering)
        along, faster = ((np.conj(forward) * (complex(q[0], q[1]) + 1j * q[2] * casters.pivots)
                          ).real for q in (twist, accel))
        soon = along + AHEAD * faster
        turns = casters.free & (casters.spread < ALIGNED) & (along > -AHEAD * np.abs(faster))
        return bool(np.any(turns & (soon < 0.0) & (faster < 0.0)))


def _bump(time: float, length: float) -> tuple[float, float]:
    """Return a half sine of unit area between 0 and `length`, and its derivative."""
    if not 0.0 <= time <= length:
        return 0.0, 0.0
    wave = np.pi / length
    return 0.5 * wave * float(np.sin(wave * time)), 0.5 * wave**2 * float(np.cos(wave * time))
