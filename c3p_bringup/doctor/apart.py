# SPDX-License-Identifier: Apache-2.0
"""Checks in a process of their own, because the libraries that they load may end it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict

from c3p_bringup.doctor.check import Check, Level, fail

# time limit of a check, s
PATIENCE = 30.0

PROGRAM = ('from {module} import {name} as check\n'
           'from c3p_bringup.doctor.apart import report\n'
           'report(check())')


def report(check: Check) -> None:
    """Write a check for the process that started this one."""
    print(json.dumps({**asdict(check), 'level': check.level.name}), flush=True)


def apart(check: Callable[[], Check], name: str, remedy: str) -> Check:
    """
    Return the result of a function of a module in a process of its own.

    Where that process ends without a result, such as by a C library that exits, it is a failure of
    the check `name`: the last line of its errors, and the `remedy`.
    """
    program = PROGRAM.format(module=check.__module__, name=check.__name__)
    try:
        done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        return fail(name, f'no result within {PATIENCE:g} s', remedy)
    for line in reversed(done.stdout.splitlines()):
        if line.startswith('{'):
            values = json.loads(line)
            return Check(**{**values, 'level': Level[values['level']]})
    words = [*filter(None, map(str.strip, done.stderr.splitlines()))] or ['no text']
    return fail(name, f'{words[-1]} (exit code {done.returncode})', remedy)
