# SPDX-License-Identifier: Apache-2.0
"""Texts on terminals whose encoding lacks signs and Greek letters."""

import os
import subprocess
import sys

import pytest

from c3p_bringup.plain_text import plain

CODE = ('from c3p_bringup.plain_text import show_plainly; import sys; show_plainly(); '
        'print({text!r}); print({text!r}, file=sys.stderr)')
TEXT = 'σ_min 0.3 N·m, Σ|Δτ| 90° ± 2 ’s'


@pytest.mark.parametrize(('encoding', 'shown'), [
    ('ascii', "sigma_min 0.3 N*m, sum|dtau| 90deg +- 2 's"),
    ('latin-1', "sigma_min 0.3 N·m, sum|dtau| 90° ± 2 's"),
    ('utf-8', TEXT)])
def test_what_the_encoding_lacks_is_written_in_words(encoding, shown):
    done = subprocess.run([sys.executable, '-c', CODE.format(text=TEXT)], capture_output=True,
                          env={**os.environ, 'PYTHONIOENCODING': encoding}, check=True)
    assert done.stdout.decode(encoding).strip() == done.stderr.decode(encoding).strip() == shown


def test_a_command_ends_as_elsewhere():
    done = subprocess.run([sys.executable, '-m', 'c3p_bringup', 'experiment', '--list'],
                          capture_output=True, env={**os.environ, 'PYTHONIOENCODING': 'ascii'})
    assert done.returncode == 0 and b'4deg' in done.stdout and done.stderr == b''


def test_names_that_are_not_text_are_shown():
    assert plain('a\udc80b') == 'a?b'
