#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the linter and all tests. Arguments go to pytest.
# With --kilted as the first argument: the tests of the nodes, on the wheels of ROS 2 Kilted.
# With --oldest: all tests, without the linter, with the oldest versions that setup.py allows of all
# libraries; PYTHON=python3.10 for the oldest Python as well.
# With --coverage: measures the statements that the tests run, into out/coverage, and writes the
# table of QUALITY_DECLARATION.md.

source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
# folders whose tests run rclpy; the mathematics is the same on every distribution
nodes=(test/c3p_ros test/nodes test/c3p_bags/player test/c3p_bags/recorder test/launch)
distribution=jazzy oldest=no python=(python)
if [ "${1:-}" = --coverage ]; then
    # the configuration of pyproject.toml includes the processes that tests start
    python=(python -m coverage run)
    rm -rf out/coverage && mkdir -p out/coverage
    shift
fi
if [ "${1:-}" = --kilted ]; then
    distribution=kilted venv=.venv-kilted
    shift
elif [ "${1:-}" = --oldest ]; then
    oldest=yes venv=.venv-oldest
    resolution=(--resolution lowest-direct --override scripts/oldest.txt)
    shift
fi
# one thread per process: there are as many processes as processors
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

if [ $oldest = yes ]; then
    # no version of Rerun runs with the oldest NumPy
    set_up jazzy,sim,film,hardware,campaign,test 'odometry mechanism' 'control vehicle'
elif [ $distribution = jazzy ]; then
    set_up all,test 'odometry mechanism' 'control vehicle'
    ruff check .
    mypy
else
    set_up kilted,sim,hardware,view,test 'odometry mechanism' 'control vehicle'
    # what is chosen by path replaces the folders
    for argument in "$@"; do
        [ ! -e "${argument%%::*}" ] || nodes=()
    done
    set -- "${nodes[@]}" "$@"
fi
# left to the tests, each of the processes would compile these
finish_compiling

# pytest ends with 5 when no test was chosen, which either part may well do
chosen=no failed=0
run() {
    local code=0
    "${python[@]}" -m pytest "$@" || code=$?
    [ "$code" = 5 ] || chosen=yes
    [ "$code" = 0 ] || [ "$code" = 5 ] || failed=$code
}
run -m 'not real_time' --numprocesses auto --dist loadfile "$@"
# the few robots of several processes that drive by the clock on the wall
[ $distribution = kilted ] || run -m real_time "$@"
[ $chosen = yes ] || failed=5
if [ ${#python[@]} -gt 1 ]; then
    folders=()
    for argument in "$@"; do
        [ ! -e "${argument%%::*}" ] || folders+=("$argument")
    done
    python scripts/write_coverage.py ${folders:+--tests "${folders[*]}"}
fi
exit $failed
