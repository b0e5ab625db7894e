# SPDX-License-Identifier: Apache-2.0
"""
The plan of the house, readable from a path: the order of the packages and what is pure.

A package imports itself and packages before it in `ORDER`, so no two import each other and there
is no circle. Below `PURE` no file imports ROS or touches files, clocks or logs, except nodes
(``*_node.py``) and the folders in `OUTWARD`, which adapt the rest to the world.
"""

import ast
from collections import Counter, defaultdict

from source_tree import EVERYTHING, ROOT, SOURCES, imports, module_file, name_of, nodes_of, tree_of

ORDER = ('c3p_kernels', 'c3p_description', 'c3p_ros', 'c3p_plots', 'c3p_kinematics',
         'c3p_dynamics', 'c3p_multibody', 'c3p_controller', 'c3p_hardware', 'c3p_simulation',
         'c3p_bags', 'c3p_rough_ground', 'c3p_viewers', 'c3p_experiments', 'c3p', 'c3p_bringup')
PURE = ('c3p_kernels/', 'c3p_description/', 'c3p_kinematics/', 'c3p_dynamics/', 'c3p_multibody/',
        'c3p_controller/', 'c3p_hardware/', 'c3p_simulation/plants/', 'c3p_rough_ground/')
OUTWARD = {'reading', 'ros', 'transport', 'tools', 'emulator', 'node', 'worlds'}

# what pure files may use besides themselves
LIBRARIES = {'numpy', 'scipy', 'numba'}
STANDARD = {'__future__', 'abc', 'bisect', 'collections', 'copyreg', 'dataclasses', 'difflib',
            'enum', 'functools', 'inspect', 'itertools', 'math', 'operator', 'types', 'typing',
            'warnings', 'struct', 'cmath', 'heapq', 'numbers', 'fractions', 'statistics', 'string',
            'textwrap', 'zlib'}
# calls that read or write something
TOUCHING = {'open', 'print', 'input', 'exec', 'eval', 'loadtxt', 'savetxt', 'genfromtxt',
            'fromfile', 'tofile', 'memmap', 'savez', 'read_text', 'write_text'}

MOST_LINES = 400
MOST_NODE_LINES = 220
# one long formula is one file
MOST_KERNEL_LINES = 600
# of the assignments of a package, those of several values at once
MOST_PARALLEL = 0.06
# of all lines of the packages
LARGEST_SHARE = 0.17
MOST_ARGUMENTS = 8


def package(path):
    """Return the package of a file."""
    return path.relative_to(ROOT).parts[0]


def pure(path):
    """Return whether the path of a file says that it is pure; generated settings are, anywhere."""
    if path.name.endswith('_parameters.py') and path.with_suffix('.yaml').is_file():
        return True
    return (name_of(path).startswith(PURE) and not path.name.endswith('_node.py')
            and not OUTWARD & set(path.relative_to(ROOT).parts))


def own_imports(path):
    """Yield (module, file) of what a file imports from the suite."""
    for module in sorted(imports(path)):
        file = module_file(module) if module.startswith('c3p_') else None
        if file:
            yield module, file


PURE_FILES = [p for p in SOURCES if pure(p)]
# a package's front door offers what its own outward folders hold, lazily
WITHIN = [p for p in PURE_FILES if p.name != '__init__.py']


def test_every_package_stands_in_the_order_and_every_pure_folder_exists():
    assert {package(p) for p in SOURCES} == set(ORDER)
    assert [name for name in PURE if not (ROOT / name).is_dir()] == []
    assert len(PURE_FILES) > 150


def test_a_package_imports_only_packages_before_it():
    later = [f'{name_of(path)} imports {module}' for path in SOURCES
             for module, file in own_imports(path)
             if ORDER.index(package(file)) > ORDER.index(package(path))]
    assert not later, '\n'.join(later)


def test_the_arrows_between_packages_run_one_way():
    arrows = {(package(path), package(file)) for path in SOURCES
              for _, file in own_imports(path) if package(file) != package(path)}
    assert len(arrows) > 20
    assert {(a, b) for a, b in arrows if (b, a) in arrows} == set()


def test_no_files_import_each_other_in_a_circle():
    arrows = {path: {file for _, file in own_imports(path) if file.name != '__init__.py'}
              for path in SOURCES}
    # files without an arrow to a file that is left are taken away, until none is left
    while free := [path for path, to in arrows.items() if not to & arrows.keys() - {path}]:
        for path in free:
            del arrows[path]
    assert sorted(map(name_of, arrows)) == []


def test_pure_files_import_pure_files():
    outward = [f'{name_of(path)} imports {module}' for path in WITHIN
               for module, file in own_imports(path) if not pure(file)]
    assert not outward, '\n'.join(outward)


def test_pure_files_import_no_ros_no_files_no_clocks_no_logging():
    foreign = [f'{name_of(path)} imports {module}' for path in PURE_FILES
               for module in imports(path) if not module.startswith('c3p_')
               and module.split('.')[0] not in LIBRARIES | STANDARD]
    assert not foreign, '\n'.join(foreign)


def called(path):
    """Return the names of all functions and methods that a file calls."""
    calls = [node.func for node in nodes_of(path) if isinstance(node, ast.Call)]
    return {f.id if isinstance(f, ast.Name) else getattr(f, 'attr', '') for f in calls}


def test_pure_files_touch_nothing_outside():
    touching = [f'{name_of(path)} calls {name}' for path in PURE_FILES
                for name in called(path) & TOUCHING]
    assert not touching, '\n'.join(touching)


def test_a_file_is_one_idea():
    nodes = {path for path in SOURCES if path.name.endswith('_node.py')}
    sizes = {path: len(path.read_text(encoding='utf-8').splitlines()) for path in EVERYTHING}
    large = [f'{name_of(path)} has {lines} lines' for path, lines in sizes.items()
             if lines > (MOST_NODE_LINES if path in nodes else
                         MOST_KERNEL_LINES if path.name.startswith('_') else MOST_LINES)]
    assert not large, '\n'.join(large)


def test_each_class_has_a_name_of_its_own():
    places = defaultdict(list)
    for path in SOURCES:
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef):
                places[node.name].append(f'{name_of(path)}:{node.lineno}')
    assert len(places) >= 500
    shared = [f'{name}: {", ".join(found)}' for name, found in sorted(places.items())
              if len(found) > 1]
    assert not shared, '\n'.join(shared)


def test_a_line_assigns_one_value():
    """But for swaps, coordinates and enumerations; a few others are left."""
    parallel = Counter()
    every = Counter()
    for path in SOURCES:
        room = name_of(path).partition('/')[0]
        for line in nodes_of(path):
            if isinstance(line, ast.Assign):
                every[room] += 1
                parallel[room] += (isinstance(line.targets[0], ast.Tuple)
                                   and isinstance(line.value, ast.Tuple))
    assert len(every) == len(ORDER)
    share = {room: parallel[room] / count for room, count in every.items()}
    assert {room: part for room, part in share.items() if part > MOST_PARALLEL} == {}


def argument_counts(tree, module):
    """Yield (full name, count of arguments) of all functions of a file, without self and cls."""
    for node in ast.iter_child_nodes(tree):
        named = isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef))
        name = f'{module}.{node.name}' if named else module
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            yield name, len(given) - (bool(given) and given[0].arg in ('self', 'cls'))
        yield from argument_counts(node, name)


def test_functions_have_at_most_eight_arguments():
    counts = [found for path in SOURCES for found in argument_counts(
        tree_of(path), name_of(path).removesuffix('.py').replace('/', '.'))]
    assert len(counts) >= 5000
    assert {name: count for name, count in counts if count > MOST_ARGUMENTS} == {}


def test_no_package_is_a_store_room():
    sizes = dict.fromkeys(ORDER, 0)
    for path in SOURCES:
        sizes[package(path)] += len(path.read_text(encoding='utf-8').splitlines())
    largest = max(sizes, key=sizes.get)
    assert sizes[largest] <= LARGEST_SHARE * sum(sizes.values()), f'{largest}: {sizes}'
