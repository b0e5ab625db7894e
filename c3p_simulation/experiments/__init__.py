# SPDX-License-Identifier: Apache-2.0
"""The papers' experiments and ours: the loop without ROS, what is asked, what is measured."""
