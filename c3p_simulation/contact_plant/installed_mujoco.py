# SPDX-License-Identifier: Apache-2.0
"""Import of MuJoCo, or the reason why it fails with its remedy."""

from __future__ import annotations

from typing import Any

from c3p_description.reading.how_to_install import how_to_install
from c3p_description.texts import one_line

# versions whose results are wrong, and in what
WRONG = {'4.0.0': 'its sparse solver'}


def installed_mujoco(purpose: str, extra: str) -> Any:
    """
    Return the module mujoco.

    Parameters
    ----------
    purpose : str
        What needs it, for the error.
    extra : str
        Of c3p, which installs it.

    Raises
    ------
    ImportError
        It is not installed, damaged, or of a version in `WRONG`; the text has the remedy.
    """
    try:
        import mujoco
        # mujoco before 4 and mujoco-core have the same folder: one over the other, or the removal
        # of one, leaves a mixture or gaps
        if mujoco.__file__ is None:
            raise ImportError('its folder has no __init__.py')
    except ModuleNotFoundError as error:
        raise ImportError(f'{purpose} MuJoCo ({error}); install it with '
                          f'{how_to_install(extra)}') from None
    except (ImportError, OSError) as error:
        raise ImportError(f'{purpose} MuJoCo, which is damaged ({one_line(error)}); install it '
                          f'again: `pip uninstall mujoco mujoco-core`, then '
                          f'{how_to_install(extra)}') from None
    if mujoco.__version__ in WRONG:
        raise ImportError(f'{purpose} MuJoCo; version {mujoco.__version__} is installed, in which '
                          f'{WRONG[mujoco.__version__]} is wrong: install a later one with '
                          f'{how_to_install(extra)}')
    return mujoco
