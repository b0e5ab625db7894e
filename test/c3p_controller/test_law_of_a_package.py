# SPDX-License-Identifier: Apache-2.0
"""
A law of another package drives robots, and is listed, without a change of the suite.

The law stands in this file. Its package is a folder of metadata on the path, as pip writes it.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from source_tree import ROOT, python_path

from c3p_bringup.cli.command_line import parser
from c3p_bringup.cli.main import main
from c3p_controller import law_names
from c3p_controller.command_follower import CommandFollower, LawFailure
from c3p_controller.control_law import ControlLaw
from c3p_controller.goals.path_controller import PathController
from c3p_controller.law_settings import setting
from c3p_controller.reading.laws import LawError, installed_laws, load_law
from c3p_controller.torque_law import Sensed
from c3p_description import load as load_robot
from c3p_dynamics.caster_dynamics import inverse_dynamics
from c3p_dynamics.friction import friction_compensation
from c3p_experiments.loop.closed_loop import Held, run_loop
from c3p_experiments.loop.command_sources import GoalSource
from c3p_experiments.loop.controllers import make_controller
from c3p_experiments.tuning.controller import make
from c3p_experiments.tuning.parameters import find
from c3p_simulation.make_plant import make_plant

C3P = load_robot('c3p')
HERE = Path(__file__).stem

# rolling lines that do not meet in one point: an instant's torque moves the robot everywhere
ASKEW = np.array([0.3, 1.2, -0.7])
GOAL = (0.0, 1.0, 0.5)


class ComputedTorque(ControlLaw):
    """Inverse dynamics of a proportional acceleration, and friction compensation."""

    @dataclass(frozen=True)
    class Settings:
        """Gain and friction compensation."""

        gain: float = setting(8.0, 'Acceleration per error of the twist [1/s].',
                              bounds=(0.1, 50.0))
        friction: float = setting(0.9, 'Fraction of the friction that is fed forward.',
                                  bounds=(0.0, 1.0))
        latency: float = setting(0.0, 'Input delay, not compensated [s].', bounds=(0.0, 0.1),
                                 read_only=True)

    previews = False
    position = PathController

    def step(self, sensed, setpoint, dt):
        """Return the torques."""
        accel = self.settings.gain * (setpoint.twist - sensed.twist)
        torque = inverse_dynamics(self.robot, sensed.steering, sensed.twist, accel)
        torque += self.settings.friction * friction_compensation(
            self.robot, sensed.steering, setpoint.twist)
        return np.clip(torque, -self.limit, self.limit)


class WithoutStep(ControlLaw):
    """Lacks what moves the robot."""

    Settings, previews, position = ComputedTorque.Settings, False, PathController


class WithoutDeclarations(ControlLaw):
    """Has a step, and no declaration."""

    def step(self, sensed, setpoint, dt):
        """Return no torque."""
        return np.zeros(self.robot.efforts)


class UnboundedDefault(ComputedTorque):
    """The default of a setting violates its own bounds."""

    @dataclass(frozen=True)
    class Settings:
        """One gain."""

        gain: float = setting(8.0, 'Gain [1/s].', bounds=(0.0, 1.0))


class UnknownType(ComputedTorque):
    """A setting cannot become a parameter."""

    @dataclass(frozen=True)
    class Settings:
        """A matrix."""

        gain: np.ndarray = None


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a function that installs a package with some entry points."""
    def install(name='others-laws', **entries):
        place = tmp_path / name / f'{name.replace("-", "_")}-1.0.dist-info'
        place.mkdir(parents=True)
        (place / 'METADATA').write_text(f'Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n')
        (place / 'entry_points.txt').write_text('[c3p.controllers]\n' + ''.join(
            f'{law} = {value}\n' for law, value in entries.items()))
        monkeypatch.syspath_prepend(str(place.parent))
    return install


@pytest.fixture
def computed(package):
    """The package of `ComputedTorque`."""
    package(computed=f'{HERE}:ComputedTorque')
    return 'computed'


def test_a_law_in_a_loop_drives_to_a_goal_without_being_installed():
    law = ComputedTorque(C3P)
    source = GoalSource(PathController(PathController.Settings()), [GOAL])
    log = run_loop(make_plant('analytic', 'c3p'), law, source, duration=20.0, steering=ASKEW,
                   stop=Held())
    assert log.ended and not log.fault
    assert log.ground_truth.pose[-1] == pytest.approx(GOAL, abs=0.05)


def test_an_installed_law_is_made_by_name_and_drives_to_a_goal(computed):
    controller = make_controller(computed, C3P, latency=0.004, speed=0.4)
    assert controller.law.law.latency == 0.004 and not controller.uses_preview
    log = run_loop(make_plant('analytic', 'c3p'), controller.law,
                   GoalSource(controller.position(), [GOAL]), duration=20.0, steering=ASKEW,
                   stop=Held())
    assert log.ended and not log.fault
    assert log.ground_truth.pose[-1] == pytest.approx(GOAL, abs=0.05)


def test_an_installed_law_drives_a_robot_of_nodes_to_a_goal(computed, bench):
    bench.add_robot(computed, simulation={'start_steering': ASKEW.tolist()},
                    velocity_controller={'computed.gain': 9.0})
    bench.wait_until_unlocked()
    node = bench.nodes['velocity_controller']
    law = node._law.law
    assert type(law) is ComputedTorque and law.settings.gain == 9.0
    bench.goal(*GOAL)
    bench.wait_for(lambda: bench.value('position_controller', 'goal reached') == 'True',
                   'the goal', timeout=20.0)
    assert bench.pose() == pytest.approx(GOAL, abs=0.05)
    # a parameter that changes while the robot drives, and one out of its bounds
    assert bench.set_parameter('velocity_controller', 'computed.gain', 5.0).successful
    assert law.settings.gain == 5.0
    refused = bench.set_parameter('velocity_controller', 'computed.gain', 500.0)
    assert not refused.successful and law.settings.gain == 5.0
    assert not bench.set_parameter('velocity_controller', 'computed.latency', 0.05).successful
    described = node.describe_parameter('computed.gain')
    assert described.description == 'Acceleration per error of the twist [1/s].'
    assert described.floating_point_range[0].to_value == 50.0
    assert 'computed' in node.describe_parameter('controller').additional_constraints


def test_the_law_is_listed_where_laws_are_listed(computed, capsys):
    assert law_names() == ('paper', 'mpc', 'modules', 'computed')
    for command, arguments in (('drive', ['0', '0', '0']), ('sim', []), ('robot', ['c3p']),
                               ('tune', []), ('campaign', []), ('experiment', ['line'])):
        chosen = parser().parse_args([command, *arguments, '--controller', 'computed'])
        assert chosen.controller == 'computed'
        with pytest.raises(SystemExit):
            main([command, '--help'])
        assert 'computed' in capsys.readouterr().out, command


def test_the_law_can_be_tuned_and_its_parameters_are_used(computed, tmp_path, capsys):
    assert {t.name for t in find(computed, [], {})} == {
        'velocity_controller.computed.gain', 'velocity_controller.computed.friction'}
    made = make(computed, C3P, 0.0, {'velocity_controller.computed.gain': 3.0})
    assert made.law.law.settings.gain == 3.0
    given = tmp_path / 'given.yaml'
    given.write_text('/**/velocity_controller:\n  ros__parameters:\n    computed:\n'
                     '      gain: 7.0\n')
    assert main(['tune', '--controller', computed, '--what', 'computed.gain=2:20',
                 '--evaluations', '2', '--scenarios', '1', '--params-file', str(given),
                 '--out', str(tmp_path / 'tune')]) == 0
    text = (tmp_path / 'tune/tuned.yaml').read_text()
    assert 'controller: computed' in text and 'gain:' in text


def test_the_node_and_doctor_name_unknown_parameters_of_the_law(computed, bench, tmp_path):
    from c3p_bringup.doctor.robot import parameter_faults
    from c3p_controller.velocity_controller_node import VelocityControllerNode

    for given, words in (({'computed.gian': 3.0}, 'unknown parameter'),
                         ({'computed.gain': 900.0}, 'computed.gain = 900.0: must be 0.1 to 50'),
                         ({'computed.gain': 'high'}, 'must be a double')):
        with pytest.raises(ValueError, match=words):
            bench.add(VelocityControllerNode, controller=computed, **given)
    file = tmp_path / 'file.yaml'
    text = '/**/velocity_controller:\n  ros__parameters: {controller: computed, computed: {gain: '
    file.write_text(f'{text}3.0}}}}\n')
    assert list(parameter_faults(file)) == []
    file.write_text(f'{text}99.0}}}}\n')
    fault, = parameter_faults(file)
    assert 'computed.gain = 99.0' in fault


def test_another_law_may_be_chosen_beside_parameters_of_the_law(computed, bench):
    from c3p_controller.velocity_controller_node import VelocityControllerNode

    node = bench.add(VelocityControllerNode, controller='paper', **{'computed.gain': 3.0})
    assert node.parameters.value.computed.gain == 3.0


@pytest.mark.parametrize('value, words', [
    ('no_such_module:Law', 'cannot be imported .ModuleNotFoundError'),
    (f'{HERE}:NoSuchClass', 'cannot be imported .AttributeError'),
    (f'{HERE}:WithoutStep', 'lacks step'),
    (f'{HERE}:WithoutDeclarations', 'lacks previews, position'),
    (f'{HERE}:UnknownType', 'Settings.gain is of the type'),
    ('collections:OrderedDict', 'is not a subclass of'),
])
def test_a_law_that_cannot_be_used_names_package_entry_point_and_remedy(package, value, words):
    package(broken=value, computed=f'{HERE}:ComputedTorque')
    with pytest.raises(LawError, match=words) as refused:
        load_law('broken')
    text = str(refused.value)
    assert f'broken = {value}' in text and 'others-laws' in text and '; ' in text
    # the other laws still run
    assert load_law('computed') is ComputedTorque and load_law('mpc').previews


def test_a_default_out_of_bounds_is_refused_by_the_node(package, bench):
    from c3p_controller.velocity_controller_node import VelocityControllerNode

    package(wide=f'{HERE}:UnboundedDefault')
    with pytest.raises(LawError, match='others-laws: wide.gain = 8.0: must be 0.0 to 1.0'):
        bench.add(VelocityControllerNode, controller='wide')


@pytest.mark.parametrize('name', ['traction', 'speed_limit'])
def test_a_name_that_is_a_parameter_already_is_refused_by_the_node(package, bench, name):
    from c3p_controller.velocity_controller_node import VelocityControllerNode

    package(**{name: f'{HERE}:ComputedTorque'})
    with pytest.raises(LawError, match=f'others-laws gives a law the name .*{name}.*rename'):
        bench.add(VelocityControllerNode, controller=name)


def test_doctor_imports_each_law_and_names_what_is_wrong(package):
    from c3p_bringup.doctor.laws import checks

    package(computed=f'{HERE}:ComputedTorque', broken=f'{HERE}:NoSuchClass',
            mpc=f'{HERE}:ComputedTorque')
    said = {check.level.value: check for check in checks()}
    assert said['OK'].text.startswith('computed, of the package others-laws')
    assert 'the suite has a law of this name' in said['WARN'].text
    assert said['WARN'].remedy == 'rename the entry point'
    assert 'NoSuchClass' in said['FAIL'].text and said['FAIL'].remedy


def test_two_packages_with_one_name_are_an_error_of_that_name_alone(package):
    package('first-laws', twin=f'{HERE}:ComputedTorque')
    package('second-laws', twin=f'{HERE}:ComputedTorque', alone=f'{HERE}:ComputedTorque')
    with pytest.raises(LawError, match='first-laws.* and .*|second-laws') as refused:
        load_law('twin')
    assert 'first-laws' in str(refused.value) and 'uninstall' in str(refused.value)
    assert load_law('alone') is ComputedTorque
    assert any('same name' in trouble for trouble in installed_laws().troubles)


def test_no_package_replaces_a_law_of_the_suite(package, bench):
    from c3p_controller.velocity_controller_node import VelocityControllerNode

    package(mpc=f'{HERE}:ComputedTorque', **{'not-a-name': f'{HERE}:ComputedTorque'})
    assert load_law('mpc').__name__ == 'PredictiveController'
    assert law_names() == ('paper', 'mpc', 'modules')
    assert [word in trouble for trouble, word in zip(
        installed_laws().troubles,
        ('the suite has a law of this name', 'must be one of a parameter'), strict=True)] == [
            True, True]
    # a node warns of both, and runs
    assert bench.add(VelocityControllerNode, controller='paper')


def test_own_entry_points_of_another_version_are_not_used(package):
    package('c3p-robots', mpc='c3p_controller.no_longer:Law', old='c3p_controller.gone:Law')
    assert installed_laws() == ({}, ()) and load_law('mpc').__name__ == 'PredictiveController'


def test_damaged_metadata_of_a_package_leaves_the_other_laws(package, tmp_path):
    package('sound-laws', computed=f'{HERE}:ComputedTorque')
    package('damaged-laws', other=f'{HERE}:ComputedTorque')
    file, = tmp_path.glob('damaged-laws/*/entry_points.txt')
    file.write_bytes(b'[c3p.controllers]\nother = \xff\xfe\n')
    trouble, = installed_laws().troubles
    assert 'damaged_laws' in trouble and 'install the package again' in trouble
    assert law_names() == ('paper', 'mpc', 'modules', 'computed')


def test_only_the_chosen_law_is_imported(package, tmp_path):
    package(first='imported_by_name:Law')
    place, = tmp_path.glob('*-laws')
    (place / 'imported_by_name.py').write_text('raise RuntimeError("imported")\n')
    code = ('from c3p_controller import law_names, law_named\n'
            'assert law_names()[3:] == ("first",)\nlaw_named("paper")\n'
            'import sys; assert "imported_by_name" not in sys.modules\n')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, cwd=ROOT,
                          env={**os.environ, 'PYTHONPATH': python_path(place, ROOT)})
    assert done.returncode == 0, done.stderr
    # a module path is not a name
    with pytest.raises(LawError, match='must be one of'):
        load_law('imported_by_name:Law')


@pytest.mark.parametrize('torque', [np.zeros(2), np.zeros(5), np.zeros((3, 1)), 0.0])
def test_torques_of_another_shape_are_a_failure_of_the_law(torque):
    law = ComputedTorque(C3P)
    law.step = lambda *_: torque
    chain, zero = CommandFollower(C3P, law), np.zeros(3)
    with pytest.raises(LawFailure, match=re.escape(f'{np.atleast_1d(torque).shape}')):
        chain.step(Sensed(0.0, ASKEW, zero, zero, zero), np.array([0.1, 0.0, 0.0]), 1, 1, 0.005)


def test_any_error_of_a_law_is_a_failure_that_brakes():
    law = ComputedTorque(C3P)
    law.step = lambda *_: {}['gain']
    chain, zero = CommandFollower(C3P, law), np.zeros(3)
    with pytest.raises(LawFailure, match='ComputedTorque.step raised KeyError'):
        chain.step(Sensed(0.0, ASKEW, zero, zero, zero), np.array([0.1, 0.0, 0.0]), 1, 1, 0.005)


@pytest.mark.parametrize('method', ['reset', 'prepare', 'retune'])
def test_an_error_in_any_method_of_a_law_brakes_until_the_method_succeeds(computed, bench, method):
    bench.add_robot(computed, simulation={'start_steering': ASKEW.tolist()})
    bench.wait_until_unlocked()
    bench.command_until(lambda: bench.speed() > 0.1, 'motion', 0.3, 0.0, 0.0)
    law = bench.nodes['velocity_controller']._law.law
    original = getattr(law, method)

    def broken(*_):
        raise KeyError('gain')

    setattr(law, method, broken)
    if method == 'retune':
        bench.set_parameter('velocity_controller', 'computed.gain', 7.0)
    # without a command the robot comes to rest, where the law is reset
    bench.wait_for(lambda: 'the law failed' in bench.value('velocity_controller', 'locked'),
                   'the failure')
    bench.wait_for(lambda: f'ComputedTorque.{method} raised KeyError' in
                   bench.health['velocity_controller'].message, 'its report')
    bench.wait_for(lambda: bench.speed() < 0.01, 'the stop')
    setattr(law, method, original)
    if method == 'retune':
        bench.run(1.0)
        assert 'the law failed' in bench.value('velocity_controller', 'locked')
        bench.set_parameter('velocity_controller', 'computed.gain', 6.0)
        assert law.settings.gain == 6.0
    bench.wait_until_unlocked()
    bench.command_until(lambda: bench.speed() > 0.1, 'motion', 0.3, 0.0, 0.0)


@pytest.mark.parametrize('method', ['__init__', 'reset', 'step', 'prepare'])
def test_a_law_that_fails_at_the_start_is_refused_with_its_name(computed, bench, method,
                                                                monkeypatch):
    from c3p_controller.velocity_controller_node import VelocityControllerNode

    def broken(*_):
        raise KeyError('gain')

    monkeypatch.setattr(ComputedTorque, method, broken)
    with pytest.raises(ValueError, match=f'controller = computed: ComputedTorque.{method} raised '
                                         'KeyError'):
        bench.add(VelocityControllerNode, controller=computed)


def test_the_entry_points_of_the_suite_are_its_table(distribution):
    from c3p_controller import BUILT_IN
    from c3p_controller.reading.laws import GROUP, OWN

    assert distribution.entry_points[GROUP] == [f'{n} = {v}' for n, v in BUILT_IN.items()]
    assert distribution.get_name() == OWN
