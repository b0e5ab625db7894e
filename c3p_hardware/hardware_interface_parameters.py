# SPDX-License-Identifier: Apache-2.0
# Written by scripts/write_settings.py from hardware_interface_parameters.yaml:
# change that, not this file.
"""
Settings from the parameters of hardware_interface.

Default, bounds and description of each field are those of its parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from c3p_description.settings import CheckedSettings, setting


@dataclass(frozen=True, kw_only=True)
class CardParameters(CheckedSettings):
    """
    Bus, timeouts and limits of the motor cards of a robot.

    Attributes
    ----------
    master_id : int
        Node id of this computer, whose heartbeat the drives monitor.
    rate : float
        SYNC cycles per second [Hz].
    bitrate : int
        Bit rate of the bus [bit/s], for the bus load and for interfaces that set it; a socketcan
        interface is set up with ip link.
    heartbeat_period : float
        Heartbeat period of every device and of this computer [s].
    heartbeat_timeout : float
        Heartbeat consumer timeout [s]; it stops a drive, and is a fault of a device.
    missed_cycles : int
        Missed cycles of a device after which all wheels get zero torque.
    silence_timeout : float
        Time without a sample of a device that is a fault [s].
    arming_timeout : float
        Timeout of the drives to reach OPERATION_ENABLED after ~/enable [s].
    command_timeout : float
        Age at which a wheel command times out and the wheels brake [s].
    stop_damping : float
        Braking torque per wheel rate after a command timeout [N·m·s/rad]; 0 coasts.
    max_steering_rate : float
        Plausibility limit of steering rates [rad/s]; a faster encoder has jumped, a fault.
    rate_bandwidth : float
        Bandwidth of the tracking loops that estimate rates from counts [Hz].
    overspeed_margin : float
        Wheel rate of armed motors that is a fault after 0.05 s, as a multiple of the wheel rate
        limit of the description; 0 disables the check.
    torque_tolerance : float
        Deviation of a drive's torque (6077h) from the command that is a fault, as a fraction of
        the torque limit; 0 disables the check.
    torque_deviation_time : float
        Duration after which a torque deviation is a fault [s].
    rpdo_deadline : float
        Time without a command after which a drive with the object 1400h:5 stops on its own [s];
        negative selects heartbeat_timeout, 0 disables the monitoring.
    max_wheel_rate : float
        Plausibility limit of wheel rates [rad/s]; a faster drive has jumped, a fault.
    stop_margin : float
        Time after a stop order from which the wheels must slow down [s]; a quick stop without
        effect then ends in voltage off.
    brake_close_time : float
        Time in which a holding brake closes [s]; the torque is kept for this time at rest.
    brake_open_time : float
        Time in which a holding brake opens [s]; the robot is armed after it.
    """

    master_id: int = setting(127, bounds=(1, 127), parameter='master_id')
    rate: float = setting(200.0, bounds=(10.0, 1000.0), parameter='rate')
    bitrate: int = setting(1000000, bounds=(10000, 1000000), parameter='bus.bitrate')
    heartbeat_period: float = setting(0.05, bounds=(0.005, 5.0), parameter='heartbeat_period')
    heartbeat_timeout: float = setting(0.15, bounds=(0.02, 10.0), parameter='heartbeat_timeout')
    missed_cycles: int = setting(1, bounds=(1, 100), parameter='missed_cycles')
    silence_timeout: float = setting(0.05, bounds=(0.005, 10.0), parameter='silence_timeout')
    arming_timeout: float = setting(2.0, bounds=(0.1, 30.0), parameter='arming_timeout')
    command_timeout: float = setting(0.2, bounds=(0.005, 5.0), parameter='command_timeout')
    stop_damping: float = setting(0.1, bounds=(0.0, 5.0), parameter='stop_damping')
    max_steering_rate: float = setting(60.0, above=0.0, parameter='max_steering_rate')
    rate_bandwidth: float = setting(40.0, bounds=(1.0, 400.0), parameter='rate_bandwidth')
    overspeed_margin: float = setting(1.2, bounds=(0.0, 10.0), parameter='overspeed_margin')
    torque_tolerance: float = setting(0.2, bounds=(0.0, 2.0), parameter='torque_tolerance')
    torque_deviation_time: float = setting(
        0.05, bounds=(0.005, 10.0), parameter='torque_deviation_time')
    rpdo_deadline: float = setting(-1.0, bounds=(-1.0, 10.0), parameter='rpdo_deadline')
    max_wheel_rate: float = setting(300.0, above=0.0, parameter='max_wheel_rate')
    stop_margin: float = setting(0.3, bounds=(0.05, 5.0), parameter='stop_margin')
    brake_close_time: float = setting(0.05, bounds=(0.0, 1.0), parameter='brake_close_time')
    brake_open_time: float = setting(0.05, bounds=(0.0, 1.0), parameter='brake_open_time')
