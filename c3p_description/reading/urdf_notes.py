# SPDX-License-Identifier: Apache-2.0
"""Notes on a URDF: what is doubtful in its numbers, and what it has no value for."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from c3p_description.model import TRACTION_MARGIN, TYRE_FRICTION, CasterRobot, Friction
from c3p_description.reading.notes import Note, Notes
from c3p_description.reading.robot_options import UrdfOptions, remedy
from c3p_description.reading.urdf_casters import Caster, rounded_up
from c3p_description.reading.urdf_pairs import Pair
from c3p_description.reading.urdf_tree import UrdfTree

# controllers of a robot with other wheels than casters
DRIVERS = (': the controllers mpc and paper do not drive the robot, modules and '
           'module_controller do')
# deviation from a right angle of 1.5708 and 3.1416, as most files have it, rad
USUAL_ROUNDING = 1e-5
# a ring has m·r²; spokes, hubs and motors have less
MOST_SPIN = 1.05


def note_assumed(tree: UrdfTree, pairs: list[Pair], base: str, losses: Friction,
                  options: UrdfOptions, notes: Notes) -> None:
    """
    Add to `notes` what a URDF has no element for, or `tree` no value.

    `pairs` are its casters, `base` the link of the model's frame unless `options` name one, and
    `losses` the friction that was found.
    """
    if options.base_link is None:
        why = 'its name ends so' if base.endswith('base_link') else 'it is the root'
        notes.assume('base_link', base, f'link {base} is the frame of the model: {why}')
    known = tree.control.parameters.get(pairs[0].wheels[0].name, {})
    for name, value, what in (
            ('tyre_friction', TYRE_FRICTION, 'µ between tyres and floor, that of a dusty hard '
             'floor'),
            ('traction_margin', TRACTION_MARGIN, 'fraction of the grip that controllers use')):
        if name not in known:
            notes.assume(f'casters.{name}', value, f'{what}: {value:g}; casters.{name} replaces '
                         'it')
    for name, what in (('pivot', 'steering joints have'), ('rolling', 'wheel joints have')):
        if not any(np.any(getattr(losses, f'{name}_{kind}')) for kind in ('viscous', 'coulomb')):
            notes.assume(f'friction.{name}_coulomb', 0.0, f'the {what} no <dynamics>: no '
                         f'friction; friction.{name}_coulomb and friction.{name}_viscous give it')
    if 'scrub_coulomb' not in known:
        notes.assume('friction.scrub_coulomb', 0.0, 'a URDF has no element for a tyre that turns '
                     'on the spot: no friction; friction.scrub_coulomb gives it')


def note_other_wheels(casters: list[Caster], columns: dict[str, Any], notes: Notes) -> None:
    """Warn of wheels that the laws of casters do not drive; `columns` are of the class."""
    fixed = columns['fixed']
    offsets = columns['caster_offset']
    lateral = columns['lateral_offset']
    of = [(caster.pair.wheels[0].name, caster.pair) for caster in casters]
    turned = [name for (name, _), still in zip(of, fixed, strict=True) if still]
    below = [name for (name, _), d, still in zip(of, offsets, fixed, strict=True)
             if d == 0.0 and not still]
    beside = {name: abs(b) for (name, pair), b in zip(of, lateral, strict=True)
              if b and not pair.shared}
    twins = [name for name, pair in of if pair.shared]
    if turned:
        notes.warn('casters.fixed', fixed, f'wheels {", ".join(turned)} do not steer'
                   f'{DRIVERS}; if they are not wheels, {remedy("ignore", turned[0])}')
    if below:
        notes.warn('casters.caster_offset', offsets,
                   f'wheels {", ".join(below)} are below their pivots (d = 0){DRIVERS}')
    if beside:
        name = max(beside, key=lambda one: beside[one])
        others = f', and {len(beside) - 1} more' if len(beside) > 1 else ''
        text = (f'joint {name}: the wheel stands {beside[name]:.6g} m beside its pivot, along the '
                f'axle{others}{DRIVERS}')
        # where that is the only reason
        if not (turned or below or twins):
            text += f'; to neglect it, {remedy("tolerance", rounded_up(beside[name]))}'
        notes.warn('casters.lateral_offset', lateral, text)
    if twins:
        notes.warn('casters.lateral_offset', lateral,
                   f'wheels {", ".join(twins)} are in pairs on one axle behind a pivot{DRIVERS}')


def note_stops(casters: list[Caster], columns: dict[str, Any], notes: Notes) -> None:
    """Note stops of modules, and warn of those of casters; `columns` are of the class."""
    kept: dict[str, tuple[float, float]] = {}
    neglected: dict[str, tuple[float, float]] = {}
    for caster, d, lower, upper in zip(casters, *(columns[name] for name in (
            'caster_offset', 'steering_lower', 'steering_upper')), strict=True):
        if lower > -math.inf or upper < math.inf:
            (neglected if d > 0.0 else kept)[caster.names[1]] = lower, upper
    for found, tell, consequence in (
            (kept, notes.assume, 'modules turn to the way that ends between them'),
            (neglected, notes.warn, 'a caster steers without end, and they are neglected')):
        if found:
            lower, upper = next(iter(found.values()))
            tell('casters.steering_lower', [low for low, _ in found.values()],
                 f'joints {", ".join(found)} have stops, the first one at steering angles of '
                 f'{lower:.4g} and {upper:.4g} rad: {consequence}')


def note_rounded(rounded: dict[str, list[str]], notes: Notes) -> None:
    """Note angles that are taken as multiples of a right angle; warn if they have few digits."""
    for angle, places in rounded.items():
        turns = round(float(angle) / (math.pi / 2))
        meant = {1: 'π/2', 2: 'π'}.get(abs(turns), f'{abs(turns)}π/2')
        off = abs(float(angle) - turns * math.pi / 2)
        some = ', '.join(places[:3]) + (f' and {len(places) - 3} more' if len(places) > 3 else '')
        tell = notes.assume if off <= USUAL_ROUNDING else notes.warn
        tell('rpy', turns * math.pi / 2, f'rpy of {some}: {angle} is taken as '
             f'{"-" if turns < 0 else ""}{meant}, from which it is {math.degrees(off):.2g}°')


def remaining(notes: Notes, settings: Mapping[str, Any]) -> tuple[Note, ...]:
    """Return the notes on fields that the user has not given."""
    def given(note: Note) -> bool:
        section, dot, key = note.field.partition('.')
        return bool(dot) and key in settings.get(section, {})
    return tuple(note for note in notes.found if not given(note))


def note_spin(casters: list[Caster], columns: dict[str, list[float]], notes: Notes) -> None:
    """Warn of wheels that have more inertia than a ring; `columns` are fields of the class."""
    found = []
    for caster, spinning, mass, radius in zip(casters, *(columns[name] for name in (
            'wheel_spin_inertia', 'wheel_mass', 'wheel_radius')), strict=True):
        ring = mass * radius**2
        if spinning > MOST_SPIN * ring:
            found.append((caster.pair.wheels[0].child, spinning, ring))
    if found:
        _, spinning, ring = found[0]
        notes.warn('wheel.spin_inertia', [spinning for _, spinning, _ in found],
                   f'links {", ".join(name for name, *_ in found)}: {spinning:.3g} kg·m² about '
                   f'the axle, and a ring of their mass and radius has {ring:.3g}: it is used as '
                   'it is; wheel.spin_inertia replaces it')


def note_stiff(robot: CasterRobot, notes: Notes) -> None:
    """Warn of casters that hardly turn: seen along the axle they weigh more than the robot."""
    if robot.other_wheels:
        return
    along_axle = np.where(robot.steered, 0.0, robot.caster_inertia[:, 1])
    worst = int(np.argmax(along_axle))
    if along_axle[worst] > robot.total_mass:
        offset = robot.caster_offset[worst]
        notes.warn('link.inertia', along_axle.tolist(), f'joint {robot.steering_joints[worst]}: '
                   f'with its inertia about the pivot and an offset of {offset:g} m the caster '
                   f'weighs {along_axle[worst]:.3g} kg along its axle (I/d²), and the robot '
                   f'{robot.total_mass:.4g} kg: without a steering motor the drive hardly turns '
                   'it; link.inertia and wheel.yaw_inertia replace the inertia')
