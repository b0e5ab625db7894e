# SPDX-License-Identifier: Apache-2.0
"""The launch files of bags: with the suite's nodes for real, with rosbag2 by its command line."""

import json
import os
from pathlib import Path

import pytest
import yaml
from conftest import STAND_IN, add_package  # noqa: E402
from synthetic import topics_of  # noqa: E402

from c3p_bags.storage.bag_writer import BagWriter  # noqa: E402

# says how it was called and what the file of overrides holds, then waits for Ctrl-C
ROS2 = STAND_IN.replace('signal.pause()', """
import json, yaml
path = sys.argv[sys.argv.index('--qos-profile-overrides-path') + 1]
print('CALLED', json.dumps([sys.argv[1:], yaml.safe_load(open(path))]), flush=True)
signal.pause()
""")


def until_said(running, word):
    """Read what a launch says up to a word, and return that line."""
    for line in running.process.stdout:
        if word in line:
            return line
    raise AssertionError(f'{word!r} was not said')


@pytest.fixture
def rosbag2(tmp_path, prefix, monkeypatch):
    """Stand-ins for the packages of rosbag2 and for `ros2`; return what it was told."""
    for name in ('ros2bag', 'rosbag2_storage_mcap'):
        add_package(tmp_path, name)
    program = tmp_path / 'bin/ros2'
    program.parent.mkdir()
    program.write_text(ROS2)
    program.chmod(0o755)
    monkeypatch.setenv('PATH', f'{program.parent}{os.pathsep}{os.environ["PATH"]}')
    monkeypatch.setenv('AMENT_PREFIX_PATH',
                       f'{tmp_path}{os.pathsep}{os.environ["AMENT_PREFIX_PATH"]}')

    def told(running):
        return json.loads(until_said(running, 'CALLED').split('CALLED', 1)[1])
    return told


@pytest.fixture
def bag(tmp_path):
    """Return a bag of a robot that stands for half a second."""
    path = tmp_path / 'robot'
    with BagWriter(path) as writer:
        number = writer.types.types['std_msgs/msg/Float64']
        for topic in ('/number', '/cmd_vel'):
            writer.add(topic, 'std_msgs/msg/Float64')
            for k in range(11):
                writer.write_message(topic, 10**18 + k * 50_000_000, number(float(k)))
    return path


def test_the_recorder_of_the_suite_leaves_a_complete_bag(launch_file, tmp_path):
    path = tmp_path / 'bag'
    running = launch_file('record.launch.py', 'recorder:=c3p', f'bag_path:={path}',
                          'namespace:=robot_1')
    until_said(running, 'recording')
    code, output = running.interrupt()
    assert code == 0, output
    assert (path / 'metadata.yaml').is_file() and isinstance(topics_of(path), dict)


def test_a_played_bag_ends_the_launch(launch_file, bag):
    code, output = launch_file('playback.launch.py', 'player:=c3p', f'bag:={bag}', 'rate:=10'
                               ).end()
    assert code == 0 and 'muted because they command a robot: /cmd_vel' in output
    assert 'shutting down launched system' in output


def test_a_bag_that_is_none_ends_it_with_an_error(launch_file, tmp_path):
    code, output = launch_file('playback.launch.py', 'player:=c3p', f'bag:={tmp_path}/none').end()
    assert code == 1 and 'no such file or directory' in output
    code, output = launch_file('playback.launch.py').end()
    assert code == 1 and 'Add bag:=DIRECTORY' in output
    code, output = launch_file('record.launch.py', 'recorder:=rosbag2').end()
    assert code == 1 and 'apt install' in output


def test_rosbag2_records_with_full_names_and_overrides(launch_file, rosbag2, tmp_path):
    running = launch_file('record.launch.py', 'namespace:=robot_1', f'bag_path:={tmp_path}/bag',
                          'compression:=zstd')
    words, profiles = rosbag2(running)
    assert words[:5] == ['bag', 'record', '--storage', 'mcap', '--output']
    assert words[words.index('--storage-preset-profile') + 1] == 'zstd_fast'
    topics = words[words.index('--topics') + 1:]
    assert {'/robot_1/joint_states', '/robot_1/tf_static', '/diagnostics'} <= set(topics)
    assert profiles['/robot_1/tf_static']['durability'] == 'transient_local'
    assert profiles['/robot_1/joint_states']['depth'] == 2000 and '/rosout' in profiles
    assert '--snapshot-mode' not in words
    assert running.interrupt()[0] == 0


def test_rosbag2_takes_snapshots_and_plays_what_is_not_muted(launch_file, rosbag2, tmp_path, bag):
    running = launch_file('record.launch.py', 'recorder:=rosbag2', f'bag_path:={tmp_path}/bag',
                          'snapshot_seconds:=30', 'snapshot_megabytes:=64')
    words, _ = rosbag2(running)
    assert words[words.index('--snapshot-mode') + 1:][:2] == ['--max-cache-size', str(64 * 2**20)]
    running.interrupt()
    running = launch_file('playback.launch.py', f'bag:={bag}', 'loop:=true', 'rate:=2')
    words, profiles = rosbag2(running)
    assert words[:3] == ['bag', 'play', str(bag)] and '--loop' in words
    assert words[words.index('--topics') + 1:] == ['/number']
    assert words[words.index('--clock') + 1] == '100' and words[words.index('--rate') + 1] == '2'
    assert profiles['/robot_description']['durability'] == 'transient_local'
    running.interrupt()


def test_every_override_is_of_a_topic_that_is_recorded():
    root = Path(__file__).resolve().parents[2]
    topics = yaml.safe_load((root / 'config/record_topics.yaml').read_text())
    profiles = yaml.safe_load((root / 'config/qos_overrides.yaml').read_text())
    names = {f'/{t.lstrip("/")}' for t in topics['topics']}
    assert set(profiles) <= names
    latched = {t for t, p in profiles.items() if p['durability'] == 'transient_local'}
    assert latched == {f'/{t.lstrip("/")}' for t in topics['latched']}
