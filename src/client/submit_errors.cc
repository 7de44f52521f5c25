#include "client/submit_errors.h"

#include "base/json.h"
#include "base/text.h"

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

// What to do about a scalar that YAML gave another type than its writer had in mind.
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
    text +=
        "\nA masterType in the file is not enough; leave --scale-tier out and write CUSTOM there.";
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
  return {std::move(pointer), "a list may not hold an empty value"};
}

FieldViolation NotFinite(std::string pointer) {
  return {std::move(pointer), "JSON has no infinity and no NaN, so the service cannot be told"};
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
          "packageUris of the file are thrown away; pass them with --packages"};
}

FieldViolation WebAccessOverwritten() {
  return {"/trainingInput/enableWebAccess",
          "enableWebAccess: true of the file is overwritten with false; pass --enable-web-access"};
}

FieldViolation RegionIgnored(std::string_view in_file, std::string_view used) {
  return {"/trainingInput/region", "the region of the file, '" + std::string(in_file) +
                                       "', is never used (here: '" + std::string(used) +
                                       "'); pass --region"};
}

FieldViolation JobIdIgnored(std::string_view in_file, std::string_view used) {
  return {"/jobId", "the jobId of the file, '" + std::string(in_file) +
                        "', is lost: the command line says '" + std::string(used) +
                        "'; remove it from the file"};
}

FieldViolation ArgsErased() {
  return {"/trainingInput/args",
          "a `--` with nothing behind it erases the args of the file; leave the `--` out"};
}

FieldViolation LabelsReplaced(const std::vector<std::string>& lost) {
  return {"/labels", "--labels replaces the labels of the file whole, so " + Join(lost, ", ") +
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
  return {std::move(pointer), "a name that gcloud does not know wins even over " +
                                  std::string(flag) + "; remove it from the file"};
}

FieldViolation NotSpelledAsMeant(std::string pointer, const Json& value, std::string_view sent) {
  return {std::move(pointer),
          Shown(value) + " would be sent as " + std::string(sent) + "; write what you mean"};
}

FieldViolation DuplicateKey(std::string pointer) {
  return {std::move(pointer), "this key stands twice; only the first is used. Remove one"};
}

FieldViolation JobDirAmongUserArgs() {
  return {"USER_ARGS",
          "--job-dir behind `--` is an argument of your program only; the service neither checks "
          "it nor knows it. Put it before the `--`"};
}

Error Traps(std::vector<FieldViolation> violations) {
  return {Code::kInvalidArgument, "--strict: gcloud would do this without a word.",
          std::move(violations)};
}

}  // namespace caip::client::submit_errors
