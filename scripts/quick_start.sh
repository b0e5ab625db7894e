#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and drives the simulated C3P through real ROS 2 nodes and topics.
# What only other commands need (films, viewers, campaigns, motor cards) they name when it is missing.
# Arguments go to `c3p drive`; without any it drives 4 m from a singular start.

source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
set_up jazzy,sim odometry control
finish_compiling
if [ $# = 0 ]; then
    set -- 4 0 0 --plant mujoco --bag --json out/drive/drive.json
fi
exec c3p drive "$@"
