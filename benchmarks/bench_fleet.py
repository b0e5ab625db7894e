# SPDX-License-Identifier: Apache-2.0
"""
Fleets of simulated robots on one computer: latency of the loop, processor time and discovery.

Three arrangements: ``graph``, a process for each robot, all in one domain with namespaces;
``domains``, a process and a domain for each robot; ``process``, all robots in one process. Robots
drive while they are measured. Times are by the clock: the computer must be idle.

    python benchmarks/bench_fleet.py --write-docs     # out/fleet.json and docs/fleets.md
"""

from __future__ import annotations

import argparse
import json
import math
import os
import queue
import re
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / 'docs/fleets.md'
BLOCK = re.compile(r'(<!-- fleet: begin -->\n).*?(<!-- fleet: end -->)', re.DOTALL)

SIZES = (1, 2, 5, 10, 20)
ARRANGEMENTS = {'graph': 'a process each, one domain', 'domains': 'a process and a domain each',
                'process': 'all in one process'}
# in the picture of growth
SHORT = {'graph': 'one domain', 'domains': 'a domain each', 'process': 'one process'}
RATES = (50.0, 200.0)
# nodes of a robot: the control chain and the simulated robot
NODES = 5
# longest waits for the start of all processes and for discovery, s
START, DISCOVERY = 300.0, 30.0
# time before the goal and after it, before the measurement, s
SETTLE = 1.0
# lowest speed of a robot that counts as driving, m/s
DRIVES = 0.1
# longest wait for figures, s
PATIENCE = 60.0
# longest wait for the end of a process, s
END = 5.0
# robots × rate that are measured at most: no computer of a few cores runs more, Hz
MOST = 2000.0
# what is reported: title, unit
QUANTITIES = {'p50': ('latency p50', 'ms'), 'p99': ('latency p99, worst robot', 'ms'),
              'driving': ('robots that drive', '%'), 'overruns': ('overruns', '%'),
              'answered': ('cycles answered', '%'),
              'cpu': ('processor time per robot', '% of a core'),
              'discovery': ('discovery after', 's'), 'memory': ('memory of a process', 'MB'),
              'private': ('not shared', 'MB')}


def memory() -> dict[str, float]:
    """Return the largest resident memory of this process and what it shares with none now, MB."""
    def pairs(name: str) -> dict[str, str]:
        lines = Path(f'/proc/self/{name}').read_text(encoding='utf-8').splitlines()
        return {key: value for key, _, value in (line.partition(':') for line in lines)}

    status, pages = pairs('status'), pairs('smaps_rollup')
    return {'memory': float(status['VmHWM'].split()[0]) / 1e3,
            'private': sum(float(pages[name].split()[0]) for name in
                           ('Private_Clean', 'Private_Dirty')) / 1e3}


def child(names: list[str], rate: float, seconds: float, robots: int) -> None:
    """Run robots in this process; print a line when they have started, and their figures."""
    from geometry_msgs.msg import PoseStamped

    from c3p_bringup.nodes import CHAIN, node_class
    from c3p_ros.executor import steady_process
    from c3p_ros.session import FRAME_REMAPPINGS, Session
    from c3p_simulation.simulation_node import SimulationNode

    asked = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), asked.set()), daemon=True).start()
    with Session([*FRAME_REMAPPINGS, '--log-level', 'fatal']) as session:
        simulated, goals = [], []
        for name in names:
            nodes = [session.add(node_class(one), namespace=name) for one in CHAIN]
            simulated.append(session.add(SimulationNode, {'rate': rate}, namespace=name))
            goals.append(nodes[0].create_publisher(PoseStamped, 'goal_pose', 1))
        created = time.monotonic()
        steady_process()
        print(json.dumps({'created': created}), flush=True)

        def complete() -> bool:
            return len(nodes[0].get_node_names()) >= NODES * robots

        session.until(lambda: complete() or asked.is_set(), period=0.02)
        if complete():
            print(json.dumps({'discovered': time.monotonic()}), flush=True)
        session.until(asked.is_set)
        session.wait(SETTLE)
        for goal in goals:
            message = PoseStamped()
            message.pose.position.x, message.pose.orientation.w = 20.0, 1.0
            goal.publish(message)
        session.wait(SETTLE)
        for robot in simulated:
            robot.pace.count_afresh(time.monotonic())
        places = [robot.plant.truth().pose[:2].copy() for robot in simulated]
        begin, cpu = time.monotonic(), time.process_time()
        session.wait(seconds)
        elapsed = time.monotonic() - begin
        cpu = (time.process_time() - cpu) / elapsed
        paces = [robot.pace for robot in simulated]
        driving = [math.dist(place, robot.plant.truth().pose[:2]) > DRIVES * elapsed
                   for robot, place in zip(simulated, places, strict=True)]
        print(json.dumps({'figures': {'cpu': 100 * cpu / len(names), **memory(), 'loops': [{
            'p50': 1e3 * pace.latency.quantile(0.5), 'p99': 1e3 * pace.latency.quantile(0.99),
            'driving': 100 * drives,
            'overruns': 100 * pace.overruns / max(pace.cycles + pace.overruns, 1),
            # an answer of the cycle before may be counted
            'answered': min(100.0, 100 * pace.answered / max(pace.cycles, 1))}
            for pace, drives in zip(paces, driving, strict=True)]}}), flush=True)


class Process:
    """A process with the robots `names` of a fleet of `robots`, in a domain."""

    def __init__(self, names: list[str], rate: float, seconds: float, robots: int, domain: int
                 ) -> None:
        """Start the process."""
        self._process = subprocess.Popen(
            [sys.executable, __file__, '--child', *names, '--rates', str(rate), '--seconds',
             str(seconds), '--sizes', str(robots)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True, env={**os.environ, 'ROS_DOMAIN_ID': str(domain)})
        self._lines: queue.Queue[dict[str, Any] | None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self._process.stdout or ():
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def told(self, key: str, end: float) -> Any:
        """Return what it prints under `key` until the monotonic time `end`, or None."""
        while True:
            try:
                line = self._lines.get(timeout=max(end - time.monotonic(), 0.0))
            except queue.Empty:
                return None
            if line is None:
                raise RuntimeError('a process of the fleet has ended')
            if key in line:
                return line[key]

    def go(self) -> None:
        """Let its robots drive."""
        assert self._process.stdin
        self._process.stdin.write('go\n')
        self._process.stdin.flush()

    def end(self) -> None:
        """Let the process end, which removes its shared memory; kill it if it does not."""
        try:
            self._process.wait(END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def run(arrangement: str, robots: int, rate: float, seconds: float, domain: int
        ) -> dict[str, float]:
    """Return the quantities of one fleet; `domain` is the first that it uses."""
    names = [f'robot{k + 1}' for k in range(robots)]
    apart = arrangement == 'domains'
    groups = [names] if arrangement == 'process' else [[name] for name in names]
    processes = [Process(group, rate, seconds, 1 if apart else robots, domain + apart * k)
                 for k, group in enumerate(groups)]

    def told(key: str, patience: float) -> list[Any]:
        end = time.monotonic() + patience
        return [process.told(key, end) for process in processes]

    try:
        created = told('created', START)
        if None in created:
            raise RuntimeError(f'{robots} robots have not started after {START:.0f} s')
        seen = told('discovered', DISCOVERY)
        # processes that wait for others go on, too
        for process in processes:
            process.go()
        found = told('figures', 2 * SETTLE + seconds + PATIENCE)
    finally:
        for process in processes:
            process.end()
    if None in found:
        raise RuntimeError(f'{robots} robots have no figures')
    loops = [loop for line in found for loop in line['loops']]
    discovery = math.inf if None in seen else max(max(seen) - max(created), 0.0)
    return {'p50': statistics.median(loop['p50'] for loop in loops),
            'p99': max(loop['p99'] for loop in loops),
            **{key: statistics.mean(loop[key] for loop in loops)
               for key in ('driving', 'overruns', 'answered')},
            'cpu': statistics.mean(line['cpu'] for line in found), 'discovery': discovery,
            **{key: max(line[key] for line in found) for key in ('memory', 'private')}}


def curves(found: dict[tuple[str, float], dict[int, dict[str, float]]]) -> list[dict[str, Any]]:
    """Return the quantities of all fleets by their size, as curves for JSON."""
    return [{'name': f'{SHORT[arrangement]}, {rate:g} Hz', 'over': 'robots', 'title': title,
             'unit': unit, 'x': list(by_size), 'y': [one[key] for one in by_size.values()],
             'arrangement': arrangement, 'rate': rate, 'quantity': key, 'drawn': key == 'p99'}
            for (arrangement, rate), by_size in found.items()
            for key, (title, unit) in QUANTITIES.items()]


def measure(sizes: tuple[int, ...], rates: tuple[float, ...], seconds: float, domain: int
            ) -> list[dict[str, Any]]:
    """Return the curves of all arrangements."""
    found: dict[tuple[str, float], dict[int, dict[str, float]]] = {}
    for arrangement in ARRANGEMENTS:
        for rate in rates:
            by_size = found.setdefault((arrangement, rate), {})
            for robots in (size for size in sizes if size * rate <= MOST):
                try:
                    by_size[robots] = run(arrangement, robots, rate, seconds, domain)
                except RuntimeError as error:
                    # a size that does not run leaves the others
                    print(f'{arrangement}, {rate:g} Hz: {error}', file=sys.stderr)
                    continue
                print(arrangement, f'{rate:g} Hz', robots, {
                    key: round(value, 2) for key, value in by_size[robots].items()},
                    file=sys.stderr, flush=True)
    return curves(found)


def figures(quick: bool = False) -> list[dict[str, Any]]:
    """Return the curves; `quick` measures one and two robots."""
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    first = int(os.environ.get('ROS_DOMAIN_ID') or 41)
    return measure(SIZES[:2] if quick else SIZES, RATES, 2.0 if quick else 3.0, first)


def table(found: list[dict[str, Any]]) -> str:
    """Return the curves as a table in Markdown: a line for each fleet."""
    titles = [f'{title} [{unit}]' for title, unit in QUANTITIES.values()]
    text = ['| arrangement | rate [Hz] | robots | ' + ' | '.join(titles) + ' |',
            '|---|---|---|' + '---|' * len(titles)]
    kinds = dict.fromkeys((one['arrangement'], one['rate'], robots)
                          for one in found for robots in one['x'])
    for arrangement, rate, robots in kinds:
        values = {one['quantity']: dict(zip(one['x'], one['y'], strict=True)).get(robots)
                  for one in found if (one['arrangement'], one['rate']) == (arrangement, rate)}
        text.append(f'| {ARRANGEMENTS[arrangement]} | {rate:g} | {robots} | '
                    + ' | '.join(cell(values[key]) for key in QUANTITIES) + ' |')
    return '\n'.join(text)


def cell(value: float) -> str:
    """
    Return a number for the table.

    Examples
    --------
    >>> cell(0.612), cell(99.96), cell(23.4), cell(math.inf)
    ('0.61', '100', '23', 'never')
    """
    if value == math.inf:
        return 'never'
    return f'{value:.2f}' if abs(value) < 10.0 else f'{value:.0f}'


def write_page(found: list[dict[str, Any]], where: str, page: Path = PAGE) -> None:
    """
    Write the table of `found` into docs/fleets.md, between its two marks.

    `where` describes the computer.
    """
    text = page.read_text(encoding='utf-8')
    page.write_text(BLOCK.sub(lambda mark: f'{mark[1]}{where}\n\n{table(found)}\n{mark[2]}', text),
                    encoding='utf-8')


def main() -> None:
    """Measure, print the table, and write JSON and page."""
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[1])
    parser.add_argument('--sizes', type=int, nargs='+', default=SIZES)
    parser.add_argument('--rates', type=float, nargs='+', default=RATES)
    parser.add_argument('--seconds', type=float, default=3.0)
    parser.add_argument('--domain', type=int, default=int(os.environ.get('ROS_DOMAIN_ID') or 41),
                        help='first of as many domains as robots (default: %(default)s)')
    parser.add_argument('--quick', action='store_true', help='one and two robots')
    parser.add_argument('--from', dest='source', type=Path, metavar='FILE',
                        help='read this JSON instead of measuring')
    parser.add_argument('--out', type=Path, default=Path('out/fleet.json'))
    parser.add_argument('--write-docs', action='store_true', help='write docs/fleets.md')
    parser.add_argument('--child', nargs='+', help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    os.environ.setdefault('ROS_AUTOMATIC_DISCOVERY_RANGE', 'LOCALHOST')
    if arguments.child:
        child(arguments.child, arguments.rates[0], arguments.seconds, arguments.sizes[0])
        return
    if arguments.source:
        results = json.loads(arguments.source.read_text(encoding='utf-8'))
    else:
        from run import described, machine

        sizes = tuple(arguments.sizes)[:2] if arguments.quick else tuple(arguments.sizes)
        where = described(machine())
        results = {'where': where, 'curves': measure(sizes, tuple(arguments.rates),
                                                     arguments.seconds, arguments.domain)}
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(results, indent=1) + '\n', encoding='utf-8')
    print(table(results['curves']))
    if arguments.write_docs:
        write_page(results['curves'], results['where'])


if __name__ == '__main__':
    main()
