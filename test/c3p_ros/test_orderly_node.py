# SPDX-License-Identifier: Apache-2.0
"""The ends of nodes: one way, also for a half node and for a context that is shut down first."""

import ast
import inspect
import threading
from contextlib import ExitStack

import pytest
from source_tree import SOURCES, name_of, nodes_of, tree_of

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from rclpy.node import Node  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from synthetic import scalars  # noqa: E402

from c3p_bringup.nodes import NODES, node_class  # noqa: E402
from c3p_ros.orderly_node import OrderlyNode  # noqa: E402

BASE = 'c3p_ros/orderly_node.py'
MAKERS = ('create_publisher', 'create_subscription', 'create_service', 'create_client',
          'create_timer')
# what a node needs to start alone
VALUES = {'emulated_cards': {'bus.interface': 'virtual', 'bus.channel': 'orderly'},
          'module_controller': {'robot': 'swerve'},
          'simulation': {'publish_clock': True},
          'rough_ground': {'publish_clock': True, 'terrain': 'flat'}}


@pytest.fixture
def make(context, tmp_path):
    """Return a function that starts a node by its name."""
    def start(name):
        values = dict(VALUES.get(name, {}))
        if name == 'recorder':
            values['bag'] = str(tmp_path / f'bag{len(list(tmp_path.iterdir()))}')
        if name == 'player':
            if not (tmp_path / 'played').exists():
                scalars(tmp_path / 'played', 10)
            values |= {'bag': str(tmp_path / 'played'), 'start_paused': True, 'force': True}
        return node_class(name)(context=context, parameter_overrides=[
            Parameter(key, value=value) for key, value in values.items()])
    return start


# -- rules of the sources -------------------------------------------------------------------------

def test_no_class_but_the_base_destroys_a_node():
    found = [f'{name_of(path)}:{node.lineno}' for path in SOURCES for node in nodes_of(path)
             if isinstance(node, ast.FunctionDef) and node.name == 'destroy_node']
    assert len(found) == 1 and found[0].startswith(BASE)


def test_every_node_class_has_the_base():
    bases = [(name_of(path), node.name) for path in SOURCES for node in nodes_of(path)
             if isinstance(node, ast.ClassDef) for base in node.bases
             if getattr(base, 'id', '') in ('Node', 'LifecycleNode')]
    assert bases == [(BASE, 'OrderlyNode')]


def test_only_a_session_shuts_ros_down():
    """From Kilted on that destroys all nodes, in the thread that does it."""
    found = {name_of(path) for path in SOURCES for node in nodes_of(path)
             if isinstance(node, ast.Attribute) and node.attr in ('shutdown', 'try_shutdown')
             and getattr(node.value, 'id', '') in ('rclpy', 'context')}
    assert found == {'c3p_ros/session.py', 'c3p_bringup/doctor/ros.py'}


def functions(tree):
    """Return {name: number of parameters without self} of the functions of a file."""
    return {node.name: len([a for a in [*node.args.posonlyargs, *node.args.args,
                                        *node.args.kwonlyargs] if a.arg != 'self'])
            for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}


def callbacks(expression):
    """Return the expressions that may be the callback."""
    if isinstance(expression, ast.IfExp):
        return [*callbacks(expression.body), *callbacks(expression.orelse)]
    return [expression]


def test_no_timer_callback_of_the_sources_has_a_parameter():
    """From Kilted on the events executor hands it a TimerInfo, whatever the parameter is for."""
    looked_at = 0
    for path in SOURCES:
        for node in nodes_of(path):
            if not (isinstance(node, ast.Call) and getattr(node.func, 'attr', '')
                    == 'create_timer'):
                continue
            for callback in callbacks(node.args[1]):
                looked_at += 1
                place = f'{name_of(path)}:{callback.lineno}'
                if isinstance(callback, ast.Lambda):
                    assert not callback.args.args, place
                    continue
                name = getattr(callback, 'attr', getattr(callback, 'id', ''))
                assert functions(tree_of(path)).get(name) == 0, place
    assert looked_at >= 15


# -- running nodes --------------------------------------------------------------------------------

@pytest.mark.parametrize('name', NODES)
def test_no_timer_callback_of_a_node_has_a_parameter(name, make):
    node = make(name)
    assert not [timer.callback for timer in node.timers
                if inspect.signature(timer.callback).parameters]
    node.destroy_node()


@pytest.mark.parametrize('name', NODES)
def test_a_node_ends_once_and_after_its_context(name, make, context):
    threads = set(threading.enumerate())
    node = make(name)
    context.try_shutdown()
    node.destroy_node()
    node.destroy_node()
    assert not {thread for thread in set(threading.enumerate()) - threads if thread.is_alive()}


def test_a_node_ends_where_rclpy_drops_its_service_of_type_descriptions(context, monkeypatch):
    """A private part of rclpy, which another version may not have, or remove itself."""
    destroy = Node.destroy_node

    def destroy_all(self):
        destroy(self)
        del self._type_description_service

    monkeypatch.setattr(Node, 'destroy_node', destroy_all)
    observer = OrderlyNode('observer', context=context)
    OrderlyNode('described', context=context).destroy_node()
    assert observer.get_node_names() == ['observer']


class Broken(Exception):
    """Not one that a node expects."""


def counted(patch, at=-1):
    """Count what nodes make; raise at number `at`."""
    made = []
    for name in MAKERS:
        original = getattr(Node, name)

        def maker(self, *args, _original=original, **named):
            # rclpy's own parts come before the node is complete
            if isinstance(self, OrderlyNode) and hasattr(self, '_type_description_service'):
                made.append(args)
                if len(made) == at:
                    raise Broken
            return _original(self, *args, **named)

        patch.setattr(Node, name, maker)
    return made


@pytest.mark.parametrize('name', NODES)
def test_a_constructor_that_fails_leaves_neither_node_nor_thread(name, make, context):
    observer = OrderlyNode('observer', context=context)
    threads = set(threading.enumerate())
    with pytest.MonkeyPatch.context() as patch:
        made = counted(patch)
        make(name).destroy_node()
        total = len(made)
    assert total > 1
    for at in {1, total // 2, total}:
        with pytest.MonkeyPatch.context() as patch, ExitStack() as kept:
            counted(patch, at)
            with pytest.raises(Broken) as refused:
                make(name)
            # the error, which holds the half node, is still there
            kept.callback(lambda error=refused: error)
            assert observer.get_node_names() == ['observer'], at
            assert not observer.get_publishers_info_by_topic('/diagnostics'), at
            assert not {thread for thread in set(threading.enumerate()) - threads
                        if thread.is_alive()}, at
    observer.destroy_node()


class Parts(OrderlyNode):
    """A node with two parts, of which the later one cannot end."""

    def __init__(self, told, **options):
        super().__init__('parts', **options)
        self.at_end(lambda: told.append('first'))
        self.at_end(lambda: told.append('second'))
        self.at_end(self._refuse)

    def _refuse(self):
        raise ValueError('a part that cannot end')


def test_parts_end_last_first_and_the_node_also_if_one_of_them_cannot(context):
    observer, told = OrderlyNode('observer', context=context), []
    node = Parts(told, context=context)
    with pytest.raises(ValueError, match='cannot end'):
        node.destroy_node()
    assert told == ['second', 'first'] and observer.get_node_names() == ['observer']
    node.destroy_node()
    assert told == ['second', 'first']
    observer.destroy_node()


def test_a_parameter_of_rclpy_of_another_type_is_an_error_in_one_line(context):
    with pytest.raises(ValueError, match="clocked: .*'use_sim_time'.*-p use_sim_time:=true"):
        OrderlyNode('clocked', context=context,
                    parameter_overrides=[Parameter('use_sim_time', value=1)])
