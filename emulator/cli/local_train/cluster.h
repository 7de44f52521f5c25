#pragma once
// The cluster of `local train`: the TF_CONFIG of its processes, as gcloud writes it, and the name
// of the primary, which depends on the TensorFlow version.

#include <cstdint>
#include <string>
#include <vector>

namespace caip::cli {

/// The processes of one `local train --distributed`, by gcloud's rules.
struct LocalCluster {
  std::string primary;  // "chief" or "master"
  int64_t parameter_servers = 2;
  int64_t workers = 2;
  int64_t evaluators = 0;
  int64_t start_port = 27182;
};

/// One process of the cluster: task type and index.
struct LocalTask {
  std::string type;
  int64_t index = 0;
};

/// All tasks in the order in which they are started: ps, workers, evaluators, then the primary.
std::vector<LocalTask> TasksOf(const LocalCluster& cluster);

/// TF_CONFIG of a run without a cluster.
std::string SingleTfConfig(const std::string& module, const std::vector<std::string>& args);

/// TF_CONFIG of one task. Ports: primary, ps, workers; evaluators have none.
std::string ClusterTfConfig(const std::string& module, const std::vector<std::string>& args,
                            const LocalCluster& cluster, const LocalTask& task);

/// The primary's name and a warning for the user.
struct PrimaryName {
  std::string name = "chief";  // "master" with TensorFlow 1.x
  std::string warning;         // "" when TensorFlow was found
};

/// Finds the TensorFlow version of `python`. TensorFlow is imported in a separate interpreter, and
/// only once for each installed copy: the user's cache directory keeps the version.
PrimaryName PrimaryNameFor(const std::string& python);

}  // namespace caip::cli
