# SPDX-License-Identifier: Apache-2.0
"""What a process does besides computing while it reads a file: opens, programs, connections."""

import os
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from damage import CANARY

ROOT = Path(__file__).resolve().parents[2]
# below these a program may read; a file that another file names must not be elsewhere
READABLE = [str(ROOT), sys.prefix, sys.base_prefix, os.path.dirname(os.__file__),
            tempfile.gettempdir(), '/usr/share/zoneinfo', '/usr/share/mime', '/etc/mime.types',
            '/dev/null', '/dev/urandom', '/proc/self/fd', '/proc/meminfo', '/proc/cpuinfo']
FORBIDDEN = ('os.system', 'subprocess.Popen', 'os.exec', 'os.posix_spawn', 'os.spawn', 'os.fork',
             'os.forkpty', 'os.startfile', 'socket.connect', 'socket.bind', 'ctypes.dlopen',
             'pickle.find_class', 'os.chmod', 'os.link', 'os.symlink')
# the cache of compiled kernels beside the source is pickled
COMPILED = ('numba', 'numpy', 'copyreg', 'builtins', 'c3p_kernels', 'c3p_kinematics',
            'c3p_dynamics', 'c3p_multibody', 'c3p_rough_ground', 'c3p_simulation', 'c3p_bags',
            'c3p_experiments')
# temporary files are written and removed: by whole paths, or as names in a folder that is open
WRITABLE = [tempfile.gettempdir()]

_state = {'hooked': False, 'on': False, 'seen': [], 'allowed': (), 'places': ()}


def _below(path, places):
    real = os.path.realpath(path)
    return any(real == place or real.startswith(place.rstrip('/') + '/') for place in places)


def _words(code):
    """Yield the names and texts in code, and in code within it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, str):
            yield constant
        elif hasattr(constant, 'co_consts'):
            yield from _words(constant)


def _hook(event, arguments):
    if not _state['on']:
        return
    # what is looked up here must not be seen
    _state['on'] = False
    try:
        if event == 'open':
            path, _, flags = arguments
            if isinstance(path, (str, bytes)):
                path = os.fsdecode(path)
                writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
                places = (*_state['places'], *(WRITABLE if writes else READABLE))
                if not _below(path, places):
                    _state['seen'].append(f'open {path} {"to write" if writes else "to read"}')
        elif event == 'exec':
            if any(CANARY in word for word in _words(arguments[0])):
                _state['seen'].append('exec of what a file has')
        elif event in ('os.remove', 'os.rename', 'shutil.rmtree'):
            path = f'{arguments[0]}'
            if os.path.isabs(path) and not _below(path, (*_state['places'], *WRITABLE)):
                _state['seen'].append(f'{event} {path}')
        elif event == 'pickle.find_class' and arguments[0].split('.')[0] in COMPILED:
            pass
        elif event in FORBIDDEN and event not in _state['allowed']:
            _state['seen'].append(f'{event} {arguments!r}'[:300])
    finally:
        _state['on'] = True


@contextmanager
def watched(places, allowed=()):
    """
    Give the list of what a block does that reading a file must not do.

    Parameters
    ----------
    places : sequence of str or Path
        Where the files are, and where it may write.
    allowed : sequence of str
        Audit events that it may cause.
    """
    if not _state['hooked']:
        # it stays, and every import and every file that is opened calls it
        sys.addaudithook(_hook)
        _state['hooked'] = True
    seen = []
    keeps_no_bytecode = sys.dont_write_bytecode
    # a library that is imported here for the first time is not kept beside its source
    sys.dont_write_bytecode = True
    _state.update(seen=seen, allowed=tuple(allowed), on=True,
                  places=tuple(os.path.realpath(place) for place in places))
    try:
        yield seen
    finally:
        _state['on'] = False
        sys.dont_write_bytecode = keeps_no_bytecode
