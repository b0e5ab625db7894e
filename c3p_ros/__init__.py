# SPDX-License-Identifier: Apache-2.0
"""What every node of the suite needs of ROS 2: parameters, messages, diagnostics, executors."""
