#include "client/vertex/vertex_errors.h"

#include <utility>

#include "base/text.h"

namespace caip::client::vertex::errors {
namespace {

std::string Own(std::string_view text) { return std::string(text); }

Error Wrong(std::string text, std::vector<FieldViolation> violations = {}) {
  return {Code::kInvalidArgument, std::move(text), std::move(violations)};
}

Error WrongPool(std::string text) {
  return Wrong("Invalid value for [--worker-pool-spec]: " + std::move(text));
}

}  // namespace

// A property that is missing is not a wrong value: exit code 1, as gcloud's.
Error RegionMissing(std::string_view argument, std::string_view noun) {
  const bool is_job = argument != "region";
  return {Code::kFailedPrecondition,
          "Error parsing [" + Own(argument) + "].\nThe [" + Own(noun) +
              "] resource is not properly specified.\nFailed to find attribute [region]. The "
              "attribute can be set in the following ways: \n" +
              (is_job ? "- provide the argument `" + Own(argument) +
                            "` on the command line with a fully specified name\n"
                      : "") +
              "- provide the argument `--region` on the command line\n"
              "- set the property `ai/region`: `gcloud config set ai/region REGION`, or the "
              "environment variable CLOUDSDK_AI_REGION"};
}

Error RegionUnknown(std::string_view region, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(region, known);
  return {Code::kFailedPrecondition,
          "Invalid value for [region]: Available values are [" + Join(known, ", ") +
              "], but found [" + Own(region) + "]." +
              (nearest.empty() ? "" : "\nMaybe you meant " + nearest + ".")};
}

Error JobNameMissing(std::string_view argument, std::string_view noun) {
  return {Code::kFailedPrecondition,
          "Error parsing [" + Own(argument) + "].\nThe [" + Own(noun) +
              "] resource is not properly specified.\nFailed to find attribute [name]. The "
              "attribute can be set in the following ways: \n- provide the argument `" +
              Own(argument) + "` on the command line"};
}

Error JobMissing(const Error& refusal, std::string_view command, std::string_view region,
                 std::string_view project) {
  return {refusal.code,
          refusal.message + "\nTo list the jobs of this region, run:\n\n  $ caip ai " +
              Own(command) + " list --region " + Own(region) + " --project " + Own(project)};
}

Error PoolKeyUnknown(std::string_view key, const std::vector<std::string>& known) {
  const std::string nearest = NearestName(key, known);
  return Wrong("valid keys are [" + Join(known, ", ") + "]; received: " + Own(key) +
               (nearest.empty() ? "" : ". Did you mean " + nearest + "?"));
}

Error PoolValue(std::string_view key, const Error& cause) {
  return Wrong("Bad value of [" + Own(key) + "]: " + cause.message);
}

Error WordRepeated(std::string_view word) {
  return Wrong("\"" + Own(word) +
               "\" cannot be specified multiple times. Write the list into the file of --config, "
               "where words may be repeated.");
}

Error FirstPoolEmpty() {
  return WrongPool(
      "Empty value is not allowed for the first `--worker-pool-spec` flag.\nThe first pool has the "
      "chief replica: give it machine-type and an image.");
}

Error MachineTypeMissing() {
  return WrongPool(
      "Key [machine-type] required in dict arg but not provided.\nWrite "
      "machine-type=n1-standard-4 into each pool.");
}

Error AcceleratorTypeMissing() {
  return WrongPool(
      "Key [accelerator-type] required as [accelerator-count] is specified.\nWrite "
      "accelerator-type=NVIDIA_TESLA_T4, or leave the count out.");
}

Error AcceleratorTypeUnknown(std::string_view type, const std::vector<std::string>& known) {
  return WrongPool("Found invalid value of [accelerator-type]: " + Own(type) +
                   ". Available values are [" + Join(known, ", ") + "].");
}

Error OneImageRequired() {
  return WrongPool(
      "Exactly one of keys [executor-image-uri, container-image-uri] is required.\nGive "
      "container-image-uri for an image of your own, executor-image-uri and python-module for a "
      "package.");
}

Error ModuleWithContainer() {
  return WrongPool(
      "Key [python-module] is not allowed together with key [container-image-uri].\nThe image has "
      "its own entry point: leave python-module out.");
}

Error ModuleMissing() {
  return WrongPool(
      "Key [python-module] is required.\nIt is the module that runs in the executor image: "
      "python-module=trainer.task.");
}

Error KeysNeedLocalPackage(const std::vector<std::string>& keys) {
  return WrongPool("Keys [" + Join(keys, ", ") +
                   "] are not allowed: Only allow to specify together with `local-package-path` in "
                   "the first `--worker-pool-spec` flag.");
}

Error KeysBesideLocalPackage(const std::vector<std::string>& keys) {
  return WrongPool("Keys [" + Join(keys, ", ") +
                   "] are not allowed: A local package has been specified in the first "
                   "`--worker-pool-spec` flag and to be used for all workers, do not specify these "
                   "keys elsewhere..");
}

Error LocalPackageInLaterPool() {
  return WrongPool(
      "Key [local-package-path] is only allowed in the first `--worker-pool-spec` flag.\nAll pools "
      "run the package of the first one.");
}

Error PackageDirectoryMissing(std::string_view directory) {
  return WrongPool("Directory '" + Own(directory) +
                   "' is not found.\nGive local-package-path a directory that exists.");
}

Error ExecutorImageMissing() {
  return WrongPool("Key [executor-image-uri] is required when `local-package-path` is specified.");
}

Error OneEntryPointRequired() {
  return WrongPool(
      "Exactly one of keys [python-module, script] is required when `local-package-path` is "
      "specified.");
}

Error OutputImageElsewhere(std::string_view image) {
  return WrongPool(
      "The value of `output-image-uri` has to be a valid gcr.io or Artifact Registry image\nThe "
      "value is '" +
      Own(image) +
      "'. Write gcr.io/PROJECT/NAME or REGION-docker.pkg.dev/PROJECT/REPOSITORY/NAME.");
}

Error OutputImageInvalid(std::string_view image, std::string_view problem) {
  return WrongPool("'" + Own(image) + "' is not a valid container image uri: " + Own(problem));
}

std::string DependenciesNotInstalled(std::string_view directory,
                                     const std::vector<std::string>& names) {
  return "WARNING: caip runs the files of " + Own(directory) +
         " and builds no image, so it does not install " + Join(names, ", ") +
         ". The Python that runs the job needs them.\n";
}

Error EntryPointMissing(const std::vector<std::string>& flags) {
  return Wrong(
      "One of [--script, --python-module] must be supplied: They are required to build a training "
      "container image. Otherwise, please remove flags [" +
      Join(flags, ", ") + "] to directly run the `executor-image-uri`..");
}

Error ScriptMissing(std::string_view flag, std::string_view script, std::string_view directory) {
  return Wrong("Invalid value for [" + Own(flag) + "]: File '" + Own(script) +
               "' is not found under the package: '" + Own(directory) + "'.");
}

Error ExtraPackageMissing(std::string_view package, std::string_view directory) {
  return Wrong("Invalid value for [--extra-packages]: Package file '" + Own(package) +
               "' is not found under the package: '" + Own(directory) + "'.");
}

Error ExtraDirectoryMissing(std::string_view folder, std::string_view directory) {
  return Wrong("Invalid value for [--extra-dirs]: Directory '" + Own(folder) +
               "' is not found under the package: '" + Own(directory) + "'.");
}

Error LocalRunDirectoryMissing(std::string_view directory) {
  return Wrong("Invalid value for [--local-package-path]: Directory '" + Own(directory) +
               "' is not found.");
}

Error LocalRunImageInvalid(std::string_view image, std::string_view problem) {
  return Wrong("Invalid value for [--output-image-uri]: '" + Own(image) +
               "' is not a valid container image uri: " + Own(problem));
}

Error ExecutorImageEmpty() {
  return Wrong("The value of --executor-image-uri is empty. Name an image, or give --script.");
}

Error FileUnreadable(std::string_view path, std::string_view why) {
  return Wrong("Unable to read file [" + Own(path) + "]: " + Own(why) +
               "\nGive --config a file that exists, in YAML or JSON.");
}

Error FileBroken(std::string_view why) { return Wrong("Failed to parse YAML: " + Own(why)); }

Error SpecUnreadable(std::string_view crash, std::vector<FieldViolation> violations) {
  return Wrong("Cannot parse YAML: [" + Own(crash) + "]", std::move(violations));
}

Error OneTaskRequired(std::string pointer) {
  return Wrong(
      "Invalid value for [--config]: Exactly one of fields [pythonPackageSpec, containerSpec] is "
      "required for a [workerPoolSpecs] in the YAML config file.",
      {{std::move(pointer),
        "give this pool a containerSpec with imageUri, or a pythonPackageSpec with "
        "executorImageUri, pythonModule and packageUris"}});
}

Error TuningNamesUnknown(const std::vector<std::string>& paths,
                         std::vector<FieldViolation> violations) {
  return Wrong(
      "Failed to parse value(s) in protobuf "
      "[GoogleCloudAiplatformV1HyperparameterTuningJob]:\n  " +
          Join(paths, "\n  "),
      std::move(violations));
}

Error TuningJobUnreadable(std::string_view mismatch, std::vector<FieldViolation> violations) {
  const std::string type = "GoogleCloudAiplatformV1HyperparameterTuningJob";
  if (mismatch.empty()) {
    return Wrong("The file does not fit a HyperparameterTuningJob.", std::move(violations));
  }
  return Wrong("Failed to parse value in protobuf [" + type + "]:\n  " + type + ".??: \"" +
                   Own(mismatch) + "\"",
               std::move(violations));
}

Error TuningFileEmpty() {
  return Wrong(
      "The file of --config is empty. It must hold a HyperparameterTuningJob with studySpec and "
      "trialJobSpec.");
}

Error TrialJobSpecMissing(const std::vector<std::string>& flags) {
  return Wrong("The file of --config has no trialJobSpec, which " + Join(flags, ", ") +
               " would change. Add a trialJobSpec with workerPoolSpecs.");
}

FieldViolation NestedCustomJob(std::string_view key) {
  return {"/" + Own(key),
          "the file is a CustomJobSpec, not a CustomJob; begin it with the fields of jobSpec, such "
          "as workerPoolSpecs, and give --display-name and --labels"};
}

FieldViolation FilePoolsReplaced() {
  return {"/workerPoolSpecs",
          "--worker-pool-spec replaces all pools of the file; use one of the two"};
}

FieldViolation FileWordsReplaced(std::string pointer, std::string_view flag) {
  return {std::move(pointer), Own(flag) +
                                  " replaces this list in each pool; leave one of the two "
                                  "out"};
}

FieldViolation CommandUnused() {
  return {"--command", "no pool has a container, so the command is dropped; leave --command out"};
}

FieldViolation PackagesUnused() {
  return {"--python-package-uris",
          "no pool of --worker-pool-spec has an executor image, so the packages are dropped; write "
          "packageUris into the file, or leave the flag out"};
}

FieldViolation SwitchCannotUnset(std::string pointer, std::string_view flag) {
  return {std::move(pointer),
          Own(flag) + " does not change the file's true; remove it from the file"};
}

FieldViolation ContainerReplaced() {
  return {"--worker-pool-spec",
          "the image of local-package-path replaces container-image-uri; leave one of the two out"};
}

FieldViolation PoolKeyUnused(std::string_view key, std::string_view needed) {
  return {"--worker-pool-spec",
          "the key " + Own(key) + " has no effect without " + Own(needed) + "; leave it out"};
}

FieldViolation CountUnused(std::string_view flag) {
  return {Own(flag), "0 counts as not given; give a number from 1, or leave the flag out"};
}

FieldViolation AlgorithmUnused() {
  return {"--algorithm", "the file has no studySpec, so the algorithm is dropped; add a studySpec"};
}

}  // namespace caip::client::vertex::errors
