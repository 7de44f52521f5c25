#include "emulator/cli/errors.h"

#include <signal.h>

#include "base/text.h"

namespace caip::cli::errors {
namespace {

Error Invalid(std::string text) { return {Code::kInvalidArgument, std::move(text)}; }

std::string S(std::string_view text) { return std::string(text); }

constexpr std::string_view kLabelAlphabet =
    "Only hyphens (-), underscores (_), lowercase characters, and numbers are allowed. ";

}  // namespace

Error BadListDelimiter() {
  return Invalid(
      "Invalid delimiter. Write ^;^a;b to split at `;` instead of at commas: the delimiter stands "
      "between two carets.");
}
Error NotADictEntry(std::string_view entry) {
  return Invalid("Bad syntax for dict arg: [" + S(entry) +
                 "]. Write KEY=VALUE,...; a value with commas needs another delimiter: "
                 "^;^KEY=a,b;KEY2=c");
}
Error EmptyDictKey(std::string_view entry) {
  return Invalid("Invalid flag value [" + S(entry) + "]; write KEY=VALUE,...");
}
Error NotAnInteger(std::string_view text) {
  return Invalid("Value must be an integer; received: " + S(text));
}
Error IntegerTooSmall(std::string_view text, int64_t least) {
  return Invalid("Value must be greater than or equal to " + std::to_string(least) +
                 "; received: " + S(text));
}
Error NotARange(std::string_view text) {
  return Invalid("Expected two integers, FIRST..LAST; received: " + S(text));
}
Error IntegerTooLarge(std::string_view text) {
  return Invalid("Value must be less than or equal to 9223372036854775807; received: " + S(text));
}
Error PortTooLarge(std::string_view text) {
  return Invalid("Value must be less than or equal to 65535; received: " + S(text));
}
Error NotABoolean(std::string_view text) {
  return Invalid("Invalid flag value [" + S(text) + "], expected one of [true, yes, false, no]");
}
Error NoSuchChoice(std::string_view text, const std::vector<std::string>& choices) {
  return Invalid("Invalid choice: '" + S(text) + "'.\n\nValid choices are [" + Join(choices, ", ") +
                 "].");
}
Error UnknownAccelerator(std::string_view text, const std::vector<std::string>& choices) {
  return Invalid("Invalid accelerator: " + S(text) + ". Valid choices are: [" +
                 Join(choices, ", ") + "].");
}
Error AcceleratorCountTooSmall() {
  return Invalid("The count of the accelerator must be greater than 0.");
}
Error AcceleratorKeyUnknown(std::string_view key) {
  return Invalid("valid keys are [count, type]; received: " + S(key));
}
Error AcceleratorKeyMissing(std::string_view key) {
  return Invalid("Key [" + S(key) + "] required in dict arg but not provided");
}
Error BadLabelKey(std::string_view key) {
  return Invalid("Bad value [" + S(key) + "]: " + S(kLabelAlphabet) +
                 "Keys must start with a lowercase character. International characters are "
                 "allowed. Key length must not exceed 63 characters.");
}
Error BadLabelValue(std::string_view value) {
  return Invalid("Bad value [" + S(value) + "]: " + S(kLabelAlphabet) +
                 "International characters are allowed. Value length must not exceed 63 "
                 "characters.");
}
Error BadServiceAccount(std::string_view text) {
  return Invalid("Bad value [" + S(text) +
                 "]: Not a valid service account identifier. It should be either a numeric string "
                 "representing the unique_id or an email of the form: "
                 "my-iam-account@somedomain.com or "
                 "my-iam-account@PROJECT_ID.iam.gserviceaccount.com");
}
Error StagingBucketForm() {
  return Invalid("Must be a valid Google Cloud Storage bucket of the form [gs://somebucket]");
}
Error ObjectForm() { return Invalid("Must be of form gs://bucket/object"); }
Error BadBucketName(std::string_view bucket, std::string_view rule) {
  return Invalid("Invalid bucket name [" + S(bucket) + "]: " + S(rule));
}
Error BadObjectName(std::string_view object, std::string_view rule) {
  return Invalid("Invalid object name [" + S(object) + "]: " + S(rule));
}
Error ExpectedOneArgument() { return Invalid("expected one argument"); }
Error TakesNoValue(std::string_view value) {
  return Invalid("ignored explicit argument '" + S(value) + "'");
}
Error MustBeSpecified() { return Invalid("Must be specified."); }
Error OtherMustBeSpecified(std::string_view flag) {
  return Invalid(S(flag) + " must be specified.");
}
Error AtMostOneOf(const std::vector<std::string>& flags) {
  return Invalid("At most one of " + Join(flags, " | ") + " can be specified.");
}

Error PlotFileKind(const std::string& file) {
  return Invalid("Bad value [" + file + "]: a plot is FILE.html or FILE.svg.");
}

Error Argument(std::string_view flag, const Error& error) {
  return {error.code, "argument " + S(flag) + ": " + error.message};
}
Error UnrecognizedArguments(const std::vector<std::string>& words, const std::string& nearest) {
  std::string text = "unrecognized arguments: " + Join(words, " ");
  if (!nearest.empty()) text += " (did you mean '" + nearest + "'?)";
  return Invalid(std::move(text));
}
Error NoSuchCommand(std::string_view word, const std::string& nearest) {
  std::string text = "Invalid choice: '" + S(word) + "'.";
  if (!nearest.empty()) text += "\nMaybe you meant:\n  " + nearest;
  return Invalid(std::move(text));
}
Error CommandMissing() { return Invalid("Command name argument expected."); }

Error NoTuningJob(const std::string& job) {
  return {Code::kFailedPrecondition,
          "The job " + job + " has no hyperparameters, so it has no trials."};
}

Error RegionMissing() {
  return Invalid(
      "The required property [region] is not currently set.\nGive --region, or set the environment "
      "variable [CLOUDSDK_COMPUTE_REGION], or run:\n\n  $ gcloud config set compute/region VALUE\n"
      "\nA region in the file of --config is never used.");
}
Error ProjectMissing() {
  return Invalid(
      "The required property [project] is not currently set.\nGive --project, or set the "
      "environment variable [CLOUDSDK_CORE_PROJECT], or run:\n\n  $ gcloud config set project "
      "VALUE\n\nAny project id will do: the emulator has every project.");
}
Error ProjectEmpty() {
  return Invalid(
      "The project property is set to the empty string, which is invalid.\nGive --project a name.");
}
Error EncryptionKeyIncomplete() {
  return Invalid(
      "Invalid value for [--kms-key]: Encryption key not fully specified.\nGive "
      "projects/P/locations/L/keyRings/R/cryptoKeys/K, or --kms-keyring and --kms-location too.");
}
Error NoStagingLocation() {
  return Invalid(
      "If local packages are provided, the `--staging-bucket` or `--job-dir` flag must be given.");
}
Error MissingInit(std::string_view package_directory) {
  return Invalid("[" + S(package_directory) +
                 "] is not a valid Python package because it does not contain an `__init__.py` "
                 "file. Please create one and try again. Also, please ensure that --package-path "
                 "refers to a local directory.");
}
Error SourceDirectoryInvalid(std::string_view directory) {
  return Invalid("Source directory [" + S(directory) + "] is not a valid directory.");
}
Error RootNotCopied(std::string_view root, std::string_view why) {
  return Invalid("Cannot copy [" + S(root) +
                 "], which is not writable, to build the package elsewhere: " + S(why));
}
Error NoPython(std::string_view why) {
  return {Code::kFailedPrecondition,
          "No Python executable found on path. A Python executable with setuptools installed is "
          "required for building training packages: " +
              S(why)};
}
Error BuildFailed(std::string_view output, bool setup_generated) {
  std::string text = "Packaging of user Python code failed with message:\n\n" + S(output) + "\n\n";
  if (setup_generated) {
    text += "Try manually writing a setup.py file at your package root and rerunning the command.";
  } else {
    text +=
        "Try manually building your Python code by running:\n  $ python setup.py sdist\nand "
        "providing the output via the `--packages` flag (for example, `--packages "
        "dist/package.tar.gz,dist/package2.whl)`";
  }
  return {Code::kFailedPrecondition, std::move(text)};
}
Error BuildMadeNothing() {
  return {Code::kFailedPrecondition,
          "setup.py sdist succeeded but made no package. Does it call setup()?"};
}
Error BuildInterrupted() {
  return {Code::kCancelled, "The building of the package was interrupted."};
}
Error DuplicatePackages(const std::vector<std::string>& names) {
  return Invalid("Cannot upload multiple packages with the same filename: [" + Join(names, ", ") +
                 "]");
}
Error FileUnreadable(std::string_view path, std::string_view why) {
  return {Code::kNotFound, "Unable to read file [" + S(path) + "]: " + S(why)};
}
Error UploadDiffers(std::string_view path) {
  return {Code::kDataLoss,
          "Cloud storage upload failure. Uploaded file does not match local file: " + S(path) +
              ". Please retry."};
}
Error BucketMissing(std::string_view bucket) {
  return {Code::kNotFound, "Could not upload file: [" + S(bucket) +
                               "] bucket does not exist.\nMake it with `caip buckets create gs://" +
                               S(bucket) + "`, or give --create-buckets."};
}
Error BucketRefused(std::string_view bucket, int status, std::string_view why) {
  return {Code::kInternal, "Could not make the bucket [" + S(bucket) + "]: HTTP status " +
                               std::to_string(status) + ": " + S(why)};
}
Error UploadRefused(std::string_view path, int status, std::string_view why) {
  return {Code::kInternal, "Could not upload file [" + S(path) + "]: HTTP status " +
                               std::to_string(status) + ": " + S(why)};
}
Error ConfigUnreadable(std::string_view path, std::string_view why) {
  return Invalid("Failed to load YAML from [" + S(path) + "]: " + S(why));
}
Error ConfigBroken(std::string_view path, std::string_view why) {
  return Invalid("Failed to parse YAML from [" + S(path) + "]: " + S(why));
}
Error EmulatorUnreachable(std::string_view doing, std::string_view why) {
  return {Code::kUnavailable, "The emulator did not answer while " + S(doing) + ": " + S(why)};
}
std::string AsyncDeprecated() {
  return "WARNING: The --async flag is deprecated, as the default behavior is to submit the job "
         "asynchronously; it can be omitted. For synchronous behavior, please pass "
         "--stream-logs.\n\n";
}
std::string DuplicateKeyWarning(std::string_view place, std::string_view key) {
  return "WARNING: " + S(place) + ": " + S(key) + " stands twice; only the first is used.\n";
}
std::string IgnoredWithoutDistributed(std::string_view flag) {
  return "WARNING: " + S(flag) +
         " is ignored if --distributed is not provided.\nDid you mean to run distributed "
         "training?\n";
}
std::string TensorFlowNotImported(std::string_view python) {
  return "WARNING: Cannot import tensorflow under path " + S(python) +
         ". Using \"chief\" for cluster setting.\nIf this is not intended, check that tensorflow "
         "is installed there, or choose another Python: set CLOUDSDK_ML_ENGINE_LOCAL_PYTHON, or "
         "run\n  gcloud config set ml_engine/local_python /usr/bin/python3\n";
}
std::string TensorFlowVersionUnexpected(std::string_view version) {
  return "WARNING: Unexpected tensorflow version " + S(version) +
         ", using the default primary node name, aka \"chief\" for cluster settings\n";
}
std::string Submitted(std::string_view job) {
  return "Job [" + S(job) + "] submitted successfully.\n";
}
std::string FollowUp(std::string_view job) {
  return "Your job is still active. You may view the status of your job with the command\n\n  $ "
         "caip ai-platform jobs describe " +
         S(job) +
         "\n\nor continue streaming the logs with the command\n\n  $ caip ai-platform jobs "
         "stream-logs " +
         S(job) + "\n";
}
std::string Interrupted(int signal) {
  return signal == SIGTERM  ? "Received SIGTERM.\n\n"
         : signal == SIGHUP ? "The terminal was closed.\n\n"
                            : "Received keyboard interrupt.\n\n";
}
std::string InterruptedEarly() { return "Interrupted; nothing was submitted.\n"; }
std::string EmulatorStopped(std::string_view job) {
  return "The emulator was stopped, and the job waits for the next one. Start it, and continue "
         "streaming the logs, with the command\n\n  $ caip ai-platform jobs stream-logs " +
         S(job) + "\n";
}
std::string PollingFailed(std::string_view why) {
  return "Polling logs failed:\n" + S(why) + "\n\n";
}
std::string JobFits(std::string_view job) {
  return "Job [" + S(job) + "] is valid; nothing was submitted.\n";
}

}  // namespace caip::cli::errors
