# SPDX-License-Identifier: Apache-2.0
"""
Code of functions that are parts of kernels: intermediate code alone, without machine code.

A kernel contains the code of all that it calls. Numba optimises each of these functions on its
own, with the copies of all that it calls in turn, and generates machine code for it, which nothing
executes where only kernels call it. Here their code is optimised where it is used: once, as a part
of the kernel. That takes a quarter of the time of compiling odometry.
"""

from __future__ import annotations

from typing import Any

from c3p_kernels.internals import Compiler, JITCodeLibrary


class _Unset:
    """Takes the environment of a function, which a part without machine code does not have."""

    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Ignore the environment: that of the kernel applies."""


class PartLibrary(JITCodeLibrary):
    """Code of a part, which other libraries link."""

    @property
    def codegen(self) -> Any:
        """Return what takes the environment of its functions."""
        return _Unset

    def _optimize_final_module(self) -> None:
        """Leave that to the kernel."""

    def _finalize_final_module(self) -> None:
        """Be ready to be linked; nothing is added to the machine code of the process."""
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of no function."""
        return 0


class PartCompiler(Compiler):
    """Numba's compiler, but that the code is that of a part."""

    def define_pipelines(self) -> Any:
        """Return the passes of the compiler."""
        state = self.state
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return super().define_pipelines()
