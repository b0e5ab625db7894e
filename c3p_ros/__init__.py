# SPDX-License-Identifier: Apache-2.0
"""ROS 2 substrate of the nodes: parameters, messages, diagnostics, executor, base node."""
