# SPDX-License-Identifier: Apache-2.0
"""Page of a commissioning: what was found, with pictures of the wiring."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from c3p_bags.report.markup import Markup, html, joined
from c3p_bags.report.page import document, link_to
from c3p_bags.report.sheet import svg
from c3p_bags.report.wiring_picture import wiring_figure
from c3p_description.model import CasterRobot
from c3p_kinematics.commissioning.assignment import FoundWiring


class CommissioningReport(NamedTuple):
    """
    Contents of the page of a commissioning.

    Attributes
    ----------
    robot : CasterRobot
    found : FoundWiring
    lines : sequence of str
        What differs from the description, in words.
    by_hand : sequence of str
        What no parameter mends.
    parameters : dict
        Values of the hardware interface that mend the rest.
    others : sequence of (str, float)
        The next wirings in words, with their probabilities.
    assumed : sequence of str
    nodes : dict
        Device of each channel in words, by the joint it is taken for.
    measured : sequence of str
        Lengths, zeros, masses, friction and delay with their intervals.
    drives : sequence of str
        Confirming drives and their errors.
    """

    robot: CasterRobot
    found: FoundWiring
    lines: Sequence[str]
    by_hand: Sequence[str]
    parameters: dict[str, Any]
    others: Sequence[tuple[str, float]]
    assumed: Sequence[str]
    nodes: dict[str, str]
    measured: Sequence[str] = ()
    drives: Sequence[str] = ()


def wiring_page(report: CommissioningReport) -> Markup:
    """Return the HTML of a commissioning."""
    found = report.found
    verdict = 'wired as described' if not report.lines else (
        f'{len(report.lines)} differences from the description')
    facts = html('<p class="sub">robot $name: $verdict, probability $probability, residual '
                 '$residual of its noise</p>', name=report.robot.name, verdict=verdict,
                 probability=f'{found.probability:.4f}', residual=f'{found.residual:.2f}')
    sections = [
        ('found', 'Found', _list(report.lines) or html('<p>All is wired as described.</p>')),
        ('picture', 'Wiring', html(
            '<p class="about">From above with all steering angles 0; arrows are the positive '
            'senses. In colour: another channel, sense, zero or gear than described.</p>'
            '<figure>$picture</figure>',
            picture=svg(wiring_figure(report.robot, found.assignment, report.nodes),
                        'wiring', 'wiring as described and as found'))),
        ('hand', 'To be changed by hand', _list(report.by_hand)),
        ('parameters', 'Parameters', _table(report.parameters)),
        ('measured', 'Measured, with 95 % intervals', _list(report.measured)),
        ('drives', 'Confirming drives', _list(report.drives)),
        ('others', 'Next explanations', _list(
            f'{text} (probability {p:.2g})' for text, p in report.others)),
        ('assumed', 'Assumed, not measured', _list(report.assumed))]
    shown = [(anchor, title, body) for anchor, title, body in sections if body]
    links = joined(link_to(anchor, title) for anchor, title, _ in shown)
    body = joined(html('<section id="$anchor"><h2>$title</h2>$body</section>', anchor=anchor,
                       title=title, body=body) for anchor, title, body in shown)
    return document(f'{report.robot.name}: commissioning', 'Commissioning', facts, links, body,
                    html('Written by <code>c3p commission</code>.'))


def _list(texts: Any) -> Markup:
    items = joined(html('<li>$text</li>', text=text) for text in texts)
    return html('<ul>$items</ul>', items=items) if items else Markup()


def _table(values: dict[str, Any]) -> Markup:
    rows = joined(html('<tr><td><code>$name</code></td><td><code>$value</code></td></tr>',
                       name=name, value=value) for name, value in values.items())
    return html('<table><tr><th>hardware_interface</th><th>value</th></tr>$rows</table>',
                rows=rows) if rows else Markup()
