# SPDX-License-Identifier: Apache-2.0
"""
Tree of rigid bodies from a URDF of any robot.

Every link becomes a body under its own name, in its own frame; links on fixed joints become part
of their carrier and stay as frames. Limits, friction, transmissions and ``<mimic>`` are not read:
a mimic joint has its own freedom, to be tied by a constraint.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from c3p_description.model import Array, ModelError
from c3p_description.reading.urdf_tree import Link
from c3p_description.reading.urdf_tree import UrdfJoint as UrdfJoint
from c3p_description.reading.urdf_xml import read_tree
from c3p_multibody.trees import Body, Joint, Tree

KINDS = {'revolute': 'revolute', 'continuous': 'revolute', 'prismatic': 'prismatic',
         'fixed': 'fixed', 'floating': 'floating', 'planar': 'planar'}
# the joint between the world and the root link
ROOT_JOINT = 'root'


def tree_from_urdf(xml_text: str, *, floating: bool = False, locked: Iterable[str] = (),
                   gravity: ArrayLike = (0.0, 0.0, -9.81)) -> Tree:
    """
    Return the tree that a URDF describes.

    Parameters
    ----------
    xml_text : str
        URDF (after xacro), as from `c3p_description.robot_description`. Freedoms are numbered
        in the order of the joints in the file.
    floating : bool
        The root link moves freely (six freedoms ``root.x`` … ``root.roll`` before all others)
        instead of being fixed to the world.
    locked : iterable of str
        Joints held at zero, without freedom.
    gravity : (3,) array_like, m/s²
        In world axes, which are those of the root link at q = 0.

    Returns
    -------
    Tree

    Raises
    ------
    ModelError
        Malformed XML or URDF, a type of joint that is unknown, a locked joint that is not there.
    TreeError
        Invalid masses, such as a leaf without mass; the text names body and row, which is 0 for
        the root and else the place of its joint in the file.

    Examples
    --------
    >>> tree = tree_from_urdf(
    ...     '<robot name="r"><link name="base"/>'
    ...     '<link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>'
    ...     '<inertia ixx="0" iyy="0" izz="0.1"/></inertial></link>'
    ...     '<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/>'
    ...     '<axis xyz="0 0 1"/></joint></robot>')
    >>> tree.names, tree.frames['base'].body
    (('hinge',), -1)
    """
    urdf = read_tree(xml_text)
    locked = frozenset(locked)
    unknown = locked - {joint.name for joint in urdf.joints}
    if unknown:
        raise ModelError(f'locked = {sorted(unknown)}: no such joints; there are '
                         + ', '.join(joint.name for joint in urdf.joints))
    joints = [Joint(ROOT_JOINT, 'floating' if floating else 'fixed')]
    bodies = [_body(urdf.links[urdf.root])]
    rows = {urdf.root: 0}
    parents: list[str] = []
    for joint in urdf.joints:
        parent = joint.parent
        for made, body in _links(joint, urdf.links[joint.child], joint.name in locked):
            joints.append(made)
            bodies.append(body)
            parents.append(parent)
            rows[body.name] = len(bodies) - 1
            # the second part of a planar joint hangs on the first
            parent = body.name
    # a file may name a joint before the one that carries it
    lower = [-1, *(rows[parent] for parent in parents)]
    return Tree.from_connection(lower, joints, bodies, gravity)


def _body(link: Link) -> Body:
    own = link.inertial
    return Body(link.name) if own is None else Body(link.name, own.mass, own.centre, own.inertia)


def _links(joint: UrdfJoint, link: Link, locked: bool) -> list[tuple[Joint, Body]]:
    """Return the joint and its body; a planar joint across another axis than z is made of two."""
    if joint.kind not in KINDS:
        raise ModelError(f'joint {joint.name}: type = {joint.kind!r}: must be one of '
                         + ', '.join(KINDS))
    kind = 'fixed' if locked else KINDS[joint.kind]
    turn = joint.origin[:3, :3]
    place = joint.origin[:3, 3]
    if kind != 'planar' or joint.axis[2] == 1.0:
        return [(Joint(joint.name, kind, joint.axis, turn, place), _body(link))]
    # the chain moves across z: turn z to the axis, and back behind it
    to_axis = _with_third_column(joint.axis)
    return [(Joint(joint.name, kind, joint.axis, turn @ to_axis, place),
             Body(f'{link.name}.plane')),
            (Joint(f'{joint.name}.back', 'fixed', rotation=to_axis.T), _body(link))]


def _with_third_column(axis: Array) -> Array:
    """Return a rotation that turns z to `axis`; not `with_third`, whose x and y differ."""
    x = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = x - (x @ axis) * axis
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(axis, x), axis])
