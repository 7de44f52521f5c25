// The devices of machines: those of every machine, and those that are lent.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/machine/device_mounts.h"
#include "tests/host/machine/machine_files_world.h"

namespace caip::host {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST_F(MachineFilesTest, HaveDevices) {
  auto launch = OnMachine("");
  launch.program = run::LocalCommand{
      {"python3", "-c",
       "import os\n"
       "open('/dev/null', 'w').write('x'); print(len(open('/dev/urandom', 'rb').read(8)))\n"
       "a, b = os.openpty(); os.write(a, b'hello\\n'); print(os.read(b, 6))\n"
       "open('/dev/shm/x', 'w').write('y'); print(os.path.realpath('/dev/fd') != '/dev/fd')\n"
       "print(sorted(os.listdir('/sys/class/net')))\n"}};
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("8", "b'hello\\n'", "True", "['eth0', 'lo']"));
}

TEST_F(MachineFilesTest, HaveTheDevicesThatAreLentToThem) {
  auto launch = OnMachine("ls /dev | grep nvidia; echo x > /dev/nvidia3");
  launch.device_nodes = {{"/dev/null", "/dev/nvidiactl"}, {"/dev/null", "/dev/nvidia3"}};
  EXPECT_THAT(Output(std::move(launch)), ElementsAre("nvidia3", "nvidiactl"));
  EXPECT_THAT(Output(OnMachine("ls /dev | grep nvidia", AKey(1))), IsEmpty());
}

TEST_F(MachineFilesTest, DoNotStartIfADeviceHasVanished) {
  auto launch = OnMachine("true");
  launch.device_nodes = {{"/dev/caip-no-such-device", "/dev/nvidia0"}};
  EXPECT_THAT(world_.Run(std::move(launch)).start_error, HasSubstr("/dev/nvidia0"));
}

constexpr int kNoNamespace = 77;

// Whether a machine has /dev/NAME, or something below it.
bool Shows(const engine::ReplicaLaunch& launch, const std::string& name) {
  for (const launcher::MachineMount& mount : DeviceMounts(launch)) {
    if (mount.target == "/dev/" + name || mount.target.starts_with("/dev/" + name + "/")) {
      return true;
    }
  }
  return false;
}

// A mount namespace in which files stand for the devices of a host with GPUs.
bool EnterHostWithDevices() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (::unshare(user == 0 ? CLONE_NEWNS : CLONE_NEWUSER | CLONE_NEWNS) != 0) return false;
  if (user != 0) {
    const auto write = [](const char* file, const std::string& text) {
      return WriteAll(Fd(::open(file, O_WRONLY | O_CLOEXEC)).get(), text);
    };
    const bool is_mapped = write("/proc/self/setgroups", "deny") &&
                           write("/proc/self/uid_map", "0 " + std::to_string(user) + " 1") &&
                           write("/proc/self/gid_map", "0 " + std::to_string(group) + " 1");
    if (!is_mapped) return false;
  }
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (::mount("tmpfs", "/dev", "tmpfs", 0, nullptr) != 0) return false;
  for (const char* directory : {"/dev/dri", "/dev/infiniband", "/dev/vfio"}) {
    if (::mkdir(directory, 0755) != 0) return false;
  }
  for (const char* file : {"/dev/kfd", "/dev/nvidia0", "/dev/nvidiactl", "/dev/accel0",
                           "/dev/dri/card0", "/dev/null"}) {
    if (!Fd(::open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0666)).valid()) return false;
  }
  return true;
}

// The first device that a machine has by mistake, or lacks; "" if there is none.
std::string WrongDevice() {
  engine::ReplicaLaunch launch;
  for (const char* name : {"dri", "kfd", "infiniband", "nvidia0", "nvidiactl", "accel0", "vfio"}) {
    if (Shows(launch, name)) return name;
  }
  if (!Shows(launch, "null")) return "null";
  launch.device_nodes = {{"/dev/nvidia0", "/dev/nvidia0"}, {"/dev/dri/card0", "/dev/dri/card0"}};
  for (const char* name : {"nvidia0", "dri/card0"}) {
    if (!Shows(launch, name)) return name;
  }
  return Shows(launch, "kfd") ? "kfd" : "";
}

TEST(DeviceMounts, HaveTheDevicesThatAreLentAndNoOthers) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (!EnterHostWithDevices()) ::_exit(kNoNamespace);
    const std::string wrong = WrongDevice();
    if (!wrong.empty()) ::dprintf(STDERR_FILENO, "wrong: /dev/%s\n", wrong.c_str());
    ::_exit(wrong.empty() ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoNamespace) GTEST_SKIP() << "no mount namespace can be made here";
  EXPECT_EQ(WEXITSTATUS(status), 0) << "the device is on the standard error output";
}

}  // namespace
}  // namespace caip::host
