# SPDX-License-Identifier: Apache-2.0
"""Which computers reach the sessions of Zenoh, by their settings and by their router's socket."""

import socket
from pathlib import Path

import pytest

from c3p_ros import zenoh_reach
from c3p_ros.middleware import RANGE, Middleware
from c3p_ros.reach import SECURITY, STRATEGY, open_reach
from c3p_ros.sockets import LISTENING, TCP, bound_sockets
from c3p_ros.zenoh_reach import (
    OVERRIDE,
    PORT,
    SESSION_FILE,
    listening,
    open_session,
    router_ports,
    session_settings,
)

ZENOH = Middleware('rmw_zenoh_cpp')
LOOPBACK, ALL = '0100007F', '00000000'
# as rmw_zenoh_cpp 0.2.10 and 0.10.5 install it, shortened
SESSION = """{
  // for example "tcp/10.0.0.2:7447" or https://zenoh.io
  mode: "peer",
  connect: {
    /* another: "tls/base:7447" */
    endpoints: [
      "tcp/localhost:7447" // of the router
    ],
  },
  listen: { endpoints: ["tcp/localhost:0"] },
  scouting: { multicast: { enabled: false, address: "224.0.0.224:7446" }, gossip: {
    enabled: true } },
  access_control: { rules: [ { key_exprs: ["rt/**", "udp"] } ] },
}
"""


@pytest.fixture
def router(tmp_path):
    """Return a function that makes a table with a router on these addresses."""
    def table(*addresses, port=PORT, state=LISTENING):
        file = tmp_path / 'tcp'
        file.write_text('  sl  local_address rem_address   st\n' + ''.join(
            f'   0: {address}:{port:04X} 00000000:0000 {state} 0 0 0\n' for address in addresses))
        return [file]
    return table


@pytest.fixture
def session(tmp_path):
    """Return a function that makes the environment of a session with a file."""
    def environment(old='', new=''):
        assert old in SESSION
        file = tmp_path / 'session.json5'
        file.write_text(SESSION.replace(old, new))
        return {SESSION_FILE: str(file)}
    return environment


def test_a_session_is_as_near_as_its_router(session, router):
    for environment in ({}, session()):
        assert open_session(environment, router(LOOPBACK)) == ''
        assert open_session(environment, router(ALL)) == 'its router listens on 0.0.0.0'
        assert open_session(environment, router(LOOPBACK, '0200000A')) == \
            'its router listens on 10.0.0.2'
        # `::`, as by default, and ::1
        assert open_session(environment, router('0' * 32)) == 'its router listens on ::'
        assert open_session(environment, router('0' * 24 + '01000000')) == ''


def test_without_a_router_one_that_is_open_may_come(router):
    for tables in ([], router(), router(LOOPBACK, port=7448), router(LOOPBACK, state='01')):
        assert open_session({}, tables) == ('no router listens on port 7447 yet, by default one '
                                            'opens it on all addresses')


@pytest.mark.parametrize('old, new, reason', [
    ('"tcp/localhost:0"', '"tcp/[::]:0"', 'its session uses tcp/[::]:0'),
    ('"tcp/localhost:7447"', '"tls/base:7447#iface=eth0"', 'its session uses tls/base:7447'),
    ('enabled: false', 'enabled: true', 'its session searches others by multicast')])
def test_a_session_that_leaves_the_computer_is_named(old, new, reason, session, router):
    assert open_session(session(old, new), router(LOOPBACK)) == reason


@pytest.mark.parametrize('override, reason', [
    ('listen/endpoints=["tcp/0.0.0.0:0"]', 'its session uses tcp/0.0.0.0:0'),
    ('mode="client";connect/endpoints=["tcp/10.0.0.2:7447"]',
     'its session uses tcp/10.0.0.2:7447'),
    ('scouting/multicast/enabled=true', 'its session searches others by multicast'),
    ('scouting/multicast/enabled=false', ''), ('listen/endpoints=["tcp/127.0.0.1:0"]', ''),
    ('connect/endpoints=["unixsock-stream//tmp/router"]', ''), ('transport/shared_memory/enabled'
                                                               '=true', '')])
def test_overrides_are_judged_as_the_file(override, reason, router):
    assert open_session({OVERRIDE: override}, router(LOOPBACK)) == reason


def test_the_router_is_looked_for_where_the_session_connects(session, router):
    moved = session('localhost:7447', '127.0.0.1:7500')
    assert router_ports(session_settings(moved)) == {7500}
    assert open_session(moved, router(LOOPBACK)).startswith('no router listens on port 7500')
    assert open_session(moved, router(LOOPBACK, port=7500)) == ''


def test_a_file_that_cannot_be_read_is_not_trusted():
    reason = open_session({SESSION_FILE: '/none.json5'})
    assert reason == f'{SESSION_FILE}=/none.json5 cannot be read'


@pytest.mark.parametrize('environment', [
    {}, {RANGE: 'LOCALHOST'}, {RANGE: 'OFF'}, {SECURITY: 'true', STRATEGY: 'Enforce'}])
def test_neither_range_nor_keys_close_zenoh(environment, monkeypatch, router):
    monkeypatch.setattr(zenoh_reach, 'open_session', lambda _: 'its router listens on ::')
    text = open_reach(environment, ZENOH)
    assert text.startswith(f'rmw_zenoh_cpp does not read {RANGE}, and its router listens on ::: '
                           'every computer of this network may arm and command this robot; ')
    assert 'rmw_zenohd' in text and '"tcp/localhost:7447"' in text and '\n' not in text
    monkeypatch.setattr(zenoh_reach, 'open_session', lambda _: '')
    assert open_reach(environment, ZENOH) == ''


@pytest.mark.skipif(not Path('/proc/net/tcp').exists(), reason='needs the /proc of Linux')
@pytest.mark.parametrize('family, host', [
    (socket.AF_INET, '127.0.0.1'), (socket.AF_INET, '0.0.0.0'), (socket.AF_INET6, '::1'),
    (socket.AF_INET6, '::')])
def test_a_socket_that_listens_is_found_with_its_address(family, host):
    with socket.socket(family) as own:
        try:
            own.bind((host, 0))
        except OSError:
            pytest.skip(f'no {host} here')
        port = own.getsockname()[1]
        assert listening([port]) == []
        own.listen()
        assert listening([port]) == [host]
        assert any(one.port == port for one in bound_sockets(TCP))
