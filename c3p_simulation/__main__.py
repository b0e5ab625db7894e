# SPDX-License-Identifier: Apache-2.0
"""``python -m c3p_simulation`` is the command ``c3p``."""

import sys

from c3p_simulation.cli import command

sys.exit(command())
