# SPDX-License-Identifier: Apache-2.0
"""The tricycle with passive variable camber on rough ground: its node, commands and pictures."""
