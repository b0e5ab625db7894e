#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the linter and all tests. Arguments go to pytest.

source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
set_up all,test compile
# one thread per process: there are as many processes as processors
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# each kernel is compiled by one process; left to the tests, all of them would compile all kernels,
# and it is for them to tell what fails
compile() {
    python -m c3p_bringup "$@" --out "$scratch/$2" > /dev/null 2>&1 || true
}
compiling=
if [ -z "$(find c3p_dynamics/rough_ground -name '*.nbi' -print -quit)" ]; then
    echo 'compiling the kernels'
    { compile experiment hill --duration 0.1
      compile experiment chain
      compile drive 0.5 0 0 --realtime-factor 0; } &
    compiling=$!
fi
ruff check .
mypy
[ -z "$compiling" ] || wait "$compiling"

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
