# SPDX-License-Identifier: Apache-2.0
"""The robot brought up step by step, on emulated cards."""

import re
import time

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs rclpy: pip install .[jazzy]')

import yaml  # noqa: E402
from launch_reading import nodes_of, parameters_of  # noqa: E402

# the first start compiles the kernels
START = 90.0
# in this order, each told once
STEPS = ('is configured', 'the control chain publishes wheel_effort', 'the robot is up')


def read_until(running, text, said):
    """Read the output until it has `text`; `said` keeps all lines."""
    end = time.monotonic() + START
    while not any(text in line for line in said):
        line = running.process.stdout.readline()
        assert line and time.monotonic() < end, f'{text!r} never came:\n{"".join(said)}'
        said.append(line)


@pytest.mark.parametrize('form', ['one-process', 'processes'])
def test_events_lead_from_the_cards_over_the_chain_to_an_active_interface(form, launch_file):
    running = launch_file('hardware.launch.py', 'hardware:=emulated', f'nodes:={form}',
                          'namespace:=robot1')
    said = []
    for step in STEPS:
        read_until(running, step, said)
    text = ''.join(said)
    places = [text.index(step) for step in STEPS]
    assert places == sorted(places) and all(text.count(step) == 1 for step in STEPS)
    starts = {match.group(1): match.start()
              for match in re.finditer(r'\[(\w+_node)-\d+\]: process started', text)}
    if form == 'processes':
        # the chain waits for the cards
        assert starts['hardware_interface_node'] < places[0] < starts['velocity_controller_node']
    assert '/robot1/hardware_interface/enable' in text
    code, output = running.interrupt()
    assert code == 0 and 'Traceback' not in output, output


def test_cards_that_never_answer_end_everything_with_the_reason(launch_file):
    code, output = launch_file('hardware.launch.py', 'can_interface:=serial',
                               'can_channel:=/nowhere', 'wait_for_cards:=0').end()
    assert code == 1
    assert '/nowhere' in output and '/hardware_interface could not be configured' in output


def test_the_launch_file_owns_the_life_cycle_of_the_interface(prefix, tmp_path):
    file = tmp_path / 'mine.yaml'
    file.write_text(yaml.safe_dump({'/**/hardware_interface': {'ros__parameters': {
        'bus.channel': 'can7', 'autostart': 'active'}}}))
    nodes = nodes_of('hardware.launch.py', params_file=str(file), controller='paper')
    assert list(nodes) == ['robot_nodes'] and '--hardware' in nodes['robot_nodes']
    parameters = parameters_of(nodes['robot_nodes'])
    assert parameters['/**/hardware_interface'] == {
        'bus.channel': 'can7', 'autostart': 'unconfigured'}
    assert parameters['/**/position_controller']['controller'] == 'paper'
    # the chain of single processes begins later, by an event
    nodes = nodes_of('hardware.launch.py', nodes='processes', hardware='emulated')
    assert set(nodes) == {'emulated_cards_node', 'hardware_interface_node'}


@pytest.mark.parametrize('hardware', ['can', 'emulated'])
@pytest.mark.parametrize('file', ['hardware.launch.py', 'bringup.launch.py'])
def test_cards_that_do_not_fit_the_robot_start_no_process(file, hardware, prefix, tmp_path):
    mine = tmp_path / 'mine.yaml'
    mine.write_text(yaml.safe_dump({'hardware_interface': {'ros__parameters': {
        'drives.node_ids': [1, 2, 3, 4]}}}))
    sim = {} if file == 'hardware.launch.py' or hardware == 'can' else {'sim': 'analytic'}
    with pytest.raises(ValueError, match=r'drives\.node_ids = \[1, 2, 3, 4\].*3 drives'):
        nodes_of(file, params_file=str(mine), hardware=hardware, **sim)


def test_a_patience_that_is_no_number_is_refused(prefix):
    with pytest.raises(ValueError, match='wait_for_cards:=long'):
        nodes_of('hardware.launch.py', wait_for_cards='long')
