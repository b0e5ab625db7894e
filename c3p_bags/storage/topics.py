# SPDX-License-Identifier: Apache-2.0
"""Recorded topics: topics file, message classes by name, and matching quality of service."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

from c3p_description.reading.yaml_files import read_yaml
from c3p_ros.parameters import ParameterError

# queue of one topic while the disk is busy, messages: two seconds at 1 kHz
DEPTH = 2000

# topics of every node: a publisher of these alone is not part of the recording
COMMON_TOPICS = ('/rosout', '/parameter_events')


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
        The file cannot be read, or is not a topics file.
    """
    try:
        content = read_yaml(path)
        topics = dict(content['topics'])
        latched = set(content.get('latched', []))
    except (OSError, AttributeError, KeyError, TypeError, ValueError) as error:
        raise ParameterError(f'topics_file {path}: {error}') from error
    wrong = [f'{t}: {k}' for t, k in topics.items()
             if not isinstance(k, str) or len(k.split('/')) != 3]
    if wrong:
        raise ParameterError(f'topics_file {path}: {wrong} must be topic: package/msg/Type')
    return topics, latched


def wanted_profile(latched: bool) -> QoSProfile:
    """Return the quality of service that matches the suite's publishers, without loss."""
    return QoSProfile(depth=DEPTH, durability=DurabilityPolicy.TRANSIENT_LOCAL if latched
                      else DurabilityPolicy.VOLATILE)


def matching(publishers: Sequence[Any], kind: str) -> tuple[str, QoSProfile]:
    """
    Return message type and quality of service that match all `publishers`.

    Parameters
    ----------
    publishers : sequence of TopicEndpoint
        Not empty.
    kind : str
        Preferred type; another one only if no publisher has it.
    """
    kinds = [p.topic_type for p in publishers]
    profile = wanted_profile(False)
    if any(p.qos_profile.reliability == ReliabilityPolicy.BEST_EFFORT for p in publishers):
        profile.reliability = ReliabilityPolicy.BEST_EFFORT
    # latched if all publishers latch, also against the topics file
    profile.durability = DurabilityPolicy.TRANSIENT_LOCAL if all(
        p.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for p in publishers
    ) else DurabilityPolicy.VOLATILE
    return (kind if kind in kinds else kinds[0]), profile


def same_qos(subscription: Any, profile: QoSProfile) -> bool:
    """Return True if a subscription has the reliability and the durability of `profile`."""
    have = subscription.qos_profile
    return (have.reliability, have.durability) == (profile.reliability, profile.durability)
