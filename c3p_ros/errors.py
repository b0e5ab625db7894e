# SPDX-License-Identifier: Apache-2.0
"""What is raised about messages, apart from the message classes: bags are read without ROS 2."""

from __future__ import annotations


class MessageError(ValueError):
    """A message that must not be used; the text says what is wrong with it and where."""
