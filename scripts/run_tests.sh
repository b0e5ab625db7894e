#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the linter and all tests. Arguments go to pytest.

source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
set_up all,test
ruff check .
# one thread per process: the tests measure real-time behaviour on small machines
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# pytest ends with 5 when nothing was chosen, which one of the two halves may well do
run() {
    local code=0
    python -m pytest "$@" || code=$?
    [ $code = 5 ] && nothing=$((nothing + 1)) || [ $code = 0 ] || failed=$code
}
nothing=0 failed=0
run -m 'not real_time' --numprocesses auto --dist loadfile "$@"
# what runs against the clock on the wall runs alone; what had to try again is listed
run -m real_time -r R "$@"
[ $nothing != 2 ] || failed=5
exit $failed
