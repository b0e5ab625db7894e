# SPDX-License-Identifier: Apache-2.0
"""uv installs with the options of pip, or pip does."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / 'scripts/uv_settings.py'
settings = runpy.run_path(str(SCRIPT))['settings']


def test_options_become_variables_and_the_environment_counts_more_than_files():
    lines = [":env:.index-url='https://b.org/simple'", "global.index-url='https://a.org/simple'",
             "global.find-links='/wheels /more'", "global.disable-pip-version-check='1'",
             "download.timeout='3'"]
    assert settings(lines) == {'UV_DEFAULT_INDEX': 'https://b.org/simple',
                               'UV_FIND_LINKS': '/wheels,/more'}
    assert settings([]) == {}


@pytest.mark.parametrize('line', ["global.client-cert='own.pem'", "install.no-binary=':all:'",
                                  ":env:.no-index='1'", "global.proxy='http://proxy:3128'"])
def test_what_has_no_counterpart_is_left_to_pip(line):
    assert settings([line]) is None


def test_a_shell_reads_the_variables(tmp_path):
    configuration = tmp_path / 'pip.conf'
    configuration.write_text('[global]\nextra-index-url = https://a.org https://b.org\n')
    shell = f'eval "$({sys.executable} {SCRIPT})" && echo "$UV_INDEX $UV_INDEX_STRATEGY"'
    read = subprocess.run(['sh', '-c', shell], env={'PIP_CONFIG_FILE': str(configuration)},
                          capture_output=True, text=True, check=True)
    assert read.stdout == 'https://a.org https://b.org unsafe-best-match\n'
