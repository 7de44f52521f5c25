#include "emulator/cli/local_train/cluster.h"

#include <sys/stat.h>

#include <cstdlib>

#include "base/encoding.h"
#include "base/files.h"
#include "base/json.h"
#include "base/text.h"
#include "emulator/cli/errors.h"
#include "host/process/child_process.h"

namespace caip::cli {
namespace {

Json JobPart(const std::string& module, const std::vector<std::string>& args) {
  Json job;
  job["job_name"] = module;
  job["args"] = args;
  return job;
}

Json Addresses(int64_t first_port, int64_t count) {
  Json addresses = Json::array();
  for (int64_t i = 0; i < count; ++i) {
    addresses.push_back("localhost:" + std::to_string(first_port + i));
  }
  return addresses;
}

std::string Render(const std::string& module, const std::vector<std::string>& args, Json task,
                   Json cluster) {
  Json config;
  config["job"] = JobPart(module, args);
  config["task"] = std::move(task);
  config["cluster"] = std::move(cluster);
  config["environment"] = "cloud";
  return PythonJson(config);
}

// Prints the file of the TensorFlow package. Fails if it is not installed. Does not import it.
constexpr const char* kFind =
    "import importlib.util, sys\n"
    "spec = importlib.util.find_spec('tensorflow')\n"
    "print(spec.origin) if spec and spec.origin else sys.exit(1)";
constexpr const char* kImport = "import tensorflow as tf; print(tf.version.VERSION)";

std::string Ask(const std::string& python, const char* program) {
  host::Tool tool;
  tool.argv = {python, "-c", program};
  tool.environment = host::OwnEnvironment();
  const Result<host::ToolOutput> said = host::CaptureTool(std::move(tool));
  return said.ok() && said->result.ok() ? std::string(Trim(said->out)) : "";
}

Path CacheDirectory() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache && cache[0] == '/') return Path(cache) / "caip" / "tensorflow";
  const char* home = std::getenv("HOME");
  return Path(home ? home : "/tmp") / ".cache" / "caip" / "tensorflow";
}

// Names one installed TensorFlow of one Python. The name changes when either of them changes.
std::string CacheName(const std::string& python, const std::string& origin) {
  struct stat interpreter {};
  struct stat package {};
  ::stat(python.c_str(), &interpreter);
  if (::stat(origin.c_str(), &package) != 0) return "";
  return PercentEncoded(python + " " + std::to_string(interpreter.st_mtim.tv_sec) + " " +
                        std::to_string(package.st_mtim.tv_sec) + " " +
                        std::to_string(package.st_ino));
}

}  // namespace

std::vector<LocalTask> TasksOf(const LocalCluster& cluster) {
  std::vector<LocalTask> tasks;
  const auto add = [&](const char* type, int64_t count) {
    for (int64_t i = 0; i < count; ++i) tasks.push_back({type, i});
  };
  add("ps", cluster.parameter_servers);
  add("worker", cluster.workers);
  add("evaluator", cluster.evaluators);
  tasks.push_back({cluster.primary, 0});
  return tasks;
}

std::string SingleTfConfig(const std::string& module, const std::vector<std::string>& args) {
  return Render(module, args, Json::object(), Json::object());
}

std::string ClusterTfConfig(const std::string& module, const std::vector<std::string>& args,
                            const LocalCluster& cluster, const LocalTask& task) {
  Json addresses;
  addresses[cluster.primary] = Addresses(cluster.start_port, 1);
  addresses["ps"] = Addresses(cluster.start_port + 1, cluster.parameter_servers);
  addresses["worker"] =
      Addresses(cluster.start_port + 1 + cluster.parameter_servers, cluster.workers);
  Json own;
  own["type"] = task.type;
  own["index"] = task.index;
  return Render(module, args, std::move(own), std::move(addresses));
}

PrimaryName PrimaryNameFor(const std::string& python) {
  const std::string origin = Ask(python, kFind);
  if (origin.empty()) return {"chief", errors::TensorFlowNotImported(python)};
  const std::string name = CacheName(python, origin);
  const bool cached = !name.empty() && name.size() < 200;  // longer names fit no file system
  std::string version;
  if (cached) {
    const Result<std::string> kept = ReadFileUpTo(CacheDirectory() / name, 256);
    if (kept.ok()) version = *kept;
  }
  if (version.empty()) {
    version = Ask(python, kImport);
    if (version.empty()) return {"chief", errors::TensorFlowNotImported(python)};
    if (cached && MakeDirectories(CacheDirectory()).ok()) {
      (void)WriteFile(CacheDirectory() / name,
                      version);  // on failure, the next run imports it again
    }
  }
  if (version.starts_with("1.")) return {"master", ""};
  if (version.starts_with("2.")) return {"chief", ""};
  return {"chief", errors::TensorFlowVersionUnexpected(version)};
}

}  // namespace caip::cli
