# SPDX-License-Identifier: Apache-2.0
"""``python -m c3p_bringup`` is the command ``c3p``."""

import _signal
import sys
from importlib import import_module

# Ctrl-C ends what only imports, without a traceback, until the command takes the signal over; the
# built-in part of the module signal is there without an import that could be interrupted
_signal.signal(_signal.SIGINT, _signal.SIG_DFL)
sys.exit(import_module('c3p_bringup.cli.main').command())
