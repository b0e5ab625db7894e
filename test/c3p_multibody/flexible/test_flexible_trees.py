# SPDX-License-Identifier: Apache-2.0
"""Elastic beams in trees: analytic frequencies, conservation, and finite segments in MuJoCo."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

from c3p_multibody.flexible import Beam, FlexibleError, FlexibleTree, clamped_free, tip_joints
from c3p_multibody.trees import Body, Joint, Tree, bias, crba

# frequency parameters (βL)² of cantilevers, from tables
CANTILEVER = [3.51602, 22.0345, 61.6972, 120.902]
LENGTH, DENSITY, STIFFNESS, TORQUE = 2.0, 0.5, 3.0, 0.15
UNIT = np.sqrt(STIFFNESS / (DENSITY * LENGTH**4))


def beam(**more):
    return Beam(**{'body': 'hub', 'length': LENGTH, 'density': DENSITY, 'stiffness': STIFFNESS,
                   **more})


def hub(axis=(0, 0, 1), gravity=(0, 0, 0), inertia=0.2):
    return Tree.from_connection([-1], [Joint('hub', axis=axis)],
                                [Body('hub', 1.0, inertia=inertia * np.eye(3))], gravity)


def loaded(mass=0.7, turn=0.05, gravity=(0, 0, 0), more=0, axis=(0, 0, 1)):
    """Return a hub with a beam that carries a load, and `more` links behind it."""
    joints, bodies = tip_joints('tip', (0, 0, 0), LENGTH)
    bodies[-1] = Body('load', mass, (0.0, 0.0, 0.0), turn * np.eye(3))
    links = [Joint(f'link{k}', axis=(0, 0, 1), translation=(0.3, 0, 0)) for k in range(more)]
    rods = [Body(f'rod{k}', 0.5, (0.2, 0, 0), 0.02 * np.eye(3)) for k in range(more)]
    return Tree.from_connection(
        range(-1, 3 + more), [Joint('hub', axis=axis), *joints, *links],
        [Body('hub', 1.0, inertia=0.2 * np.eye(3)), *bodies, *rods], gravity)


TIP = ('tip_x', 'tip_y', 'tip_turn')


def test_a_cantilever_has_the_tabulated_frequencies():
    arm = FlexibleTree(hub(), [beam(modes=4)])
    np.testing.assert_allclose(arm.frequencies(np.zeros(5)) / UNIT, CANTILEVER, rtol=2e-6)


def test_modes_satisfy_their_boundary_conditions_and_are_orthogonal():
    x, weight = np.polynomial.legendre.leggauss(60)
    shape, slope = clamped_free(8, 3.0, 1.5 * (x + 1.0))
    np.testing.assert_allclose((1.5 * weight * shape.T) @ shape, 3.0 * np.eye(8), atol=1e-11)
    end, turn = clamped_free(8, 3.0, np.array([0.0]))
    np.testing.assert_allclose([end, turn], 0.0, atol=1e-13)
    # the slope is the derivative
    high, low = (clamped_free(8, 3.0, 1.5 * (x + 1.0) + s)[0] for s in (1e-6, -1e-6))
    np.testing.assert_allclose((high - low) / 2e-6, slope, atol=1e-6)


@pytest.mark.parametrize('mass', [0.1, 1.0, 10.0])
def test_a_cantilever_with_a_mass_at_its_end_has_the_frequency_of_its_equation(mass):
    # 1 + cos b cosh b = b M/(ρ A L) (sin b cosh b − cos b sinh b)
    ratio = mass / (DENSITY * LENGTH)
    root = brentq(lambda b: 1 + np.cos(b) * np.cosh(b) - b * ratio * (
        np.sin(b) * np.cosh(b) - np.cos(b) * np.sinh(b)), 0.2, 1.8751)
    for modes in (1, 3):
        arm = FlexibleTree(loaded(mass, 1e-9), [beam(modes=modes, tip=TIP)])
        found = arm.frequencies(np.zeros(1 + modes))[0] / UNIT
        # from above (Rayleigh and Ritz)
        assert found == pytest.approx(root**2, rel=2e-6) and found > (1.0 - 1e-8) * root**2


def elements(mass, turn, hub_inertia, count=40):
    """Return the frequencies of a loaded beam, its hub held (inf) or free, by finite elements."""
    h = LENGTH / count
    stiffness, inertia = np.zeros((2, 2 * count + 2, 2 * count + 2))
    bent = np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2],
                     [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]]) / h**3
    moved = np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2],
                      [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]])
    for k in range(0, 2 * count, 2):
        stiffness[k:k + 4, k:k + 4] += STIFFNESS * bent
        inertia[k:k + 4, k:k + 4] += DENSITY * h / 420 * moved
    inertia[-2, -2] += mass
    inertia[-1, -1] += turn
    first = 2
    if np.isfinite(hub_inertia):
        inertia[1, 1] += hub_inertia
        first = 1
    squared = eigh(stiffness[first:, first:], inertia[first:, first:], eigvals_only=True)
    return np.sqrt(squared[2 - first:])


@pytest.mark.parametrize('seed', range(6))
def test_frequencies_of_a_loaded_beam_are_those_of_finite_elements(seed):
    # modes of a free end are off by up to 40 %
    rng = np.random.default_rng(seed)
    mass = DENSITY * LENGTH * 10.0**rng.uniform(-2.0, 1.0)
    turn = mass * (0.3 * LENGTH * rng.random())**2
    arm = FlexibleTree(loaded(mass, turn), [beam(tip=TIP)])
    np.testing.assert_allclose(arm.frequencies(np.zeros(4)), elements(mass, turn, np.inf)[:3],
                               rtol=1e-4)
    # the hub turns: its own modes are other combinations of the same three
    found = arm.terms(np.zeros(4), np.zeros(4)).mass
    held = arm.terms(np.zeros(4), np.zeros(4)).force
    stiffness = np.array([arm.terms(eta, np.zeros(4)).force - held for eta in 1e-6 * np.eye(4)])
    free = np.sqrt(np.abs(eigh(1e6 * stiffness, found, eigvals_only=True)))[1:]
    np.testing.assert_allclose(free, elements(mass, turn, 0.2)[:3], rtol=2e-3)


@pytest.mark.parametrize(('rate', 'expected'), [(1, 3.6816), (2, 4.1373), (4, 5.5850),
                                                (6, 7.3604)])
def test_a_rotating_beam_stiffens_as_in_the_tables(rate, expected):
    # out of the plane of rotation (flapping), Wright and others 1982; within it ω² − Ω²
    spin = np.zeros(9)
    spin[0] = rate * UNIT
    for axis, value in (((0, 1, 0), expected), ((0, 0, 1), np.sqrt(expected**2 - rate**2))):
        arm = FlexibleTree(hub(axis), [beam(modes=8)])
        assert arm.frequencies(np.zeros(9), spin)[0] / UNIT == pytest.approx(value, rel=2e-4)


def test_without_shortening_rotation_softens_in_the_plane():
    spin = np.array([2.0 * UNIT, 0, 0, 0])
    arm = FlexibleTree(hub(), [beam(shortening=False)])
    assert arm.frequencies(np.zeros(4), spin)[0] / UNIT == pytest.approx(
        np.sqrt(CANTILEVER[0]**2 - 4.0), rel=1e-4)


def test_energy_and_angular_momentum_are_conserved():
    arm = FlexibleTree(loaded(gravity=(0, -9.81, 0), more=1), [beam(modes=2, tip=TIP,
                                                                    stiffness=30.0)])
    z, zd = np.array([0.3, -0.4, 0.02, -0.003]), np.array([0.5, 1.0, 0.1, 0.0])
    assert arm.joints == ('hub', 'link0')
    places, rates = arm.simulate(z, zd, np.linspace(0.0, 1.0, 5))
    energies = [arm.energy(*state) for state in zip(places, rates, strict=True)]
    # of the largest exchange between kinds, about 10 J
    assert np.ptp(energies) < 1e-8
    # without gravity the momentum about the hub's axis, which is the first row of M
    free = FlexibleTree(loaded(), [beam(modes=2, tip=TIP)])
    places, rates = free.simulate(z[[0, 2, 3]], zd[[0, 2, 3]], [0.0, 1.0])
    first, last = (free.terms(*state).mass[0] @ state[1]
                   for state in zip(places, rates, strict=True))
    assert last == pytest.approx(first, abs=1e-8)


def test_a_stiff_beam_is_a_rigid_link():
    stiff = FlexibleTree(loaded(gravity=(0, -9.81, 0), more=1),
                         [beam(modes=2, tip=TIP, stiffness=1e9)])
    rod = Body('rod', DENSITY * LENGTH, (LENGTH / 2, 0, 0),
               DENSITY * LENGTH**3 / 12 * np.diag([0, 1, 1]))
    whole = Tree.from_connection(
        [-1, 0, 1, 0], [Joint('hub'), Joint('end', translation=(LENGTH, 0, 0)),
                        Joint('link0', translation=(0.3, 0, 0)), Joint('rod')],
        [Body('hub', 1.0, inertia=0.2 * np.eye(3)), Body('load', 0.7, inertia=0.05 * np.eye(3)),
         Body('rod0', 0.5, (0.2, 0, 0), 0.02 * np.eye(3)), rod], (0, -9.81, 0))
    # load and rod are fixed: their rows are added to the hub's
    q, qd = np.array([0.4, -0.7]), np.array([1.0, -2.0])
    t = np.array([[1.0, 0], [0, 0], [0, 1.0], [0, 0]])
    a, c = t.T @ crba(whole, t @ q) @ t, t.T @ bias(whole, t @ q, t @ qd)
    found = stiff.terms([*q, 0, 0], [*qd, 0, 0])
    np.testing.assert_allclose(found.mass[:2, :2], a, rtol=1e-12)
    np.testing.assert_allclose(found.force[:2], c, rtol=1e-12)
    # the modes, pressed into their equilibrium, leave the motion of the rigid tree
    tau = np.array([3.0, 1.0])
    rigid = np.linalg.solve(a, tau - c)
    press = -(found.force[2:] + found.mass[2:, :2] @ rigid)
    bent = [stiff.terms([*q, *eta], [*qd, 0, 0]).force[2:] for eta in 1e-9 * np.eye(2)]
    eta = np.linalg.solve((np.array(bent) - found.force[2:]).T / 1e-9, press)
    np.testing.assert_allclose(stiff.accelerations([*q, *eta], [*qd, 0, 0], tau)[:2], rigid,
                               rtol=1e-3)


def segments(count, load, turn):
    """Return a MuJoCo model of the hub, the beam as rigid pieces between springs, and a load."""
    h = LENGTH / count
    text, close = '', ''
    for k in range(count + 1):
        size = h / 2 if k in (0, count) else h
        at = 0.0 if k == 0 else (h / 2 if k == 1 else h)
        mass = DENSITY * size
        joint = '' if k == 0 else (f'<joint axis="0 0 1" stiffness="{STIFFNESS / h}"/>')
        place = f'<body pos="{at} 0 0">' if k else ''
        # the first piece is a part of the hub: a geometry of its own inertia
        if k == 0:
            text += (f'<body><joint axis="0 0 1"/><inertial pos="0 0 0" mass="1" '
                     f'diaginertia="0.2 0.2 0.2"/><body><inertial pos="{size / 2} 0 0" '
                     f'mass="{mass}" diaginertia="1e-9 {mass * size**2 / 12} '
                     f'{mass * size**2 / 12}"/>')
            close += '</body></body>'
        else:
            text += (f'{place}{joint}<inertial pos="{size / 2} 0 0" mass="{mass}" '
                     f'diaginertia="1e-9 {mass * size**2 / 12} {mass * size**2 / 12}"/>')
            close += '</body>'
            if k == count:
                text += f'<site name="tip" pos="{size} 0 0"/>'
                if load:
                    text += (f'<body pos="{size} 0 0"><inertial pos="0 0 0" mass="{load}" '
                             f'diaginertia="{turn} {turn} {turn}"/></body>')
    return (f'<mujoco><option timestep="5e-4" integrator="RK4" gravity="0 0 0"/><worldbody>'
            f'{text}{close}</worldbody></mujoco>')


@pytest.mark.parametrize('load', [0.0, 0.7])
def test_a_slewing_arm_moves_as_finite_segments_in_mujoco(load):
    mujoco = pytest.importorskip('mujoco')
    model = mujoco.MjModel.from_xml_string(segments(24, load, 0.05))
    data = mujoco.MjData(model)
    steps, pulse = 3000, 0.5
    tips, angles = [], []
    for k in range(steps):
        data.qfrc_applied[0] = TORQUE if k * 5e-4 < pulse else 0.0
        mujoco.mj_step(model, data)
        if (k + 1) % 300 == 0:
            # sites are those of the beginning of the step
            mujoco.mj_kinematics(model, data)
            tips.append(data.site('tip').xpos[:2].copy())
            angles.append(data.qpos[0])
    arm = (FlexibleTree(loaded(load, 0.05), [beam(tip=TIP)]) if load
           else FlexibleTree(hub(), [beam()]))
    half, _ = (arm.simulate(np.zeros(arm.size), np.zeros(arm.size), [0.0, 0.15, 0.3, 0.45, pulse],
                            lambda *_: [TORQUE], 1e-8))
    # the pulse ends between two steps of the integrator
    last = arm.simulate(np.zeros(arm.size), np.zeros(arm.size), [0.0, pulse],
                        lambda *_: [TORQUE], 1e-8)
    rest, _ = arm.simulate(last[0][-1], last[1][-1], [pulse, *np.arange(4, 11) * 0.15],
                           tolerance=1e-8)
    places = np.vstack([half[1:4], rest[1:]])
    found = [arm.line(z)[-1, :2] for z in places]
    bend = max(abs(-np.sin(z[0]) * x + np.cos(z[0]) * y)
               for z, (x, y) in zip(places, found, strict=True))
    # 1 % of the bending: segments of the second order
    np.testing.assert_allclose(found, tips, atol=0.01 * bend)
    np.testing.assert_allclose(places[:, 0], angles, atol=0.01 * max(angles))


def test_damping_takes_energy_and_errors_name_what_is_wrong():
    arm = FlexibleTree(hub(), [beam(damping=0.05)])
    z = np.array([0.0, 0.05, 0, 0])
    places, rates = arm.simulate(z, np.zeros(4), [0.0, 1.0])
    assert arm.energy(places[-1], rates[-1]) < arm.energy(z, np.zeros(4))
    with pytest.raises(FlexibleError, match='stiffness = 0'):
        FlexibleTree(hub(), [beam(stiffness=0.0)])
    with pytest.raises(FlexibleError, match='tip_joints'):
        FlexibleTree(hub(), [beam(tip=('a', 'b', 'c'))])
    with pytest.raises(FlexibleError, match='expected 4 finite numbers'):
        arm.terms([0.0], np.zeros(4))
