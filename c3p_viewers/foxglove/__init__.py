# SPDX-License-Identifier: Apache-2.0
"""Foxglove viewer: server, bags with a scene, layouts."""
