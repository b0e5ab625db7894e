# SPDX-License-Identifier: Apache-2.0
"""
Latency, jitter and CPU of the control loop on real topics, all nodes in one process.

Latency is from the publication of ``joint_states`` to the arrival of the ``wheel_effort`` that it
caused: four nodes, five hops. Each line is a process of its own; the peer is rclpy's
SingleThreadedExecutor in the same run.

    python benchmarks/bench_loop.py [--seconds 10] [--rates 200 500 1000]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

HEADER = ('executor', 'rate [Hz]', 'p50 [ms]', 'p99 [ms]', 'max [ms]', 'late p99 [ms]', 'overruns',
          'answered', 'CPU of a core')


def child(kind: str, rate: float, seconds: float) -> None:
    """Run the loop in this process while the robot drives, and print its figures as JSON."""
    import rclpy
    from geometry_msgs.msg import PoseStamped

    from c3p_bringup.nodes import CHAIN, node_class
    from c3p_ros.executor import make_executor, spin, steady_process
    from c3p_simulation.simulation_node import SimulationNode

    rclpy.init(args=['--ros-args', '-p', f'simulation:rate:={rate}', '--log-level', 'error'])
    executor = make_executor(kind)
    nodes = [factory() for factory in (*map(node_class, CHAIN), SimulationNode)]
    for node in nodes:
        executor.add_node(node)
    pace = nodes[-1].pace
    steady_process()
    spin_for(spin, executor, 2.0)
    # from here on the goal is under way and the figures count
    goal = nodes[0].create_publisher(PoseStamped, 'goal_pose', 1)
    spin_for(spin, executor, 0.5)
    message = PoseStamped()
    message.pose.position.x, message.pose.orientation.w = 20.0, 1.0
    goal.publish(message)
    pace.latency.__init__()
    pace.lateness.__init__()
    cycles, overruns = pace.cycles, pace.overruns
    answered, begin, cpu = pace.answered, time.monotonic(), time.process_time()
    spin_for(spin, executor, seconds)
    cycles = pace.cycles - cycles
    print(json.dumps({
        'p50': 1e3 * pace.latency.quantile(0.5),
        'p99': 1e3 * pace.latency.quantile(0.99), 'max': 1e3 * pace.latency.largest,
        'late': 1e3 * pace.lateness.quantile(0.99),
        'overruns': pace.overruns - overruns,
        'answered': (pace.answered - answered) / cycles,
        'cpu': (time.process_time() - cpu) / (time.monotonic() - begin)}))
    executor.shutdown(timeout_sec=1.0)
    for node in nodes:
        node.destroy_node()
    rclpy.try_shutdown()


def spin_for(spin, executor, seconds: float) -> None:
    """Spin for `seconds`."""
    end = time.monotonic() + seconds
    spin(executor, lambda: time.monotonic() > end)


def measure(kind: str, rate: float, seconds: float, repeats: int) -> dict[str, float]:
    """Return the medians of `repeats` runs, each in a fresh process."""
    runs = []
    for _ in range(repeats):
        output = subprocess.run(
            [sys.executable, __file__, '--child', kind, '--rates', str(rate), '--seconds',
             str(seconds)], check=True, capture_output=True, text=True).stdout
        runs.append(json.loads(output.strip().splitlines()[-1]))
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=10.0)
    parser.add_argument('--rates', type=float, nargs='+', default=[200.0, 500.0, 1000.0])
    parser.add_argument('--repeats', type=int, default=3)
    parser.add_argument('--child', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if arguments.child:
        child(arguments.child, arguments.rates[0], arguments.seconds)
        return
    print('| ' + ' | '.join(HEADER) + ' |')
    print('|' + '---|' * len(HEADER))
    for rate in arguments.rates:
        for kind in ('events', 'single'):
            run = measure(kind, rate, arguments.seconds, arguments.repeats)
            cells = [kind, f'{rate:.0f}', f'{run["p50"]:.2f}', f'{run["p99"]:.2f}',
                     f'{run["max"]:.2f}', f'{run["late"]:.2f}', f'{run["overruns"]:.0f}',
                     f'{100 * run["answered"]:.2f} %', f'{100 * run["cpu"]:.0f} %']
            print('| ' + ' | '.join(cells) + ' |', flush=True)


if __name__ == '__main__':
    main()
