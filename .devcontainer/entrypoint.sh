#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a command with ROS 2 and the workspace on its paths.
set -e
source "/opt/ros/$ROS_DISTRO/setup.bash"
source /workspace/install/setup.bash
exec "$@"
