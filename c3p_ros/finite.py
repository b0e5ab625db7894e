# SPDX-License-Identifier: Apache-2.0
"""
Check of typed messages before they are published: every number is finite.

The writers of wire.py check their own numbers. `SuiteNode.send` turns the error into a diagnostic;
the node then does what is safe: brakes, gives up, publishes zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from math import isfinite
from typing import Any

from rclpy.serialization import deserialize_message

from c3p_ros.cdr import PublishError
from c3p_ros.wire import check_finite


def check_message(topic: str, message: Any) -> Any:
    """
    Return a typed message when every floating-point number in it is finite.

    Parameters
    ----------
    topic : str
        For the error.
    message : ROS message

    Raises
    ------
    PublishError
        Names the first number that is not finite.
    """
    for field, value in _numbers(message):
        if not isfinite(value):
            check_finite(topic, field, [value])
    return message


def check_serialized(topic: str, data: bytes, kind: Any) -> None:
    """
    Let a serialized message of type `kind` pass only when `check_message` does.

    Raises
    ------
    PublishError
        A number that is not finite, or bytes that the middleware cannot read.
    """
    try:
        message = deserialize_message(data, kind)
    # the middleware raises exceptions of any type for bytes of another message
    except Exception as error:
        raise PublishError(topic, f'no {kind.__name__}: {error}') from error
    check_message(topic, message)


def _numbers(message: Any, path: str = '') -> Iterator[tuple[str, float]]:
    """Yield each floating-point number of a message, at any depth, with its place."""
    for name, kind in message.get_fields_and_field_types().items():
        value = getattr(message, name)
        place = f'{path}{name}'
        if kind in ('double', 'float'):
            yield place, value
        elif kind.startswith(('sequence<double', 'sequence<float', 'double[', 'float[')):
            yield from ((f'{place}[{k}]', float(number)) for k, number in enumerate(value))
        elif hasattr(value, 'get_fields_and_field_types'):
            yield from _numbers(value, f'{place}.')
        elif isinstance(value, list) and hasattr(next(iter(value), None),
                                                 'get_fields_and_field_types'):
            yield from chain.from_iterable(_numbers(part, f'{place}[{k}].')
                                           for k, part in enumerate(value))
