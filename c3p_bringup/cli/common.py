# SPDX-License-Identifier: Apache-2.0
"""Exit codes, arguments, result places and output of the commands of ``c3p``."""

from __future__ import annotations

import argparse
import difflib
import errno
import importlib.util
import math
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from c3p_bringup.choices import AUTO_LAW, PLANTS, SENSORS, law_names
from c3p_bringup.cli import FAILED, INTERRUPTED, MISSED  # noqa: F401
from c3p_bringup.modules import import_reason

if TYPE_CHECKING:
    from c3p_bags.storage.bag import Bag

# how often a bar of progress is drawn, s
SHOWN_EVERY = 0.2

# largest number of an argument, in any unit: beyond it sums and clocks overflow
LARGEST = 1e9

# no space, quota exceeded, file too large
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# what a directory of results must take at least, bytes
PROBED = 4096



class Parser(argparse.ArgumentParser):
    """Parser that reports an error in one line instead of a page of usage."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parse `args` into `namespace`; options that the command lacks are its own error."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            close = difflib.get_close_matches(unknown[0].split('=')[0],
                                              self._option_string_actions, n=1)
            hint = f', did you mean {close[0]}?' if close else ''
            self.error(f'unrecognized arguments: {" ".join(unknown)}{hint}')
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Print the error and where to read more; exit with code 2."""
        self.exit(FAILED, f'{self.prog}: {message}; see {self.prog} --help\n')


def typed(convert: Callable[[str], Any], fits: Callable[[Any], bool], must: str
          ) -> Callable[[str], Any]:
    """Return an argument type: `convert`, and the error text `must` unless the value `fits`."""
    def read(text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            value = math.nan
        if not fits(value):
            raise argparse.ArgumentTypeError(f'{text}: must {must}')
        return value
    return read


finite = typed(float, lambda value: abs(value) <= LARGEST,
               f'be a finite number, at most {LARGEST:g} in size')
not_negative = typed(finite, lambda value: value >= 0, 'not be negative')
positive = typed(finite, lambda value: value > 0, 'be a number greater than zero')
fraction = typed(finite, lambda value: 0 <= value <= 1, 'be a fraction from 0 to 1, such as 0.95')
count = typed(int, lambda value: value >= 1, 'be a whole number, 1 or more')


def add_robot(command: argparse.ArgumentParser, default: str | None = 'c3p',
              default_text: str = '%(default)s', note: str = '') -> None:
    """
    Add ``--robot`` and ``--robot-option`` to the parser `command`.

    The help shows `default` as `default_text`, and ends with `note`.
    """
    robot = command.add_argument(
        '--robot', default=default, help='name, or path of a YAML, URDF or xacro file (default: '
        f'{default_text}){note}')
    complete(robot, _robots, files=True)
    add_robot_options(command)


def add_controller(command: argparse.ArgumentParser, default: str | None = AUTO_LAW,
                   note: str = '', checked: bool = True) -> None:
    """
    Add ``--controller``, whose help begins with `note` and lists the laws of all packages.

    The help shows `default`, or auto for None: the law of the robot. `checked`: the parser rejects
    other names; otherwise the command does.
    """
    laws = (AUTO_LAW, *law_names())
    default_text = ('mpc' if default == 'mpc' else
                    f'{AUTO_LAW}: mpc, and modules of a robot on other wheels than casters')
    controller = command.add_argument(
        '--controller', choices=laws if checked else None, default=default,
        help=f'{note}{" or ".join(laws)} (default: {default_text})')
    complete(controller, law_names)


def complete(argument: argparse.Action, names: Callable[[], Iterable[str]], files: bool = False
             ) -> None:
    """Let shells complete `argument` by `names`, and by files as well."""
    def completer(prefix: str, **_: Any) -> list[str]:
        from argcomplete.completers import FilesCompleter

        return [*(name for name in names() if name.startswith(prefix)),
                *(FilesCompleter()(prefix) if files else ())]

    argument.completer = completer  # type: ignore[attr-defined]  # required by argcomplete


def _robots() -> list[str]:
    # the package is found, not imported: a shell waits
    found = importlib.util.find_spec('c3p_description')
    place = Path(found.origin).parent if found and found.origin else Path()
    return sorted(path.stem for path in place.glob('robots/*.yaml'))


def add_robot_options(command: argparse.ArgumentParser) -> None:
    """Add ``--robot-option`` and ``--package``, which `robot_options` reads."""
    command.add_argument('--robot-option', action='append', default=[], metavar='NAME=VALUE',
                         help='option of the reader of a URDF (tolerance, ignore, wheel_radius, '
                              'base_link, driven), or a field of the robot such as '
                              'casters.torque_limit; may be repeated')
    command.add_argument('--package', action='append', default=[], metavar='NAME=DIR',
                         help='folder of a ROS package that a xacro file needs, for its $(find '
                              'NAME), where no installation has it; may be repeated')


def robot_options(arguments: argparse.Namespace) -> dict[str, Any]:
    """
    Return the options of a robot in `arguments`, by name.

    ValueError: a malformed option, or no such folder of a package.
    """
    from c3p_description.reading.robot_options import parse_option
    from c3p_description.reading.ros_packages import package_folders

    options = dict(map(parse_option, arguments.robot_option))
    folders = {}
    for text in arguments.package:
        name, _, folder = text.partition('=')
        if not (name and folder):
            raise ValueError(f'--package {text}: expected NAME=DIR, such as '
                             'mule_description=~/mule/mule_description')
        folders[name] = folder
    return {**options, **{f'packages.{name}': folder
                          for name, folder in package_folders(folders).items()}}


def apply_robot_options(arguments: argparse.Namespace) -> None:
    """
    Replace ``robot`` in `arguments` by a robot's file with the options, and print its warnings.

    ValueError: a malformed option, or options without a robot.
    """
    # `c3p robot` hands its options to the reader, for the robot file that it writes
    if not (hasattr(arguments, 'robot_option') and hasattr(arguments, 'robot')):
        return
    from c3p_description.reading.loader import describe
    from c3p_description.reading.robot_files import robot_file

    options = robot_options(arguments)
    if options and not arguments.robot:
        raise ValueError(f'robot option {next(iter(options))}: options of which robot? '
                         'Give --robot as well')
    if options:
        arguments.robot = robot_file(arguments.robot, options)
    # a node of these logs the warnings
    if arguments.command in ('drive', 'sim'):
        return
    if Path(arguments.robot or '').suffix:
        # errors are reported by the command: some also accept robots that are not on casters
        with suppress(ValueError):
            for text in describe(arguments.robot).warnings:
                print(f'{name_of(arguments)}: warning: {text}', file=sys.stderr)


def add_plant(command: Any) -> None:
    """Add ``--plant`` with the default analytic, to a parser or a group."""
    command.add_argument('--plant', choices=PLANTS, default='analytic',
                         help='simulated plant (default: %(default)s)')


def add_sensors(command: Any, default_text: str) -> None:
    """Add ``--sensors`` to a parser or a group; the help shows `default_text`."""
    sensors = command.add_argument(
        '--sensors', metavar='SENSORS',
        help=f'sensors of the simulated robot: {", ".join(SENSORS)}, or a YAML file with their '
             f'settings, docs/real_robots.md (default: {default_text})')
    complete(sensors, lambda: SENSORS, files=True)


def add_params_file(command: argparse.ArgumentParser, purpose: str) -> None:
    """Add ``--params-file``; `purpose` completes the help."""
    command.add_argument('--params-file', type=Path, action='append', default=[], metavar='FILE',
                         help=f'ROS 2 parameter file {purpose}')


def name_of(arguments: argparse.Namespace) -> str:
    """Return the name of the command in `arguments`, such as ``c3p can scan``."""
    return ' '.join(filter(None, ['c3p', arguments.command, getattr(arguments, 'part', None)]))


def check_files(arguments: argparse.Namespace) -> None:
    """Raise ValueError for the first invalid ``--params-file`` of `arguments`."""
    files = getattr(arguments, 'params_file', [])
    # the doctor lists all errors, and a search reads its files by the names of its own
    if not files or arguments.command in ('doctor', 'tune'):
        return
    from c3p_bringup.doctor.robot import parameter_faults

    for path in files:
        # a missing file is an OSError with its remedy
        path.open('rb').close()
        for fault in parameter_faults(path):
            raise ValueError(fault if f'{path}' in fault else f'{path}: {fault}')


def add_results(command: argparse.ArgumentParser, out: str, what: str) -> None:
    """Add ``--out``, the directory `out` by default, for results `what`, and ``--json``."""
    command.add_argument('--out', type=Path, default=Path(out), metavar='DIR',
                         help=f'directory for {what} (default: %(default)s)')
    add_json(command)


def add_json(command: argparse.ArgumentParser) -> None:
    """Add ``--json``."""
    command.add_argument('--json', type=Path, metavar='FILE',
                         help='write the results there as JSON, SI units; - is standard output')


def add_recorded_robot(command: argparse.ArgumentParser) -> None:
    """Add ``--robot`` of a command that reads a bag."""
    command.add_argument('--robot', default='', metavar='ROBOT',
                         help='name, or path of a YAML, URDF or xacro file (default: that of the '
                              'bag: a name of this installation, else the description in it). A '
                              'xacro file is a program: it runs')
    add_robot_options(command)


@contextmanager
def given_bag(path: Path | None, robot: str, namespace: str | None = None
              ) -> Iterator[tuple[Bag | None, str]]:
    """
    Yield the open bag at `path`, None without one, and name or path of the robot.

    `robot` is the user's; empty for that of the bag (the only one, or in `namespace`), or ``c3p``
    without a bag.
    """
    if path is None:
        yield None, robot or 'c3p'
        return
    with named_bag(path, robot, namespace) as found:
        yield found


@contextmanager
def named_bag(path: Path, robot: str, namespace: str | None = None) -> Iterator[tuple[Bag, str]]:
    """Yield the open bag at `path`, and name or path of the robot; arguments as `given_bag`."""
    from c3p_bags.storage.bag import Bag

    with Bag(path) as bag, (nullcontext(robot) if robot
                            else bag.robot(namespace).description()) as name:
        yield bag, name


def make_places(folder: Path, json_file: Path | None = None) -> None:
    """
    Create the directories of the results, so that a long run does not end in an error.

    `json_file` is as ``--json``. ValueError: `folder` or `json_file` is not writable.
    """
    if json_file is not None and json_file.is_dir():
        raise ValueError(f'{json_file}: is a directory; name a file in it')
    to_file = [] if json_file is None or str(json_file) == '-' else [json_file.parent]
    for place in [folder, *to_file]:
        try:
            place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            # a file of that name exists
            reason = 'it is a file' if place.is_file() else f'{error.strerror}'.lower()
            raise ValueError(f'{place}: cannot be created ({reason}); name another '
                             'directory') from None
        # permissions alone do not show file systems that are full, read-only or of a kernel
        try:
            with tempfile.TemporaryFile(dir=place) as probe:
                probe.write(bytes(PROBED))
        except OSError as error:
            raise ValueError(f'{place}: not writable ({f"{error.strerror}".lower()}); name '
                             'another directory') from None


def write_json(results: Mapping[str, Any], path: Path | None) -> TextIO:
    """Write the results of ``--json``, null for what is not finite; return the stream of texts."""
    if path is None:
        return sys.stdout
    from c3p_bags.runs.json_text import json_text

    text = json_text(results)
    if str(path) == '-':
        sys.stdout.write(text)
        return sys.stderr
    path.write_text(text, encoding='utf-8')
    return sys.stdout


def show(results: Mapping[str, Any], path: Path | None, text: str) -> None:
    """Write the `results` as `write_json`, and the `text` to the other stream."""
    print(text, file=write_json(results, path))


def rows(entries: Iterable[tuple[str, Any]], width: int = 30) -> str:
    """Return (name, value) `entries` as lines of text, the names in a column of `width`."""
    return '\n'.join(f'  {name:{width}} {value}' for name, value in entries)


def bar_of_fraction() -> Any:
    """Return a progress bar of a fraction, whose ``set_to`` takes the value from 0 to 1."""
    return progress_bar(total=1.0,
                        bar_format='{percentage:3.0f} %|{bar:40}| {elapsed}<{remaining}')


def progress_bar(**options: Any) -> Any:
    """
    Return a bar of tqdm with these `options`, whose ``set_to`` takes the absolute value.

    By default it is on the error stream, and silent where that is a file or a pipe.
    """
    # a tenth of a second to import, which help does not need
    from tqdm import tqdm

    class Bar(tqdm):
        """A progress bar with an absolute value."""

        def set_to(self, value: float) -> None:
            """Show `value`."""
            self.update(min(value, self.total) - self.n)

    return Bar(**{'file': sys.stderr, 'disable': None, **options})


@contextmanager
def until_ctrl_c() -> Iterator[Callable[[], bool]]:
    """
    Yield a function that returns True after Ctrl-C, so that work ends at a complete step.

    A second Ctrl-C raises KeyboardInterrupt as usual. Outside the main thread Python delivers no
    signals, and the function returns False.
    """
    interrupted = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield interrupted.is_set
        return

    def on_signal(*_: Any) -> None:
        if interrupted.is_set():
            raise KeyboardInterrupt
        interrupted.set()

    before = signal.signal(signal.SIGINT, on_signal)
    try:
        yield interrupted.is_set
    finally:
        signal.signal(signal.SIGINT, before)


def reason(error: Exception) -> str:
    """Return an error in one line, with the remedy."""
    if isinstance(error, ImportError):
        return import_reason(error)
    if isinstance(error, OSError) and error.errno in FULL:
        return (f'{error.filename or "results"}: {f"{error.strerror}".lower()}; free some space, '
                'or name another directory')
    if isinstance(error, OSError) and error.filename is not None:
        return (f'{error.filename}: {(error.strerror or "not usable").lower()}; check that it '
                'exists and is accessible, or name another file')
    return ' '.join(f'{error}'.split())
