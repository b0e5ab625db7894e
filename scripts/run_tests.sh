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

# pytest ends with 5 when no test was chosen, which each part may well do
chosen=no failed=0
# judge CODE: take the exit code of one part
judge() {
    [ "$1" = 5 ] || chosen=yes
    [ "$1" = 0 ] || [ "$1" = 5 ] || failed=$1
}
run() {
    local code=0
    "${python[@]}" -m pytest "$@" || code=$?
    judge $code
}
# all tests would be collected for the one of the site
site_file=(test/test_docs_site.py)
for argument in "$@"; do
    [ ! -e "${argument%%::*}" ] || site_file=()
done
# the site is built beside the other tests: at the end of one of their processes it would hold up
# the rest
if [ $distribution != kilted ]; then
    mkdir -p out
    "${python[@]}" -m pytest -m site "$@" "${site_file[@]}" > out/site_test.txt 2>&1 &
    site=$!
    # shellcheck disable=SC2064 # of this process
    trap "kill $site 2> /dev/null || true" EXIT
fi
run -m 'not real_time and not site' --numprocesses auto --dist loadfile "$@"
if [ $distribution != kilted ]; then
    code=0
    wait $site || code=$?
    trap - EXIT
    [ $code = 5 ] || cat out/site_test.txt
    judge $code
    # robots of several processes that drive by the clock on the wall: they wait most of the time,
    # but not beside tests that compute all the time
    run -m real_time --numprocesses auto --dist loadfile "$@"
fi
[ $chosen = yes ] || failed=5
if [ ${#python[@]} -gt 1 ]; then
    folders=()
    for argument in "$@"; do
        [ ! -e "${argument%%::*}" ] || folders+=("$argument")
    done
    python scripts/write_coverage.py ${folders:+--tests "${folders[*]}"}
fi
exit $failed
