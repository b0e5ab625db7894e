# SPDX-License-Identifier: Apache-2.0
"""What to record: the topics file, message classes by name, and subscriptions that match."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from c3p_description.reading.yaml_files import read_yaml
from c3p_ros.parameters import ParameterError

# messages of one topic that may wait while the disk is busy: two seconds at 1 kHz
DEPTH = 2000

# topics of every node: who publishes these alone has nothing to do with the recording
UNASKED = ('/rosout', '/parameter_events')


def message_class(kind: str) -> type | None:
    """Return the class of ``'package/msg/Name'``, or None where the package is not installed."""
    package, _, name = kind.split('/')
    try:
        return getattr(importlib.import_module(f'{package}.msg'), name)
    except (ImportError, AttributeError):
        return None


def read_topics_file(path: str | Path) -> tuple[dict[str, str], set[str]]:
    """
    Return ``{topic: type}`` and the latched topics of a topics file.

    Raises
    ------
    ParameterError
        It cannot be read, or is not such a file.
    """
    try:
        content = read_yaml(path)
        topics, latched = dict(content['topics']), set(content.get('latched', []))
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ParameterError(f'topics_file {path}: {error}') from error
    wrong = [f'{t}: {k}' for t, k in topics.items()
             if not isinstance(k, str) or len(k.split('/')) != 3]
    if wrong:
        raise ParameterError(f'topics_file {path}: {wrong} must be topic: package/msg/Type')
    return topics, latched


def wanted_profile(latched: bool) -> QoSProfile:
    """Return the quality of service that matches this suite's publishers and loses nothing."""
    return QoSProfile(depth=DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL if latched
                      else DurabilityPolicy.VOLATILE)


def matching(publishers: Sequence[Any], kind: str) -> tuple[str, QoSProfile]:
    """
    Return message type and quality of service with which all `publishers` are heard.

    Parameters
    ----------
    publishers : sequence of TopicEndpointInfo
        Not empty.
    kind : str
        Wanted type; another one only where nobody publishes this.
    """
    kinds = [p.topic_type for p in publishers]
    profile = wanted_profile(False)
    if any(p.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT for p in publishers):
        profile.reliability = ReliabilityPolicy.BEST_EFFORT
    # whatever can be heard late is, also where the topics file does not know that
    profile.durability = DurabilityPolicy.TRANSIENT_LOCAL if all(
        p.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for p in publishers
    ) else DurabilityPolicy.VOLATILE
    return (kind if kind in kinds else kinds[0]), profile


def names_of(publishers: Sequence[Any]) -> list[str]:
    """Return the full names of the nodes behind TopicEndpointInfos, as far as they are known."""
    return sorted({f'{p.node_namespace.rstrip("/")}/{p.node_name}' for p in publishers
                   if not p.node_name.startswith('_')})
