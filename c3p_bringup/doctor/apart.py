# SPDX-License-Identifier: Apache-2.0
"""Calls in a process of their own, because the libraries that they load may end it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from c3p_bringup.doctor.check import Check, Level, fail

# time limit of a call, s
PATIENCE = 30.0

# a line that the libraries do not write
MARK = 'c3p doctor: '

PROGRAM = ('from {module} import {name} as call\n'
           'from c3p_bringup.doctor.apart import report\n'
           'report(call())')


class ApartError(RuntimeError):
    """The process ended without a result; the text is the last line of its errors."""


def report(result: Any) -> None:
    """Write a result, a check or a value of JSON, for the process that started this one."""
    if isinstance(result, Check):
        result = {**asdict(result), 'level': result.level.name}
    print(f'{MARK}{json.dumps(result)}', flush=True)


def value_apart(call: Callable[[], Any]) -> Any:
    """
    Return the result of a function of a module, a value of JSON, in a process of its own.

    Raises
    ------
    ApartError
        It has no result within `PATIENCE`, or ends without one, such as by a C library that
        exits.
    """
    program = PROGRAM.format(module=call.__module__, name=call.__name__)
    try:
        done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
    except subprocess.TimeoutExpired:
        raise ApartError(f'no result within {PATIENCE:g} s') from None
    for line in reversed(done.stdout.splitlines()):
        if line.startswith(MARK):
            return json.loads(line.removeprefix(MARK))
    words = [*filter(None, map(str.strip, done.stderr.splitlines()))] or ['no text']
    raise ApartError(f'{words[-1]} (exit code {done.returncode})')


def apart(check: Callable[[], Check], name: str, remedy: str) -> Check:
    """
    Return the result of a function of a module in a process of its own.

    Where that process ends without a result, it is a failure of the check `name`: the last line of
    its errors, and the `remedy`.
    """
    try:
        values = value_apart(check)
    except ApartError as error:
        return fail(name, f'{error}', remedy)
    return Check(**{**values, 'level': Level[values['level']]})
