#include "client/submit_flags.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "base/text.h"
#include "client/submit_errors.h"
#include "client/submit_typing.h"

namespace caip::client {
namespace {

std::vector<std::string> ChoicesOf(std::string_view enum_field) {
  std::vector<std::string> choices;
  for (std::string_view name : EnumNames(enum_field)) {
    choices.push_back(LowerCase(ReplaceAll(std::string(name), "_", "-")));
  }
  return choices;
}

// The enum name of a choice. Capital letters, and `_` for `-`, make no difference.
std::string NameOfChoice(std::string_view enum_field, std::string_view choice) {
  const std::string name = UpperCase(ReplaceAll(std::string(choice), "-", "_"));
  return IsKnownEnum(enum_field, Json(name)) ? name : "";
}

constexpr std::string_view kTier = "trainingInput.scaleTier";
constexpr std::string_view kAccelerator = "trainingInput.masterConfig.acceleratorConfig.type";

// True if Python's `if data:` treats the tree as false.
bool IsNothing(const Json& tree) {
  return tree.is_null() || tree == Json(false) || tree == Json("") ||
         (tree.is_number() && tree.get<double>() == 0) || (tree.is_structured() && tree.empty());
}

Json& ObjectAt(Json& object, const char* name) {
  Json& part = object[name];
  if (!part.is_object()) part = Json::object();
  return part;
}

template <typename T>
void Take(Json& into, const char* name, const std::optional<T>& value) {
  if (value) into[name] = *value;
}

void TakeCount(Json& into, const char* name, const std::optional<int64_t>& count) {
  if (count) into[name] = std::to_string(*count);
}

// Sets an enum field. A value that the client does not know stays beside the field and replaces it
// in the output.
void TakeEnum(Json& into, const char* name, std::string_view path, const std::string& value) {
  const auto found = into.find(name);
  if (found == into.end() || IsKnownEnum(path, *found)) into[name] = value;
}

void MergeConfig(Json& input, const char* name, const RoleFlags& role,
                 const std::optional<std::string>& tpu_tf_version) {
  const bool image = role.image_uri && !role.image_uri->empty();
  const bool tpu = tpu_tf_version && !tpu_tf_version->empty();
  if (!image && !role.accelerator && !tpu) return;
  Json& config = ObjectAt(input, name);
  if (image) config["imageUri"] = *role.image_uri;
  if (tpu) config["tpuTfVersion"] = *tpu_tf_version;
  if (!role.accelerator) return;
  Json& accelerator = ObjectAt(config, "acceleratorConfig");
  TakeEnum(accelerator, "type", kAccelerator, role.accelerator->type);
  accelerator["count"] = std::to_string(role.accelerator->count);
}

void MergeRoles(Json& input, const SubmitFlags& flags) {
  MergeConfig(input, "masterConfig", flags.master, std::nullopt);
  MergeConfig(input, "workerConfig", flags.worker, flags.tpu_tf_version);
  MergeConfig(input, "parameterServerConfig", flags.parameter_server, std::nullopt);
  Take(input, "masterType", flags.master.machine_type);
  Take(input, "workerType", flags.worker.machine_type);
  Take(input, "parameterServerType", flags.parameter_server.machine_type);
  TakeCount(input, "workerCount", flags.worker.count);
  TakeCount(input, "parameterServerCount", flags.parameter_server.count);
  Take(input, "useChiefInTfConfig", flags.use_chief_in_tf_config);
}

// Sets a list. An empty list is not sent.
void TakeList(Json& into, const char* name, const std::vector<std::string>& list) {
  if (list.empty()) {
    into.erase(name);
  } else {
    into[name] = list;
  }
}

void MergeInput(Json& input, const SubmitFlags& flags,
                const std::vector<std::string>& package_uris) {
  Take(input, "pythonModule", flags.module_name);
  if (flags.user_args) TakeList(input, "args", *flags.user_args);
  TakeList(input, "packageUris", package_uris);
  Take(input, "region", flags.region);
  Take(input, "jobDir", flags.job_dir);
  if (flags.scale_tier) TakeEnum(input, "scaleTier", kTier, *flags.scale_tier);
  Take(input, "runtimeVersion", flags.runtime_version);
  Take(input, "pythonVersion", flags.python_version);
  Take(input, "network", flags.network);
  Take(input, "serviceAccount", flags.service_account);
  input["enableWebAccess"] = flags.enable_web_access;
  if (flags.kms_key && !flags.kms_key->empty()) {
    ObjectAt(input, "encryptionConfig")["kmsKeyName"] = *flags.kms_key;
  }
  MergeRoles(input, flags);
}

bool RunsContainer(const Json& input) {
  const Json* config = Member(input, "masterConfig");
  return config && !StringOr(*config, "imageUri").empty();
}

const Json* FileInput(const SubmitFile& file) {
  return file.tree ? Member(*file.tree, "trainingInput") : nullptr;
}

bool IsNonEmptyList(const Json* value) {
  return value && ((value->is_array() && !value->empty()) || value->is_string());
}

// The tier of a file that is read first, compared with the spellings of the flag.
Result<std::string> TierOfFile(const Json& tree) {
  if (!tree.is_object())
    return submit_errors::FileDoesNotFit({submit_errors::NotAMapping("", tree)});
  const Json* input = Member(tree, "trainingInput");
  if (!input) return std::string();
  if (!input->is_object()) {
    return submit_errors::FileDoesNotFit({submit_errors::NotAMapping("/trainingInput", *input)});
  }
  const Json* tier = Member(*input, "scaleTier");
  if (!tier) return std::string();
  if (tier->is_structured()) {
    return submit_errors::FileDoesNotFit(
        {submit_errors::WrongType("/trainingInput/scaleTier", "text", *tier)});
  }
  return tier->is_string() ? tier->get<std::string>() : std::string();
}

void InputTraps(const SubmitFlags& flags, const Json& input, std::vector<FieldViolation>& traps) {
  if (IsNonEmptyList(Member(input, "packageUris")))
    traps.push_back(submit_errors::PackageUrisDiscarded());
  const Json* web = Member(input, "enableWebAccess");
  if (web && *web == Json(true) && !flags.enable_web_access) {
    traps.push_back(submit_errors::WebAccessOverwritten());
  }
  const std::string region = StringOr(input, "region");
  if (!region.empty() && region != flags.region.value_or("")) {
    traps.push_back(submit_errors::RegionIgnored(region, flags.region.value_or("")));
  }
  if (IsNonEmptyList(Member(input, "args")) && flags.user_args && flags.user_args->empty()) {
    traps.push_back(submit_errors::ArgsErased());
  }
  const Json* tier = Member(input, "scaleTier");
  if (tier && flags.scale_tier && !IsKnownEnum(kTier, *tier)) {
    traps.push_back(
        submit_errors::UnknownEnumBeatsFlag("/trainingInput/scaleTier", "--scale-tier"));
  }
}

void LabelTraps(const SubmitFlags& flags, const Json& tree, std::vector<FieldViolation>& traps) {
  const Json* labels = Member(tree, "labels");
  if (!labels || !labels->is_object() || !flags.labels) return;
  std::vector<std::string> lost;
  for (const auto& [key, value] : labels->items()) {
    if (!flags.labels->contains(key)) lost.push_back(key);
  }
  if (!lost.empty()) traps.push_back(submit_errors::LabelsReplaced(lost));
}

bool IsJobDir(const std::string& word) {
  return word == "--job-dir" || word.starts_with("--job-dir=");
}

// A flag that names packages or an image, and stands among the trainer's arguments; "" if none
// does.
std::string LatePackageFlag(const SubmitFlags& flags) {
  for (const std::string& word : flags.user_args.value_or(std::vector<std::string>{})) {
    const std::string name = word.substr(0, word.find('='));
    for (const char* flag : {"--package-path", "--packages", "--master-image-uri"}) {
      if (name == flag) return name;
    }
  }
  return "";
}

}  // namespace

const std::vector<std::string>& ScaleTierChoices() {
  static const std::vector<std::string> choices = ChoicesOf(kTier);
  return choices;
}

std::string ScaleTierOfChoice(std::string_view choice) { return NameOfChoice(kTier, choice); }

const std::vector<std::string>& AcceleratorChoices() {
  static const std::vector<std::string> choices = [] {
    std::vector<std::string> all = ChoicesOf(kAccelerator);
    all.erase(all.begin());  // "unspecified" is accepted but not offered
    std::sort(all.begin(), all.end());
    return all;
  }();
  return choices;
}

std::string AcceleratorOfChoice(std::string_view choice) {
  return NameOfChoice(kAccelerator, choice);
}

Status CheckServerFlags(const SubmitFlags& flags, const SubmitFile& file) {
  std::string tier;
  if (file.tree && FileComesFirst(flags)) {
    ASSIGN_OR_RETURN(tier, TierOfFile(*file.tree));
  }
  const auto given = [](const std::optional<std::string>& flag) { return flag && !flag->empty(); };
  if (given(flags.master.image_uri) && given(flags.runtime_version)) {
    return submit_errors::ImageAndRuntimeVersion();
  }
  const bool from_file = tier == "custom";  // the spelling of the flag, so only in lower case
  if ((from_file || flags.scale_tier == "CUSTOM") && !given(flags.master.machine_type)) {
    return submit_errors::CustomTierNeedsMachineType(from_file);
  }
  return Ok{};
}

Result<Json> MergeJob(const SubmitFlags& flags, const SubmitFile& file,
                      const std::vector<std::string>& package_uris) {
  TypedFile typed;
  typed.job = Json::object();
  if (file.tree && !IsNothing(*file.tree)) typed = TypeFile(*file.tree);
  for (const std::string& date : file.dates) typed.faults.push_back(submit_errors::IsADate(date));
  if (!typed.faults.empty()) return submit_errors::FileDoesNotFit(std::move(typed.faults));

  Json job = std::move(typed.job);
  if (!flags.job.empty()) job["jobId"] = flags.job;
  if (flags.labels) job["labels"] = Json(*flags.labels);
  Json& input = ObjectAt(job, "trainingInput");
  MergeInput(input, flags, package_uris);
  if (package_uris.empty() && !RunsContainer(input)) {
    const Json* before = FileInput(file);
    return submit_errors::NoPackages(before && IsNonEmptyList(Member(*before, "packageUris")),
                                     LatePackageFlag(flags));
  }
  return job;
}

Status CheckTraps(const SubmitFlags& flags, const SubmitFile& file) {
  std::vector<FieldViolation> traps;
  if (flags.user_args && std::any_of(flags.user_args->begin(), flags.user_args->end(), IsJobDir)) {
    traps.push_back(submit_errors::JobDirAmongUserArgs());
  }
  if (file.tree && file.tree->is_object()) {
    for (const std::string& key : file.duplicates)
      traps.push_back(submit_errors::DuplicateKey(key));
    const std::string job_id = StringOr(*file.tree, "jobId");
    if (!job_id.empty() && job_id != flags.job) {
      traps.push_back(submit_errors::JobIdIgnored(job_id, flags.job));
    }
    LabelTraps(flags, *file.tree, traps);
    if (const Json* input = FileInput(file)) InputTraps(flags, *input, traps);
    TypedFile typed = TypeFile(*file.tree);
    traps.insert(traps.end(), typed.traps.begin(), typed.traps.end());
  }
  if (!traps.empty()) return submit_errors::Traps(std::move(traps));
  return Ok{};
}

}  // namespace caip::client
