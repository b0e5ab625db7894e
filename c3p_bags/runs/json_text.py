# SPDX-License-Identifier: Apache-2.0
"""Results as JSON, which has neither infinite numbers nor nan: they become null."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any


def finite(value: Any) -> Any:
    """
    Return `value` with None in place of every number that is not finite, at any depth.

    Examples
    --------
    >>> finite({'largest': float('inf'), 'of': [1.0, float('nan')], 'name': 'inf'})
    {'largest': None, 'of': [1.0, None], 'name': 'inf'}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(part) for part in value]
    return value


def json_text(value: Any) -> str:
    """
    Return the text of a JSON file with `value`, null for numbers that are not finite.

    Examples
    --------
    >>> print(json_text({'jerk': float('inf')}), end='')
    {
      "jerk": null
    }
    """
    return json.dumps(finite(value), indent=2, allow_nan=False, ensure_ascii=False) + '\n'
