# SPDX-License-Identifier: Apache-2.0
"""
Layouts of RViz against the nodes: topics that somebody publishes, types, quality of service.

What the nodes offer stands in docs/nodes.md, which test_node_docs.py compares with the nodes.
"""

import importlib.util
import re
import sys
from pathlib import Path

import pytest
import yaml

from c3p_description.reading.loader import robot_description
from c3p_viewers.scene.settings import layer

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

ROOT = Path(__file__).parents[2]
LAYOUTS = sorted((ROOT / 'c3p_description/rviz').glob('*.rviz'))
# which robot a layout is for, and its frames that no URDF has
ROBOTS = {'c3p': 'c3p', 'pvc': 'pvc_tricycle', 'agv': 'agv'}
FRAMES = {'odom'}

# plugins of rviz_default_plugins and the messages of their topic, as its plugins_description.xml
# has them (ros2/rviz, f7112b1); None where the layout names no topic of ours
DISPLAYS = {
    'Grid': None, 'TF': None, 'RobotModel': 'std_msgs/msg/String',
    'MarkerArray': 'visualization_msgs/msg/MarkerArray', 'Odometry': 'nav_msgs/msg/Odometry',
    'Path': 'nav_msgs/msg/Path', 'Pose': 'geometry_msgs/msg/PoseStamped'}
TOOLS = {'MoveCamera': None, 'Select': None, 'FocusCamera': None, 'Measure': None,
         'SetInitialPose': 'geometry_msgs/msg/PoseWithCovarianceStamped',
         'SetGoal': 'geometry_msgs/msg/PoseStamped'}
VIEWS = {'Orbit', 'TopDownOrtho', 'ThirdPersonFollower'}
# of other packages
FOREIGN = {'robot_description': 'std_msgs/msg/String'}


# panels that the window's saved state places, and where QMainWindow::saveState starts and counts
PLACED = {'Displays', 'Time'}
STATE = '000000ff00000000fd'
# groups of displays, in their order
GROUPS = {'c3p': ['Robot', 'Motion', 'Kinematics'],
          'pvc': ['Ground', 'Robot', 'Motion', 'Kinematics'], 'agv': ['Robot']}


def content(path):
    return yaml.safe_load(path.read_text(encoding='utf-8'))


def manager(path):
    return content(path)['Visualization Manager']


def displays(path):
    """Return the displays of a layout, those of groups without the groups."""
    found = []
    for entry in manager(path)['Displays']:
        found += entry['Displays'] if entry['Class'] == 'rviz_common/Group' else [entry]
    return found


def contracts():
    """Return {(kind, topic): rows} of all nodes; a topic below a node has its name."""
    name = 'node_contracts'
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / f'scripts/{name}.py')
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    tables = sys.modules[name].tables((ROOT / 'docs/nodes.md').read_text(encoding='utf-8'))
    found = {}
    for node, table in tables.items():
        for (kind, topic), row in table.items():
            found.setdefault((kind, topic.replace('~', node)), []).append(row)
    return found


def kind_of(entry):
    package, name = entry['Class'].split('/')
    assert package == 'rviz_default_plugins'
    return name


def compatible(topic, quality):
    """Return whether a subscription with a layout's policies hears such a publisher."""
    best_effort = quality.startswith('sensor data')
    latched = quality.startswith('latched')
    return not (best_effort and topic['Reliability Policy'] == 'Reliable') and not (
        not latched and topic['Durability Policy'] == 'Transient Local')


@pytest.mark.parametrize('path', LAYOUTS, ids=lambda path: path.stem)
def test_the_scene_has_most_of_the_window(path):
    """Panels without a saved place cover the scene: RViz docks them at the left, one above all."""
    layout = content(path)
    panels = {panel['Name'] for panel in layout['Panels']}
    window = layout['Window Geometry']
    assert panels <= PLACED and 'Displays' in panels
    state = window['QMainWindow State']
    assert state.startswith(STATE) and bytes.fromhex(state)
    for panel in panels:
        # Qt writes the name of a dock in UTF-16, behind its length
        name = panel.encode('utf-16-be')
        assert (len(name).to_bytes(4, 'big') + name).hex() in state
        assert isinstance(window[panel]['collapsed'], bool)
    assert window['Width'] >= 1200 and window['Height'] >= 800
    assert window['Hide Right Dock'] and not window['Hide Left Dock']


@pytest.mark.parametrize('path', LAYOUTS, ids=lambda path: path.stem)
def test_displays_are_in_groups_that_are_open(path):
    layout = content(path)
    entries = layout['Visualization Manager']['Displays']
    groups = [e['Name'] for e in entries if e['Class'] == 'rviz_common/Group']
    assert groups == GROUPS[path.stem]
    assert all(e['Displays'] and e['Enabled'] for e in entries if e['Name'] in groups)
    expanded = layout['Panels'][0]['Property Tree Widget']['Expanded']
    assert {f'/{name}1' for name in groups} <= set(expanded)


@pytest.mark.parametrize('path', LAYOUTS, ids=lambda path: path.stem)
def test_the_camera_follows_an_opaque_robot(path):
    model, = (entry for entry in displays(path) if kind_of(entry) == 'RobotModel')
    assert model['Alpha'] == 1 and model['Enabled']
    view, fixed = (manager(path)[key] for key in ('Views', 'Global Options'))
    if fixed['Fixed Frame'] == 'odom':
        assert view['Current']['Target Frame'] == 'base_link'
    assert 1.0 < view['Current']['Distance'] < 8.0


@pytest.mark.parametrize('path', LAYOUTS, ids=lambda path: path.stem)
def test_every_display_shows_a_topic_of_the_suite_with_its_type_and_quality(path):
    offered = contracts()
    names = []
    for entry in displays(path):
        names.append(entry['Name'])
        wanted = DISPLAYS[kind_of(entry)]
        topic = entry.get('Topic') or entry.get('Description Topic')
        if wanted is None:
            assert topic is None
        elif topic['Value'] in FOREIGN:
            assert FOREIGN[topic['Value']] == wanted
            assert topic['Durability Policy'] == 'Transient Local'
        else:
            # goals come from people and programs, and a node that drives there hears them
            rows = (offered.get(('publishes', topic['Value']))
                    or offered['subscribes', topic['Value']])
            for row in rows:
                assert row.type == wanted, (path.name, entry['Name'])
                assert compatible(topic, row.quality), (path.name, entry['Name'])
        # RViz draws variances that nobody observes as high as a mountain
        if 'Covariance' in entry:
            assert not entry['Covariance']['Value']
    assert len(set(names)) == len(names)


@pytest.mark.parametrize('path', LAYOUTS, ids=lambda path: path.stem)
def test_what_a_tool_publishes_is_heard(path):
    offered = contracts()
    for tool in manager(path)['Tools']:
        wanted = TOOLS[kind_of(tool)]
        assert ('Topic' in tool) == (wanted is not None)
        for row in offered['subscribes', tool['Topic']['Value']] if wanted else ():
            assert row.type == wanted


@pytest.mark.parametrize('path', LAYOUTS, ids=lambda path: path.stem)
def test_frames_are_those_of_the_robot(path):
    layout = manager(path)
    links = set(re.findall(r'<link name="([^"]+)"', robot_description(ROBOTS[path.stem])))
    known = links | FRAMES
    assert layout['Global Options']['Fixed Frame'] in known
    shown, = (entry for entry in displays(path) if kind_of(entry) == 'TF')
    assert {name for name in shown['Frames'] if name != 'All Enabled'} <= known
    views = [layout['Views']['Current'], *layout['Views']['Saved']]
    for view in views:
        assert kind_of(view) in VIEWS
        assert view['Target Frame'] in known | {'<Fixed Frame>'}


def test_the_layers_of_the_scene_can_be_switched():
    shown = {entry['Name']: entry for entry in displays(LAYOUTS[1])}
    assert LAYOUTS[1].stem == 'c3p'
    text = ''.join(path.read_text(encoding='utf-8')
                   for path in (ROOT / 'c3p_viewers/scene').glob('*.py')
                   if path.stem in ('actuation', 'motion', 'wheels', 'trail', 'uncertainty'))
    # names of shapes as they stand in the code, without the number of the wheel
    names = set(re.findall(r"(?:Line|Arrow|Ball|Label|Arc|arc_head)\(\s*(?:\w+, )?f?'([a-z_]+)",
                           text))
    assert len(names) > 12
    assert set(shown['Scene']['Namespaces']) == {layer(name) for name in names}
