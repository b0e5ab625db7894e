# SPDX-License-Identifier: Apache-2.0
"""Answer of a report: the promises of safety.md that were judged, and those that were broken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from c3p_bags.report.slip_answer import Answer

QUESTION = 'Were promises of safety.md broken?'


def promise_answer(numbers: Mapping[str, Any]) -> list[Answer]:
    """Return the answer on the promises of a run; none where none could be judged."""
    found = numbers.get('broken_promises')
    judged = numbers.get('judged_promises')
    if not found:
        return [Answer(QUESTION, 'No', f'Judged: {", ".join(judged)}.', 'good', 'nodes')
                ] if judged else []
    first = found[0]
    names = ', '.join(one['promise'] for one in found)
    return [Answer(QUESTION, names,
                   f'At {first["at_s"]:.2f} s: {first["evidence"]}.', 'bad', 'nodes')]
