#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the documentation as a site into out/docs (or the folder given); any warning is an error.
# Needs what the extra `docs` names, and nothing else: neither ROS 2 nor the suite itself.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
target=${1:-out/docs}
if ! python3 -c 'import furo, myst_parser, sphinx_copybutton' 2> /dev/null; then
    # shellcheck source=scripts/environment.sh
    source scripts/environment.sh
    set_up docs
fi
python3 -m sphinx --builder html --fail-on-warning --keep-going --quiet --jobs auto docs "$target"
echo "$target/index.html"
