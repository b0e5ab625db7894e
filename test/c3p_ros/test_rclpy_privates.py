# SPDX-License-Identifier: Apache-2.0
"""No module but rclpy_parts.py uses a part of rclpy that is not public."""

import ast
import inspect
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest
from source_tree import EVERYTHING, ROOT, SOURCES, imports, module_name, name_of, nodes_of, tree_of

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from rclpy.lifecycle import LifecycleNodeMixin  # noqa: E402
from rclpy.node import Node  # noqa: E402

PARTS = 'c3p_ros/rclpy_parts.py'
# what rclpy 7, 9 and 10 have in their objects: of nodes, subscriptions and publishers
KNOWN = {'_subscriptions', '_publishers', '_services', '_timers', '_parameter_overrides',
         '_parameters', '_wake_executor', '_type_description_service', '_state_machine',
         '_service_change_state'}
# public by name, and documented as the interface of rclpy with its C extension
INNER = {'take_message', 'take_request', 'take_response', 'call_timer'}


def private(name):
    """Return whether a name is private; names of Python itself are not."""
    return name.startswith('_') and not name.endswith('__')


@cache
def private_names(*modules):
    """Return the private attributes that the classes of some modules of rclpy give themselves."""
    found = set(KNOWN)
    for module in modules:
        tree = ast.parse(Path(inspect.getfile(import_module(module))).read_text())
        found |= {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
                  and getattr(node.value, 'id', '') in ('self', 'cls') and private(node.attr)}
        found |= {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)
                  and private(node.name)}
    return found


OF_NODES = private_names('rclpy.node', 'rclpy.lifecycle.node')
OF_ALL = private_names('rclpy.node', 'rclpy.lifecycle.node', 'rclpy.subscription',
                       'rclpy.publisher', 'rclpy.executors', 'rclpy.client', 'rclpy.service',
                       'rclpy.timer', 'rclpy.context', 'rclpy.clock')


def literals(tree):
    """Yield (name, line) of names in ``getattr(x, '_name')`` and the like, and keys of vars()."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = getattr(node.func, 'id', getattr(node.func, 'attr', ''))
            if called in ('getattr', 'setattr', 'hasattr', 'delattr', 'pop', 'attrgetter'):
                yield from ((part.value, node.lineno) for part in node.args
                            if isinstance(part, ast.Constant) and isinstance(part.value, str))


def of_others(tree):
    """Yield (name, line) of private attributes of objects other than ``self``."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and getattr(node.value, 'id', '') not in ('self',
                                                                                     'cls'):
            if private(node.attr) or node.attr in INNER:
                yield node.attr, node.lineno
    yield from literals(tree)


def uses_rclpy(path):
    """Return whether a file imports rclpy, or nodes of the suite."""
    return any(module.split('.')[0] == 'rclpy' or module.startswith('c3p_ros.')
               for module in imports(path))


def node_classes(path):
    """Yield the trees of the classes of a file that are nodes of rclpy."""
    module = import_module(module_name(path))
    for node in nodes_of(path):
        if isinstance(node, ast.ClassDef):
            kind = getattr(module, node.name, None)
            if inspect.isclass(kind) and issubclass(kind, Node | LifecycleNodeMixin):
                yield kind, node


def test_no_module_touches_a_private_attribute_of_an_object_of_rclpy():
    used = [path for path in EVERYTHING if uses_rclpy(path) and 'test' not in path.relative_to(
        ROOT).parts]
    assert len(used) > 60
    found = [f'{name_of(path)}:{line}: {name}' for path in used if name_of(path) != PARTS
             for name, line in of_others(tree_of(path)) if name in OF_ALL | INNER]
    assert not found, '\n'.join(found)


def test_no_node_reads_or_replaces_a_private_attribute_of_its_base():
    """Its own attribute of the same name would replace rclpy's."""
    nodes = [(path, *found) for path in SOURCES if uses_rclpy(path)
             for found in node_classes(path)]
    assert len(nodes) > 15
    found = [f'{name_of(path)}:{part.lineno}: {kind.__name__}.{part.attr}'
             for path, kind, tree in nodes for part in ast.walk(tree)
             if isinstance(part, ast.Attribute) and getattr(part.value, 'id', '') == 'self'
             and part.attr in OF_NODES]
    found += [f'{name_of(path)}:{part.lineno}: {kind.__name__}.{part.name}'
              for path, kind, tree in nodes for part in tree.body
              if isinstance(part, ast.FunctionDef) and part.name in OF_NODES]
    assert not found, '\n'.join(found)


def test_the_parts_are_in_one_file_and_it_uses_each_of_them():
    text = (ROOT / PARTS).read_text()
    for name in ('_subscriptions', '_parameter_overrides', '_state_machine',
                 '_service_change_state', '_type_description_service', 'take_message'):
        assert name in text
    # the C extension is imported there alone
    importers = [name_of(path) for path in SOURCES
                 if any(module.startswith('rclpy.impl') for module in imports(path))]
    assert importers == [PARTS]


@pytest.mark.parametrize('source', [
    'node._subscriptions.remove(s)', 'node._wake_executor()', "getattr(node, '_parameters')",
    "vars(node).pop('_type_description_service')", 'subscription.handle.take_message(kind, True)',
    'self.node._publishers', "setattr(self._node, '_state_machine', None)"])
def test_a_use_would_be_found(source):
    assert [name for name, _ in of_others(ast.parse(source)) if name in OF_ALL | INNER]
