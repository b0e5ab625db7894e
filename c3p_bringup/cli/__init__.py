# SPDX-License-Identifier: Apache-2.0
"""Command line ``c3p``: one module for each command."""

# exit codes: a goal was missed; the command could not be carried out; it was interrupted
MISSED = 1
FAILED = 2
INTERRUPTED = 130
