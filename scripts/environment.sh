# SPDX-License-Identifier: Apache-2.0
# Sourced by quick_start.sh and run_tests.sh: a virtual environment in .venv with ROS 2 from wheels.
# Nothing outside this folder changes, except that Debian's or Ubuntu's python3-venv is installed
# where it is missing and we may do so.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

# a sourced ROS 2 installation and its Python packages must not mix with the wheels
unset PYTHONPATH AMENT_PREFIX_PATH COLCON_PREFIX_PATH CMAKE_PREFIX_PATH LD_LIBRARY_PATH ROS_DISTRO
# what is imported is compiled once, into this folder; without that each start takes three times as long
unset PYTHONDONTWRITEBYTECODE

# folder of the environment; set another one before `set_up` for the wheels of another distribution
venv=.venv
# options of uv for other versions than the newest ones, set before `set_up` as well
resolution=()

# minor versions of Python 3 that the suite is tested with, as PYTHONS of setup.py
oldest_python=10 newest_python=14

find_python() {
    local name minor names=("${PYTHON:-}" python3)
    for ((minor = newest_python; minor >= oldest_python; minor--)); do
        names+=("python3.$minor")
    done
    for name in "${names[@]}"; do
        if [ -n "$name" ] && command -v "$name" > /dev/null 2>&1 &&
            "$name" -c "import sys; sys.exit(not (3, $oldest_python) <= sys.version_info[:2] <= (3, $newest_python))" 2> /dev/null; then
            echo "$name"
            return
        fi
    done
    echo "Python 3.$oldest_python to 3.$newest_python is needed and was not found (PYTHON=/path/to/python chooses one)" >&2
    return 1
}

install_venv_package() {
    local apt='apt-get'
    if [ "$(id -u)" != 0 ]; then
        apt='sudo apt-get'
    fi
    if ! command -v apt-get > /dev/null 2>&1; then
        echo "python3's venv module is missing; install it with your package manager" >&2
        return 1
    fi
    echo 'installing python3-venv'
    $apt update -qq && $apt install -y -qq python3-venv > /dev/null
}

# get PACKAGES...: install them; with uv, which takes a fourth of pip's time, or else with pip
get() {
    # bytecode is made when a module is imported: most never are
    local pip=("$venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile)
    if [ ! -x "$venv/uv/bin/uv" ]; then
        "${pip[@]}" --target "$venv/uv" uv > /dev/null 2>&1 || true
    fi
    # pip always takes the newest versions
    if [ ${#resolution[@]} != 0 ]; then
        with_uv "${resolution[@]}" "$@"
        return
    fi
    # what is wrong, pip says
    with_uv "$@" 2> /dev/null || "${pip[@]}" "$@"
}

with_uv() (
    settings=$("$venv/bin/python" scripts/uv_settings.py) && eval "$settings" &&
        "$venv/uv/bin/uv" pip install --quiet --no-cache --python "$venv/bin/python" "$@"
)

# processes that compile kernels
compiling=

# set_up EXTRAS [PARTS...]: make the environment, or bring it up to date, with the project and
# these extras. Meanwhile a process for each further argument compiles the kernels of these parts of
# compile_kernels.py; finish_compiling waits for them
set_up() {
    local python stamp extras=$1
    shift
    python=$(find_python)
    if [ ! -x "$venv/bin/python" ]; then
        "$python" -m venv "$venv" 2> /dev/null || {
            rm -rf "$venv"
            install_venv_package
            "$python" -m venv "$venv"
        }
    fi
    # install again only when what is installed may have changed
    stamp=$(cat setup.py pyproject.toml | cksum)
    if ! grep -qxF "$stamp $extras" "$venv/c3p_stamp" 2> /dev/null; then
        echo "installing into $venv (about a minute)"
        # mujoco before 4 has the folder of mujoco-core, and pip would mix their files
        if compgen -G "$venv"'/lib/python3.1[1-9]/site-packages/mujoco-[1-3].*.dist-info' > /dev/null; then
            "$venv/bin/python" -m pip uninstall --quiet --yes mujoco
        fi
        # the distribution was called c3p; what is left of it would own the commands as well
        if compgen -G '.venv/lib/python3.1[0-9]/site-packages/c3p-*.dist-info' > /dev/null; then
            .venv/bin/python -m pip uninstall --quiet --yes c3p
        fi
        if [ $# != 0 ]; then
            # they need no more than this
            get 'numpy>=1.26' 'scipy>=1.11' 'numba>=0.58.1,<0.69' 'PyYAML>=6'
            local parts
            for parts in "$@"; do
                # shellcheck disable=SC2086 # several
                PYTHONPATH=. "$venv/bin/python" scripts/compile_kernels.py $parts > /dev/null 2>&1 &
                compiling="$compiling $!"
            done
            # shellcheck disable=SC2064 # of these processes
            trap "kill $compiling 2> /dev/null || true" EXIT
        fi
        get --editable ".[$extras]"
        rm -rf "$venv/uv"
        # one line for each set of extras of this version
        grep -F "$stamp" "$venv/c3p_stamp" 2> /dev/null > "$venv/c3p_stamp.new" || true
        echo "$stamp $extras" >> "$venv/c3p_stamp.new"
        mv "$venv/c3p_stamp.new" "$venv/c3p_stamp"
    fi
    export PATH="$PWD/$venv/bin:$PATH"
    export ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST
}

finish_compiling() {
    # what failed is compiled where it is needed
    # shellcheck disable=SC2086 # several
    [ -z "$compiling" ] || wait $compiling || true
    trap - EXIT
}
