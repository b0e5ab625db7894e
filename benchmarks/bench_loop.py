# SPDX-License-Identifier: Apache-2.0
"""
Latency, jitter and CPU of the control loop on real topics, all nodes in one process.

Latency is from the publication of ``joint_states`` to the arrival of the ``wheel_effort`` that it
caused. Each line is a process of its own, and its times are by the clock: the computer must be
idle. ``--peer`` adds the same nodes as rclpy alone runs them (each message by the middleware, also
between nodes of a process), ``--ahead`` the parameter mpc.solve_ahead, ``--real-time`` the options
of robot_nodes (priority 50, locked memory, processors awake, 6 % of busy wait), where they are
permitted.

    python benchmarks/bench_loop.py [--seconds 10] [--rates 200 500 1000] [--ahead] [--real-time]
                                    [--peer]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

import numpy as np
from measuring import Figure, spread

HEADER = ('nodes', 'rate [Hz]', 'p50 [ms]', 'p99 [ms]', 'max [ms]', 'late p99 [ms]', 'overruns',
          'answered', 'CPU of a core')

OURS, PEER = 'ours', 'rclpy alone'


def child(kind: str, rate: float, seconds: float, ahead: bool, real_time: bool) -> None:
    """Run the loop in this process while the robot drives, and print its figures as JSON."""
    from geometry_msgs.msg import PoseStamped

    from c3p_bringup.nodes import CHAIN, node_class
    from c3p_ros.executor import steady_process
    from c3p_ros.node import SuiteNode
    from c3p_ros.real_time import RealTime, apply
    from c3p_ros.session import Session
    from c3p_simulation.simulation_node import SimulationNode

    if kind == PEER:
        SuiteNode.join = lambda self, exchange: None
    with Session(['--ros-args', '-p', f'simulation:rate:={rate}', '-p',
                  f'velocity_controller:mpc.solve_ahead:={str(ahead).lower()}', '--log-level',
                  'error'], executor='events') as session:
        nodes = [session.add(factory) for factory in (*map(node_class, CHAIN), SimulationNode)]
        pace = nodes[-1].pace
        steady_process()
        if real_time:
            apply(RealTime(priority=50, lock_memory=True, awake=True, busy_wait=0.06 / rate))
        session.wait(2.0)
        # from here on the goal is under way and samples count
        goal = nodes[0].create_publisher(PoseStamped, 'goal_pose', 1)
        session.wait(0.5)
        message = PoseStamped()
        message.pose.position.x, message.pose.orientation.w = 20.0, 1.0
        goal.publish(message)
        pace.latency.__init__()
        pace.lateness.__init__()
        cycles, overruns = pace.cycles, pace.overruns
        answered, begin, cpu = pace.answered, time.monotonic(), time.process_time()
        session.wait(seconds)
        cycles = pace.cycles - cycles
        print(json.dumps({
            'p50': 1e3 * pace.latency.quantile(0.5),
            'p99': 1e3 * pace.latency.quantile(0.99), 'max': 1e3 * pace.latency.largest,
            'late': 1e3 * pace.lateness.quantile(0.99),
            'overruns': pace.overruns - overruns, 'cycles': cycles,
            'answered': (pace.answered - answered) / cycles,
            'cpu': (time.process_time() - cpu) / (time.monotonic() - begin)}))


def measure(kind: str, rate: float, seconds: float, repeats: int, ahead: bool = False,
            real_time: bool = False) -> list[dict[str, float]]:
    """Return the figures of `repeats` runs, each in a fresh process."""
    options = ['--ahead'] * ahead + ['--real-time'] * real_time
    return [json.loads(subprocess.run(
        [sys.executable, __file__, '--child', kind, '--rates', str(rate), '--seconds',
         str(seconds), *options], check=True, capture_output=True, text=True
        ).stdout.strip().splitlines()[-1]) for _ in range(repeats)]


def permitted() -> bool:
    """Return whether this process may have the real-time options."""
    return subprocess.run(
        [sys.executable, '-c', 'from c3p_ros.real_time import RealTime, apply; '
         'apply(RealTime(priority=50, lock_memory=True, awake=True))'], check=False,
        capture_output=True).returncode == 0


def figures(quick: bool = False) -> list[Figure]:
    """Return latencies at 200 Hz and overruns at 1 kHz, without and with options."""
    repeats, seconds, found = 1 if quick else 3, 3.0 if quick else 10.0, []
    for how, ahead, real_time in (('', False, False), (', solve_ahead', True, False),
                                  (', solve_ahead and real-time options', True, True)):
        if real_time and not permitted():
            continue
        slow = measure(OURS, 200.0, seconds, repeats, ahead, real_time)
        fast = measure(OURS, 1000.0, seconds, repeats, ahead, real_time)
        for name, unit, runs, key, bar in (
                ('latency of the loop at 200 Hz, p50', 'ms', slow, 'p50', 0.4),
                ('latency of the loop at 200 Hz, p99', 'ms', slow, 'p99', 1.0),
                ('overruns of 10 000 cycles at 1 kHz', 'cycles', fast, 'overruns', 5.0)):
            scale = 1.0 if unit == 'ms' else 1e4 / fast[0]['cycles']
            found.append(Figure(f'{name}{how}', unit, spread([scale * run[key] for run in runs]),
                                bar=bar))
    # in turns, so that other work on the computer slows both
    pairs = [(measure(OURS, 200.0, seconds, 1)[0], measure(PEER, 200.0, seconds, 1)[0])
             for _ in range(repeats)]
    for key in ('p50', 'p99'):
        ours, theirs = np.array([[run[key] for run in pair] for pair in pairs]).T
        found.append(Figure(f'the same at 200 Hz, {key}', 'ms', spread(ours), PEER,
                            spread(theirs), spread(theirs / ours)))
    # ours may have none, so that there is no ratio
    alone = measure(PEER, 1000.0, seconds, repeats)
    found.append(Figure(f'overruns of 10 000 cycles at 1 kHz, {PEER}', 'cycles',
                        spread([1e4 * run['overruns'] / run['cycles'] for run in alone])))
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=10.0)
    parser.add_argument('--rates', type=float, nargs='+', default=[200.0, 500.0, 1000.0])
    parser.add_argument('--repeats', type=int, default=3)
    parser.add_argument('--ahead', action='store_true', help='with mpc.solve_ahead')
    parser.add_argument('--real-time', action='store_true', help='with real-time options')
    parser.add_argument('--peer', action='store_true', help='beside rclpy alone')
    parser.add_argument('--child', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if arguments.child:
        child(arguments.child, arguments.rates[0], arguments.seconds, arguments.ahead,
              arguments.real_time)
        return
    print('| ' + ' | '.join(HEADER) + ' |')
    print('|' + '---|' * len(HEADER))
    for rate in arguments.rates:
        for kind in (OURS, PEER)[:1 + arguments.peer]:
            runs = measure(kind, rate, arguments.seconds, arguments.repeats, arguments.ahead,
                           arguments.real_time)
            run = {key: statistics.median(one[key] for one in runs) for key in runs[0]}
            cells = [kind, f'{rate:.0f}', f'{run["p50"]:.2f}', f'{run["p99"]:.2f}',
                     f'{run["max"]:.2f}', f'{run["late"]:.2f}',
                     f'{run["overruns"]:.0f} of {run["cycles"]:.0f}',
                     f'{100 * run["answered"]:.2f} %', f'{100 * run["cpu"]:.0f} %']
            print('| ' + ' | '.join(cells) + ' |', flush=True)


if __name__ == '__main__':
    main()
