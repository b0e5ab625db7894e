# SPDX-License-Identifier: Apache-2.0
"""Experiments: the papers' claims and those of the suite, measured."""
