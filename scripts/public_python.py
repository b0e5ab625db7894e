# SPDX-License-Identifier: Apache-2.0
"""
The public names of the Python packages, with their signatures.

Read from the source (docs/_ext/public_names.py), so that every version of Python, with or without
a compiler, writes the same lines.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / 'docs' / '_ext'))

from public_names import Definition, Module, members, modules, resolved  # noqa: E402
from signatures import arguments, class_arguments, decorators, fields, is_record  # noqa: E402

# public modules and packages: of a package what its `__all__` lists, of a module what it defines
# without an underscore. docs/versions.md describes them; everything else is internal
PUBLIC = (
    'c3p',
    'c3p_description',
    'c3p_description.model',
    'c3p_description.agv_model',
    'c3p_description.pvc_model',
    'c3p_description.vehicle_model',
    'c3p_kinematics.casters',
    'c3p_kinematics.fault_report',
    'c3p_kinematics.faults',
    'c3p_kinematics.odometry',
    'c3p_kinematics.se2',
    'c3p_kinematics.singularity',
    'c3p_kinematics.slip',
    'c3p_dynamics.caster_dynamics',
    'c3p_dynamics.friction',
    'c3p_dynamics.identification.excitation',
    'c3p_dynamics.identification.recording',
    'c3p_dynamics.identification.result',
    'c3p_dynamics.traction',
    'c3p_multibody.agv.circle',
    'c3p_multibody.agv.dynamics',
    'c3p_multibody.agv.kinematics',
    'c3p_multibody.comparison',
    'c3p_multibody.constraints',
    'c3p_multibody.flexible',
    'c3p_multibody.orthogonal_complement',
    'c3p_multibody.trees',
    'c3p_multibody.trees.reading',
    'c3p_controller',
    'c3p_controller.control_law',
    'c3p_controller.goals.path_controller',
    'c3p_controller.goals.position_command',
    'c3p_controller.law_settings',
    'c3p_controller.torque_law',
    'c3p_simulation.contact_plant.mujoco_plant',
    'c3p_simulation.make_plant',
    'c3p_simulation.plants.floor',
    'c3p_simulation.plants.parameter_errors',
    'c3p_simulation.plants.plant',
    'c3p_simulation.plants.encoder_errors',
    'c3p_simulation.plants.sensor_profiles',
    'c3p_simulation.plants.sensors',
    'c3p_simulation.plants.timing',
    'c3p_simulation.sensor_files',
    'c3p_bags.runs.log_reader',
    'c3p_bags.runs.metrics',
    'c3p_bags.runs.run_log',
    'c3p_bags.storage.bag',
    'c3p_bags.storage.recorded_robot',
    'c3p_rough_ground.closed_chain',
    'c3p_rough_ground.dynamics',
    'c3p_rough_ground.rolling_contact',
    'c3p_rough_ground.terrain',
    'c3p_rough_ground.vehicles',
    'c3p_viewers.scene.caster_scene',
    'c3p_viewers.scene.settings',
    'c3p_experiments.identification.excite',
    'c3p_experiments.identification.identify',
    'c3p_experiments.loop.closed_loop',
    'c3p_experiments.loop.command_sources',
    'c3p_experiments.loop.controllers',
    'c3p_experiments.loop.outcome',
    'c3p_experiments.saha_angeles.experiment',
)


def listed(module: Module) -> list[str]:
    """Return the names in the `__all__` of a module, empty without one."""
    for line in module.tree.body:
        if isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == '__all__':
            return list(ast.literal_eval(line.value))
    return []


def constants(tree: ast.Module) -> Iterator[str]:
    """Yield the public names that a module assigns: constants and aliases of types."""
    for line in tree.body:
        targets = line.targets if isinstance(line, ast.Assign) else (
            [line.target] if isinstance(line, ast.AnnAssign) else [])
        for target in targets:
            yield from (name.id for name in ast.walk(target)
                        if isinstance(name, ast.Name) and not name.id.startswith('_'))


def defined_in(module: Module) -> dict[str, Definition]:
    """Return the public classes and functions of a module; of an overloaded one the last."""
    return {node.name: node for node in members(module.tree)}


def function(name: str, node: ast.FunctionDef, is_method: bool) -> str:
    """Return the line of a function, method or property."""
    returns = f' -> {ast.unparse(node.returns)}' if node.returns else ''
    if decorators(node) & {'property', 'cached_property'}:
        return name + returns.replace(' -> ', ': ')
    return f'{name}({arguments(node, is_method)}){returns}'


def attributes(node: ast.ClassDef) -> Iterator[str]:
    """Yield the public attributes that `__init__` or `__post_init__` sets."""
    for made in node.body:
        if isinstance(made, ast.FunctionDef) and made.name in ('__init__', '__post_init__'):
            for inner in ast.walk(made):
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    whole, _, last = ast.unparse(inner).partition('.')
                    if whole == 'self' and last.isidentifier() and not last.startswith('_'):
                        yield last


def ancestors(module: Module, node: ast.ClassDef) -> Iterator[tuple[Module, ast.ClassDef]]:
    """Yield a class and, after it, those of the suite that it derives from."""
    yield module, node
    for base in node.bases:
        place, _, name = (resolved(module.name, ast.unparse(base)) or '').rpartition('.')
        found = defined_in(modules()[place]).get(name) if place in modules() else None
        if isinstance(found, ast.ClassDef):
            yield from ancestors(modules()[place], found)


def constructor(lineage: list[ast.ClassDef]) -> str:
    """Return the arguments of a class: its own or, without them, those of its first base."""
    for node in lineage:
        if is_record(node):
            # names in their order, those of the bases first; each field has a line of its own
            names = {name: '' for base in reversed(lineage) if is_record(base)
                     for name in fields(base)}
            return f'({", ".join(names)})'
        made_from = class_arguments(node)
        if made_from is not None:
            return f'({made_from})'
    return ''


def class_lines(name: str, module: Module, node: ast.ClassDef) -> Iterator[str]:
    """Yield the lines of a class and of its members, inherited ones too."""
    lineage = [ancestor for _, ancestor in ancestors(module, node)]
    bases = ', '.join(ast.unparse(base) for base in node.bases)
    yield name + constructor(lineage) + (f': {bases}' if bases else '')
    own: dict[str, str] = {}
    for ancestor in lineage:
        if is_record(ancestor):
            for field, text in fields(ancestor).items():
                own.setdefault(field, f'{name}.{field}: {text}')
        for inner in members(ancestor):
            if isinstance(inner, ast.FunctionDef) and 'setter' not in decorators(inner):
                own.setdefault(inner.name, function(f'{name}.{inner.name}', inner, True))
        for attribute in attributes(ancestor):
            own.setdefault(attribute, f'{name}.{attribute}')
    yield from own.values()


def lines_of(public: str, name: str) -> Iterator[str]:
    """Yield the lines of a name that a public module defines or hands on."""
    full = f'{public}.{name}'
    place, _, last = (resolved(public, name) or full).rpartition('.')
    if place in PUBLIC and place != public:
        # handed on; its lines are those of its home
        yield f'{full} = {place}.{last}'
        return
    node = defined_in(modules()[place]).get(last) if place in modules() else None
    if isinstance(node, ast.ClassDef):
        yield from class_lines(full, modules()[place], node)
    elif node is not None:
        yield function(full, node, False)
    else:
        # a constant, or an alias of a type
        yield full


def public_lines() -> list[str]:
    """Return the sorted lines of all public names."""
    found: set[str] = set()
    for public in PUBLIC:
        module = modules()[public]
        names = set(listed(module))
        if not module.is_package:
            names |= {*defined_in(module), *constants(module.tree)} - {'__all__'}
        elif not names:
            raise ValueError(f'{public}: a public package needs __all__, the list of its names')
        for name in names:
            found.update(lines_of(public, name))
    return sorted(found)
