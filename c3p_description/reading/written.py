# SPDX-License-Identifier: Apache-2.0
"""Robot files that are written whole: loaded and compared before they take their names."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from c3p_description.model import CasterRobot, ModelError
from c3p_description.reading.loader import load_casters

# digits of a robot file: seven, lengths to a nanometre
ROUNDING = 1e-6
SMALLEST = 2e-9


def write_robot(path: str | Path, text: str, robot: CasterRobot, fields: Sequence[str]) -> None:
    """
    Write a robot file that `loader.load_casters` reads as `robot`; a failure leaves the old file.

    Parameters
    ----------
    path : str or Path
        Ends with ``.yaml``.
    text : str
        Content; paths in it are relative to the directory of `path`.
    robot : CasterRobot
        What the file describes.
    fields : sequence of str
        Attributes of `robot` that are compared, within the rounding of the text.

    Raises
    ------
    ModelError
        The text is not a robot, or another one; the sentence names file, field and values.
    OSError
        The file cannot be written.

    Examples
    --------
    >>> from c3p_description.reading.loader import load
    >>> with tempfile.TemporaryDirectory() as place:
    ...     write_robot(f'{place}/mine.yaml', 'extends: c3p', load('c3p'), ['wheel_radius'])
    ...     load(f'{place}/mine.yaml').wheel_radius.tolist()
    [0.04, 0.04, 0.04]
    """
    path = Path(path)
    new = _beside(path, text)
    try:
        read = load_casters(new)
        for field in fields:
            wanted, found = (np.asarray(getattr(one, field), float) for one in (robot, read))
            if not np.allclose(found, wanted, ROUNDING, SMALLEST):
                raise ModelError(f'{field} is read as {found.tolist()} instead of '
                                 f'{wanted.tolist()}')
        new.replace(path)
    except ModelError as error:
        text = f'{error}'.replace(str(new), path.name)
        raise ModelError(f'{path}: not written, because it could not be loaded: {text}') from None
    finally:
        new.unlink(missing_ok=True)


def replace_text(path: str | Path, text: str) -> None:
    """Write `text` to `path` at once: a power cut leaves the old file."""
    new = _beside(Path(path), text)
    try:
        new.replace(path)
    finally:
        new.unlink(missing_ok=True)


def _beside(path: Path, text: str) -> Path:
    """Return a new file with `text` in the directory of `path`, and with its suffix."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f'.{path.stem}.', suffix=path.suffix)
    new = Path(name)
    try:
        with os.fdopen(handle, 'w', encoding='utf-8') as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        new.chmod(0o644)
    except BaseException:
        new.unlink(missing_ok=True)
        raise
    return new
