# SPDX-License-Identifier: Apache-2.0
"""
Model of a caster robot: geometry, masses and friction.

Frames and angles are the papers': the platform frame is ``base_link``; the steering angle θ_s is
relative to the platform; at θ_s = 0 the wheel rolls along +Y of the platform and its axle points
along +X. A caster trails: its contact point is `caster_offset` behind the pivot when the wheel
rolls forward, and `lateral_offset` along the axle from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from c3p_description import model_checks, wheels
from c3p_description.robot_text import robot_text

Array: TypeAlias = NDArray[Any]

# a field of a dataclass that is given as numbers or sequences and kept as an array: an annotation
# has one type for both, and a narrower one is wrong for the caller or for the reader of the field
ArrayField: TypeAlias = Any

# standard gravity, m/s²
GRAVITY = 9.80665

# µ of a rubber or polyurethane tyre on a dusty hard floor; clean and dry it is 0.7 to 1
TYRE_FRICTION = 0.6

# fields of the motors, one value per caster
LIMITS = model_checks.LIMITS

# why a robot with such a caster is not controlled
NO_OFFSET = wheels.NO_OFFSET

# fraction of a tyre's grip that controllers use
TRACTION_MARGIN = 0.7


class ModelError(ValueError):
    """Invalid robot description; the text names the field, the value and the remedy."""


def _per_caster(name: str, value: ArrayLike, count: int) -> Array:
    """Return `value` as `count` read-only floats; one number stands for all casters."""
    array = np.array(np.broadcast_to(np.asarray(value, float), (count,)))
    array.setflags(write=False)
    if not np.all(np.isfinite(array)):
        raise ModelError(f'{name} = {array.tolist()}: every value must be a finite number')
    return array


def _limits(value: ArrayLike, count: int, kind: type = float) -> Array:
    """Return limits or flags as `count` values; equal ones fit any number; inf: no limit."""
    limits: Array = np.unique(np.asarray(value, kind))
    return np.array(np.broadcast_to(limits if limits.size == 1 else value, (count,)), kind)


@dataclass(frozen=True)
class Friction:
    """
    Losses of the casters, one value per caster (or one for all).

    Torques are ``viscous·rate + coulomb·tanh(rate/smoothing)`` against the motion: of the steering
    pivot against θ̇_s, of the wheel bearing and tyre (rolling) against θ̇_x, and of the tyre turning
    on the spot (scrub) against θ̇_c.

    Attributes
    ----------
    pivot_viscous, rolling_viscous : array_like, N·m·s/rad
    pivot_coulomb, rolling_coulomb, scrub_coulomb : array_like, N·m
    smoothing : float, rad/s
        Rate over which the sign of the dry friction changes.
    """

    pivot_viscous: ArrayField = 0.0
    pivot_coulomb: ArrayField = 0.0
    rolling_viscous: ArrayField = 0.0
    rolling_coulomb: ArrayField = 0.0
    scrub_coulomb: ArrayField = 0.0
    smoothing: float = 0.05


@dataclass(frozen=True, eq=False)
class CasterRobot:
    """
    A platform on n ≥ 2 casters, each driven in rolling, in steering, in both or not at all.

    Wheels below their pivots (d = 0) or beside them (b ≠ 0), two wheels on one pivot, wheels that
    are fixed at an angle, and joints without an encoder are described as well: see wheels.py. The
    laws of casters do not drive such a robot, and `modules` does.

    Masses count once: `platform_mass` is everything that does not turn with a caster, `link_*` the
    fork with what is bolted to it, `wheel_*` what spins. Inertias are about the part's own centre
    of mass; `platform_com` is measured from the origin of ``base_link``, `link_com` is the
    trailing distance of the link's centre of mass from the pivot. Per-caster values may be given
    as one number for all.

    Attributes
    ----------
    name : str
    hip_position : (n, 2) array, m
        Steering pivots in ``base_link``.
    caster_offset, wheel_radius : (n,) array, m
        d ≥ 0 and r > 0.
    lateral_offset : (n,) array, m
        b of either sign: distance of the wheel from its pivot along the axle a.
    platform_mass, platform_inertia : float, kg and kg·m²
    platform_com : (2,) array, m
    link_mass, link_com, link_inertia : (n,) array, kg, m, kg·m²
    wheel_mass, wheel_spin_inertia, wheel_yaw_inertia : (n,) array, kg, kg·m², kg·m²
    friction : Friction
    driven : (n,) bool array
        True where a motor turns the wheel.
    torque_limit : (n,) array, N·m
        What the motor may give at the wheel; inf for no limit.
    tyre_friction : float
        µ > 0 between tyres and floor that controllers rely on.
    traction_margin : float, 0 to 1
        Fraction of µ·load·r that controllers use; the rest covers load transfer and side forces.
    wheel_rate_limit : (n,) array, rad/s
        What the motor can reach at the wheel; inf for no limit.
    steered : (n,) bool array
        True where a motor turns the steering axis.
    steering_torque_limit, steering_rate_limit : (n,) array, N·m and rad/s
        What that motor may give and can reach at the steering axis; inf for no limit.
    steering_lower, steering_upper : (n,) array, rad
        Stops of the steering angles; ∓inf without. The law `modules` keeps within them.
    steering_joints, wheel_joints : tuple of str
        Joint names, in the order of the casters. Wheels on one pivot have one steering joint.
    steering_sign, steering_zero, wheel_sign : (n,) array
        ``θ_s = steering_sign·(joint position) + steering_zero``,
        ``θ_x = wheel_sign·(joint position)``.
    fixed : (n,) bool array
        True for a wheel that does not steer; its angle is `steering_zero`.
    steering_encoder, wheel_encoder : (n,) bool array
        True where the joint is measured.
    slip_angle : (n,) array, rad
        Standard deviation of the direction of motion from the plane of a wheel that is fixed or
        has no offset.

    Raises
    ------
    ModelError
        Invalid length, mass or inertia; the text names the value and the remedy.
    """

    name: str
    hip_position: ArrayField
    caster_offset: ArrayField
    wheel_radius: ArrayField
    platform_mass: float
    platform_inertia: float
    platform_com: ArrayField
    link_mass: ArrayField
    link_com: ArrayField
    link_inertia: ArrayField
    wheel_mass: ArrayField
    wheel_spin_inertia: ArrayField
    wheel_yaw_inertia: ArrayField
    friction: Friction = field(default_factory=Friction)
    driven: ArrayField = True
    torque_limit: ArrayField = np.inf
    tyre_friction: float = TYRE_FRICTION
    traction_margin: float = TRACTION_MARGIN
    steering_joints: tuple[str, ...] = ()
    wheel_joints: tuple[str, ...] = ()
    steering_sign: ArrayField = 1.0
    steering_zero: ArrayField = 0.0
    wheel_sign: ArrayField = 1.0
    wheel_rate_limit: ArrayField = np.inf
    steered: ArrayField = False
    steering_torque_limit: ArrayField = np.inf
    steering_rate_limit: ArrayField = np.inf
    fixed: ArrayField = False
    steering_encoder: ArrayField = True
    wheel_encoder: ArrayField = True
    slip_angle: ArrayField = wheels.SLIP_ANGLE
    lateral_offset: ArrayField = 0.0
    steering_lower: ArrayField = -np.inf
    steering_upper: ArrayField = np.inf

    def __post_init__(self) -> None:
        """Check every number and freeze it."""
        hips = np.array(self.hip_position, float)
        if hips.ndim != 2 or hips.shape[1] != 2 or len(hips) < 2:
            raise ModelError(f'hip_position has shape {hips.shape}: a caster robot needs two or '
                             'more pivots, each (x, y) in base_link')
        if not np.all(np.isfinite(hips)):
            raise ModelError(f'hip_position = {hips.tolist()}: every value must be finite')
        count = len(hips)
        hips.setflags(write=False)
        self._set('hip_position', hips)
        for name in ('caster_offset', 'wheel_radius', 'link_mass', 'link_com', 'link_inertia',
                     'wheel_mass', 'wheel_spin_inertia', 'wheel_yaw_inertia', 'steering_sign',
                     'steering_zero', 'wheel_sign'):
            self._set(name, _per_caster(name, getattr(self, name), count))
        for name in ('slip_angle', 'lateral_offset'):
            self._set(name, _per_caster(name, _limits(getattr(self, name), count), count))
        for name in ('driven', 'steered', 'fixed', 'steering_encoder', 'wheel_encoder'):
            self._set(name, _limits(getattr(self, name), count, bool))
        for name in (*LIMITS, *model_checks.STOPS):
            self._set(name, _limits(getattr(self, name), count))
        self._set('platform_com', _per_caster('platform_com', self.platform_com, 2))
        self._set('platform_mass', float(self.platform_mass))
        self._set('platform_inertia', float(self.platform_inertia))
        self._set('tyre_friction', float(self.tyre_friction))
        self._set('traction_margin', float(self.traction_margin))
        for kind in ('steering', 'wheel'):
            pivots = wheels.pivots(hips) if kind == 'steering' else np.arange(count)
            names = tuple(getattr(self, f'{kind}_joints')) or tuple(
                f'{kind}_joint_{pivot + 1}' for pivot in pivots)
            # as many names as pivots, and for each pivot one
            pairs = set(zip(names, pivots.tolist(), strict=False))
            if len(names) != count or not len(set(names)) == len(pairs) == len(set(pivots)):
                raise ModelError(f'{kind}_joints = {names}: one distinct name per caster '
                                 f'is needed, and there are {count} casters')
            self._set(f'{kind}_joints', names)
        for check in model_checks.CHECKS:
            if trouble := check(self):
                raise ModelError(trouble)
        # packing the friction checks it
        _ = self.losses

    def _set(self, name: str, value: Any) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def regular(cls, hip_radius: float, hip_angles: ArrayLike, caster_offset: float,
                wheel_radius: float, platform_mass: float, platform_inertia: float,
                platform_com: ArrayLike = (0.0, 0.0), **more: Any) -> CasterRobot:
        """
        Return a robot whose equal casters stand on a circle.

        Parameters
        ----------
        hip_radius : float, m
            h, distance of the pivots from the origin of ``base_link``.
        hip_angles : (n,) array_like, rad
            α, direction of each pivot from +X.
        caster_offset, wheel_radius, platform_mass, platform_inertia, platform_com
            As in the class, one value for all casters.
        **more
            Any other field of the class; masses and inertias of links and wheels are 0 by
            default.

        Examples
        --------
        >>> robot = CasterRobot.regular(0.343, [0.5236, 2.618, 4.7124], 0.04, 0.04, 30.0, 3.51)
        >>> robot.count
        3
        """
        angles = np.asarray(hip_angles, float)
        hips = hip_radius * np.column_stack([np.cos(angles), np.sin(angles)])
        without = dict.fromkeys(('link_mass', 'link_com', 'link_inertia', 'wheel_mass',
                                 'wheel_spin_inertia', 'wheel_yaw_inertia'), 0.0)
        return cls(hip_position=hips, caster_offset=caster_offset, wheel_radius=wheel_radius,
                   platform_mass=platform_mass, platform_inertia=platform_inertia,
                   platform_com=platform_com, **({'name': 'caster_robot'} | without | more))

    __str__ = robot_text

    @cached_property
    def count(self) -> int:
        """Number of casters n."""
        return len(self.hip_position)

    @cached_property
    def efforts(self) -> int:
        """
        Number of entries of an effort vector.

        n, the wheel torques, without steering motors; else 2n, the wheel torques and then the
        steering torques of all casters, 0 where no motor is.
        """
        return 2 * self.count if self.steered.any() else self.count

    def _of_efforts(self, wheels: Any, steering: Any) -> Any:
        """Return a field of the wheels, with that of the steering axes where those have motors."""
        if self.efforts == self.count:
            return wheels
        joined = np.concatenate([wheels, steering])
        joined.setflags(write=False)
        return joined

    @cached_property
    def actuated(self) -> NDArray[np.bool_]:
        """Mask of the entries of an effort vector that have a motor, one per joint, (efforts,)."""
        return self._of_efforts(self.driven, self.steered & wheels.steering_axes(self))

    @cached_property
    def effort_limit(self) -> Array:
        """Limits of an effort vector, (efforts,) N·m; inf for no limit."""
        return self._of_efforts(self.torque_limit, self.steering_torque_limit)

    @cached_property
    def effort_rate_limit(self) -> Array:
        """Rates that the motors can reach at the joint, (efforts,) rad/s; inf for no limit."""
        return self._of_efforts(self.wheel_rate_limit, self.steering_rate_limit)

    @cached_property
    def effort_sign(self) -> Array:
        """Signs of the joints' axes relative to the model's, (efforts,)."""
        return self._of_efforts(self.wheel_sign, self.steering_sign)

    @cached_property
    def effort_joints(self) -> tuple[str, ...]:
        """Names of the joints of an effort vector, (efforts,); see `effort_places`."""
        return self.wheel_joints + (self.steering_joints if self.efforts > self.count else ())

    @cached_property
    def effort_places(self) -> dict[str, int]:
        """Place of each joint in an effort vector, see `c3p_description.wheels`."""
        return wheels.effort_places(self)

    @cached_property
    def joint_places(self) -> dict[str, int]:
        """Place of each joint among (steering axes, wheels), see `c3p_description.wheels`."""
        return wheels.joint_places(self)

    @cached_property
    def sensed(self) -> NDArray[np.int_]:
        """Places of the joints with an encoder among (steering axes, wheels), (k,)."""
        return wheels.sensed(self)

    @property
    def total_mass(self) -> float:
        """Mass of the whole robot, kg."""
        return self.platform_mass + float(np.sum(self.link_mass + self.wheel_mass))

    @cached_property
    def geometry(self) -> Array:
        """
        Rows ``[hip x, hip y, d, r, along, across, b]`` (n, 7), as compiled kernels take them.

        `along` and `across` are `rows`.
        """
        return np.ascontiguousarray(np.column_stack(
            [self.hip_position, self.caster_offset, self.wheel_radius, self.rows,
             self.lateral_offset]))

    @cached_property
    def rows(self) -> Array:
        """Factors of the rows along and across each wheel (n, 2): 0 measures nothing."""
        return wheels.rows(self)

    @cached_property
    def sensed_joints(self) -> tuple[str, ...]:
        """Names of the joints with an encoder: steering axes, then wheels."""
        names = [*self.steering_joints, *self.wheel_joints]
        return tuple(names[i] for i in self.sensed)

    @cached_property
    def caster_inertia(self) -> Array:
        """Rows ``[μ_e, μ_a, κ]`` (n, 3) of masses; ModelError: see `require_casters`."""
        self.require_casters('the dynamics')
        return wheels.caster_inertia(self)

    @cached_property
    def other_wheels(self) -> str:
        """Wheels other than casters with all encoders, with the reason; empty without any."""
        return wheels.other_wheels(self)

    def require_casters(self, what: str) -> None:
        """Raise ModelError for a robot with `other_wheels`; `what` needs casters."""
        if reason := self.other_wheels:
            raise ModelError(f'robot {self.name}: {what} not possible, because {reason}: casters '
                             f'behind their pivots with all encoders are needed; {wheels.WORKS}')

    @cached_property
    def platform(self) -> Array:
        """``[mass, inertia about the centre of mass, com x, com y]`` (4,)."""
        return np.array([self.platform_mass, self.platform_inertia, *self.platform_com])

    @cached_property
    def losses(self) -> Array:
        """
        Friction, packed (n, 6).

        Rows ``[pivot viscous, pivot Coulomb, rolling viscous, rolling Coulomb, scrub Coulomb,
        smoothing]``.
        """
        names = ('pivot_viscous', 'pivot_coulomb', 'rolling_viscous', 'rolling_coulomb',
                 'scrub_coulomb', 'smoothing')
        columns = [_per_caster(f'friction.{n}', getattr(self.friction, n), self.count)
                   for n in names]
        for name, column in zip(names, columns, strict=True):
            if np.any(column < 0) or (name == 'smoothing' and np.any(column <= 0)):
                raise ModelError(f'friction.{name} = {column.tolist()}: must not be negative '
                                 '(smoothing: greater than zero)')
        return np.ascontiguousarray(np.column_stack(columns))
