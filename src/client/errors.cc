#include "client/errors.h"

#include "base/text.h"

namespace caip::client::errors {
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
Error IntegerTooLarge(std::string_view text) {
  return Invalid("Value must be less than or equal to 9223372036854775807; received: " + S(text));
}
Error NotABoolean(std::string_view text) {
  return Invalid("Invalid flag value [" + S(text) + "], expected one of [true, yes, false, no]");
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
  return Invalid("Key [" + S(key) +
                 "] required in dict arg but not provided. Write type=TYPE,count=N.");
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
Error StagingBucketForm(std::string_view text) {
  return Invalid(
      "Must be a valid Google Cloud Storage bucket of the form [gs://somebucket]; received: " +
      S(text));
}
Error ObjectForm(std::string_view text) {
  return Invalid("Must be of form gs://bucket/object; received: " + S(text));
}
Error BucketWithFolder(std::string_view text) {
  return BadBucketName(text, "Name only the bucket: gs://" + S(text.substr(0, text.find('/'))));
}
Error BadBucketName(std::string_view bucket, std::string_view rule) {
  return Invalid("Invalid bucket name [" + S(bucket) + "]: " + S(rule));
}
Error BadObjectName(std::string_view object, std::string_view rule) {
  return Invalid("Invalid object name [" + S(object) + "]: " + S(rule));
}
Error RegionMissing() {
  return Invalid(
      "The required property [region] is not currently set.\nGive --region, or set the environment "
      "variable [CLOUDSDK_COMPUTE_REGION], or run:\n\n  $ gcloud config set compute/region VALUE\n"
      "\nA region in the file of --config is never used.");
}
// A property that is missing is not a wrong value: exit code 1, as gcloud's.
Error ProjectMissing() {
  return {Code::kFailedPrecondition,
          "The required property [project] is not currently set.\nGive --project, or set the "
          "environment variable [CLOUDSDK_CORE_PROJECT], or run:\n\n  $ gcloud config set project "
          "VALUE\n\nAny project ID works: the emulator has every project."};
}
Error ProjectEmpty() {
  return Invalid(
      "The project property is set to the empty string, which is invalid.\nGive --project a "
      "value.");
}
// gcloud reports a value with capitals, blanks or quotes as the display name of a project.
Error ProjectNotAnId(std::string_view project) {
  const std::string_view marks = " !\"'";
  const char first = project.empty() ? '\0' : project.front();
  const bool name = first == '-' || (first >= '0' && first <= '9') ||
                    (first >= 'A' && first <= 'Z') ||
                    project.find_first_of(marks) != std::string_view::npos;
  const std::string must = "The project property must be set to a valid project ID, ";
  return Invalid(
      must +
      (name ? "not the project name [" + std::string(project) + "]"
            : "[" + std::string(project) + "] is not a valid project ID.") +
      "\nAn ID has lowercase letters, digits and dashes. It does not start or end with a dash.");
}
Error ProjectNumberGiven() {
  return Invalid(
      "The value of ``--project'' flag was set to Project number. To use this command, set it to "
      "PROJECT ID instead.");
}
Error EncryptionKeyIncomplete() {
  return Invalid(
      "Invalid value for [--kms-key]: Encryption key not fully specified.\nGive "
      "projects/P/locations/L/keyRings/R/cryptoKeys/K, or --kms-keyring and --kms-location too.");
}
Error NoStagingLocation() {
  return Invalid(
      "If local packages are provided, the `--staging-bucket` or `--job-dir` flag must be "
      "given.\nGive --staging-bucket gs://BUCKET. `caip buckets create gs://BUCKET` creates one.");
}
Error MissingInit(std::string_view package_directory) {
  return Invalid("[" + S(package_directory) +
                 "] is not a valid Python package because it does not contain an `__init__.py` "
                 "file. Please create one and try again. Also, please ensure that --package-path "
                 "refers to a local directory.");
}
Error PackageFolderMissing(std::string_view directory, std::string_view nearest) {
  return Invalid("Source directory [" + S(directory) + "] is not a valid directory.\n" +
                 "It does not exist. " +
                 (nearest.empty() ? "Give --package-path the folder of the Python package."
                                  : "Did you mean --package-path " + S(nearest) + "?"));
}
Error PackageFolderIsAFile(std::string_view file) {
  const std::string folder = S(file.substr(0, file.rfind('/')));
  return Invalid("Source directory [" + S(file) + "] is not a valid directory.\n" +
                 "It is a file. Give --package-path the folder of the Python package: " + folder);
}
Error SourceDirectoryInvalid(std::string_view directory) {
  return Invalid("Source directory [" + S(directory) + "] is not a valid directory.");
}
Error SourceTreeUnreadable(std::string_view root) {
  return {Code::kNotFound, "Cannot read the source tree below [" + S(root) + "]."};
}
Error CachedPackageGone(std::string_view directory) {
  return {Code::kNotFound,
          "Another process removed the built package from [" + S(directory) + "]."};
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
          "setup.py sdist succeeded but created no package. setup.py must call setup()."};
}
Error BuildInterrupted() { return {Code::kCancelled, "The build of the package was interrupted."}; }
Error DuplicatePackages(const std::vector<std::string>& names) {
  return Invalid("Cannot upload multiple packages with the same filename: [" + Join(names, ", ") +
                 "]");
}
Error FileUnreadable(std::string_view path, std::string_view why) {
  return {Code::kNotFound, "Unable to read file [" + S(path) + "]: " + S(why) +
                               "\n--packages takes archives that exist. To build one from a source "
                               "tree, give --package-path DIR instead."};
}
Error UploadDiffers(std::string_view path) {
  return {Code::kDataLoss,
          "Cloud storage upload failure. Uploaded file does not match local file: " + S(path) +
              ". Please retry."};
}
Error BucketMissing(std::string_view bucket) {
  return {Code::kNotFound,
          "Could not upload file: [" + S(bucket) +
              "] bucket does not exist.\nCreate it with `caip buckets create gs://" + S(bucket) +
              "`, or give --create-buckets."};
}
Error BucketRefused(std::string_view bucket, int status, std::string_view why) {
  return {Code::kInternal, "Could not create the bucket [" + S(bucket) + "]: HTTP status " +
                               std::to_string(status) + ": " + S(why)};
}
Error UploadRefused(std::string_view path, int status, std::string_view why) {
  return {Code::kInternal, "Could not upload file [" + S(path) + "]: HTTP status " +
                               std::to_string(status) + ": " + S(why)};
}
Error EmulatorUnreachable(std::string_view doing, std::string_view why) {
  return {Code::kUnavailable, "The emulator did not answer while " + S(doing) + ": " + S(why)};
}
Error Reworded(const Error& cause, std::string text) { return {cause.code, std::move(text)}; }
Error ServiceRefused(int status, std::string_view name, std::string text,
                     std::vector<FieldViolation> violations) {
  const Code code = name == "FAILED_PRECONDITION" ? Code::kFailedPrecondition
                    : status == 400               ? Code::kInvalidArgument
                    : status == 404               ? Code::kNotFound
                    : status == 409               ? Code::kAlreadyExists
                                                  : Code::kUnknown;
  return {code, std::move(text), std::move(violations)};
}
Error JobIdTaken(const Error& refusal, std::string_view job, std::string_view project) {
  return {refusal.code, refusal.message + "\nThe id '" + S(job) +
                            "' is taken. Choose another id, or remove the job that has it when it "
                            "has ended:\n\n  $ caip jobs delete " +
                            S(job) + " --project " + S(project)};
}
Error JobIdStaysTaken(const Error& refusal, std::string_view job) {
  return {refusal.code, refusal.message + "\nA removed job had the id '" + S(job) +
                            "', which stays taken because of --strict. Choose another id."};
}
Error PackagesUnreadable(const Error& refusal, const std::vector<std::string>& uris) {
  return {refusal.code,
          refusal.message + "\nCheck that each package exists:\n\n  $ caip ls " + Join(uris, " ")};
}
Error JobMissing(const Error& refusal, std::string_view job, std::string_view project) {
  if (IsDigits(job)) {  // no job of AI Platform Training has such a name
    return {refusal.code, refusal.message + "\n'" + S(job) +
                              "' is an id of Vertex AI. To show the job, run:\n\n  $ caip ai "
                              "custom-jobs describe " +
                              S(job) + " --region REGION --project " + S(project)};
  }
  return {refusal.code, refusal.message + "\nThe project [" + S(project) + "] has no job '" +
                            S(job) + "'. To list its jobs, run:\n\n  $ caip jobs list --project " +
                            S(project)};
}
Error ConfigUnreadable(std::string_view path, std::string_view why) {
  return Invalid("Failed to load YAML from [" + S(path) + "]: " + S(why) +
                 "\nName a file that exists, in YAML or JSON.");
}
Error ConfigBroken(std::string_view path, std::string_view why) {
  return Invalid("Failed to parse YAML from [" + S(path) + "]: " + S(why));
}
std::string DuplicateKeyWarning(std::string_view place, std::string_view key) {
  return "WARNING: " + S(place) + ": " + S(key) +
         " occurs twice; only the first is used. Remove one of the two.\n";
}

}  // namespace caip::client::errors
