#include "ml/validate/violations.h"

#include "base/quoting.h"
#include "base/text.h"
#include "base/time_text.h"
#include "google/labels.h"
#include "ml/limits.h"
#include "run/limits.h"

namespace caip::ml {
namespace {

std::string Bracketed(const std::vector<std::string>& list) { return "[" + Join(list, ", ") + "]"; }

}  // namespace

namespace violations {

FieldViolation JobIdMalformed(std::string_view job_id) {
  return {"job.job_id", "The job id " + Quoted(job_id) +
                            " is illegal. It must begin with a letter and have only letters, "
                            "digits and underscores, at most " +
                            std::to_string(kJobIdLengthMax) + " characters."};
}

FieldViolation InputMissing() {
  return {"job.training_input",
          "Exactly one of training_input, prediction_input and explanation_input must be set, but "
          "none is. Send training_input."};
}

FieldViolation InputAmbiguous() {
  return {"job.training_input",
          "Exactly one of training_input, prediction_input and explanation_input must be set, but "
          "several are. Send training_input only."};
}

FieldViolation InputNotEmulated(std::string_view field) {
  return {"job." + std::string(field),
          "Prediction and explanation jobs are not emulated: only training jobs are. Send "
          "training_input."};
}

FieldViolation ArchitectureSearchNotEmulated() {
  return {"nas_job_spec",
          "Neural architecture search is not emulated. Remove nas_job_spec; hyperparameters are "
          "for tuning jobs."};
}

FieldViolation TooManyLabels(size_t count) {
  return {"job.labels", "The job has " + std::to_string(count) + " labels. At most " +
                            std::to_string(google::kLabelsMax) + " are allowed."};
}

FieldViolation LabelKeyIllegal(std::string_view key) {
  return {"job.labels", "The label key " + Quoted(key) +
                            " is illegal. It must begin with a lowercase letter and have only "
                            "lowercase letters, numbers, hyphens and underscores, at most " +
                            std::to_string(google::kLabelLengthMax) + " characters."};
}

FieldViolation LabelValueIllegal(std::string_view key, std::string_view value) {
  return {"job.labels", "The value " + Quoted(value) + " of label " + Quoted(key) +
                            " is illegal. It may have only lowercase letters, numbers, hyphens and "
                            "underscores, at most " +
                            std::to_string(google::kLabelLengthMax) + " characters."};
}

FieldViolation Required(std::string field, std::string_view advice) {
  return {std::move(field), "The field is required. " + std::string(advice)};
}

FieldViolation HoldsNul(std::string field) {
  return {std::move(field),
          "The text has a NUL character, which no command line can hold. Remove it."};
}

FieldViolation ImageMalformed(Role role, std::string_view image_uri) {
  return {RoleField(role, "config.image_uri"),
          Quoted(image_uri) +
              " is not a container image. It must have the form REGISTRY/PATH:TAG or "
              "REGISTRY/PATH@DIGEST, for example gcr.io/my-project/trainer:v1."};
}

FieldViolation ImageWithoutMasterImage(Role role) {
  return {RoleField(role, "config.image_uri"),
          "An image for the " + std::string(RoleInProse(role)) +
              " needs an image for the master. Set master_config.image_uri, too."};
}

FieldViolation ImageAndRuntime() {
  return {"runtime_version",
          "Only one of runtime_version and master_config.image_uri can be set: an image brings its "
          "own runtime. Remove one of them."};
}

FieldViolation CommandWithoutImage(Role role, std::string_view field) {
  return {RoleField(role, "config." + std::string(field)),
          std::string(field) +
              " needs a custom container. Set master_config.image_uri, or use args for a Python "
              "module."};
}

FieldViolation ArgsAndCommand(Role role) {
  return {"args", "args cannot be combined with container_command or container_args, which " +
                      RoleField(role, "config") + " has. Move args into container_args."};
}

FieldViolation ProgramBesideModule(Role role, std::string_view field) {
  return {
      RoleField(role, "config." + std::string(field)),
      "The pre-built container of the master runs python_module in all replicas: " +
          std::string(field) +
          " must not name another program. Remove it, or remove python_module and package_uris."};
}

FieldViolation BuiltInWith(std::string field) {
  const std::string text =
      "A built-in algorithm brings its own code: " + field + " must not be set. Remove it.";
  return {std::move(field), text};
}

FieldViolation TooManyPackages(size_t count) {
  return {"package_uris", "The job has " + std::to_string(count) + " package URIs. At most " +
                              std::to_string(kPackagesMax) + " are allowed."};
}

FieldViolation PackageMalformed(std::string_view uri, std::string_view why) {
  return {"package_uris",
          "The package " + Quoted(uri) + " is not an object in Cloud Storage. " + std::string(why)};
}

FieldViolation ModuleMalformed(std::string_view module) {
  return {"python_module",
          Quoted(module) +
              " is not a Python module. Give names joined by dots, without path and "
              "without .py: trainer.task"};
}

FieldViolation RuntimeMalformed(std::string_view version) {
  return {"runtime_version", "The runtime version " + Quoted(version) +
                                 " is malformed. It must have the form MAJOR.MINOR, as in '2.4'."};
}

FieldViolation RuntimeUnknown(std::string_view version, const std::vector<std::string>& known) {
  return {"runtime_version", "The specified runtime version " + Quoted(version) +
                                 " is not supported. Options are " + Bracketed(known) + "."};
}

FieldViolation PythonUnknown(std::string_view python, const std::vector<std::string>& known) {
  return {"python_version", "The specified Python version " + Quoted(python) +
                                " is not supported. Options are " + Bracketed(known) + "."};
}

FieldViolation PythonNotInRuntime(std::string_view python, std::string_view runtime,
                                  const std::vector<std::string>& pythons) {
  return {"python_version", "The specified Python version " + Quoted(python) +
                                " is not supported with runtime version " + Quoted(runtime) +
                                ". Options are " + Bracketed(pythons) + "."};
}

FieldViolation JobDirMalformed(std::string_view job_dir, std::string_view why) {
  return {"job_dir", "The job directory " + Quoted(job_dir) +
                         " is not a location in Cloud Storage. " + std::string(why)};
}

// The service's own words.
FieldViolation RegionNotAvailable(std::string_view region,
                                  const std::vector<std::string>& options) {
  return {"region", "The provided GCE region " + Quoted(region) +
                        " is not available. Options are " + Bracketed(options) + "."};
}

FieldViolation NetworkMalformed(std::string_view network) {
  return {"network", "The network " + Quoted(network) +
                         " is malformed. It must have the form "
                         "projects/NUMBER/global/networks/NAME, with the project's number."};
}

FieldViolation ServiceAccountMalformed(std::string_view account) {
  return {"service_account", "The service account " + Quoted(account) +
                                 " is malformed. Give its e-mail address, as in "
                                 "trainer@my-project.iam.gserviceaccount.com."};
}

FieldViolation KmsKeyMalformed(std::string_view key) {
  return {"encryption_config.kms_key_name",
          "The key name " + Quoted(key) +
              " is malformed. It must have the form "
              "projects/P/locations/REGION/keyRings/RING/cryptoKeys/KEY."};
}

FieldViolation KmsKeyElsewhere(std::string_view location, std::string_view region) {
  return {"encryption_config.kms_key_name", "The key is in location " + Quoted(location) +
                                                ", but the job's region is " + Quoted(region) +
                                                ". Both must be the same."};
}

FieldViolation MaxWaitTimeTooShort(Duration given) {
  return {"scheduling.max_wait_time",
          "The maximum wait time " + Quoted(ProtoDuration(given)) + " is too short. It must be " +
              Quoted(ProtoDuration(kMaxWaitTimeMin)) + " or more, or not be set."};
}

FieldViolation MaxRunningTimeNotPositive(Duration given) {
  return {"scheduling.max_running_time",
          "The maximum running time " + Quoted(ProtoDuration(given)) +
              " is illegal. It must be more than '0s', or not be set (" +
              ProtoDuration(run::kMaxRunningDefault) + ")."};
}

FieldViolation PriorityOutOfRange(int32_t priority) {
  return {"scheduling.priority", "The priority " + std::to_string(priority) +
                                     " is out of range. It must be 0 to " +
                                     std::to_string(kPriorityMax) + "."};
}

}  // namespace violations
}  // namespace caip::ml
