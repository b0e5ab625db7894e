# SPDX-License-Identifier: Apache-2.0
"""The log."""

import logging


def get_logger(name=None):
    """Return a logger."""
    return logging.getLogger(name)
