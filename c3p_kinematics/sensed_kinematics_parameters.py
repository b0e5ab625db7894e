# SPDX-License-Identifier: Apache-2.0
# Written by scripts/write_settings.py from sensed_kinematics_parameters.yaml:
# change that, not this file.
"""
Settings from the parameters of sensed_kinematics.

Default, bounds and description of each field are those of its parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from c3p_description.settings import CheckedSettings, setting


@dataclass(frozen=True)
class SlipSettings(CheckedSettings):
    """
    Settings of the slip monitor.

    Attributes
    ----------
    time_constant : float
        Time constant τ of the low-pass filter of the residuals [s]. Encoder steps Δ [rad] leave
        about lever × Δ/√12/τ [m/s] behind it, because errors of position increments cancel from
        sample to sample.
    noise_std : float
        Standard deviation of each component of a filtered contact velocity at standstill [m/s],
        without that of the encoder steps.
    speed_fraction : float
        Standard deviation of a filtered contact velocity per speed [1], by errors of radius,
        offset and zero angle.
    persistence : float
        Time above the alarm threshold before slip is reported [s].
    release : float
        Time below the fraction clear_fraction of the threshold before the alarm ends [s].
    isolated : float
        Probability from which a single wheel counts as the slipping one [1]; the pose is then
        corrected back to the begin of the slip without it.
    false_alarm : float
        Probability of a false alarm per independent test of casters that roll [1]; it sets the
        alarm threshold of slip and of faults.
    clear_fraction : float
        Fraction of the alarm threshold below which an alarm of slip or of a fault ends [1]; 0.25
        is half of its slip speed.
    """

    time_constant: float = setting(0.1, bounds=(0.001, 10.0), parameter='slip.time_constant')
    noise_std: float = setting(0.002, bounds=(1e-05, 1.0), parameter='slip.noise_std')
    speed_fraction: float = setting(0.01, bounds=(0.0, 1.0), parameter='slip.speed_fraction')
    persistence: float = setting(0.02, bounds=(0.0, 1e9), parameter='slip.persistence')
    release: float = setting(0.2, bounds=(0.0, 1e9), parameter='slip.release')
    isolated: float = setting(0.9, bounds=(0.5, 1.0), parameter='slip.isolated')
    false_alarm: float = setting(1e-06, bounds=(1e-09, 0.1), parameter='alarm.false_alarm')
    clear_fraction: float = setting(0.25, bounds=(0.0, 1.0), parameter='alarm.clear_fraction')


@dataclass(frozen=True)
class GripSettings(CheckedSettings):
    """
    Plausibility limits of contact velocities.

    Attributes
    ----------
    acceleration : float
        Largest acceleration of a contact point by tyre friction [m/s²]; a caster beyond it is
        implausible. 1e9 disables the check.
    noise : float
        Largest error of a contact velocity [m/s], without that of the encoder steps.
    speed_fraction : float
        Largest error of a contact velocity per speed [1].
    longest_hold : float
        Time for which the twist is held while fewer than two casters are plausible [s]; after it
        any sample is accepted.
    window : float
        Time constant of the mean contact velocity [s] that is judged as well where the stamps
        jitter.
    """

    acceleration: float = setting(
        9.80665, bounds=(0.1, 1e9), parameter='grip.acceleration', unlimited=True)
    noise: float = setting(0.05, bounds=(0.0, 10.0), parameter='grip.noise')
    speed_fraction: float = setting(0.05, bounds=(0.0, 1.0), parameter='grip.speed_fraction')
    longest_hold: float = setting(1.0, bounds=(0.0, 60.0), parameter='grip.longest_hold')
    window: float = setting(0.04, bounds=(0.001, 10.0), parameter='grip.window')


@dataclass(frozen=True)
class FaultSettings(CheckedSettings):
    """
    Settings of the fault monitor; deviations are those of a description.

    Attributes
    ----------
    time_constant : float
        Time constant of the low-pass filter of the residuals [s], the window of positions.
    persistence : float
        Time above the alarm threshold before a fault is reported [s]; 1e9 disables it.
    release : float
        Time below the fraction clear_fraction of the threshold before the alarm ends [s].
    released_after : float
        Path without contradiction that also must pass before the alarm of a steering encoder ends
        [m].
    noise_std : float
        Standard deviation of a filtered contact velocity at standstill [m/s], without that of the
        encoder steps.
    radius : float
        Standard deviation of the wheel radii in the test of faults, relative.
    offset : float
        Standard deviation of the caster offsets in the test of faults, relative.
    zero : float
        Standard deviation of the steering zeros in the test of faults [rad].
    hip : float
        Standard deviation of each coordinate of the hips in the test of faults [m].
    creep : float
        Standard deviation of a contact velocity per speed in the test of faults [1], by creep of
        the tyres and their angles of side slip.
    standing : float
        Contact speed below which the platform is at standstill in the test of faults [m/s].
    memory : float
        Path over which an integrated steering angle returns to the measured one [m].
    false_alarm : float
        Probability of a false alarm per independent test of casters that roll [1]; it sets the
        alarm threshold of slip and of faults.
    clear_fraction : float
        Fraction of the alarm threshold below which an alarm of slip or of a fault ends [1]; 0.25
        is half of its slip speed.
    """

    time_constant: float = setting(0.04, bounds=(0.001, 10.0), parameter='faults.time_constant')
    persistence: float = setting(0.01, bounds=(0.0, 1e9), parameter='faults.persistence')
    release: float = setting(0.2, bounds=(0.0, 1e9), parameter='faults.release')
    released_after: float = setting(0.1, bounds=(0.0, 1000.0), parameter='faults.released_after')
    noise_std: float = setting(0.0015, bounds=(1e-05, 1.0), parameter='faults.noise_std')
    radius: float = setting(0.003, bounds=(0.0, 0.5), parameter='faults.radius')
    offset: float = setting(0.02, bounds=(0.0, 0.5), parameter='faults.offset')
    zero: float = setting(0.0052, bounds=(0.0, 0.5), parameter='faults.zero')
    hip: float = setting(0.002, bounds=(0.0, 0.5), parameter='faults.hip')
    creep: float = setting(0.01, bounds=(0.0, 1.0), parameter='faults.creep')
    standing: float = setting(0.005, bounds=(0.0, 1.0), parameter='faults.standing')
    memory: float = setting(2.0, bounds=(0.001, 1e9), parameter='faults.memory')
    false_alarm: float = setting(1e-06, bounds=(1e-09, 0.1), parameter='alarm.false_alarm')
    clear_fraction: float = setting(0.25, bounds=(0.0, 1.0), parameter='alarm.clear_fraction')


@dataclass(frozen=True)
class OdometryParameters(CheckedSettings):
    """
    Settings of the odometry that are parameters of its own.

    Attributes
    ----------
    max_gap : float
        Longest time between joint states that is integrated as usual [s]. Over a longer gap the
        positions alone move the pose, and its standard deviation grows by a fifth of the distance.
    robust : bool
        De-weight casters in the fit by their slip probability and by the plausibility of their
        contact velocity; hold the twist while fewer than two casters are plausible.
    stamp_jitter : float
        Standard deviation of the stamps of joint_states from the times of their samples [s]; above
        0, accelerations are judged over a window of time, and time steps follow from angles and
        rates as well. 0 for drives that sample at a common SYNC.
    sample_skew : float
        Standard deviation of the times of the joints of one message from each other before a drive
        [s]; the speed times it is in the noise of slip and faults, and the window of the test of
        faults grows with it. The drive measures it, from half to twice this value, and the ages of
        the joints, by which their angles are corrected. 0 for drives that sample at a common SYNC:
        nothing is measured.
    rate_noise_std : float
        Noise of a contact velocity from the joint rates [m/s]; lower bound of the twist
        covariance.
    rate_lag : float
        Standard deviation of the lag of the joint rates behind their angles before a drive [s].
        The drive measures the lag, and the twist is corrected by it; its covariance contains the
        acceleration times what is left. 0 for rates without a lag: nothing is measured.
    creep : float
        Standard deviation of a contact velocity per speed [1], by scrub, tyre and floor; in the
        twist covariance.
    position_variance_per_metre : float
        Growth of the position variance per distance driven by floor and tyres [m²/m].
    position_variance_per_radian : float
        Growth of the position variance per angle turned [m²/rad].
    yaw_variance_per_metre : float
        Growth of the yaw variance per distance driven [rad²/m], beside that by tyre_creep and
        side_slip. If both are 0, 0.000003 covers the creep of usual tyres.
    yaw_variance_per_radian : float
        Growth of the yaw variance per angle turned [rad²/rad], beside that by tyre_creep and
        side_slip. If both are 0, 0.000001 covers the creep of usual tyres.
    tyre_creep : float
        Standard deviation of the creep of a wheel over a quarter of a second before a drive, as a
        fraction of its path; the drive estimates it for the weights of the equations along the
        wheels and for the covariance of the pose. 0, with side_slip 0: equal weights, nothing is
        estimated.
    side_slip : float
        Standard deviation of the side slip angle of a tyre over a quarter of a second before a
        drive [rad]; as tyre_creep, across the wheels.
    """

    max_gap: float = setting(0.25, bounds=(0.001, 10.0), parameter='max_gap')
    robust: bool = setting(True, parameter='robust')
    stamp_jitter: float = setting(0.003, bounds=(0.0, 0.02), parameter='stamp_jitter')
    sample_skew: float = setting(0.0025, bounds=(0.0, 0.02), parameter='sample_skew')
    rate_noise_std: float = setting(0.003, bounds=(1e-05, 1.0), parameter='rate_noise_std')
    rate_lag: float = setting(0.006, bounds=(0.0, 1.0), parameter='rate_lag')
    creep: float = setting(0.002, bounds=(0.0, 0.1), parameter='creep')
    position_variance_per_metre: float = setting(
        4e-07, bounds=(0.0, 1.0), parameter='position_variance_per_metre')
    position_variance_per_radian: float = setting(
        1e-07, bounds=(0.0, 1.0), parameter='position_variance_per_radian')
    yaw_variance_per_metre: float = setting(
        3e-07, bounds=(0.0, 1.0), parameter='yaw_variance_per_metre')
    yaw_variance_per_radian: float = setting(
        1e-07, bounds=(0.0, 1.0), parameter='yaw_variance_per_radian')
    tyre_creep: float = setting(0.01, bounds=(0.0, 0.05), parameter='tyre_creep')
    side_slip: float = setting(0.002, bounds=(0.0, 0.05), parameter='side_slip')


@dataclass(frozen=True)
class DescriptionErrors(CheckedSettings):
    """
    Standard deviations of the described parameters from the true ones.

    Attributes
    ----------
    radius : float
        Standard deviation of the described wheel radii, relative; with the three below, the
        covariances contain it. 0.000001 for a description without errors.
    offset : float
        Standard deviation of the described caster offsets, relative.
    hip : float
        Standard deviation of each coordinate of the described hips [m].
    zero : float
        Standard deviation of the described steering zeros [rad].
    """

    radius: float = setting(0.003, bounds=(1e-06, 0.5), parameter='description_std.wheel_radius')
    offset: float = setting(0.02, bounds=(1e-06, 0.5), parameter='description_std.caster_offset')
    hip: float = setting(0.0017, bounds=(1e-06, 0.5), parameter='description_std.hip_position')
    zero: float = setting(0.0052, bounds=(1e-06, 0.5), parameter='description_std.steering_zero')


@dataclass(frozen=True)
class GyroSettings(CheckedSettings):
    """
    Errors of a gyro.

    Attributes
    ----------
    scale : float
        Standard deviation of the scale error of the gyro [1].
    walk : float
        Angle random walk of the gyro [rad/√s]; lower bound of that by the covariance of its
        messages.
    """

    scale: float = setting(0.01, bounds=(1e-06, 0.5), parameter='imu.scale_std')
    walk: float = setting(0.00017, bounds=(1e-09, 0.1), parameter='imu.walk')


@dataclass(frozen=True)
class GyroFusionSettings(CheckedSettings):
    """
    Settings of a gyro in the odometry.

    Attributes
    ----------
    enabled : bool
        Subscribe imu/data: its yaw rate is fused with that of the joints (imu.odometry) and, with
        calibration.enabled, teaches the scale of the yaw.
    odometry : bool
        Fuse the yaw rate of the IMU with that of the joints in the heading of the odometry; false
        leaves it to the calibration alone.
    axis : str
        Vertical axis of the IMU: x, y or z if it points up, x-down, y-down or z-down if it points
        down; empty is z of messages in base_frame, and rejects messages in other frames.
    scale : float
        Standard deviation of the scale error of the gyro [1].
    walk : float
        Angle random walk of the gyro [rad/√s]; lower bound of that by the covariance of its
        messages.
    bias_walk : float
        Random walk of the bias of the gyro [rad/s/√s]. Larger values follow a gyro that warms up,
        and trust the heading by the gyro for a shorter time after a standstill.
    wait : float
        Time by which messages of the IMU may arrive later than joint states of the same stamp [s];
        the heading of the last moments is by the joints alone.
    """

    enabled: bool = setting(False, parameter='imu.enabled')
    odometry: bool = setting(True, parameter='imu.odometry')
    axis: str = setting(
        '', one_of=('', 'x', 'y', 'z', 'x-down', 'y-down', 'z-down'), parameter='imu.axis')
    scale: float = setting(0.01, bounds=(1e-06, 0.5), parameter='imu.scale_std')
    walk: float = setting(0.00017, bounds=(1e-09, 0.1), parameter='imu.walk')
    bias_walk: float = setting(0.0002, bounds=(0.0, 0.1), parameter='imu.bias_walk')
    wait: float = setting(0.05, bounds=(0.0, 0.1), parameter='imu.wait')


@dataclass(frozen=True)
class LearningParameters(CheckedSettings):
    """
    Settings of the calibration while driving.

    Attributes
    ----------
    creep : float
        Standard deviation of the path of a wheel contact per its length [1], by scrub, tyre and
        floor; larger values learn more slowly.
    memory : float
        Path over which the covariance returns to that of the description [m]; wear of tyres is
        followed faster with less.
    """

    creep: float = setting(0.002, bounds=(1e-05, 0.1), parameter='calibration.creep')
    memory: float = setting(20000.0, bounds=(10.0, 1e9), parameter='calibration.memory')


@dataclass(frozen=True)
class EncoderCounts(CheckedSettings):
    """
    Counts per turn of the encoders of wheels and steering axes.

    Attributes
    ----------
    wheel_counts : int
        Counts per turn of a wheel encoder.
    steering_counts : int
        Counts per turn of a steering encoder.
    """

    wheel_counts: int = setting(2000, bounds=(1, 1000000000), parameter='wheel_counts')
    steering_counts: int = setting(4096, bounds=(1, 1000000000), parameter='steering_counts')
