# SPDX-License-Identifier: Apache-2.0
"""PVC tricycle on rough ground: simulation node, commands and pace."""
