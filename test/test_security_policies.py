# SPDX-License-Identifier: Apache-2.0
"""The SROS2 policies: no more and no less than the nodes use, in the form that sros2 reads."""

import importlib.util
import re
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

ROOT = Path(__file__).parents[1]
PLACE = ROOT / 'config/security'
FILES = ('nodes.policy.xml', 'robot_nodes.policy.xml')
# of sros2/policy/schemas/policy.xsd, version 0.2.0
RULES = {'topics': ('topic', {'publish', 'subscribe'}),
         'services': ('service', {'reply', 'request'}),
         'actions': ('action', {'call', 'execute'})}
NAME = re.compile(r'(~/|/)?[a-z][a-z0-9_]*(/[a-z][a-z0-9_]*)*')


def script():
    """Return scripts/write_security_policies.py."""
    name = 'write_security_policies'
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / f'scripts/{name}.py')
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


def enclaves(file='nodes.policy.xml'):
    """Return {path: [profile]} of a policy."""
    root = ElementTree.parse(PLACE / file).getroot()
    return {enclave.get('path'): enclave.findall('profiles/profile')
            for enclave in root.findall('enclaves/enclave')}


def allowed(profile, kind, how):
    """Return the full names of a rule of a profile."""
    begin = profile.get('ns').rstrip('/') + '/'
    found = set()
    for rule in profile.findall(kind):
        if rule.get(how) == 'ALLOW':
            for name in (entry.text for entry in rule):
                found.add(name if name.startswith('/') else begin + profile.get('node') + name[1:]
                          if name.startswith('~') else begin + name)
    return found


def nodes_that(how, name, kind='topics'):
    """Return the nodes whose profiles allow `how` for a name."""
    return {profile.get('node') for profiles in enclaves().values() for profile in profiles
            if name in allowed(profile, kind, how)}


# the first start of a node compiles its kernels
@pytest.mark.timeout(400)
def test_policies_are_what_the_nodes_use():
    for name, text in script().policies(script().all_uses()).items():
        written = (PLACE / name).read_text(encoding='utf-8')
        assert written == text, (f'{name} is not what the nodes use; '
                                 'run: python scripts/write_security_policies.py')


@pytest.mark.parametrize('file', FILES)
def test_a_policy_has_the_form_of_the_schema(file):
    root = ElementTree.parse(PLACE / file).getroot()
    assert root.tag == 'policy' and root.get('version') == '0.2.0'
    assert [child.tag for child in root] == ['enclaves']
    for enclave in root[0]:
        assert enclave.tag == 'enclave' and enclave.get('path').startswith('/c3p/')
        (profiles,) = enclave
        assert profiles.tag == 'profiles' and len(profiles)
        for profile in profiles:
            assert profile.tag == 'profile' and set(profile.attrib) == {'ns', 'node'}
            for rule in profile:
                entry, ways = RULES[rule.tag]
                assert set(rule.attrib) <= ways and set(rule.attrib.values()) == {'ALLOW'}
                assert len(rule) and {child.tag for child in rule} == {entry}


@pytest.mark.parametrize('file', FILES)
def test_no_name_is_a_pattern(file):
    for entry in ElementTree.parse(PLACE / file).iter():
        if entry.tag in ('topic', 'service', 'action'):
            assert NAME.fullmatch(entry.text), entry.text


def test_every_node_of_the_package_has_an_enclave_of_its_name():
    names = {path.removeprefix('/c3p/') for path in enclaves()}
    assert set(script().contracts.DOCUMENTED) <= names
    installed = re.findall(r"'(\w+)_node',", (ROOT / 'setup.py').read_text(encoding='utf-8'))
    assert set(installed) <= names and len(installed) > 10
    for path, profiles in enclaves().items():
        assert [profile.get('node') for profile in profiles] == [path.removeprefix('/c3p/')]


def test_a_process_of_several_nodes_may_what_each_of_them_may():
    single = {path.removeprefix('/c3p/'): ElementTree.tostring(profiles[0]).strip()
              for path, profiles in enclaves().items()}
    found = enclaves('robot_nodes.policy.xml')
    assert set(found) == {f'/c3p/robot_nodes_{form}' for form in ('controllers', 'sim',
                                                                  'hardware')}
    for profiles in found.values():
        assert len(profiles) >= 4
        for profile in profiles:
            assert ElementTree.tostring(profile).strip() == single[profile.get('node')]


def test_motors_and_the_e_stop_are_in_few_hands():
    assert nodes_that('publish', '/wheel_effort') == {'velocity_controller', 'ros2_control_bridge'}
    assert nodes_that('publish', '/cmd_vel') == {'twist_mux', 'position_controller',
                                                 'teleop_keyboard', 'dashboard'}
    assert nodes_that('publish', '/e_stop') == {'teleop_keyboard', 'dashboard'}
    # no node of the suite arms the motors, releases the mux or changes parameters of another
    for service in ('/hardware_interface/enable', '/hardware_interface/recover',
                    '/twist_mux/release', '/velocity_controller/set_parameters'):
        assert nodes_that('request', service, 'services') == set()
    # bags are recorded without commanding, and played without moving a robot
    for node in ('recorder', 'player', 'marker', 'safety_monitor'):
        (profile,) = enclaves()[f'/c3p/{node}']
        assert not allowed(profile, 'topics', 'publish') & {
            '/cmd_vel', '/wheel_effort', '/goal_pose', '/e_stop', '/reference_trajectory'}


def test_a_name_that_a_node_begins_to_use_changes_the_policy():
    uses = {rule: set() for rule in script().RULES}
    uses[script().PUBLISH] = {'odom'}
    before = script().policy({'/c3p/one': {'one': uses}})
    uses[script().PUBLISH] = {'odom', 'more'}
    after = script().policy({'/c3p/one': {'one': uses}})
    assert '<topic>more</topic>' in after and after.replace(
        '            <topic>more</topic>\n', '') == before


def test_names_are_shortened_as_ros_expands_them():
    short = script().relative
    assert [short(name, 'one') for name in ('/seen/one/x', '/seen/x', '/seen/one_more/x', '/clock')
            ] == ['~/x', 'x', 'one_more/x', '/clock']
