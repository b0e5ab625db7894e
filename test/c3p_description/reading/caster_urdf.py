# SPDX-License-Identifier: Apache-2.0
"""
Write any caster robot as an awkward URDF: turned frames, fixed joints between, split masses.

Everything is first placed in ``base_link`` with all joints at zero; only then are random link
frames laid into it. So nothing here repeats how the reader finds a number.
"""

from __future__ import annotations

import numpy as np

from c3p_description.model import CasterRobot, Friction


def rotation(rng) -> np.ndarray:
    q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    return q * np.sign(np.linalg.det(q))


def pose(turn, place) -> np.ndarray:
    result = np.eye(4)
    result[:3, :3], result[:3, 3] = turn, place
    return result


def origin(at) -> str:
    r = at[:3, :3]
    rpy = (np.arctan2(r[2, 1], r[2, 2]), np.arctan2(-r[2, 0], np.hypot(r[0, 0], r[1, 0])),
           np.arctan2(r[1, 0], r[0, 0]))
    return (f'<origin xyz="{" ".join(repr(float(x)) for x in at[:3, 3])}" '
            f'rpy="{" ".join(repr(float(x)) for x in rpy)}"/>')


class Writer:
    """URDF text from links and joints placed in one frame."""

    def __init__(self, name: str):
        self.name, self.poses, self.text = name, {}, []

    def link(self, name, at, inertial=None, shape='', shape_at=None):
        """`inertial` is (mass, centre, tensor) in the common frame."""
        self.poses[name] = at
        body = ''
        if inertial is not None:
            mass, centre, tensor = inertial
            local = np.linalg.inv(at) @ pose(np.eye(3), centre)
            turned = at[:3, :3].T @ tensor @ at[:3, :3]
            local[:3, :3] = np.eye(3)
            terms = ' '.join(f'i{"xyz"[i]}{"xyz"[j]}="{float(turned[i, j])!r}"'
                             for i in range(3) for j in range(i, 3))
            body += (f'<inertial>{origin(local)}<mass value="{float(mass)!r}"/>'
                     f'<inertia {terms}/></inertial>')
        if shape:
            body += (f'<collision>{origin(np.linalg.inv(at) @ shape_at)}'
                     f'<geometry>{shape}</geometry></collision>')
        self.text.append(f'<link name="{name}">{body}</link>')

    def joint(self, name, kind, parent, child, axis=None, more=''):
        between = np.linalg.inv(self.poses[parent]) @ self.poses[child]
        if axis is not None:
            local = self.poses[child][:3, :3].T @ axis
            more += f'<axis xyz="{" ".join(repr(float(x)) for x in local)}"/>'
        self.text.append(f'<joint name="{name}" type="{kind}"><parent link="{parent}"/>'
                         f'<child link="{child}"/>{origin(between)}{more}</joint>')

    def xml(self) -> str:
        return f'<robot name="{self.name}">{"".join(self.text)}</robot>'


def about_z(zz, rng) -> np.ndarray:
    """Some tensor with the given moment about z."""
    tensor = np.diag([0.7 * zz, 0.8 * zz, zz])
    tensor[0, 1] = tensor[1, 0] = 0.05 * zz * rng.uniform(-1, 1)
    tensor[0, 2] = tensor[2, 0] = 0.05 * zz * rng.uniform(-1, 1)
    return tensor


def split(mass, centre, inertia, along, rng):
    """Two parts with the given mass, centre and moment about z, apart along a direction."""
    first = rng.uniform(0.3, 0.7) * mass
    second = mass - first
    apart = 0.3 * np.sqrt(inertia / mass)
    a, b = apart * second / mass, -apart * first / mass
    own = (inertia - first * a**2 - second * b**2) / 2
    return ((first, centre + a * along, about_z(own, rng)),
            (second, centre + b * along, about_z(own, rng)))


def write(robot: CasterRobot, rng) -> str:
    """Return a URDF of the robot whose frames are as awkward as URDF allows."""
    w = Writer(robot.name)
    w.link('base_link', np.eye(4))
    x = np.array([1.0, 0.0, 0.0])
    parts = split(robot.platform_mass, np.array([*robot.platform_com, 0.3]),
                  robot.platform_inertia, x, rng)
    for k, part in enumerate(parts):
        w.link(f'plate_{k}', pose(rotation(rng), rng.normal(size=3)), part)
        w.joint(f'bolt_{k}', 'fixed', 'base_link' if k == 0 else 'plate_0', f'plate_{k}')
    losses = robot.losses.tolist()
    for i in range(robot.count):
        zero = robot.steering_zero[i]
        e = np.array([-np.sin(zero), np.cos(zero), 0.0])
        a = np.array([np.cos(zero), np.sin(zero), 0.0])
        hip = np.array([*robot.hip_position[i], 0.0])
        # the pivot's frame is anywhere on its axis, the wheel's anywhere on the axle
        w.link(f'fork_{i}', pose(rotation(rng), hip + [0, 0, rng.uniform(0, 0.2)]))
        w.joint(robot.steering_joints[i], 'continuous', 'plate_1', f'fork_{i}',
                [0, 0, robot.steering_sign[i]],
                f'<dynamics damping="{losses[i][0]!r}" friction="{losses[i][1]!r}"/>')
        parts = split(robot.link_mass[i], hip - robot.link_com[i] * e, robot.link_inertia[i],
                      e, rng)
        for k, part in enumerate(parts):
            w.link(f'cheek_{i}_{k}', pose(rotation(rng), rng.normal(size=3)), part)
            w.joint(f'weld_{i}_{k}', 'fixed', f'fork_{i}' if k == 0 else f'cheek_{i}_0',
                    f'cheek_{i}_{k}')
        centre = hip - robot.caster_offset[i] * e
        turn = np.column_stack([a, e, [0, 0, 1]])
        spin, yaw = robot.wheel_spin_inertia[i], robot.wheel_yaw_inertia[i]
        tensor = turn @ np.diag([spin, yaw, yaw]) @ turn.T
        across = np.column_stack([e, [0, 0, 1], a])
        effort = float(robot.torque_limit[i]) if robot.driven[i] else 0.0
        w.link(f'hub_{i}', pose(rotation(rng), centre + rng.uniform(-0.1, 0.1) * a))
        w.joint(robot.wheel_joints[i], 'continuous', f'cheek_{i}_1', f'hub_{i}',
                -robot.wheel_sign[i] * a,
                f'<limit effort="{effort!r}" '
                'velocity="9"/>'
                f'<dynamics damping="{losses[i][2]!r}" friction="{losses[i][3]!r}"/>')
        radius = float(robot.wheel_radius[i])
        shape = (f'<cylinder radius="{radius!r}" length="0.02"/>' if i % 2
                 else f'<sphere radius="{radius!r}"/>')
        w.link(f'tyre_{i}', pose(rotation(rng), rng.normal(size=3)),
               (robot.wheel_mass[i], centre, tensor), shape, pose(across, centre))
        w.joint(f'bead_{i}', 'fixed', f'hub_{i}', f'tyre_{i}')
    # an arm on the platform is not a caster
    w.link('arm', pose(rotation(rng), [0.1, 0.2, 0.3]))
    w.joint('shoulder', 'revolute', 'plate_0', 'arm', [0, 0, 1],
            '<limit lower="-1" upper="1" effort="1" velocity="1"/>')
    return w.xml()


def random_robot(count: int, rng) -> CasterRobot:
    """Return a robot with everything different on each caster."""
    mass = rng.uniform(0.1, 2, count)
    return CasterRobot(
        name='random',
        hip_position=rng.uniform(-1, 1, (count, 2)) + np.outer(range(count), [0, 1]),
        caster_offset=rng.uniform(0.01, 0.2, count), wheel_radius=rng.uniform(0.02, 0.2, count),
        platform_mass=rng.uniform(1, 50), platform_inertia=rng.uniform(0.1, 5),
        platform_com=rng.uniform(-0.2, 0.2, 2), link_mass=mass,
        link_com=rng.uniform(-0.05, 0.1, count),
        link_inertia=mass * rng.uniform(1e-3, 1e-2, count),
        wheel_mass=rng.uniform(0.1, 2, count), wheel_spin_inertia=rng.uniform(1e-4, 2e-3, count),
        wheel_yaw_inertia=rng.uniform(1e-3, 2e-3, count),
        friction=Friction(*rng.uniform(0, 0.1, (4, count)), scrub_coulomb=0.0, smoothing=0.05),
        # from three casters on, one is not driven
        driven=np.arange(count) != (rng.integers(1, count) if count > 2 else -1),
        torque_limit=rng.uniform(0.5, 5, count),
        steering_joints=[f's{i}' for i in range(count)],
        wheel_joints=[f'w{i}' for i in range(count)],
        steering_sign=rng.choice([-1.0, 1.0], count), steering_zero=rng.uniform(-3.1, 3.1, count),
        wheel_sign=rng.choice([-1.0, 1.0], count))
