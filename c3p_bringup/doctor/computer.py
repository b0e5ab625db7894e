# SPDX-License-Identifier: Apache-2.0
"""Python, packages, processors, clock and devices of this computer."""

from __future__ import annotations

import importlib.util
import os
import resource
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from c3p_bringup.doctor.check import Check, fail, ok, version_of, warn
from c3p_bringup.modules import how_to_have
from c3p_ros.real_time import CROWDED, LATENCY, LIMITS, crowded, describe

# versions of Python that the suite is tested with, as PYTHONS of setup.py
OLDEST = (3, 10)
NEWEST = (3, 14)

# wake-up test: cycles, period, s, and the largest acceptable lateness, s
CYCLES = 100
PERIOD = 0.005
LATE = 1e-3
# a larger difference from the monotonic clock is a step of the system clock, s
CLOCK_STEP = 0.01
# the suite is younger: an earlier clock is wrong; s since 1970: 2024
OLDEST_TIME = 1_704_067_200.0
# free shared memory that the nodes need, bytes
SHARED_MEMORY = 32 << 20


@dataclass(frozen=True)
class Package:
    """A package and the feature that needs it."""

    module: str
    name: str
    needed_by: str
    required: bool = False


PACKAGES = (
    Package('numpy', 'numpy', 'everything', True),
    Package('scipy', 'scipy', 'everything', True),
    Package('yaml', 'PyYAML', 'robots and parameters', True),
    Package('numba', 'numba', 'speed: without it the controllers are a hundred times slower'),
    Package('matplotlib', 'matplotlib', 'pictures', True),
    Package('tqdm', 'tqdm', 'progress bars', True),
    Package('rosbags', 'rosbags', 'bags: drive, report, identify', True),
    Package('can', 'python-can', 'motor cards, real and emulated'),
    Package('canopen', 'canopen', 'motor cards, real and emulated'),
    Package('serial', 'pyserial', 'emulated motor cards, slcan'),
    Package('mujoco', 'mujoco-core', '--plant mujoco'),
    Package('xacro', 'xacro', 'robots described by xacro files'),
    Package('imageio', 'imageio', 'c3p film'),
    Package('pandas', 'pandas', 'c3p campaign'),
)


def python(found: tuple[int, int] = sys.version_info[:2]) -> Check:
    """Return the check of the Python version."""
    text = '.'.join(map(str, found))
    name = 'Python'
    oldest, newest = ('.'.join(map(str, version)) for version in (OLDEST, NEWEST))
    if found < OLDEST:
        return fail(name, text, f'the suite needs {oldest} or later')
    if found > NEWEST:
        return warn(name, text, f'tested with {oldest} to {newest}')
    return ok(name, f'{text}, {sys.executable}')


def packages(needed: tuple[Package, ...] = PACKAGES) -> Iterator[Check]:
    """Yield the check of each package, with the feature that needs it."""
    for package in needed:
        if importlib.util.find_spec(package.module) is not None:
            # an installation may have no metadata
            yield ok(package.name, version_of(package.name) or 'installed')
        else:
            answer = fail if package.required else warn
            yield answer(package.name, f'missing; needed by {package.needed_by}',
                         how_to_have(package.module))


def processors(system: Path = Path('/sys')) -> Iterator[Check]:
    """Yield number, governor and kernel of the processors, read below `system`."""
    count = len(os.sched_getaffinity(0))
    yield (ok('processors', f'{count}') if count >= 2 else
           warn('processors', f'{count}', 'the robot needs two: one for the control loop'))
    governor = system / 'devices/system/cpu/cpu0/cpufreq/scaling_governor'
    found = governor.read_text(encoding='utf-8').strip() if governor.is_file() else ''
    if found in ('', 'performance'):
        yield ok('governor', found or 'not reported by this kernel')
    else:
        yield warn('governor', found, 'sudo cpupower frequency-set -g performance')
    realtime = system / 'kernel/realtime'
    yield ok('kernel', 'PREEMPT_RT' if realtime.is_file() else 'without PREEMPT_RT: sufficient '
             'for 200 Hz if no other program runs')


def priority(limit: int | None = None, root: bool | None = None) -> Check:
    """Return the check of real-time priority: a `limit` above zero, or `root`."""
    limit = resource.getrlimit(resource.RLIMIT_RTPRIO)[0] if limit is None else limit
    root = os.geteuid() == 0 if root is None else root
    if limit or root:
        return ok('real-time priority', 'allowed: robot_nodes --priority 50')
    return warn('real-time priority', 'not allowed', LIMITS.format('rtprio', 80))


def real_time(processes: Path = Path('/proc'), latency: Path = LATENCY) -> Iterator[Check]:
    """
    Yield the checks of the real-time options: what is permitted, and what running nodes use.

    `processes` are those of the computer, `latency` is the file that keeps processors awake.
    """
    unlimited = os.geteuid() == 0 or (
        resource.getrlimit(resource.RLIMIT_MEMLOCK)[0] == resource.RLIM_INFINITY)
    yield (ok('locked memory', 'allowed: robot_nodes --lock-memory') if unlimited else
           warn('locked memory', 'not allowed', LIMITS.format('memlock', 'unlimited')))
    if os.access(latency, os.W_OK):
        yield ok('sleeping processors', 'may be kept awake: robot_nodes --awake')
    else:
        yield warn('sleeping processors', f'{latency} is not writable', 'give your group access '
                   'by a udev rule (docs/hardware.md), or use a fixed governor')
    for process in sorted(processes.glob('[0-9]*')):
        try:
            called = (process / 'cmdline').read_bytes().split(b'\0')
            if not any(Path(os.fsdecode(word)).name == 'robot_nodes' for word in called[:3]):
                continue
            options = (f'robot_nodes, process {process.name}: '
                       f'{describe(process) or "no option is on"}')
            if crowded(int(process.resolve().name)):
                yield warn('real time', f'{options}: where its loop overruns', CROWDED)
            else:
                yield ok('real time', options)
        except OSError:  # of another user, or ended
            continue


def wake_up() -> Check:
    """Return the check of the wake-up latency of a 200 Hz loop."""
    late = []
    deadline = time.monotonic()
    for _ in range(CYCLES):
        deadline += PERIOD
        time.sleep(max(0.0, deadline - time.monotonic()))
        late.append(time.monotonic() - deadline)
    late.sort()
    text = f'{1e3 * late[CYCLES // 2]:.2f} ms late, at most {1e3 * late[-1]:.2f} ms'
    if late[-2] < LATE:
        return ok('wake-up', text)
    return warn('wake-up', text, 'close other programs, set governor and priority; motor cards '
                'stop when their master is late')


def clock(seconds: float = 0.2) -> Check:
    """Return the check of the system clock: plausible, and without a step for `seconds`."""
    before = time.time() - time.monotonic()
    time.sleep(seconds)
    step = time.time() - time.monotonic() - before
    if time.time() < OLDEST_TIME:
        return fail('clock', time.ctime(), 'set the clock, which stamps all messages: '
                    '`timedatectl set-ntp true`')
    if abs(step) > CLOCK_STEP:
        return warn('clock', f'stepped by {step:+.3f} s', 'a program sets the clock; let chrony '
                    'or timesyncd slew it, since the robot stops at every step')
    return ok('clock', 'no step')


def shared_memory(place: Path = Path('/dev/shm'), processes: Path = Path('/proc')) -> Check:
    """
    Return the check of the shared memory of Fast DDS: free space, and files left over.

    `place` holds the files, `processes` the memory maps of the processes.
    """
    name = 'shared memory'
    if not place.is_dir():
        return ok(name, f'no {place}: messages go over the network stack')
    about = os.statvfs(place)
    free = about.f_bavail * about.f_frsize
    if free < SHARED_MEMORY:
        return warn(name, f'{free >> 20} MiB free in {place}', 'increase it: `docker run '
                    '--shm-size=512m`, or remove files there')
    mapped = ''.join(_maps(processes))
    files = [p.name for p in place.glob('fast*_port*') if not p.name.endswith('_el')]
    files += [p.name for p in place.glob('fast*_????????????????')]
    left = [f for f in files if f not in mapped]
    if left:
        return warn(name, f'{len(left)} files of Fast DDS in {place} that no process uses',
                    'when no ROS runs: `fastdds shm clean`, or remove fastrtps_* and '
                    'sem.fastrtps_* there')
    return ok(name, f'{free >> 20} MiB free, nothing left over')


def _maps(processes: Path) -> Iterator[str]:
    for path in processes.glob('[0-9]*/maps'):
        try:
            yield path.read_text(encoding='utf-8', errors='replace')
        except OSError:  # process of another user, or ended
            continue


def serial_ports(devices: Path = Path('/dev')) -> Check:
    """Return the check of the access to the serial adapters in `devices`."""
    ports = sorted(p for kind in ('ttyACM*', 'ttyUSB*') for p in devices.glob(kind))
    closed = [p.name for p in ports if not os.access(p, os.R_OK | os.W_OK)]
    if closed:
        return warn('serial ports', f'{", ".join(closed)}: not allowed',
                    'sudo usermod -aG dialout $USER, and log in again')
    return ok('serial ports', ', '.join(p.name for p in ports) or 'none')
