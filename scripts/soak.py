# SPDX-License-Identifier: Apache-2.0
"""
Soak test: run a robot for an hour under faults, and look for what grows, and for lost cycles.

Run from the root of the repository, in an environment with the extra ``test``::

    python scripts/soak.py chain --minutes 60 --out out/soak_chain.json
    python scripts/soak.py web --minutes 60 --out out/soak_web.json

``chain``: all nodes with emulated motor cards at 200 Hz, goals to and fro; each 30 s a fault is
injected, then the robot recovers and is armed again. ``web``: ``c3p sim --web`` with pages that
command, do not read, send nonsense, and disappear, and a simulation that is stopped for half a
second. Each 2 s memory (resident), file descriptors and threads of each process are noted. After a
warm-up their slope is fitted, with an interval of 99 %. Ends with 1 if one of them grows.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import linregress, t

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from c3p_ros.child_process import ChildProcess  # noqa: E402

# period of the samples, s, and samples whose mean is one point of the fit: neighbours are alike
SAMPLED, BLOCK = 2.0, 15
# part of the run that is left out: caches and pools fill, and kernels are loaded
WARM_UP = 0.25
# limits of the slopes, per hour: the allocator returns pages late; MB, and numbers
LIMITS = {'memory_mb': 2.0, 'descriptors': 1.0, 'threads': 1.0}
CONFIDENCE = 0.99

# period of the faults, and their scripts (docs/hardware.md)
FAULT_PERIOD = 30.0
FAULTS = ('silence:drive2+0.3', 'emcy:drive3+0.3', 'encoder_jump=512:encoder1+0.3',
          'over_temperature:drive2+1', 'power_cut:drives+0.5', 'orders_lost:drive2+0.4',
          'reboot:encoder3', 'wrong_mode:drive1+0.3')
# time from a fault until the robot is recovered, s
OVER = 3.0
GOAL_PERIOD = 8.0

# commands of the pages, the frequent ones more than once
PRESSED = ('goal',) * 5 + ('release',) * 3 + ('cancel', 'e_stop')

# time limit of the start of the nodes, s
PATIENCE = 180.0


class Samples:
    """
    Memory, descriptors and threads of processes over time.

    Attributes
    ----------
    found : dict
        Name of a process → list of (time [s], MB, descriptors, threads).
    """

    def __init__(self) -> None:
        """Begin now."""
        self._begin = time.monotonic()
        self.found: dict[str, list[tuple[float, float, int, int]]] = {}

    def look(self, processes: Mapping[str, int]) -> None:
        """Note the processes (name → number) that run."""
        for name, pid in processes.items():
            with contextlib.suppress(OSError):
                pages = int(Path(f'/proc/{pid}/statm').read_text().split()[1])
                self.found.setdefault(name, []).append((
                    time.monotonic() - self._begin, pages * os.sysconf('SC_PAGE_SIZE') / 1e6,
                    len(os.listdir(f'/proc/{pid}/fd')), len(os.listdir(f'/proc/{pid}/task'))))

    def slopes(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return last value, slope per hour and its interval, by process and what is measured."""
        return {name: {key: slope([row[0] for row in rows], [row[k + 1] for row in rows])
                       for k, key in enumerate(LIMITS)} for name, rows in self.found.items()}


def slope(times: Sequence[float], values: Sequence[float]) -> dict[str, float]:
    """
    Return last value, slope per hour and its interval of a series.

    Least squares on means of `BLOCK` samples, behind the warm-up.

    Examples
    --------
    >>> times = [2.0 * k for k in range(900)]
    >>> found = slope(times, [100.0 + 0.001 * t + 0.1 * (k % 3) for k, t in enumerate(times)])
    >>> round(found['slope'], 2), found['low'] < 3.6 < found['high']
    (3.6, True)
    """
    first = int(WARM_UP * len(times))
    blocks = (len(times) - first) // BLOCK
    if blocks < 3:
        return {'last': values[-1], 'slope': 0.0, 'low': -np.inf, 'high': np.inf}
    x, y = (np.reshape(series[len(times) - blocks * BLOCK:], (blocks, BLOCK)).mean(axis=1)
            for series in (np.array(times) / 3600.0, np.array(values, float)))
    if np.ptp(y) == 0.0:
        return {'last': values[-1], 'slope': 0.0, 'low': 0.0, 'high': 0.0}
    fit = linregress(x, y)
    half = float(t.ppf(0.5 + CONFIDENCE / 2.0, blocks - 2) * fit.stderr)
    return {'last': values[-1], 'slope': float(fit.slope), 'low': float(fit.slope) - half,
            'high': float(fit.slope) + half}


def verdict(slopes: Mapping[str, Mapping[str, Mapping[str, float]]]) -> list[str]:
    """Return what grows: the whole interval of its slope is above the limit."""
    return [f'{key} of {name} grow by {found["slope"]:.2f} an hour '
            f'({found["low"]:.2f} to {found["high"]:.2f})'
            for name, keys in slopes.items() for key, found in keys.items()
            if found['low'] > LIMITS[key]]


def children(pid: int) -> Iterator[int]:
    """Yield a process and all that it has started."""
    yield pid
    with contextlib.suppress(OSError):
        for path in Path(f'/proc/{pid}/task').glob('*/children'):
            for child in path.read_text().split():
                yield from children(int(child))


def soak_chain(seconds: float, samples: Samples) -> dict[str, Any]:
    """Run nodes and emulated cards under faults; return the statistics of the cycles."""
    from c3p_bringup.drive_client import DriveClient
    from c3p_bringup.nodes import CHAIN, module_of
    from c3p_bringup.options import DriveOptions, bus_channel, parameter_files
    from c3p_ros.session import Session

    with tempfile.TemporaryDirectory(prefix='c3p_soak_') as folder:
        place = Path(folder)
        files = parameter_files(DriveOptions((0.0, 0.0, 0.0), place, hardware='emulated'),
                                place / 'bag', place)
        ros = ['--ros-args', *(part for path in files for part in ('--params-file', str(path)))]
        log = open(place / 'log', 'wb')
        with log, Session(ros) as session:
            client = session.add(DriveClient, hardware=True)
            started = {'cards': ChildProcess([sys.executable, '-m', module_of('emulated_cards'),
                                              *ros], stdout=log, stderr=log)}
            session.at_end(started['cards'].kill)
            _wait(session, lambda: bus_channel(place).exists(), 'bus of the cards')
            started['nodes'] = ChildProcess([sys.executable, '-m', 'c3p_bringup.robot_nodes',
                                             '--hardware', *ros], stdout=log, stderr=log)
            session.at_end(started['nodes'].kill)
            try:
                _wait(session, lambda: not client.missing([*CHAIN, 'hardware_interface'], False),
                      'nodes')
            except SystemExit as error:
                missing = client.missing([*CHAIN, 'hardware_interface'], False)
                raise SystemExit(f'{error}: {missing}; {(place / "log").read_text()}') from error
            return _drive_under_faults(session, client, seconds, lambda: samples.look(
                {name: process.pid for name, process in started.items()}))


def _drive_under_faults(session: Any, client: Any, seconds: float, look: Callable[[], None]
                        ) -> dict[str, Any]:
    """Send goals, inject faults, recover; return cycles and losses between the faults."""
    from std_msgs.msg import String

    inject = client.create_publisher(String, 'emulated_cards/inject', 1)
    counted = {'cycles': 0, 'answered': 0, 'missed_cycles': 0, 'overruns': 0}
    longest = 0.0
    faults = refused = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        refused += _armed(session, client)
        _spin(session, 1.0)
        client.request('reset_statistics')
        goals = [(0.5, 0.0, 0.0), (0.0, 0.3, 0.5), (0.0, 0.0, 0.0)]
        begun = time.monotonic()
        while time.monotonic() < begun + FAULT_PERIOD - OVER:
            if time.monotonic() > begun + (3 - len(goals)) * GOAL_PERIOD and goals:
                client.send(np.array(goals.pop(0)))
            look()
            _spin(session, SAMPLED)
        # the statistics since the last recovery: losses during a fault do not count
        known = {v.key: v.value for v in client.health['hardware_interface'].values}
        for key in counted:
            counted[key] += int(known[key])
        longest = max(longest, float(known.get('late_max_ms') or 0.0))
        inject.publish(String(data=FAULTS[faults % len(FAULTS)]))
        faults += 1
        _spin(session, OVER)
    return {**counted, 'latest_cycle_ms': longest, 'faults': faults, 'refused': refused,
            'errors': len(client.errors)}


def _armed(session: Any, client: Any) -> int:
    """Recover and arm; return how often it was refused."""
    for refused in range(60):
        for name in ('recover', 'enable'):
            answer = client.request(name)
            end = time.monotonic() + 2.0
            session.until(lambda a=answer, e=end: a.done() or time.monotonic() > e, period=0.02)
        if answer.done() and answer.result().success:
            return refused
        _spin(session, 0.5)
    raise SystemExit(f'not armed again: {answer.result() if answer.done() else "no answer"}')


def _spin(session: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    session.until(lambda: time.monotonic() > end, period=0.05)


def _wait(session: Any, condition: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    session.until(lambda: condition() or time.monotonic() > end, period=0.1)
    if not condition():
        raise SystemExit(f'the {what} did not start within {PATIENCE:.0f} s')


class Pages:
    """
    Pages of the live page, each in a thread, until `close`.

    Parameters
    ----------
    host, code : str
        Of the printed address.
    """

    def __init__(self, host: str, code: str) -> None:
        """Exchange the code for the secret, and start all."""
        from websockets.sync import client

        self._host = host
        self._connect = client.connect
        self._over = threading.Event()
        self.done = {'commands': 0, 'refused': 0, 'lost': 0, 'nonsense': 0, 'slow': 0}
        with self._open({'code': code}) as first:
            self._session = json.loads(first.recv(timeout=20.0))['welcome']['session']
        self._threads = [threading.Thread(target=self._keep, args=(each,), daemon=True)
                         for each in (self._commands, self._commands, self._disappears,
                                      self._nonsense, self._slow)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End all."""
        self._over.set()
        for thread in self._threads:
            thread.join(30.0)

    @contextlib.contextmanager
    def _open(self, first: object) -> Iterator[Any]:
        with self._connect(f'ws://{self._host}/socket', origin=f'http://{self._host}',
                           ping_interval=None) as opened:
            opened.send(json.dumps(first))
            yield opened

    def _keep(self, play: Callable[[random.Random], None]) -> None:
        """Play again and again; a page that was closed is opened again."""
        draw = random.Random(play.__name__)
        while not self._over.is_set():
            try:
                play(draw)
            except Exception:
                self.done['lost'] += 1
            self._over.wait(draw.uniform(0.2, 1.0))

    def _commands(self, draw: random.Random) -> None:
        """Read everything, answer heartbeats, and command for a minute."""
        with self._open({'session': self._session}) as page:
            end = time.monotonic() + 60.0
            due = time.monotonic()
            number = 0
            while time.monotonic() < end and not self._over.is_set():
                message = json.loads(page.recv(timeout=20.0))
                if 'samples' in message or 'status' in message or 'welcome' in message:
                    page.send(json.dumps({'ready': True}))
                if 'ack' in message:
                    self.done['commands' if message['ok'] else 'refused'] += 1
                if 'beat' not in message:
                    continue
                names = ['ping']
                if time.monotonic() > due:
                    names.append(draw.choice(PRESSED))
                    due = time.monotonic() + draw.uniform(1.0, 6.0)
                for name in names:
                    number += 1
                    body = {'x': draw.uniform(-1, 1), 'y': draw.uniform(-1, 1),
                            'yaw': draw.uniform(-2, 2)} if name == 'goal' else {}
                    page.send(json.dumps({'id': number, 'name': name, 'body': body,
                                          'beat': message['beat'], 'since': 0.0}))

    def _disappears(self, draw: random.Random) -> None:
        """Open a page and cut it off without a word."""
        with self._open({'session': self._session}) as page:
            page.recv(timeout=20.0)
            page.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b'\1\0\0\0\0\0\0\0')
            page.socket.close()

    def _nonsense(self, draw: random.Random) -> None:
        """Send malformed requests, or malformed commands."""
        self.done['nonsense'] += 1
        if draw.random() < 0.5:
            address = (self._host.partition(':')[0], int(self._host.partition(':')[2]))
            with socket.create_connection(address, timeout=5.0) as opened:
                opened.sendall(draw.randbytes(draw.randrange(1, 2000)))
            return
        with self._open({'session': self._session}) as page:
            page.send(draw.choice(['{', '[]', '{"id": 1}', 'x' * 5000, '{"name": 3, "id": {}}']))
            page.recv(timeout=5.0)
            self._over.wait(1.0)

    def _slow(self, draw: random.Random) -> None:
        """Open a page that reads nothing."""
        with self._open({'session': self._session}) as page:
            page.send(json.dumps({'ready': True}))
            self.done['slow'] += 1
            self._over.wait(25.0)


def soak_web(seconds: float, samples: Samples) -> dict[str, Any]:
    """Run ``c3p sim --web`` with pages and pauses; return its metrics and those of the pages."""
    with tempfile.TemporaryDirectory(prefix='c3p_soak_') as folder:
        metrics = Path(folder) / 'metrics.json'
        process = ChildProcess(
            [sys.executable, '-u', '-m', 'c3p_bringup', 'sim', '--web', '--port', '0', '--json',
             str(metrics)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        try:
            host, code = _address(process)
            # its output must not fill the pipe
            threading.Thread(target=process.stdout.read, daemon=True).start()
            pages = Pages(host, code)
            paused = 0
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                due = time.monotonic() + FAULT_PERIOD
                while time.monotonic() < min(due, end):
                    samples.look({'sim' if k == 0 else f'page {k}': pid
                                  for k, pid in enumerate(children(process.pid))})
                    time.sleep(SAMPLED)
                os.kill(process.pid, signal.SIGSTOP)
                time.sleep(0.5)
                os.kill(process.pid, signal.SIGCONT)
                paused += 1
            pages.close()
            code_of_end = process.end(signal.SIGINT, 30.0)
            found = json.loads(metrics.read_text()) if metrics.exists() else {}
            return {**found, 'pages': pages.done, 'pauses': paused, 'exit': code_of_end}
        finally:
            process.kill()


def _address(process: ChildProcess) -> tuple[str, str]:
    """Return host and code of the address that is printed."""
    for line in process.stdout:
        if found := re.search(r'http://([\w.]+:\d+)/\?code=([\w-]+)', line):
            return found[1], found[2]
    raise SystemExit('no address was printed')


def main(arguments: Sequence[str] | None = None) -> int:
    """Soak what is named, write all samples, and print slopes and verdict."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('what', choices=('chain', 'web'))
    parser.add_argument('--minutes', type=float, default=60.0)
    parser.add_argument('--out', type=Path, help='JSON of all samples')
    given = parser.parse_args(arguments)
    os.chdir(ROOT)
    samples = Samples()
    found = {'chain': soak_chain, 'web': soak_web}[given.what](60.0 * given.minutes, samples)
    slopes = samples.slopes()
    for name, keys in slopes.items():
        for key, one in keys.items():
            print(f'{name}: {key} {one["last"]:.1f}, {one["slope"]:+.2f} an hour '
                  f'({one["low"]:+.2f} to {one["high"]:+.2f})')
    print(json.dumps(found))
    if given.out:
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps({'minutes': given.minutes, 'found': found,
                                         'slopes': slopes, 'samples': samples.found}))
    grows = verdict(slopes)
    print('; '.join(grows) or 'nothing grows')
    return 1 if grows else 0


if __name__ == '__main__':
    raise SystemExit(main())
