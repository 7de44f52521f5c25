// The messages of a CustomJobSpec.
// The order of the fields is gcloud's, in which it lists unknown names.

#include "client/vertex/gcloud_messages.h"

#include <algorithm>

namespace caip::client::vertex {
namespace {

using namespace google::fields;
using enum google::FieldKind;
using google::EnumSchema;
using google::FieldSchema;
using google::MessageSchema;

constexpr FieldSchema kGcsDestinationFields[] = {
    Field("outputUriPrefix", "output_uri_prefix", kString),
};
constexpr MessageSchema kGcsDestination{"GcsDestination", kGcsDestinationFields};

constexpr std::string_view kStrategyNames[] = {
    "STRATEGY_UNSPECIFIED", "ON_DEMAND", "LOW_COST", "STANDARD", "SPOT", "FLEX_START"};
constexpr EnumSchema kStrategy{"Strategy", kStrategyNames};

constexpr FieldSchema kSchedulingFields[] = {
    Field("disableRetries", "disable_retries", kBool),
    Field("maxWaitDuration", "max_wait_duration", kString),
    Field("restartJobOnWorkerRestart", "restart_job_on_worker_restart", kBool),
    Of("strategy", "strategy", kStrategy),
    Field("timeout", "timeout", kString),
};
constexpr MessageSchema kScheduling{"Scheduling", kSchedulingFields};

constexpr FieldSchema kEnvVarFields[] = {
    Field("name", "name", kString),
    Field("value", "value", kString),
};
constexpr MessageSchema kEnvVar{"EnvVar", kEnvVarFields};

constexpr FieldSchema kContainerSpecFields[] = {
    Repeated("args", "args", kString),
    Repeated("command", "command", kString),
    List(Of("env", "env", kEnvVar)),
    Field("imageUri", "image_uri", kString),
};
constexpr MessageSchema kContainerSpec{"ContainerSpec", kContainerSpecFields};

constexpr FieldSchema kDiskSpecFields[] = {
    Field("bootDiskSizeGb", "boot_disk_size_gb", kInt32),
    Field("bootDiskType", "boot_disk_type", kString),
};
constexpr MessageSchema kDiskSpec{"DiskSpec", kDiskSpecFields};

constexpr std::string_view kReservationAffinityTypeNames[] = {
    "TYPE_UNSPECIFIED", "NO_RESERVATION", "ANY_RESERVATION", "SPECIFIC_RESERVATION"};
constexpr EnumSchema kReservationAffinityType{"ReservationAffinityType",
                                              kReservationAffinityTypeNames};

constexpr FieldSchema kReservationAffinityFields[] = {
    Field("key", "key", kString),
    Of("reservationAffinityType", "reservation_affinity_type", kReservationAffinityType),
    Repeated("values", "values", kString),
};
constexpr MessageSchema kReservationAffinity{"ReservationAffinity", kReservationAffinityFields};

constexpr std::string_view kAcceleratorTypeNames[] = {"ACCELERATOR_TYPE_UNSPECIFIED",
                                                      "NVIDIA_TESLA_K80",
                                                      "NVIDIA_TESLA_P100",
                                                      "NVIDIA_TESLA_V100",
                                                      "NVIDIA_TESLA_P4",
                                                      "NVIDIA_TESLA_T4",
                                                      "NVIDIA_TESLA_A100",
                                                      "NVIDIA_A100_80GB",
                                                      "NVIDIA_L4",
                                                      "NVIDIA_H100_80GB",
                                                      "NVIDIA_H100_MEGA_80GB",
                                                      "NVIDIA_H200_141GB",
                                                      "NVIDIA_B200",
                                                      "TPU_V2",
                                                      "TPU_V3",
                                                      "TPU_V4_POD",
                                                      "TPU_V5_LITEPOD"};
constexpr EnumSchema kAcceleratorType{"AcceleratorType", kAcceleratorTypeNames};

constexpr FieldSchema kMachineSpecFields[] = {
    Field("acceleratorCount", "accelerator_count", kInt32),
    Of("acceleratorType", "accelerator_type", kAcceleratorType),
    Field("machineType", "machine_type", kString),
    Of("reservationAffinity", "reservation_affinity", kReservationAffinity),
    Field("tpuTopology", "tpu_topology", kString),
};
constexpr MessageSchema kMachineSpec{"MachineSpec", kMachineSpecFields};

constexpr FieldSchema kNfsMountFields[] = {
    Field("mountPoint", "mount_point", kString),
    Field("path", "path", kString),
    Field("server", "server", kString),
};
constexpr MessageSchema kNfsMount{"NfsMount", kNfsMountFields};

constexpr FieldSchema kPythonPackageSpecFields[] = {
    Repeated("args", "args", kString),
    List(Of("env", "env", kEnvVar)),
    Field("executorImageUri", "executor_image_uri", kString),
    Repeated("packageUris", "package_uris", kString),
    Field("pythonModule", "python_module", kString),
};
constexpr MessageSchema kPythonPackageSpec{"PythonPackageSpec", kPythonPackageSpecFields};

constexpr FieldSchema kWorkerPoolSpecFields[] = {
    Of("containerSpec", "container_spec", kContainerSpec),
    Of("diskSpec", "disk_spec", kDiskSpec),
    Of("machineSpec", "machine_spec", kMachineSpec),
    List(Of("nfsMounts", "nfs_mounts", kNfsMount)),
    Of("pythonPackageSpec", "python_package_spec", kPythonPackageSpec),
    Field("replicaCount", "replica_count", kInt64),
};
constexpr MessageSchema kWorkerPoolSpec{"WorkerPoolSpec", kWorkerPoolSpecFields};

constexpr FieldSchema kCustomJobSpecFields[] = {
    Of("baseOutputDirectory", "base_output_directory", kGcsDestination),
    Field("enableDashboardAccess", "enable_dashboard_access", kBool),
    Field("enableWebAccess", "enable_web_access", kBool),
    Field("experiment", "experiment", kString),
    Field("experimentRun", "experiment_run", kString),
    Repeated("models", "models", kString),
    Field("network", "network", kString),
    Field("persistentResourceId", "persistent_resource_id", kString),
    Field("protectedArtifactLocationId", "protected_artifact_location_id", kString),
    Repeated("reservedIpRanges", "reserved_ip_ranges", kString),
    Of("scheduling", "scheduling", kScheduling),
    Field("serviceAccount", "service_account", kString),
    Field("tensorboard", "tensorboard", kString),
    List(Of("workerPoolSpecs", "worker_pool_specs", kWorkerPoolSpec)),
};
constexpr MessageSchema kCustomJobSpec{"CustomJobSpec", kCustomJobSpecFields};

}  // namespace

const MessageSchema& CustomJobSpecMessage() { return kCustomJobSpec; }

std::vector<std::string> AcceleratorTypes() {
  std::vector<std::string> types;
  for (const std::string_view name : kAcceleratorTypeNames) {
    if (name.starts_with("NVIDIA") || name.starts_with("TPU")) types.emplace_back(name);
  }
  std::sort(types.begin(), types.end());
  return types;
}

}  // namespace caip::client::vertex
