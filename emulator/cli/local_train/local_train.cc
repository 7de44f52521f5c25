// `local train`: runs a training module on this host, as gcloud's command of that name does.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "base/text.h"
#include "client/errors.h"
#include "client/gcloud_properties.h"
#include "emulator/cli/commands/commands.h"
#include "emulator/cli/errors.h"
#include "emulator/cli/local_train/cluster.h"
#include "emulator/cli/local_train/process.h"
#include "emulator/cli/output.h"

namespace caip::cli {
namespace {

namespace fs = std::filesystem;

std::string OnPath(const std::string& program) {
  const char* path = std::getenv("PATH");
  for (const std::string& directory : Split(path ? path : "/usr/bin:/bin", ':')) {
    const Path candidate = Path(directory.empty() ? "." : directory) / program;
    std::error_code error;
    if (fs::is_regular_file(candidate, error) && ::access(candidate.c_str(), X_OK) == 0) {
      return fs::absolute(candidate).string();
    }
  }
  return "";
}

std::string PythonFor(const GcloudFlags& flags) {
  const auto chosen = client::GcloudProperty(flags, "ml_engine", "local_python");
  if (chosen && !chosen->empty()) return *chosen;
  for (const char* name : {"python", "python3"}) {
    if (const std::string found = OnPath(name); !found.empty()) return found;
  }
  return "";
}

// The parent folder of the package, by the rules of Python's os.path: for "." it is the folder
// above the working directory.
std::string PackageRoot(const std::optional<std::string>& package_path) {
  const std::string given = package_path && !package_path->empty() ? *package_path : ".";
  Path absolute = fs::absolute(given).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  return absolute.parent_path().string();
}

/// The processes other than the primary. The destructor kills them.
class OtherProcesses {
 public:
  OtherProcesses() = default;
  OtherProcesses(const OtherProcesses&) = delete;
  ~OtherProcesses() {
    for (const int pid : pids_) KillLocalProcess(pid);
  }
  void Add(int pid) { pids_.push_back(pid); }

 private:
  std::vector<int> pids_;
};

class LocalRun {
 public:
  LocalRun(const LocalTrainCommand& command, const Surroundings& world)
      : command_(command), world_(world), python_(PythonFor(command.gcloud)) {
    arguments_ = command.user_args;
    if (command.job_dir && !command.job_dir->empty()) {
      arguments_.insert(arguments_.end(), {"--job-dir", *command.job_dir});
    }
  }

  int Run() {
    if (python_.empty())
      return Refuse(client::errors::NoPython("neither python nor python3 was found"));
    if (command_.distributed) return RunCluster();
    for (const auto& [flag, count] :
         {std::pair("--parameter-server-count", command_.parameter_server_count),
          std::pair("--worker-count", command_.worker_count)}) {
      if (count.value_or(0) != 0) Warn(errors::IgnoredWithoutDistributed(flag));
    }
    return RunPrimary(SingleTfConfig(command_.module_name, arguments_));
  }

 private:
  int RunCluster() {
    const PrimaryName primary = PrimaryNameFor(python_);
    Warn(primary.warning);
    const LocalCluster cluster{primary.name, command_.parameter_server_count.value_or(2),
                               command_.worker_count.value_or(2),
                               command_.evaluator_count.value_or(0), command_.start_port};
    std::vector<LocalTask> tasks = TasksOf(cluster);
    const LocalTask last = tasks.back();
    tasks.pop_back();
    OtherProcesses others;
    for (const LocalTask& task : tasks) {
      const Result<int> pid = StartLocalProcess(
          Process(ClusterTfConfig(command_.module_name, arguments_, cluster, task), false));
      if (!pid.ok()) return Refuse(pid.error());
      others.Add(*pid);
    }
    return RunPrimary(ClusterTfConfig(command_.module_name, arguments_, cluster, last));
  }

  int RunPrimary(const std::string& tf_config) {
    const Result<int> pid = StartLocalProcess(Process(tf_config, true));
    return pid.ok() ? WaitForLocalProcess(*pid) : Refuse(pid.error());
  }

  LocalProcess Process(const std::string& tf_config, bool foreground) const {
    LocalProcess process;
    process.argv = {python_, "-m", command_.module_name};
    process.argv.insert(process.argv.end(), arguments_.begin(), arguments_.end());
    process.directory = PackageRoot(command_.package_path);
    process.variable = {"TF_CONFIG", tf_config};
    process.foreground = foreground;
    return process;
  }

  void Warn(const std::string& text) const {
    if (IsShown(command_.gcloud, Message::kWarning) && !text.empty()) world_.io.err(text);
  }

  int Refuse(const Error& error) const {
    if (IsShown(command_.gcloud, Message::kError)) {
      world_.io.err("ERROR: (caip.local.train) " + error.message + "\n");
    }
    return kExitFailure;
  }

  const LocalTrainCommand& command_;
  const Surroundings& world_;
  std::string python_;
  std::vector<std::string> arguments_;
};

}  // namespace

int RunLocalTrain(const LocalTrainCommand& command, const Surroundings& world) {
  return LocalRun(command, world).Run();
}

}  // namespace caip::cli
