# SPDX-License-Identifier: Apache-2.0
"""
Print the configuration of pip as environment variables of uv, which does not read it.

Ends with code 1 when pip has an option that has no counterpart here: then pip installs.
"""

from __future__ import annotations

import ast
import shlex
import subprocess
import sys
from collections.abc import Iterable

# option of pip: variable of uv, and what separates its values
NAMES = {'index-url': ('UV_DEFAULT_INDEX', ' '), 'extra-index-url': ('UV_INDEX', ' '),
         'find-links': ('UV_FIND_LINKS', ','), 'constraint': ('UV_CONSTRAINT', ' '),
         'trusted-host': ('UV_INSECURE_HOST', ' '), 'cert': ('SSL_CERT_FILE', ' '),
         'timeout': ('UV_HTTP_TIMEOUT', ' '), 'default-timeout': ('UV_HTTP_TIMEOUT', ' ')}
# they do not change what is installed
ELSEWHERE = {'disable-pip-version-check', 'no-compile', 'no-cache-dir', 'cache-dir', 'quiet',
             'config-file', 'root-user-action', 'no-color', 'progress-bar', 'no-input', 'retries'}
# sections that hold for an installation; the later count more
SECTIONS = ('global', 'install', ':env:')


def settings(lines: Iterable[str]) -> dict[str, str] | None:
    """
    Return variables of uv; None for an option without a counterpart.

    Parameters
    ----------
    lines : iterable of str
        Of ``pip config list``.

    Examples
    --------
    >>> settings(["global.extra-index-url='https://a.org https://b.org'", "freeze.timeout='10'"])
    {'UV_INDEX': 'https://a.org https://b.org', 'UV_INDEX_STRATEGY': 'unsafe-best-match'}
    >>> settings(["global.client-cert='own.pem'"])
    """
    given: dict[tuple[str, str], str] = {}
    for line in lines:
        name, _, value = line.partition('=')
        section, _, option = name.strip().rpartition('.')
        if section in SECTIONS and option not in ELSEWHERE:
            given[section, option] = f'{ast.literal_eval(value)}'
    found = {}
    for section, option in sorted(given, key=lambda key: SECTIONS.index(key[0])):
        if option not in NAMES:
            return None
        name, comma = NAMES[option]
        found[name] = comma.join(given[section, option].split())
    if 'UV_INDEX' in found:
        # pip takes the best version of all indexes
        found['UV_INDEX_STRATEGY'] = 'unsafe-best-match'
    return found


def main() -> int:
    """Print a shell command for each variable."""
    listed = subprocess.run([sys.executable, '-m', 'pip', 'config', 'list'], capture_output=True,
                            text=True, check=True)
    found = settings(listed.stdout.splitlines())
    for name, value in (found or {}).items():
        print(f'export {name}={shlex.quote(value)}')
    return int(found is None)


if __name__ == '__main__':
    sys.exit(main())
