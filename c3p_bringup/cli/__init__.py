# SPDX-License-Identifier: Apache-2.0
"""Command line ``c3p``: one module for each command."""
