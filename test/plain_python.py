# SPDX-License-Identifier: Apache-2.0
"""The numbers of a program with compiled kernels, and in plain Python."""

import json
import os
import subprocess
import sys

import numpy as np
from source_tree import ROOT, python_path


def compiled_and_plain(program):
    """Yield pairs of arrays: what `program` prints as JSON with the compiler, and without it."""
    printed = [json.loads(subprocess.run(
        [sys.executable, '-c', program], cwd=ROOT, check=True, text=True, capture_output=True,
        env={**os.environ, 'PYTHONPATH': python_path(ROOT), 'NUMBA_DISABLE_JIT': disabled}).stdout)
        for disabled in ('0', '1')]
    for compiled, plain in zip(*printed, strict=True):
        yield np.array(compiled), np.array(plain)
