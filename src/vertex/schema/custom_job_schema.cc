// The messages of a CustomJob. The order of the fields is that in which they are written.

#include "vertex/schema/custom_job_schema.h"

#include "vertex/schema/shared_messages.h"

namespace caip::vertex {
namespace {

using namespace google::fields;
using enum google::FieldKind;
using google::EnumSchema;
using google::FieldSchema;
using google::MessageSchema;

// The position of a name is its number in the protocol buffer (docs/service/vertex.md, section 1).
constexpr std::string_view kJobStateNames[] = {
    "JOB_STATE_UNSPECIFIED", "JOB_STATE_QUEUED",    "JOB_STATE_PENDING",
    "JOB_STATE_RUNNING",     "JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED",
    "JOB_STATE_CANCELLING",  "JOB_STATE_CANCELLED", "JOB_STATE_PAUSED",
    "JOB_STATE_EXPIRED",     "JOB_STATE_UPDATING",  "JOB_STATE_PARTIALLY_SUCCEEDED"};
constexpr EnumSchema kJobState{"google.cloud.aiplatform.v1.JobState", kJobStateNames};

constexpr std::string_view kAcceleratorTypeNames[] = {"ACCELERATOR_TYPE_UNSPECIFIED",
                                                      "NVIDIA_TESLA_K80",
                                                      "NVIDIA_TESLA_P100",
                                                      "NVIDIA_TESLA_V100",
                                                      "NVIDIA_TESLA_P4",
                                                      "NVIDIA_TESLA_T4",
                                                      "TPU_V2",
                                                      "TPU_V3",
                                                      "NVIDIA_TESLA_A100",
                                                      "NVIDIA_A100_80GB",
                                                      "TPU_V4_POD",
                                                      "NVIDIA_L4",
                                                      "TPU_V5_LITEPOD",
                                                      "NVIDIA_H100_80GB",
                                                      "NVIDIA_H100_MEGA_80GB",
                                                      "NVIDIA_H200_141GB",
                                                      "NVIDIA_B200",
                                                      "NVIDIA_GB200",
                                                      "NVIDIA_RTX_PRO_6000"};
constexpr EnumSchema kAcceleratorType{"google.cloud.aiplatform.v1.AcceleratorType",
                                      kAcceleratorTypeNames};

constexpr std::string_view kStrategyNames[] = {
    "STRATEGY_UNSPECIFIED", "ON_DEMAND", "LOW_COST", "STANDARD", "SPOT", "", "FLEX_START"};
constexpr EnumSchema kStrategy{"google.cloud.aiplatform.v1.Scheduling.Strategy", kStrategyNames};

constexpr std::string_view kReservationTypeNames[] = {"TYPE_UNSPECIFIED", "NO_RESERVATION",
                                                      "ANY_RESERVATION", "SPECIFIC_RESERVATION"};
constexpr EnumSchema kReservationType{"google.cloud.aiplatform.v1.ReservationAffinity.Type",
                                      kReservationTypeNames};

constexpr FieldSchema kReservationAffinityFields[] = {
    Of("reservationAffinityType", "reservation_affinity_type", kReservationType),
    Field("key", "key", kString),
    Repeated("values", "values", kString),
};
constexpr MessageSchema kReservationAffinity{"google.cloud.aiplatform.v1.ReservationAffinity",
                                             kReservationAffinityFields};

constexpr FieldSchema kMachineSpecFields[] = {
    Field("machineType", "machine_type", kString),
    Of("acceleratorType", "accelerator_type", kAcceleratorType),
    Field("acceleratorCount", "accelerator_count", kInt32),
    Field("gpuPartitionSize", "gpu_partition_size", kString),
    Field("tpuTopology", "tpu_topology", kString),
    Of("reservationAffinity", "reservation_affinity", kReservationAffinity),
};
constexpr MessageSchema kMachineSpec{"google.cloud.aiplatform.v1.MachineSpec", kMachineSpecFields};

constexpr FieldSchema kEnvVarFields[] = {
    Field("name", "name", kString),
    Field("value", "value", kString),
};
constexpr MessageSchema kEnvVar{"google.cloud.aiplatform.v1.EnvVar", kEnvVarFields};

constexpr FieldSchema kContainerSpecFields[] = {
    Field("imageUri", "image_uri", kString),
    Repeated("command", "command", kString),
    Repeated("args", "args", kString),
    List(Of("env", "env", kEnvVar)),
};
constexpr MessageSchema kContainerSpec{"google.cloud.aiplatform.v1.ContainerSpec",
                                       kContainerSpecFields};

constexpr FieldSchema kPythonPackageSpecFields[] = {
    Field("executorImageUri", "executor_image_uri", kString),
    Repeated("packageUris", "package_uris", kString),
    Field("pythonModule", "python_module", kString),
    Repeated("args", "args", kString),
    List(Of("env", "env", kEnvVar)),
};
constexpr MessageSchema kPythonPackageSpec{"google.cloud.aiplatform.v1.PythonPackageSpec",
                                           kPythonPackageSpecFields};

constexpr FieldSchema kNfsMountFields[] = {
    Field("server", "server", kString),
    Field("path", "path", kString),
    Field("mountPoint", "mount_point", kString),
};
constexpr MessageSchema kNfsMount{"google.cloud.aiplatform.v1.NfsMount", kNfsMountFields};

constexpr FieldSchema kLustreMountFields[] = {
    Field("instanceIp", "instance_ip", kString),
    Field("volumeHandle", "volume_handle", kString),
    Field("filesystem", "filesystem", kString),
    Field("mountPoint", "mount_point", kString),
};
constexpr MessageSchema kLustreMount{"google.cloud.aiplatform.v1.LustreMount", kLustreMountFields};

constexpr FieldSchema kDiskSpecFields[] = {
    Field("bootDiskType", "boot_disk_type", kString),
    Field("bootDiskSizeGb", "boot_disk_size_gb", kInt32),
};
constexpr MessageSchema kDiskSpec{"google.cloud.aiplatform.v1.DiskSpec", kDiskSpecFields};

constexpr FieldSchema kWorkerPoolSpecFields[] = {
    Of("machineSpec", "machine_spec", kMachineSpec),
    Field("replicaCount", "replica_count", kInt64),
    List(Of("nfsMounts", "nfs_mounts", kNfsMount)),
    List(Of("lustreMounts", "lustre_mounts", kLustreMount)),
    Of("diskSpec", "disk_spec", kDiskSpec),
    Of("containerSpec", "container_spec", kContainerSpec),
    Of("pythonPackageSpec", "python_package_spec", kPythonPackageSpec),
};
constexpr MessageSchema kWorkerPoolSpec{"google.cloud.aiplatform.v1.WorkerPoolSpec",
                                        kWorkerPoolSpecFields};

constexpr FieldSchema kSchedulingFields[] = {
    Field("timeout", "timeout", kDuration),
    Field("restartJobOnWorkerRestart", "restart_job_on_worker_restart", kBool),
    Of("strategy", "strategy", kStrategy),
    Field("disableRetries", "disable_retries", kBool),
    Field("maxWaitDuration", "max_wait_duration", kDuration),
};
constexpr MessageSchema kScheduling{"google.cloud.aiplatform.v1.Scheduling", kSchedulingFields};

constexpr FieldSchema kDnsPeeringConfigFields[] = {
    Field("domain", "domain", kString),
    Field("targetProject", "target_project", kString),
    Field("targetNetwork", "target_network", kString),
};
constexpr MessageSchema kDnsPeeringConfig{"google.cloud.aiplatform.v1.DnsPeeringConfig",
                                          kDnsPeeringConfigFields};

constexpr FieldSchema kPscInterfaceConfigFields[] = {
    Field("networkAttachment", "network_attachment", kString),
    List(Of("dnsPeeringConfigs", "dns_peering_configs", kDnsPeeringConfig)),
};
constexpr MessageSchema kPscInterfaceConfig{"google.cloud.aiplatform.v1.PscInterfaceConfig",
                                            kPscInterfaceConfigFields};

constexpr FieldSchema kGcsDestinationFields[] = {
    Field("outputUriPrefix", "output_uri_prefix", kString),
};
constexpr MessageSchema kGcsDestination{"google.cloud.aiplatform.v1.GcsDestination",
                                        kGcsDestinationFields};

constexpr FieldSchema kCustomJobSpecFields[] = {
    Field("persistentResourceId", "persistent_resource_id", kString),
    List(Of("workerPoolSpecs", "worker_pool_specs", kWorkerPoolSpec)),
    Of("scheduling", "scheduling", kScheduling),
    Field("serviceAccount", "service_account", kString),
    Field("network", "network", kString),
    Repeated("reservedIpRanges", "reserved_ip_ranges", kString),
    Of("pscInterfaceConfig", "psc_interface_config", kPscInterfaceConfig),
    Of("baseOutputDirectory", "base_output_directory", kGcsDestination),
    Field("protectedArtifactLocationId", "protected_artifact_location_id", kString),
    Field("tensorboard", "tensorboard", kString),
    Field("enableWebAccess", "enable_web_access", kBool),
    Field("enableDashboardAccess", "enable_dashboard_access", kBool),
    Field("experiment", "experiment", kString),
    Field("experimentRun", "experiment_run", kString),
    Repeated("models", "models", kString),
};
constexpr MessageSchema kCustomJobSpec{"google.cloud.aiplatform.v1.CustomJobSpec",
                                       kCustomJobSpecFields};

constexpr FieldSchema kCustomJobFields[] = {
    Output(Field("name", "name", kString)),
    Field("displayName", "display_name", kString),
    Of("jobSpec", "job_spec", kCustomJobSpec),
    Output(Of("state", "state", kJobState)),
    Output(Field("createTime", "create_time", kTimestamp)),
    Output(Field("startTime", "start_time", kTimestamp)),
    Output(Field("endTime", "end_time", kTimestamp)),
    Output(Field("updateTime", "update_time", kTimestamp)),
    Output(Of("error", "error", kStatus)),
    Field("labels", "labels", kStringMap),
    Of("encryptionSpec", "encryption_spec", kEncryptionSpec),
    Output(Field("webAccessUris", "web_access_uris", kStringMap)),
    Output(Field("satisfiesPzs", "satisfies_pzs", kBool)),
    Output(Field("satisfiesPzi", "satisfies_pzi", kBool)),
};
constexpr MessageSchema kCustomJob{"google.cloud.aiplatform.v1.CustomJob", kCustomJobFields};

}  // namespace

const google::MessageSchema& CustomJobSchema() { return kCustomJob; }
const google::MessageSchema& CustomJobSpecSchema() { return kCustomJobSpec; }
const google::EnumSchema& JobStateSchema() { return kJobState; }

}  // namespace caip::vertex
