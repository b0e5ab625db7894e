# SPDX-License-Identifier: Apache-2.0
"""What a release needs beside the code: metadata, quality declaration, policies, change log."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
import yaml
from source_tree import python_path

ROOT = Path(__file__).resolve().parents[1]
DECLARATION = (ROOT / 'QUALITY_DECLARATION.md').read_text(encoding='utf-8')
README = (ROOT / 'README.md').read_text(encoding='utf-8')
SETUP = (ROOT / 'setup.py').read_text(encoding='utf-8')
LINK = re.compile(r'\[[^\]]*\]\(([^)\s]+)\)')

# REP-2004, numbering of all levels ("Quality Level 1"): whether level 2 requires the point
POINTS = {
    '1.i': True, '1.ii': True, '1.iii': True, '1.iv': True, '1.v': True, '1.vi': True,
    '2.i': True, '2.ii': True, '2.iii': False, '2.iv': True, '2.v': False,
    '3.i': True, '3.ii': False, '3.iii': True, '3.iv': True, '3.v': True, '3.v.a': True,
    '3.v.b': True, '3.v.c': True,
    '4.i': True, '4.ii': False, '4.iii.a': True, '4.iii.b': False, '4.iv.a': False,
    '4.iv.b': False, '4.v.a': True, '4.v.b': True,
    '5.i': True, '5.ii': True, '5.iii': True, '6.i': True, '7.i': True,
}
# points that cannot be shown in this tree
OPEN = {'1.ii', '2.i', '2.ii', '2.iv', '3.iv', '5.i', '6.i', '7.i'}


def sections():
    """Return {point: text below its heading}."""
    parts = re.split(r'^### .*\[([\w.]+)\]$', DECLARATION, flags=re.MULTILINE)
    return {point: text.split('\n## ')[0].strip()
            for point, text in zip(parts[1::2], parts[2::2], strict=True)}


def test_the_declaration_has_each_point_of_rep_2004_in_order():
    assert list(sections()) == list(POINTS)
    for point, text in sections().items():
        assert text.startswith('(level 1)') != POINTS[point], point
        assert len(text.split()) >= 2, point


def test_what_is_open_is_said_at_the_point_and_in_the_summary():
    said = {point for point, text in sections().items() if '**Open**' in text
            or '**Open.**' in text}
    assert said == OPEN
    rows = re.findall(r'^\| ([\d.ivx, ]+) \| ', DECLARATION, re.MULTILINE)
    assert {point for row in rows for point in row.split(', ')} == OPEN


def test_every_point_that_is_not_open_names_evidence_of_this_tree():
    without = {'3.v', '3.v.b', '3.v.c', '2.iii', '5.ii'}
    for point, text in sections().items():
        files = [link for link in LINK.findall(text) if not link.startswith('http')]
        assert files or point in without | OPEN, point


@pytest.mark.parametrize('page', ['QUALITY_DECLARATION.md', 'SECURITY.md', 'CONTRIBUTING.md',
                                  'README.md', 'docs/versions.md', 'docs/releasing.md'])
def test_links_lead_to_files_and_headings(page):
    path = ROOT / page
    for link in LINK.findall(path.read_text(encoding='utf-8')):
        if link.startswith(('http', 'mailto')):
            continue
        file, _, heading = link.partition('#')
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), link
        if heading:
            titles = re.findall(r'^#+ (.*)', target.read_text(encoding='utf-8'), re.MULTILINE)
            anchors = {re.sub(r'[^\w -]', '', title.lower()).replace(' ', '-')
                       for title in titles}
            assert heading in anchors, link


def test_the_readme_links_declaration_and_policies():
    assert {'QUALITY_DECLARATION.md', 'SECURITY.md', 'docs/versions.md', 'CONTRIBUTING.md',
            'AUTHORS'} <= set(LINK.findall(README))


def test_the_declaration_claims_level_2_only_with_nothing_open():
    (claimed, aimed) = re.findall(r'\*\*Quality Level (\d)\*\*', DECLARATION)
    assert aimed == '2' and claimed == '4'
    version = re.search(r"^    version='(\d+)\.", SETUP, re.MULTILINE).group(1)
    assert ('1.ii' in OPEN) == (int(version) < 1)


def test_the_coverage_of_every_package_is_in_the_declaration():
    packages = {path.parent.name for path in ROOT.glob('c3p_*/__init__.py')}
    rows = dict(re.findall(r'^\| `(c3p_\w+)` \| \d+ \| ([\d.]+) \|', DECLARATION, re.MULTILINE))
    assert set(rows) == packages
    assert all(0.0 <= float(percent) <= 100.0 for percent in rows.values())


@pytest.fixture(scope='module')
def write_coverage():
    """Return scripts/write_coverage.py."""
    pytest.importorskip('coverage', minversion='7.10', reason='pip install coverage')
    spec = importlib.util.spec_from_file_location('write_coverage',
                                                  ROOT / 'scripts/write_coverage.py')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_kernels_are_counted_apart_and_only_where_they_run_as_python(write_coverage, tmp_path,
                                                                      monkeypatch):
    package = tmp_path / 'c3p_sample'
    package.mkdir()
    (package / '__init__.py').write_text(
        'def kernel(f):\n    return f\n\n\n'
        '@kernel\ndef fast(x):\n    y = x\n    return y\n\n\n'
        'def slow(x):\n    if x:\n        return 1\n    return 0\n')
    (tmp_path / 'use.py').write_text('import c3p_sample\nc3p_sample.slow(0)\n')
    data = tmp_path / 'data'
    data.mkdir()
    ran = subprocess.run([sys.executable, '-m', 'coverage', 'run', '--source=c3p_sample',
                          f'--data-file={data}/one', 'use.py'], cwd=tmp_path, text=True,
                         capture_output=True,
                         env={**os.environ, 'PYTHONPATH': python_path(tmp_path)})
    assert ran.returncode == 0, ran.stderr
    monkeypatch.setattr(write_coverage, 'DATA', data)
    monkeypatch.chdir(tmp_path)
    every, plain = map(write_coverage.packages, write_coverage.measured())
    # one return of `slow` was not reached, and nothing in the body of the kernel
    assert plain['c3p_sample'] == (6, 5)
    kernels = every['c3p_sample'].minus(plain['c3p_sample'])
    assert kernels.statements - kernels.run == 2
    row = write_coverage.table(every, plain).splitlines()[2]
    assert row.startswith('| `c3p_sample` | 6 | 83.3 | ')
    text = write_coverage.rewritten(DECLARATION, row)
    assert row in text and text.count('<!-- coverage -->') == 1


def test_the_response_of_the_security_policy_has_a_schedule():
    policy = (ROOT / 'SECURITY.md').read_text(encoding='utf-8')
    assert len(re.findall(r'\d+ (?:business )?days', policy)) >= 3
    assert 'package.xml' in policy and 'rep-2006' in policy


@pytest.fixture(scope='module')
def setup_functions():
    """Return the functions of setup.py and what they use, without a build."""
    found = {}
    wanted = {'for_index', 'project_urls', 'REPOSITORY'}
    tree = ast.parse(SETUP)
    tree.body = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))
                 or getattr(node, 'name', None) in wanted
                 or (isinstance(node, ast.Assign) and node.targets[0].id in wanted)]
    exec(compile(tree, 'setup.py', 'exec'), found)
    return found


def test_the_page_of_the_index_has_no_link_to_files_beside_it(setup_functions, distribution):
    described = distribution.metadata.long_description
    assert described == setup_functions['for_index'](README)
    assert not [link for link in LINK.findall(described)
                if not link.startswith(('http', '#', setup_functions['REPOSITORY'] or '#'))]
    assert '*[4 m from a singular start, all steering angles 0°]*' in described


def test_with_a_repository_the_index_links_to_it(setup_functions):
    place = 'https://forge.example/c3p'
    text = '![a](docs/a.gif) [b](docs/b.md#c), [d](https://e), [f](#g)'
    assert setup_functions['for_index'](text, place) == (
        f'![a]({place}/raw/main/docs/a.gif) [b]({place}/blob/main/docs/b.md#c), [d](https://e), '
        '[f](#g)')
    assert set(setup_functions['project_urls'](place)) == {
        'Source', 'Issues', 'Documentation', 'Changelog'}


def test_manifest_citation_and_setup_have_the_same_addresses(setup_functions):
    repository = setup_functions['REPOSITORY']
    manifest = ET.parse(ROOT / 'package.xml').getroot()
    addresses = {url.get('type', 'website'): url.text for url in manifest.findall('url')}
    assert addresses.get('repository', '') == repository
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text(encoding='utf-8'))
    assert citation.get('repository-code', '') == repository
    assert bool(setup_functions['project_urls']()) == bool(repository)


def test_licence_authors_and_keywords_are_complete(distribution):
    manifest = ET.parse(ROOT / 'package.xml').getroot()
    assert manifest.find('license').get('file') == 'LICENSE'
    authors = distribution.metadata.author
    assert re.search(rf'^   Copyright \d{{4}} {authors}$',
                     (ROOT / 'LICENSE').read_text(encoding='utf-8'), re.MULTILINE)
    assert authors in (ROOT / 'AUTHORS').read_text(encoding='utf-8')
    assert {'LICENSE', 'AUTHORS'} <= set(distribution.metadata.license_files)
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text(encoding='utf-8'))
    assert citation['license'] == 'Apache-2.0' and citation['abstract']
    assert set(citation['keywords']) <= set(distribution.metadata.keywords)
    assert len(distribution.metadata.keywords) >= 5


def test_every_reference_can_be_cited():
    citation = yaml.safe_load((ROOT / 'CITATION.cff').read_text(encoding='utf-8'))
    for reference in citation['references']:
        assert {'type', 'title', 'authors'} <= set(reference)


def test_the_version_can_be_written_by_catkin_prepare_release():
    # it replaces the version in exactly these forms
    version = re.findall(r"^    version='(\d+\.\d+\.\d+)',$", SETUP, re.MULTILINE)
    assert len(version) == 1
    manifest = (ROOT / 'package.xml').read_text(encoding='utf-8')
    assert manifest.count(f'<version>{version[0]}</version>') == 1


def test_each_released_section_of_the_change_log_has_version_and_date():
    text = (ROOT / 'CHANGELOG.rst').read_text(encoding='utf-8')
    titles = re.findall(r'^(.+)\n-+$', text, re.MULTILINE)
    assert titles[0] == 'Forthcoming'
    for title in titles[1:]:
        assert re.fullmatch(r'\d+\.\d+\.\d+ \(\d{4}-\d{2}-\d{2}\)', title), title


def test_a_job_of_ci_measures_the_coverage():
    workflow = yaml.safe_load((ROOT / '.github/workflows/ci.yml').read_text(encoding='utf-8'))
    steps = ' '.join(step.get('run', '') for step in workflow['jobs']['coverage']['steps'])
    assert 'run_tests.sh --coverage' in steps and 'QUALITY_DECLARATION.md' in steps
    script = (ROOT / 'scripts/run_tests.sh').read_text(encoding='utf-8')
    assert 'coverage run' in script and 'write_coverage.py' in script
