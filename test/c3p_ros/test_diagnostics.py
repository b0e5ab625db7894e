# SPDX-License-Identifier: Apache-2.0
"""What a node says of its health, and when."""

import pytest

rclpy = pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from c3p_ros.cycle import RepeatedStamp  # noqa: E402
from c3p_ros.diagnostics import ERROR, OK, REPEATED, WARN, Diagnostics  # noqa: E402
from c3p_ros.orderly_node import OrderlyNode  # noqa: E402

# far below the second between the regular messages
AT_ONCE = 0.5


@pytest.fixture
def probe(bench):
    node = bench.add(lambda **options: OrderlyNode('probe', namespace='/left', **options))
    node.diagnostics = Diagnostics(node, 'c3p', lambda: {'figure': 42})
    bench.wait_for(lambda: 'left/probe' in bench.health, 'the first message', 3.0)
    return node


def heard(bench, level):
    return lambda: bench.health['left/probe'].level == level


def test_a_healthy_node_says_so_with_its_figures(bench, probe):
    status = bench.health['left/probe']
    assert (status.level, status.message, status.hardware_id) == (OK, 'OK', 'c3p')
    assert {v.key: v.value for v in status.values} == {'fault_codes': '', 'figure': '42'}


def test_a_change_of_level_is_published_at_once_and_once(bench, probe):
    before = len(bench.said['left/probe'])
    for _ in range(20):  # repeated by a watchdog that looks fifty times a second
        probe.diagnostics.condition('chain', ERROR, 'no odom')
    bench.wait_for(heard(bench, ERROR), 'the error', AT_ONCE)
    assert bench.health['left/probe'].message == 'chain: no odom'
    for _ in range(20):
        probe.diagnostics.condition('chain', OK, 'whole again')
    bench.wait_for(heard(bench, OK), 'the recovery', AT_ONCE)
    # one for each change, and at most one from the timer
    assert len(bench.said['left/probe']) - before <= 3


def test_the_worst_condition_comes_first_and_gives_the_level(bench, probe):
    probe.diagnostics.condition('speed', WARN, 'slow')
    probe.diagnostics.condition('chain', ERROR, 'broken')
    bench.wait_for(heard(bench, ERROR), 'the error', AT_ONCE)
    assert bench.health['left/probe'].message == 'chain: broken; speed: slow'
    probe.diagnostics.condition('chain', OK, '')
    bench.wait_for(heard(bench, WARN), 'what is left', AT_ONCE)
    assert bench.health['left/probe'].message == 'speed: slow'


def test_the_codes_of_what_is_wrong_are_a_value_the_worst_first(bench, probe):
    def codes():
        return probe.diagnostics.status().values[0].value

    probe.diagnostics.condition('publishers', WARN, 'two of odom; one of them publishes')
    probe.diagnostics.condition('chain', ERROR, 'broken')
    assert codes() == 'C3P-IN-0099 C3P-IN-0013'
    probe.diagnostics.condition('chain', ERROR, 'broken', codes='C3P-CM-0001 C3P-CM-0002')
    assert codes() == 'C3P-CM-0001 C3P-CM-0002 C3P-IN-0013'
    for name in ('chain', 'publishers'):
        probe.diagnostics.condition(name, OK, '')
    assert codes() == ''
    probe.diagnostics.refuse('odom', 'stale: 2 s old')
    assert codes() == 'C3P-IN-0001'


def test_the_text_of_a_condition_follows_without_flooding(bench, probe):
    probe.diagnostics.condition('chain', ERROR, 'first')
    probe.diagnostics.condition('chain', ERROR, 'second')
    assert probe.diagnostics.status().message == 'chain: second'


def test_refusals_are_counted_for_ever_and_shown_with_their_reason(bench, probe):
    for k in range(1000):
        probe.diagnostics.refuse('cmd_vel', f'nan {k}')
    bench.wait_for(heard(bench, WARN), 'the warning', AT_ONCE)
    assert bench.health['left/probe'].message.startswith('cmd_vel refused: nan')
    status = probe.diagnostics.status()
    assert {v.key: v.value for v in status.values}['cmd_vel refused'] == '1000'
    assert 'nan 999' in status.message
    assert probe.diagnostics.refused('cmd_vel') == 1000 and probe.diagnostics.refused('odom') == 0
    # a flood of bad messages is one message of ours, and at most one from the timer
    assert len(bench.said['left/probe']) <= 4


def test_a_refusal_stops_being_a_warning_after_a_while(bench, probe, monkeypatch):
    monkeypatch.setattr('c3p_ros.diagnostics.REFUSAL_SHOWN', 0.05)
    probe.diagnostics.refuse('cmd_vel', 'nan')
    assert probe.diagnostics.status().level == WARN
    bench.wait_for(lambda: probe.diagnostics.status().level == OK, 'forgetting', 1.0)
    assert probe.diagnostics.refused('cmd_vel') == 1


@pytest.mark.parametrize('simulated', [False, True])
def test_a_repeated_stamp_is_a_warning_unless_the_time_is_simulated(bench, probe, simulated):
    """Controllers inside a simulator stamp with the /clock that they have received."""
    probe.simulated_time = simulated
    for _ in range(3):
        probe.diagnostics.refuse('joint_states', RepeatedStamp('the same stamp again'))
    assert probe.diagnostics.status().level == (OK if simulated else WARN)
    assert probe.diagnostics.count('joint_states', REPEATED) == 3 * simulated
    assert probe.diagnostics.refused('joint_states') == 3 * (not simulated)
    # other reasons stay warnings
    probe.diagnostics.refuse('joint_states', 'out of order')
    assert probe.diagnostics.status().level == WARN


def test_calls_of_a_timer_that_has_been_replaced_change_nothing(bench, probe):
    """After a standstill of seconds an executor has queued several calls of the first timers."""
    for _ in range(4):
        probe.diagnostics._begin()
    before = len(bench.said['left/probe'])
    bench.run(5.0)
    # one regular message a second, of one timer
    assert len(bench.said['left/probe']) - before in (4, 5, 6)
