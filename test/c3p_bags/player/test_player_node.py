# SPDX-License-Identifier: Apache-2.0
"""The player against real subscribers; a thousand times as fast as recorded, where time counts."""

import json
import time
import warnings

import pytest
from found_bags import numbers, parts_of, write_database, write_mcap

rclpy = pytest.importorskip('rclpy')

from rcl_interfaces.msg import Log  # noqa: E402
from rclpy.parameter import Parameter  # noqa: E402
from rclpy.qos import DurabilityPolicy, QoSProfile  # noqa: E402
from rosgraph_msgs.msg import Clock  # noqa: E402
from std_msgs.msg import Float64, String  # noqa: E402
from std_srvs.srv import SetBool  # noqa: E402

from c3p_bags.player.player_node import PlayerNode  # noqa: E402
from c3p_bags.storage.bag_writer import BagError, BagWriter  # noqa: E402
from c3p_bringup.cli.main import main  # noqa: E402

LIMIT = 20.0
BEGIN, SECOND = 1_700_000_000 * 10**9, 10**9
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
KINDS = {'/number': 'std_msgs/msg/Float64', '/goal_pose': 'std_msgs/msg/Float64',
         '/urdf': 'std_msgs/msg/String', '/tf': 'tf9_msgs/msg/Nothing'}


def written(path, count=400, clock=False, last=0.0):
    """Write `count` numbers at 200 Hz, two descriptions, and one number `last` s later."""
    with BagWriter(path) as writer:
        t = writer.types.types
        for topic, kind in KINDS.items():
            if kind in writer.types.fielddefs:
                writer.add(topic, kind, topic == '/urdf')
        for text in ('first', 'second'):
            writer.write_message('/urdf', BEGIN, t['std_msgs/msg/String'](text))
        if clock:
            writer.add('/clock', 'rosgraph_msgs/msg/Clock')
        for k in range(count):
            moment = BEGIN + k * SECOND // 200
            if clock:
                writer.write_message('/clock', moment, t['rosgraph_msgs/msg/Clock'](
                    t['builtin_interfaces/msg/Time'](k, 0)))
            for topic in ('/number', '/goal_pose'):
                writer.write_message(topic, moment, t['std_msgs/msg/Float64'](float(k)))
        if last:
            writer.write_message('/number', BEGIN + int(last * 1e9),
                                 t['std_msgs/msg/Float64'](-1.0))
    return path


class Bench:
    """A player and a listening node in a ROS context of their own."""

    def __init__(self):
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('listener', context=self.context)
        self.executor = rclpy.executors.SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.player = None

    def start(self, bag, **parameters):
        parameters = {'bag': str(bag), 'rate': 1000.0, 'delay': 0.0, **parameters}
        self.player = PlayerNode(context=self.context, parameter_overrides=[
            Parameter(k, value=v) for k, v in parameters.items()])
        self.executor.add_node(self.player)
        return self.player

    def spin(self, until, what):
        end = time.monotonic() + LIMIT
        while not until():
            assert time.monotonic() < end, f'{what} did not happen within {LIMIT} s'
            self.executor.spin_once(timeout_sec=0.02)

    def hear(self, kind, topic, profile=1000):
        heard = []
        self.node.create_subscription(kind, topic, heard.append, profile)
        return heard

    def go(self, *topics):
        """Let a player that waits begin, once somebody listens to these topics."""
        for topic in topics:
            publisher = self.player._publishers_of[topic]
            self.spin(publisher.get_subscription_count, f'listening to {topic}')
        client = self.node.create_client(SetBool, 'player/pause')
        self.spin(client.service_is_ready, 'the service')
        asked = client.call_async(SetBool.Request(data=False))
        self.spin(asked.done, 'an answer')
        assert asked.result().message == 'playing'

    def close(self):
        if self.player is not None:
            self.player.destroy_node()
        self.node.destroy_node()
        self.executor.shutdown()
        self.context.try_shutdown()


@pytest.fixture
def bench():
    bench = Bench()
    yield bench
    bench.close()


def test_every_message_arrives_in_order_and_commands_do_not(bench, tmp_path):
    numbers = bench.hear(Float64, '/number')
    goals = bench.hear(Float64, '/goal_pose')
    ticks = bench.hear(Clock, '/clock')
    player = bench.start(written(tmp_path / 'bag'), start_paused=True, clock=100.0)
    bench.go('/number', '/clock')
    bench.spin(lambda: player.playback.done and len(numbers) == 400 and len(ticks) == 200,
               'playing')
    assert [m.data for m in numbers] == list(range(400)) and goals == []
    # every hundredth of the recorded second, whatever the rate
    assert [round((m.clock.sec - BEGIN // SECOND) * 100 + m.clock.nanosec * 1e-7) for m in ticks
            ] == list(range(200))
    assert player.playback.failure == '' and player.counts['/number'] == 400
    assert player.playback.position == pytest.approx(399 / 200)
    assert player.playback.late.quantiles()['p50'] >= 0.0


def test_late_subscribers_get_all_that_is_latched(bench, tmp_path):
    # the last message is due in 50 s; longer pauses are not waited for
    player = bench.start(written(tmp_path / 'bag', count=5, last=50.0))
    bench.spin(lambda: player.counts['/number'] == 5, 'the first messages')
    told = bench.hear(String, '/urdf', LATCHED)
    bench.spin(lambda: len(told) == 2, 'latched messages')
    assert [m.data for m in told] == ['first', 'second'] and not player.playback.done


def test_what_follows_a_clock_that_was_set_is_not_waited_for(bench, tmp_path):
    said = bench.hear(Log, '/rosout', 10)
    bench.hear(Float64, '/number')
    player = bench.start(written(tmp_path / 'bag', count=5, last=1e8), start_paused=True)
    bench.spin(lambda: bench.node.count_publishers('/rosout'), 'the log')
    bench.go('/number')
    bench.spin(lambda: player.playback.done, 'playing')
    assert player.counts['/number'] == 6 and player.playback.failure == ''
    bench.spin(lambda: any('leap by +99999999.980 s' in log.msg for log in said), 'the leap')


def found_parts(folder, rows):
    for number, part in enumerate(parts_of(rows, 12)):
        write_mcap(folder / f'drive_{number}.mcap', part)


def found_clock(folder, rows):
    half = len(rows) // 2
    rows = [*rows[:half], *(r._replace(time=r.time - 3600 * SECOND) for r in rows[half:])]
    write_mcap(folder / 'a.mcap', rows, chunk=13)


FOUND = {
    'journal': lambda folder, rows: write_database(folder / 'a.db3', rows, journal=0.5),
    'all in the journal': lambda folder, rows: write_database(folder / 'a.db3', rows, journal=1.0),
    'no definitions': lambda folder, rows: write_database(folder / 'a.db3', rows, False),
    'no message index': lambda folder, rows: write_mcap(folder / 'a.mcap', rows, 'zstd',
                                                        message_index=False),
    'no index': lambda folder, rows: write_mcap(folder / 'a.mcap', rows, 'lz4', index=False,
                                                statistics=False, summary=False),
    'parts': found_parts, 'clock set back': found_clock}


@pytest.mark.parametrize('write', FOUND.values(), ids=FOUND)
def test_bags_as_they_are_found_are_played_whole(bench, tmp_path, write):
    write(tmp_path, numbers(100, ('/number',)))
    heard = bench.hear(Float64, '/number')
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        player = bench.start(tmp_path, start_paused=True)
        bench.go('/number')
        bench.spin(lambda: player.playback.done and len(heard) == 100, 'playing')
    assert [m.data for m in heard] == list(range(100)) and player.playback.failure == ''
    assert player.playback.position == pytest.approx(0.495, abs=0.01)


def test_a_bag_that_was_cut_off_is_refused_with_its_repair(bench, tmp_path):
    file = write_mcap(tmp_path / 'a.mcap', numbers(100, ('/number',)))
    file.write_bytes(file.read_bytes()[:-300])
    with pytest.raises(BagError, match='cut off.*c3p repair'):
        bench.start(tmp_path)


def test_commands_and_the_recorded_clock_are_played_when_asked_for(bench, tmp_path):
    goals, ticks = bench.hear(Float64, '/goal_pose'), bench.hear(Clock, '/clock')
    player = bench.start(written(tmp_path / 'bag', count=50, clock=True), start_paused=True,
                         commands=True, clock=100.0, topics=['/goal_pose', '/clock'])
    bench.go('/goal_pose', '/clock')
    bench.spin(lambda: player.playback.done and len(goals) == len(ticks) == 50, 'playing')
    assert [m.clock.sec for m in ticks] == list(range(50))
    assert set(player.counts) == {'/goal_pose', '/clock'}


def test_nobody_speaks_in_the_place_of_a_robot_that_runs(bench, tmp_path):
    bench.node.create_publisher(Float64, '/number', 10)
    bench.spin(lambda: bench.node.count_publishers('/number'), 'a publisher')
    player = bench.start(written(tmp_path / 'bag', count=5))
    bench.spin(lambda: player.playback.done, 'refusal')
    assert '/number (/listener)' in player.playback.failure and not player.counts
    player.destroy_node()
    bench.executor.remove_node(player)
    player = bench.start(tmp_path / 'bag', force=True)
    bench.spin(lambda: player.playback.done, 'playing')
    assert player.playback.failure == '' and player.counts['/number'] == 5


def test_a_loop_begins_again_and_can_be_stopped(bench, tmp_path):
    player = bench.start(written(tmp_path / 'bag', count=5), loop=True)
    bench.spin(lambda: player.counts['/number'] > 12, 'a third time')
    player.playback.stop()
    assert player.playback.done and player.playback.failure == ''


def test_what_cannot_be_played_is_refused(bench, tmp_path):
    with pytest.raises(BagError, match='no such file'):
        bench.start(tmp_path / 'none')
    path = written(tmp_path / 'bag', count=5)
    with pytest.raises(BagError, match=r"\['/other'\]: not in the bag"):
        bench.start(path, topics=['/other'])
    with pytest.raises(BagError, match='no playable topic'):
        bench.start(path, topics=['/goal_pose'])
    player = bench.start(path, start_offset=10.0)
    bench.spin(lambda: player.playback.done, 'the end')
    assert 'no message from start_offset on' in player.playback.failure


def test_the_command_plays_and_counts(tmp_path, capfd):
    path = written(tmp_path / 'bag', count=40)
    assert main(['play', str(path), '--rate', '1000', '--delay', '0', '--start-offset', '0.1',
                 '--remap', '/number:=/other', '--json', '-']) == 0
    shown = json.loads(capfd.readouterr().out)
    assert shown['topics'] == {'/number': 20, '/urdf': 2}
    assert shown['played_s'] == pytest.approx(19 / 200) and shown['late_s']['max'] >= 0.0
    assert main(['play', str(tmp_path / 'none')]) == 2
    assert 'no such file' in capfd.readouterr().err


def test_the_command_records_what_there_is(tmp_path, capfd):
    out = tmp_path / 'new'
    assert main(['record', '--out', str(out), '--duration', '0.1', '--namespace', 'robot_1',
                 '--json', '-']) == 0
    said = capfd.readouterr()
    assert json.loads(said.out)['bag'] == str(out) and 'no joint_states received' in said.err
    assert (out / 'metadata.yaml').is_file()
    assert main(['record', '--out', str(out), '--duration', '0.1']) == 2
    assert main(['record', '--out', str(tmp_path / 'flight'), '--duration', '0.1', '--snapshot',
                 '5', '--json', '-']) == 0
    assert json.loads(capfd.readouterr().out)['snapshots'] == []
