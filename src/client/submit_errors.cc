#include "client/submit_errors.h"

#include <utility>

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

// The remedy for a scalar that YAML reads as another type than the user meant.
std::string Remedy(std::string_view wanted, const Json& value) {
  if (wanted == "a whole number") return "; write it in digits, as 2";
  if (wanted == "a number") return "; write it in digits, as 0.5";
  if (wanted != "text") return "";
  if (value.is_structured()) return "; write it on the line of its key";
  if (value.is_boolean()) {
    return "; YAML reads y, n, yes, no, on, off, true and false as booleans: put it in quotes";
  }
  return "; put it in quotes";
}

}  // namespace

Error ImageAndRuntimeVersion() {
  return {Code::kInvalidArgument,
          "Only one of --master-image-uri, --runtime-version can be set.\nA container has its own "
          "runtime: leave --runtime-version out."};
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

Error NoPackages(bool file_has_package_uris, std::string_view late_flag) {
  std::string text = "Non-custom jobs must have packages.";
  if (!late_flag.empty()) {
    text += "\n" + std::string(late_flag) +
            " after `--` is an argument of the trainer. Put it before the `--`.";
  } else if (file_has_package_uris) {
    text += "\nThe file's packageUris are never used; pass them with --packages.";
  } else {
    text += "\nGive --package-path or --packages, or --master-image-uri for a container.";
  }
  return {Code::kInvalidArgument, std::move(text)};
}

FieldViolation NotAMapping(std::string pointer, const Json& value) {
  const std::string remedy =
      pointer.empty() ? "; begin the file with `trainingInput:`, or for Vertex AI with "
                        "`workerPoolSpecs:` of a custom job or `studySpec:` of a tuning job, and "
                        "indent its fields"
                      : "; put its fields on the lines below it, indented, as key: value";
  return {std::move(pointer), "expected a mapping, found " + Shown(value) + remedy};
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

Error NoJobField(std::string_view path, std::string_view nearest) {
  return {Code::kInvalidArgument,
          "A job has no field '" + std::string(path) + "'. " +
              (nearest.empty() ? "Use a field as `caip jobs describe` prints it: createTime, state "
                                 "or trainingInput.region."
                               : "Did you mean " + std::string(nearest) + "?")};
}

std::string FieldOfOtherPlace(std::string_view key, const std::vector<std::string>& places) {
  const std::string field = "'" + std::string(key) + "' is a field of ";
  if (places == std::vector<std::string>{""}) {
    return field + "the job itself. Move it above `trainingInput:`, without indentation.";
  }
  const std::string last = places.back().substr(places.back().rfind('.') + 1);
  return field + Join(places, ", ") + ". Move it below " +
         (places.size() > 1 ? "one of them." : "`" + last + ":`, and indent it.");
}

std::string NoSuchField(std::string_view key, std::string_view nearest,
                        const std::vector<std::string>& known) {
  const std::string text = "no field is called '" + std::string(key) + "'. ";
  return nearest.empty() ? text + "The fields here are " + Join(known, ", ") + "."
                         : text + "Did you mean '" + std::string(nearest) + "'?";
}

std::string ProtoNameUsed(std::string_view name) {
  return "write it as '" + std::string(name) + "'. gcloud adds that name beside yours.";
}

std::string NoSuchEnumValue(const Json& value, std::span<const std::string_view> names) {
  std::vector<std::string> known;
  for (std::string_view name : names) {
    if (!name.ends_with("UNSPECIFIED")) known.emplace_back(name);
  }
  const std::string nearest = value.is_string() ? NearestName(value.get<std::string>(), known) : "";
  return "expected one of " + Join(known, ", ") + ", found " + Shown(value) + "." +
         (nearest.empty() ? "" : " Did you mean '" + nearest + "'?");
}

std::string NotAProtoDuration(std::string_view text, std::string_view seconds) {
  return "'" + std::string(text) + "' is not a duration in seconds. Write it as '" +
         (seconds.empty() ? "3600s" : std::string(seconds)) + "'.";
}

}  // namespace caip::client::submit_errors
