# SPDX-License-Identifier: Apache-2.0
"""Terrains read from YAML, NumPy, PNG and TIFF files; what is wrong is named with the file."""

import numpy as np
import pytest
from PIL import Image
from PIL.TiffImagePlugin import ImageFileDirectory_v2

from c3p_description.reading.files import share_file
from c3p_rough_ground.terrain import Flat, HeightMap, Hills, Incline, Plateau, SplineGround
from c3p_rough_ground.terrain import TerrainError as Refused
from c3p_rough_ground.worlds.height_files import NO_DATA_TAG, PIXEL_SCALE_TAG, read_heights
from c3p_rough_ground.worlds.terrain_files import load_height_map, load_terrain

HEIGHTS = np.random.default_rng(3).uniform(-0.4, 0.6, (7, 9)).astype(np.float32)
# an image has +y at the top
PICTURE = np.ascontiguousarray(HEIGHTS.T[::-1])
SHIPPED = {'flat': Flat, 'plateau': Plateau, 'plateau_20deg': Plateau, 'hills': Hills,
           'gentle': Hills, 'random': SplineGround}


def grey(dtype):
    full = np.iinfo(dtype).max
    return np.round((PICTURE - PICTURE.min()) / np.ptp(PICTURE) * full).astype(dtype)


def write_tiff(path, array, **tags):
    directory = ImageFileDirectory_v2()
    for tag, kind, value in tags.values():
        directory.tagtype[tag] = kind
        directory[tag] = value
    Image.fromarray(array).save(path, tiffinfo=directory)


def yaml_file(folder, text):
    path = folder / 'ground.yaml'
    path.write_text(text, encoding='utf-8')
    return path


def test_every_shipped_terrain_is_tested_and_loads():
    names = {path.stem for path in share_file('c3p_description/terrains').glob('*.yaml')}
    assert names == set(SHIPPED)
    for name, kind in SHIPPED.items():
        assert isinstance(load_terrain(name), kind)


def test_the_papers_grounds_have_the_papers_numbers():
    assert load_terrain('plateau') == Plateau(1.0, 0.8, 3.0, 0.0)
    assert load_terrain('plateau_20deg') == Plateau(1.0, 0.8, 3.0, np.radians(20.0))
    random = load_terrain('random')
    assert random.feature_length == 1.0
    assert 0.3 < np.max(np.abs(random.heights)) <= 0.35


@pytest.mark.parametrize('suffix', ['npy', 'npz', 'tif'])
def test_arrays_and_float_images_keep_every_height(tmp_path, suffix):
    path = tmp_path / f'map.{suffix}'
    if suffix == 'npy':
        np.save(path, HEIGHTS)
    elif suffix == 'npz':
        np.savez(path, heights=HEIGHTS, spacing=0.5)
    else:
        write_tiff(path, PICTURE, scale=(PIXEL_SCALE_TAG, 12, (0.5, 0.25, 0.0)))
    heights, spacing = read_heights(path)
    np.testing.assert_array_equal(heights, HEIGHTS)
    assert spacing == {'npy': None, 'npz': (0.5, 0.5), 'tif': (0.5, 0.25)}[suffix]


@pytest.mark.parametrize('dtype', [np.uint8, np.uint16])
def test_a_png_goes_from_black_to_white(tmp_path, dtype):
    path = tmp_path / 'map.png'
    Image.fromarray(grey(dtype)).save(path)
    low, high = float(HEIGHTS.min()), float(HEIGHTS.max())
    ground = load_height_map(path, 0.5, (1.0, 2.0), (low, high))
    # half a level of grey
    np.testing.assert_allclose(ground.heights, HEIGHTS, atol=0.51 / np.iinfo(dtype).max)
    assert float(ground.height(1.0, 2.0)) == pytest.approx(float(HEIGHTS[0, 0]), abs=3e-3)


def test_a_hole_of_a_tiff_is_named_by_its_cell(tmp_path):
    path, picture = tmp_path / 'map.tif', PICTURE.copy()
    # row 2 from the top is y index 6, column 4 is x index 4
    picture[2, 4] = -9999.0
    write_tiff(path, picture, scale=(PIXEL_SCALE_TAG, 12, (1.0, 1.0, 0.0)),
               hole=(NO_DATA_TAG, 2, '-9999'))
    with pytest.raises(Refused) as raised:
        load_height_map(path)
    for words in (str(path), 'heights[4, 6] = nan', 'x = 4, y = 6', 'fill the holes'):
        assert words in str(raised.value)


def test_a_tiff_of_whole_metres_may_have_holes_below_zero(tmp_path):
    path = tmp_path / 'map.tif'
    write_tiff(path, grey(np.uint16), hole=(NO_DATA_TAG, 2, '-9999'))
    assert np.isfinite(read_heights(path).heights).all()
    write_tiff(path, grey(np.uint16), hole=(NO_DATA_TAG, 2, '65535'))
    # white is the highest point
    assert np.isnan(read_heights(path).heights[np.unravel_index(HEIGHTS.argmax(), (7, 9))])


def test_a_png_of_bits_is_black_and_white(tmp_path):
    Image.fromarray(PICTURE > 0).save(tmp_path / 'map.png')
    np.testing.assert_array_equal(read_heights(tmp_path / 'map.png').heights, HEIGHTS > 0)


@pytest.mark.parametrize(('text', 'expected'), [
    ('kind: flat\n', Flat(0.0)),
    ('kind: flat\nheight: 0.4\n', Flat(0.4)),
    ('kind: incline\nslope: 0.2\ndirection: !degrees 90\n', Incline(0.2, np.pi / 2)),
    ('kind: plateau\nheight: 2.0\nwidth: 0.5\n', Plateau(2.0, 0.5)),
])
def test_a_description_becomes_its_terrain(tmp_path, text, expected):
    assert load_terrain(yaml_file(tmp_path, text)) == expected


def test_hills_and_nets_can_be_given_number_by_number(tmp_path):
    hills = load_terrain(yaml_file(tmp_path, 'kind: hills\nmean: 1.0\n'
                                             'waves: [[0.1, 2.0, 0.0, 0.0]]\n'))
    assert float(hills.height(0.0, 3.0)) == pytest.approx(1.1)
    rows = '\n'.join(f'  - {row}' for row in np.ones((6, 7)).tolist())
    net = load_terrain(yaml_file(tmp_path, f'kind: spline\ndegree: 5\nspacing: [0.5, 0.4]\n'
                                           f'continuation: hold\nheights:\n{rows}\n'))
    assert isinstance(net, SplineGround) and net.feature_length == 0.4
    assert float(net.height(0.3, 70.0)) == pytest.approx(1.0)


def test_a_height_map_lies_beside_its_description(tmp_path):
    np.save(tmp_path / 'map.npy', HEIGHTS)
    ground = load_terrain(yaml_file(tmp_path, 'kind: height_map\nfile: map.npy\nspacing: 0.5\n'
                                              'origin: [-1, 2]\ndegree: 5\n'))
    assert isinstance(ground, HeightMap)
    assert float(ground.height(0.5, 4.0)) == pytest.approx(float(HEIGHTS[3, 4]))


@pytest.mark.parametrize(('text', 'words'), [
    ('kind: mountain\n', ["kind = 'mountain'", 'height_map']),
    ('- 1\n', ['kind = [1]']),
    ('kind: [flat]\n', ["kind = ['flat']"]),
    ('kind: plateau\nwidht: 0.8\n', ['widht', 'did you mean width?']),
    ('kind: plateau\nwidth: 0.0\n', ['width = 0.0', 'greater than zero']),
    ('kind: plateau\nwidth: wide\n', ["width = 'wide'"]),
    ('kind: hills\nseed: 1\nwaves: [[1, 1, 1, 1]]\n', ['unknown field waves']),
    ('kind: hills\nwaves: [[1, 1, 1]]\n', ['shape (1, 3)']),
    ('kind: spline\ndegree: 3\n', ['seed']),
    ('kind: height_map\nspacing: 0.5\n', ["'file'"]),
    ('kind: height_map\nfile: none.npy\nspacing: 0.5\n', ['none.npy', 'cannot be read']),
    ('kind: flat\n  height: [\n', ['cannot be read as YAML']),
])
def test_a_wrong_description_is_refused_with_file_and_field(tmp_path, text, words):
    path = yaml_file(tmp_path, text)
    with pytest.raises(Refused) as raised:
        load_terrain(path)
    for word in (str(tmp_path), *words):
        assert word in str(raised.value)


def test_a_name_that_is_not_there_lists_the_names_there_are(tmp_path):
    with pytest.raises(Refused, match='flat, gentle, hills, plateau, plateau_20deg, random'):
        load_terrain('moon')
    with pytest.raises(Refused, match='no such file'):
        load_terrain(tmp_path / 'moon.yaml')


@pytest.mark.parametrize(('name', 'options', 'words'), [
    ('map.npy', {}, 'set spacing in m'),
    ('map.npy', {'spacing': 0.5, 'height_range': (0, 1)}, 'leave out height_range'),
    ('map.npy', {'spacing': -0.5}, 'map.npy: HeightMap: spacing_x = -0.5'),
    ('map.png', {'spacing': 0.5}, 'set height_range'),
    ('colour.png', {'spacing': 0.5, 'height_range': (0, 1)}, 'convert the image to greyscale'),
    ('other.npz', {}, 'has depths; it needs an array named heights'),
    ('text.npy', {'spacing': 1.0}, 'cannot be read as a grid of heights'),
    ('text.png', {'spacing': 1.0}, 'cannot be read as a grid of heights'),
    ('map.xyz', {'spacing': 1.0}, 'heights are read from .npy, .npz, .png, .tif, .tiff files'),
])
def test_a_wrong_file_is_refused_by_name(tmp_path, name, options, words):
    np.save(tmp_path / 'map.npy', HEIGHTS)
    np.savez(tmp_path / 'other.npz', depths=HEIGHTS)
    Image.fromarray(grey(np.uint16)).save(tmp_path / 'map.png')
    Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(tmp_path / 'colour.png')
    for text in ('text.npy', 'text.png'):
        (tmp_path / text).write_text('no heights', encoding='utf-8')
    with pytest.raises(Refused) as raised:
        load_height_map(tmp_path / name, **options)
    assert words in str(raised.value) and name in str(raised.value)
