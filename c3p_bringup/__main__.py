# SPDX-License-Identifier: Apache-2.0
"""``python -m c3p_bringup`` is the command ``c3p``."""

import sys

from c3p_bringup.cli.main import command

sys.exit(command())
