# SPDX-License-Identifier: Apache-2.0
"""Which addresses the suite listens on."""

import inspect
import os
import socket
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from c3p_experiments.parallel.workers import Workers, _dask
from c3p_ros.middleware import PROFILES, RANGE
from c3p_ros.reach import open_reach

ROOT = Path(__file__).parents[2]
LOOPBACK_ONLY = ROOT / 'config/security/loopback_only.xml'
# prints the local addresses of the UDP sockets of a process with a node
SOCKETS = """
import os, socket, struct, rclpy
rclpy.init()
node = rclpy.create_node('probe')
node.create_publisher(__import__('std_msgs.msg').msg.Bool, 'e_stop', 1)
links = set()
for name in os.listdir('/proc/self/fd'):
    try:
        links.add(os.readlink(f'/proc/self/fd/{name}'))
    except FileNotFoundError:
        pass
for line in list(open('/proc/self/net/udp'))[1:]:
    fields = line.split()
    if f'socket:[{fields[9]}]' in links:
        print(socket.inet_ntoa(struct.pack('=I', int(fields[1].split(':')[0], 16))))
"""
pytestmark = pytest.mark.skipif(not Path('/proc/self/net/udp').exists(),
                                reason='needs the /proc of Linux')


def addresses(**environment):
    """Return the addresses of the UDP sockets of a node in this environment."""
    done = subprocess.run([sys.executable, '-c', SOCKETS], env=os.environ | environment,
                          capture_output=True, text=True, timeout=60, check=True)
    return set(done.stdout.split())


@pytest.fixture
def fast_dds():
    """Return the middleware, which is Fast DDS."""
    pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')
    from c3p_ros.middleware import of_this_process

    found = of_this_process()
    if not found.fast_dds:
        pytest.skip(f'the profile is for Fast DDS, not for {found.identifier}')
    return found


def test_a_node_with_the_shipped_profile_listens_on_loopback_only(fast_dds):
    found = addresses(**{RANGE: 'SYSTEM_DEFAULT', **dict.fromkeys(PROFILES, str(LOOPBACK_ONLY))})
    # the group is joined on loopback
    assert found and found <= {'127.0.0.1', '239.255.0.1'}
    # what the page says of LOCALHOST, and why the profile is there
    assert '0.0.0.0' in addresses(**{RANGE: 'LOCALHOST'})


@pytest.mark.parametrize('span', ['SYSTEM_DEFAULT', 'SUBNET'])
@pytest.mark.parametrize('variable', PROFILES)
def test_sockets_are_closed_where_the_warning_says_so(variable, span, fast_dds):
    environment = {RANGE: span, variable: str(LOOPBACK_ONLY)}
    assert ('0.0.0.0' in addresses(**environment)) == (open_reach(environment, fast_dds) != '')


def test_a_dask_cluster_of_this_computer_listens_on_loopback_only(monkeypatch):
    distributed = pytest.importorskip('dask.distributed', reason='pip install .[campaign]')
    given = {}

    class Cluster:
        def __init__(self, **options):
            given.update(options)

        def __enter__(self):
            return self

        def __exit__(self, *_):
            return None

    monkeypatch.setattr(distributed, 'LocalCluster', Cluster)
    monkeypatch.setattr(distributed, 'Client', lambda _: Cluster())
    with _dask(Workers(jobs=1, backend='dask')):
        assert given['host'] == '127.0.0.1' and given['dashboard_address'] is None


def test_the_foxglove_server_listens_on_loopback_unless_it_is_given_an_address():
    pytest.importorskip('foxglove', reason='pip install .[view]')
    from c3p_viewers.foxglove.bag_player import BagPlayer
    from c3p_viewers.foxglove.live_topics import FoxgloveLive
    from c3p_viewers.foxglove.server import FoxgloveServer

    for kind in (FoxgloveServer, BagPlayer, FoxgloveLive):
        assert inspect.signature(kind.__init__).parameters['host'].default == '127.0.0.1'


def test_the_live_page_listens_on_loopback_only():
    from c3p_viewers.dashboard.command_queue import Requests
    from c3p_viewers.dashboard.samples import History
    from c3p_viewers.dashboard.server import DashboardServer
    from c3p_viewers.dashboard.static_page import static_page

    server = DashboardServer(static_page(), {}, History(), Requests({}))
    try:
        listening = [fields[1] for line in list(open('/proc/self/net/tcp'))[1:]
                     if (fields := line.split())[3] == '0A'
                     and int(fields[1].split(':')[1], 16) == server.port]
        # 127.0.0.1, in the order of the processor's bytes
        assert {place.split(':')[0] for place in listening} == {
            f'{struct.unpack("=I", socket.inet_aton("127.0.0.1"))[0]:08X}'}
    finally:
        server.close()
