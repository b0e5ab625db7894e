# SPDX-License-Identifier: Apache-2.0
"""Commands limit themselves to this computer, and say where that does not hold."""

import argparse

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_bringup import near  # noqa: E402
from c3p_bringup.cli import sim  # noqa: E402
from c3p_bringup.near import stay_near  # noqa: E402
from c3p_ros.middleware import RANGE, Middleware  # noqa: E402

FAST, ZENOH = Middleware('rmw_fastrtps_cpp'), Middleware('rmw_zenoh_cpp')


@pytest.fixture(params=[FAST, ZENOH], ids=['fast_dds', 'zenoh'])
def middleware(request, monkeypatch):
    monkeypatch.setattr(near, 'of_this_process', lambda: request.param)
    return request.param


@pytest.mark.parametrize('environment', [{}, {RANGE: ''}])
def test_without_a_range_it_is_this_computer(environment, monkeypatch):
    monkeypatch.setattr(near, 'of_this_process', lambda: FAST)
    assert stay_near(environment) == '' and environment == {RANGE: 'LOCALHOST'}


@pytest.mark.parametrize('span', ['SUBNET', 'OFF', 'LOCALHOST', 'SYSTEM_DEFAULT'])
def test_a_range_that_is_set_is_kept_without_a_word(span, middleware):
    environment = {RANGE: span}
    assert stay_near(environment) == '' and environment == {RANGE: span}


def test_a_limit_that_does_not_hold_is_said(monkeypatch):
    monkeypatch.setattr(near, 'of_this_process', lambda: FAST)
    assert 'every client of that server' in stay_near({'ROS_DISCOVERY_SERVER': 'base:11811'})
    monkeypatch.setattr(near, 'of_this_process', lambda: ZENOH)
    far = {'ZENOH_CONFIG_OVERRIDE': 'listen/endpoints=["tcp/[::]:0"]'}
    assert 'does not read' in stay_near(far)


def test_a_middleware_that_is_not_installed_is_the_matter_of_the_nodes(monkeypatch):
    def absent():
        raise RuntimeError('no such library')

    monkeypatch.setattr(near, 'of_this_process', absent)
    assert stay_near({}) == ''


def test_the_page_of_a_simulation_is_as_near(monkeypatch):
    given = {}

    class Process:
        def __init__(self, command, *, session, env):
            given.update(env)

        def end(self, number, patience):
            return 0

    monkeypatch.setattr(sim, 'ChildProcess', Process)
    monkeypatch.setenv(RANGE, '')
    with sim.live_page(argparse.Namespace(robot='c3p', port=0, open=False)):
        assert given[RANGE] == 'LOCALHOST'
