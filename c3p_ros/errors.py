# SPDX-License-Identifier: Apache-2.0
"""What is raised about messages, apart from the message classes: bags are read without ROS 2."""

from __future__ import annotations

# of a message that is read whole, and of text in any message: those of a robot have some kB, and
# names of some letters
MOST_BYTES, MOST_TEXT = 2**18, 1000


class MessageError(ValueError):
    """A message that must not be used; the text says what is wrong with it and where."""


class PublishError(ValueError):
    """
    A message that must not be published.

    Parameters
    ----------
    topic : str
    text : str
        Field, value and remedy.
    """

    def __init__(self, topic: str, text: str) -> None:
        """Make the text of both."""
        super().__init__(f'{topic}: {text}')
        self.topic, self.text = topic, text
