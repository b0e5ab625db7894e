# SPDX-License-Identifier: Apache-2.0
"""Base of events."""


class Event:
    """Something that happened."""

    name = 'launch.Event'
