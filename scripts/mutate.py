# SPDX-License-Identifier: Apache-2.0
"""
Test the tests: change a module of the stop chain in one place, and see whether a test fails.

Run from the root of the repository::

    python scripts/mutate.py                     # all modules, all mutants: hours
    python scripts/mutate.py twist_mux --most 60 # a random sample of one module
    python scripts/mutate.py --again             # once more what has survived

The changes are those of `mutants.py`. Each mutant runs in a process of its own that takes the
changed module instead of the file: no file is changed, and several run beside each other. Test
files are those of `MODULES`, the quickest first, until one fails; a mutant that needs ten times
the processor time of the module itself counts as killed as well. Results are kept in `--out`, so
that an interrupted run goes on, until the module changes. Mutants without any effect are listed
in `equivalent_mutants.yaml`, with the reason, and are left out of the score.

The order is random, and the same in each run, so that a part of a run is a random sample, and its
score an estimate with the interval of Wilson (95 %).
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import math
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

import yaml  # noqa: E402
from mutants import Mutant, mutants  # noqa: E402

EQUIVALENT = Path(__file__).with_name('equivalent_mutants.yaml')

# processor time of a mutant: a factor on that of the module itself, and s
TIMES, SECONDS = 10.0, 20.0
# time on the clock, as a multiple of it: for what waits for ever
WAITS = 10.0

# of the order of the mutants
SEED = 39

# quantile of the normal distribution of an interval of 95 %
Z = 1.96


class Tested(NamedTuple):
    """Module and the test files that cover it, by the folder `test`; its kernels interpreted."""

    module: str
    tests: tuple[str, ...]
    interpreted: bool = False


CARDS = 'c3p_hardware/'
LAW = 'c3p_controller/'
ODOMETRY = 'c3p_kinematics/'
MODULES: dict[str, Tested] = {
    'wheel_gate': Tested('c3p_hardware.wheel_gate', (
        CARDS + 'test_wheel_gate.py', 'c3p_ros/test_publisher_watch.py',
        CARDS + 'test_supervisor.py')),
    'command_interlock': Tested('c3p_controller.command_interlock', (
        LAW + 'test_command_interlock.py', LAW + 'goals/test_rearm.py')),
    'command_lock': Tested('c3p_controller.command_lock', (
        LAW + 'test_command_lock.py', LAW + 'test_twist_mux.py', 'attacks/test_restarts.py')),
    'twist_mux': Tested('c3p_controller.twist_mux', (
        LAW + 'test_twist_mux.py', LAW + 'test_command_lock.py', 'attacks/test_restarts.py')),
    'supervisor': Tested('c3p_hardware.supervisor', (
        CARDS + 'test_supervisor.py', CARDS + 'test_drive_watch.py', CARDS + 'test_stop_watch.py',
        CARDS + 'test_orders.py', CARDS + 'test_miswired_motors.py',
        CARDS + 'test_supervisor_sequences.py')),
    'limits': Tested('c3p_controller.limits', (
        LAW + 'test_limits.py', LAW + 'test_torque_limits.py',
        LAW + 'test_command_follower.py', LAW + 'test_divergence.py')),
    'rearm': Tested('c3p_controller.goals.rearm', (LAW + 'goals/test_rearm.py',)),
    'goal_life': Tested('c3p_controller.goals.goal_life', (
        LAW + 'goals/test_goal_life.py', LAW + 'goals/test_rearm.py')),
    'cdr': Tested('c3p_ros.cdr', (
        'c3p_ros/test_layouts.py', 'c3p_ros/test_wire_limits.py', 'c3p_ros/test_messages.py',
        'c3p_ros/test_planar_wire.py', 'c3p_ros/test_finite.py', 'c3p_ros/test_cdr_arrays.py',
        'c3p_ros/test_wire.py', 'c3p_ros/test_chain_messages.py')),
    'odometry': Tested('c3p_kinematics.odometry', (
        ODOMETRY + 'test_odometry.py', ODOMETRY + 'test_odometry_gap.py',
        ODOMETRY + 'test_odometry_stream.py', ODOMETRY + 'test_grip.py',
        ODOMETRY + 'test_odometry_slip.py', ODOMETRY + 'test_odometry_faults.py',
        ODOMETRY + 'test_sample_times.py', ODOMETRY + 'test_wiring_monitor.py')),
    'faults': Tested('c3p_kinematics.faults', (
        ODOMETRY + 'test_fault_monitor.py', ODOMETRY + 'test_wheel_faults.py',
        ODOMETRY + 'test_lasting_faults.py', ODOMETRY + 'test_odometry_faults.py')),
    'limit_kernels': Tested('c3p_controller._limit_kernels', (
        LAW + 'test_limits.py', LAW + 'test_torque_limits.py',
        LAW + 'test_command_follower.py'), interpreted=True),
    'odometry_step': Tested('c3p_kinematics._odometry_step', (
        ODOMETRY + 'test_odometry.py', ODOMETRY + 'test_odometry_gap.py',
        ODOMETRY + 'test_sample_times.py', ODOMETRY + 'test_grip.py',
        ODOMETRY + 'test_odometry_refit.py', ODOMETRY + 'test_odometry_slip.py'),
        interpreted=True)}


class Changed(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder that gives a changed module in the place of the file's."""

    def __init__(self, module: str, path: Path, mutant: Mutant) -> None:
        """Serve one module."""
        self._module = module
        self._path = path
        self._mutant = mutant

    def find_spec(self, fullname: str, path: object = None, target: object = None
                  ) -> importlib.machinery.ModuleSpec | None:
        """Return the changed module for its name, None for other modules."""
        if fullname != self._module:
            return None
        spec = importlib.util.spec_from_loader(fullname, self, origin=str(self._path))
        if spec is not None:
            spec.has_location = True
        return spec

    def exec_module(self, module: ModuleType) -> None:
        """Run the changed source."""
        exec(compile(self._mutant.tree(), str(self._path), 'exec'), module.__dict__)


def path_of(module: str) -> Path:
    """Return the file of a module."""
    return ROOT / (module.replace('.', '/') + '.py')


def run_tests(tested: Tested, mutant: Mutant | None) -> int:
    """Run the tests of a module, which may be changed, in this process; return pytest's code."""
    import pytest

    path = path_of(tested.module)
    if mutant:
        sys.meta_path.insert(0, Changed(tested.module, path, mutant))
    arguments = ['-x', '-q', '-n', '0', '-p', 'no:cacheprovider', '-m', 'not real_time',
                 '--no-header', '--tb=no', '-W', 'ignore']
    # one after the other: most mutants end in the first, and the others are not even read
    parts = (*([f'test/{name}'] for name in tested.tests), ['--doctest-modules', f'{path}'])
    codes = (int(pytest.main([*arguments, *part])) for part in parts)
    # 5: a module without examples
    return next((code for code in codes if code not in (0, 5)), 0)


def judged(tested: Tested, mutant: Mutant | None, limit: float) -> tuple[str, float]:
    """
    Return what became of a mutant in a process of its own, and its processor time, s.

    'killed' by a test, 'time' by the limit [s of processor time], 'survived'.
    """
    child = os.fork()
    if child == 0:
        # a session of its own: a test may leave processes behind
        os.setsid()
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(limit), math.ceil(limit) + 5))
        code = 99
        with contextlib.suppress(BaseException):
            code = run_tests(tested, mutant)
        os._exit(code)
    end = time.monotonic() + WAITS * limit
    while True:
        found, status, used = os.wait4(child, os.WNOHANG)
        if found:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)
    spent = used.ru_utime + used.ru_stime
    if os.WIFSIGNALED(status):
        return 'time', spent
    return ('survived' if os.WEXITSTATUS(status) == 0 else 'killed'), spent


def wilson(killed: int, count: int) -> tuple[float, float]:
    """
    Return the interval (95 %) of a fraction of which a sample of `count` has `killed`.

    Wilson, Probable inference, the law of succession, and statistical inference, JASA 22 (1927).

    Examples
    --------
    >>> [round(end, 2) for end in wilson(57, 60)]
    [0.86, 0.98]
    """
    if not count:
        return 0.0, 1.0
    share = killed / count
    middle = share + Z**2 / (2.0 * count)
    half = Z * math.sqrt(share * (1.0 - share) / count + Z**2 / (4.0 * count**2))
    whole = 1.0 + Z**2 / count
    return (middle - half) / whole, (middle + half) / whole


class Results:
    """
    Kept results, by module and mutant.

    Parameters
    ----------
    path : Path
        JSON, written after each mutant.
    """

    def __init__(self, path: Path) -> None:
        """Read what a run before has left."""
        self._path = path
        self._kept: dict[str, dict[str, str]] = (
            json.loads(path.read_text('utf-8')) if path.exists() else {})

    def of(self, name: str) -> dict[str, str]:
        """Return the results of a module as its source is now."""
        source = path_of(MODULES[name].module).read_bytes()
        return self._kept.setdefault(f'{name} {hashlib.sha256(source).hexdigest()[:12]}', {})

    def write(self) -> None:
        """Write all results; a run that is ended meanwhile leaves the file before."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        beside = self._path.with_suffix('.new')
        beside.write_text(json.dumps(self._kept, indent=1, ensure_ascii=False), 'utf-8')
        beside.replace(self._path)


def equivalents() -> Mapping[str, Mapping[str, str]]:
    """Return the mutants without an effect, with their reasons, by module."""
    return yaml.safe_load(EQUIVALENT.read_text('utf-8')) or {}


def report(name: str, results: Mapping[str, str], count: int) -> str:
    """Return the score of a module and its survivors, as text."""
    same = equivalents().get(name, {})
    counted = {mutant: state for mutant, state in results.items() if mutant not in same}
    survivors = [mutant for mutant, state in counted.items() if state == 'survived']
    killed = len(counted) - len(survivors)
    low, high = wilson(killed, len(counted))
    share = 100.0 * killed / len(counted) if counted else math.nan
    lines = [f'{name}: {killed} of {len(counted)} killed, {share:.1f} % '
             f'({100 * low:.0f} to {100 * high:.0f}), {len(results) - len(counted)} equivalent, '
             f'{count} mutants in all']
    return '\n'.join([*lines, *(f'  {mutant}' for mutant in survivors)])


def libraries() -> None:
    """Import what no mutant changes, once for all processes."""
    import hypothesis  # noqa: F401
    import numba  # noqa: F401
    import numpy  # noqa: F401
    import pytest  # noqa: F401
    import scipy.linalg  # noqa: F401
    import scipy.optimize  # noqa: F401
    import scipy.stats  # noqa: F401


def run(name: str, results: Results, given: argparse.Namespace, end: float) -> bool:
    """Judge the mutants of a module; return whether all of the sample are judged."""
    tested = MODULES[name]
    if tested.interpreted != (os.environ.get('NUMBA_DISABLE_JIT') == '1'):
        print(f'{name}: run it {"with" if tested.interpreted else "without"} '
              'NUMBA_DISABLE_JIT=1', flush=True)
        return True
    all_mutants = mutants(path_of(tested.module).read_text('utf-8'))
    random.Random(SEED).shuffle(all_mutants)
    known = results.of(name)
    wanted = all_mutants[:given.most]
    todo = [one for one in wanted if one.name not in known
            or given.again and known[one.name] == 'survived'
            and one.name not in equivalents().get(name, {})]
    if todo:
        state, spent = judged(tested, None, 1000.0)
        if state != 'survived':
            raise SystemExit(f'{name}: its tests fail without a change: {tested.tests}')
        limit = SECONDS + TIMES * spent
        with ThreadPoolExecutor(given.workers) as pool:
            def judge(mutant: Mutant) -> None:
                if time.monotonic() < end:
                    known[mutant.name] = judged(tested, mutant, limit)[0]
            for done, _ in enumerate(pool.map(judge, todo)):
                if done % given.workers == 0:
                    results.write()
        results.write()
    print(report(name, {one.name: known[one.name] for one in wanted if one.name in known},
                 len(all_mutants)), flush=True)
    return all(one.name in known for one in wanted)


def main(arguments: Sequence[str] | None = None) -> int:
    """Judge the modules that are named; 75 when the time given was too short, then go on."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('modules', nargs='*', metavar='MODULE', help=', '.join(MODULES))
    parser.add_argument('--most', type=int, metavar='N', help='mutants of each module at most')
    parser.add_argument('--again', action='store_true', help='judge survivors once more')
    parser.add_argument('--seconds', type=float, default=math.inf, help='begin none later')
    parser.add_argument('--workers', type=int, default=1, help='processes beside each other')
    parser.add_argument('--out', type=Path, default=ROOT / 'out' / 'mutation.json')
    given = parser.parse_args(arguments)
    if unknown := [name for name in given.modules if name not in MODULES]:
        parser.error(f'{", ".join(unknown)}: must be of {", ".join(MODULES)}')
    os.chdir(ROOT)
    # a process for each mutant: libraries with threads of their own would slow the others
    os.environ.update(OMP_NUM_THREADS='1', OPENBLAS_NUM_THREADS='1')
    libraries()
    end = time.monotonic() + given.seconds
    results = Results(given.out)
    done = [run(name, results, given, end) for name in given.modules or MODULES]
    return 0 if all(done) else 75


if __name__ == '__main__':
    raise SystemExit(main())
