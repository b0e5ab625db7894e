# SPDX-License-Identifier: Apache-2.0
"""The compiler of the kernels, and the place where their machine code is kept."""

from __future__ import annotations

import importlib.util
import pickle
from collections.abc import Iterator
from pathlib import Path

from c3p_bringup.doctor.check import Check, ok, version_of, warn
from c3p_kernels import compiled

ROOT = Path(__file__).parents[2]
NAME = 'machine code'


def checks(root: Path = ROOT) -> Iterator[Check]:
    """Yield the check of the compiler, and of the machine code of the packages below `root`."""
    if not compiled.COMPILED:
        # where it is missing, the check of the packages reports it
        if importlib.util.find_spec('numba') is not None:
            yield warn(NAME, 'Numba is installed and does not compile', 'unset '
                       f"NUMBA_DISABLE_JIT, or `pip install '{compiled.NUMBA}'`")
        return
    from c3p_kernels.code_cache import REMEDY, place_of_code

    place, closed = place_of_code(compiled.kernel)
    if closed:
        yield warn(NAME, f'{place} is not writable ({closed}): each process compiles the kernels '
                   'that are not in it, which takes minutes', REMEDY)
        return
    folders = {path.parent for path in root.glob('c3p_*/**/__pycache__/*.nb[ci]')} | {Path(place)}
    damaged = [path for folder in folders for path in sorted(folder.glob('*.nb[ci]'))
               if not readable(path)]
    if damaged:
        yield warn(NAME, f'{len(damaged)} files are damaged, as after a power cut; the first is '
                   f'{damaged[0]}', 'they are compiled again where they are used, or remove them')
    else:
        yield ok(NAME, f'kept in {place}, Numba {version_of("numba")}')


def readable(path: Path) -> bool:
    """Return whether a file of machine code is whole."""
    from c3p_kernels.code_cache import whole

    try:
        with open(path, 'rb') as file:
            found = pickle.load(file)
            # an index is the version of Numba, and what is in it
            return whole(found) if path.suffix == '.nbc' else bool(pickle.load(file))
    except Exception:  # bytes without meaning may lead to any
        return False
