# SPDX-License-Identifier: Apache-2.0
"""A run in Rerun: in its viewer, in a file, or as a picture."""

from __future__ import annotations

import tempfile
import time as clock
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from c3p_description.reading.how_to_install import in_environment
from c3p_viewers.options import ViewOptions
from c3p_viewers.rerun.layout import TIMELINE, import_rerun
from c3p_viewers.rerun.process import RerunProcess, ShownRecording
from c3p_viewers.screen import PictureError, require_screen

# time limit of the viewer's first picture without a graphics card, s
PATIENCE = 120.0
# duration of notices over the picture, s
NOTICES = 5.0


def rerun_picture(write: Callable[[Path], object], path: str | Path, time: float) -> Path:
    """
    Write a picture of Rerun's viewer at one time of a run; needs no screen.

    `write`: writes the run as an ``.rrd`` to the path that it is given; `path`: PNG, 1920 × 1080;
    `time` [s]. Raises PictureError: the viewer is too old, or cannot draw here.
    """
    import_rerun()
    try:
        from rerun.experimental import ViewerClient

        take = ViewerClient.save_screenshot
    except (ImportError, AttributeError):
        newer = in_environment(['rerun-sdk'], '--upgrade ')
        raise PictureError('this Rerun takes no pictures without a window; install a newer one '
                           f'with {newer}, or choose --viewer mujoco') from None
    path = Path(path).absolute()
    with tempfile.TemporaryDirectory(prefix='c3p_view_') as folder:
        file = Path(folder) / 'run.rrd'
        write(file)
        try:
            with closing(RerunProcess(headless=True)) as process:
                viewer = ViewerClient(process.url)
                _patiently(lambda: viewer.open([str(file)]))
                _until(lambda: not _patiently(viewer.get_state).loading)
                _patiently(lambda: viewer.set_time(TIMELINE, duration=float(time),
                                                   play_state='paused'))
                # the first picture prepares the second, before which the notices of the start
                # disappear
                _patiently(viewer.take_screenshot)
                clock.sleep(NOTICES)
                _patiently(lambda: take(viewer, str(path)))
        # whatever a viewer without graphics raises
        except Exception as error:
            raise PictureError(f'Rerun cannot draw here ({" ".join(str(error).split())[:200]}); '
                               'without a graphics card it needs Vulkan in software, '
                               'mesa-vulkan-drivers (Debian, Ubuntu); or choose --viewer mujoco'
                               ) from error
    return path


def _patiently(request: Callable[[], Any]) -> Any:
    """Repeat a request while the viewer is too busy to answer in time."""
    end = clock.monotonic() + PATIENCE
    while True:
        try:
            return request()
        except Exception as error:
            if 'deadline' not in str(error).lower() or clock.monotonic() > end:
                raise


def _until(condition: Callable[[], bool]) -> None:
    end = clock.monotonic() + PATIENCE
    while not condition():
        if clock.monotonic() > end:
            raise TimeoutError(f'nothing is drawn after {PATIENCE:.0f} s')
        clock.sleep(0.1)


# moments a second of a bag, and of a whole run at most
RATE = 20.0
MOST_MOMENTS = 3000
# time limit of a viewer that takes a whole run, s
WHOLE_RUN = 300.0
# name under which the viewer groups recordings
APPLICATION = 'c3p'


def show_run(options: ViewOptions, layout: Any, time: float, fill: Callable[[Any], object]
             ) -> dict[str, str]:
    """
    Show a run in a viewer that stays open, or write the requested file.

    Parameters
    ----------
    options : ViewOptions
        Its `picture` and `save` select a file.
    layout : rerun.blueprint.Blueprint
    time : float, s
        Of the picture.
    fill : callable
        Takes a recording and logs the run.

    Returns
    -------
    dict
        The files by kind.

    Raises
    ------
    PictureError
        As `rerun_picture` and `spawn`.
    """
    if options.picture is not None:
        return {'picture': str(rerun_picture(
            lambda file: write_recording(file, layout, fill), options.picture, time))}
    if options.save is not None:
        return {'recording': str(write_recording(options.save, layout, fill))}
    recording = spawn(layout)
    fill(recording)
    recording.flush(WHOLE_RUN)
    return {}


def write_recording(path: str | Path, layout: Any, fill: Callable[[Any], object]) -> Path:
    """Write an ``.rrd`` for Rerun; `layout` and `fill` as for `show_run`."""
    recording = import_rerun().RecordingStream(APPLICATION)
    recording.save(path, default_blueprint=layout)
    fill(recording)
    recording.flush()
    # closes the file
    recording.disconnect()
    return Path(path)


def spawn(layout: Any) -> Any:
    """
    Return a recording that goes to a viewer of its own, which only this computer reaches.

    Raises
    ------
    PictureError
        No screen, or the viewer does not start; the text has the remedy.
    """
    rr = import_rerun()
    require_screen()
    viewer = RerunProcess()
    recording = rr.RecordingStream(APPLICATION)
    recording.connect_grpc(viewer.url, default_blueprint=layout)
    shown = ShownRecording(recording, viewer)
    # a viewer that cannot open its window ends now, and not in the middle of a run
    try:
        shown.flush()
    except (PictureError, KeyboardInterrupt):
        viewer.close()
        raise
    return shown
