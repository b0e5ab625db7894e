# SPDX-License-Identifier: Apache-2.0
"""Layouts show fields that messages have, under the names that each program gives them."""

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import yaml

pytest.importorskip('rosbags', reason='pip install rosbags')

from rosbags.interfaces import Nodetype  # noqa: E402

from c3p_bags.storage.bag_writer import message_types  # noqa: E402
from c3p_description import load  # noqa: E402
from c3p_description.model import CasterRobot  # noqa: E402
from c3p_kinematics.singularity import singularity_metrics  # noqa: E402
from c3p_viewers.foxglove.layouts import (  # noqa: E402
    SIGMA_MIN,
    foxglove_layout,
    plotjuggler_layout,
    plots,
)
from c3p_viewers.foxglove.scene_channel import NUMBERS, SCENE, SCHEMA, numbers  # noqa: E402

ROOT = Path(__file__).resolve().parents[3]
# absolute names, as the layouts and a robot without namespace have them
RECORDED = {f'/{topic.lstrip("/")}': kind for topic, kind in yaml.safe_load(
    (ROOT / 'config/record_topics.yaml').read_text())['topics'].items()}


@pytest.fixture(scope='module')
def foxglove():
    return json.loads((ROOT / 'config/foxglove/c3p.json').read_text())


@pytest.fixture(scope='module')
def curves():
    root = ElementTree.parse(ROOT / 'config/plotjuggler/c3p.xml').getroot()
    return [curve.get('name') for curve in root.iter('curve')]


def field(kind, names):
    """Return rosbags' description of a field of a message type, or fail."""
    types, node = message_types(), (Nodetype.NAME, kind)
    for name in names:
        assert node[0] == Nodetype.NAME, f'{kind}: nothing below {name} in {names}'
        fields = dict(types.fielddefs[node[1]][1])
        assert name in fields, f'{node[1]} has {sorted(fields)}, not {name}'
        node = fields[name]
    return node


def test_the_files_are_those_that_the_script_writes():
    sys.path.insert(0, str(ROOT / 'scripts'))
    try:
        from write_viewer_layouts import layouts
    finally:
        sys.path.pop(0)
    for path, text in layouts().items():
        assert path.read_text(encoding='utf-8') == text, 'python scripts/write_viewer_layouts.py'


def test_every_path_of_foxglove_is_a_number_of_a_topic(foxglove, robot):
    paths = [path['value'] for panel in foxglove['configById'].values()
             for path in panel.get('paths', [])]
    assert len(paths) == len(set(paths)) >= 16
    for path in paths:
        topic, *names = re.fullmatch(r'(/[\w/]+)\.(.+)', path).expand(r'\1.\2').split('.')
        index = re.fullmatch(r'(\w+)(?:\[(\d)\])?', names[-1])
        names[-1] = index.group(1)
        if topic == NUMBERS:
            of = SCHEMA['properties'][names[0]]
            assert of['type'] == ('array' if index.group(2) else 'number')
            continue
        node = field(RECORDED[topic], names)
        # a number, or a list of them that the path takes one from
        if index.group(2):
            assert node[0] == Nodetype.SEQUENCE and int(index.group(2)) < 2 * robot.count
            node = node[1][0]
        assert node == (Nodetype.BASE, ('float64', 0)), path


def test_every_panel_stands_in_the_layout_and_shows_a_topic(foxglove):
    def leaves(node):
        return [node] if isinstance(node, str) else leaves(node['first']) + leaves(node['second'])

    assert sorted(leaves(foxglove['layout'])) == sorted(foxglove['configById'])
    view = foxglove['configById']['3D!robot']
    known = {*RECORDED, SCENE}
    assert view['publish']['poseTopic'] in known and view['layers']['robot']['topic'] in known
    # the markers of another node, where it runs
    assert {t for t in view['topics'] if not t.startswith('/marker/')} <= known
    for name in ('DiagnosticSummary!health', 'RosOut!log'):
        assert foxglove['configById'][name]['topicToRender'] in known


def test_every_curve_of_plotjuggler_is_a_series_that_it_makes(curves, robot):
    """By the rules of its ROS parser: joints by name, diagnostics by robot, status and key."""
    assert len(curves) == len(set(curves)) >= 16
    for curve in curves:
        topic = max((t for t in RECORDED if curve.startswith(f'{t}/')), key=len)
        names, kind = curve.removeprefix(f'{topic}/').split('/'), RECORDED[topic]
        if kind == 'sensor_msgs/msg/JointState':
            joint, quantity = names
            assert joint in (*robot.steering_joints, *robot.wheel_joints)
            assert field(kind, [quantity])[0] == Nodetype.SEQUENCE
        elif kind == 'diagnostic_msgs/msg/DiagnosticArray':
            hardware, status, key = names
            assert hardware == robot.name
            assert (status, key) == ('sensed_kinematics: state', SIGMA_MIN)
        else:
            assert field(kind, names)[1][0] == 'float64', curve


def test_the_diagnostics_say_the_measure_under_that_name():
    assert SIGMA_MIN in singularity_metrics(load('c3p'), np.zeros(3))


def test_a_robot_with_four_casters_gets_four_curves():
    four = CasterRobot.regular(0.3, [0.5, 2.0, 3.6, 5.2], 0.04, 0.04, 30.0, 3.5)
    shown = plots(four)
    assert [len(plot.curves) for plot in shown] == [3, 3, 3, 4, 4, 4, 1]
    for text in (foxglove_layout(shown), plotjuggler_layout(shown)):
        assert 'wheel_joint_4' in text or '[3]' in text


def test_steering_motors_have_a_plot_by_the_places_of_their_efforts():
    angles = [0.1, 1.6, 3.2, 4.8]
    robot = CasterRobot.regular(0.3, angles, 0.04, 0.05, 20.0, 1.0,
                                steered=[False, True, True, False])
    (turning,) = (plot for plot in plots(robot) if plot.name == 'turning')
    assert [curve.label for curve in turning.curves] == ['caster 2', 'caster 3']
    for curve, joint in zip(turning.curves, robot.steering_joints[1:3], strict=True):
        place = int(re.search(r'\[(\d+)\]', curve.foxglove).group(1))
        assert robot.effort_joints[place] == joint and joint in curve.plotjuggler


@pytest.mark.parametrize('name', ['tricycle_agv', 'twin', 'amr', 'c3p'])
def test_curves_are_at_the_places_of_the_joints_in_the_messages(name):
    robot = load(name)
    names = {'joint_states': list(robot.joint_places), 'wheel_effort': list(robot.effort_places)}
    curves = [curve for plot in plots(robot) for curve in plot.curves]
    shown = []
    for curve in curves:
        found = re.fullmatch(r'/(joint_states|wheel_effort)\.\w+\[(\d+)\]', curve.foxglove)
        if found:
            topic, place = found.groups()
            shown.append(names[topic][int(place)])
            assert curve.plotjuggler.split('/')[1:3] == [topic, shown[-1]]
    assert set(shown) == set(robot.joint_places)


def test_the_numbers_are_as_their_schema_says(robot, source):
    told = numbers(robot, source.at(1.3))
    assert set(told) == set(SCHEMA['properties'])
    assert told['suspect'] == 2 and len(told['slip']) == robot.count
    assert told['slip'][1] == pytest.approx(0.06, abs=0.01) and told['sigma_min'] >= 0
    bare = numbers(robot, source.at(2.0)._replace(residual=None, torque=None, suspect=None))
    assert bare['slip'] == bare['torque'] == [0.0] * 3 and bare['suspect'] == 0
