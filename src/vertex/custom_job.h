#pragma once
// The CustomJob resource of aiplatform.googleapis.com and its parts (docs/service/vertex.md,
// section 3). Plain values. Enums stay names, because the service lists them as data.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/json.h"

namespace caip::vertex {

struct EnvVar {
  std::string name;
  std::string value;
};

struct MachineSpec {
  std::string machine_type;
  std::string accelerator_type;  // "" or ACCELERATOR_TYPE_UNSPECIFIED: none
  int32_t accelerator_count = 0;
  std::string tpu_topology;
  std::string reservation_type;  // of reservationAffinity; "" none

  bool HasAcceleratorType() const;
};

struct DiskSpec {
  std::string boot_disk_type;
  int32_t boot_disk_size_gb = 0;  // 0: the default
};

struct ContainerSpec {
  std::string image_uri;
  std::vector<std::string> command;
  std::vector<std::string> args;
  std::vector<EnvVar> env;
};

struct PythonPackageSpec {
  std::string executor_image_uri;
  std::vector<std::string> package_uris;
  std::string python_module;
  std::vector<std::string> args;
  std::vector<EnvVar> env;
};

struct NfsMount {
  std::string server;
  std::string path;
  std::string mount_point;
};

struct WorkerPoolSpec {
  std::optional<ContainerSpec> container;
  std::optional<PythonPackageSpec> python_package;
  std::optional<MachineSpec> machine;
  std::optional<DiskSpec> disk;
  std::optional<int64_t> replica_count;
  std::vector<NfsMount> nfs_mounts;
  bool has_lustre_mounts = false;

  /// True for `{}`: a pool that is skipped. The positions of the others stay.
  bool IsEmpty() const;
  int64_t ReplicaCount() const { return IsEmpty() ? 0 : replica_count.value_or(1); }
  const std::vector<EnvVar>& env() const;
  const std::vector<std::string>& args() const;
};

struct Scheduling {
  std::optional<Duration> timeout;
  bool restart_job_on_worker_restart = false;
  bool disable_retries = false;
  std::string strategy;  // "" STRATEGY_UNSPECIFIED, "STANDARD", "SPOT", "FLEX_START", ...
  std::optional<Duration> max_wait;

  bool IsSpot() const { return strategy == "SPOT" || strategy == "LOW_COST"; }
  bool IsFlexStart() const { return strategy == "FLEX_START"; }
};

struct CustomJobSpec {
  std::vector<WorkerPoolSpec> pools;
  Scheduling scheduling;
  std::optional<std::string> output_uri_prefix;  // baseOutputDirectory; may be ""
  std::string service_account;
  std::string network;
  std::vector<std::string> reserved_ip_ranges;
  std::string network_attachment;  // of pscInterfaceConfig
  std::string persistent_resource_id;
  std::string tensorboard;
  std::string experiment;
  std::string experiment_run;
  std::vector<std::string> models;
  std::string protected_artifact_location_id;
  bool enable_web_access = false;
  bool enable_dashboard_access = false;

  /// "gs://b/out/": the base directory with its final slash; "" none.
  std::string BaseOutputDirectory() const;
};

struct CustomJob {
  std::string display_name;
  std::optional<CustomJobSpec> spec;
  std::map<std::string, std::string> labels;
  std::optional<std::string> kms_key_name;  // encryptionSpec; may be ""
  /// Everything that the client sent, as google/transcoder.h keeps it, without output fields.
  Json plain = Json::object();
};

}  // namespace caip::vertex
