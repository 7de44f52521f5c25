// When and how long the job runs, where its output goes, and as whom it runs.

#include <re2/re2.h>

#include "google/gcs_uri.h"
#include "google/resource_names.h"
#include "vertex/limits.h"
#include "vertex/validate/validate_parts.h"
#include "vertex/validate/violations.h"

namespace caip::vertex {
namespace {

constexpr size_t kResourceNameMax = 2048;  // longer ones are not worth a regular expression

struct NameForm {
  std::string_view field;
  std::string_view form;
  const RE2* pattern;
};

bool HasForm(std::string_view name, const RE2& pattern) {
  return name.size() <= kResourceNameMax &&
         RE2::FullMatch(re2::StringPiece(name.data(), name.size()), pattern);
}

void ExamineName(const Examination& exam, const std::string& name, const NameForm& form) {
  if (name.empty() || HasForm(name, *form.pattern)) return;
  exam.Report({"job_spec." + std::string(form.field), violations::NameMalformed(name, form.form)});
}

const NameForm& TensorboardForm() {
  static const RE2 kPattern("projects/[^/]+/locations/[a-z0-9-]+/tensorboards/[^/]+", RE2::Latin1);
  static const NameForm kForm{"tensorboard", "projects/P/locations/L/tensorboards/T", &kPattern};
  return kForm;
}

NameForm ContextForm(std::string_view field) {
  static const RE2 kPattern(
      "projects/[^/]+/locations/[a-z0-9-]+/metadataStores/[^/]+/contexts/[^/]+", RE2::Latin1);
  return {field, "projects/P/locations/L/metadataStores/S/contexts/C", &kPattern};
}

const NameForm& ModelForm() {
  static const RE2 kPattern("projects/[^/]+/locations/[a-z0-9-]+/models/[^/]+", RE2::Latin1);
  static const NameForm kForm{"models", "projects/P/locations/L/models/M or .../M@VERSION",
                              &kPattern};
  return kForm;
}

const NameForm& AttachmentForm() {
  static const RE2 kPattern(
      "(projects/[^/]+/regions/[a-z0-9-]+/networkAttachments/)?"
      "[a-z]([-a-z0-9]{0,61}[a-z0-9])?",
      RE2::Latin1);
  static const NameForm kForm{"psc_interface_config.network_attachment",
                              "projects/P/regions/R/networkAttachments/N, or N alone", &kPattern};
  return kForm;
}

const NameForm& RangeForm() {
  static const RE2 kPattern("[a-z]([-a-z0-9]{0,61}[a-z0-9])?", RE2::Latin1);
  static const NameForm kForm{"reserved_ip_ranges", "of lowercase letters, digits and dashes",
                              &kPattern};
  return kForm;
}

const NameForm& LocationForm() {
  static const RE2 kPattern("[a-z]+(-[a-z0-9]+)*", RE2::Latin1);
  static const NameForm kForm{"protected_artifact_location_id", "of a location, as us-central1",
                              &kPattern};
  return kForm;
}

const NameForm& PersistentResourceForm() {
  static const RE2 kPattern("[a-z]([-a-z0-9]{0,61}[a-z0-9])?", RE2::Latin1);
  static const NameForm kForm{"persistent_resource_id",
                              "of lowercase letters, digits and dashes, at most 63 characters",
                              &kPattern};
  return kForm;
}

void ExamineFlexStart(const Examination& exam) {
  const MachineSpec* first = nullptr;
  bool differ = false;
  for (size_t i = 0; i < exam.spec.pools.size(); ++i) {
    const WorkerPoolSpec& pool = exam.spec.pools[i];
    if (pool.IsEmpty() || !pool.machine) continue;
    const MachineSpec& machine = *pool.machine;
    const std::string type = machine.HasAcceleratorType() ? machine.accelerator_type : "";
    if (!exam.options.catalog->HasFlexStart(type)) {
      exam.Report({PoolField(i, "machine_spec.accelerator_type"),
                   violations::FlexStartWithout(type, exam.options.catalog->flex_start())});
    }
    if (first == nullptr) first = &machine;
    differ = differ || machine.machine_type != first->machine_type ||
             machine.accelerator_type != first->accelerator_type ||
             machine.accelerator_count != first->accelerator_count;
  }
  if (differ) {
    exam.Report({"job_spec.worker_pool_specs", violations::FlexStartMachinesDiffer()});
  }
  const auto& timeout = exam.spec.scheduling.timeout;
  if (timeout && *timeout > kFlexStartTimeoutMax) {
    exam.Report({"job_spec.scheduling.timeout", violations::FlexStartTimeoutTooLong(*timeout)});
  }
}

// A pod is more than the eight cores of one TPU device.
void ExamineSpot(const Examination& exam) {
  constexpr int32_t kTpuDeviceMax = 8;
  for (size_t i = 0; i < exam.spec.pools.size(); ++i) {
    const auto& machine = exam.spec.pools[i].machine;
    if (!machine || !IsTpu(machine->accelerator_type)) continue;
    if (machine->accelerator_count <= kTpuDeviceMax) continue;
    exam.Report(
        {PoolField(i, "machine_spec.accelerator_count"),
         violations::SpotWithTpuPod(machine->accelerator_type, machine->accelerator_count)});
  }
}

void ExamineOutput(const Examination& exam) {
  const std::string field = "job_spec.base_output_directory.output_uri_prefix";
  if (!exam.spec.output_uri_prefix) return;
  const std::string& uri = *exam.spec.output_uri_prefix;
  if (uri.empty()) {
    exam.Report({field, violations::Required()});
  } else if (const auto parsed = google::ParseGcsUri(uri); !parsed.ok()) {
    exam.Report({field, violations::OutputMalformed(uri, parsed.error().message)});
  }
}

}  // namespace

void ExamineScheduling(const Examination& exam) {
  const Scheduling& scheduling = exam.spec.scheduling;
  if (scheduling.timeout && *scheduling.timeout <= Duration(0)) {
    exam.Report(
        {"job_spec.scheduling.timeout", violations::TimeoutNotPositive(*scheduling.timeout)});
  }
  if (scheduling.max_wait && *scheduling.max_wait < Duration(0)) {
    exam.Report({"job_spec.scheduling.max_wait_duration",
                 violations::MaxWaitNegative(*scheduling.max_wait)});
  }
  if (scheduling.IsFlexStart()) ExamineFlexStart(exam);
  if (scheduling.IsSpot()) ExamineSpot(exam);
}

void ExaminePlace(const Examination& exam) {
  const CustomJobSpec& spec = exam.spec;
  ExamineOutput(exam);
  if (!spec.service_account.empty() && !google::IsServiceAccount(spec.service_account)) {
    exam.Report(
        {"job_spec.service_account", violations::ServiceAccountMalformed(spec.service_account)});
  }
  if (!spec.tensorboard.empty() && spec.service_account.empty()) {
    exam.Report({"job_spec.service_account", violations::TensorboardWithoutAccount()});
  }
  ExamineName(exam, spec.tensorboard, TensorboardForm());
  ExamineName(exam, spec.persistent_resource_id, PersistentResourceForm());
  if (!spec.network.empty() && !google::IsNetworkName(spec.network)) {
    exam.Report({"job_spec.network", violations::NetworkMalformed(spec.network)});
  }
  for (const std::string& range : spec.reserved_ip_ranges) ExamineName(exam, range, RangeForm());
  ExamineName(exam, spec.network_attachment, AttachmentForm());
  ExamineName(exam, spec.experiment, ContextForm("experiment"));
  ExamineName(exam, spec.experiment_run, ContextForm("experiment_run"));
  for (const std::string& model : spec.models) ExamineName(exam, model, ModelForm());
  ExamineName(exam, spec.protected_artifact_location_id, LocationForm());
}

}  // namespace caip::vertex
