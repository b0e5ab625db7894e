# SPDX-License-Identifier: Apache-2.0
"""What the suite imports from rclpy exists in every supported distribution."""

import ast
import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

import pytest
from source_tree import EVERYTHING, SOURCES, module_name, name_of, nodes_of

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_ros.distribution import DISTRIBUTIONS, SUPPORTED, distribution_of  # noqa: E402

# modules and names that rclpy 7.1.6 (Jazzy), 9.1.2 (Kilted) and 10.0.10 (Lyrical) have in common,
# of those in use
COMMON = {
    'rclpy': {'Context', 'create_node', 'duration', 'executors', 'init', 'ok', 'shutdown',
              'try_shutdown'},
    'rclpy.action': {'ActionClient', 'ActionServer', 'CancelResponse', 'GoalResponse',
                     'get_action_client_names_and_types_by_node',
                     'get_action_server_names_and_types_by_node'},
    'rclpy.clock': {'Clock', 'ClockType'},
    'rclpy.duration': {'Duration', 'Infinite'},
    'rclpy.event_handler': {'SubscriptionEventCallbacks'},
    'rclpy.exceptions': {'InvalidParameterTypeException'},
    'rclpy.executors': {'Executor', 'ExternalShutdownException', 'SingleThreadedExecutor'},
    'rclpy.experimental': {'EventsExecutor'},
    'rclpy.impl.implementation_singleton': {'rclpy_implementation'},
    'rclpy.lifecycle': {'LifecycleNodeMixin', 'LifecycleState', 'TransitionCallbackReturn'},
    'rclpy.logging': {'LoggingSeverity', 'get_logger', 'set_logger_level'},
    'rclpy.node': {'Node'},
    'rclpy.parameter': {'Parameter'},
    'rclpy.publisher': {'Publisher'},
    'rclpy.qos': {'DurabilityPolicy', 'LivelinessPolicy', 'QoSCompatibility', 'QoSProfile',
                  'ReliabilityPolicy', 'qos_check_compatible', 'qos_profile_sensor_data'},
    'rclpy.serialization': {'deserialize_message', 'serialize_message'},
    'rclpy.signals': {'SignalHandlerOptions'},
    'rclpy.subscription': {'Subscription'},
    'rclpy.task': {'Future'},
    'rclpy.time': {'Time'},
    'rclpy.utilities': {'get_rmw_implementation_identifier', 'remove_ros_args'},
}
# of rclpy 7 and 9, not of 10
MOVED = ('rclpy.topic_endpoint_info', 'rclpy.qos_event', 'rclpy.destroyable')

# imports every module named by the arguments where rclpy lacks some of its own
IMPORTER = """
import sys
from importlib import import_module
import rclpy.executors, rclpy.lifecycle, rclpy.node
moved, *modules = sys.argv[1:]
for name in moved.split():
    sys.modules[name] = None
for name in modules:
    import_module(name)
"""


def of_rclpy(path):
    """Yield (module, name, line) of what a file imports from rclpy, or reads from it."""
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and f'{node.module}'.split('.')[0] == 'rclpy':
            yield from ((node.module, alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.Attribute) and getattr(node.value, 'id', '') == 'rclpy':
            yield 'rclpy', node.attr, node.lineno


def test_only_what_all_supported_distributions_have_in_common_is_imported():
    found = [(name_of(path), line, module, name) for path in EVERYTHING
             for module, name, line in of_rclpy(path)]
    assert len(found) > 200
    assert not [place for place in found if place[3] not in COMMON.get(place[2], ())]
    # nothing is listed that is not in use
    assert {(module, name) for _, _, module, name in found} == {
        (module, name) for module, names in COMMON.items() for name in names}


@pytest.mark.parametrize('module', COMMON)
def test_the_installed_rclpy_has_these_names(module):
    loaded = import_module(module)
    assert not [name for name in COMMON[module]
                if not hasattr(loaded, name) and find_spec(f'{module}.{name}') is None]


def test_every_module_that_uses_rclpy_is_imported_without_what_other_versions_moved():
    modules = [module_name(path) for path in SOURCES
               if any(True for _ in of_rclpy(path)) or path.name.endswith('_node.py')]
    assert len(modules) > 30
    done = subprocess.run([sys.executable, '-c', IMPORTER, ' '.join(MOVED), *modules],
                          capture_output=True, text=True, timeout=300.0, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def test_the_distributions_are_known_by_the_version_of_rclpy():
    assert set(SUPPORTED) < set(DISTRIBUTIONS.values())
    assert distribution_of('10.0.10', {'ROS_DISTRO': 'jazzy'}) == 'lyrical'
    assert distribution_of('7.1.6', {}) == 'jazzy' and distribution_of('9.1.2', {}) == 'kilted'
