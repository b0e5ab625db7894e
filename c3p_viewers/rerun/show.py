# SPDX-License-Identifier: Apache-2.0
"""A run in Rerun: in its viewer, in a file, or as a picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from c3p_viewers.options import ViewOptions
from c3p_viewers.rerun.layout import import_rerun
from c3p_viewers.rerun.picture import rerun_picture
from c3p_viewers.rerun.process import RerunProcess, ShownRecording
from c3p_viewers.screen import require_screen

# moments a second of a bag, and of a whole run at most
RATE, MOST_MOMENTS = 20.0, 3000
# name under which the viewer groups recordings
APPLICATION = 'c3p'


def show_run(options: ViewOptions, layout: Any, time: float, fill: Callable[[Any], object]
             ) -> dict[str, str]:
    """
    Show a run in a viewer that stays open, or write the requested file; return files by kind.

    Raises PictureError: as `rerun_picture` and `spawn`.

    Parameters
    ----------
    options : ViewOptions
        Its `picture` and `save` select a file.
    layout : rerun.blueprint.Blueprint
    time : float, s
        Of the picture.
    fill : callable
        Takes a recording and logs the run.
    """
    if options.picture is not None:
        return {'picture': str(rerun_picture(
            lambda file: write_recording(file, layout, fill), options.picture, time))}
    if options.save is not None:
        return {'recording': str(write_recording(options.save, layout, fill))}
    recording = spawn(layout)
    fill(recording)
    recording.flush()
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

    Raises PictureError: no screen, or the viewer does not start; the text has the remedy.
    """
    rr = import_rerun()
    require_screen()
    viewer = RerunProcess()
    recording = rr.RecordingStream(APPLICATION)
    recording.connect_grpc(viewer.url, default_blueprint=layout)
    shown = ShownRecording(recording, viewer)
    # a viewer that cannot open its window ends now, and not in the middle of a run
    shown.flush()
    return shown
