#pragma once
// Which replicas a job has, on what machines, under which names and addresses.

#include <string>
#include <string_view>
#include <vector>

#include "ml/job.h"

namespace caip::ml {

/// "cmle-training-worker-e118e0f997-1": the host's name, the same after every restart. `host_id` is
/// ten lower-case hexadecimal digits, one for each run. The master is never called chief here, as
/// seen in the field.
std::string HostName(ReplicaId id, std::string_view host_id);

/// True for an image of the service's pre-built containers (docs/service/tables.md, section 5).
bool IsPrebuiltImage(std::string_view image_uri);

/// True if the master's image is a pre-built container and the job names a module: the service
/// installs the packages in the container and runs the module, as it does without an image.
bool RunsModuleInContainer(const TrainingInput& input);

struct ReplicaPlan {
  ReplicaId id;
  std::string machine_type;      // as asked, or what the scale tier gives
  std::string accelerator_type;  // "" none; includes GPUs that come with the machine type
  int64_t accelerator_count = 0;
  std::string image_uri;  // "" for a Python job
  std::string address;    // "host:port"; empty until addresses are lent
};

/// The replicas that run user code, masters first, then workers, ps, evaluators. A `cloud_tpu`
/// worker runs none; `tpu_*` describe it instead.
struct ClusterPlan {
  std::vector<ReplicaPlan> replicas;
  bool uses_chief = false;    // TF_CONFIG calls the master "chief"
  bool is_container = false;  // replicas run the program of an image, not a module
  std::string tpu_type;       // "" or "TPU_V2", "TPU_V3", "TPU_V2_POD", ...
  int64_t tpu_count = 0;

  const ReplicaPlan& Of(ReplicaId id) const;
};

/// `input` has passed Validate. Addresses are still empty.
ClusterPlan PlanCluster(const TrainingInput& input);

}  // namespace caip::ml
