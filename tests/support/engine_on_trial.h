#pragma once
// The engines that run containers, as tests use them: each with a store of its own, which is
// removed afterwards.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "base/text.h"
#include "host/machine/machines.h"
#include "host/machine/other_users.h"
#include "host/process/child_process.h"
#include "places.h"
#include "tests/support/caip_command.h"

namespace caip::testing {

/// The number of a user other than root, and of its group.
inline constexpr uint32_t kUserOfImage = 1000;

using Settings = std::vector<std::pair<std::string, std::string>>;

/// An engine with a store of its own, which is removed afterwards.
class EngineOnTrial {
 public:
  virtual ~EngineOnTrial() = default;
  /// Why the engine does not work here; "" if it does.
  virtual std::string Start(const Path& root_files) = 0;
  /// The environment for its program.
  virtual Settings Environment() const { return {}; }
  /// The ids of all its containers, one a line.
  virtual std::string Containers() const { return ""; }
  /// Whether kUserOfImage is another user than root in an image here.
  virtual bool HasOtherUsers() const { return true; }

 protected:
  host::ToolOutput Ask(std::vector<std::string> argv) const {
    host::Variables environment = host::OwnEnvironment();
    for (const auto& [name, value] : Environment()) {
      std::erase_if(environment, [&](const auto& one) { return one.first == name; });
      environment.emplace_back(name, value);
    }
    auto asked = host::CaptureTool(
        {.argv = std::move(argv), .environment = environment, .timeout = std::chrono::seconds(60)});
    if (asked.ok()) return *std::move(asked);
    return {.result = {.exit_code = 127}, .out = "", .err = asked.error().message};
  }
  const Path& directory() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_{"caip-engine-"};
};

class BundledOnTrial final : public EngineOnTrial {
 public:
  std::string Start(const Path&) override {
    const TemporaryDirectory trial("caip-trial-");
    const auto why_not = host::TryMachine(Path(CAIP_BINARY_DIR) / "caip-launcher", trial.path());
    return why_not ? "replicas cannot have machines here: " + *why_not : "";
  }
  bool HasOtherUsers() const override { return host::MayBecome(kUserOfImage, kUserOfImage); }
};

class PodmanOnTrial final : public EngineOnTrial {
 public:
  // The first runtime that runs a program: hosts differ in the control groups that each can use.
  std::string Start(const Path& root_files) override {
    std::string last = "it is not installed";
    for (const char* runtime : {"", "crun", "runc"}) {
      const std::string line =
          *runtime ? "runtime = \"" + std::string(runtime) + "\"\n" : std::string();
      Write("containers.conf", "[engine]\nevents_logger = \"file\"\n" + line +
                                   "[containers]\ndefault_ulimits = [\"nofile=1024:1024\", "
                                   "\"nproc=512:512\"]\n");
      Write("storage.conf", "[storage]\ndriver = \"vfs\"\ngraphroot = \"" +
                                (directory() / "images").string() + "\"\nrunroot = \"" +
                                (directory() / "run").string() + "\"\n");
      const host::ToolOutput run = Ask({"podman", "run", "--rm", "--network=host", "--rootfs",
                                        root_files.string(), "/bin/echo", "works"});
      if (run.result.ok() && HasLine(run.out, "works")) return "";
      last = std::string(Trim(run.err));
    }
    return "podman cannot run a container here: " + last;
  }
  Settings Environment() const override {
    return {{"CONTAINERS_CONF", (directory() / "containers.conf").string()},
            {"CONTAINERS_STORAGE_CONF", (directory() / "storage.conf").string()}};
  }
  std::string Containers() const override { return Ask({"podman", "ps", "-a", "-q"}).out; }
  // Those that /etc/subuid gives to the user are in the map, a further line of it.
  bool HasOtherUsers() const override {
    if (::geteuid() == 0) return true;
    const std::string map = Ask({"podman", "unshare", "cat", "/proc/self/uid_map"}).out;
    return std::ranges::count(map, '\n') > 1;
  }

  /// Puts an image with these files, which belong to root there, into the engine's store.
  void AddImage(const Path& root_files, const std::string& name) const {
    const std::string archive = (directory() / "root.tar").string();
    EXPECT_TRUE(
        Ask({"tar", "--owner=0", "--group=0", "-C", root_files.string(), "-cf", archive, "."})
            .result.ok());
    const host::ToolOutput imported = Ask({"podman", "import", archive, name});
    EXPECT_TRUE(imported.result.ok()) << imported.err;
  }
  std::string DigestOf(const std::string& name) const {
    return std::string(
        Trim(Ask({"podman", "image", "inspect", "--format", "{{.Digest}}", name}).out));
  }

 private:
  static bool HasLine(const std::string& text, const std::string& line) {
    return Trim(text) == line;
  }
  void Write(const char* name, const std::string& text) const {
    EXPECT_TRUE(WriteFile(directory() / name, text).ok());
  }
};

/// With a daemon of its own.
class DockerOnTrial final : public EngineOnTrial {
 public:
  ~DockerOnTrial() override {
    if (daemon_ <= 0) return;
    ::kill(daemon_, SIGTERM);
    ::waitpid(daemon_, nullptr, 0);
    ::umount2((directory() / "exec/netns/default").c_str(), MNT_DETACH);  // dockerd leaves it
  }
  std::string Start(const Path& root_files) override {
    const std::string path = host::FindVariable(host::OwnEnvironment(), "PATH").value_or("");
    if (host::FindProgram("docker", path).empty()) return "docker is not installed";
    if (host::FindProgram("dockerd", path).empty()) return "dockerd is not installed";
    if (::geteuid() != 0) return "only root may start dockerd";
    StartDaemon();
    const bool answers = Eventually([this] { return Ask({"docker", "version"}).result.ok(); }, 60);
    if (!answers) return "dockerd does not answer: " + LogEnd();
    const Path archive = directory() / "root.tar";
    const host::ToolOutput packed =
        Ask({"tar", "-C", root_files.string(), "-cf", archive.string(), "."});
    const host::ToolOutput imported = Ask({"docker", "import", archive.string(), "trial"});
    const host::ToolOutput run =
        Ask({"docker", "run", "--rm", "--network=host", "trial", "/bin/echo", "works"});
    if (packed.result.ok() && imported.result.ok() && run.result.ok()) return "";
    return "docker cannot run a container here: " + std::string(Trim(run.err + imported.err));
  }
  Settings Environment() const override { return {{"DOCKER_HOST", Address()}}; }
  std::string Containers() const override { return Ask({"docker", "ps", "-a", "-q"}).out; }

 private:
  std::string Address() const { return "unix://" + (directory() / "socket").string(); }
  std::string LogEnd() const {
    const auto log = ReadFile(directory() / "log");
    return log.ok() ? log->substr(log->size() - std::min<size_t>(log->size(), 300)) : "";
  }
  void StartDaemon() {
    const std::string root = directory().string();
    const std::string command =  // a containerd that is slow to answer leaves a log in TMPDIR
        "TMPDIR=" + root +
        " exec dockerd --storage-driver vfs --bridge none --iptables=false "
        "--data-root " +
        root + "/data --exec-root " + root + "/exec --pidfile " + root + "/pid -H " + Address() +
        " >" + root + "/log 2>&1";
    daemon_ = ::fork();
    if (daemon_ != 0) return;
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }

  pid_t daemon_ = 0;
};

/// The processes that run caip itself on a state directory.
inline std::vector<int> EmulatorsOn(const Path& state) {
  std::vector<int> found;
  for (const int process : ProcessesMentioning(state.string())) {
    std::error_code error;
    const Path program =
        std::filesystem::read_symlink("/proc/" + std::to_string(process) + "/exe", error);
    if (program.filename() == "caip") found.push_back(process);
  }
  return found;
}

inline std::unique_ptr<EngineOnTrial> MakeTrial(const std::string& engine) {
  if (engine == "podman") return std::make_unique<PodmanOnTrial>();
  if (engine == "docker") return std::make_unique<DockerOnTrial>();
  return std::make_unique<BundledOnTrial>();
}

}  // namespace caip::testing
