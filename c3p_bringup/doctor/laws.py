# SPDX-License-Identifier: Apache-2.0
"""The control laws of installed packages."""

from __future__ import annotations

from collections.abc import Iterator

from c3p_bringup.doctor.check import Check, fail, ok, warn
from c3p_controller import BUILT_IN
from c3p_controller.reading.laws import LawError, installed_laws, load_law

NAME = 'control laws'


def checks() -> Iterator[Check]:
    """Yield the check of each law of another package, which imports it; none without one."""
    laws, troubles = installed_laws()
    for trouble in troubles:
        finding, _, remedy = trouble.rpartition('; ')
        yield warn(NAME, finding, remedy)
    for name, entries in laws.items():
        if len(entries) > 1:  # a trouble already
            continue
        try:
            load_law(name)
        except LawError as error:
            finding, _, remedy = f'{error}'.rpartition('; ')
            yield fail(NAME, finding, remedy)
        else:
            yield ok(NAME, f'{name}, of the package {entries[0].package}, beside '
                     f'{", ".join(BUILT_IN)}')
