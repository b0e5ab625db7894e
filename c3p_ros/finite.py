# SPDX-License-Identifier: Apache-2.0
"""
The check where messages are written: no node publishes a number that is not finite.

Every writer of wire_writers.py and every sender of a typed command passes here. `SuiteNode.send`
turns the error into a diagnostic; what the node does instead (brake, give up, zero) is its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from rclpy.serialization import deserialize_message

from c3p_ros.errors import PublishError


def check_finite(topic: str, field: str, values: ArrayLike, names: Sequence[str] = ()) -> None:
    """
    Let `values` of a message pass only when every one is finite.

    Parameters
    ----------
    topic, field : str
        For the error.
    values : array_like
        Of any shape.
    names : sequence of str, optional
        One for each value, for the error; numbers when left out.

    Raises
    ------
    PublishError
        Names the first value that is not finite.

    Examples
    --------
    >>> check_finite('wheel_effort', 'effort', [0.1, float('nan')], ['wheel_1', 'wheel_2'])
    Traceback (most recent call last):
    ...
    c3p_ros.errors.PublishError: wheel_effort: effort[wheel_2] = nan: must be finite; check the \
parameters, the robot description and the inputs of the node
    """
    values = np.asarray(values, float)
    if np.isfinite(values).all():
        return
    for place, value in enumerate(values.ravel().tolist()):
        if not isfinite(value):
            where = names[place] if len(names) == values.size else place
            raise PublishError(topic, f'{field}[{where}] = {value}: must be finite; check the '
                                      'parameters, the robot description and the inputs of the '
                                      'node')


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


def check_serialized(topic: str, data: bytes, kind: type) -> None:
    """
    Let a serialized message of type `kind` pass only when `check_message` does.

    Raises
    ------
    PublishError
        A number that is not finite, or bytes that the middleware cannot read.
    """
    try:
        message = deserialize_message(data, kind)
    except Exception as error:  # whatever the middleware raises for what is no such message
        raise PublishError(topic, f'no {kind.__name__}: {error}') from error
    check_message(topic, message)


def _numbers(message: Any, path: str = '') -> Iterator[tuple[str, float]]:
    """Yield each floating-point number of a message, at any depth, with its place."""
    for name, kind in message.get_fields_and_field_types().items():
        value, place = getattr(message, name), f'{path}{name}'
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
