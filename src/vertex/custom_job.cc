#include "vertex/custom_job.h"

namespace caip::vertex {
namespace {

constexpr std::string_view kNoAcceleratorType = "ACCELERATOR_TYPE_UNSPECIFIED";

}  // namespace

bool MachineSpec::HasAcceleratorType() const {
  return !accelerator_type.empty() && accelerator_type != kNoAcceleratorType;
}

// gcloud sends `{"replicaCount": "0"}` for a pool that it leaves out.
bool WorkerPoolSpec::IsEmpty() const {
  return !container && !python_package && !machine && !disk && !replica_count.value_or(0) &&
         nfs_mounts.empty() && !has_lustre_mounts;
}

const std::vector<EnvVar>& WorkerPoolSpec::env() const {
  static const std::vector<EnvVar> kNone;
  if (container) return container->env;
  return python_package ? python_package->env : kNone;
}

const std::vector<std::string>& WorkerPoolSpec::args() const {
  static const std::vector<std::string> kNone;
  if (container) return container->args;
  return python_package ? python_package->args : kNone;
}

std::string CustomJobSpec::BaseOutputDirectory() const {
  if (!output_uri_prefix || output_uri_prefix->empty()) return "";
  return output_uri_prefix->ends_with('/') ? *output_uri_prefix : *output_uri_prefix + "/";
}

}  // namespace caip::vertex
