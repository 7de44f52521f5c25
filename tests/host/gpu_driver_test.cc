#include "host/devices/gpu_driver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "host/devices/fake_devices.h"

namespace caip::host {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

/// A host with libcuda.so.1 -> libcuda.so.535, libc.so.6 and nvidia-smi.
class Driver : public ::testing::Test {
 protected:
  Driver() {
    Write("lib/libcuda.so.535", "driver\n");
    std::filesystem::create_symlink("libcuda.so.535", root_.path() / "lib/libcuda.so.1");
    std::filesystem::create_symlink("libcuda.so.1", root_.path() / "lib/libcuda.so");
    Write("lib/libc.so.6", "not of the driver\n");
    Write("bin/nvidia-smi", "#!/bin/sh\n");
    places_.descriptions = {root_.path() / "etc", root_.path() / "run"};
    places_.libraries = {root_.path() / "missing", root_.path() / "lib"};
    places_.programs = {root_.path() / "bin"};
  }
  void Write(const std::string& path, const std::string& text) {
    ASSERT_TRUE(MakeDirectories((root_.path() / path).parent_path()).ok());
    ASSERT_TRUE(WriteFile(root_.path() / path, text).ok());
  }
  std::string On(const std::string& path) const { return (root_.path() / path).string(); }
  engine::DeviceNode File(const std::string& path, const std::string& shown) const {
    return {On(path), shown, true};
  }

  TemporaryDirectory root_{"caip-driver-"};
  DriverPlaces places_;
};

TEST_F(Driver, IsLookedForWhereNothingDescribesIt) {
  const GpuDriver driver = ReadGpuDriver(places_);
  const std::string shown = "/usr/local/nvidia/lib64/";
  EXPECT_THAT(driver.files,
              UnorderedElementsAre(File("lib/libcuda.so.535", shown + "libcuda.so.535"),
                                   File("lib/libcuda.so.535", shown + "libcuda.so.1"),
                                   File("lib/libcuda.so.535", shown + "libcuda.so"),
                                   File("bin/nvidia-smi", "/usr/local/nvidia/bin/nvidia-smi")));
  EXPECT_THAT(driver.library_directories, ElementsAre("/usr/local/nvidia/lib64"));
  EXPECT_THAT(driver.program_directories, ElementsAre("/usr/local/nvidia/bin"));
}

// As where a driver is mounted at /usr/local/nvidia, and a script in /usr/bin sets variables for
// it.
TEST_F(Driver, HasItsOwnProgramsWhereOthersCallThem) {
  Write("own/nvidia-smi", "the program\n");
  places_.programs = {root_.path() / "own", root_.path() / "bin"};
  EXPECT_THAT(ReadGpuDriver(places_).files,
              Contains(File("own/nvidia-smi", "/usr/local/nvidia/bin/nvidia-smi")));
  EXPECT_EQ(DriverPlaces().programs.back(), "/usr/bin");
}

TEST_F(Driver, IsNotThereWithoutItsLibrary) {
  std::filesystem::remove(root_.path() / "lib/libcuda.so.1");
  const GpuDriver driver = ReadGpuDriver(places_);
  EXPECT_THAT(driver.files, IsEmpty());
  EXPECT_THAT(driver.library_directories, IsEmpty());
}

TEST_F(Driver, IsTakenAsItsDescriptionSays) {
  Write("etc/nvidia.yaml",
        "cdiVersion: 0.5.0\nkind: nvidia.com/gpu\n"
        "devices:\n"
        "- name: 0\n  containerEdits: {deviceNodes: [{path: /dev/nvidia0}]}\n"
        "- name: MIG-a\n"
        "  containerEdits:\n"
        "    deviceNodes:\n"
        "    - path: /dev/nvidia0\n"
        "    - {path: /dev/nvidia-caps/nvidia-cap12, hostPath: /dev/cap12}\n"
        "containerEdits:\n"
        "  env: [NVIDIA_VISIBLE_DEVICES=void, NVIDIA_CTK=1]\n"
        "  mounts:\n"
        "  - {hostPath: " +
            On("lib/libcuda.so.535") +
            ", containerPath: /usr/lib/libcuda.so.535, options: [ro, bind]}\n"
            "  - {hostPath: " +
            On("lib/gone.so") +
            ", containerPath: /usr/lib/gone.so}\n"
            "  - {hostPath: " +
            On("bin/nvidia-smi") + ", containerPath: /usr/bin/nvidia-smi}\n");
  const GpuDriver driver = ReadGpuDriver(places_);
  EXPECT_THAT(driver.files,
              UnorderedElementsAre(File("lib/libcuda.so.535", "/usr/lib/libcuda.so.535"),
                                   File("lib/libcuda.so.535", "/usr/lib/libcuda.so.1"),
                                   File("lib/libcuda.so.535", "/usr/lib/libcuda.so"),
                                   File("bin/nvidia-smi", "/usr/bin/nvidia-smi")));
  EXPECT_THAT(driver.environment, ElementsAre(Pair("NVIDIA_CTK", "1")));
  EXPECT_THAT(driver.library_directories, ElementsAre("/usr/lib"));
  const std::vector<engine::DeviceNode> of_instance = {
      {"/dev/nvidia0", "/dev/nvidia0"}, {"/dev/cap12", "/dev/nvidia-caps/nvidia-cap12"}};
  EXPECT_THAT(driver.nodes, ElementsAre(Pair("MIG-a", of_instance)));
}

TEST_F(Driver, OfALaterDirectoryCountsAndOtherDescriptionsDoNot) {
  const auto describe = [&](const std::string& kind, const std::string& shown) {
    return R"({"kind": ")" + kind + R"(", "containerEdits": {"mounts": [{"hostPath": ")" +
           On("bin/nvidia-smi") + R"(", "containerPath": ")" + shown + "\"}]}}";
  };
  Write("etc/nvidia.json", describe("nvidia.com/gpu", "/early"));
  Write("run/nvidia.json", describe("nvidia.com/gpu", "/late"));
  Write("run/other.json", describe("vendor.com/net", "/other"));
  Write("run/broken.yaml", "kind: [nvidia.com/gpu\n");
  EXPECT_THAT(ReadGpuDriver(places_).files, ElementsAre(File("bin/nvidia-smi", "/late")));
}

TEST_F(Driver, ComesAfterTheDirectoriesAndVariablesOfTheImage) {
  GpuDriver driver;
  driver.files = {File("bin/nvidia-smi", "/usr/bin/nvidia-smi")};
  driver.library_directories = {"/usr/lib", "/opt/lib"};
  driver.program_directories = {"/usr/local/nvidia/bin"};
  driver.environment = {{"SET", "by the driver"}, {"NEW", "1"}};
  engine::ReplicaLaunch launch;
  launch.environment = {{"PATH", "/bin"}, {"SET", "by the image"}, {"LD_LIBRARY_PATH", "/opt/lib"}};
  AddDriver(driver, launch);
  EXPECT_THAT(launch.environment,
              ElementsAre(Pair("PATH", "/bin:/usr/local/nvidia/bin"), Pair("SET", "by the image"),
                          Pair("LD_LIBRARY_PATH", "/opt/lib:/usr/lib"), Pair("NEW", "1")));
  EXPECT_EQ(launch.device_nodes, driver.files);
}

TEST_F(Driver, ThatIsMissingIsAWarningForRealGpus) {
  engine::ReplicaLaunch launch;
  launch.task = "worker-replica-1";
  launch.device_nodes = {{"/dev/nvidia0", "/dev/nvidia0"}};
  EXPECT_EQ(HostGpuDriver(DriverPlaces{{}, {}, {}}).GiveTo(launch), "") << "it has no image";
  launch.image = std::make_shared<const engine::PreparedImage>();
  EXPECT_THAT(HostGpuDriver(DriverPlaces{{}, {}, {}}).GiveTo(launch),
              StartsWith("The container of worker-replica-1 gets the device files of its GPUs "
                         "without their driver: "));
  EXPECT_EQ(HostGpuDriver(places_).GiveTo(launch), "");
  EXPECT_THAT(launch.device_nodes,
              Contains(File("bin/nvidia-smi", "/usr/local/nvidia/bin/nvidia-smi")));
  launch.device_nodes = {{"/dev/null", "/dev/nvidia0"}};
  EXPECT_EQ(HostGpuDriver(DriverPlaces{{}, {}, {}}).GiveTo(launch), "") << "a fake GPU";
}

// It could not use them, and its nvidia-smi would list those of the host.
TEST_F(Driver, IsNotThereForFakeGpus) {
  FakeDevices fakes = *MakeFakeDevices("1xNVIDIA_TESLA_T4", "");
  const GpuTools tools{root_.path() / "program", root_.path() / "library"};
  ASSERT_TRUE(GiveGpuTools(tools, root_.path() / "fakes", fakes).ok());
  engine::ReplicaLaunch launch;
  launch.image = std::make_shared<const engine::PreparedImage>();
  launch.device_nodes = fakes.gpu_control_nodes;
  launch.device_nodes.insert(launch.device_nodes.end(), fakes.gpus[0].nodes.begin(),
                             fakes.gpus[0].nodes.end());
  const auto lent = launch.device_nodes;
  launch.environment = {{"PATH", "/bin"}, {"OTHER", "/bin"}};
  EXPECT_EQ(HostGpuDriver(places_).GiveTo(launch), "");
  EXPECT_EQ(launch.device_nodes, lent);
  EXPECT_THAT(launch.environment,
              ElementsAre(Pair("PATH", "/dev/caip-gpus:/bin"), Pair("OTHER", "/bin"),
                          Pair("LD_LIBRARY_PATH", "/dev/caip-gpus")));
  launch.environment = {{"LD_LIBRARY_PATH", "/usr/local/nvidia/lib64"}};
  EXPECT_EQ(HostGpuDriver(places_).GiveTo(launch), "");
  EXPECT_THAT(launch.environment,
              ElementsAre(Pair("LD_LIBRARY_PATH", "/dev/caip-gpus:/usr/local/nvidia/lib64")))
      << "a library of the image does not come first";
  launch.image = nullptr;
  launch.environment = {{"PATH", "/bin"}};
  EXPECT_EQ(HostGpuDriver(places_).GiveTo(launch), "");
  EXPECT_THAT(launch.environment, ElementsAre(Pair("PATH", "/bin"))) << "with --isolation process";
}

}  // namespace
}  // namespace caip::host
