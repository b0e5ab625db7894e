#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the linter and all tests. Arguments go to pytest.

source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
set_up all,test
ruff check .
# one thread per process: the tests measure real-time behaviour on small machines
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1

# what does not look at the clock takes what is left of the processors meanwhile
others=$(mktemp)
nice -n 19 python -m pytest -m 'not real_time' --numprocesses auto --dist loadfile "$@" \
    > "$others" 2>&1 &
pid=$!
trap 'kill $pid 2> /dev/null || true; rm -f "$others"' EXIT

# the first start of a node compiles its kernels, and robots that wait for it give up
if [ -z "$(find c3p_controller -name '*.nbi' -print -quit)" ]; then
    echo 'compiling the kernels (a minute)'
    python -m c3p_simulation drive 0.5 0 0 --realtime-factor 0 --out "$(mktemp -d)" > /dev/null
fi

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
cat "$others"
note $code
code=0
python -m pytest -m alone -r R "$@" || code=$?
note $code
[ $chosen = yes ] || failed=5
exit $failed
