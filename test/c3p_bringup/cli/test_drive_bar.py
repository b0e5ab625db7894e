# SPDX-License-Identifier: Apache-2.0
"""The progress bar of a drive, which shares the thread of the control loop."""

import subprocess
import sys

BAR = """
import sys
from c3p_bringup.cli.drive import _Bar
if sys.argv[1] == 'terminal':
    sys.stderr.isatty = lambda: True
bar = _Bar()
before = set(sys.modules)
for distance in map(float, sys.argv[2:]):
    bar(2.0 - distance, distance)
print(set(sys.modules) - before or 'nothing imported')
bar.close()
"""


def outcome(where, *distances):
    """Return output and error stream; as text of a subprocess a return would be a new line."""
    done = subprocess.run([sys.executable, '-c', BAR, where, *distances], capture_output=True,
                          check=True)
    return done.stdout.decode().strip(), done.stderr.decode()


def test_it_is_made_before_the_drive_and_shows_the_way_to_the_goal():
    said, shown = outcome('terminal', '2', '1', '0')
    assert said == 'nothing imported'
    first, *_, last = shown.split('\r')
    assert not first.strip() and '0.000 m to go' in last and '█' * 40 in last
    assert '1.000 m to go' in shown and last.endswith('\n')


def test_it_is_silent_in_a_file():
    assert outcome('file', '2', '1', '0') == ('nothing imported', '')


def test_a_drive_that_does_not_begin_shows_none():
    assert outcome('terminal') == ('nothing imported', '')
