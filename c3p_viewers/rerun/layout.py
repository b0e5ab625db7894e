# SPDX-License-Identifier: Apache-2.0
"""Layout of Rerun's viewer: the robot at the left, its plots at the right."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from c3p_description.model import CasterRobot
from c3p_description.reading.how_to_install import how_to_install
from c3p_plots.palette import caster_colour

TIMELINE = 'time'
PLATFORM = 'odom/robot'

# colours of the commanded and of the measured vx, vy, ω
AXES = (('vx', '#E69F00', '#0072B2'), ('vy', '#F0E442', '#009E73'), ('omega', '#CC79A7',
                                                                     '#56B4E9'))


def import_rerun() -> Any:
    """
    Return the module rerun.

    Raises
    ------
    ValueError
        It is not installed; the text has the remedy.
    """
    try:
        import rerun
    except ImportError as error:
        raise ValueError(f'Rerun is missing ({error}); install it with {how_to_install("view")}, '
                         'or choose --viewer mujoco or foxglove') from None
    return rerun


def series(robot: CasterRobot) -> dict[str, dict[str, tuple[str, str]]]:
    """Return the plots: ``{plot: {line: (label, colour)}}``."""
    units = {'vx': 'm/s', 'vy': 'm/s', 'omega': 'rad/s'}
    casters = {f'caster_{i + 1}': (f'caster {i + 1} [deg]', caster_colour(i))
               for i in range(robot.count)}
    turning = {} if robot.efforts == robot.count else {'turning': {
        f'caster_{i + 1}': (f'caster {i + 1}', caster_colour(i)) for i in range(robot.count)}}
    wheels = {f'wheel_{i + 1}': (f'wheel {i + 1}', caster_colour(i)) for i in range(robot.count)}
    return {
        'twist': {f'{name}{ending}': (f'{name}{label} [{units[name]}]', colour)
                  for name, command, measured in AXES
                  for ending, label, colour in (('_command', ' commanded', command),
                                                ('', '', measured))},
        'steering': casters,
        'torque': wheels,
        **turning,
        'slip': wheels,
        # of casters alone, as its values
        **({} if robot.other_wheels else {
            'singularity': {'sigma_min': ('sigma_min', '#009E73')}}),
    }


TITLES = {'twist': 'velocity, commanded and by odometry', 'steering': 'steering [deg]',
          'torque': 'wheel torque [N·m]', 'slip': 'slip of each wheel [m/s]',
          'singularity': 'distance from a singularity, σ_min'}


def titles(robot: CasterRobot) -> dict[str, str]:
    """Return the titles of the plots of a robot, from the top down."""
    return {plot: TITLES.get(plot, 'steering torque [N·m]') for plot in series(robot)}


def blueprint(titles: Mapping[str, str] = TITLES, camera: Sequence[float] = (-1.3, -1.3, 1.5)
              ) -> Any:
    """
    Return Rerun's blueprint of the view; its camera goes along with the robot.

    Parameters
    ----------
    titles : mapping
        Plot → title, from the top down.
    camera : (3,) sequence, m
        In the frame of the robot.
    """
    # the error has the remedy
    import_rerun()
    import rerun.blueprint as rrb

    more: dict[str, Any] = {}
    # older viewers have their own camera
    if hasattr(rrb, 'EyeControls3D'):
        more['eye_controls'] = rrb.EyeControls3D(
            position=tuple(camera), look_target=(0.15, 0.0, 0.0), eye_up=(0.0, 0.0, 1.0),
            tracking_entity=None)
    return rrb.Blueprint(
        rrb.Horizontal(
            rrb.Spatial3DView(origin=PLATFORM, contents=['/odom/**'], name='robot', **more),
            rrb.Vertical(*[rrb.TimeSeriesView(origin=f'plots/{plot}', name=title,
                                              plot_legend=rrb.Corner2D.RightTop)
                           for plot, title in titles.items()],
                         row_shares=[3, *[2] * (len(titles) - 1)]),
            column_shares=[3, 2]),
        collapse_panels=True)
