# SPDX-License-Identifier: Apache-2.0
"""
The floors of the house: what may import what, and what the equations must not touch.

0 geometry and parameters, 1 equations of motion, 2 laws, plants and protocols, 3 adapters to
messages, frames and files, 4 apps. A file imports its own floor and those below. A file that is
not named here stands on the floor of its folder or package.
"""

import ast

import pytest
from source_tree import ROOT, SOURCES, imports, module_file, name_of, tree_of

PACKAGES = {'c3p_kinematics': 0, 'c3p_dynamics': 1, 'c3p_controller': 2, 'c3p_hardware': 2,
            'c3p_description': 3, 'c3p_ros': 3, 'c3p_simulation': 4}
FILES = {
    'c3p_description/__init__.py': 0, 'c3p_description/model.py': 0,
    'c3p_description/texts.py': 0, 'c3p_description/agv_model.py': 0,
    'c3p_description/pvc_model.py': 0,
    'c3p_simulation/__init__.py': 0, 'c3p_ros/latency.py': 2,
    **{f'c3p_hardware/emulator/{name}.py': 2 for name in (
        'absolute_encoder', 'faults', 'motor_drive', 'robot_behind')},
    **{f'c3p_simulation/plants/{name}.py': 2 for name in (
        '__init__', '_sensor_kernels', 'checks', 'parameter_errors', 'plant', 'sensors')},
    **{f'c3p_simulation/card_trials/trial_{name}.py': 2 for name in ('list', 'measures')},
    'c3p_simulation/pacing.py': 2, 'c3p_simulation/processes.py': 3,
    'c3p_simulation/rough_ground/__init__.py': 0,
    **{f'c3p_simulation/rough_ground/{name}.py': 2 for name in ('commands', 'run')},
    **{f'c3p_simulation/rough_ground/{name}.py': 3 for name in (
        'markers', 'pace', 'wire_markers')},
    **{f'c3p_simulation/scene/{name}.py': 3 for name in (
        'live', 'markers', 'readings', 'wire_path')},
}
# and whole folders; files win
FOLDERS = {'c3p_controller/ros': 3, 'c3p_hardware/emulator': 3, 'c3p_hardware/tools': 3,
           'c3p_hardware/transport': 3,
           'c3p_simulation/plants': 3, 'c3p_simulation/recording': 3,
           'c3p_simulation/scene': 2}
NODE_FLOOR = 3

# imported only when asked for: the equations need the model without what opens files
LAZY = {('c3p_description/__init__.py', 'c3p_description.loader')}

# what floors 0 to 2 may use besides themselves
LIBRARIES = {'numpy', 'scipy', 'numba'}
STANDARD = {'__future__', 'abc', 'bisect', 'collections', 'dataclasses', 'difflib', 'enum',
            'functools', 'itertools', 'math', 'operator', 'types', 'typing', 'warnings', 'struct',
            'cmath', 'heapq', 'numbers', 'fractions', 'statistics', 'string', 'textwrap'}
# calls that read or write something
TOUCHING = {'open', 'print', 'input', 'exec', 'eval', 'loadtxt', 'savetxt', 'genfromtxt',
            'fromfile', 'tofile', 'memmap', 'savez', 'read_text', 'write_text'}

MOST_LINES, MOST_NODE_LINES = 400, 250


def floor(path):
    """Return the floor on which a file stands."""
    name = name_of(path)
    if path.name.endswith('_node.py'):
        return NODE_FLOOR
    by_folder = FOLDERS.get(name_of(path.parent), PACKAGES[path.relative_to(ROOT).parts[0]])
    return FILES.get(name, by_folder)


PURE = [p for p in SOURCES if floor(p) <= 2]


def test_every_package_and_every_named_file_is_there():
    assert {p.relative_to(ROOT).parts[0] for p in SOURCES} == set(PACKAGES)
    assert [name for name in FILES if not (ROOT / name).is_file()] == []
    assert [name for name in FOLDERS if not (ROOT / name).is_dir()] == []
    assert len(PURE) > 20


@pytest.mark.parametrize('path', SOURCES, ids=name_of)
def test_nothing_is_imported_from_a_floor_above(path):
    above = {}
    for module in imports(path):
        file = module_file(module) if module.startswith('c3p_') else None
        if file and floor(file) > floor(path) and (name_of(path), module) not in LAZY:
            above[module] = floor(file)
    assert not above, f'{name_of(path)} is on floor {floor(path)} and imports {above}'


@pytest.mark.parametrize('path', PURE, ids=name_of)
def test_floors_0_to_2_import_no_ros_no_files_no_clocks_no_logging(path):
    foreign = {m for m in imports(path) if not m.startswith('c3p_')
               and m.split('.')[0] not in LIBRARIES | STANDARD}
    assert not foreign, f'{name_of(path)} imports {foreign}'


@pytest.mark.parametrize('path', PURE, ids=name_of)
def test_floors_0_to_2_touch_nothing_outside(path):
    calls = [node.func for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)]
    names = {f.id if isinstance(f, ast.Name) else getattr(f, 'attr', '') for f in calls}
    assert not names & TOUCHING, f'{name_of(path)} calls {names & TOUCHING}'


@pytest.mark.parametrize('path', SOURCES, ids=name_of)
def test_a_file_is_one_idea(path):
    lines = len(path.read_text(encoding='utf-8').splitlines())
    most = MOST_NODE_LINES if path.name.endswith('_node.py') else MOST_LINES
    assert lines <= most, f'{name_of(path)} has {lines} lines, at most {most}'
