# SPDX-License-Identifier: Apache-2.0
"""The life cycle of the hardware interface through its services; a robot for each test."""

import numpy as np
import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from can.interfaces import virtual  # noqa: E402
from card_bench import NODE, SOON, CardBench  # noqa: E402
from diagnostic_msgs.msg import DiagnosticStatus  # noqa: E402
from lifecycle_msgs.msg import State, Transition  # noqa: E402
from lifecycle_msgs.srv import ChangeState, GetState  # noqa: E402

from c3p_hardware.canopen.cia402 import DriveState  # noqa: E402
from c3p_hardware.transport import can_bus, card_link  # noqa: E402
from c3p_hardware.transport.can_bus import BusAddress  # noqa: E402


@pytest.fixture
def bench():
    bench = CardBench()
    yield bench
    bench.close()


@pytest.fixture
def missing(bench, monkeypatch):
    """A device that is not there while there are no cards; there is no bus without them."""
    def open_bus(address):
        there = 'emulated_cards' in bench.nodes
        return can_bus.open_bus(address if there else BusAddress('serial', '/dev/no_such_device'))

    monkeypatch.setattr(card_link, 'open_bus', open_bus)
    return '/dev/no_such_device'


@pytest.mark.real_time
def test_every_transition_from_every_state(bench):
    bench.add_cards()
    bench.add_interface()
    # (transition, state after it when it is allowed)
    course = [('activate', None), ('deactivate', None), ('cleanup', None),
              ('configure', 'inactive'), ('configure', None), ('deactivate', None),
              ('activate', 'active'), ('activate', None), ('configure', None), ('cleanup', None),
              ('deactivate', 'inactive'), ('cleanup', 'unconfigured'), ('cleanup', None),
              ('configure', 'inactive'), ('activate', 'active'), ('shutdown', 'finalized'),
              ('shutdown', None), ('configure', None), ('activate', None)]
    state = 'unconfigured'
    for transition, after in course:
        assert bench.state() == state
        assert bench.change(transition) == (after is not None), (state, transition)
        state = after or state
    assert bench.state() == 'finalized'
    # shutting down has let go of everything
    bench.wait_for(bench.pre_operational, 'the end of process data', SOON)
    assert bench.states() == {DriveState.SWITCH_ON_DISABLED}
    assert not any(word & 0x0F == 0x0F for word in bench.words)


@pytest.mark.real_time
@pytest.mark.parametrize('before', [[], ['configure']])
def test_shutdown_ends_any_state_and_gives_the_bus_back(bench, before):
    bench.add_cards()
    bench.add_interface()
    for transition in before:
        assert bench.change(transition)
    ends = virtual.channels[bench.channel]
    assert len(ends) == 1 + bool(before)
    assert bench.change('shutdown') and bench.state() == 'finalized'
    # only the cards are left
    assert len(ends) == 1
    bench.remove(NODE)
    bench.add_interface()
    assert bench.change('configure'), bench.story()


@pytest.mark.real_time
def test_a_bus_that_is_not_there_is_told_and_configuring_may_be_tried_again(bench, missing):
    bench.add_interface()
    assert not bench.change('configure') and bench.state() == 'unconfigured'
    bench.wait_for(lambda: bench.said_by_node(missing, 'No such file', 'start the program at'),
                   'the reason on /diagnostics', SOON)
    assert bench.health[NODE].level == DiagnosticStatus.ERROR
    bench.add_cards()
    bench.cards.inject('silence:drive2')
    bench.run(0.1)
    assert not bench.change('configure') and bench.state() == 'unconfigured'
    bench.wait_for(lambda: bench.said_by_node('wheel_joint_2 (node 2)', 'no response', 'check'),
                   'the other reason', SOON)
    bench.cards._schedule.clear()
    assert bench.change('configure') and bench.state() == 'inactive'
    bench.wait_for(lambda: bench.health[NODE].message == 'OK', 'all well', SOON)


@pytest.mark.real_time
def test_services_of_a_node_that_is_not_configured_say_what_to_do(bench):
    bench.add_interface()
    for answer in (bench.enable(), bench.ask('recover'), bench.ask('quick_stop'),
                   bench.ask('reset_statistics')):
        assert not answer.success and 'ros2 lifecycle set' in answer.message


@pytest.mark.real_time
def test_autostart_waits_for_a_bus_that_appears_later(bench, missing):
    node = bench.add_interface(autostart='active')
    bench.wait_for(lambda: bench.said_by_node(missing), 'the reason', SOON)
    assert bench.state() == 'unconfigured'
    bench.add_cards()
    bench.wait_for(lambda: node.life == State.PRIMARY_STATE_ACTIVE,
                   'the active state', SOON)
    bench.arm()
    # once it is done, the user decides
    assert bench.change('deactivate') and bench.change('cleanup')
    bench.run(1.5)
    assert bench.state() == 'unconfigured'


@pytest.mark.real_time
def test_a_node_that_is_not_to_start_by_itself_touches_no_bus(bench):
    bench.add_cards()
    bench.add_interface()
    bench.run(0.3)
    assert bench.cards.syncs == 0 and not bench.joints and bench.state() == 'unconfigured'


@pytest.mark.real_time
def test_an_inactive_node_publishes_joint_states_and_enables_nothing(bench):
    bench.add_cards(start_steering=[0.4, -0.8, 2.0])
    bench.add_interface()
    assert bench.change('configure')
    bench.answered()
    message = bench.joints[-1]
    assert message.name == [f'{kind}_joint_{k}' for kind in ('steering', 'wheel')
                            for k in (1, 2, 3)]
    # half a count of 4096 a turn
    assert message.position[:3] == pytest.approx([0.4, -0.8, 2.0], abs=np.pi / 4096)
    answer = bench.enable()
    assert not answer.success and 'lifecycle set /hardware_interface activate' in answer.message
    assert bench.change('activate')
    bench.effort = [0.1] * 3
    bench.rests(0.3)
    assert bench.states() <= {DriveState.SWITCH_ON_DISABLED, DriveState.READY_TO_SWITCH_ON}


@pytest.mark.real_time
def test_cleaning_up_is_not_possible_while_driving_but_shutting_down_stops_the_wheels(bench):
    bench.add_cards()
    bench.add_interface(autostart='active')
    bench.wait_for(lambda: bench.joints, 'joint states', SOON)
    bench.drive()
    assert not bench.change('cleanup')
    assert bench.states() == {DriveState.OPERATION_ENABLED}
    assert bench.change('shutdown')
    bench.wait_for(bench.off_and_at_rest, 'rest', SOON)


@pytest.mark.real_time
@pytest.mark.parametrize('transition', [Transition.TRANSITION_ACTIVATE, 0, 255])
def test_a_transition_by_a_number_that_the_state_does_not_have_is_refused(bench, transition):
    """As launch files and lifecycle managers ask; rclpy's own node would end."""
    bench.add_interface()
    request = ChangeState.Request(transition=Transition(id=transition))
    assert not bench.call(ChangeState, f'{NODE}/change_state', request).success
    assert bench.state() == 'unconfigured'
    request.transition.id = Transition.TRANSITION_UNCONFIGURED_SHUTDOWN
    assert bench.call(ChangeState, f'{NODE}/change_state', request).success
    assert bench.state() == 'finalized'


@pytest.mark.real_time
def test_what_comes_after_the_end_does_no_harm(bench):
    """An executor may still call a node that it was just told to let go of."""
    node = bench.add_interface()
    bench.state()
    bench._clients[f'{NODE}/get_state'].call_async(GetState.Request())
    bench.remove(NODE)
    node._on_watch()
    bench.run(0.05)
    assert node.life == State.PRIMARY_STATE_FINALIZED
    late = node._service_get_state.callback(GetState.Request(), GetState.Response())
    assert late.current_state.label == 'finalized'
    for transition in (Transition(label='configure'), Transition(id=1)):
        assert not node._service_change_state.callback(
            ChangeState.Request(transition=transition), ChangeState.Response()).success


@pytest.mark.real_time
def test_a_node_that_is_destroyed_takes_its_services_with_it(bench):
    """rclpy keeps those of the life cycle until the garbage collector comes by."""
    node = bench.add_interface()
    names = [f'/{NODE}/{service}' for service in ('get_state', 'change_state', 'enable')]
    bench.wait_for(lambda: all(bench.talker.count_services(name) == 1 for name in names),
                   'the services', SOON)
    bench.remove(NODE)
    bench.wait_for(lambda: not any(map(bench.talker.count_services, names)), 'their end', SOON)
    node.destroy_node()  # once more does no harm
