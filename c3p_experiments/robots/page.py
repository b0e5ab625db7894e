# SPDX-License-Identifier: Apache-2.0
"""The HTML page of a robot: what was read, what it can do, how it drives, in one file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from matplotlib.figure import Figure

from c3p_bags.report.markup import Markup, html, joined
from c3p_bags.report.page import cards, document, link_to
from c3p_bags.report.sheet import svg
from c3p_bags.report.slip_answer import Answer
from c3p_bags.report.tables import percent
from c3p_description.model import CasterRobot
from c3p_experiments.robots import facts
from c3p_experiments.robots.check import RobotCheck
from c3p_experiments.robots.drives_figure import drives_figure
from c3p_experiments.robots.plan import plan, reach_figure, singular_figure
from c3p_kinematics.singularity import always_actuated
from c3p_simulation.make_plant import PLANTS


class Passage(NamedTuple):
    """A section of the page: anchor, title, text, figure and HTML below it."""

    anchor: str
    title: str
    text: str
    picture: Figure | None
    tables: Markup = Markup()


def verdict(check: RobotCheck) -> Answer:
    """Return the verdict: whether the robot drives."""
    question = 'Does it drive?'
    total = len(check.drives)
    obstacles = check.ability.obstacles()
    if obstacles:
        return Answer(question, 'Not driven' if total else 'It cannot do the battery',
                      f'{_sentence(obstacles)}', 'bad', 'ability')
    if not total:
        return Answer(question, 'Not tried', 'The battery was not requested.', 'none', 'ability')
    missed = check.missed
    driven = [d for d in check.drives if d.metrics]
    if not missed:
        path = max(d.metrics['ground_truth_path_error_max_m'] for d in driven)
        final = max(d.metrics['ground_truth_final_error_m'] for d in driven)
        return Answer(question, f'Yes, {total} of {total} drives', f'On both plants with '
                      f'{check.controller}. At most {100 * path:.2g} cm off a path, and '
                      f'{100 * final:.2g} cm from a goal.', 'good', 'battery')
    names = ', '.join(d.name for d in missed[:5]) + (', …' if len(missed) > 5 else '')
    return Answer(question, f'{total - len(missed)} of {total} drives',
                  f'Not reached or not driven: {names}. {_sentence([missed[0].failure])}',
                  'bad' if len(missed) > 0.2 * total else 'note', 'battery')


def _sentence(texts: list[str]) -> str:
    return ' '.join(f'{text[:1].upper()}{text[1:]}.' for text in texts if text)


def answers(check: RobotCheck) -> list[Answer]:
    """Return the answers at the top of the page and of the text on the terminal."""
    robot = check.robot
    ability = check.ability
    warned = len(check.warnings)
    assumed = sum(note.kind != 'warning' for note in check.notes)
    read = Answer(
        'What was read?', f'{robot.count} casters, {int(robot.driven.sum())} driven, '
        + (f'{int(robot.steered.sum())} steered, ' if robot.steered.any() else '')
        + f'{robot.total_mass:.3g} kg', (
            f'{_count(warned, "warning")}, {_count(assumed, "assumption")}.'
            if check.notes or warned else 'Every number is from the file.'),
        'note' if warned else 'good', 'read')
    freedoms = Answer(
        'What do the motors control?', f'{ability.freedoms} of 3 freedoms', ability.summary,
        {3: 'good', 2: 'note'}.get(ability.freedoms, 'bad'), 'singular')
    weak = ability.travel.along
    grips = robot.driven & (ability.grip < ability.motor)
    reaches = Answer(
        'What can it reach?', f'{weak.min():.2g} m/s² in every direction'
        if weak.min() > 0 else 'Not every direction',
        f'Median {np.median(weak):.2g} m/s² with trailing casters, turn '
        f'{ability.travel.turn.min():.2g} rad/s². Torque is limited by '
        + ('the motors.' if not grips.any() else 'the tyres.' if grips[robot.driven].all()
           else 'the motors of some wheels and the tyres of others.'),
        'bad' if ability.obstacles() else 'good' if weak.min() > 0 else 'note', 'ability')
    slips = ability.isolation
    named = Answer(
        'Can slip be isolated?', 'Never: two casters' if robot.count == 2 else
        f'{percent(slips.named)} of slips', f'{_count(slips.equations, "spare equation")}; '
        f'{percent(slips.detected)} of slips of one wheel are detected'
        + ('; which wheel slips is unknown.' if robot.count == 2 else '.'),
        'note' if slips.named < 0.9 else 'good', 'slip')
    return [verdict(check), read, freedoms, reaches, named, *_smooth(check)]


def _count(number: int, word: str) -> str:
    return f'{number} {word}{"" if number == 1 else "s"}'


def _smooth(check: RobotCheck) -> list[Answer]:
    found = [d for d in check.drives if d.metrics]
    if not found:
        return []
    worst = max(found, key=lambda d: d.metrics['torque_variation_nm_per_s'])
    middle = np.median([d.metrics['torque_variation_nm_per_s'] for d in found])
    # per second through the whole range of all motors
    whole = max(2.0 * float(check.ability.bound.sum()), 1e-9)
    rate = worst.metrics['torque_variation_nm_per_s'] / whole
    return [Answer(
        'How smooth are the torques?', f'{middle:.3g} N·m/s', f'Median of Σ|Δτ| per second; worst '
        f'{worst.metrics["torque_variation_nm_per_s"]:.3g} N·m/s in {worst.name}, {rate:.2g} '
        'times the range of all motors each second.', 'good' if rate < 3.0 else 'note',
        'battery')]


def sections(check: RobotCheck) -> list[Passage]:
    """Return the sections of the page."""
    robot = check.robot
    ability = check.ability
    out = [
        Passage('read', 'The robot', 'From above, all joints at zero; x is forward. Filled wheels '
                'are driven, a ring is a steering motor. Offsets are from the steering axis to '
                'the contact; the steering zero is the angle θ_s at joint position 0. Least '
                'load: static, over all travel directions of trailing casters.', plan(robot),
                joined([facts.caster_table(robot, ability), facts.body_table(robot)])),
        Passage('assumed', 'Warnings and assumptions', 'What the file does not state, or states '
                'in a form that is not used.' if check.notes else 'The file states every number; '
                'nothing was assumed.', None, facts.note_table(check.notes, check.warnings)),
        Passage('singular', 'Singular postures', f'{ability.summary} {_singular_text(check)}',
                singular_figure(robot) if _has_singular(robot) else None),
        Passage('ability', 'Reachable accelerations', 'Within the torques of the motors and the '
                'grip of the tyres, from rest against dry friction, other components zero. In '
                'random postures, some near singular ones, less is reachable than with trailing '
                'casters.', reach_figure(robot, ability), _obstacles(check)),
        Passage('slip', 'Slip', _slip_text(check), None)]
    for plant in PLANTS:
        found = [d for d in check.drives if d.plant == plant]
        if found:
            contact = plant == 'mujoco'
            out.append(Passage(
                'battery' if not contact else 'contact',
                'Drives, tyres in contact' if contact else 'Drives, rolling without slip',
                'Dashed: the desired path; orange: the true path, red if the goal was missed. '
                'Encoders with 2000 and 4096 counts, 10 ms latency, feedback from odometry only. '
                'Goals use 40 % of the reachable acceleration at most. Torques below: of the '
                'named drive, and of the start steering with the largest variation.',
                drives_figure(found, robot), facts.battery_table(found)))
    return out


def _has_singular(robot: CasterRobot) -> bool:
    """Return whether there are postures of casters in which a motion is not actuated."""
    return not (robot.other_wheels or always_actuated(robot))


def _singular_text(check: RobotCheck) -> str:
    if not _has_singular(check.robot):
        return ''
    lines = 'Dashed: the rolling lines, along which the driven wheels push. '
    if check.ability.freedoms < 3:
        return (lines + 'Too few motors push, so that one motion is not actuated in any posture; '
                'the arrow is that of this posture.')
    return (lines + 'Where they are all parallel, or meet in one point, the motion of the arrow '
            'is not actuated; a controller has to turn the casters first. Equal steering angles '
            'are one case: every straight drive ends in it.')


def _obstacles(check: RobotCheck) -> Markup:
    found = [html('<p><b>$text</b></p>', text=_sentence([text]))
             for text in (*check.ability.obstacles(), *check.ability.doubts())]
    return joined([*found, facts.pace_table(check.pace)])


def _slip_text(check: RobotCheck) -> str:
    n = check.robot.count
    slips = check.ability.isolation
    common = (f'{n} casters measure the motion with {len(check.robot.sensed)} sensors for 3 '
              'unknowns: '
              f'{_count(slips.equations, "spare equation")}. A wheel that turns 0.2 m/s too fast '
              f'is detected in {percent(slips.detected)} of random postures and motions')
    if n == 2:
        return (f'{common}, and the wheel is never known: one equation does not identify which '
                'of the two contradicts. A slip that does not change the distance of the two '
                'contacts is invisible.')
    return (f'{common}, and the right wheel is named with a confidence of 90 % or more in '
            f'{percent(slips.named)}. ' + (
                'With three casters a slip perpendicular to the line between two contacts '
                'leaves two suspects.' if n == 3 else
                'A slip common to all wheels is invisible.'))


def robot_page(check: RobotCheck) -> Markup:
    """Return the self-contained HTML page of a check."""
    shown = sections(check)
    return document(
        f'{check.robot.name}: robot', check.robot.name,
        html('<p class="sub">$source</p>', source=check.source),
        joined(link_to(s.anchor, s.title) for s in shown),
        joined([cards(answers(check)), *map(_section, shown)]),
        html('Written by <code>c3p robot</code>; its option --json writes the same numbers.'))


def _section(section: Passage) -> Markup:
    picture = Markup() if section.picture is None else html(
        '<figure>$picture</figure>', picture=svg(section.picture, section.anchor, section.title))
    return html('<section id="$anchor"><h2>$title</h2><p class="about">$text</p>$picture$tables'
                '</section>', anchor=section.anchor, title=section.title, text=section.text,
                picture=picture, tables=section.tables)


def write_page(check: RobotCheck, out: Path) -> Path:
    """Write the page of a check into the directory `out`; return the file."""
    path = out / 'robot.html'
    path.write_text(robot_page(check), encoding='utf-8')
    return path
