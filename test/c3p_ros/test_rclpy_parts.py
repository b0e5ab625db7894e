# SPDX-License-Identifier: Apache-2.0
"""The parts of rclpy that are not public: where this distribution has them, and without them."""

from types import SimpleNamespace

import pytest

pytest.importorskip('rclpy', reason='needs ROS 2: pip install .[jazzy], or a sourced one')

from exchange_hall import Hall, Subscription  # noqa: E402
from rclpy.node import Node  # noqa: E402
from sensor_msgs.msg import JointState  # noqa: E402

from c3p_ros import rclpy_parts  # noqa: E402
from c3p_ros.channels import Listener  # noqa: E402
from c3p_ros.distribution import named  # noqa: E402
from c3p_ros.managed_node import ManagedSuiteNode  # noqa: E402
from c3p_ros.rclpy_parts import (  # noqa: E402
    MissingPart,
    drop_type_descriptions,
    end_life,
    guard_transitions,
    life_of,
    overrides_of,
    sequence_numbers,
    set_aside,
    take_back,
)


@pytest.fixture
def logged(monkeypatch):
    """Return what is reported, each once in a process."""
    texts = []
    monkeypatch.setattr(rclpy_parts, 'get_logger', lambda name: SimpleNamespace(
        warning=texts.append))
    rclpy_parts._report.cache_clear()
    yield texts
    rclpy_parts._report.cache_clear()


def test_a_subscription_that_is_set_aside_stays_in_the_graph_unread(bench):
    """On the installed distribution."""
    heard = []
    node = Node('listener', context=bench.context)
    subscription = node.create_subscription(JointState, 'joints', heard.append, 10)
    assert set_aside(node, subscription)
    bench.executor.add_node(node)
    publisher = bench.talker.create_publisher(JointState, 'joints', 10)
    bench.wait_for(lambda: publisher.get_subscription_count() == 1, 'the subscription')
    publisher.publish(JointState())
    bench.run(0.05)
    assert not heard and subscription not in list(node.subscriptions)
    take_back(node, subscription)
    assert list(node.subscriptions).count(subscription) == 1
    bench.wait_for(lambda: heard, 'the message that has waited')
    # a second time it changes nothing
    take_back(node, subscription)
    assert list(node.subscriptions).count(subscription) == 1
    bench.executor.remove_node(node)
    node.destroy_node()
    bench.wait_for(lambda: publisher.get_subscription_count() == 0, 'its end')


def test_sequence_numbers_are_those_of_the_publisher(bench):
    node = Node('listener', context=bench.context)
    subscription = node.create_subscription(JointState, 'joints', lambda _: None, 10, raw=True)
    set_aside(node, subscription)
    publisher = bench.talker.create_publisher(JointState, 'joints', 10)
    bench.wait_for(lambda: publisher.get_subscription_count() == 1, 'the subscription')
    assert sequence_numbers(subscription) == []
    for _ in range(3):
        publisher.publish(JointState())
    found = []
    bench.wait_for(lambda: found.extend(sequence_numbers(subscription)) or len(found) == 3,
                   'the numbers')
    # 0 where the middleware has none
    assert found in ([found[0], found[0] + 1, found[0] + 2], [0, 0, 0])
    take_back(node, subscription)
    node.destroy_node()


class Managed(ManagedSuiteNode):
    """A lifecycle node."""

    def __init__(self, **options):
        super().__init__('managed', **options)


def test_the_life_cycle_is_where_this_distribution_keeps_it(bench):
    node = bench.add(Managed)
    assert life_of(node) == (1, 'unconfigured') and node.life == 1
    node.trigger_configure()
    assert life_of(node) == (2, 'inactive')
    own = guard_transitions(node, 'another')
    assert callable(own) and guard_transitions(node, own) == 'another'


# shapes of a node: of rclpy 7 and 9; of rclpy 10, which removes what it destroys; of another one
def listed():
    """Return a node with a list of subscriptions."""
    woken = []
    return SimpleNamespace(_subscriptions=[], executor=SimpleNamespace(
        wake=lambda: woken.append(True)), woken=woken)


def without_executor():
    """Return a node with a list that no executor spins."""
    return SimpleNamespace(_subscriptions=[], executor=None, woken=None)


@pytest.mark.parametrize('shape', [listed, without_executor])
def test_the_list_of_a_node_is_used_where_it_is(shape, logged):
    node, subscription = shape(), Subscription('joints')
    node._subscriptions.append(subscription)
    assert set_aside(node, subscription) and node._subscriptions == []
    take_back(node, subscription)
    take_back(node, subscription)
    assert node._subscriptions == [subscription]
    assert node.woken in (None, [True]) and not logged


def test_without_the_list_each_node_reads_its_own_copy_and_hears_each_message_once(logged):
    """A subscription that cannot be set aside comes as well: the exchange drops the surplus."""
    hall = Hall()
    nodes = [hall.node() for _ in range(2)]
    subscriptions = [Subscription('joints') for _ in nodes]
    for node, subscription in zip(nodes, subscriptions, strict=True):
        del node._subscriptions
        hall.exchange.join(Listener(
            node, 'joints', hall.decode,
            lambda message, node=node: hall.heard.append((id(node), 'joints', message))),
            subscription)
    for subscription in subscriptions:
        hall.exchange.arrived(subscription, b'1')
    assert [who for who, *_ in hall.heard] == [id(node) for node in nodes] and hall.read == 1
    hall.exchange.leave(nodes[0])
    for subscription in subscriptions:
        hall.exchange.arrived(subscription, b'2')
    assert [message for *_, message in hall.heard] == ['1', '1', '2']
    text, = logged
    assert text.startswith(f'{named()} has no list Node._subscriptions: each node reads its own')


def test_without_the_taking_of_messages_no_number_is_known(logged):
    for subscription in (SimpleNamespace(), SimpleNamespace(handle=object())):
        assert sequence_numbers(subscription) == []
    text, = logged
    assert 'take_message: a restarted publisher counts as a second one' in text


@pytest.mark.parametrize(('call', 'part', 'purpose'), [
    (overrides_of, '_parameter_overrides', 'to check the parameters of a node'),
    (life_of, '_state_machine', 'for the life cycle of a node'),
    (lambda node: end_life(node, None), '_state_machine', 'for the life cycle of a node'),
    (lambda node: guard_transitions(node, None), '_service_change_state',
     'for the life cycle of a node')])
def test_a_part_that_is_needed_and_missing_is_named_with_the_remedy(call, part, purpose):
    with pytest.raises(MissingPart) as refused:
        call(SimpleNamespace())
    assert f'{refused.value}' == (
        f'{named()} has no SimpleNamespace.{part}, which c3p needs {purpose}; install a '
        'supported distribution (docs/support.md)')


def test_the_service_of_type_descriptions_may_be_gone():
    node = SimpleNamespace(_type_description_service=1)
    drop_type_descriptions(node)
    drop_type_descriptions(node)
    assert not vars(node)
