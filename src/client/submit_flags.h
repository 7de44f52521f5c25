#pragma once
// The client's part of `jobs submit training`: merges flags and a config file into a Job, as gcloud
// does.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "client/gcloud_properties.h"
#include "client/kms_key.h"

namespace caip::client {

/// The value of --master-accelerator and similar flags. Both keys are mandatory.
struct AcceleratorFlag {
  std::string type;  // the API's name: "NVIDIA_TESLA_T4"
  int64_t count = 0;
  bool operator==(const AcceleratorFlag&) const = default;
};

/// The flags of one role.
struct RoleFlags {
  std::optional<std::string> machine_type;
  std::optional<int64_t> count;  // not for the master
  std::optional<std::string> image_uri;
  std::optional<AcceleratorFlag> accelerator;
  bool operator==(const RoleFlags&) const = default;
};

/// The flags that become fields of the Job, parsed and checked one by one. Unset: not given.
struct SubmitFlags {
  std::string job;
  std::optional<std::string> module_name;
  std::optional<std::string> job_dir;     // as the client sends it: "gs://bucket/" + object
  std::optional<std::string> region;      // flag or property compute/region
  std::optional<std::string> scale_tier;  // the API's name: "STANDARD_1"
  std::optional<std::string> runtime_version;
  std::optional<std::string> python_version;
  std::optional<std::string> service_account;
  std::optional<std::string> network;
  std::optional<std::string> kms_key;  // full resource name
  std::optional<std::string> tpu_tf_version;
  std::optional<bool> use_chief_in_tf_config;
  bool enable_web_access = false;
  RoleFlags master;
  RoleFlags worker;
  RoleFlags parameter_server;
  std::optional<std::map<std::string, std::string>> labels;
  std::optional<std::vector<std::string>> user_args;  // set, and may be empty, if `--` was given
};

/// A parsed config file. `dates` and `duplicates` are those of YamlDocument.
struct SubmitFile {
  const Json* tree = nullptr;  // nullptr: --config was not given
  std::vector<std::string> dates;
  std::vector<std::string> duplicates;
};

/// The tier that a value of --scale-tier names, as gcloud compares it: "standard-1", "STANDARD_1"
/// and "Basic" name tiers. "" for other values.
std::string ScaleTierOfChoice(std::string_view choice);
const std::vector<std::string>& ScaleTierChoices();

/// The accelerator that `type=nvidia-tesla-t4` names; "" for unknown names.
std::string AcceleratorOfChoice(std::string_view choice);
const std::vector<std::string>& AcceleratorChoices();

/// True if the file is read before packages are built, because its scaleTier is needed.
inline bool FileComesFirst(const SubmitFlags& flags) { return !flags.scale_tier; }

/// The first check: the tier with --master-machine-type, the image with --runtime-version. Checks
/// the form and the tier of a file that comes first, too.
Status CheckServerFlags(const SubmitFlags& flags, const SubmitFile& file);

/// The Job that gcloud would send: `flags` override `file`, and `package_uris` override both. If
/// gcloud would crash on the file, an error with violations (JSON pointers into the file).
Result<Json> MergeJob(const SubmitFlags& flags, const SubmitFile& file,
                      const std::vector<std::string>& package_uris);

/// An error if gcloud would do something with these flags and this file that the user cannot have
/// meant (`--strict`).
Status CheckTraps(const SubmitFlags& flags, const SubmitFile& file);

/// The arguments of `jobs submit training`.
struct SubmitRequest {
  GcloudContext gcloud;
  SubmitFlags flags;
  std::optional<std::string> config;          // --config FILE
  std::optional<std::string> package_path;    // --package-path DIR
  std::vector<std::string> packages;          // --packages a,b
  std::optional<std::string> staging_bucket;  // the bucket's name without gs://
  KmsFlags kms;                               // becomes flags.kms_key when the project is known
  bool strict = false;                        // traps (submit_errors) become errors
  Path package_cache;                         // the directory of built packages
};

}  // namespace caip::client
