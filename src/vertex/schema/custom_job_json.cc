#include "vertex/schema/custom_job_json.h"

#include <utility>

#include "base/json.h"
#include "google/errors.h"
#include "vertex/errors.h"
#include "vertex/schema/custom_job_schema.h"

namespace caip::vertex {
namespace {

template <typename T>
std::optional<T> OptionalOf(const Json& plain, std::string_view name) {
  const Json* value = Member(plain, name);
  return value == nullptr ? std::nullopt : std::optional<T>(value->get<T>());
}

template <typename T>
T ValueOf(const Json& plain, std::string_view name) {
  return OptionalOf<T>(plain, name).value_or(T{});
}

std::vector<std::string> TextsOf(const Json& plain, std::string_view name) {
  return ValueOf<std::vector<std::string>>(plain, name);
}

std::optional<Duration> SpanOf(const Json& plain, std::string_view name) {
  const auto count = OptionalOf<int64_t>(plain, name);
  return count ? std::optional(Duration(*count)) : std::nullopt;
}

// The message below `name`, made by `read`; nullopt where there is none.
template <typename Read>
auto MessageOf(const Json& plain, std::string_view name, Read read) {
  const Json* value = Member(plain, name);
  return value == nullptr ? std::nullopt : std::optional(read(*value));
}

template <typename Read>
auto MessagesOf(const Json& plain, std::string_view name, Read read) {
  std::vector<decltype(read(plain))> list;
  const Json* values = Member(plain, name);
  if (values == nullptr) return list;
  for (const Json& value : *values) list.push_back(read(value));
  return list;
}

EnvVar ReadEnvVar(const Json& plain) { return {StringOr(plain, "name"), StringOr(plain, "value")}; }

MachineSpec ReadMachine(const Json& plain) {
  const Json* affinity = Member(plain, "reservation_affinity");
  return {.machine_type = StringOr(plain, "machine_type"),
          .accelerator_type = StringOr(plain, "accelerator_type"),
          .accelerator_count = ValueOf<int32_t>(plain, "accelerator_count"),
          .tpu_topology = StringOr(plain, "tpu_topology"),
          .reservation_type = affinity ? StringOr(*affinity, "reservation_affinity_type") : ""};
}

DiskSpec ReadDisk(const Json& plain) {
  return {StringOr(plain, "boot_disk_type"), ValueOf<int32_t>(plain, "boot_disk_size_gb")};
}

ContainerSpec ReadContainer(const Json& plain) {
  return {StringOr(plain, "image_uri"), TextsOf(plain, "command"), TextsOf(plain, "args"),
          MessagesOf(plain, "env", ReadEnvVar)};
}

PythonPackageSpec ReadPythonPackage(const Json& plain) {
  return {StringOr(plain, "executor_image_uri"), TextsOf(plain, "package_uris"),
          StringOr(plain, "python_module"), TextsOf(plain, "args"),
          MessagesOf(plain, "env", ReadEnvVar)};
}

NfsMount ReadNfsMount(const Json& plain) {
  return {StringOr(plain, "server"), StringOr(plain, "path"), StringOr(plain, "mount_point")};
}

WorkerPoolSpec ReadPool(const Json& plain) {
  const Json* lustre = Member(plain, "lustre_mounts");
  return {.container = MessageOf(plain, "container_spec", ReadContainer),
          .python_package = MessageOf(plain, "python_package_spec", ReadPythonPackage),
          .machine = MessageOf(plain, "machine_spec", ReadMachine),
          .disk = MessageOf(plain, "disk_spec", ReadDisk),
          .replica_count = OptionalOf<int64_t>(plain, "replica_count"),
          .nfs_mounts = MessagesOf(plain, "nfs_mounts", ReadNfsMount),
          .has_lustre_mounts = lustre != nullptr && !lustre->empty()};
}

Scheduling ReadScheduling(const Json& plain) {
  return {.timeout = SpanOf(plain, "timeout"),
          .restart_job_on_worker_restart = ValueOf<bool>(plain, "restart_job_on_worker_restart"),
          .disable_retries = ValueOf<bool>(plain, "disable_retries"),
          .strategy = StringOr(plain, "strategy"),
          .max_wait = SpanOf(plain, "max_wait_duration")};
}

CustomJobSpec ReadSpec(const Json& plain) {
  const Json* output = Member(plain, "base_output_directory");
  const Json* psc = Member(plain, "psc_interface_config");
  return {
      .pools = MessagesOf(plain, "worker_pool_specs", ReadPool),
      .scheduling = MessageOf(plain, "scheduling", ReadScheduling).value_or(Scheduling{}),
      .output_uri_prefix =
          output ? std::optional(StringOr(*output, "output_uri_prefix")) : std::nullopt,
      .service_account = StringOr(plain, "service_account"),
      .network = StringOr(plain, "network"),
      .reserved_ip_ranges = TextsOf(plain, "reserved_ip_ranges"),
      .network_attachment = psc ? StringOr(*psc, "network_attachment") : "",
      .persistent_resource_id = StringOr(plain, "persistent_resource_id"),
      .tensorboard = StringOr(plain, "tensorboard"),
      .experiment = StringOr(plain, "experiment"),
      .experiment_run = StringOr(plain, "experiment_run"),
      .models = TextsOf(plain, "models"),
      .protected_artifact_location_id = StringOr(plain, "protected_artifact_location_id"),
      .enable_web_access = ValueOf<bool>(plain, "enable_web_access"),
      .enable_dashboard_access = ValueOf<bool>(plain, "enable_dashboard_access"),
  };
}

void ForgetOutputFields(Json& plain) {
  for (const google::FieldSchema& field : CustomJobSchema().fields) {
    if (field.output_only) plain.erase(std::string(field.proto_name));
  }
}

Result<Json> PlainOfBody(const Json& body) {
  if (!body.is_object()) return errors::BodyNoObject("CustomJob");
  std::vector<FieldViolation> violations;
  Json plain = google::ReadMessage(google::WithoutOutputFields(body, CustomJobSchema()),
                                   CustomJobSchema(), "custom_job", violations);
  if (!violations.empty()) return google::errors::NotTheMessage(std::move(violations));
  return plain;
}

}  // namespace

CustomJob CustomJobFromPlain(Json plain) {
  CustomJob job;
  ForgetOutputFields(plain);
  job.display_name = StringOr(plain, "display_name");
  job.spec = MessageOf(plain, "job_spec", ReadSpec);
  if (const Json* labels = Member(plain, "labels")) {
    for (const auto& [key, value] : labels->items()) job.labels[key] = value.get<std::string>();
  }
  if (const Json* encryption = Member(plain, "encryption_spec")) {
    job.kms_key_name = StringOr(*encryption, "kms_key_name");
  }
  google::RemoveDefaults(plain, CustomJobSchema());
  job.plain = std::move(plain);
  return job;
}

Result<CustomJob> ParseCustomJob(const Json& body) {
  ASSIGN_OR_RETURN(Json plain, PlainOfBody(body));
  return CustomJobFromPlain(std::move(plain));
}

Result<Json> SpellCustomJob(const Json& body) {
  ASSIGN_OR_RETURN(const Json plain, PlainOfBody(body));
  return google::WriteMessage(plain, CustomJobSchema(), {.camel_case = true});
}

Result<CustomJob> FromStoredJson(const Json& stored) {
  std::vector<FieldViolation> violations;
  Json plain = google::ReadMessage(stored, CustomJobSchema(), "custom_job", violations);
  if (!violations.empty()) return google::errors::NotTheMessage(std::move(violations));
  return CustomJobFromPlain(std::move(plain));
}

Json ToStoredJson(const CustomJob& job) {
  return google::WriteMessage(job.plain, CustomJobSchema(), {.camel_case = true});
}

}  // namespace caip::vertex
