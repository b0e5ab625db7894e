#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up and runs the linter and all tests. Arguments go to pytest.

source "$(dirname "${BASH_SOURCE[0]}")/environment.sh"
set_up all,test
ruff check .
# one thread per process: the tests measure real-time behaviour on small machines
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
exec python -m pytest "$@"
