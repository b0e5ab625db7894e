# SPDX-License-Identifier: Apache-2.0
"""
Machine code of kernels, kept between processes: a cache that never ends or misleads its user.

Numba keeps the code of a kernel in an index (``.nbi``) and a file for each signature (``.nbc``).
It renames new files but does not sync them, so that after a power cut they can be empty or cut,
and its own cache then raises at each start. It loads what a file holds without a checksum, and the
code of an older source where an index was written and its data were not.

Here what is damaged, incomplete or of another source is a miss: the kernel is compiled and written
again. Where nothing can be written each process compiles for itself, or loads what is beside
read-only sources. Both are a `MachineCodeWarning`, once per process.
"""

from __future__ import annotations

import warnings
import zlib
from typing import Any

from c3p_kernels.internals import InTreeCacheLocator, caching, dumps, loads, normalize_signature

REMEDY = 'set NUMBA_CACHE_DIR to a directory that is writable and kept'


class MachineCodeWarning(UserWarning):
    """Kernels are compiled once more: the code of an earlier process is damaged or not kept."""


class DamagedCodeError(ValueError):
    """Machine code that is not as it was written, or of another source."""


_given: set[str] = set()


def _warn_once(about: str, text: str) -> None:
    """Warn, in one line without a line of the source; of one matter once in a process."""
    if about not in _given:
        _given.add(about)
        warnings.warn_explicit(text, MachineCodeWarning, 'c3p', 0)


class _Beside(InTreeCacheLocator):
    """The folder beside the sources, also where it cannot be written to: what it has is read."""

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> Any:
        """Return the place of a function in a file of sources; None for others."""
        return cls(py_func, py_file) if py_file.endswith('.py') else None


class _SealedCode(caching.CompileResultCacheImpl):
    """Code with a checksum and the source that it was compiled from."""

    _locator_classes = [*caching.CompileResultCacheImpl._locator_classes, _Beside]

    def reduce(self, compiled: Any) -> tuple[int, bytes]:
        """Return checksum and bytes of a compiled kernel."""
        code = dumps((self.locator.get_source_stamp(), super().reduce(compiled)))
        return zlib.crc32(code), code

    def rebuild(self, target_context: Any, reduced_data: Any) -> Any:
        """
        Return the compiled kernel of `reduced_data`; None if Numba wrote them without a checksum.

        DamagedCodeError: they are not as they were written, or of another source.
        """
        if not whole(reduced_data):
            raise DamagedCodeError('its checksum is wrong')
        if len(reduced_data) != 2:
            return None
        stamp, parts = loads(reduced_data[1])
        if stamp != self.locator.get_source_stamp():
            raise DamagedCodeError('it is of another version of the source')
        return super().rebuild(target_context, parts)


class CodeCache(caching.FunctionCache):
    """Cache of one kernel, as Numba's, but that what it cannot use or keep costs time alone."""

    _impl_class = _SealedCode

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled kernel for the argument types `sig`; None: it must be compiled."""
        try:
            found = super().load_overload(sig, target_context)
            # two processes that begin with an empty index give their files the same number
            if found is not None and found.signature.args != normalize_signature(sig)[0]:
                raise DamagedCodeError('it is for other types')
        except Exception as error:  # bytes without meaning may lead to any
            cause = f'{self._py_func.__qualname__}: {type(error).__name__}, {error}'
            _warn_once('damaged', f'machine code in {self.cache_path} is damaged, as after a '
                       f'power cut ({cause}): such kernels are compiled and written again, which '
                       'takes minutes at most')
            return None
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled kernel for `sig`, where that is possible."""
        try:
            super().save_overload(sig, data)
        except Exception:  # an index that cannot be read; without it files are written anew
            try:
                self.flush()
                super().save_overload(sig, data)
            except OSError as error:
                _warn_once('not kept', f'machine code cannot be kept in {self.cache_path} '
                           f'({error.strerror}): each process compiles its kernels, which takes '
                           f'minutes; {REMEDY}')


def place_of_code(function: Any) -> tuple[str, str]:
    """Return the folder for the machine code of a function, and why it is not kept; else ''."""
    place = CodeCache(function)._impl.locator
    try:
        place.ensure_cache_path()
    except OSError as error:
        return place.get_cache_path(), f'{error.strerror}'
    return place.get_cache_path(), ''


def whole(data: tuple) -> bool:
    """Return whether what `_SealedCode.reduce` returned is as it was, or has no checksum."""
    return len(data) != 2 or zlib.crc32(data[1]) == data[0]
