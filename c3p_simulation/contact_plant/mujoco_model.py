# SPDX-License-Identifier: Apache-2.0
"""
A caster robot as a MuJoCo model (MJCF): platform, forks and wheels on tyres that may slip.

The planar model (`CasterRobot`) has no heights; `BodyShape` adds them. Bodies and joints are as
in the URDF: ``base_link`` at the height of the largest wheel's axle, steering joints about +z,
wheel joints about −x, so that a positive rate rolls along +Y of the fork. Wheels on one pivot have
one fork, that of the first of them; the fork of a fixed wheel has no joint.

Modelling:

- Tyres are ellipsoids on a plane: one contact point, always below the axle. Cylinders would touch
  with their edges and scrub. A tyre is a stiff spring and damper vertically and dry friction along
  the ground, which creeps by nm/s below slip.
- Dry friction of pivot and wheel is `frictionloss`: with stiction, not smoothed.
- Scrub of a tyre that turns on the spot is `scrub_coulomb` at any load: dry friction of a tendon
  of length φ + θ_s, or φ of a fixed wheel. The torsional friction of MuJoCo's contacts would
  creep.
- A robot on two fixed wheels, or on two wheels of one pivot, has supports that the planar model
  leaves out: springs hold it level, and the wheels carry its weight.
- ``base_link`` moves on three slides and three hinges (yaw, roll, pitch) instead of a free
  joint, so that the yaw is an unwrapped coordinate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import GRAVITY, Array, ArrayField, CasterRobot, ModelError
from c3p_description.reading.parameters import parameter_file, read_parameters
from c3p_description.wheels import pivots
from c3p_simulation.plants.checks import per_caster

# MuJoCo's contact model is convex: sliding lifts the body against the normal impedance. At a small
# impedance the normal force is that of spring and damper, and sliding is Coulomb friction: a wheel
# that spins at 40 m/s pulls with μ N to 1e-5 (measured). At MuJoCo's default 0.9 it bounces
TYRE_IMPEDANCE = 0.002

# impedance of dry friction in the joints: MuJoCo's maximum, against creep
DRY_IMPEDANCE = '0.9999 0.9999 0.001 0.5 2'

# resistance to creep per resistance to sinking in (`impratio`): tyres under load creep by nm/s
FRICTION_STIFFNESS = 1e7

# MuJoCo's default 1e-8 leaves jumps of 0.1 rad/s in the rates of the light wheels
SOLVER_TOLERANCE = 1e-12

# steering angle that stands for no stop, degrees
NO_STOP = 1e6

# the first six coordinates and rates of the model; stiffness and damping hold the tilts
BASE_JOINTS = """<joint name="base_x" type="slide" axis="1 0 0"/>
      <joint name="base_y" type="slide" axis="0 1 0"/>
      <joint name="base_z" type="slide" axis="0 0 1"/>
      <joint name="base_yaw" axis="0 0 1"/>
      <joint name="base_roll" axis="1 0 0"{held}/>
      <joint name="base_pitch" axis="0 1 0"{held}/>"""

# natural frequency of the tilts of a robot on two wheels, rad/s, whose supports are not described
LEVEL = 100.0

# bodies that the planar model leaves out need mass and inertia in 3D: 1e-6 of the lightest robot,
# kg and kg·m²
LEAST_MASS = 1e-6
LEAST_INERTIA = 1e-9


@dataclass(frozen=True)
class BodyShape:
    """
    Parameters of a robot in 3D beyond the planar model; one value per caster or one for all.

    Attributes
    ----------
    platform_com_height, link_com_height : float, (n,) array_like, m
        Centres of mass above the ground, which determine the load transfer.
    platform_tilt_inertia, link_tilt_inertia : float, (n,) array_like, kg·m²
        About a horizontal axis through the centre of mass of the body.
    wheel_width : (n,) array_like, m
    """

    platform_com_height: float
    platform_tilt_inertia: float
    link_com_height: ArrayField
    link_tilt_inertia: ArrayField
    wheel_width: ArrayField

    @classmethod
    def of(cls, robot: CasterRobot) -> BodyShape:
        """
        Return a default shape in the proportions of the C3P.

        The centre of mass of the platform is 3.5 wheel radii above the ground, that of a fork
        1.75; the tilt inertia of the platform is half its yaw inertia; wheels are 0.6 radii wide.
        """
        radius = float(np.max(robot.wheel_radius))
        return cls(3.5 * radius, robot.platform_inertia / 2, 1.75 * robot.wheel_radius,
                   robot.link_inertia, 0.6 * robot.wheel_radius)

    @classmethod
    def read(cls, name_or_path: str | Path) -> BodyShape:
        """
        Return the shape from the parameter file of a robot.

        Raises
        ------
        ModelError
            As `loader.load`; also for a URDF, which has no such parameters.
        """
        parameters = read_parameters(parameter_file(name_or_path))
        platform = parameters['platform']
        link = parameters['link']
        return cls(platform['com_height'], platform['tilt_inertia'], link['com_height'],
                   link['tilt_inertia'], parameters['wheel']['width'])


def mjcf(robot: CasterRobot, shape: BodyShape, friction: ArrayLike = 0.8,
         timestep: float = 1e-3) -> str:
    """
    Return the MJCF of `robot` on a plane.

    Parameters
    ----------
    robot : CasterRobot
    shape : BodyShape
    friction : (n,) array_like or float
        μ between each tyre and the ground.
    timestep : float, s
        Longest step: dry friction stops a slipping body within one.

    Returns
    -------
    str
        Motors are named as ``robot.effort_places``, in this order, then ``push_x``, ``push_y`` and
        ``push_yaw``, which act at the origin of ``base_link`` and turn with it.

    Raises
    ------
    ModelError
        Wheels without mass or spin inertia, fewer than three wheels unless two are fixed, a
        friction that is not positive.
    """
    _check(robot)
    grip = per_caster('friction', friction, robot.count)
    if not np.all(grip > 0):
        raise ModelError(f'friction = {grip.tolist()}: every μ must be above zero')
    # a time constant of two steps stops within one
    stiff = f'{2 * timestep:.9g} 1'
    base = float(np.max(robot.wheel_radius))
    forks = ''.join(_fork(robot, shape, i, base)
                    for i in np.unique(pivots(robot.hip_position)).tolist())
    motors = ''.join(f'<motor name={name} joint={name}/>'
                     for name in map(quoteattr, robot.effort_places))
    scrub = ''.join(_scrub(robot, i) for i in range(robot.count))
    contacts = ''.join(
        f'<pair name="tyre_{i + 1}" geom1="ground" geom2="tyre_{i + 1}" '
        f'friction="{_text(grip[i], grip[i], 0, 0, 0)}"/>' for i in range(robot.count))
    com = f'{_text(*robot.platform_com, shape.platform_com_height - base)}'
    tilt = max(shape.platform_tilt_inertia, robot.platform_inertia / 2)
    return f"""<mujoco model={quoteattr(robot.name)}>
  <option timestep="{timestep:.9g}" integrator="implicitfast" cone="elliptic"
          impratio="{FRICTION_STIFFNESS:g}" tolerance="{SOLVER_TOLERANCE:g}"
          gravity="0 0 {-GRAVITY}">
    <flag autoreset="disable"/>
  </option>
  <default>
    <geom contype="0" conaffinity="0" group="1"/>
    <pair condim="3" solimp="{TYRE_IMPEDANCE} {TYRE_IMPEDANCE} 0.001 0.5 2"
          solreffriction="-1 {-TYRE_IMPEDANCE / timestep:.17g}"/>
    <joint solreffriction="{stiff}" solimpfriction="{DRY_IMPEDANCE}"/>
    <tendon solreffriction="{stiff}" solimpfriction="{DRY_IMPEDANCE}"/>
  </default>
  <worldbody>
    <geom name="ground" type="plane" size="0 0 1" group="3"/>
    <body name="base_link" pos="0 0 {base:.9g}">
      {BASE_JOINTS.format(held=_held_level(robot, tilt))}
      <inertial pos="{com}" mass="{robot.platform_mass:.17g}"
                diaginertia="{_text(tilt, tilt, robot.platform_inertia)}"/>
      <site name="base_link" group="4"/>
      {forks}
    </body>
  </worldbody>
  <contact>
    {contacts}
  </contact>
  <tendon>
    {scrub}
  </tendon>
  <actuator>
    {motors}
    <motor name="push_x" site="base_link" gear="1 0 0 0 0 0"/>
    <motor name="push_y" site="base_link" gear="0 1 0 0 0 0"/>
    <motor name="push_yaw" site="base_link" gear="0 0 0 0 0 1"/>
  </actuator>
</mujoco>
"""


def _held_level(robot: CasterRobot, tilt: float) -> str:
    """
    Return the spring and damper that hold a robot on one axle level, '' of others.

    They stand for skids or balls that slide without friction. The wheels carry all of the weight;
    where it is not above the axle the springs are stretched at level (`mujoco_tyres.stand`).
    `tilt` is the inertia of the platform, kg·m².
    """
    if not _on_one_axle(robot):
        return ''
    high = tilt + robot.total_mass * float(np.max(robot.wheel_radius))**2
    return f' stiffness="{high * LEVEL**2:.17g}" damping="{2.0 * high * LEVEL:.17g}"'


def _on_one_axle(robot: CasterRobot) -> bool:
    """Return whether all wheels are two that do not steer, or two on one pivot."""
    return robot.count == 2 and bool(robot.fixed.all() or pivots(robot.hip_position)[1] == 0)


def _scrub(robot: CasterRobot, i: int) -> str:
    """Return the dry friction of tyre `i` that turns on the spot."""
    steering = '' if robot.fixed[i] else (
        f'<joint joint={quoteattr(robot.steering_joints[i])} coef="1"/>')
    return (f'<fixed name="scrub_{i + 1}" frictionloss="{robot.losses[i, 4]:.17g}">'
            f'<joint joint="base_yaw" coef="1"/>{steering}</fixed>')


def _of_caster(value: ArrayLike, i: int, count: int) -> float:
    """Return the value for caster `i` of one for all or one for each of `count`."""
    return float(np.broadcast_to(np.asarray(value, float), (count,))[i])


def _fork(robot: CasterRobot, shape: BodyShape, i: int, base: float) -> str:
    """Return the fork of the pivot whose first wheel is `i`, with its wheels."""
    n = robot.count
    pivot_viscous, pivot_dry = robot.losses[i, :2]
    # what is bolted to the pivot is described with its wheels; centres of mass by their masses
    on = np.flatnonzero(pivots(robot.hip_position) == i)
    mass = robot.link_mass[on].sum()
    com = robot.link_com[i]
    if mass > 0.0:
        com += (robot.link_com[on] - robot.link_com[i]) @ robot.link_mass[on] / mass
    inertia = robot.link_inertia[on] + robot.link_mass[on] * (robot.link_com[on] - com)**2
    link_inertia = max(inertia.sum(), LEAST_INERTIA)
    # moments of inertia obey the triangle inequality: a small tilt inertia is raised
    tilt = max(_of_caster(shape.link_tilt_inertia, i, n), link_inertia / 2)
    hip = _text(*robot.hip_position[i], 0)
    link_com = _text(0, -com, _of_caster(shape.link_com_height, i, n) - base)
    half = robot.steering_zero[i] / 2
    turned = f' quat="{_text(math.cos(half), 0, 0, math.sin(half))}"' if robot.fixed[i] else ''
    joint = '' if robot.fixed[i] else (
        f'<joint name={quoteattr(robot.steering_joints[i])} axis="0 0 1"{_stops(robot, i)}'
        f' damping="{pivot_viscous:.17g}" frictionloss="{pivot_dry:.17g}"/>')
    wheels = ''.join(_wheel(robot, shape, k, base) for k in on.tolist())
    return f"""
      <body name="steering_link_{i + 1}" pos="{hip}"{turned}>
        {joint}
        <inertial pos="{link_com}" mass="{max(mass, LEAST_MASS):.17g}"
                  diaginertia="{_text(tilt, tilt, link_inertia)}"/>{wheels}
      </body>"""


def _stops(robot: CasterRobot, i: int) -> str:
    """Return the attribute of the stops of steering axis `i`, or nothing."""
    # MuJoCo's unit, and it has no stop at one side alone
    ends = np.degrees([robot.steering_lower[i], robot.steering_upper[i]])
    if not np.isfinite(ends).any():
        return ''
    return f' range="{_text(*np.clip(ends, -NO_STOP, NO_STOP))}"'


def _wheel(robot: CasterRobot, shape: BodyShape, i: int, base: float) -> str:
    """Return wheel `i`, a body of its fork."""
    roll_viscous, roll_dry = robot.losses[i, 2:4]
    radius = robot.wheel_radius[i]
    # excess spin inertia beyond the triangle inequality becomes armature of the joint
    yaw = max(robot.wheel_yaw_inertia[i], LEAST_INERTIA)
    spin = min(robot.wheel_spin_inertia[i], 2 * yaw)
    place = _text(robot.lateral_offset[i], -robot.caster_offset[i], radius - base)
    width = _of_caster(shape.wheel_width, i, robot.count)
    return f"""
        <body name="wheel_link_{i + 1}" pos="{place}">
          <joint name={quoteattr(robot.wheel_joints[i])} axis="-1 0 0"
                 damping="{roll_viscous:.17g}" frictionloss="{roll_dry:.17g}"
                 armature="{robot.wheel_spin_inertia[i] - spin:.17g}"/>
          <inertial pos="0 0 0" mass="{robot.wheel_mass[i]:.17g}"
                    diaginertia="{_text(spin, yaw, yaw)}"/>
          <geom name="tyre_{i + 1}" type="ellipsoid"
                size="{_text(width / 2, radius, radius)}" group="3"/>
        </body>"""


def _text(*numbers: float) -> str:
    """Return numbers as lossless MJCF text."""
    return ' '.join(f'{float(n):.17g}' for n in numbers)


def _check(robot: CasterRobot) -> None:
    """Reject a robot that cannot be modelled in 3D."""
    if robot.count < 3 and not _on_one_axle(robot):
        raise ModelError(f'{robot.count} casters: a robot on the ground needs three or more, or '
                         'two wheels that are fixed or on one pivot; the analytic plant accepts '
                         'two')
    for name in ('wheel_mass', 'wheel_spin_inertia'):
        values = getattr(robot, name)
        if not np.all(values > 0):
            raise ModelError(f'{name} = {values.tolist()}: must be positive for wheels that may '
                             'slip; a solid wheel of mass m has a spin inertia of m r²/2')


def gravity(slope: float, direction: float) -> Array:
    """
    Return gravity (3,), m/s², in a floor frame inclined by `slope` towards `direction`, rad.

    Raises
    ------
    ValueError
        A slope that is not finite, or not below 45°, or a direction that is not finite.
    """
    if not (math.isfinite(slope) and abs(slope) < math.pi / 4):
        raise ValueError(f'slope = {slope}: must be an angle within ±π/4 rad')
    if not math.isfinite(direction):
        raise ValueError(f'slope_direction = {direction}: must be a finite angle in rad')
    along = GRAVITY * math.sin(slope)
    return np.array([along * math.cos(direction), along * math.sin(direction),
                     -GRAVITY * math.cos(slope)])
