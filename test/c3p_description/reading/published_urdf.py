# SPDX-License-Identifier: Apache-2.0
"""A small base on casters, written by hand as published descriptions are, with their traits."""

LIMIT = '<limit effort="2.5" velocity="20"/>'
CORNERS = ((0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2))


def inertial(mass, inertia, xyz='0 0 0', rpy='0 0 0'):
    """Return an <inertial> with equal moments, or of the elements given."""
    moments = (inertia if isinstance(inertia, str)
               else f'ixx="{inertia}" iyy="{inertia}" izz="{inertia}"')
    return (f'<inertial><origin xyz="{xyz}" rpy="{rpy}"/><mass value="{mass}"/>'
            f'<inertia {moments}/></inertial>')


def link(name, inside='', radius=None, rpy='1.5707963267948966 0 0'):
    """Return a <link>; with a `radius` it has a wheel's collision cylinder across y."""
    shape = '' if radius is None else (
        f'<collision><origin rpy="{rpy}"/><geometry><cylinder radius="{radius}" length="0.02"/>'
        '</geometry></collision>')
    return f'<link name="{name}">{inside}{shape}</link>'


def joint(name, kind, parent, child, xyz='0 0 0', rpy='0 0 0', axis='0 0 1', more=''):
    """Return a <joint>."""
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="{xyz}" rpy="{rpy}"/><axis xyz="{axis}"/>{more}</joint>')


def caster(i, x, y, *, rpy='0 0 0', limit=LIMIT, trail=0.05, beside=0.0, kind='continuous',
           wheel_kind='continuous', fork=0.5, spin=4e-4, drop=0.1, axle='0 1 0', fork_com=0.0):
    """Return a caster whose wheel trails along −x of its fork."""
    return (link(f'fork_{i}', inertial(fork, 1e-3, f'0 {fork_com} 0'))
            + link(f'wheel_{i}', inertial(0.5, spin), 0.05)
            + joint(f'steer_{i}', kind, 'base_link', f'fork_{i}', f'{x} {y} 0.15', rpy)
            + joint(f'roll_{i}', wheel_kind, f'fork_{i}', f'wheel_{i}',
                    f'{-trail} {beside} {-drop}', axis=axle, more=limit))


PLATFORM = inertial(20, 'ixx="0.5" iyy="0.5" izz="0.8"')


def base(*more, casters=None, inside=PLATFORM, **traits):
    """Return the URDF of four equal casters with `traits`, or of the given `casters`."""
    parts = casters or [caster(i, x, y, **traits) for i, (x, y) in enumerate(CORNERS)]
    return f'<robot name="lab">{link("base_link", inside)}{"".join(parts)}{"".join(more)}</robot>'
