#include "migration/errors.h"

#include <utility>

#include "base/quoting.h"
#include "base/text.h"

namespace caip::migration::errors {

Error NotMigratable(std::vector<FieldViolation> reasons) {
  std::string text = "The job cannot be migrated to Vertex AI:";
  for (const FieldViolation& reason : reasons) {
    text += "\n  " + reason.field + ": " + reason.description;
  }
  return {Code::kInvalidArgument, std::move(text), std::move(reasons)};
}

FieldViolation BuiltInAlgorithm(std::string_view field, std::string_view image) {
  return {std::string(field),
          Quoted(image) +
              " is a built-in algorithm. Vertex AI custom training has none. Train with a package "
              "or an image of your own."};
}

FieldViolation Tpu(std::string_view field) {
  return {std::string(field),
          "The job drives a TPU node, which TPU_CONFIG names. In Vertex AI the trainer runs on the "
          "TPU's own machine, and there is no TPU_CONFIG. Let the trainer use its local TPU, and "
          "write a pool with machineType cloud-tpu."};
}

FieldViolation ResumedStudy(std::string_view job) {
  return {"hyperparameters.resume_previous_job_id",
          "The job continues the study of " + Quoted(job) +
              ". A tuning job of Vertex AI always begins a new one. Remove the field."};
}

FieldViolation RegionUnknown(std::string_view region, const std::vector<std::string>& known) {
  return {"region", "Vertex AI does not train in " + Quoted(region) +
                        ". Choose one of these regions: " + Join(known, ", ") + "."};
}

FieldViolation RuntimeWithoutImage(std::string_view runtime,
                                   const std::vector<std::string>& migratable) {
  return {"runtime_version",
          "No pre-built container of Vertex AI stands for the runtime version " + Quoted(runtime) +
              ". Name an image that runs the packages with --executor-image-uri, or choose one of "
              "these runtime versions: " +
              Join(migratable, ", ") + "."};
}

FieldViolation PythonWithoutImage(std::string_view python, std::string_view known) {
  return {
      "python_version",
      "The pre-built containers that stand for runtime versions have Python " + std::string(known) +
          ", not " + std::string(python) +
          ". Name an image that runs the packages with --executor-image-uri, or choose Python " +
          std::string(known) + "."};
}

FieldViolation RejectedByVertex(std::string_view field, std::string_view description) {
  return {std::string(field), "Vertex AI rejects the migrated job: " + std::string(description)};
}

Error NoFlagsFor(const std::vector<std::string>& facts) {
  std::string text =
      "The job skips a pool. gcloud takes such a job only from flags, and these parts of it have "
      "no flag:";
  for (const std::string& fact : facts) text += "\n  " + fact;
  return {Code::kInvalidArgument,
          text + "\nPrint the job without --as-command, and create it with the API."};
}

std::string DiskHasNoFlag(size_t pool) {
  return "workerPoolSpecs[" + std::to_string(pool) + "].diskSpec: No flag sets a disk.";
}

std::string ProgramsDiffer() {
  return "workerPoolSpecs: The flags --args, --command and --python-package-uris set those of all "
         "pools, but the pools differ.";
}

std::string WordRepeated(std::string_view word) {
  return "args or command: gcloud refuses a list with the word " + Quoted(word) + " twice.";
}

std::string NoSeparatorLeft(std::string_view flag) {
  return std::string(flag) + ": The words contain every character that could separate them.";
}

Error TablesBroken(std::string_view entry, std::string_view why) {
  return {Code::kInternal, "The tables of the migration are broken at " + Quoted(entry) + ": " +
                               std::string(why) + "."};
}

}  // namespace caip::migration::errors
