#include "emulator/cli/local_train/cluster.h"

#include "base/json.h"

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

}  // namespace caip::cli
