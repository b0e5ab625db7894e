# SPDX-License-Identifier: Apache-2.0
# Written by scripts/write_settings.py from velocity_controller_parameters.yaml:
# change that, not this file.
"""
Settings from the parameters of velocity_controller.

Default, bounds and description of each field are those of its parameter.
"""

from __future__ import annotations

from dataclasses import dataclass

from c3p_description.settings import CheckedSettings, setting


@dataclass(frozen=True)
class VelocityGains(CheckedSettings):
    """
    Gains of the papers' law.

    The loops of velocity have K_v (`linear_gain`, `yaw_gain`) and K_i (`integral_gain`); on the
    spot those of ω grow by `turn_gain` and `turn_integral_gain`. The smoothing of the fed-forward
    friction is wider than the model's, so that it never chatters. The escape: where the rolling
    lines meet in one point no torque turns the platform, and only a push moves the casters.

    Attributes
    ----------
    linear_gain : float
        K_v, velocity gain of vx and vy [1/s], with paper.
    yaw_gain : float
        K_v, velocity gain of ω [1/s], with paper. Soft on purpose: casters across the direction of
        travel turn only when the platform may yaw.
    turn_gain : float
        Increase of yaw_gain for a turn on the spot [1/s], with paper.
    turn_integral_gain : float
        K_i, integral gain of ω for a turn on the spot [1/s²], with paper.
    turn_speed : float
        Reference speed at which turn_gain and turn_integral_gain have faded out [m/s], with paper.
    integral_gain : float
        K_i, integral gain of vx and vy [1/s²], with paper.
    integral_limit : float
        Limit of the integral of the velocity error of each axis [m and rad], with paper.
    wheel_gain : float
        K_w, gain of the wheel-axis loop in the fusion [N·m·s/rad], with paper.
    lambda_1 : float
        Fusion exponent of the inverse dynamics, (1 - |cos Ψ|)^λ1. Paper I, Table I has 0.
    lambda_2 : float
        Fusion exponent of the inverse kinematics, |cos Ψ|^λ2. Paper I, Table I has 0.
    friction_compensation : float
        Fraction of the modelled friction that is fed forward, with paper; 0 is off.
    friction_smoothing : float
        Rate over which the fed-forward dry friction changes its sign [rad/s], with paper.
    escape_jerk : float
        Jerk of the singularity-escape acceleration along X, applied after 1 s of commanded motion
        without movement [m/s³], with paper; 0 is off.
    standstill_speed : float
        Speed below which the robot is at standstill [m/s]; without commanded motion the torques
        are zero then.
    standstill_yaw_rate : float
        Yaw rate below which the robot is at standstill [rad/s]; without commanded motion the
        torques are zero then.
    """

    linear_gain: float = setting(40.0, bounds=(0.0, 100.0), parameter='linear_gain')
    yaw_gain: float = setting(0.15, bounds=(0.0, 100.0), parameter='yaw_gain')
    turn_gain: float = setting(0.75, bounds=(0.0, 100.0), parameter='turn_gain')
    turn_integral_gain: float = setting(7.0, bounds=(0.0, 100.0), parameter='turn_integral_gain')
    turn_speed: float = setting(0.04, bounds=(0.001, 1.0), parameter='turn_speed')
    integral_gain: float = setting(10.0, bounds=(0.0, 100.0), parameter='integral_gain')
    integral_limit: float = setting(0.2, bounds=(0.0, 10.0), parameter='integral_limit')
    wheel_gain: float = setting(0.01, bounds=(0.0, 10.0), parameter='wheel_gain')
    lambda_1: float = setting(0.0, bounds=(0.0, 10.0), parameter='lambda_1')
    lambda_2: float = setting(0.0, bounds=(0.0, 10.0), parameter='lambda_2')
    friction_compensation: float = setting(
        0.65, bounds=(0.0, 1.5), parameter='friction_compensation')
    friction_smoothing: float = setting(0.19, bounds=(0.01, 100.0), parameter='friction_smoothing')
    escape_jerk: float = setting(2.0, bounds=(0.0, 50.0), parameter='escape_jerk')
    standstill_speed: float = setting(0.005, bounds=(0.0, 0.1), parameter='standstill_speed')
    standstill_yaw_rate: float = setting(0.01, bounds=(0.0, 0.5), parameter='standstill_yaw_rate')


@dataclass(frozen=True)
class ReferenceLimits(CheckedSettings):
    """
    Limits of speed and acceleration of a reference; inf means no limit.

    Attributes
    ----------
    speed : float
        Speed limit of the setpoint [m/s]; a faster command is scaled as a whole, a faster preview
        is stretched in time.
    yaw_rate : float
        Yaw rate limit of the setpoint [rad/s]; a faster command is scaled as a whole, a faster
        preview is stretched in time.
    acceleration : float
        Acceleration limit of the reference over the floor [m/s²], with paper.
    yaw_acceleration : float
        Yaw acceleration limit of the reference [rad/s²], with paper.
    smoothing : float
        Time constant of the command filter [s], with paper; it smooths the derivative of stepwise
        commands, which is fed forward. 0 is off.
    """

    speed: float = setting(0.8, bounds=(0.01, 5.0), parameter='speed_limit', unlimited=True)
    yaw_rate: float = setting(2.0, bounds=(0.01, 20.0), parameter='yaw_rate_limit', unlimited=True)
    acceleration: float = setting(
        0.125, bounds=(0.01, 20.0), parameter='acceleration_limit', unlimited=True)
    yaw_acceleration: float = setting(
        0.55, bounds=(0.01, 100.0), parameter='yaw_acceleration_limit', unlimited=True)
    smoothing: float = setting(0.04, bounds=(0.0, 2.0), parameter='command_smoothing')


@dataclass(frozen=True)
class StopParameters(CheckedSettings):
    """
    Controlled stop, brake and standstill.

    Attributes
    ----------
    stop_acceleration : float
        Deceleration of a controlled stop after cmd_vel_timeout [m/s²]; a turn counts with the
        speed of the outermost pivot.
    stop_damping : float
        Braking torque per wheel rate [N·m·s/rad], after chain_timeout and when a controlled stop
        does not end in time.
    standstill_speed : float
        Speed below which the robot is at standstill [m/s]; without commanded motion the torques
        are zero then.
    standstill_yaw_rate : float
        Yaw rate below which the robot is at standstill [rad/s]; without commanded motion the
        torques are zero then.
    """

    stop_acceleration: float = setting(1.0, bounds=(0.05, 20.0), parameter='stop_acceleration')
    stop_damping: float = setting(0.1, bounds=(0.0, 5.0), parameter='stop_damping')
    standstill_speed: float = setting(0.005, bounds=(0.0, 0.1), parameter='standstill_speed')
    standstill_yaw_rate: float = setting(0.01, bounds=(0.0, 0.5), parameter='standstill_yaw_rate')


@dataclass(frozen=True)
class TractionSettings(CheckedSettings):
    """
    Thresholds and times of traction control.

    A wheel slips above ``slip_speed + slip_fraction·|Rx ν|``, and grips again below half. A
    gripping wheel faster than `overspeed` times its ``wheel_rate_limit`` for `OVERSPEED_TIME` is a
    fault.

    Attributes
    ----------
    slip_speed : float
        Slip threshold of a wheel at standstill, above which its torque is reduced [m/s].
    slip_fraction : float
        Increase of the slip threshold per floor speed below the wheel.
    cut : float
        Torque limit of a wheel at the begin of a slip, as a fraction of its torque.
    least : float
        Least torque limit of a slipping wheel, as a fraction of its torque bound.
    hold : float
        Time for which the torque limit is held after a slip [s].
    recovery : float
        Rise time of the torque limit from zero to the wheel's torque bound [s].
    patience : float
        Duration of slip of all driven wheels after which the robot stops [s]; of a single wheel
        four times that. 1e9 disables this stop.
    overspeed : float
        Rate of a gripping wheel, as a multiple of its limit, above which the robot stops. 1e9
        disables this stop.
    """

    slip_speed: float = setting(0.05, bounds=(0.001, 10.0), parameter='traction.slip_speed')
    slip_fraction: float = setting(0.05, bounds=(0.0, 1.0), parameter='traction.slip_fraction')
    cut: float = setting(0.5, bounds=(0.0, 1.0), parameter='traction.cut')
    least: float = setting(0.04, bounds=(0.0, 1.0), parameter='traction.least')
    hold: float = setting(0.3, bounds=(0.0, 60.0), parameter='traction.hold')
    recovery: float = setting(4.0, bounds=(0.01, 600.0), parameter='traction.recovery')
    patience: float = setting(0.5, bounds=(0.01, 1e9), parameter='traction.patience')
    overspeed: float = setting(1.2, bounds=(1.0, 1e9), parameter='traction.overspeed')


@dataclass(frozen=True)
class FusionParameters(CheckedSettings):
    """
    Readings of eq. (13) of paper I.

    Attributes
    ----------
    cosine : str
        Reading of the cosine of paper I, eq. (13). absolute, as in the text; as_printed, negative
        beyond 90°.
    at_rest : str
        Reading of Ψ where a direction is undefined. missing_direction, 90° at standstill with
        travel commanded; zero, never starts with lambda_1 > 0; hold_last; computed, the result of
        atan2.
    arctangent : str
        Reading of the arctangent of δ and β; one_argument loses the quadrant.
    sense : str
        Sense of the angles δ and β, clockwise as printed; it cancels in Ψ.
    yaw : str
        Role of the yaw rate in Ψ. included, Ψ is the angle between the (vx, vy, yaw_length ω) of
        both twists.
    yaw_length : float
        Length that scales the yaw rate to a speed in Ψ [m].
    complex_power : str
        Handling of weights that are not real, with cosine as_printed. stop, zero torque;
        real_part, real part of the principal value.
    """

    cosine: str = setting('absolute', one_of=('absolute', 'as_printed'), parameter='fusion.cosine')
    at_rest: str = setting(
        'missing_direction', one_of=('missing_direction', 'zero', 'hold_last', 'computed'),
        parameter='fusion.at_rest')
    arctangent: str = setting(
        'two_argument', one_of=('two_argument', 'one_argument'), parameter='fusion.arctangent')
    sense: str = setting(
        'counter_clockwise', one_of=('clockwise', 'counter_clockwise'), parameter='fusion.sense')
    yaw: str = setting('ignored', one_of=('ignored', 'included'), parameter='fusion.yaw')
    yaw_length: float = setting(0.343, bounds=(0.001, 10.0), parameter='fusion.yaw_length')
    complex_power: str = setting(
        'stop', one_of=('stop', 'real_part'), parameter='fusion.complex_power')


@dataclass(frozen=True)
class PredictiveParameters(CheckedSettings):
    """
    Weights, horizon and observer of the predictive controller.

    Attributes
    ----------
    steps : int
        Number of discretisation steps of the prediction horizon.
    iterations : int
        Solver iterations per planning period.
    solve_ahead : bool
        Solution for the predicted state of the next cycle, after the torque of the present one was
        sent: the torque does not wait for it. Not of robots with fewer motors than freedoms.
    horizon : float
        Duration of the prediction horizon [s].
    period : float
        Planning period [s]; the feedback gains of the plan act in between.
    latency : float
        Input delay from a joint sample to the effect of its torque [s]; with estimate_latency the
        first estimate.
    estimate_latency : bool
        Estimation of the input delay from torques and odometry while the robot drives; false keeps
        latency.
    latency_max : float
        Longest input delay of the estimation [s]; not below latency.
    across_weight : float
        Weight of the cross-track error [1/m²].
    along_weight : float
        Weight of the along-track error [1/m²].
    yaw_weight : float
        Weight of the yaw error [1/rad²]. Soft on purpose: the platform yaws so that casters turn.
    across_speed_weight : float
        Weight of the cross-track velocity error [s²/m²].
    along_speed_weight : float
        Weight of the along-track velocity error [s²/m²].
    yaw_rate_weight : float
        Weight of the yaw rate error [s²/rad²].
    torque_weight : float
        Weight of the wheel torques [1/(N·m)²].
    torque_rate_weight : float
        Weight of the rates of the wheel torques [s²/(N·m)²]; against wear, noise and heat of
        torques that vary more than the path needs.
    alignment_weight : float
        Weight of the angle between casters and the desired directions of their pivots; with 0
        casters that roll backwards stay so.
    ripple_weight : float
        Additional weight of yaw rate errors below 0.1 rad/s while all casters trail and the
        reference turns [s²/rad²]; against a swinging platform in curves. 0 is off, also the dither
        of the yaw rate.
    final_weight : float
        Weight of the final state relative to the others [s].
    torque_rate : float
        Rate limit of the wheel torques [N·m/s].
    friction_smoothing : float
        Rate over which the dry friction of the prediction model changes its sign [rad/s].
    bandwidth : float
        Bandwidth of the motion observer [rad/s].
    disturbance_bandwidth : float
        Bandwidth of the disturbance observer [rad/s]. Low, because stick-slip makes a fast one
        limit-cycle.
    wrench_limit : float
        Saturation limit of the disturbance-force estimate [N].
    moment_limit : float
        Saturation limit of the disturbance-moment estimate [N·m].
    acceleration : float
        Acceleration of the reference towards a bare twist [m/s²].
    yaw_acceleration : float
        Yaw acceleration of the reference towards a bare twist [rad/s²].
    standstill_speed : float
        Speed below which, without commanded motion, the torques of mpc are zero [m/s].
    standstill_yaw_rate : float
        Yaw rate below which, without commanded motion, the torques of mpc are zero [rad/s].
    priority : str
        Quantities that mpc keeps with fewer motors than freedoms; the third is given up.
        path_speed, heading free; path_heading, slower where the path bends; heading_speed, leaves
        the path. Without effect on robots whose motors control all three.
    """

    steps: int = setting(32, bounds=(5, 200), parameter='mpc.steps')
    iterations: int = setting(3, bounds=(1, 20), parameter='mpc.iterations')
    solve_ahead: bool = setting(False, parameter='mpc.solve_ahead')
    horizon: float = setting(0.8, bounds=(0.1, 5.0), parameter='mpc.horizon')
    period: float = setting(0.01, bounds=(0.001, 0.1), parameter='mpc.period')
    latency: float = setting(0.01, bounds=(0.0, 1.0), parameter='mpc.latency')
    estimate_latency: bool = setting(True, parameter='mpc.estimate_latency')
    latency_max: float = setting(0.15, bounds=(0.01, 0.25), parameter='mpc.latency_max')
    across_weight: float = setting(90000.0, bounds=(0.0, 1e7), parameter='mpc.across_weight')
    along_weight: float = setting(1000.0, bounds=(0.0, 1e7), parameter='mpc.along_weight')
    yaw_weight: float = setting(55.0, bounds=(0.0, 1e6), parameter='mpc.yaw_weight')
    across_speed_weight: float = setting(
        40.0, bounds=(0.0, 1e6), parameter='mpc.across_speed_weight')
    along_speed_weight: float = setting(
        26.0, bounds=(0.0, 1e6), parameter='mpc.along_speed_weight')
    yaw_rate_weight: float = setting(22.0, bounds=(0.0, 1e6), parameter='mpc.yaw_rate_weight')
    torque_weight: float = setting(0.15, bounds=(1e-06, 10000.0), parameter='mpc.torque_weight')
    torque_rate_weight: float = setting(
        0.0005, bounds=(0.0, 100.0), parameter='mpc.torque_rate_weight')
    alignment_weight: float = setting(3.5, bounds=(0.0, 10000.0), parameter='mpc.alignment_weight')
    ripple_weight: float = setting(100.0, bounds=(0.0, 1e6), parameter='mpc.ripple_weight')
    final_weight: float = setting(0.25, bounds=(0.0, 100.0), parameter='mpc.final_weight')
    torque_rate: float = setting(120.0, bounds=(1.0, 10000.0), parameter='mpc.torque_rate')
    friction_smoothing: float = setting(
        0.04, bounds=(0.01, 100.0), parameter='mpc.friction_smoothing')
    bandwidth: float = setting(30.0, bounds=(1.0, 200.0), parameter='mpc.bandwidth')
    disturbance_bandwidth: float = setting(
        3.5, bounds=(0.1, 200.0), parameter='mpc.disturbance_bandwidth')
    wrench_limit: float = setting(40.0, bounds=(0.0, 1000.0), parameter='mpc.wrench_limit')
    moment_limit: float = setting(8.0, bounds=(0.0, 1000.0), parameter='mpc.moment_limit')
    acceleration: float = setting(1.5, bounds=(0.01, 20.0), parameter='mpc.acceleration')
    yaw_acceleration: float = setting(4.0, bounds=(0.01, 100.0), parameter='mpc.yaw_acceleration')
    standstill_speed: float = setting(0.005, bounds=(0.0, 0.1), parameter='mpc.standstill_speed')
    standstill_yaw_rate: float = setting(
        0.01, bounds=(0.0, 0.5), parameter='mpc.standstill_yaw_rate')
    priority: str = setting(
        'path_speed', one_of=('path_speed', 'path_heading', 'heading_speed'),
        parameter='mpc.priority')


@dataclass(frozen=True)
class ModuleGains(CheckedSettings):
    """
    Gains and limits of the law of modules.

    Attributes
    ----------
    gain : float
        K, acceleration per error of the twist [1/s], with modules.
    observer : float
        Bandwidth of the observer of twist and disturbance [1/s], with modules; at most a third of
        the inverse of the delay of the loop that modules.latency does not contain.
    steering_gain : float
        K_s, steering acceleration per error of the steering rate [1/s], with modules.
    steering_lead : float
        Time in which a module turns to its direction [s], with modules; with a preview it turns to
        the direction of this time ahead.
    steering_rate : float
        Limit of the steering rates [rad/s], with modules; that of the robot applies as well.
    acceleration : float
        Limit of the acceleration of the pivots [m/s²], with modules.
    jerk : float
        Limit of the change of the acceleration of the pivots [m/s³], with modules; 10000 is off.
    latency : float
        Input delay that modules assumes [s].
    """

    gain: float = setting(15.0, bounds=(0.1, 100.0), parameter='modules.gain')
    observer: float = setting(30.0, bounds=(0.1, 50.0), parameter='modules.observer')
    steering_gain: float = setting(60.0, bounds=(0.1, 500.0), parameter='modules.steering_gain')
    steering_lead: float = setting(0.06, bounds=(0.01, 1.0), parameter='modules.steering_lead')
    steering_rate: float = setting(10.0, bounds=(0.1, 100.0), parameter='modules.steering_rate')
    acceleration: float = setting(2.0, bounds=(0.01, 20.0), parameter='modules.acceleration')
    jerk: float = setting(40.0, bounds=(0.1, 10000.0), parameter='modules.jerk')
    latency: float = setting(0.01, bounds=(0.0, 0.2), parameter='modules.latency')
