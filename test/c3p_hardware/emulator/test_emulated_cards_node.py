# SPDX-License-Identifier: Apache-2.0
"""The node of the emulated cards: truth, faults, and errors that say what to do."""

import struct

import can
import pytest

pytest.importorskip('rclpy', reason='pip install .[jazzy]')

from nav_msgs.msg import Odometry  # noqa: E402
from std_msgs.msg import String  # noqa: E402

from c3p_hardware.transport.serial_can import FastSerialBus  # noqa: E402
from c3p_simulation.emulated_cards_node import EmulatedCardsNode  # noqa: E402


@pytest.mark.real_time
def test_it_tells_the_truth_and_takes_faults(open_bench, tmp_path):
    bench, channel = open_bench, str(tmp_path / 'can')
    node = bench.add(EmulatedCardsNode, **{
        'bus.channel': channel, 'start_pose': [1.0, 2.0, 0.5], 'steering_zero_counts': [100],
        'faults': 'sto:drive3'})
    truth = bench.collect(Odometry, 'ground_truth/odom', 10, keep=1)
    bench.wait_for(lambda: truth, 'the true pose')
    position = truth[-1].pose.pose.position
    assert (position.x, position.y) == pytest.approx((1.0, 2.0))
    inject = bench.publisher(String, 'emulated_cards/inject')
    inject.publish(String(data='silence:drive2'))
    bench.wait_for(lambda: node.cards.present_faults == ('sto:drive3', 'silence:drive2'),
                   'both faults')
    inject.publish(String(data='nonsense'))
    bench.wait_for(lambda: 'names no device' in str(bench.said.get('emulated_cards')),
                   'the reason of the refusal')
    with FastSerialBus(channel) as bus:
        bus.send(can.Message(arbitration_id=0x60B, is_extended_id=False,
                             data=struct.pack('<BHB4x', 0x40, 0x6004, 0)))
        answers = []

        def answered():
            answers.extend(iter(lambda: bus.recv(0), None))
            return any(m.arbitration_id == 0x58B for m in answers)

        bench.wait_for(answered, 'the position of encoder 1')
    (answer,) = [m for m in answers if m.arbitration_id == 0x58B]
    assert struct.unpack_from('<I', answer.data, 4) == (100,)


@pytest.mark.parametrize('parameters, words', [
    ({'faults': 'silense:drive1'}, 'did you mean silence'),
    ({'drive_ids': [1, 2]}, 'drive_ids.*one per joint'),
    ({'start_steering': [0.1, 0.2]}, 'start_steering has 2 values'),
    ({'bus.interface': 'nothing'}, 'CAN bus nothing'),
    ({'wheel_direction': [0]}, 'wheel_direction')])
def test_what_cannot_be_is_refused(bench, tmp_path, parameters, words):
    with pytest.raises(ValueError, match=words):
        bench.add(EmulatedCardsNode, **{'bus.channel': str(tmp_path / 'can'), **parameters})


def test_a_channel_that_is_a_file_is_refused(bench, tmp_path):
    (tmp_path / 'file').write_text('')
    with pytest.raises(ValueError, match=r'bus.channel.*is not a link'):
        bench.add(EmulatedCardsNode, **{'bus.channel': str(tmp_path / 'file')})
