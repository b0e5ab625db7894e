# SPDX-License-Identifier: Apache-2.0
"""The caster robot and the differential drive, put together from their bodies."""

import numpy as np

from c3p_multibody.agv.bodies import I, J, K, disc
from c3p_multibody.orthogonal_complement import Assembly, bodies, inertial_rate, twist_map


def assemble(masses, inertias, angular, linear, rates, turning, speeds):
    """Return an Assembly of planar motion from components in the platform's axes."""
    yaw = turning * K
    return Assembly(bodies(masses, inertias), twist_map(angular, linear),
                    twist_map(inertial_rate(angular, rates[0], yaw),
                              inertial_rate(linear, rates[1], yaw)),
                    np.asarray(speeds, float))


def caster_robot_assembly(robot, steering, twist):
    """Return platform, links and wheels of a caster robot with the platform's twist as speeds."""
    nu = np.asarray(twist, float)
    com = np.array([*robot.platform_com, 0.0])
    parts = [(robot.platform_mass, robot.platform_inertia * np.outer(K, K),
              np.stack([0 * K, 0 * K, K], axis=1),
              np.stack([I, J, np.cross(K, com)], axis=1), np.zeros((3, 3)), np.zeros((3, 3)))]
    for i, angle in enumerate(np.asarray(steering, float)):
        parts += _caster(robot, i, angle, nu)
    masses, inertias, angular, linear, angular_rate, linear_rate = map(np.array, zip(
        *parts, strict=True))
    return assemble(masses, inertias, angular, linear, (angular_rate, linear_rate), nu[2], nu)


def _caster(robot, i, angle, nu):
    """Return mass, inertia, ω and ċ of unit speeds, and their rates, of link i and wheel i."""
    a = np.array([np.cos(angle), np.sin(angle), 0.0])
    e = np.cross(K, a)
    hip = np.array([*robot.hip_position[i], 0.0])
    d, r = robot.caster_offset[i], robot.wheel_radius[i]
    pivot = np.stack([I, J, np.cross(K, hip)], axis=1)
    across, along = a @ pivot, e @ pivot
    # yaw rate over ground of the caster, and of its steering against the platform
    sigma = -across / d
    turn = sigma @ nu - nu[2]
    # in the platform's axes ȧ = turn e and ė = −turn a
    sigma_rate, spin, spin_rate = -turn * along / d, -along / r, turn * across / r
    found = []
    for mass, behind, inertia, own, own_rate in (
            (robot.link_mass[i], robot.link_com[i], robot.link_inertia[i] * np.outer(K, K), 0, 0),
            (robot.wheel_mass[i], d, disc(robot.wheel_spin_inertia[i],
                                          robot.wheel_yaw_inertia[i], a),
             np.outer(a, spin), np.outer(a, spin_rate) + turn * np.outer(e, spin))):
        found.append((
            mass, inertia, np.outer(K, sigma) + own, pivot + behind * np.outer(a, sigma),
            np.outer(K, sigma_rate) + own_rate,
            behind * (np.outer(a, sigma_rate) + turn * np.outer(e, sigma))))
    return found


def differential_drive_assembly(track, wheel_radius, com, platform, wheel, rates):
    """Return a platform on two driven wheels, x forward, with the wheels' rates as speeds."""
    mass, spin, across = wheel
    # left and right: v = r (q₁ + q₂)/2, ω = r (q₂ − q₁)/l
    yaw = wheel_radius / track * np.array([-1.0, 1.0])
    speed = wheel_radius / 2 * np.ones(2)
    turn = float(yaw @ np.asarray(rates, float))
    body = np.array([*np.asarray(com, float), 0.0])
    angular = [np.outer(K, yaw), *(np.outer(K, yaw) + np.outer(J, own) for own in np.eye(2))]
    linear = [np.outer(I, speed) + np.outer(np.cross(K, body), yaw),
              *(np.outer(I, wheel_radius * own) for own in np.eye(2))]
    inertias = [platform[1] * np.outer(K, K), *2 * [disc(spin, across, J)]]
    return assemble([platform[0], mass, mass], inertias, angular, linear,
                    (np.zeros((3, 3, 2)), np.zeros((3, 3, 2))), turn, rates)
