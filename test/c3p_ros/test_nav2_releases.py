# SPDX-License-Identifier: Apache-2.0
"""config/nav2.yaml against the names, types and defaults of every release of Nav2."""

import pytest
import yaml
from nav2_table import COMMON, FILE, RELEASES, declared, undeclared, values
from ros_types import leaves

from c3p_bringup.launch_parts.nav2_parameters import LOCALIZATIONS, nav2_parameters
from c3p_description import load

KNOWN = declared()

# names that some of the releases ignore: the node, the names, the releases that have them, and why
# the file has them all the same
MEANT = [
    ('controller_server', ('path_handler_plugins', 'PathHandler.plugin',
                           'PathHandler.prune_distance'), ('1.5.1',),
     'the path handler is a plugin of the controller server; before it is a part of MPPI'),
    ('controller_server', ('FollowPath.prune_distance',), ('1.3.13', '1.4.2'),
     'the same distance, of the path handler in MPPI'),
    ('controller_server', ('FollowPath.Omni.plugin',), ('1.5.1',),
     'motion_model is the name of a group with a plugin; before it is the model'),
    ('controller_server', ('FollowPath.TrajectoryValidator.plugin',
                           'FollowPath.TrajectoryValidator.collision_lookahead_time',
                           'FollowPath.TrajectoryValidator.consider_footprint'), ('1.5.1',),
     'loaded without being named, too'),
    ('behavior_server', ('backup.acceleration_limit', 'backup.deceleration_limit',
                         'drive_on_heading.acceleration_limit',
                         'drive_on_heading.deceleration_limit'), ('1.4.2', '1.5.1'),
     'before the behaviors command their speed at once, and velocity_smoother limits it'),
    ('following_server', tuple(KNOWN['following_server']), ('1.5.1',),
     'nav2_bringup starts it; in 1.3 and 1.4 it does not'),
]

# why the file leaves to Nav2 what the releases do not have alike
LEFT = [
    ('results are kept as long as their clients', ('action_server_result_timeout',)),
    ('liveness and interfaces of nodes, not motion',
     ('bond_heartbeat_period', 'allow_parameter_qos_overrides', 'bt_log_idle_transitions',
      'navigate_to_pose.groot_server_port', 'FollowPath.publish_optimal_trajectory',
      'FollowPath.publish_critics_stats', 'FollowPath.critic_index_to_visualize',
      'collision_points_marker_3d', 'inscribed_obstacle_cost_value', 'bt_search_directories',
      'obstacle_layer.allow_parameter_qos_overrides', 'subscribe_to_stamped_footprint',
      'obstacle_layer.scan.transport_type', 'inflation_layer.num_threads')),
    ('names of variables of the behavior trees, which move to the navigators',
     ('error_code_names', 'error_code_name_prefixes', 'goal_blackboard_id', 'path_blackboard_id',
      'goals_blackboard_id', 'waypoint_statuses_blackboard_id',
      'navigate_to_pose.goal_blackboard_id', 'navigate_to_pose.path_blackboard_id',
      'navigate_to_pose.tracking_feedback_blackboard_id',
      'navigate_through_poses.goals_blackboard_id', 'navigate_through_poses.path_blackboard_id',
      'navigate_through_poses.tracking_feedback_blackboard_id',
      'navigate_through_poses.waypoint_statuses_blackboard_id')),
    ('an error in the log when a cancelled action answers later; nothing else waits for it',
     ('default_cancel_timeout',)),
    ('constants of the releases that have no parameter for them, or what the node did before',
     ('filter_duration', 'odom_duration', 'search_window', 'navigate_to_posesearch_window',
      'navigate_through_posessearch_window', 'obstacle_layer.tf_filter_tolerance',
      'GridBased.max_cycles_factor', 'inflation_layer.custom_inscribed_radius', 'enabled',
      'FootprintApproach.trigger_consecutive_points',
      'FootprintApproach.release_consecutive_points', 'odom_topic', 'random_seed',
      'controller.deceleration_max', 'backup.minimum_speed', 'drive_on_heading.minimum_speed',
      'static_layer.transform_tolerance')),
    ('new functions that are off', (
        'initialize_at_saved_pose', 'saved_pose_filepath', 'allow_navigator_preemption',
        'navigator_preemption_timeout', 'general_goal_checker.symmetric_yaw_tolerance',
        'FollowPath.GoalAngleCritic.symmetric_yaw_tolerance',
        'general_goal_checker.xy_goal_tolerance_buffer', 'PathHandler.reject_unit_path',
        'PathHandler.enforce_path_rotation', 'PathHandler.minimum_rotation_angle',
        'FollowPath.open_loop', 'FollowPath.clamp_raw_controls', 'FollowPath.model_delay_vx',
        'FollowPath.model_delay_vy', 'FollowPath.model_delay_wz', 'scan.exclusion_zones',
        'allow_partial_planning', 'simple_charging_dock.rotate_to_dock', 'rotate_to_dock_timeout',
        'rotation_angular_tolerance', 'simple_charging_dock.detector_service_name',
        'simple_charging_dock.detector_service_timeout', 'simple_charging_dock.subscribe_toggle')),
    ('a robot that drives in every direction has no inversions, and Navfn plans none',
     ('FollowPath.enforce_path_inversion', 'FollowPath.inversion_xy_tolerance',
      'FollowPath.inversion_yaw_tolerance', 'PathHandler.enforce_path_inversion',
      'PathHandler.inversion_xy_tolerance', 'PathHandler.inversion_yaw_tolerance',
      'simple_smoother.enforce_path_inversion')),
    ('half the width of local_costmap in every release',
     ('FollowPath.max_robot_pose_search_dist', 'PathHandler.max_robot_pose_search_dist')),
    ('0.1 s, the time of local_costmap, which 1.5 takes instead',
     ('FollowPath.transform_tolerance',)),
    ('a goal counts as reached within the last metre of the path; the tolerance is 0.05 m',
     ('general_goal_checker.path_length_tolerance',)),
    ('the filter of a sequence of controls: of second order in every release',
     ('FollowPath.sgf_order',)),
    ('map in the namespace of the robot, in every release',
     ('map_topic', 'static_layer.map_topic')),
    ('the layers have their own', ('observation_sources',)),
    ('only where footprint_clearing_enabled is, which it is not in a static layer',
     ('static_layer.restore_cleared_footprint',)),
    ('forward in every release', ('dock_backwards', 'simple_charging_dock.dock_direction')),
    ('false: with true, and in 1.5 always, commands after velocity_timeout are stamped ahead',
     ('stamp_smoothed_velocity_with_smoothing_time',)),
    ('use_stall_detection is false', ('simple_charging_dock.stall_joint_names',)),
]

# instances that the default behavior trees ask for in their goals, by list
TREES = {
    '1.3.13': {'controller_plugins': 'FollowPath', 'planner_plugins': 'GridBased'},
    '1.4.2': {'controller_plugins': 'FollowPath', 'planner_plugins': 'GridBased',
              'goal_checker_plugins': 'general_goal_checker',
              'progress_checker_plugins': 'progress_checker'},
    '1.5.1': {'controller_plugins': 'FollowPath', 'planner_plugins': 'GridBased',
              'goal_checker_plugins': 'general_goal_checker',
              'progress_checker_plugins': 'progress_checker',
              'path_handler_plugins': 'PathHandler'}}


def given(node):
    """Return {parameter: value} of a node in the file; groups joined with a dot."""
    return dict(leaves(values(FILE, node)))


def meant_for_others(release):
    """Return {(node, name)} of what the file has for other releases than this one."""
    return {(node, name) for node, names, releases, _ in MEANT for name in names
            if name in given(node) and release not in releases}


def test_every_node_of_the_file_is_one_of_nav2():
    assert set(FILE) == set(KNOWN) - {COMMON}


@pytest.mark.parametrize('release', RELEASES)
def test_a_name_that_a_release_ignores_is_meant_for_another(release):
    # nodes of Nav2 refuse another type, and ignore an unknown name in silence
    assert undeclared(FILE, release) == meant_for_others(release)


@pytest.mark.parametrize('release', RELEASES)
@pytest.mark.parametrize('robot', ['c3p', 'c3p_25kg'])
@pytest.mark.parametrize('localization', LOCALIZATIONS)
def test_what_the_launch_file_makes_is_known_to_every_release(release, robot, localization):
    for namespace, command in (('', ''), ('robot1', 'cmd_vel_navigation')):
        made = nav2_parameters(FILE, load(robot), namespace, 'scan', localization, command)
        # as nav2_bringup reads it
        read = yaml.safe_load(yaml.safe_dump(made))
        assert undeclared(read, release) == meant_for_others(release)


def test_what_the_releases_have_differently_is_set_or_left_for_a_reason():
    open_ones = {name for node, entries in KNOWN.items() if node != 'following_server'
                 for name, entry in entries.items()
                 if node == COMMON or name not in given(node)
                 if tuple(entry.defaults) != RELEASES or len(set(entry.defaults.values())) > 1}
    assert open_ones == {name for _, names in LEFT for name in names}


def test_one_release_never_has_two_values_for_one_thing():
    server = values(FILE, 'controller_server')
    mppi = server['FollowPath']
    assert mppi['prune_distance'] == server['PathHandler']['prune_distance']
    # what 1.3 and 1.4 have without being asked is what 1.5 takes from the costmap
    of_mppi = KNOWN['controller_server']['FollowPath.transform_tolerance'].defaults
    wait = values(FILE, 'local_costmap')['transform_tolerance']
    assert {float(default) for default in of_mppi.values()} == {wait}
    assert 'transform_tolerance' not in mppi


def test_the_motion_model_is_holonomic_in_every_release():
    mppi = values(FILE, 'controller_server')['FollowPath']
    # a name of 1.3 and 1.4, and of a group with the plugin for 1.5
    assert mppi['motion_model'] == 'Omni'
    assert mppi[mppi['motion_model']] == {'plugin': 'mppi::OmniMotionModel'}


def test_the_behavior_trees_find_what_they_ask_for():
    lists = {name: value for node in FILE for name, value in given(node).items()}
    for release, wanted in TREES.items():
        for name, instance in wanted.items():
            assert instance in lists[name], f'{release}: {name}'
    # recoveries of all trees
    assert {'spin', 'wait', 'backup'} <= set(lists['behavior_plugins'])


def test_every_node_with_a_choice_of_stamps_has_it():
    choosers = {node for node, entries in KNOWN.items() if 'enable_stamped_cmd_vel' in entries}
    assert len(choosers) == 6
    for node in choosers:
        assert given(node)['enable_stamped_cmd_vel'] is True
        # Jazzy's default is a Twist without a stamp
        defaults = KNOWN[node]['enable_stamped_cmd_vel'].defaults
        assert node == 'following_server' or defaults['1.3.13'] == 'false'


def test_the_trajectory_is_judged_farther_ahead_than_the_robot_needs_to_stop():
    mppi, smoother = (values(FILE, 'controller_server')['FollowPath'],
                      values(FILE, 'velocity_smoother'))
    judged = mppi['TrajectoryValidator']['collision_lookahead_time']
    # a period of the controller and one of the smoother, then braking
    needed = mppi['model_dt'] + 1.0 / smoother['smoothing_frequency'] + (
        mppi['vx_max'] / -smoother['max_decel'][0])
    assert 3.0 * needed < judged <= mppi['time_steps'] * mppi['model_dt']
    # its circle is that of the costmap, as for the critic
    assert mppi['TrajectoryValidator']['consider_footprint'] is False
    assert mppi['CostCritic']['consider_footprint'] is False


def test_the_following_server_is_not_asked_for_what_it_refuses():
    # 1.5 does not configure it with collision detection
    assert not given('following_server').get('controller.use_collision_detection', False)
