# SPDX-License-Identifier: Apache-2.0
"""
Motion of any mix of wheels by Lagrange's equations with multipliers, derived from positions.

Coordinates are the pose over ground, the steering angle of each pivot and the angle of each wheel:
casters included, none is eliminated. A wheel is one body with a spin, a fork another one; kinetic
energies and the velocity of the contact are derived by SymPy from where the parts are.
"""

from functools import lru_cache

import numpy as np
import sympy as sp

# pose, steering angle and wheel angle of one wheel
COORDINATES = sp.symbols('X Y yaw theta spin', real=True)
RATES = sp.symbols('dX dY dyaw dtheta dspin', real=True)
NUMBERS = sp.symbols('mx my d b r m_l c_l I_l m_w I_s I_w', real=True)


@lru_cache
def of_one_wheel():
    """Return functions of mass, bias, constraint rows and their drift, of the five coordinates."""
    x, y, yaw, theta, _ = COORDINATES
    mx, my, d, b, r, m_l, c_l, i_l, m_w, i_s, i_w = NUMBERS
    q, v = sp.Matrix(COORDINATES), sp.Matrix(RATES)
    turn = sp.Matrix([[sp.cos(yaw), -sp.sin(yaw)], [sp.sin(yaw), sp.cos(yaw)]])
    ahead = sp.Matrix([-sp.sin(theta), sp.cos(theta)])
    axle = sp.Matrix([sp.cos(theta), sp.sin(theta)])

    def velocity(place):
        return (sp.Matrix([x, y]) + turn * place).jacobian(q) * v

    pivot = sp.Matrix([mx, my])
    fork = velocity(pivot - c_l * ahead)
    wheel = velocity(pivot - d * ahead + b * axle)
    about = RATES[2] + RATES[3]
    energy = (m_l * fork.dot(fork) + m_w * wheel.dot(wheel) + (i_l + i_w) * about**2
              + i_s * RATES[4]**2) / 2
    momentum = sp.Matrix([energy]).jacobian(v)
    mass = momentum.jacobian(v)
    bias = momentum.jacobian(q) * v - sp.Matrix([energy]).jacobian(q).T
    slip = sp.Matrix([wheel.dot(turn * ahead) - r * RATES[4], wheel.dot(turn * axle)])
    rows = slip.jacobian(v)
    drift = slip.jacobian(q) * v
    return sp.lambdify([COORDINATES, RATES, NUMBERS], [mass, bias, rows, drift], 'numpy', cse=True)


def coordinates_of(robot):
    """Return the place of the steering angle of each wheel among all coordinates; -1 if fixed."""
    place, places = {}, []
    for i in range(robot.count):
        key = tuple(robot.hip_position[i])
        places.append(-1 if robot.fixed[i] else place.setdefault(key, 3 + len(place)))
    return places, 3 + len(place)


def lagrange(robot, steering, twist, steering_rate, wheel_rate, torque):
    """
    Return (ν̇, θ̈_s, M, rows) of a robot at yaw 0 whose joints have these rates.

    The multipliers are those of least norm. Motors act on the angles of the joints, friction too,
    and scrub on the yaw of the wheel over ground.
    """
    places, first = coordinates_of(robot)
    size = first + robot.count
    mass, force = np.zeros((size, size)), np.zeros(size)
    rows, drift = np.zeros((2 * robot.count, size)), np.zeros(2 * robot.count)
    m, (cx, cy) = robot.platform_mass, robot.platform_com
    mass[:3, :3] = [[m, 0, -m * cy], [0, m, m * cx],
                    [-m * cy, m * cx, robot.platform_inertia + m * (cx**2 + cy**2)]]
    force[:2] = m * twist[2]**2 * robot.platform_com
    losses = robot.losses
    seen = set()
    for i in range(robot.count):
        own = [0, 1, 2, places[i], first + i]
        # a fixed wheel has no steering angle as a coordinate
        kept = [k for k in range(5) if own[k] >= 0]
        at = [own[k] for k in kept]
        angle = robot.steering_zero[i] if robot.fixed[i] else steering[i]
        rate = 0.0 if robot.fixed[i] else steering_rate[i]
        numbers = [*robot.hip_position[i], *(getattr(robot, name)[i] for name in (
            'caster_offset', 'lateral_offset', 'wheel_radius', 'link_mass', 'link_com',
            'link_inertia', 'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia'))]
        parts = of_one_wheel()([0.0, 0.0, 0.0, angle, 0.0], [*twist, rate, wheel_rate[i]], numbers)
        one, bias, row, more = (np.asarray(part, float) for part in parts)
        mass[np.ix_(at, at)] += one[np.ix_(kept, kept)]
        force[at] -= bias.ravel()[kept]
        rows[np.ix_([2 * i, 2 * i + 1], at)] = row[:, kept]
        drift[2 * i:2 * i + 2] = more.ravel()
        pv, pc, rv, rc, sc, smooth = losses[i]
        force[first + i] += torque[i] - rv * wheel_rate[i] - rc * np.tanh(wheel_rate[i] / smooth)
        scrub = sc * np.tanh((twist[2] + rate) / smooth)
        force[2] -= scrub
        if not robot.fixed[i]:
            force[places[i]] -= scrub
            force[places[i]] += torque[robot.count + i] if len(torque) > robot.count else 0.0
            if places[i] not in seen:
                seen.add(places[i])
                force[places[i]] -= pv * rate + pc * np.tanh(rate / smooth)
    # the nearest acceleration in kinetic energy that the constraints allow
    root = np.linalg.cholesky(mass)
    free = np.linalg.solve(root, force)
    white = np.linalg.solve(root, rows.T).T
    accel = np.linalg.solve(root.T, free - np.linalg.pinv(white, rcond=1e-11)
                            @ (white @ free + drift))
    # over ground to the derivative of components: v̇ = ν̇ + ω × v at yaw 0
    nudot = accel[:3] + np.array([twist[2] * twist[1], -twist[2] * twist[0], 0.0])
    steer = np.array([0.0 if place < 0 else accel[place] for place in places])
    return nudot, steer, rows @ accel + drift
