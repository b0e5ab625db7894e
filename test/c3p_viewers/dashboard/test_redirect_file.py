# SPDX-License-Identifier: Apache-2.0
"""The file that leads a browser to the live page."""

import pytest

from c3p_viewers.dashboard.redirect_file import redirect_file

URL = 'http://127.0.0.1:8766/?code=abc&x="'


def test_only_the_owner_can_read_it_and_its_name_has_no_code(tmp_path):
    path = redirect_file(URL, [tmp_path])
    assert path.stat().st_mode & 0o777 == 0o600 and 'abc' not in path.name
    assert 'url=http://127.0.0.1:8766/?code=abc&amp;x=&quot;"' in path.read_text()
    assert redirect_file(URL, [tmp_path]) != path


def test_a_folder_that_cannot_be_written_is_skipped(tmp_path):
    missing = tmp_path / 'missing'
    assert redirect_file(URL, [missing, tmp_path]).parent == tmp_path
    with pytest.raises(OSError):
        redirect_file(URL, [missing])
