# SPDX-License-Identifier: Apache-2.0
"""Abilities of a caster robot before it moves: freedoms, grip, accelerations, slip isolation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from c3p_description.model import Array, CasterRobot
from c3p_description.wheels import believed, first_on_pivot
from c3p_dynamics.freedoms import driven_freedoms, heading_is_free
from c3p_dynamics.reach import Travel, reach, travel, turning_mass
from c3p_dynamics.robot_freedoms import robot_freedoms
from c3p_dynamics.traction import least_loads, torque_bounds, traction_torque
from c3p_dynamics.wheel_reach import aligned, aligned_acceleration
from c3p_kinematics.module_commands import allowed_twist
from c3p_kinematics.rolling import rolling_rates
from c3p_kinematics.singularity import always_actuated, singularity
from c3p_kinematics.slip import detect_slip

# random postures of the statistics, and their seed
POSTURES = 40
SEED = 16

# directions of accelerations in a posture: x, y, both diagonals, and yaw
ACROSS = np.sqrt(0.5)
PROBES = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [ACROSS, ACROSS, 0.0],
                   [ACROSS, -ACROSS, 0.0], [0.0, 0.0, 1.0]])

# slip that is put into a wheel, and the speed of the robot, m/s; confidence that names a wheel
SLIP = 0.2
SPEED = 0.3
SURE = 0.9

# slower robots do not travel, m/s² and rad/s²: a ramp of 10 mm/s² takes 10 s to 10 cm/s
LEAST = 0.01
LEAST_TURN = 0.02

# robots that correct their heading by less may stop short, rad/s²
LEAST_HEADING = 0.05

# robots whose casters are heavier to turn may swing (`turning_mass`): random ones up to 4 were
# driven, a base with 15 swings by decimetres
HEAVY = 4.0


class Isolation(NamedTuple):
    """
    Slips that the sensors of a robot detect and isolate.

    Attributes
    ----------
    equations : int
        Spare equations, 2n − 3 of casters.
    detected, named : float
        Fraction of slips of one wheel, in random postures and motions, that are detected, and for
        which the right wheel is named with a confidence of `SURE`.
    """

    equations: int
    detected: float
    named: float


class Ability(NamedTuple):
    """
    Abilities of a robot.

    Attributes
    ----------
    freedoms : int
        Directions of motion that the motors control away from singular postures.
    heading_free : bool
        Casters have fewer motors than freedoms, and the robot follows paths with a heading of its
        own.
    summary : str
        The freedoms in sentences.
    bound, motor, grip, load : (n,) array
        Of the wheels: largest torque in use, limit of the motor, torque that the tyre transmits,
        N·m; least static load, N.
    steering_bound : (n,) array, N·m
        Largest torque of the steering axes in use; 0 without a motor.
    travel : Travel
        Accelerations with trailing casters.
    postures : (m, n) array, rad
        Random steering angles of the statistics.
    accelerations : (m, 5) array
        Reachable in them along the `PROBES`, m/s² and rad/s². One row, with aligned wheels, of a
        robot that has other wheels than casters.
    sigma_min : (m,) array
        Singularity measure of them; empty of a robot that has other wheels than casters.
    isolation : Isolation
    turning : float
        What the casters weigh to turn, over the mass of the robot (`turning_mass`).
    """

    freedoms: int
    heading_free: bool
    summary: str
    bound: Array
    motor: Array
    grip: Array
    load: Array
    steering_bound: Array
    travel: Travel
    postures: Array
    accelerations: Array
    sigma_min: Array
    isolation: Isolation
    turning: float

    def obstacles(self) -> list[str]:
        """
        Return the reasons for which the robot cannot do the battery; empty if it can.

        With two freedoms the heading is free, and no acceleration without yaw is required.
        """
        if self.freedoms < 2:
            return [f'{self.freedoms} of 3 freedoms are driven: the robot cannot follow a path']
        if self.heading_free:
            middle = float(np.median(self.travel.along))
            return [] if middle >= LEAST else [
                f'2 of 3 freedoms are driven, and in most directions the wheels accelerate it by '
                f'{middle:.3g} m/s² with trailing casters, at least {LEAST:g} is needed']
        found = []
        slow = float(self.travel.along.min())
        turn = float(self.travel.turn.min())
        if slow < LEAST:
            angle = np.degrees(self.travel.direction[int(self.travel.along.argmin())])
            found.append(f'the wheels accelerate it by {slow:.3g} m/s² towards {angle:.0f}° with '
                         f'trailing casters, at least {LEAST:g} is needed: friction is stronger '
                         'than the motors and tyres, or the driven wheels are all on one side')
        if turn < LEAST_TURN:
            found.append(f'the wheels turn it by {turn:.3g} rad/s², at least {LEAST_TURN:g} is '
                         'needed: friction is stronger than the motors and tyres')
        return found

    def doubts(self) -> list[str]:
        """Return the reasons for which drives of the battery may fail; empty without any."""
        found = []
        if self.turning > HEAVY:
            found.append(f'the casters weigh {self.turning:.1f} times the robot where they turn '
                         f'(inertia over offset squared), more than {HEAVY:g}: it may swing about '
                         'its path; check inertias and caster offsets')
        if self.heading_free:
            closed = int(np.sum(self.travel.along < LEAST))
            return [*found, *([f'in {closed} of {len(self.travel.along)} directions of travel the '
                               'motors hardly accelerate it: drives in these may stop short']
                              if closed else [])]
        weakest = float(self.travel.heading.min())
        if weakest >= LEAST_HEADING:
            return found
        angle = np.degrees(self.travel.direction[int(self.travel.heading.argmin())])
        return [*found,
                f'at rest on a drive towards {angle:.0f}° the wheels correct the heading by '
                f'{weakest:.2g} rad/s², less than {LEAST_HEADING:g}: the motors that push beside '
                'the others hardly exceed dry friction, and the robot may stop short']


def ability_of(robot: CasterRobot) -> Ability:
    """Return the abilities of `robot`; pure and repeatable."""
    random = np.random.default_rng(SEED)
    postures = random.uniform(-np.pi, np.pi, (POSTURES, robot.count))
    n = robot.count
    bound = torque_bounds(robot)
    rank, found, sigma_min = _driven(robot, postures)
    return Ability(
        rank, heading_is_free(robot), _summary(robot, rank), bound[:n],
        np.asarray(robot.torque_limit), traction_torque(robot), least_loads(robot),
        bound[n:] if robot.steered.any() else np.zeros(n), travel(robot), postures, found,
        sigma_min, isolation(robot, postures, random), turning_mass(robot))


def _driven(robot: CasterRobot, postures: Array) -> tuple[int, Array, Array]:
    """Return the freedoms, and reachable accelerations and singularity of the postures."""
    if robot.other_wheels:
        # wheels below their pivots turn first; no posture is singular then
        found = np.array([[aligned_acceleration(robot, probe) for probe in PROBES]])
        return driven_freedoms(robot), found, np.zeros(0)
    measured = singularity(robot, postures)
    found = np.array([[reach(robot, posture, probe) for probe in PROBES] for posture in postures])
    return int(measured.rank.max()), found, measured.sigma_min


def _summary(robot: CasterRobot, rank: int) -> str:
    if robot.other_wheels:
        motors = f'{int(robot.driven.sum())} driven wheels'
        if robot.steered.any():
            motors += f' and {int(robot.steered.sum())} driven steering axes'
        return (f'{motors} control speed and yaw rate: fixed wheels bar the motion across their '
                'axle, and the robot turns, rolls and turns to a goal.' if robot.fixed.any() else
                f'{motors} control place and heading, when the wheels have turned to the motion.')
    if not robot.steered.any():
        return robot_freedoms(robot).text()
    motors = (f'{int(robot.driven.sum())} driven wheels and {int(robot.steered.sum())} driven '
              'steering axes')
    if always_actuated(robot):
        return f'{motors} control place and heading in every posture: no posture is singular.'
    return f'{motors} accelerate {rank} of the 3 freedoms at an instant.'


def isolation(robot: CasterRobot, postures: Array, random: np.random.Generator) -> Isolation:
    """
    Return how many slips are detected and isolated by `detect_slip` with its noise model.

    In each posture (m, n) the robot moves with a random twist, and one wheel after the other
    turns `SLIP` too fast.
    """
    detected = named = 0
    for posture in postures:
        angle = random.uniform(-np.pi, np.pi)
        twist = allowed_twist(robot, [SPEED * np.cos(angle), SPEED * np.sin(angle),
                                      random.uniform(-1.0, 1.0)])
        posture = np.where(believed(robot), aligned(robot, twist), posture)[first_on_pivot(robot)]
        wheel, turn, _ = rolling_rates(robot, posture, twist)
        for i in range(robot.count):
            slipping = wheel.copy()
            slipping[i] += SLIP / robot.wheel_radius[i]
            report = detect_slip(robot, posture, slipping, turn)
            detected += report.slipping
            named += report.slipping and report.suspect == i and report.confidence >= SURE
    total = len(postures) * robot.count
    # wheels on one pivot have one row across
    across = np.unique(first_on_pivot(robot)[robot.rows[:, 1] > 0.0])
    spare = int(np.count_nonzero(robot.rows[:, 0])) + len(across) - 3
    return Isolation(spare, detected / total, named / total)


def singular_postures(robot: CasterRobot) -> list[tuple[str, Array, Array]]:
    """
    Return singular postures of the driven wheels: name, steering (n,), lost twist (3,).

    Parallel rolling lines, as in straight travel along X, and lines that meet in the mean pivot.
    """
    middle = robot.hip_position.mean(axis=0)
    x, y = (robot.hip_position - middle).T
    parallel = np.full(robot.count, -0.5 * np.pi)
    # a line through pivot and mean pivot; a pivot there has a line of any direction
    meeting = np.arctan2(-x, y)
    lost = singularity(robot, np.array([parallel, meeting])).directions[:, 2]
    return [('parallel lines, as in every straight drive', parallel, lost[0]),
            ('lines that meet in one point', meeting, lost[1])]


def ability_json(ability: Ability) -> dict[str, Any]:
    """Return the abilities for JSON, SI units."""
    moved = ability.accelerations[:, :4]
    turned = ability.accelerations[:, 4]
    return {
        'driven_freedoms': ability.freedoms,
        'torque_bound_nm': ability.bound.tolist(),
        'steering_torque_bound_nm': ability.steering_bound.tolist(),
        'traction_torque_nm': ability.grip.tolist(),
        'least_load_n': ability.load.tolist(),
        'travel_acceleration_mps2': _spread(ability.travel.along),
        'turn_acceleration_radps2': float(ability.travel.turn.min()),
        'turning_mass_ratio': ability.turning,
        'heading_acceleration_radps2': float(ability.travel.heading.min()),
        'posture_acceleration_mps2': _spread(moved),
        'posture_yaw_acceleration_radps2': _spread(turned),
        'spare_equations': ability.isolation.equations,
        'slips_detected': ability.isolation.detected,
        'slips_isolated': ability.isolation.named}


def _spread(values: Array) -> dict[str, float]:
    return {'worst': float(values.min()), 'median': float(np.median(values)),
            'best': float(values.max())}
