# SPDX-License-Identifier: Apache-2.0
"""Plants by name, with sensors, ground and model errors."""

from __future__ import annotations

from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from c3p_description.model import ArrayField, CasterRobot
from c3p_description.reading.loader import load_casters
from c3p_hardware.emulator.wiring import CardWiring, wired_channels
from c3p_kinematics.commissioning.assignment import Assignment
from c3p_simulation.contact_plant.mujoco_plant import MujocoPlant, shape_of
from c3p_simulation.plants.floor import FloorPatch
from c3p_simulation.plants.parameter_errors import ParameterErrors, perturbed
from c3p_simulation.plants.plant import JointSample, Plant
from c3p_simulation.plants.sensors import SensedPlant, SensorSettings
from c3p_simulation.plants.wheel_plant import analytic_plant
from c3p_simulation.plants.wired_plant import WiredPlant
from c3p_simulation.sensor_files import AUTO, ENCODERS, read_sensors

# default sensors of each plant
PLANTS = {'analytic': SensorSettings.ideal(), 'mujoco': SensorSettings()}


@dataclass(frozen=True)
class PlantOptions:
    """
    Options of a plant.

    Attributes
    ----------
    friction : (n,) array_like or float
        μ between tyres and ground; on the analytic plant that of side forces of wheels that do not
        trail, and without effect on casters.
    slope, slope_direction : float, rad
        Inclination of the ground and downhill direction; contact plant only.
    patches : tuple of FloorPatch
        Parts of the floor with another μ; contact plant only.
    sensors : SensorSettings, optional
        Default: ideal on the analytic plant, `SensorSettings()` on mujoco.
    errors : ParameterErrors, optional
        Bounds of random model errors; default none.
    seed : int
        Of model errors and sensors.
    wiring : Assignment, optional
        Channels of encoders and motors that are wired otherwise than described.
    """

    friction: ArrayField = 0.8
    slope: float = 0.0
    slope_direction: float = 0.0
    patches: tuple[FloorPatch, ...] = ()
    sensors: SensorSettings | None = None
    errors: ParameterErrors | None = None
    seed: int = 0
    wiring: Assignment | None = None


def make_plant(name: str, robot: CasterRobot | str | Path, options: PlantOptions | None = None,
               shape_from: str | Path | None = None) -> Plant:
    """
    Return a plant.

    Parameters
    ----------
    name : str
        Of `PLANTS`.
    robot : CasterRobot, str or Path
        Description, the model of the controller.
    options : PlantOptions, optional
    shape_from : str or Path, optional
        Parameter file with the heights of a `robot` that is a model (see `BodyShape`).

    Returns
    -------
    Plant
        Its ``robot`` includes the model errors.

    Raises
    ------
    PlantError
        MuJoCo is not installed, or the robot cannot stand.
    ValueError
        An invalid name or option.

    Examples
    --------
    >>> make_plant('analytic', 'swerve').robot.name
    'swerve'
    """
    if name not in PLANTS:
        raise ValueError(f'plant = {name}: must be one of {", ".join(PLANTS)}')
    options = options or PlantOptions()
    described = robot if isinstance(robot, CasterRobot) else load_casters(robot)
    true = (described if options.errors is None
            else perturbed(described, options.seed, options.errors))
    plant: Plant
    if name == 'mujoco':
        plant = MujocoPlant(true, shape=shape_of(shape_from or robot), friction=options.friction,
                            slope=options.slope, slope_direction=options.slope_direction,
                            patches=options.patches)
    elif options.patches:
        raise ValueError('patches: the analytic plant does not slip; choose the plant mujoco')
    elif options.slope:
        raise ValueError(f'slope = {options.slope}: the analytic plant is on level ground; choose '
                         'the plant mujoco')
    else:
        plant = analytic_plant(true, options.friction)
    if options.wiring is not None:
        plant = WiredPlant(plant, options.wiring)
    sensors = options.sensors or PLANTS[name]
    if sensors == SensorSettings.ideal() and options.errors is None:
        return plant
    return SensedPlant(plant, sensors, options.seed, described)


def plant_of_parameters(values: Any, robot: CasterRobot, sensors: str = '') -> Plant:
    """
    Return the plant of the parameters of a node, as `make_plant`.

    Parameters
    ----------
    values : dataclass
        Of ``plant_parameters.yaml`` and ``simulation_parameters.yaml``; with ideal `sensors` the
        parameters of sensors are not needed.
    robot : CasterRobot
        Description.
    sensors : str
        Overrides the parameter. The plant then has no wiring either: that of emulated cards is
        between them and their plant.

    Raises
    ------
    ValueError
        Invalid sensors, or a wiring that the robot cannot have.
    """
    sensed = sensors_of_parameters(values, sensors or values.sensors)
    wiring = None if sensors else wired_channels(robot, CardWiring.of(values.wiring))
    errors = ParameterErrors(
        mass=values.mass_error, com=values.com_error, friction=values.friction_error,
        wheel_radius=values.geometry_error, caster_offset=values.geometry_error,
        steering_zero=values.steering_zero_error)
    options = PlantOptions(friction=values.friction, slope=values.slope,
                           slope_direction=values.slope_direction, sensors=sensed,
                           errors=errors if any(astuple(errors)) else None, seed=values.seed,
                           wiring=wiring)
    # only parameter files have heights as parameters
    return make_plant(values.plant, robot, options,
                      None if values.robot_description else values.robot)


def sensors_of_parameters(values: Any, choice: str) -> SensorSettings:
    """
    Return the sensors of the parameters of a node.

    Parameters
    ----------
    values : dataclass
        Of ``simulation_parameters.yaml``; with ``encoders`` it has their settings.
    choice : str
        ``auto``, or as of `read_sensors`.

    Raises
    ------
    ValueError
        An unknown name, or an invalid file.
    """
    if choice == AUTO:
        choice = ENCODERS if values.plant == 'mujoco' else 'ideal'
    if choice != ENCODERS:
        return read_sensors(choice)
    return SensorSettings.of(values)


def start_of_parameters(plant: Plant, values: Any) -> JointSample:
    """
    Place the robot by the parameters ``start_pose`` and ``start_steering``, at rest.

    Raises
    ------
    ValueError
        Number of steering angles neither 1 nor that of the casters.
    """
    steering = values.start_steering
    count = plant.robot.count
    if len(steering) not in (1, count):
        raise ValueError(f'start_steering has {len(steering)} values; must have 1 or {count}')
    return plant.reset(pose=values.start_pose,
                       steering=steering[0] if len(steering) == 1 else steering)
