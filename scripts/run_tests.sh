#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the linter and all tests. Arguments go to pytest.

source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
set_up all,test 'odometry mechanism' 'control vehicle'
# one thread per process: there are as many processes as processors
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

ruff check .
mypy
# left to the tests, each of the processes would compile these
finish_compiling

# pytest ends with 5 when no test was chosen, which either part may well do
chosen=no failed=0
run() {
    local code=0
    python -m pytest "$@" || code=$?
    [ "$code" = 5 ] || chosen=yes
    [ "$code" = 0 ] || [ "$code" = 5 ] || failed=$code
}
run -m 'not real_time' --numprocesses auto --dist loadfile "$@"
# the few robots of several processes that drive by the clock on the wall
run -m real_time "$@"
[ $chosen = yes ] || failed=5
exit $failed
