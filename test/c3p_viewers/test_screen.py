# SPDX-License-Identifier: Apache-2.0
"""Windows where there is no screen, and where Rerun's viewer listens."""

import socket
import stat
import sys
from contextlib import suppress

import pytest

pytest.importorskip('rerun', reason='pip install .[view]')
pytest.importorskip('mujoco', reason='pip install .[sim]')

from c3p_bringup.cli.main import main  # noqa: E402
from c3p_viewers import screen  # noqa: E402
from c3p_viewers.rerun import layout, process, show  # noqa: E402
from c3p_viewers.rerun.layout import blueprint  # noqa: E402
from c3p_viewers.rerun.process import RerunProcess, ShownRecording  # noqa: E402
from c3p_viewers.screen import PictureError, require_screen  # noqa: E402

# what a viewer is for these tests: it notes how it was started, listens where it is bound, and
# ends as it is told
VIEWER = """#!{python}
import os, socket, sys
open({noted!r}, 'w').write(' '.join(sys.argv[1:]) + os.environ['RERUN_APP_ONLY'])
if {word!r}:
    print({word!r})
    sys.exit(1)
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
heard = socket.create_server((options['--bind'], int(options['--port'])))
heard.accept()
heard.accept()
"""


@pytest.fixture
def program(tmp_path, monkeypatch):
    """Return what puts a viewer in the place of Rerun's, and the file with its arguments."""
    def put(word=''):
        file = tmp_path / 'rerun'
        file.write_text(VIEWER.format(python=sys.executable, noted=str(tmp_path / 'noted'),
                                      word=word), encoding='utf-8')
        file.chmod(stat.S_IRWXU)
        monkeypatch.setattr(process, '_program', lambda: str(file))
        return tmp_path / 'noted'

    return put


@pytest.mark.parametrize('viewer', ['rerun', 'mujoco'])
def test_a_window_without_a_screen_is_refused_in_one_line(viewed_bag, monkeypatch, capsys, viewer):
    for name in ('DISPLAY', 'WAYLAND_DISPLAY', 'WAYLAND_SOCKET'):
        monkeypatch.delenv(name, raising=False)
    assert main(['view', str(viewed_bag), '--viewer', viewer]) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    assert 'no screen' in told and '--headless-screenshot' in told and '--save' in told


@pytest.mark.parametrize('display, reason', [
    (':4711', 'No such file or directory'), ('', 'is not set'), ('seven', 'HOST:NUMBER'),
    ('127.0.0.1:59', 'refused')])
def test_a_screen_that_does_not_answer_is_refused(monkeypatch, display, reason):
    for name in ('WAYLAND_DISPLAY', 'WAYLAND_SOCKET'):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('DISPLAY', display)
    with pytest.raises(PictureError, match=f'{reason}.*--headless-screenshot'):
        require_screen()


@pytest.mark.parametrize('display', ['127.0.0.1:{}', '127.0.0.1:{}.0'])
def test_a_screen_that_accepts_connections_is_one(monkeypatch, display):
    monkeypatch.delenv('WAYLAND_DISPLAY', raising=False)
    monkeypatch.delenv('WAYLAND_SOCKET', raising=False)
    with socket.create_server(('127.0.0.1', 0)) as server:
        number = server.getsockname()[1] - screen.FIRST_PORT
        monkeypatch.setenv('DISPLAY', display.format(number))
        require_screen()


def test_the_viewer_of_rerun_is_bound_to_this_computer(program):
    noted = program()
    viewer = RerunProcess()
    try:
        assert viewer.running and viewer.url.startswith('rerun+http://127.0.0.1:')
        assert noted.read_text().startswith('--bind 127.0.0.1 --port ')
    finally:
        viewer.close()
    assert not viewer.running


def test_the_viewer_ends_with_the_process_that_its_script_starts(program):
    noted = program()
    script = noted.with_name('rerun')
    inner = script.rename(noted.with_name('inner'))
    # it listens until it is ended
    inner.write_text(inner.read_text().replace(
        'heard.accept()\n', 'kept = []\nwhile True: kept.append(heard.accept())\n', 1),
        encoding='utf-8')
    script.write_text(f'#!{sys.executable}\nimport subprocess, sys\n'
                      f'subprocess.run([{str(inner)!r}, *sys.argv[1:]])\n', encoding='utf-8')
    script.chmod(stat.S_IRWXU)
    viewer = RerunProcess()
    port = int(viewer.url.split(':')[2].split('/')[0])
    with socket.create_connection(('127.0.0.1', port), timeout=10.0) as line:
        viewer.close()
        # the end of the listening process ends the connection, and right after it the listening
        with suppress(ConnectionResetError):
            assert line.recv(1) == b''
    # (the limit of a test's time ends this if it does not)
    while process._listens(port):
        pass


def test_a_viewer_that_ends_at_once_is_told_with_its_last_word(program, monkeypatch):
    program('Error: no window')
    monkeypatch.setenv('WAYLAND_DISPLAY', 'any')
    with pytest.raises(PictureError, match=r'Rerun does not start \(Error: no window\)'):
        show.spawn(blueprint())


def test_a_recording_does_not_wait_for_ever_and_obeys_ctrl_c(program, monkeypatch):
    class Recording:
        def __init__(self, error):
            self.error = error

        def connect_grpc(self, url, default_blueprint):
            pass

        def flush(self, timeout_sec):
            raise self.error

    ended = []
    monkeypatch.setenv('WAYLAND_DISPLAY', 'any')
    monkeypatch.setattr(RerunProcess, 'close', lambda viewer: ended.append(viewer))
    monkeypatch.setattr(process.ShownRecording.flush, '__defaults__', (0.2,))
    module = layout.import_rerun()
    for error, kind in ((ValueError('busy'), PictureError),
                        (KeyboardInterrupt(), KeyboardInterrupt)):
        program()
        monkeypatch.setattr(module, 'RecordingStream', lambda name, e=error: Recording(e))
        with pytest.raises(kind):
            show.spawn(blueprint())
    # neither viewer stays behind
    assert len(ended) == 2
    for viewer in ended:
        viewer._process.kill()
        viewer._process.wait()


def test_a_recording_waits_for_its_viewer_only_while_that_runs():
    class Viewer:
        running, looks = True, 0

        def check(self):
            self.looks += 1
            if self.looks > 3:
                raise PictureError('ended')

    class Recording:
        def flush(self, timeout_sec):
            raise ValueError('not in time')

    with pytest.raises(PictureError, match='ended'):
        ShownRecording(Recording(), Viewer()).flush()
    closed = Viewer()
    closed.running = False
    ShownRecording(Recording(), closed).flush()
