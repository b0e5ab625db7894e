// SPDX-License-Identifier: Apache-2.0
//
// A world and a robot in the physics of Gazebo, without Gazebo: sdformat 12 reads both, gz-physics 5
// (ignition-physics of Debian and Ubuntu) builds them in DART, the default engine of Gazebo, and
// steps them by the standard input.
//
// world_stepper ENGINE WORLD.sdf ROBOT.urdf [IMAGE SX SY SZ X Y Z]
//
// IMAGE: 8-bit heights for a heightmap of size SX SY SZ at X Y Z in the first model of the world.
// gz-sim makes them from the SDF, and this version of the image reader scales 16 bits otherwise.
//
// Input, one line each: "place X Y Z YAW", "joint NAME ANGLE", "force NAME TORQUE" (held until it
// is replaced), "step N" (of 1 ms). Each "step" answers with a line: "state", x y z qw qx qy qz of the
// first link and its velocity vx vy vz wx wy wz in world coordinates, then angle and rate of each
// joint in the order of the line "joints NAME ...". Other lines are messages of the libraries.

#include <cmath>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <ignition/common/ImageHeightmap.hh>
#include <ignition/physics/ForwardStep.hh>
#include <ignition/physics/FrameSemantics.hh>
#include <ignition/physics/FreeGroup.hh>
#include <ignition/physics/GetEntities.hh>
#include <ignition/physics/Joint.hh>
#include <ignition/physics/RequestEngine.hh>
#include <ignition/physics/heightmap/HeightmapShape.hh>
#include <ignition/physics/sdf/ConstructModel.hh>
#include <ignition/physics/sdf/ConstructWorld.hh>
#include <ignition/plugin/Loader.hh>
#include <sdf/sdf.hh>

namespace physics = ignition::physics;

struct Features : physics::FeatureList<
    physics::sdf::ConstructSdfWorld, physics::sdf::ConstructSdfModel,
    physics::heightmap::AttachHeightmapShapeFeature, physics::ForwardStep,
    physics::GetEntities, physics::GetBasicJointProperties, physics::GetBasicJointState,
    physics::SetBasicJointState, physics::LinkFrameSemantics, physics::FindFreeGroupFeature,
    physics::SetFreeGroupWorldPose> {};

static sdf::Root read(const char *file) {
  sdf::Root root;
  const auto errors = root.Load(file);
  if (!errors.empty()) throw std::runtime_error(std::string(file) + ": " + errors[0].Message());
  return root;
}

int main(int argc, char **argv) try {
  if (argc != 4 && argc != 11) throw std::runtime_error("see the head of world_stepper.cc");
  ignition::plugin::Loader loader;
  loader.LoadLib(argv[1]);
  auto plugin = loader.Instantiate("ignition::physics::dartsim::Plugin");
  auto engine = physics::RequestEngine3d<Features>::From(plugin);
  if (!engine) throw std::runtime_error(std::string(argv[1]) + ": not the engine DART");

  const auto worldFile = read(argv[2]), robotFile = read(argv[3]);
  auto world = engine->ConstructWorld(*worldFile.WorldByIndex(0));
  if (argc == 11) {
    const auto number = [&](int i) { return std::stod(argv[i]); };
    ignition::common::ImageHeightmap heights;
    if (heights.Load(argv[4]) != 0) throw std::runtime_error(std::string(argv[4]) + ": no image");
    Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
    pose.translation() = Eigen::Vector3d(number(8), number(9), number(10));
    world->GetModel(0)->GetLink(0)->AttachHeightmapShape(
        "ground", heights, pose, Eigen::Vector3d(number(5), number(6), number(7)));
  }
  auto model = world->ConstructModel(*robotFile.Model());
  const auto base = model->GetLink(0);

  using Joint = decltype(model->GetJoint(0));
  std::vector<Joint> joints;
  std::string names;
  std::map<std::string, std::size_t> byName;
  std::map<std::size_t, double> forces;
  for (std::size_t i = 0; i < model->GetJointCount(); ++i) {
    auto joint = model->GetJoint(i);
    if (joint->GetDegreesOfFreedom() != 1) continue;
    byName[joint->GetName()] = joints.size();
    names += " " + joint->GetName();
    joints.push_back(joint);
  }
  std::cout << "joints" << names << std::endl;

  std::string line;
  while (std::getline(std::cin, line)) {
    std::istringstream in(line);
    std::string word, name;
    in >> word;
    if (word == "place") {
      double x, y, z, yaw;
      in >> x >> y >> z >> yaw;
      Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
      pose.translation() = Eigen::Vector3d(x, y, z);
      pose.rotate(Eigen::AngleAxisd(yaw, Eigen::Vector3d::UnitZ()));
      model->FindFreeGroup()->SetWorldPose(pose);
    } else if (word == "joint" || word == "force") {
      double value;
      in >> name >> value;
      if (!in || !byName.count(name)) throw std::runtime_error(line + ": no such joint");
      if (word == "joint") joints[byName[name]]->SetPosition(0, value);
      else forces[byName[name]] = value;
    } else if (word == "step") {
      int count = 0;
      in >> count;
      physics::ForwardStep::Input input;
      physics::ForwardStep::Output output;
      physics::ForwardStep::State state;
      input.Get<std::chrono::steady_clock::duration>() = std::chrono::milliseconds(1);
      for (int i = 0; i < count; ++i) {
        for (const auto &[index, force] : forces) joints[index]->SetForce(0, force);
        world->Step(output, state, input);
      }
      const auto frame = base->FrameDataRelativeToWorld();
      const auto place = frame.pose.translation();
      const Eigen::Quaterniond turn(frame.pose.linear());
      std::printf("state %.17g %.17g %.17g %.17g %.17g %.17g %.17g", place.x(), place.y(), place.z(),
                  turn.w(), turn.x(), turn.y(), turn.z());
      for (int i = 0; i < 3; ++i) std::printf(" %.17g", frame.linearVelocity[i]);
      for (int i = 0; i < 3; ++i) std::printf(" %.17g", frame.angularVelocity[i]);
      for (const auto &joint : joints)
        std::printf(" %.17g %.17g", joint->GetPosition(0), joint->GetVelocity(0));
      std::printf("\n");
      std::fflush(stdout);
    } else {
      throw std::runtime_error(line + ": place, joint, force or step");
    }
  }
  return 0;
} catch (const std::exception &error) {
  std::cerr << error.what() << std::endl;
  return 1;
}
