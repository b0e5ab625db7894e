# SPDX-License-Identifier: Apache-2.0
"""
Run the sweep of ``c3p`` as processes: arguments, files, places, Ctrl-C, no display, a full disk.

``python test/c3p_bringup/cli/command_sweep.py --help``; about 25 minutes on two processors. What
is printed are the calls that ended other than they must, and the counts. The part that the parser
alone decides is in test_command_sweep.py.
"""

from __future__ import annotations

import argparse
import atexit
import json
import os
import pkgutil
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from sweep_cases import (
    GOLDEN_BAG,
    LONG,
    QUICK,
    Case,
    file_cases,
    leaves,
    place_cases,
    usage_cases,
    value_cases,
    words,
    write_files,
)

# these start processes of their own, which a forked process does not do well
WORKERS = ('tune', 'campaign')

# what no user of a command line may see
FORBIDDEN = ('Traceback (most recent call last)', 'Exception ignored', 'panicked at',
             'terminate called', 'Segmentation fault', 'RUST_BACKTRACE', 'core dumped',
             'Fatal Python error')
CODES = (0, 1, 2, 130)
# a call that has not ended by itself within this time is interrupted, s
LIMIT = 60.0
# the same of commands that run until they are interrupted, s
ENDLESS, SOON = ('dashboard', 'teleop'), 10.0
# time to end after Ctrl-C, s
ENDING = 30.0
MOMENTS = (0.2, 1.0, 5.0)


class Ended(NamedTuple):
    """How a call ended: exit code (None: it had to be stopped), output, time, processes left."""

    code: int | None
    output: str
    errors: str
    seconds: float
    left: list[str]


def in_session(session: int) -> list[str]:
    """Return the processes of a session as texts, without those that only wait to be read."""
    found = []
    for entry in Path('/proc').iterdir():
        try:
            text = (entry / 'stat').read_text()
            state, *numbers = text.rpartition(')')[2].split()
            if int(numbers[2]) == session and state not in 'ZX':
                found.append(f'{entry.name} {(entry / "cmdline").read_text()[:80]!r}')
        except (OSError, ValueError, IndexError):
            continue
    return found


def free_domain() -> int:
    """Return a ROS domain that no running call has."""
    first = int(os.environ.get('ROS_DOMAIN_ID', '0'))
    # the tests' own domains are 41 in a row
    return next(d for d in range(first, 232, 41) if f'{d}' not in _domains)


_domains: set[str] = set()


class Call:
    """A running call of ``c3p``: a new process, or with `forked` one that has imported all."""

    def __init__(self, case: Case, folder: Path, interrupt: float | None = None,
                 environment: dict[str, str] | None = None, forked: bool = False) -> None:
        """
        Start the call of `case` in `folder`, with more variables of the `environment`.

        Ctrl-C follows after `interrupt` seconds, where given.
        """
        environment = {'ROS_DOMAIN_ID': f'{free_domain()}', **(environment or {})}
        self.domain = environment['ROS_DOMAIN_ID']
        _domains.add(self.domain)
        self.case, self.folder, self.interrupt = case, folder, interrupt
        self.started = time.monotonic()
        self.out, self.err = tempfile.TemporaryFile('w+'), tempfile.TemporaryFile('w+')
        # Ctrl-C is for a program in a terminal, and the keyboard's needs one
        self.terminal = pty.openpty() if case.command == 'teleop' and interrupt else ()
        if self.terminal:
            os.set_blocking(self.terminal[0], False)
        streams = [*self.terminal[1:] * 2] or [os.open(os.devnull, os.O_RDONLY),
                                               self.out.fileno()]
        if forked:
            self.pid = os.fork()
            if not self.pid:
                os.environ.update(environment)
                _child(case.words, folder, [*streams, self.err.fileno()])
        else:
            self.process = subprocess.Popen(
                [sys.executable, '-m', 'c3p_bringup', *case.words], cwd=folder, stdin=streams[0],
                stdout=streams[1], stderr=self.err, start_new_session=True,
                env={**os.environ, **environment})
            self.pid = self.process.pid
        if not self.terminal:
            os.close(streams[0])

    def ended(self) -> Ended | None:
        """Return how the call ended, None while it runs; interrupts and stops it on time."""
        passed = time.monotonic() - self.started
        # a terminal that nobody reads would block the program
        for end in self.terminal[:1]:
            with suppress(BlockingIOError, OSError):
                while os.read(end, 65536):
                    pass
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        limit = LIMIT
        until = SOON if self.case.command in ENDLESS else LIMIT
        if self.interrupt is None and passed > until and not self.case.refused:
            self.interrupt = until
        if self.interrupt is not None:
            limit = abs(self.interrupt) + ENDING
            if passed > self.interrupt > 0:
                self.interrupt *= -1
                with suppress(ProcessLookupError):
                    os.killpg(self.pid, signal.SIGINT)
        if not pid and passed < limit:
            return None
        left = []
        if pid:
            until = time.monotonic() + 2.0
            while (left := in_session(self.pid)) and time.monotonic() < until:
                time.sleep(0.1)
        for sign in (signal.SIGTERM, signal.SIGKILL):
            with suppress(ProcessLookupError):
                os.killpg(self.pid, sign)
                time.sleep(0.3)
        if not pid:
            os.waitpid(self.pid, 0)
        _domains.discard(self.domain)
        for end in self.terminal:
            os.close(end)
        texts = []
        for file in (self.out, self.err):
            file.seek(0)
            texts.append(file.read())
            file.close()
        return Ended(os.waitstatus_to_exitcode(status) if pid else None, *texts, passed, left)


def _child(arguments: list[str], folder: Path, streams: list[int]) -> None:
    """Be ``c3p`` in a process that was forked; does not return."""
    code = 3
    try:
        os.setsid()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        os.chdir(folder)
        from c3p_bringup.cli.main import command

        sys.argv = ['c3p', *arguments]
        code = command()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def import_all() -> None:
    """Import the suite, so that forked calls begin with their work."""
    # only one thread may run where processes are forked
    for package in ('c3p_bringup', 'c3p_experiments', 'c3p_viewers', 'c3p_bags', 'c3p_hardware'):
        for module in pkgutil.walk_packages(import_module(package).__path__, f'{package}.'):
            if not module.name.endswith('__main__'):
                with suppress(ImportError):
                    import_module(module.name)


def faults(case: Case, ended: Ended, interrupted: bool = False) -> list[str]:
    """Return what is wrong with the end of a call."""
    found = [word for word in FORBIDDEN if word in ended.output + ended.errors]
    # nodes log on their own; only warnings and errors of theirs count
    lines = [line for line in ended.errors.splitlines()
             if line.strip() and not line.startswith('[INFO] [')]
    if ended.code is None:
        return [*found, 'hangs']
    if interrupted and ended.code in (-signal.SIGINT, 1) and 'c3p_bringup' not in ended.errors:
        # the interpreter itself was starting, which ends by the signal or says so
        return ['interpreter'] if found else []
    if ended.code not in CODES and not (interrupted and ended.code == -signal.SIGINT):
        found.append(f'exit code {ended.code}')
    if case.refused and ended.code != 2:
        found.append(f'not refused: exit code {ended.code}')
    if ended.code == 2:
        ours = f'c3p {case.command}: '
        if not lines or not lines[-1].startswith(ours):
            found.append('last line is not ours')
        # a remark on a bag that can be read in part is a line of its own
        elif any(not line.startswith(f'{ours}bag ') for line in lines[:-1]):
            found.append(f'{len(lines)} lines')
    if ended.left:
        found.append(f'left behind: {ended.left}')
    return found


def cases(kind: str, command: str, bag: Path, out: Path, files: Path) -> Iterator[Case]:
    """Yield the cases of a `kind` for a `command`."""
    if kind == 'values':
        yield from usage_cases(command, bag, out)
        yield from value_cases(command, bag, out)
    elif kind == 'files':
        yield from file_cases(command, bag, out, files)
    elif kind == 'places':
        yield from place_cases(command, bag, out, files)
    elif kind == 'works':
        yield Case(command, kind, words(command, bag, out), False)
    elif kind == 'display':
        yield Case(command, kind, words(command, bag, out), False)
        if command == 'view':
            yield from (Case(command, kind, ['view', f'{bag}', '--viewer', viewer], True)
                        for viewer in ('rerun', 'mujoco'))
            yield from (Case(command, kind, ['view', '--viewer', viewer], True)
                        for viewer in ('rerun', 'mujoco'))
    elif kind == 'full':
        yield Case(command, kind, words(command, bag, files / 'full' / out.name), False)
    elif kind == 'interrupt':
        yield from (Case(command, f'Ctrl-C at {moment:g} s', words(command, bag, out, LONG),
                         False) for moment in MOMENTS)


def main() -> int:
    """Run the sweep; return 1 if a call ended other than it must."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument('--kinds', nargs='+', default=['values', 'files', 'places', 'display',
                                                        'full', 'interrupt'])
    options.add_argument('--only', nargs='+', default=list(QUICK))
    options.add_argument('--jobs', type=int, default=2)
    options.add_argument('--log', type=Path, help='every call as a line of JSON')
    given = options.parse_args()
    # a shell starts jobs in the background with Ctrl-C ignored, which the calls would inherit
    signal.signal(signal.SIGINT, signal.default_int_handler)
    missing = set(leaves()) - set(QUICK)
    assert not missing, f'{missing}: need arguments in QUICK of sweep_cases.py'
    # not TemporaryDirectory: the end of each forked process would remove it
    made = Path(tempfile.mkdtemp())
    try:
        return sweep(given, made)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def sweep(given: Any, folder: Path) -> int:
    """Run the chosen cases in `folder` and print what is wrong."""
    files = folder / 'files'
    write_files(files)
    (files / 'full').mkdir()
    if 'full' in given.kinds:
        subprocess.run(['mount', '-t', 'tmpfs', '-o', 'size=20k', 'none', files / 'full'],
                       check=True)
    counted: Counter[str] = Counter()
    todo = []
    for kind in given.kinds:
        for command in given.only:
            for number, case in enumerate(cases(kind, command, GOLDEN_BAG,
                                                folder / f'out_{kind}', files)):
                place = folder / f'{kind}_{command}_{number}'.replace(' ', '_')
                case = case._replace(words=[
                    word.replace(f'{folder}/out_{kind}', f'{place}/out') for word in case.words])
                todo.append((kind, case, place))

    running: list[tuple[str, Call]] = []
    forked = given.kinds and set(given.kinds) <= {'values', 'files', 'places', 'full'}
    if forked:
        import_all()
    try:
        while todo or running:
            while todo and len(running) < given.jobs:
                kind, case, place = todo.pop(0)
                place.mkdir()
                running.append((kind, Call(
                    case, place, float(case.kind.split()[-2]) if kind == 'interrupt' else None,
                    {'DISPLAY': '', 'WAYLAND_DISPLAY': ''} if kind == 'display' else {},
                    forked and case.command not in WORKERS)))
            time.sleep(0.02)
            for kind, call in list(running):
                ended = call.ended()
                if ended is None:
                    continue
                running.remove((kind, call))
                case = call.case
                found = faults(case, ended, call.interrupt is not None)
                if found == ['interpreter']:
                    counted['interrupted before the first line of ours'] += 1
                    found = []
                counted.update(['calls', f'calls {kind}', *['faults'] * bool(found),
                                *['tracebacks'] * (FORBIDDEN[0] in found)])
                if given.log:
                    with given.log.open('a') as log:
                        log.write(json.dumps({'kind': kind, 'words': case.words, 'faults': found,
                                              **ended._asdict()}) + '\n')
                if found:
                    print(f'[{kind}] c3p {" ".join(case.words)}\n    {found} exit code '
                          f'{ended.code}, {ended.seconds:.1f} s\n    '
                          + '\n    '.join(ended.errors.splitlines()[-3:]), flush=True)
    finally:
        if 'full' in given.kinds:
            subprocess.run(['umount', files / 'full'], check=False)
    print(f'{len(given.only)} commands: {dict(counted)}')
    return 1 if counted['faults'] else 0


if __name__ == '__main__':
    sys.exit(main())
