# SPDX-License-Identifier: Apache-2.0
"""Remarks on bags on the command line: one line each, once, for every command that opens one."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def remarks_on_bags(command: str) -> Iterator[None]:
    """
    Print each `BagWarning` as one line of `command` on standard error, without its place in code.

    Other warnings are shown as before.
    """
    told = set()
    others = warnings.showwarning

    def show(message: Any, category: Any, *place: Any, **more: Any) -> None:
        # by name: the module of bags is imported by the command, if at all
        if category.__name__ != 'BagWarning':
            others(message, category, *place, **more)
        elif f'{message}' not in told:
            told.add(f'{message}')
            print(f'{command}: {message}', file=sys.stderr)

    with warnings.catch_warnings():
        warnings.filterwarnings('always', r'bag .*')
        warnings.showwarning = show
        yield
