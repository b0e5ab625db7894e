# SPDX-License-Identifier: Apache-2.0
"""Base of event handlers."""


class EventHandler:
    """Entities that follow from the events that match."""

    def __init__(self, *, matcher, entities=None, handle_once=False):
        self.matcher, self.entities = matcher, entities or []
