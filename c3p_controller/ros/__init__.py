# SPDX-License-Identifier: Apache-2.0
"""ROS interfaces of the controller nodes: topics, services, the action and their adapters."""
