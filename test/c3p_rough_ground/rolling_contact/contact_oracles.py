# SPDX-License-Identifier: Apache-2.0
"""Oracles of rolling contact: pose of a touching wheel, motion of rates, a triaxial ellipsoid."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from c3p_rough_ground.rolling_contact import Chart, Surface, contact_orientation


class RelativeMotion(NamedTuple):
    """Slip and angular velocity (3,) of the wheel against the ground, in contW."""

    velocity: np.ndarray
    angular_velocity: np.ndarray


def wheel_pose(wheel, ground, eta):
    """Return ``T_GW = T_G,contG(x, y) · T(ψ) · T_W,contW(u, v)⁻¹`` as position and rotation."""
    eta = np.asarray(eta, float)
    rotation = ground.frame(eta[2:4]) @ contact_orientation(eta[4]) @ wheel.frame(eta[:2]).T
    return ground.point(eta[2:4]) - rotation @ wheel.point(eta[:2]), rotation


def relative_motion(wheel, ground, eta, eta_rate):
    """
    Return the motion that given rates of the contact coordinates mean: `contact_rates` undone.

    ``(vx, vy) = Rψ Mg (ẋ, ẏ) − Mw (u̇, v̇)``,
    ``(−ωy, ωx) = Kw Mw (u̇, v̇) + Rψ Kg Mg (ẋ, ẏ)``; never singular.
    """
    eta, rate = np.asarray(eta, float), np.asarray(eta_rate, float)
    turn = contact_orientation(eta[4])[:2, :2]
    on_wheel = wheel.metric(eta[:2]) @ rate[:2]
    on_ground = ground.metric(eta[2:4]) @ rate[2:4]
    slip = turn @ on_ground - on_wheel
    tilt = (wheel.curvature(eta[:2]) @ on_wheel
            + turn @ (ground.curvature(eta[2:4]) @ on_ground))
    spin = (rate[4] - wheel.torsion(eta[:2]) @ on_wheel
            - ground.torsion(eta[2:4]) @ on_ground)
    return RelativeMotion(np.array([*slip, 0.0]), np.array([tilt[1], -tilt[0], spin]))


@dataclass(frozen=True)
class TriaxialEllipsoid(Surface):
    """``(a cos u cos v, b sin v, −c sin u cos v)``: a wheel with an oblique chart."""

    semi_axes: tuple[float, float, float]

    def chart(self, coordinates):
        """Return the point and the derivatives."""
        u, v = np.asarray(coordinates, float)
        axes, cu, su, cv, sv = (np.array(self.semi_axes), np.cos(u), np.sin(u), np.cos(v),
                                np.sin(v))
        return Chart(*(axes * direction for direction in (
            (cu * cv, sv, -su * cv), (-su * cv, 0.0, -cu * cv), (-cu * sv, cv, su * sv),
            (-cu * cv, 0.0, su * cv), (su * sv, 0.0, cu * sv), (-cu * cv, -sv, su * cv))))
