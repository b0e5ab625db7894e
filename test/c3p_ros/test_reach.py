# SPDX-License-Identifier: Apache-2.0
"""What the environment says about which computers may command a robot."""

from pathlib import Path

import pytest

from c3p_ros.middleware import LOCAL_ONLY, PROFILES, RANGE, Middleware
from c3p_ros.reach import (
    EASY_MODE,
    FILE,
    PEERS,
    SECURITY,
    SERVER,
    STRATEGY,
    one_computer,
    open_reach,
    range_in_force,
)

NEW, OLD = PROFILES
LOOPBACK = str(Path(__file__).parents[2] / 'config/security/loopback_only.xml')
ENFORCED = {SECURITY: 'true', STRATEGY: 'Enforce'}

HUMBLE = Middleware('rmw_fastrtps_cpp', frozenset({LOCAL_ONLY, OLD}))
JAZZY = Middleware('rmw_fastrtps_cpp', frozenset({RANGE, LOCAL_ONLY, OLD}))
# Kilted and Lyrical
KILTED = Middleware('rmw_fastrtps_cpp', frozenset({RANGE, NEW, OLD}))
CYCLONE = Middleware('rmw_cyclonedds_cpp', frozenset({RANGE}))
CONNEXT = Middleware('rmw_connextdds', frozenset({RANGE}))
OTHER = Middleware('rmw_other_cpp', frozenset({RANGE}))


@pytest.mark.parametrize('middleware, environment', [
    *((one, {RANGE: span}) for one in (JAZZY, KILTED, CYCLONE, CONNEXT)
      for span in ('LOCALHOST', 'OFF')),
    *((one, {RANGE: 'SUBNET', **ENFORCED}) for one in (JAZZY, KILTED, CYCLONE, CONNEXT, HUMBLE)),
    (HUMBLE, {LOCAL_ONLY: '1'}), (JAZZY, {LOCAL_ONLY: '1'}),
    (JAZZY, {LOCAL_ONLY: '1', RANGE: 'SUBNET'}), (JAZZY, {LOCAL_ONLY: '1', PEERS: '10.0.0.2'}),
    # what rcl does not know it takes for LOCALHOST
    *((KILTED, {RANGE: value}) for value in ('localhost', 'LOCAL', 'LOCALHOST ', 'subnet')),
    # no peers with OFF, no servers either
    (KILTED, {RANGE: 'OFF', PEERS: '10.0.0.2', SERVER: '10.0.0.2:11811'}),
    (KILTED, {RANGE: 'LOCALHOST', PEERS: 'localhost;127.0.0.1;;', SERVER: '127.0.0.1:11811'}),
    # the sockets of Fast DDS are those of its profile
    *((one, {RANGE: span, name: LOOPBACK}) for one, name in ((JAZZY, OLD), (KILTED, OLD),
                                                              (KILTED, NEW))
      for span in ('SUBNET', 'SYSTEM_DEFAULT')),
    (KILTED, {NEW: LOOPBACK, OLD: LOOPBACK}),
    (CYCLONE, {RANGE: 'SYSTEM_DEFAULT', 'CYCLONEDDS_URI':
               '<CycloneDDS><Domain><General><Interfaces><NetworkInterface name="lo"/>'
               '</Interfaces></General></Domain></CycloneDDS>'})])
def test_a_robot_that_only_its_own_computer_or_keys_reach_is_not_warned_about(middleware,
                                                                              environment):
    assert open_reach(environment, middleware) == ''


@pytest.mark.parametrize('middleware, environment, cause', [
    *((one, environment, 'discovery range SUBNET')
      for one in (JAZZY, KILTED, CYCLONE, CONNEXT)
      for environment in ({}, {RANGE: ''}, {RANGE: 'SUBNET'}, {LOCAL_ONLY: '0'}, {LOCAL_ONLY: ''},
                          # Permissive: a node without keys takes part unprotected
                          {SECURITY: 'true'}, {SECURITY: 'true', STRATEGY: 'Permissive'},
                          {SECURITY: 'True', STRATEGY: 'Enforce'},
                          {SECURITY: 'true', STRATEGY: 'enforce'})),
    (KILTED, {RANGE: 'SYSTEM_DEFAULT'}, 'discovery range SYSTEM_DEFAULT'),
    # of another version, or not a number
    (KILTED, {LOCAL_ONLY: '1'}, f'discovery range SUBNET, as {LOCAL_ONLY}=1 is not read by this '
     'version of ROS 2'),
    (KILTED, {LOCAL_ONLY: '1', RANGE: 'SUBNET'}, f'discovery range SUBNET, as {LOCAL_ONLY}=1 is '
     'not read by this version of ROS 2'),
    (JAZZY, {LOCAL_ONLY: 'true'}, f'discovery range SUBNET, as {LOCAL_ONLY}=true is not 1'),
    (JAZZY, {RANGE: 'SYSTEM_DEFAULT', NEW: LOOPBACK}, f'discovery range SYSTEM_DEFAULT, as {NEW} '
     f'is not read by this version of Fast DDS, which reads {OLD}'),
    (KILTED, {NEW: '/none.xml'}, f'discovery range SUBNET, as {NEW}=/none.xml cannot be read '
     '(No such file or directory)'),
    (KILTED, {NEW: LOOPBACK, OLD: '/none.xml'}, f'discovery range SUBNET, as {OLD}=/none.xml '
     'cannot be read (No such file or directory)'),
    # of another middleware
    (CYCLONE, {RANGE: 'SYSTEM_DEFAULT', NEW: LOOPBACK}, 'discovery range SYSTEM_DEFAULT'),
    (OTHER, {RANGE: 'LOCALHOST'}, 'discovery range LOCALHOST, which rmw_other_cpp may not read')])
def test_a_robot_that_the_whole_network_reaches_is_warned_about_in_one_line(middleware,
                                                                            environment, cause):
    text = open_reach(environment, middleware)
    assert text.startswith(f'{cause}: every computer of this network may arm and command this '
                           'robot; ') and '\n' not in text
    assert middleware == OTHER or f'{RANGE}=LOCALHOST' in text


def test_a_version_that_does_not_read_the_range_is_named_with_what_it_reads():
    text = open_reach({RANGE: 'LOCALHOST'}, HUMBLE)
    assert f'as this version of ROS 2 does not read {RANGE}: ' in text
    assert f'{LOCAL_ONLY}=1' in text


@pytest.mark.parametrize('variable, value, who', [
    (PEERS, '10.0.0.2', '10.0.0.2 beside this computer'),
    (PEERS, 'localhost;base;10.0.0.2', 'base, 10.0.0.2 beside this computer'),
    (SERVER, '10.0.0.2:11811', 'every client of that server'),
    (SERVER, '127.0.0.1:11811;TCPv4:[10.0.0.2]:42100', 'every client of that server'),
    (EASY_MODE, '127.0.0.1', 'every computer of this network')])
def test_what_leads_beyond_this_computer_is_named_with_those_that_it_admits(variable, value, who):
    environment = {RANGE: 'LOCALHOST', variable: value}
    assert open_reach(environment, KILTED) == (
        f'discovery range LOCALHOST with {variable}={value}: {who} may arm and command this '
        f'robot; unset {variable}, or docs/security.md')
    assert not one_computer(environment, KILTED)
    # Cyclone has peers, and no servers
    assert (open_reach(environment, CYCLONE) != '') == (variable == PEERS)


@pytest.mark.parametrize('content, far', [
    ('{"ROS_DISCOVERY_SERVER": "base:11811"}', True),
    ('{"ROS_DISCOVERY_SERVER": "127.0.0.1:11811"}', False),
    ('{"ROS_DISCOVERY_SERVER": 7}', False), ('{}', False), ('[]', False), ('{', False)])
def test_variables_in_the_file_of_fast_dds_count(content, far, tmp_path):
    file = tmp_path / 'environment.json'
    file.write_text(content)
    text = open_reach({RANGE: 'LOCALHOST', FILE: str(file)}, KILTED)
    assert ('every client of that server' in text) is far
    assert open_reach({RANGE: 'LOCALHOST', FILE: '/none.json'}, KILTED) == ''


@pytest.mark.parametrize('middleware, variable', [
    (JAZZY, OLD), (KILTED, NEW), (KILTED, OLD), (CYCLONE, 'CYCLONEDDS_URI')])
@pytest.mark.parametrize('address, far', [('10.0.0.2', True), ('base', True), ('127.0.0.1', False),
                                          ('239.255.0.1', False)])
def test_peers_in_the_configuration_of_the_middleware_count(middleware, variable, address, far,
                                                            tmp_path):
    file = tmp_path / 'configuration.xml'
    file.write_text(f'<CycloneDDS><Domain><Discovery><Peers><Peer address="{address}"/></Peers>'
                    '</Discovery></Domain></CycloneDDS>' if middleware == CYCLONE else
                    '<dds xmlns="http://www.eprosima.com"><participant profile_name="a"><rtps>'
                    '<builtin><initialPeersList><locator><udpv4>'
                    f'<address>{address}</address></udpv4></locator></initialPeersList></builtin>'
                    '</rtps></participant></dds>')
    environment = {RANGE: 'LOCALHOST', variable: str(file)}
    text = open_reach(environment, middleware)
    assert (f'names {address}: those beside this computer may' in text) is far
    assert one_computer(environment, middleware) is not far
    assert far or text == ''
    # of another middleware or version
    assert open_reach({RANGE: 'LOCALHOST', 'CYCLONEDDS_URI': str(file), NEW: str(file)},
                      CONNEXT) == ''


@pytest.mark.parametrize('middleware, environment, span', [
    (JAZZY, {LOCAL_ONLY: '1', RANGE: 'OFF'}, 'LOCALHOST'),
    (JAZZY, {LOCAL_ONLY: '10'}, 'LOCALHOST'), (HUMBLE, {LOCAL_ONLY: '10'}, 'SUBNET'),
    (KILTED, {LOCAL_ONLY: '1', RANGE: 'OFF'}, 'OFF'),
    (KILTED, {RANGE: 'NOT_SET'}, 'LOCALHOST'), (HUMBLE, {RANGE: 'OFF'}, 'SUBNET')])
def test_the_range_is_that_of_rcl(middleware, environment, span):
    assert range_in_force(environment, middleware) == span


def test_participants_are_counted_where_all_are_of_dds_and_near():
    near = {RANGE: 'LOCALHOST'}
    assert all(one_computer(near, one) for one in (JAZZY, KILTED, CYCLONE))
    assert one_computer({LOCAL_ONLY: '1'}, JAZZY) and not one_computer({LOCAL_ONLY: '1'}, KILTED)
    assert not any(one_computer(near, one) for one in (HUMBLE, Middleware('rmw_zenoh_cpp'), OTHER))
    # keys keep others out, and do not bring all of them to this computer
    assert not one_computer({**ENFORCED}, KILTED)
    assert not one_computer({RANGE: 'OFF'}, KILTED)
