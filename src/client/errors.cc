#include "client/errors.h"

#include "base/json.h"
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
      "VALUE\n\nAny project ID works: the emulator has every project.");
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
  return {Code::kNotFound, "Unable to read file [" + S(path) + "]: " + S(why)};
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
Error ServiceRefused(int status, std::string text) {
  const Code code = status == 400   ? Code::kInvalidArgument
                    : status == 404 ? Code::kNotFound
                    : status == 409 ? Code::kAlreadyExists
                                    : Code::kUnknown;
  return {code, std::move(text)};
}
Error ConfigUnreadable(std::string_view path, std::string_view why) {
  return Invalid("Failed to load YAML from [" + S(path) + "]: " + S(why));
}
Error ConfigBroken(std::string_view path, std::string_view why) {
  return Invalid("Failed to parse YAML from [" + S(path) + "]: " + S(why));
}
std::string DuplicateKeyWarning(std::string_view place, std::string_view key) {
  return "WARNING: " + S(place) + ": " + S(key) + " occurs twice; only the first is used.\n";
}

}  // namespace caip::client::errors

namespace caip::client::submit_errors {
namespace {

std::string Shown(const Json& value) {
  switch (value.type()) {
    case Json::value_t::string:
      return "the text " + CompactJson(value);
    case Json::value_t::boolean:
      return "the boolean " + CompactJson(value);
    case Json::value_t::null:
      return "nothing";
    case Json::value_t::object:
      return "a mapping";
    case Json::value_t::array:
      return "a list";
    default:
      return "the number " + CompactJson(value);
  }
}

std::string Listed(std::span<const std::string_view> names) {
  return Join(std::vector<std::string>(names.begin(), names.end()), ", ");
}

// The remedy for a scalar that YAML reads as another type than the user meant.
std::string Remedy(std::string_view wanted, const Json& value) {
  if (wanted != "text" || value.is_structured()) return "";
  if (value.is_boolean()) {
    return "; YAML reads y, n, yes, no, on, off, true and false as booleans: put it in quotes";
  }
  return "; put it in quotes";
}

}  // namespace

Error ImageAndRuntimeVersion() {
  return {Code::kInvalidArgument, "Only one of --master-image-uri, --runtime-version can be set."};
}

Error CustomTierNeedsMachineType(bool tier_from_file) {
  std::string text = "--master-machine-type is required if scale-tier is set to `CUSTOM`.";
  if (tier_from_file) {
    text +=
        "\n`custom` in lower case in the file counts as the flag; write CUSTOM there, or give "
        "--master-machine-type.";
  } else {
    text += "\nA masterType in the file is not enough; omit --scale-tier and write CUSTOM there.";
  }
  return {Code::kInvalidArgument, std::move(text)};
}

Error NoPackages(bool file_has_package_uris) {
  std::string text = "Non-custom jobs must have packages.";
  if (file_has_package_uris) {
    text += "\nThe file's packageUris are never used; pass them with --packages.";
  } else {
    text += "\nGive --package-path or --packages, or --master-image-uri for a container.";
  }
  return {Code::kInvalidArgument, std::move(text)};
}

FieldViolation NotAMapping(std::string pointer, const Json& value) {
  return {std::move(pointer), "expected a mapping, found " + Shown(value)};
}

FieldViolation WrongType(std::string pointer, std::string_view wanted, const Json& value) {
  return {std::move(pointer),
          "expected " + std::string(wanted) + ", found " + Shown(value) + Remedy(wanted, value)};
}

FieldViolation EmptyEnum(std::string pointer, std::span<const std::string_view> names) {
  return {std::move(pointer), "expected one of " + Listed(names) +
                                  "; gcloud cannot send an empty name or the number 0"};
}

FieldViolation NullInList(std::string pointer) {
  return {std::move(pointer), "a list cannot contain an empty value"};
}

FieldViolation NotFinite(std::string pointer) {
  return {std::move(pointer), "JSON has neither infinity nor NaN, so gcloud cannot send the value"};
}

FieldViolation BrokenBase64(std::string pointer, std::string_view text) {
  return {std::move(pointer), "'" + std::string(text) + "' is not base64"};
}

FieldViolation IsADate(std::string pointer) {
  return {std::move(pointer), "YAML reads this as a date, which no field takes; put it in quotes"};
}

FieldViolation ReservedKey(std::string pointer) {
  return {std::move(pointer), "gcloud cannot send this key; choose another"};
}

Error FileDoesNotFit(std::vector<FieldViolation> violations) {
  return {Code::kInvalidArgument, "The file does not fit a Job.", std::move(violations)};
}

FieldViolation PackageUrisDiscarded() {
  return {"/trainingInput/packageUris",
          "the packageUris of the file are discarded; pass them with --packages"};
}

FieldViolation WebAccessOverwritten() {
  return {"/trainingInput/enableWebAccess",
          "enableWebAccess: true in the file is overwritten with false; pass --enable-web-access"};
}

FieldViolation RegionIgnored(std::string_view in_file, std::string_view used) {
  return {"/trainingInput/region", "the region in the file, '" + std::string(in_file) +
                                       "', is never used (the job runs in '" + std::string(used) +
                                       "'); pass --region"};
}

FieldViolation JobIdIgnored(std::string_view in_file, std::string_view used) {
  return {"/jobId", "the jobId in the file, '" + std::string(in_file) +
                        "', is ignored: the command line gives '" + std::string(used) +
                        "'; remove it from the file"};
}

FieldViolation ArgsErased() {
  return {"/trainingInput/args",
          "a `--` with nothing after it erases the args of the file; remove the `--`"};
}

FieldViolation LabelsReplaced(const std::vector<std::string>& lost) {
  return {"/labels", "--labels replaces all labels of the file, so " + Join(lost, ", ") +
                         " would be lost; repeat them in --labels"};
}

FieldViolation UnknownKey(std::string pointer, std::string_view key, std::string_view nearest) {
  std::string text = "no field is called '" + std::string(key) +
                     "'; gcloud passes it on and the service refuses the job";
  if (!nearest.empty()) text += ". Did you mean '" + std::string(nearest) + "'?";
  return {std::move(pointer), std::move(text)};
}

FieldViolation UnknownEnum(std::string pointer, const Json& value,
                           std::span<const std::string_view> names) {
  return {std::move(pointer), "expected one of " + Listed(names) + ", found " + Shown(value) +
                                  "; gcloud passes it on and the service refuses the job"};
}

FieldViolation UnknownEnumBeatsFlag(std::string pointer, std::string_view flag) {
  return {std::move(pointer), "a name that gcloud does not know overrides even " +
                                  std::string(flag) + "; remove it from the file"};
}

FieldViolation NotSpelledAsMeant(std::string pointer, const Json& value, std::string_view sent) {
  return {std::move(pointer), Shown(value) + " would be sent as " + std::string(sent) +
                                  "; write the value that you mean"};
}

FieldViolation DuplicateKey(std::string pointer) {
  return {std::move(pointer), "this key occurs twice; only the first is used. Remove one"};
}

FieldViolation JobDirAmongUserArgs() {
  return {"USER_ARGS",
          "--job-dir after `--` is an argument of your program only; the service does not see it. "
          "Put it before the `--`"};
}

Error Traps(std::vector<FieldViolation> violations) {
  return {Code::kInvalidArgument, "--strict: gcloud would do this silently.",
          std::move(violations)};
}

}  // namespace caip::client::submit_errors
