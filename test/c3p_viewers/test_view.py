# SPDX-License-Identifier: Apache-2.0
"""Which viewer opens on what; the windows themselves are replaced, for there is no screen."""

import json

import numpy as np
import pytest

pytest.importorskip('rerun', reason='pip install .[view]')
pytest.importorskip('foxglove', reason='pip install .[view]')
pytest.importorskip('mujoco', reason='pip install .[sim]')

from c3p_bringup.cli.main import main  # noqa: E402
from c3p_viewers.foxglove import bag_player  # noqa: E402
from c3p_viewers.mujoco import window as mujoco_window  # noqa: E402
from c3p_viewers.rerun import caster, layout, show  # noqa: E402
from c3p_viewers.sources.visuals import visuals  # noqa: E402


class Recording:
    """Counts what is logged in the place of Rerun's recording."""

    def __init__(self):
        self.entities, self.flushed = [], False

    def set_time(self, timeline, duration):
        self.time = duration

    def log(self, entity, what, static=False):
        self.entities.append(entity)

    def send_columns(self, entity, indexes, columns):
        self.entities.append(entity)

    def flush(self, limit):
        self.flushed = limit > 0.0


def test_a_bag_opens_in_rerun_unless_another_viewer_is_named(source, viewed_bag, monkeypatch,
                                                             tmp_path):
    recording = Recording()
    monkeypatch.setattr(caster, 'MOST_MOMENTS', 20)
    monkeypatch.setattr(show, 'spawn', lambda layout: recording)
    figures = tmp_path / 'view.json'
    assert main(['view', str(viewed_bag), '--json', str(figures)]) == 0
    assert json.loads(figures.read_text()) == {
        'viewer': 'rerun', 'robot': 'c3p', 'bag': str(viewed_bag), 'files': {}}
    assert recording.flushed and 'plots/slip/wheel_2' in recording.entities
    assert recording.time == pytest.approx(source.end, abs=0.4)


def test_long_runs_have_fewer_moments_a_second(robot, source, monkeypatch):
    monkeypatch.setattr(caster, 'MOST_MOMENTS', 10)
    recording = Recording()
    caster.log_run(caster.CasterLog(recording, robot, 'c3p'), source)
    assert 9 <= recording.entities.count('odom/robot') <= 11


def test_a_live_robot_draws_its_way_behind_it(robot, source, monkeypatch):
    recording = Recording()
    monkeypatch.setattr(caster, 'spawn', lambda layout: recording)
    moments = iter([None, *(source.at(t) for t in (1.0, 1.01, 3.0, 4.0))])
    left = iter([True] * 5 + [False])
    caster.follow(robot, 'c3p', lambda: next(moments), lambda: next(left))
    # two of them are nearly at one place
    assert recording.entities.count('odom/ways/driven') == 2
    assert recording.entities.count('odom/robot') == 4


def test_a_bag_is_played_over_and_over_in_the_window_of_mujoco(source, viewed_bag, monkeypatch):
    shown = []

    class Window:
        def __init__(self, robot, description):
            # the one that the bag describes
            assert robot.name == 'c3p' and description.endswith('.urdf')

        def show(self, moments):
            shown.append(moments())

    monkeypatch.setattr(mujoco_window, 'Window', Window)
    assert main(['view', str(viewed_bag), '--viewer', 'mujoco']) == 0
    assert source.start <= shown[0].time <= source.end
    np.testing.assert_allclose(shown[0].steering, source.at(shown[0].time).steering)


def test_a_bag_goes_to_the_foxglove_app_until_it_is_ended(viewed_bag, monkeypatch, capsys):
    ran = []
    monkeypatch.setattr(bag_player.BagPlayer, 'run', lambda player: ran.append(
        (player.server.port, player.playing)))
    assert main(['view', str(viewed_bag), '--viewer', 'foxglove', '--port', '0']) == 0
    assert ran[0][1] and f'ws://127.0.0.1:{ran[0][0]}' in capsys.readouterr().err


def test_a_viewer_that_cannot_draw_names_what_is_missing(viewed_bag, monkeypatch, tmp_path,
                                                         capsys):
    pytest.importorskip('rerun.experimental')

    def start(**_):
        raise RuntimeError('no adapter\nfound')

    monkeypatch.setattr(show, 'RerunProcess', start)
    monkeypatch.setattr(show, 'write_recording', lambda *arguments: arguments[0])
    assert main(['view', str(viewed_bag), '--viewer', 'rerun', '--headless-screenshot',
                 str(tmp_path / 'f.png')]) == 2
    told = capsys.readouterr().err.strip()
    assert 'no adapter found' in told and 'mesa-vulkan-drivers' in told and '\n' not in told


def test_a_viewer_that_is_busy_is_asked_again():
    answers = iter([RuntimeError('Deadline expired'), 'picture'])

    def ask():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    assert show._patiently(ask) == 'picture'
    with pytest.raises(RuntimeError, match='gone'):
        show._patiently(lambda: (_ for _ in ()).throw(RuntimeError('gone')))


@pytest.mark.parametrize(('module', 'use'), [
    ('rerun', layout.import_rerun), ('foxglove', bag_player.import_foxglove),
    ('trimesh', lambda: visuals('<robot name="r"><link name="a"><visual/></link></robot>'))])
def test_what_is_not_installed_is_told_with_its_remedy(module, use, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ValueError, match=r'pip install .*\[view\]'):
        use()
