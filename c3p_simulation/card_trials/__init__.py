# SPDX-License-Identifier: Apache-2.0
"""What each fault of the motor cards does to a robot that drives, tried and measured."""
