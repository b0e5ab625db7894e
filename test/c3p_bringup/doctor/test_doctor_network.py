# SPDX-License-Identifier: Apache-2.0
"""What the doctor says of domain, reach and router, for each middleware."""

import argparse
import socket
from pathlib import Path

import pytest

from c3p_bringup.doctor import network
from c3p_bringup.doctor.check import Level
from c3p_ros.middleware import LOCAL_ONLY, PROFILES, RANGE, Middleware
from c3p_ros.reach import PEERS, SECURITY, SERVER, STRATEGY
from c3p_ros.zenoh_reach import ATTEMPTS, OVERRIDE

pytest.importorskip('rclpy', reason='needs rclpy')

from c3p_bringup.cli import doctor  # noqa: E402
from c3p_bringup.doctor import computer, ros  # noqa: E402

OK, WARN, FAIL = Level.OK, Level.WARN, Level.FAIL
NEW, OLD = PROFILES
LOOPBACK = str(Path(__file__).parents[3] / 'config/security/loopback_only.xml')
JAZZY = Middleware('rmw_fastrtps_cpp', frozenset({RANGE, LOCAL_ONLY, OLD}))
KILTED = Middleware('rmw_fastrtps_cpp', frozenset({RANGE, NEW, OLD}))
CYCLONE = Middleware('rmw_cyclonedds_cpp', frozenset({RANGE}))
ZENOH = Middleware('rmw_zenoh_cpp', frozenset({RANGE}))
OTHER = Middleware('rmw_other_cpp', frozenset({RANGE}))
SPAN, DOMAIN = 'discovery range', 'ROS_DOMAIN_ID'


def rows(environment, middleware):
    """Return {name: (level, line)} of what is said of an environment."""
    return {check.name: (check.level, f'{check}')
            for check in ros.network(environment, middleware)}


@pytest.mark.parametrize('middleware, environment, level, says', [
    (KILTED, {}, OK, 'SUBNET: all nodes'), (JAZZY, {RANGE: 'LOCALHOST'}, OK, 'LOCALHOST'),
    (KILTED, {SECURITY: 'false'}, OK, 'SUBNET: all nodes'),
    (JAZZY, {LOCAL_ONLY: '1'}, OK, 'LOCALHOST'), (KILTED, {RANGE: 'OFF'}, WARN, 'OFF'),
    (JAZZY, {LOCAL_ONLY: '1', RANGE: 'SUBNET'}, WARN, f'{LOCAL_ONLY} makes it LOCALHOST'),
    (KILTED, {NEW: LOOPBACK}, OK, 'SUBNET'),
    # meant to be private, and not
    (KILTED, {LOCAL_ONLY: '1'}, FAIL, f'{LOCAL_ONLY}=1 is not read by this version'),
    (JAZZY, {LOCAL_ONLY: 'true'}, FAIL, f'{LOCAL_ONLY}=true is not 1'),
    (JAZZY, {RANGE: 'SYSTEM_DEFAULT', NEW: LOOPBACK}, FAIL, f'{NEW} is not read'),
    (KILTED, {NEW: '/none.xml'}, FAIL, 'cannot be read'),
    (KILTED, {RANGE: 'LOCALHOST', PEERS: 'base'}, FAIL, 'base beside this computer'),
    (KILTED, {RANGE: 'LOCALHOST', SERVER: 'base:1'}, FAIL, 'every client of that server'),
    (KILTED, {SECURITY: 'true'}, FAIL, 'every computer of this network may command'),
    (OTHER, {RANGE: 'LOCALHOST'}, WARN, 'which rmw_other_cpp may not read'),
    # rcl takes it for LOCALHOST
    (KILTED, {RANGE: 'local'}, FAIL, "'local', which is read as LOCALHOST; must be one of"),
    (CYCLONE, {RANGE: 'NOT_SET'}, FAIL, 'which is read as LOCALHOST')])
def test_a_limit_that_does_not_hold_is_a_failure(middleware, environment, level, says):
    found = rows(environment, middleware)[SPAN]
    assert found[0] is level and says in found[1]


@pytest.mark.parametrize('middleware, environment, name, level, says', [
    (JAZZY, {LOCAL_ONLY: '1'}, LOCAL_ONLY, WARN, 'deprecated'),
    (JAZZY, {LOCAL_ONLY: 'yes'}, LOCAL_ONLY, FAIL, "'yes' has no effect, only 1 has"),
    (KILTED, {LOCAL_ONLY: '1'}, LOCAL_ONLY, FAIL, 'not read by this version of ROS 2'),
    (KILTED, {SECURITY: 'True'}, SECURITY, FAIL, 'write true'),
    (KILTED, {SECURITY: 'true', STRATEGY: 'enforce'}, STRATEGY, WARN, 'start unprotected'),
    (ZENOH, {SECURITY: 'true', STRATEGY: 'Enforce'}, SECURITY, FAIL, 'does not implement SROS2')])
def test_a_variable_without_effect_has_its_own_row(middleware, environment, name, level, says):
    found = rows(environment, middleware)
    assert found[name][0] is level and says in found[name][1]
    # and no row where it is not set, or off
    off = {LOCAL_ONLY: '0', SECURITY: 'false'}
    assert not {LOCAL_ONLY, SECURITY, STRATEGY} & {*rows(off, middleware), *rows({}, middleware)}


@pytest.mark.parametrize('text, level, says', [
    ('', OK, '0, the default'), ('42', OK, '42'), ('102', WARN, 'choose 1 to 101'),
    ('233', FAIL, 'from 0 to 101'), ('lab', FAIL, 'lab'), ('-1', FAIL, "'-1'"),
    # strtoul with base 0
    ('010', WARN, "'010', which is read as 8; write 8"), ('0x10', WARN, 'read as 16'),
    (' 7', WARN, 'read as 7'), ('08', FAIL, "'08'"), ('7a', FAIL, "'7a'"), ('1.5', FAIL, '1.5'),
    # digits of Python that are none of C
    ('\u00b2', FAIL, '\u00b2'), ('\u0664', FAIL, '\u0664'), ('4294967296', FAIL, '4294967296')])
def test_a_domain_is_the_one_that_rcl_reads(text, level, says):
    found = rows({DOMAIN: text}, KILTED)[DOMAIN]
    assert found[0] is level and says in found[1]


def test_domains_of_zenoh_are_no_ports():
    assert [rows({DOMAIN: text}, ZENOH)[DOMAIN][0] for text in ('102', '233', 'lab')] == [
        OK, OK, FAIL]


@pytest.fixture
def router():
    """Return the port of a socket on loopback that accepts connections."""
    with socket.socket() as own:
        own.bind(('127.0.0.1', 0))
        own.listen()
        yield own.getsockname()[1]


def session_at(port):
    """Return the environment of a session that connects to a router on this port."""
    return {OVERRIDE: f'connect/endpoints=["tcp/127.0.0.1:{port}"]'}


def test_a_router_that_accepts_connections_is_found(router):
    found = rows(session_at(router), ZENOH)
    assert found['zenoh router'][0] is OK
    assert found[SPAN][0] is OK and 'this computer' in found[SPAN][1]
    assert 'zenoh router' not in rows(session_at(router), KILTED)


def test_without_a_router_the_reason_and_the_program_are_named():
    with socket.socket() as own:
        own.bind(('127.0.0.1', 0))
        # bound, and not listening
        environment = session_at(own.getsockname()[1])
        level, line = rows(environment, ZENOH)['zenoh router']
        assert level is FAIL and 'ros2 run rmw_zenoh_cpp rmw_zenohd' in line
        assert 'without end' not in line
        assert 'without end' in rows({**environment, ATTEMPTS: '0'}, ZENOH)['zenoh router'][1]
        assert rows(environment, ZENOH)[SPAN][0] is WARN
        # a search for robots would find none, or wait without end
        check = ros.other_robots(environment, ZENOH)
        assert check.level is WARN and 'not searched' in check.text


def test_files_of_a_session_that_cannot_be_read_end_no_check():
    found = rows({'ZENOH_SESSION_CONFIG_URI': '/none.json5'}, ZENOH)
    assert found['zenoh router'][0] is FAIL and 'cannot be read' in found[SPAN][1]


def test_the_time_limit_of_the_router_is_short():
    assert network.ROUTER_WITHIN <= 1.0


@pytest.mark.parametrize('middleware, shown', [(KILTED, True), (CYCLONE, False), (ZENOH, False)])
def test_shared_memory_is_a_row_of_fast_dds(middleware, shown, monkeypatch):
    monkeypatch.setattr(ros, 'installed', lambda: middleware)
    monkeypatch.setattr(computer, 'wake_up', computer.python)
    monkeypatch.setattr(ros, 'client_library', lambda: iter(()))
    arguments = argparse.Namespace(robot='c3p', params_file=[], interface=None, channel=None,
                                   no_network=True)
    assert ('shared memory' in {check.name for check in doctor.checks(arguments)}) is shown
