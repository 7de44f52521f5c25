#include "client/vertex/custom_job.h"

#include <algorithm>
#include <utility>

#include "base/json.h"
#include "client/python_values.h"
#include "client/submit_errors.h"
#include "client/submit_typing.h"
#include "client/vertex/gcloud_messages.h"
#include "client/vertex/vertex_errors.h"

namespace caip::client::vertex {
namespace {

constexpr char kPools[] = "workerPoolSpecs";

std::vector<Json*> PoolsIn(Json& spec) {
  std::vector<Json*> pools;
  const auto found = spec.find(kPools);
  if (found == spec.end() || !found->is_array()) return pools;
  for (Json& pool : *found) pools.push_back(&pool);
  return pools;
}

void SetWords(Json& spec, const char* task, const char* field,
              const std::vector<std::string>& words) {
  if (words.empty()) return;
  for (Json* pool : PoolsIn(spec)) {
    const auto found = pool->find(task);
    if (found != pool->end() && found->is_object()) (*found)[field] = words;
  }
}

bool HasTask(const Json& pool, const char* task, std::initializer_list<const char*> fields) {
  const Json* part = Member(pool, task);
  return part && std::any_of(fields.begin(), fields.end(),
                             [&](const char* field) { return !StringOr(*part, field).empty(); });
}

// What gcloud's client says of a date, which it cannot write as JSON.
std::string NotSerializable(const Json& file, const std::string& date) {
  const Json::json_pointer place(date);
  const std::string text = file.contains(place) ? PythonStr(file.at(place)) : "";
  const std::string type = text.find(':') == text.npos ? "date" : "datetime";
  return "Object of type " + type + " is not JSON serializable";
}

// Each pool of a file runs a container or a package.
Status CheckFilePools(const Json& spec) {
  const Json* pools = Member(spec, kPools);
  for (size_t i = 0; pools && i < pools->size(); ++i) {
    const Json& pool = (*pools)[i];
    const bool container = HasTask(pool, "containerSpec", {"imageUri"});
    const bool package = HasTask(pool, "pythonPackageSpec", {"executorImageUri", "pythonModule"});
    if (container == package) {
      return errors::OneTaskRequired("/" + std::string(kPools) + "/" + std::to_string(i));
    }
  }
  return Ok{};
}

// The lists of the file that --args and --command replace.
void AddWordTraps(const CustomJobFlags& flags, const Json& file,
                  std::vector<FieldViolation>& traps) {
  const Json* pools = Member(file, kPools);
  if (!pools || !pools->is_array() || !flags.pools.empty()) return;
  for (size_t i = 0; i < pools->size(); ++i) {
    const std::string pool = "/" + std::string(kPools) + "/" + std::to_string(i);
    const auto add = [&](const char* task, const char* field, const char* flag, bool is_given) {
      const Json* part = Member((*pools)[i], task);
      if (!is_given || !part || !Member(*part, field)) return;
      traps.push_back(errors::FileWordsReplaced(pool + "/" + task + "/" + field, flag));
    };
    add("containerSpec", "args", "--args", !flags.args.empty());
    add("pythonPackageSpec", "args", "--args", !flags.args.empty());
    add("containerSpec", "command", "--command", !flags.command.empty());
  }
}

void AddPoolTraps(const CustomJobFlags& flags, std::vector<FieldViolation>& traps) {
  bool has_executor = false;
  for (const PoolFlag& pool : flags.pools) {
    const bool local = pool.Has("local-package-path");
    has_executor = has_executor || (pool.Has("executor-image-uri") && !local);
    if (pool.Has("output-image-uri") && !local) {
      traps.push_back(errors::PoolKeyUnused("output-image-uri", "local-package-path"));
    }
    if (pool.Has("container-image-uri") && local) {
      traps.push_back(errors::ContainerReplaced());
    }
    if (pool.Has("accelerator-count") && pool.Text("accelerator-type").empty()) {
      traps.push_back(errors::PoolKeyUnused("accelerator-count", "a value of accelerator-type"));
    }
  }
  if (!flags.python_package_uris.empty() && !has_executor) {
    traps.push_back(errors::PackagesUnused());
  }
}

bool AnyPoolHasContainer(const CustomJobFlags& flags, const Json* file) {
  const auto runs_container = [](const PoolFlag& pool) {
    return pool.Has("container-image-uri") || pool.Has("local-package-path");
  };
  if (!flags.pools.empty()) {
    return std::any_of(flags.pools.begin(), flags.pools.end(), runs_container);
  }
  const Json* pools = file ? Member(*file, kPools) : nullptr;
  if (!pools || !pools->is_structured()) return false;
  const Json list = pools->is_array() ? *pools : Json::array({*pools});
  return std::any_of(list.begin(), list.end(),
                     [](const Json& pool) { return Member(pool, "containerSpec") != nullptr; });
}

void AddFileTraps(const CustomJobFlags& flags, const SubmitFile& file,
                  std::vector<FieldViolation>& traps) {
  for (const std::string& key : file.duplicates) traps.push_back(submit_errors::DuplicateKey(key));
  if (!file.tree->is_object()) return;
  if (Member(*file.tree, "jobSpec")) traps.push_back(errors::NestedCustomJob("jobSpec"));
  if (Member(*file.tree, kPools) && !flags.pools.empty()) {
    traps.push_back(errors::FilePoolsReplaced());
  }
  AddWordTraps(flags, *file.tree, traps);
  AddSwitchTraps(flags, *file.tree, "", traps);
  for (FieldViolation& trap : TypeFileAs(CustomJobSpecMessage(), *file.tree).traps) {
    const bool is_known = std::any_of(traps.begin(), traps.end(), [&](const FieldViolation& one) {
      return one.field == trap.field;
    });
    if (!is_known) traps.push_back(std::move(trap));
  }
}

}  // namespace

Status AddWords(const std::vector<std::string>& words, std::vector<std::string>& into) {
  for (const std::string& word : words) {
    if (std::find(into.begin(), into.end(), word) != into.end()) return errors::WordRepeated(word);
    into.push_back(word);
  }
  return Ok{};
}

Result<Json> ReadCustomJobSpec(const SubmitFile& file, const CustomJobFlags& flags) {
  if (!file.tree) return Json(Json::object());
  const std::string replaced = flags.pools.empty() ? "" : "/" + std::string(kPools);
  TypedFile typed = TypeFileAs(CustomJobSpecMessage(), *file.tree, replaced);
  if (!file.dates.empty()) typed.crash = NotSerializable(*file.tree, file.dates.front());
  for (const std::string& date : file.dates) typed.faults.push_back(submit_errors::IsADate(date));
  if (typed.faults.empty()) return std::move(typed.job);
  return errors::SpecUnreadable(typed.crash, std::move(typed.faults));
}

Status CheckPools(const CustomJobFlags& flags, const Json& spec) {
  return flags.pools.empty() ? CheckFilePools(spec) : CheckPoolFlags(flags.pools);
}

Json MergeCustomJob(const CustomJobFlags& flags, Json spec, const std::string& image) {
  if (flags.network) spec["network"] = *flags.network;
  if (flags.service_account) spec["serviceAccount"] = *flags.service_account;
  if (flags.enable_web_access.value_or(false)) spec["enableWebAccess"] = true;
  if (flags.enable_dashboard_access.value_or(false)) spec["enableDashboardAccess"] = true;
  if (!flags.pools.empty()) {
    spec[kPools] = PoolSpecs(flags.pools, flags.python_package_uris, image);
  }
  SetWords(spec, "containerSpec", "args", flags.args);
  SetWords(spec, "pythonPackageSpec", "args", flags.args);
  SetWords(spec, "containerSpec", "command", flags.command);
  if (flags.persistent_resource_id && !flags.persistent_resource_id->empty()) {
    spec["persistentResourceId"] = *flags.persistent_resource_id;
  }
  Json job = Json::object();
  job["displayName"] = flags.display_name;
  job["jobSpec"] = std::move(spec);
  if (flags.kms_key) job["encryptionSpec"] = {{"kmsKeyName", *flags.kms_key}};
  if (flags.labels) job["labels"] = Json(*flags.labels);
  return job;
}

void AddSwitchTraps(const JobFlags& flags, const Json& spec, const std::string& pointer,
                    std::vector<FieldViolation>& traps) {
  const auto add = [&](const std::optional<bool>& given, const std::string& field,
                       const char* flag) {
    if (given && !*given && IsTrue(spec, field)) {
      traps.push_back(errors::SwitchCannotUnset(pointer + "/" + field, flag));
    }
  };
  add(flags.enable_web_access, "enableWebAccess", "--no-enable-web-access");
  add(flags.enable_dashboard_access, "enableDashboardAccess", "--no-enable-dashboard-access");
}

Status CheckCustomJobTraps(const CustomJobFlags& flags, const SubmitFile& file) {
  std::vector<FieldViolation> traps;
  AddPoolTraps(flags, traps);
  if (!flags.command.empty() && !AnyPoolHasContainer(flags, file.tree)) {
    traps.push_back(errors::CommandUnused());
  }
  if (file.tree) AddFileTraps(flags, file, traps);
  return traps.empty() ? Status(Ok{}) : Status(submit_errors::Traps(std::move(traps)));
}

}  // namespace caip::client::vertex
