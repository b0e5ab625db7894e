#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the linter and all tests. Arguments go to pytest.

source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
set_up all,test
ruff check .
# one thread per process: the tests measure real-time behaviour on small machines
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

scratch=$(mktemp -d)
cold=no
[ -n "$(find c3p_controller -name '*.nbi' -print -quit)" ] || cold=yes
# each kernel is compiled by one process; left to the tests, three would compile all of them, and it
# is for them to tell what fails
compile() {
    [ $cold = no ] || python -m c3p_simulation "$@" --out "$scratch/$2" > /dev/null 2>&1 || true
}

# what does not look at the clock takes what is left of the processors meanwhile
others() {
    compile experiment hill --duration 0.1
    compile experiment chain
    exec python -m pytest -m 'not real_time' --numprocesses auto --dist loadfile "$@"
}
others "$@" > "$scratch/others.log" 2>&1 &
pid=$!
renice -n 19 $pid > /dev/null
trap 'kill $pid 2> /dev/null || true; rm -rf "$scratch"' EXIT

# the first start of a node compiles its kernels, and robots that wait for it give up
[ $cold = no ] || echo 'compiling the kernels (a minute)'
compile drive 0.5 0 0 --realtime-factor 0

# pytest ends with 5 when nothing was chosen, which any of the three parts may well do
chosen=no failed=0
note() {
    [ "$1" = 5 ] || chosen=yes
    [ "$1" = 0 ] || [ "$1" = 5 ] || failed=$1
}

# what looks at the clock runs one after the other; what had to try again is listed
code=0
python -m pytest -m 'real_time and not alone' -r R "$@" || code=$?
note $code
code=0
wait $pid || code=$?
cat "$scratch/others.log"
note $code
code=0
python -m pytest -m alone -r R "$@" || code=$?
note $code
[ $chosen = yes ] || failed=5
exit $failed
