# SPDX-License-Identifier: Apache-2.0
"""
States of the predictive law: every number that it remembers, with shape and unit.

`n` is the number of casters, `efforts` that of the motors' torques, n or 2n, `steps` that of the
horizon and `candidates` that of the input delays that are compared. A *state* (6 + n,) is
``[X, Y, φ, vx, vy, ω, θ_1 … θ_n]`` as in _kernels.py, wrenches are in ``base_link``. A caster's
steering motor has its torque n places behind that of its wheel.
"""

from __future__ import annotations

from typing import Annotated

from c3p_description.model import Array
from c3p_kernels.state import Number, Parts, state

# columns of a row of weights, behind the six of the platform: of the torques of wheels, of the
# casters' directions, of the torques of steering axes, of small yaw rate errors
TORQUE, ALIGNMENT, TURNING, RIPPLE = 6, 7, 8, 9

# of two driven wheels near one rolling line, the casters of both, and the angle of that line, rad
COMMON, FIRST, SECOND, LINE = 10, 11, 12, 13

# of the rates of the torques of wheels and of steering axes
TORQUE_RATE, TURNING_RATE, WEIGHTS = 14, 15, 16

# samples in the memory of sent torques: a power of two, so that the place of one is a mask, where
# a remainder would take longer than the rest of `impulse_at`
SAMPLES = 256


@state
class MotionEstimate(Parts):
    """Observer of pose, twist and disturbance."""

    bandwidth: float                        # ω₀ of pose and twist, rad/s
    disturbance_bandwidth: float            # ω_w of the disturbance, rad/s
    limit: Annotated[Array, 3]              # saturation of `wrench`, N, N, N·m
    state: Annotated[Array, '6+n']          # at the last sample
    ahead: Annotated[Array, '6+n']          # when a torque that is sent now begins to act
    wrench: Annotated[Array, 3]             # disturbance, N, N, N·m
    speed: Number                           # of `state`, m/s
    saturation: Number                      # force of the disturbance, in units of its limits
    rate: Annotated[Array, '6+n']           # of a state
    after: Annotated[Array, '6+n']          # state after a step
    error: Annotated[Array, 3]              # of the pose in base_link, m, m, rad; then ν̇ of it
    pull: Annotated[Array, 3]               # wrench of that acceleration


@state
class PendingTorques(Parts):
    """Torques that were sent and act later, and the one that acts; the rest is free memory."""

    sizes = 'efforts', 'rows'

    capacity: float                         # rows of `torques`
    latency: Number                         # from the sending of a torque to its effect, s
    count: Number                           # rows in use
    begins: Annotated[Array, 'rows']        # time from now at which each begins to act, s
    torques: Annotated[Array, 'rows', 'efforts']    # N·m


@state
class DelayEvidence(Parts):
    """Evidence for each candidate of the input delay (delay_estimator.py)."""

    sizes = 'n', 'efforts', 'candidates'

    scale: float                            # weight of φ² beside X² and Y², m²
    latency: Number                         # estimate, s
    settling: Number                        # time until the filters have settled, s
    seen: Number                            # duration of the torques that were compared, s
    newest: Number                          # place of the newest sample in the ring
    filled: Number                          # samples in the ring
    time: Annotated[Array, SAMPLES]         # of the samples, s
    impulse: Annotated[Array, SAMPLES, 'efforts']   # ∫τ dt of all torques before, N·m·s
    # filters: rows X, Y, φ, columns position, velocity, disturbance
    motion: Annotated[Array, 3, 3]          # of the pose
    free: Annotated[Array, 3, 3]            # of the part of b, without torques
    bank: Annotated[Array, 'candidates', 3, 3]      # of the part of the torques, by candidate
    total: Number                           # Σ|y|² of the pose
    forced: Number                          # the same of the part of b
    cross: Annotated[Array, 'candidates']   # Σ y·u_d
    own: Annotated[Array, 'candidates']     # Σ|u_d|²
    innovation: Annotated[Array, 3]         # y of the sample
    accel: Annotated[Array, 3]              # b on the floor, m/s², m/s², rad/s²
    twist_slope: Annotated[Array, 3, 3]     # derivatives of ν̇ by the twist
    steering_slope: Annotated[Array, 3, 'n']        # by the steering angles
    torque_slope: Annotated[Array, 3, 'efforts']    # by the torques: A on the floor
    no_wrench: Annotated[Array, 3]          # stays zero
    no_torque: Annotated[Array, 'efforts']  # stays zero
    early: Annotated[Array, 'efforts']      # impulse at the begin of a candidate's cycle, N·m·s
    late: Annotated[Array, 'efforts']       # and at its end


@state
class StallMemory(Parts):
    """Watch of the progress towards the end of the horizon (stall.py)."""

    progress: Number                        # mean of speed by required speed, 0 to 1
    attempts: Number                        # stalls since the last progress
    stretch: Number                         # factor of the horizon


@state
class ReferenceLine(Parts):
    """Line of a bare twist (reference.py)."""

    acceleration: float                     # of the speed, m/s²
    yaw_acceleration: float                 # of the yaw rate, rad/s²
    leash: float                            # largest distance of the robot, m
    yaw_leash: float                        # and of its yaw, rad
    begun: Number                           # 0: the pose is not known yet
    pose: Annotated[Array, 3]               # X, Y, φ, m and rad
    yaw_rate: Number                        # rad/s
    velocity: Annotated[Array, 3]           # of the robot: Ẋ, Ẏ, ω, m/s and rad/s


@state
class Linearisation(Parts):
    """Derivatives of the motion at a step, at its begin (1) and in its middle (2)."""

    sizes = 'n', 'efforts'

    accel: Annotated[Array, 3]              # ν̇, m/s², m/s², rad/s²
    twist_slope: Annotated[Array, 3, 3]     # derivatives of ν̇ by the twist
    steering_slope: Annotated[Array, 3, 'n']        # by the steering angles
    rate: Annotated[Array, '6+n']           # dx/dt
    middle: Annotated[Array, '6+n']         # state in the middle of the step
    # dx/dt by x and, rows 3 to 5, by τ; the other rows of the latter are zero
    fx1: Annotated[Array, '6+n', '6+n']
    fu1: Annotated[Array, 3, 'efforts']
    fx2: Annotated[Array, '6+n', '6+n']
    fu2: Annotated[Array, 3, 'efforts']


@state
class BoxStage(Parts):
    """Quadratic problem of one step in the bounds of its torques: ½ pᵀHp + gᵀp."""

    sizes = 'n', 'efforts'

    qx: Annotated[Array, '6+n']             # derivatives of Q(x, u) at the trajectory
    qu: Annotated[Array, 'efforts']         # g
    qxx: Annotated[Array, '6+n', '6+n']
    qux: Annotated[Array, 'efforts', '6+n']
    quu: Annotated[Array, 'efforts', 'efforts']     # H
    lower: Annotated[Array, 'efforts']      # bounds of the change of the torques, N·m
    upper: Annotated[Array, 'efforts']
    free: Annotated[Array, 'efforts']       # 1 for a torque between its bounds
    factor: Annotated[Array, 'efforts', 'efforts']  # Cholesky factor of the free rows of H
    rate: Annotated[Array, 'efforts']       # second derivatives by the change of the torques
    changed: Annotated[Array, 'efforts']    # first derivatives by that change
    column: Annotated[Array, '6+n']         # of a product
    product: Annotated[Array, '6+n', '6+n']         # V A, and H K in its first rows


@state
class Plan(Parts):
    """Trajectory with its feedback, its reference and weights, and the memory of its solution."""

    sizes = 'n', 'efforts', 'steps'

    torques: Annotated[Array, 'steps', 'efforts']   # N·m
    states: Annotated[Array, 'steps+1', '6+n']      # that they give
    gains: Annotated[Array, 'steps', 'efforts', '6+n']      # τ by a deviation of the state
    # τ by a deviation of the torques of the step before
    torque_gains: Annotated[Array, 'steps', 'efforts', 'efforts']
    before: Annotated[Array, 'efforts']     # torques that the first ones follow, N·m
    cost: Number                            # of the trajectory
    iterations: Number                      # of the last solution
    dt: Annotated[Array, 'steps']           # of the steps, s
    rows: Annotated[Array, 'steps+1', 7]    # reference
    weights: Annotated[Array, 'steps+1', WEIGHTS]   # of the cost
    # problem about the trajectory
    linear: Linearisation
    by_state: Annotated[Array, 'steps', '6+n', '6+n']       # A of each step
    by_torque: Annotated[Array, 'steps', '6+n', 'efforts']  # B of each step
    gradients: Annotated[Array, 'steps+1', '6+n']   # of the cost of each state
    hessians: Annotated[Array, 'steps+1', '6+n', '6+n']
    # its solution backwards in time
    stage: BoxStage
    feedforward: Annotated[Array, 'steps', 'efforts']       # change of the torques, N·m
    value_slope: Annotated[Array, '6+n']    # of the cost from a step on, by its state
    value_curve: Annotated[Array, '6+n', '6+n']
    # by the torques of the step before, and by these and the state
    before_slope: Annotated[Array, 'efforts']
    before_curve: Annotated[Array, 'efforts', 'efforts']
    mixed_curve: Annotated[Array, 'efforts', '6+n']
    # trial of the line search
    trial_states: Annotated[Array, 'steps+1', '6+n']
    trial_torques: Annotated[Array, 'steps', 'efforts']
    rate: Annotated[Array, '6+n']           # of a state
    residual: Annotated[Array, 6]           # of a state to its reference
    jacobian: Annotated[Array, 6, 6]        # of the residuals by pose and twist


@state
class PredictiveState(Parts):
    """Everything that the predictive law remembers but `PendingTorques`."""

    sizes = 'n', 'efforts', 'steps', 'candidates'

    estimates: float                        # 1: the input delay is estimated
    watches: float                          # 1: stalls stretch the horizon
    period: float                           # between solutions, s
    most_iterations: float                  # of a solution
    torque_rate: float                      # largest change of a wheel's torque, N·m/s
    lag: float                              # of the torques, s; 0: none
    standstill_speed: float                 # m/s
    standstill_yaw_rate: float              # rad/s
    slack: float                            # disturbance up to which the robot rests, N
    dither: float                           # amplitude of the yaw rate's, rad/s
    step: float                             # of the horizon without a stall, s
    # of the present cycle
    pose: Annotated[Array, 3]               # odometry, m and rad
    twist: Annotated[Array, 3]              # m/s and rad/s
    steering: Annotated[Array, 'n']         # rad
    command: Annotated[Array, 3]            # twist, m/s and rad/s
    limit: Annotated[Array, 'efforts']      # of the torques, N·m
    # of the motors
    bound: Annotated[Array, 'efforts']      # of the torques while all wheels grip, N·m
    pace: Annotated[Array, 'efforts']       # changes in units of those of wheels
    torque: Annotated[Array, 'efforts']     # of the present cycle, N·m
    last: Annotated[Array, 'efforts']       # sent, N·m
    # reference
    start: Annotated[Array, '6+n']          # state that reference and solution begin with
    times: Annotated[Array, 'steps+1']      # of the rows, from now, s
    times_before: Annotated[Array, 'steps+1']       # before a change of the horizon, s
    stretched: Number                       # factor of the horizon in `times`
    full: Annotated[Array, 'steps+1']       # weight of ripple in bends
    sway: Annotated[Array, 'steps+1', 2]    # dither of φ and ω, rad and rad/s
    # plan
    ready: Number                           # 1: there is one to follow
    fresh: Number                           # 1: of first guesses, in this cycle
    begin: Number                           # time of its first state less the latency, s
    shifted: Annotated[Array, 'steps', 'efforts']   # torques at other times, N·m
    error: Annotated[Array, '6+n']          # deviation of the state from the plan
    observer: MotionEstimate
    evidence: DelayEvidence
    stall: StallMemory
    line: ReferenceLine
    plan: Plan
