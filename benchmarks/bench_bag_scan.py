# SPDX-License-Identifier: Apache-2.0
"""
Time per message from a recorded bag to arrays: MCAP scan with CDR tables, and rosbags beside it.

The bag is synthetic: joint_states, odom, wheel_effort and wheel slip at 200 Hz, uncompressed MCAP.
The first line is what `c3p report` runs; the second reads the same messages one by one.

    python benchmarks/bench_bag_scan.py [--seconds 60] [--repeats 3]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from measuring import Figure, beside, python, turns

from c3p_bags.runs.log_reader import read_run
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagWriter
from c3p_description.reading.loader import load_casters
from c3p_ros.cdr import POSE, TWIST
from c3p_ros.spatial_wire import OdometryWriter
from c3p_ros.wire import JointStateWriter

RATE = 200
JOINTS, ODOMETRY = 'sensor_msgs/msg/JointState', 'nav_msgs/msg/Odometry'
TOPICS = {'/joint_states': JOINTS, '/odom': ODOMETRY, '/wheel_effort': JOINTS,
          '/sensed_kinematics/wheel_slip': JOINTS}


def write(path: Path, seconds: float) -> int:
    """Write the bag; return the number of its messages."""
    robot, rng = load_casters('c3p'), np.random.default_rng(1)
    names = [*robot.steering_joints, *robot.wheel_joints]
    fields = ('position', 'velocity', 'effort')
    joints, odom = JointStateWriter(names, fields), OdometryWriter('odom', 'base_link')
    effort = JointStateWriter(robot.wheel_joints, ('effort',))
    slip = JointStateWriter(robot.wheel_joints, fields)
    cycles = round(seconds * RATE)
    with BagWriter(path) as writer:
        for topic, kind in TOPICS.items():
            writer.add(topic, kind)
        for k in range(cycles):
            stamp, numbers = 10**18 + k * (10**9 // RATE), rng.normal(size=(3, len(names)))
            some = numbers[:, :robot.count]
            pose = np.eye(POSE)[POSE - 1]
            for topic, data in zip(TOPICS, (
                    joints(stamp, **dict(zip(fields, numbers, strict=True))),
                    odom(stamp, pose, rng.normal(size=TWIST)), effort(stamp, effort=some[0]),
                    slip(stamp, **dict(zip(fields, np.abs(some), strict=True)))), strict=True):
                writer.write(topic, stamp, data)
    return cycles * len(TOPICS)


def best(read: Callable[[], object], repeats: int) -> float:
    """Return the least processor time of some runs, s."""
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        read()
        times.append(time.process_time() - begin)
    return min(times)


def figures(quick: bool = False) -> list[Figure]:
    """Return the processor times per message; `quick` reads a shorter bag."""
    robot = load_casters('c3p')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'bag'
        count = write(path, 20.0 if quick else 60.0)

        def arrays() -> None:
            with Bag(path) as bag:
                read_run(bag, robot)

        def messages() -> None:
            with Bag(path) as bag:
                sum(1 for _ in bag.messages(bag.topics))

        times = turns({'tables': python(arrays), 'rosbags': python(messages)}, 5 if quick else 11,
                      counts={'tables': 1, 'rosbags': 1})
    return [beside('message of a bag to arrays', {key: value / count for key, value in
                                                  times.items()}, 'tables', 'rosbags', 5.0)]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--repeats', type=int, default=3)
    arguments = parser.parse_args()
    robot = load_casters('c3p')
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'bag'
        count = write(path, arguments.seconds)

        def arrays() -> None:
            with Bag(path) as bag:
                read_run(bag, robot)

        def messages() -> None:
            with Bag(path) as bag:
                sum(1 for _ in bag.messages(bag.topics))

        print('| reader | messages | time [s] | per message [µs] |\n|---|---|---|---|')
        for name, read in (('tables', arrays), ('rosbags', messages)):
            taken = best(read, arguments.repeats)
            print(f'| {name} | {count} | {taken:.2f} | {1e6 * taken / count:.1f} |', flush=True)


if __name__ == '__main__':
    main()
