# SPDX-License-Identifier: Apache-2.0
"""Answer of a report: the promises of safety.md that were broken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from c3p_bags.report.slip_answer import Answer


def promise_answer(numbers: Mapping[str, Any]) -> list[Answer]:
    """Return an answer for a run in which a promise was broken, none for others."""
    found = numbers.get('broken_promises')
    if not found:
        return []
    first = found[0]
    names = ', '.join(one['promise'] for one in found)
    return [Answer('Were promises of safety.md broken?', names,
                   f'At {first["at_s"]:.2f} s: {first["evidence"]}.', 'bad', 'nodes')]
