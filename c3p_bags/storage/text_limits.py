# SPDX-License-Identifier: Apache-2.0
"""Limits of the texts in a bag, and of messages that are packed one by one."""

from __future__ import annotations

from typing import Any

from c3p_bags.storage.unpacking import MOST_BYTES, unpack_some
from c3p_description.reading.yaml_files import YamlFileError, parse_yaml

# of a text with the definition of a message, and of one with the quality of a topic
MOST_DEFINITION, MOST_QOS = 200_000, 20_000


def check_qos(text: Any) -> None:
    """
    Refuse a quality of service whose YAML stands for more than it can.

    Parameters
    ----------
    text : object
        What is no text is left to the reader.

    Raises
    ------
    ValueError
        With the reason.
    """
    if not isinstance(text, str):
        return
    if len(text) > MOST_QOS:
        raise ValueError(f'a quality of service of {len(text)} characters')
    try:
        parse_yaml(text)
    except YamlFileError as error:
        raise ValueError(f'the quality of service of a topic: {error}') from None


def check_packed(data: Any) -> None:
    """
    Refuse a packed message of more than can be read.

    Parameters
    ----------
    data : object
        What is not bytes is left to the reader.

    Raises
    ------
    ValueError
        With the limit.
    """
    if isinstance(data, bytes) and len(unpack_some('zstd', data, MOST_BYTES + 1)) > MOST_BYTES:
        raise ValueError(f'a message that unpacks to more than {MOST_BYTES} bytes')
