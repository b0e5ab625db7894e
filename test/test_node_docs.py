# SPDX-License-Identifier: Apache-2.0
"""docs/nodes.md against the schemas and against the nodes as they are created."""

import importlib.util
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / 'docs/nodes.md').read_text(encoding='utf-8')

# parameters that bring out what a node offers only when asked to
OPTIONS = {'simulation': {'publish_clock': True}, 'rough_ground': {'publish_clock': True},
           'emulated_cards': {'bus.interface': 'virtual', 'bus.channel': 'documentation'}}
NODES = {
    'sensed_kinematics': 'c3p_kinematics.sensed_kinematics_node.SensedKinematicsNode',
    'position_controller': 'c3p_controller.position_controller_node.PositionControllerNode',
    'velocity_controller': 'c3p_controller.velocity_controller_node.VelocityControllerNode',
    'twist_mux': 'c3p_controller.twist_mux_node.TwistMuxNode',
    'inverse_dynamics': 'c3p_dynamics.inverse_dynamics_node.InverseDynamicsNode',
    'simulation': 'c3p_simulation.simulation_node.SimulationNode',
    'rough_ground': 'c3p_simulation.rough_ground_node.RoughGroundNode',
    'hardware_interface': 'c3p_hardware.hardware_interface_node.HardwareInterfaceNode',
    'emulated_cards': 'c3p_simulation.emulated_cards_node.EmulatedCardsNode',
}
# nodes that follow one law or another, and how the page says that a topic is that of some
LAWFUL, LAW = ('position_controller', 'velocity_controller'), 'controller: '
# what rclpy itself adds to a node
FOREIGN = ('/rosout', '/parameter_events', '/clock')


def script():
    """Return the module scripts/write_node_docs.py."""
    path = ROOT / 'scripts/write_node_docs.py'
    spec = importlib.util.spec_from_file_location('write_node_docs', path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def topic_rows(node):
    """Return {(kind, name): (type, quality of service, when)} of a table on the page."""
    found = re.search(rf'<!-- topics: {node} -->\n(.*?)<!-- end -->', PAGE, flags=re.DOTALL)
    rows = [[cell.strip() for cell in line.strip('|').split('|')]
            for line in found.group(1).splitlines()[2:]]
    return {(kind, name.strip('`')): (message, quality, when)
            for kind, name, message, quality, when, _ in rows}


def quality(profile):
    """Return a profile in the words of the page."""
    kind = (profile.reliability.name, profile.durability.name)
    name, depth = {
        ('BEST_EFFORT', 'VOLATILE'): ('sensor data', 5),
        ('RELIABLE', 'VOLATILE'): ('latest' if profile.depth == 1 else 'reliable',
                                   min(profile.depth, 10)),
        ('RELIABLE', 'TRANSIENT_LOCAL'): ('latched', 1)}[kind]
    return name if profile.depth == depth else f'{name}, {profile.depth}'


def type_name(kind):
    """Return package/msg/Name of a message or service class."""
    return '/'.join([*kind.__module__.split('.')[:2], kind.__name__])


def offers(node):
    """Return the same as topic_rows for a node that runs."""
    def relative(name):
        own = f'/{node.get_name()}/'
        return name.replace(own, '~/', 1) if name.startswith(own) else name

    found = {}
    for kind, ends in (('publishes', node.publishers), ('subscribes', node.subscriptions)):
        for end in ends:
            found[kind, relative(end.topic_name)] = (type_name(end.msg_type),
                                                     quality(end.qos_profile))
    for service in node.services:
        name = service.srv_name
        if name.startswith('~/') or name.startswith(f'/{node.get_name()}/'):
            found['service', relative(name)] = (type_name(service.srv_type), '')
    ours = {(kind, name): value for (kind, name), value in found.items()
            if not value[0].startswith(('rcl_interfaces/', 'type_description_interfaces/'))}
    if ('publishes', '/clock') not in ours:
        ours.pop(('subscribes', '/clock'), None)
    return ours


def test_parameter_tables_are_those_of_the_schemas():
    assert script().rewritten(PAGE) == PAGE, 'run: python scripts/write_node_docs.py'


def test_a_schema_without_a_table_is_named():
    with pytest.raises(ValueError, match='no table for .*inverse_dynamics'):
        script().rewritten(PAGE.replace('<!-- parameters: inverse_dynamics -->', ''))


def test_a_table_without_a_schema_is_named():
    with pytest.raises(ValueError, match='a table for nobody'):
        script().rewritten(PAGE + '<!-- parameters: nobody -->\n<!-- end -->\n')


def test_schemas_read_without_ros_are_those_of_the_nodes():
    parameters = pytest.importorskip('c3p_ros.parameters', reason='needs rclpy')
    for path in ROOT.glob('c3p_*/*_parameters.yaml'):
        (node,) = [n for n in script().schemas() if path.name == f'{n}_parameters.yaml']
        assert parameters.read_schema(path) == script().schemas()[node]


@pytest.mark.parametrize('name, options', [
    *((name, OPTIONS.get(name, {})) for name in NODES),
    *((name, {'controller': 'paper'}) for name in LAWFUL)], ids=str)
# a node compiles its kernels before it starts: for rough_ground a minute of work, once
@pytest.mark.timeout(400)
def test_topics_and_services_are_those_of_the_node(name, options, bench):
    module, factory = NODES[name].rsplit('.', 1)
    node = bench.add(getattr(importlib.import_module(module), factory), **options)
    written = topic_rows('common') | topic_rows(name)
    offered = {(kind, topic if topic in FOREIGN or topic.startswith(('~', '/diag', '/tf'))
                else topic.lstrip('/')): value for (kind, topic), value in offers(node).items()}
    for place, value in offered.items():
        assert place in written, f'{name}: {place} {value} is not in docs/nodes.md'
        assert written[place][:2] == value, f'{name}: {place}'
    # what needs another package may be missing here, and what another law needs must be
    law = node.parameters.value.controller if name in LAWFUL else ''
    for place, (_, _, when) in written.items():
        if when.startswith(LAW):
            assert (law in when.removeprefix(LAW).split(', ')) == (place in offered), place
    always = {place for place, (_, _, when) in written.items()
              if 'installed' not in when and not when.startswith(LAW)}
    assert always <= set(offered), f'docs/nodes.md says more than {name} has'


def test_links_between_pages_lead_somewhere():
    pages = [*ROOT.glob('*.md'), *ROOT.glob('docs/**/*.md')]
    for page in pages:
        for target in re.findall(r'\]\(([^)#:]+)(?:#[^)]*)?\)', page.read_text(encoding='utf-8')):
            # pictures are made by the quick start
            if not target.endswith(('.png', '.svg')):
                assert (page.parent / target).exists(), f'{page.name} links to {target}'
