# SPDX-License-Identifier: Apache-2.0
"""
Parts of Numba that are not public, and a check that they are as the kernels use them.

They are imported in this file alone. A release of Numba may change any of them: `check` compares
them with what the other files of c3p_kernels expect, before a kernel is compiled, and names what
differs.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

from numba.core import caching, cgutils
from numba.core.cgutils import create_struct_proxy, ir
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.datamodel import default_manager
from numba.core.imputils import lower_builtin, lower_cast, lower_getattr_generic
from numba.core.serialize import dumps, loads
from numba.core.sigutils import normalize_signature
from numba.core.typeconv import Conversion
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.np.arrayobj import make_array, populate_array

# its name until Numba 0.60
InTreeCacheLocator: Any = (getattr(caching, 'InTreeCacheLocator', None)
                           or caching._InTreeCacheLocator)  # type: ignore[attr-defined]

# what is called: with how many arguments, `self` included, and with which ones by name
CALLED: tuple[tuple[Callable[..., Any], int, tuple[str, ...]], ...] = (
    (caching.FunctionCache.__init__, 2, ()),
    (caching.FunctionCache.load_overload, 3, ()),
    (caching.FunctionCache.save_overload, 3, ()),
    (caching.FunctionCache.flush, 1, ()),
    (caching.CompileResultCacheImpl.reduce, 2, ()),
    (caching.CompileResultCacheImpl.rebuild, 3, ()),
    (InTreeCacheLocator.__init__, 3, ()),
    (InTreeCacheLocator.get_source_stamp, 1, ()),
    (InTreeCacheLocator.get_cache_path, 1, ()),
    (InTreeCacheLocator.ensure_cache_path, 1, ()),
    (dumps, 1, ()),
    (normalize_signature, 1, ()),
    (default_manager.lookup, 1, ()),
    (create_struct_proxy, 1, ()),
    (cgutils.get_or_insert_function, 3, ()),
    (cgutils.unpack_tuple, 2, ()),
    (lower_builtin, 2, ()),
    (lower_cast, 2, ()),
    (lower_getattr_generic, 1, ()),
    (infer_getattr, 1, ()),
    (infer_global, 1, ()),
    (signature, 2, ()),
    (JITCodeLibrary.__init__, 3, ()),
    (JITCodeLibrary._optimize_final_module, 1, ()),
    (JITCodeLibrary._finalize_final_module, 1, ()),
    (JITCodeLibrary.get_pointer_to_function, 2, ()),
    (Compiler.define_pipelines, 1, ()),
    (make_array, 1, ()),
    (populate_array, 1, ('data', 'shape', 'strides', 'itemsize', 'meminfo')),
)
# what is read of them
READ = (
    (caching.FunctionCache, ('_impl_class', 'cache_path')),
    (caching.CompileResultCacheImpl, ('_locator_classes', 'locator')),
    (Conversion, ('safe',)),
    (JITCodeLibrary, ('codegen',)),
    (ir, ('Constant', 'DoubleType', 'FunctionType', 'IntType', 'PointerType', 'Undefined',
          'VectorType')),
)


def changed() -> Iterator[str]:
    """Yield a sentence about each part of Numba that is not as it is used."""
    for function, count, names in CALLED:
        try:
            inspect.signature(function).bind(*[None] * count, **dict.fromkeys(names))
        except TypeError as error:
            yield (f'{function.__module__}.{function.__qualname__} takes '
                   f'{inspect.signature(function)}: {error}')
    for owner, names in READ:
        yield from (f'{owner.__name__} has no {name}' for name in names
                    if not hasattr(owner, name))


def check() -> None:
    """
    Compare the parts of Numba with what is used of them.

    Raises
    ------
    TypeError
        They differ; the text names all that do.
    """
    if found := list(changed()):
        raise TypeError('; '.join(found))


__all__ = ['AbstractTemplate', 'AttributeTemplate', 'CALLED', 'Compiler', 'Conversion',
           'InTreeCacheLocator', 'JITCodeLibrary', 'READ', 'caching', 'cgutils', 'changed',
           'check', 'create_struct_proxy', 'default_manager', 'dumps', 'infer_getattr',
           'infer_global', 'ir', 'loads', 'lower_builtin', 'lower_cast', 'lower_getattr_generic',
           'make_array', 'normalize_signature', 'populate_array', 'signature']
