# SPDX-License-Identifier: Apache-2.0
"""Shared test set-up: its place puts this folder, with robots.py, on the path of every test."""

from hypothesis import settings

# the first call of a kernel compiles it, which no deadline should count
settings.register_profile('suite', deadline=None, max_examples=60)
settings.load_profile('suite')
