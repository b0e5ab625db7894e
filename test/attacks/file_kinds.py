# SPDX-License-Identifier: Apache-2.0
"""The kinds of files that the suite opens: sound ones, what opens them, and how it may refuse."""

import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import yaml

from c3p_bags.player.rosbag2 import overrides
from c3p_bags.recorder.transforms import FrameTree
from c3p_description.model import ModelError
from c3p_description.reading.files import share_file
from c3p_description.reading.loader import load, robot_description
from c3p_experiments.campaigns.result_files import StoreError
from c3p_experiments.campaigns.result_files import read as read_results
from c3p_experiments.tuning.files import read_parameters
from c3p_hardware.settings import CardError
from c3p_hardware.tools.parameter_file import hardware_values, merged
from c3p_multibody.trees import TreeError
from c3p_multibody.trees.reading.urdf import tree_from_urdf
from c3p_rough_ground.terrain import TerrainError
from c3p_rough_ground.worlds.terrain_files import load_height_map, load_terrain


@dataclass(frozen=True)
class Kind:
    """
    A kind of file.

    Attributes
    ----------
    name : str
    suffix : str
    seeds : list of bytes
    opens : list of callable
        Each takes the path of a file; all are tried.
    refusals : tuple of classes
        Exceptions of the suite by which it may be refused.
    text : bool
    weight : float
        Variants, beside those of the others.
    """

    name: str
    suffix: str
    seeds: list
    opens: list
    refusals: tuple
    text: bool = True
    weight: float = 1.0


def _robots():
    folder = share_file('c3p_description/robots')
    extended = (b'extends: c3p\nname: ours\ncasters: {hip_radius: 0.3, hip_angles: [!degrees 30, '
                b'!degrees 150, !degrees 270], driven: [true, true, false], torque_limit: .inf}\n'
                b'platform: {mass: 20.0, com: [0.01, 0.0]}\nwheel:\n  mass: [1.0, 1.0, 1.2]\n')
    return [p.read_bytes() for p in sorted(folder.glob('*.yaml'))] + 3 * [extended]


def _terrains():
    made = [
        b'kind: hills\nseed: 3\namplitude: 0.2\nwavelength: 3.0\ncount: 5\n',
        b'kind: hills\nwaves: [[0.1, 1.0, 0.5, 0.0], [0.05, 2.0, -1.0, 1.0]]\nmean: 0.1\n',
        b'kind: spline\nseed: 1\nshape: [8, 9]\nspacing: 0.5\ndegree: 3\n',
        b'kind: spline\nheights:\n' + b'  - [0.0, 0.1, 0.2, 0.1, 0.0, 0.3]\n' * 6
        + b'spacing: [0.5, 0.6]\norigin: [0.0, 1.0]\ncontinuation: hold\n',
        b'kind: height_map\nfile: heights.npy\nspacing: 0.5\nmargin: 4\n',
        b'kind: plateau\nheight: 1.0\nwidth: 0.8\nstart: 3.0\ndirection: !degrees 20\n']
    folder = share_file('c3p_description/terrains')
    return [p.read_bytes() for p in sorted(folder.glob('*.yaml'))] + made


def _grid():
    return np.add.outer(np.linspace(0, 1, 12), np.linspace(0, 0.5, 9)) ** 2


def _saved(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def _archives():
    files = []
    for save in (np.savez, np.savez_compressed):
        files.append(io.BytesIO())
        save(files[-1], heights=_grid(), spacing=np.array([0.5, 0.4]))
    return [file.getvalue() for file in files]


def _pictures(kind, modes):
    from PIL import Image

    files = []
    for mode in modes:
        scaled = _grid() * {'L': 100, 'I;16': 30000, 'F': 1.0, 'RGB': 100, 'P': 100}[mode]
        number = {'L': np.uint8, 'I;16': np.uint16, 'F': np.float32}.get(mode, np.uint8)
        image = Image.fromarray(scaled.astype(number)).convert(mode)
        files.append(io.BytesIO())
        image.save(files[-1], kind)
    return [file.getvalue() for file in files]


def _ground(path):
    ground = load_terrain(path)
    ground.height(1.0, 2.0)
    assert ground.parameters is not None and ground.table is not None


def _heights(path):
    range_ = (0.0, 1.0) if path.suffix == '.png' else None
    load_height_map(path, 0.5, height_range=range_).height(1.0, 1.0)


def _description(path):
    text = robot_description(path)
    from c3p_viewers.mujoco.urdf import mujoco_urdf
    from c3p_viewers.sources.visuals import visuals

    for use in (lambda: load(path), lambda: FrameTree(text).fixed(),
                lambda: [FrameTree(text).from_root(joint.child)
                         for joint in FrameTree(text).joints],
                lambda: tree_from_urdf(text), lambda: visuals(text, path),
                lambda: mujoco_urdf(text, path)):
        try:
            use()
        except (ModelError, TreeError) as error:
            yield error


def _urdf(path):
    # every reader has its try; the last refusal stands for all
    refused = list(_description(path))
    if refused:
        raise refused[-1]


def _shown(path):
    from c3p_viewers.sources.visuals import visuals

    (path.parent / 'robot.urdf').write_text('<robot name="r"/>')
    visuals(f'<robot name="r"><link name="a"><visual><geometry><mesh filename="{path.name}"/>'
            '</geometry></visual></link></robot>', path.parent / 'robot.urdf')


def _hardware(path):
    hardware_values([path])


def _merged(path):
    try:
        text = path.read_text(encoding='utf-8')
    except UnicodeDecodeError:
        return
    merged(text, {'encoders.zeros': [1, 2, 3]})


def _tuned(path):
    read_parameters([path])


def _topics(path):
    from c3p_bags.storage.topics import read_topics_file

    read_topics_file(path)


def _qos(path):
    overrides(path, ['odom', 'cmd_vel'], 'robot_1')


def _results(path):
    read_results(path)


def _result_file():
    head = {'goal': [4.0, 0.0, 0.0], 'options': {'plant': 'analytic'}}
    return (f'# {json.dumps(head)}\ncase,seed,reached,time\n0,1,true,3.5\n1,2,false,\n').encode()


PARAMETERS = [
    (b'hardware_interface:\n  ros__parameters:\n    rate: 400.0\n    bus: {channel: can0}\n'
     b'    motors: {node_ids: [1, 2, 3]}\n    encoders.zeros: [1, 2, 3]\n'),
    (b'/**:\n  ros__parameters:\n    robot: c3p\n/robot_1/velocity_controller:\n'
     b'  ros__parameters:\n    controller: mpc\n    mpc: {latency: 0.004}\n'),
    b'/**/position_controller:\n  ros__parameters:\n    path: {speed: 0.5}\n']


def _meshes(suffix):
    folder = share_file('c3p_description/meshes')
    if suffix == '.stl':
        small = min(folder.glob('*.stl'), key=lambda p: p.stat().st_size)
        ascii_one = (b'solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\n'
                     b'vertex 0 1 0\nendloop\nendfacet\nendsolid a\n')
        return [small.read_bytes(), ascii_one]
    import trimesh

    box = trimesh.creation.box((1.0, 2.0, 3.0))
    if suffix == '.obj':
        return [trimesh.exchange.obj.export_obj(box).encode(),
                b'mtllib ../c3p_canary.mtl\nusemtl a\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n']
    return [(b'<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" '
             b'version="1.4.1"><asset><unit meter="1"/></asset><library_geometries><geometry '
             b'id="g"><mesh><source id="p"><float_array id="a" count="9">0 0 0 1 0 0 0 1 0'
             b'</float_array><technique_common><accessor source="#a" count="3" stride="3"><param '
             b'name="X" type="float"/><param name="Y" type="float"/><param name="Z" type="float"/>'
             b'</accessor></technique_common></source><vertices id="v"><input semantic="POSITION" '
             b'source="#p"/></vertices><triangles count="1"><input semantic="VERTEX" source="#v" '
             b'offset="0"/><p>0 1 2</p></triangles></mesh></geometry></library_geometries>'
             b'<library_visual_scenes><visual_scene id="s"><node id="n"><instance_geometry '
             b'url="#g"/></node></visual_scene></library_visual_scenes><scene>'
             b'<instance_visual_scene url="#s"/></scene></COLLADA>')]


def plain_kinds():
    """Return the kinds of files that are single and need no bag."""
    urdf = [robot_description('c3p').encode(), robot_description('agv').encode(),
            (b'<robot name="a"><link name="base_link"><visual><geometry><mesh filename="package://'
             b'c3p/c3p_description/meshes/arrow.stl"/></geometry></visual></link></robot>')]
    settings = (CardError,)
    return [
        Kind('robot', '.yaml', _robots(), [load], (ModelError,), weight=2.0),
        Kind('urdf', '.urdf', urdf, [_urdf], (ModelError, TreeError)),
        Kind('terrain', '.yaml', _terrains(), [_ground], (TerrainError,), weight=2.0),
        Kind('npy', '.npy', [_saved(_grid()), _saved(_grid().astype(np.float32)),
                             _saved(_grid().astype(complex)), _saved(np.asfortranarray(_grid()))],
             [_heights], (TerrainError,), text=False),
        Kind('npz', '.npz', _archives(), [_heights], (TerrainError,), text=False),
        Kind('png', '.png', _pictures('PNG', ('L', 'I;16', 'RGB', 'P')), [_heights],
             (TerrainError,), text=False),
        Kind('tiff', '.tif', _pictures('TIFF', ('L', 'I;16', 'F', 'RGB')), [_heights],
             (TerrainError,), text=False),
        *(Kind(suffix[1:], suffix, _meshes(suffix), [_shown], (ModelError,),
               text=suffix != '.stl') for suffix in ('.stl', '.obj', '.dae')),
        Kind('parameters', '.yaml', PARAMETERS, [_hardware, _merged], settings),
        # its own class is ValueError itself
        Kind('tuning', '.yaml', PARAMETERS, [_tuned], (ValueError,)),
        Kind('qos', '.yaml', [yaml.safe_dump({
            '/odom': {'history': 'keep_last', 'depth': 10}, '/tf': {'durability': 'volatile'}
        }).encode()], [_qos], (ValueError,)),
        Kind('results', '.csv', [_result_file()], [_results], (StoreError,)),
    ]


def topics_kind():
    """Return the topics file of the recorder, which needs ROS 2."""
    from c3p_ros.parameters import ParameterError

    return Kind('topics', '.yaml', [b'topics:\n  odom: nav_msgs/msg/Odometry\n  /tf: tf2_msgs/msg/'
                                    b'TFMessage\nlatched: [/tf_static]\n'], [_topics],
                (ParameterError,))


def put(kind, folder, data):
    """Write a variant and what it may name; return its path."""
    path = Path(folder) / f'variant{kind.suffix}'
    path.write_bytes(data)
    if kind.name == 'terrain' and not (path.parent / 'heights.npy').exists():
        np.save(path.parent / 'heights.npy', _grid())
    return path
