# SPDX-License-Identifier: Apache-2.0
"""``python -m c3p_bringup`` is the command ``c3p``."""

import signal
import sys
from importlib import import_module

# Ctrl-C ends what only imports, without a traceback; the command takes the signal over
signal.signal(signal.SIGINT, signal.SIG_DFL)
sys.exit(import_module('c3p_bringup.cli.main').command())
