# SPDX-License-Identifier: Apache-2.0
"""
Coverage-guided fuzzing of what reads bytes from elsewhere: messages, bags, URDF, parameter files.

Run from the root of the repository, after ``pip install atheris`` (libFuzzer for Python)::

    python scripts/fuzz_readers.py cdr --runs 10000000
    python scripts/fuzz_readers.py urdf --seconds 600
    python scripts/fuzz_readers.py mcap --keep   # writes what has found new code

Each target takes bytes and may raise its documented error only; anything else ends the run with
the input, which becomes a file of ``test/corpora``. `test/attacks/test_corpora.py` replays them.
"""

from __future__ import annotations

import argparse
import io
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / 'test')]

CORPORA = ROOT / 'test' / 'corpora'
# bytes of a kept input, and number of them, the shortest first: enough for each branch
LONGEST, MOST = 400, 40
# bytes of an input; longer ones are slower and reach no other branch
TRIED = 2000


class Target(NamedTuple):
    """
    Target of the fuzzing.

    Attributes
    ----------
    make : callable
        Imports what is needed and returns the function of the bytes.
    watched : tuple of str
        Modules whose branches guide the search.
    seeds : callable
        Returns sound inputs.
    """

    make: Callable[[], Callable[[bytes], None]]
    watched: tuple[str, ...]
    seeds: Callable[[], list[bytes]]


def _cdr() -> Callable[[bytes], None]:
    """Return the readers of messages of the chain: each kind by the first byte."""
    from c3p_ros.cdr import LAYOUTS, MessageError, layout_of
    from c3p_ros.wire_readers import READERS

    kinds = list(LAYOUTS)
    readers = [make() for make in READERS.values()]

    def use(data: bytes) -> None:
        kind = data[0] if data else 0
        body = data[1:]
        try:
            layout_of(body, kinds[kind % len(kinds)])
        except MessageError:
            pass
        try:
            readers[kind % len(readers)](body)
        except MessageError:
            pass

    return use


def _arrays() -> Callable[[bytes], None]:
    """Return the readers of recorded messages, which leave out malformed ones."""
    from c3p_ros.cdr import LAYOUTS
    from c3p_ros.cdr_arrays import read_diagnostics, read_status, tables

    kinds = list(LAYOUTS)

    def use(data: bytes) -> None:
        kind = data[0] if data else 0
        body = data[1:]
        for _ in tables([body, body[:-1]], kinds[kind % len(kinds)]):
            pass
        read_diagnostics(body)
        read_status(body)

    return use


def _cdr_seeds() -> list[bytes]:
    from c3p_ros.cdr import LAYOUTS, serialized

    names = {'name': ['wheel_1', 'wheel_2'], 'position': 2, 'velocity': 2, 'effort': 2,
             'points': 2, 'frame_id': 'odom', 'child_frame_id': 'base_link'}
    return [bytes([k]) + bytes(serialized(kind, names)) for k, kind in enumerate(LAYOUTS)]


def _mcap() -> Callable[[bytes], None]:
    """Return the checks and readers of MCAP files."""
    from c3p_bags.storage.bag_writer import BagError
    from c3p_bags.storage.mcap_close import close_mcap
    from c3p_bags.storage.mcap_limits import check_mcap

    # a file, because its size and name are used
    file = tempfile.NamedTemporaryFile()

    def use(data: bytes) -> None:
        for mode in ('', 'message'):
            try:
                check_mcap(io.BytesIO(data), len(data), mode)
            except ValueError:
                pass
        file.seek(0)
        file.truncate()
        file.write(data)
        file.flush()
        file.seek(0)
        try:
            close_mcap(file.file, io.BytesIO())
        except BagError:
            pass

    return use


def _mcap_seeds() -> list[bytes]:
    from c3p_bags.storage.mcap import MAGIC, RECORD

    def record(code: int, content: bytes) -> bytes:
        return RECORD.pack(code, len(content)) + content

    def text(value: bytes) -> bytes:
        return len(value).to_bytes(4, 'little') + value

    schema = record(3, (1).to_bytes(2, 'little') + text(b'std_msgs/msg/Bool') + text(b'ros2msg')
                    + text(b'bool data'))
    channel = record(4, b'\1\0\1\0' + text(b'/stop') + text(b'cdr') + text(b''))
    message = record(5, bytes([1, 0]) + bytes(20) + b'\0\1\0\0\1')
    inner = schema + channel + message
    chunk = record(6, bytes(16) + len(inner).to_bytes(8, 'little') + bytes(4) + text(b'')
                   + len(inner).to_bytes(8, 'little') + inner)
    head = MAGIC + record(1, text(b'ros2') + text(b'c3p'))
    end = record(15, bytes(4)) + record(2, bytes(20)) + MAGIC
    return [head + inner + end, head + chunk + end, MAGIC]


def _urdf() -> Callable[[bytes], None]:
    """Return the reader of URDF."""
    from c3p_description.model import ModelError
    from c3p_description.reading.urdf import read_urdf

    def use(data: bytes) -> None:
        try:
            read_urdf(data.decode('utf-8', 'replace'))
        except ModelError:
            pass

    return use


def _urdf_seeds() -> list[bytes]:
    link = ('<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
            'ixz="0" iyz="0"/></inertial></link>')
    joint = ('<joint name="{0}" type="continuous"><parent link="{1}"/><child link="{2}"/>'
             '<origin xyz="{3}"/><axis xyz="{4}"/></joint>')
    parts = [link.format('base_link')]
    for k, place in enumerate(('1 0 1', '-1 0 1')):
        parts += [link.format(f'fork{k}'), link.format(f'wheel{k}').replace(
            '</link>', '<collision><geometry><cylinder radius="0.1" length="0.02"/></geometry>'
                       '</collision></link>'),
            joint.format(f'steer{k}', 'base_link', f'fork{k}', place, '0 0 1'),
            joint.format(f'roll{k}', f'fork{k}', f'wheel{k}', '0 -0.05 -0.9', '1 0 0')]
    return [f'<robot name="r">{"".join(parts)}</robot>'.encode(), b'<robot/>', b'<a>']


def _parameters() -> Callable[[bytes], None]:
    """Return the readers of robot files and of parameter files."""
    from c3p_description.model import ModelError
    from c3p_description.reading.loader import load
    from c3p_description.reading.yaml_files import YamlFileError
    from c3p_hardware.settings import CardError
    from c3p_hardware.tools.parameter_file import blocks, merged

    # memory, not a disk
    place = Path(tempfile.mkdtemp(dir='/dev/shm' if Path('/dev/shm').is_dir() else None))
    path = place / 'file.yaml'

    def use(data: bytes) -> None:
        path.write_bytes(data)
        try:
            load(path)
        except ModelError:
            pass
        try:
            list(blocks(path))
        except CardError:
            pass
        try:
            merged(data.decode('utf-8', 'replace'), {'encoders.zeros': [1, 2, 3]})
        except (CardError, YamlFileError):
            pass

    return use


def _parameters_seeds() -> list[bytes]:
    return [b'kind: caster_robot\nname: r\nextends: c3p\ncasters: {hip_radius: 0.3}\n',
            b'hardware_interface:\n  ros__parameters:\n    rate: 400.0\n    bus: {channel: c}\n',
            b'/**:\n  ros__parameters: {robot: c3p}\n', b'{a: &a [1, *a]}']


READING = 'c3p_description.reading.'
TARGETS = {
    'cdr': Target(_cdr, ('c3p_ros.cdr', 'c3p_ros.wire_readers'), _cdr_seeds),
    'arrays': Target(_arrays, ('c3p_ros.cdr', 'c3p_ros.cdr_arrays'), _cdr_seeds),
    'mcap': Target(_mcap, tuple(f'c3p_bags.storage.{name}' for name in (
        'mcap', 'mcap_limits', 'mcap_layout', 'mcap_close', 'compression')), _mcap_seeds),
    'urdf': Target(_urdf, tuple(READING + name for name in (
        'urdf', 'urdf_xml', 'urdf_tree', 'urdf_pairs', 'urdf_chains', 'urdf_casters',
        'urdf_settings', 'urdf_motors', 'urdf_notes')), _urdf_seeds),
    'parameters': Target(_parameters, (
        READING + 'loader', READING + 'yaml_files', 'c3p_description.settings',
        'c3p_hardware.tools.parameter_file'), _parameters_seeds)}


def keep(name: str, found: Path, use: Callable[[bytes], None]) -> int:
    """Keep the shortest inputs of `found` that end as they may; return their number."""
    kept = CORPORA / name
    shutil.rmtree(kept, ignore_errors=True)
    kept.mkdir(parents=True)
    short = sorted((path for path in found.iterdir() if path.stat().st_size <= LONGEST),
                   key=lambda path: (path.stat().st_size, path.name))
    # evenly by length: the shortest alone reach the first checks only
    chosen = short[::max(1, -(-len(short) // MOST))]
    for path in chosen:
        use(path.read_bytes())
        (kept / path.name[:12]).write_bytes(path.read_bytes())
    return len(chosen)


def main(arguments: Sequence[str] | None = None) -> int:
    """Fuzz a target, or keep its corpus."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument('target', choices=TARGETS)
    parser.add_argument('--runs', type=int, default=-1, metavar='N', help='inputs at most')
    parser.add_argument('--seconds', type=int, default=0, help='time at most')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--keep', action='store_true', help='write the corpus to test/corpora')
    parser.add_argument('--out', type=Path, default=ROOT / 'out' / 'fuzz', help='inputs found')
    given = parser.parse_args(arguments)
    target = TARGETS[given.target]
    found = given.out / given.target
    found.mkdir(parents=True, exist_ok=True)
    if given.keep:
        print(keep(given.target, found, target.make()), 'inputs kept')
        return 0
    try:
        import atheris
    except ImportError:
        parser.error('atheris is not installed: pip install atheris')
    kept = CORPORA / given.target
    with atheris.instrument_imports(include=list(target.watched)):
        # the watched modules are imported here first, with counters of their branches
        use = target.make()
    for k, data in enumerate([*target.seeds(), *(
            path.read_bytes() for path in sorted(kept.glob('*')))]):
        (found / f'seed_{k}').write_bytes(data)
    atheris.Setup([sys.argv[0], str(found), f'-runs={given.runs}', f'-seed={given.seed}',
                   f'-max_total_time={given.seconds}', f'-max_len={TRIED}', '-timeout=10',
                   '-rss_limit_mb=3000', f'-artifact_prefix={given.out}/', '-print_final_stats=1'],
                  use)
    atheris.Fuzz()
    return 0


if __name__ == '__main__':
    raise SystemExit(main())
