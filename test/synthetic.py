# SPDX-License-Identifier: Apache-2.0
"""A made-up drive from a singular start: exact kinematics, as arrays and as a bag."""

import numpy as np

from c3p_bags.recorder.frames import RecordedFrames
from c3p_bags.storage.bag import Bag
from c3p_bags.storage.bag_writer import BagWriter
from c3p_dynamics.caster_dynamics import inverse_dynamics
from c3p_kinematics.casters import inverse
from c3p_kinematics.se2 import integrate

START_NS = 1_700_000_000_000_000_000


def smooth(phase):
    """Step from 0 to 1 with zero slope at both ends."""
    s = np.clip(phase, 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


def drive(robot, goal=(4.0, 0.0, 0.0), rate=200.0, speed=0.3, before=0.5, after=1.0, sway=0.02,
          drift=0.004, steering=0.0):
    """Return a dict of arrays: straight to `goal`, swaying while the casters turn around."""
    distance, turn = np.hypot(goal[0], goal[1]), goal[2]
    drive_time = max(distance, 0.4 * abs(turn)) / speed + 1.5
    t = np.arange(0.0, before + drive_time + after, 1.0 / rate)
    run = t - before
    # the asked speed ramps over 1 s; its integral over the drive is one
    ramp = smooth(run / 1.0) * smooth((drive_time - run) / 1.5)
    ramp /= ramp.sum() / rate
    heading = np.arctan2(goal[1], goal[0])
    floor = np.outer(ramp, [distance * np.cos(heading), distance * np.sin(heading), turn])
    # the robot lags a little and is pushed aside and round until its casters trail
    lag = 1.0 - np.exp(-np.clip(run, 0, None) / 0.5)
    push = np.exp(-((run - 0.9) / 0.45) ** 2)
    truth_floor = floor * lag[:, None]
    truth_floor *= np.sum(floor, 0) / np.where(np.sum(truth_floor, 0) == 0, 1,
                                               np.sum(truth_floor, 0))
    aside = sway * np.gradient(push, t)
    truth_floor += np.column_stack([-np.sin(heading) * aside, np.cos(heading) * aside,
                                    2.0 * aside])
    yaw = np.cumsum(truth_floor[:, 2]) / rate
    twist = np.column_stack([np.cos(yaw) * truth_floor[:, 0] + np.sin(yaw) * truth_floor[:, 1],
                             -np.sin(yaw) * truth_floor[:, 0] + np.cos(yaw) * truth_floor[:, 1],
                             truth_floor[:, 2]])
    cmd = np.column_stack([np.cos(yaw) * floor[:, 0] + np.sin(yaw) * floor[:, 1],
                           -np.sin(yaw) * floor[:, 0] + np.cos(yaw) * floor[:, 1], floor[:, 2]])
    random = np.random.default_rng(1)
    count, n = len(t), robot.count
    angle, wheel = np.empty((count, n)), np.zeros((count, n))
    wheel_rate, steering_rate = np.empty((count, n)), np.empty((count, n))
    pose, odom = np.zeros((count, 3)), np.zeros((count, 3))
    angle[0] = steering
    sensed = twist + drift * random.normal(size=twist.shape) + drift * np.abs(twist)
    for k in range(count):
        wheel_rate[k], steering_rate[k], _ = inverse(robot, angle[k], twist[k])
        if k + 1 < count:
            # midpoint rule: the steering equation is stiff at walking speed, d/v = 0.13 s
            middle = angle[k] + 0.5 * steering_rate[k] / rate
            _, mid_rate, _ = inverse(robot, middle, 0.5 * (twist[k] + twist[k + 1]))
            angle[k + 1] = angle[k] + mid_rate / rate
            wheel[k + 1] = wheel[k] + wheel_rate[k] / rate
            pose[k + 1] = integrate(pose[k], twist[k] / rate)
            odom[k + 1] = integrate(odom[k], sensed[k] / rate)
    accel = np.gradient(twist, t, axis=0)
    torque = np.array([inverse_dynamics(robot, a, v, dv)
                       for a, v, dv in zip(angle, twist, accel, strict=True)])
    torque = np.clip(torque + 0.02 * random.normal(size=torque.shape), -robot.torque_limit,
                     robot.torque_limit)
    residual = 0.002 * random.normal(size=(count, n, 2))
    suspect = np.zeros((count, n), bool)
    slipping = (run > 0.7) & (run < 0.9)
    residual[slipping, 1, 1] += 0.06
    suspect[slipping, 1] = True
    return {'t': t, 'steering': angle, 'steering_rate': steering_rate, 'wheel': wheel,
            'wheel_rate': wheel_rate, 'torque': torque, 'pose': pose, 'odom': odom,
            'twist': twist, 'sensed': sensed, 'cmd': cmd, 'accel': accel, 'goal': np.array(goal),
            'goal_time': before, 'residual': residual, 'suspect': suspect}


class Messages:
    """Makes rosbags messages with one stamp."""

    def __init__(self, types):
        self.t = types.types

    def header(self, ns, frame):
        return self.t['std_msgs/msg/Header'](
            self.t['builtin_interfaces/msg/Time'](*divmod(ns, 10**9)), frame)

    def vector(self, x=0.0, y=0.0, z=0.0):
        return self.t['geometry_msgs/msg/Vector3'](float(x), float(y), float(z))

    def pose(self, pose):
        return self.t['geometry_msgs/msg/Pose'](
            self.t['geometry_msgs/msg/Point'](float(pose[0]), float(pose[1]), 0.0),
            self.t['geometry_msgs/msg/Quaternion'](0.0, 0.0, float(np.sin(pose[2] / 2)),
                                                   float(np.cos(pose[2] / 2))))

    def twist(self, v):
        return self.t['geometry_msgs/msg/Twist'](self.vector(v[0], v[1]), self.vector(z=v[2]))

    def odometry(self, ns, pose, twist, frame='odom', covariance=1e-4):
        square = (covariance * np.eye(6)).ravel()
        return self.t['nav_msgs/msg/Odometry'](
            self.header(ns, frame), 'base_link',
            self.t['geometry_msgs/msg/PoseWithCovariance'](self.pose(pose), square),
            self.t['geometry_msgs/msg/TwistWithCovariance'](self.twist(twist), square))

    def joints(self, ns, names, position=(), velocity=(), effort=()):
        return self.t['sensor_msgs/msg/JointState'](
            self.header(ns, ''), list(names), *(np.asarray(v, float)
                                                for v in (position, velocity, effort)))

    def diagnostics(self, ns, statuses):
        value = self.t['diagnostic_msgs/msg/KeyValue']
        return self.t['diagnostic_msgs/msg/DiagnosticArray'](self.header(ns, ''), [
            self.t['diagnostic_msgs/msg/DiagnosticStatus'](
                level, name, message, 'c3p', [value(k, str(v)) for k, v in values.items()])
            for level, name, message, values in statuses])

    def goal(self, ns, pose, frame='odom'):
        return self.t['geometry_msgs/msg/PoseStamped'](self.header(ns, frame), self.pose(pose))


TYPES = {'joint_states': 'sensor_msgs/msg/JointState', 'odom': 'nav_msgs/msg/Odometry',
         'ground_truth/odom': 'nav_msgs/msg/Odometry', 'cmd_vel': 'geometry_msgs/msg/TwistStamped',
         'wheel_effort': 'sensor_msgs/msg/JointState',
         'sensed_kinematics/wheel_slip': 'sensor_msgs/msg/JointState',
         'goal_pose': 'geometry_msgs/msg/PoseStamped',
         'diagnostics': 'diagnostic_msgs/msg/DiagnosticArray', 'tf': 'tf2_msgs/msg/TFMessage',
         'tf_static': 'tf2_msgs/msg/TFMessage', 'robot_description': 'std_msgs/msg/String'}


def slip_joints(make, ns, robot, run, k):
    """Return a sample of the wheel slip."""
    return make.joints(ns, robot.wheel_joints, *run['residual'][k].T.copy(),
                       run['suspect'][k].astype(float))


def slip_statuses(make, ns, robot, run, k):
    """Return the same as earlier versions published it."""
    return make.diagnostics(ns, [
        (int(run['suspect'][k, i]), f'sensed_kinematics: {joint}', '',
         {'along': run['residual'][k, i, 0], 'across': run['residual'][k, i, 1],
          'suspect': bool(run['suspect'][k, i]), 'confidence': 1.0})
        for i, joint in enumerate(robot.wheel_joints)])


def write_bag(path, robot, run, urdf='', only=None, truth_frame='odom', slip=slip_joints):
    """Write the run of `drive` to a bag; `only` names the topics to write."""
    types = TYPES if slip is slip_joints else {
        **TYPES, 'sensed_kinematics/wheel_slip': TYPES['diagnostics']}
    names = [*robot.steering_joints, *robot.wheel_joints]
    sign = np.concatenate([robot.steering_sign, robot.wheel_sign])
    zero = np.concatenate([robot.steering_zero, np.zeros(robot.count)])
    with BagWriter(path) as writer:
        wanted = [t for t in TYPES if only is None or t in only]
        for topic in wanted:
            writer.add(f'/{topic}', types[topic], topic in ('tf_static', 'robot_description'))
        make = Messages(writer.types)
        frames = RecordedFrames(writer, urdf, 50.0) if 'tf' in wanted else None
        if frames:
            frames.start(START_NS)

        def put(topic, ns, message):
            if topic in wanted:
                # recorded a little later than stamped
                writer.write_message(f'/{topic}', ns + 300_000, message)

        for k, t in enumerate(run['t']):
            ns = START_NS + round(t * 1e9)
            joints = make.joints(
                ns, names, (np.concatenate([run['steering'][k], run['wheel'][k]]) - zero) * sign,
                np.concatenate([run['steering_rate'][k], run['wheel_rate'][k]]) * sign,
                np.concatenate([np.zeros(robot.count), run['torque'][k] * robot.wheel_sign]))
            odom = make.odometry(ns, run['odom'][k], run['sensed'][k])
            put('joint_states', ns, joints)
            put('odom', ns, odom)
            put('ground_truth/odom', ns,
                make.odometry(ns, run['pose'][k], run['twist'][k], truth_frame))
            put('wheel_effort', ns, make.joints(ns, robot.wheel_joints,
                                                effort=run['torque'][k] * robot.wheel_sign))
            put('sensed_kinematics/wheel_slip', ns, slip(make, ns, robot, run, k))
            if t >= run['goal_time']:
                put('cmd_vel', ns, writer.types.types['geometry_msgs/msg/TwistStamped'](
                    make.header(ns, 'base_link'), make.twist(run['cmd'][k])))
            if frames:
                frames.joint_states(ns, writer.types.serialize_cdr(joints, TYPES['joint_states']))
                frames.odometry(ns, writer.types.serialize_cdr(odom, TYPES['odom']))
        # exactly as recorded at the cycle of that time
        put('goal_pose', START_NS + round(run['goal_time'] * 1e9),
            make.goal(START_NS + round(run['goal_time'] * 1e9), run['goal']))
        put('diagnostics', ns, make.diagnostics(ns, [
            (0, 'sensed_kinematics: state', 'OK', {}),
            (0, 'velocity_controller: state', 'OK', {
                'latency_p50_ms': 0.21, 'latency_p99_ms': 0.63, 'latency_max_ms': 1.8,
                'cycles': len(run['t']), 'overruns': 0})]))


def opened(function, path, *arguments, **options):
    """Call a function with the open bag at a path."""
    with Bag(path) as bag:
        return function(bag, *arguments, **options)


def topics_of(path):
    """Return ``{topic: (message type, number of messages)}`` of a bag."""
    with Bag(path) as bag:
        return {name: (topic.kind, topic.count) for name, topic in bag.topics.items()}


def read_raw(path, topics=None):
    """Yield the serialised messages of a bag."""
    with Bag(path) as bag:
        yield from bag.raw(topics)


def read_topics(path, topics=None):
    """Yield the messages of a bag as objects."""
    with Bag(path) as bag:
        yield from bag.messages(topics)


def notes_of(path):
    """Return the notes of a bag."""
    with Bag(path) as bag:
        return bag.notes


def scalars(path, count, compression='none', latched=False):
    """Write `count` numbers on /a and return their times."""
    with BagWriter(path, compression) as writer:
        writer.add('/a', 'std_msgs/msg/Float64', latched)
        number = writer.types.types['std_msgs/msg/Float64']
        for k in range(count):
            writer.write_message('/a', 10**18 + k, number(float(k)))
    return [10**18 + k for k in range(count)]
