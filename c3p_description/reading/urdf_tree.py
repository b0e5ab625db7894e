# SPDX-License-Identifier: Apache-2.0
"""
Links and joints of a URDF as plain numbers, and bodies that move as one.

Only what a mass model needs is kept: inertials, joint frames, and round shapes (for wheel radii).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from c3p_description.model import Array, ModelError

# negative eigenvalue of an inertia, relative to m·size²: printed with six digits
INERTIA_TOLERANCE = 1e-6
# between the stops of a joint that nothing stops, rad: a hundred turns
MANY_TURNS = 200 * math.pi


@dataclass(frozen=True, eq=False)
class Inertial:
    """Mass [kg], centre (3,) [m] and inertia (3, 3) about it [kg·m²], in one frame."""

    mass: float
    centre: Array
    inertia: Array

    def placed(self, pose: Array) -> Inertial:
        """Return it in the frame in which `pose` (4, 4) of its own frame is given."""
        turn = pose[:3, :3]
        return Inertial(self.mass, turn @ self.centre + pose[:3, 3], turn @ self.inertia @ turn.T)


@dataclass(frozen=True, eq=False)
class Shape:
    """A round shape: kind, radius [m], pose (4, 4) in its link; a cylinder's axis is its z."""

    kind: str
    radius: float
    pose: Array
    collision: bool


@dataclass(frozen=True, eq=False)
class Link:
    """A link; `inertial` is None where the URDF gives none."""

    name: str
    inertial: Inertial | None
    shapes: tuple[Shape, ...] = ()


@dataclass(frozen=True, eq=False)
class UrdfJoint:
    """
    A joint.

    `origin` (4, 4) is the pose of its frame in the parent; `effort` [N·m] and `velocity` [rad/s]
    are its limits, `stops` [rad] its lower and upper one, None where the description has none and
    inf for numbers such as 1e16. `mimic` is the joint that it follows, with multiplier and offset.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Array
    axis: Array
    effort: float | None
    velocity: float | None
    damping: float
    friction: float
    mimic: tuple[str, float, float] | None = None
    stops: tuple[float | None, float | None] = (None, None)

    def turns_freely(self) -> bool:
        """
        Return whether nothing stops the joint: continuous, or revolute without effective stops.

        Some files write a continuous joint as revolute with stops of ±1e16, or of 0 and 0.
        """
        lower, upper = (stop or 0.0 for stop in self.stops)
        return self.kind == 'continuous' or (
            self.kind == 'revolute' and (upper - lower >= MANY_TURNS or lower == upper == 0.0))


@dataclass(frozen=True, eq=False)
class Control:
    """Commanded joints and joint parameters of ``<transmission>`` and ``<ros2_control>``."""

    commanded: frozenset[str]
    named: frozenset[str]
    parameters: dict[str, dict[str, str]]


@dataclass(frozen=True, eq=False)
class UrdfTree:
    """Links by name, joints in the order of the file; `settings` as of `urdf_settings`."""

    name: str
    root: str
    links: dict[str, Link]
    joints: tuple[UrdfJoint, ...]
    control: Control
    children: dict[str, list[UrdfJoint]] = field(repr=False)
    settings: dict[str, Any] = field(default_factory=dict)

    def below(self, link: str) -> list[UrdfJoint]:
        """Return the joints whose parent is `link`."""
        return self.children.get(link, [])

    def body(self, link: str, moving: Iterable[str]) -> dict[str, Array]:
        """
        Return the poses (4, 4), in `link`, of all links which move with it as one body.

        `moving` names the joints which end the body; all others stand at zero.
        """
        moving = frozenset(moving)
        poses = {link: np.eye(4)}
        todo = [link]
        while todo:
            parent = todo.pop()
            for joint in self.below(parent):
                if joint.name not in moving:
                    poses[joint.child] = poses[parent] @ joint.origin
                    todo.append(joint.child)
        return poses

    def inertial(self, poses: dict[str, Array], what: str, needed: bool = True) -> Inertial:
        """
        Return the inertial of links lumped to one body; of zeros without any, unless `needed`.

        ``m = Σ m_k``, ``m c = Σ m_k c_k``, ``I = Σ R_k I_k R_kᵀ + m_k (|s_k|² 1 − s_k s_kᵀ)`` with
        ``s_k = c_k − c``. A link on a fixed joint may have an inertia that no body has, as in many
        files; the sum is checked, relative to m·size².

        Raises
        ------
        ModelError
            When no link of the body has an ``<inertial>``, or the sum is not an inertia.
        """
        parts = [own.placed(pose) for name, pose in poses.items()
                 if (own := self.links[name].inertial) is not None]
        if not parts and not needed:
            return Inertial(0.0, np.zeros(3), np.zeros((3, 3)))
        if not parts:
            raise ModelError(f'{what}: none of its links ({", ".join(poses)}) has an <inertial>; '
                             'add mass and inertia to the URDF')
        mass = sum(part.mass for part in parts)
        weighted: Array = sum((part.mass * part.centre for part in parts), np.zeros(3))
        centre: Array = weighted / mass if mass > 0 else parts[0].centre
        inertia = np.zeros((3, 3))
        for part in parts:
            s = part.centre - centre
            inertia += part.inertia + part.mass * ((s @ s) * np.eye(3) - np.outer(s, s))
        # distances within the body, and the radii of its shapes
        size = max(max(float(np.linalg.norm(pose[:3, 3] - centre)) for pose in poses.values()),
                   *(shape.radius for name in poses for shape in self.links[name].shapes), 0.0)
        least = float(np.linalg.eigvalsh(inertia)[0])
        if least < -INERTIA_TOLERANCE * max(mass * size**2, float(np.max(np.abs(inertia)))):
            raise ModelError(f'{what}: its links ({", ".join(poses)}) have together {mass:g} kg '
                             f'and an inertia with the eigenvalue {least:.3g} kg·m², at a size of '
                             f'{size:.3g} m: no body has a negative one; correct ixx … izz')
        return Inertial(mass, centre, inertia)
