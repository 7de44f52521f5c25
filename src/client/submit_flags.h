#pragma once
// The client's half of `jobs submit training`: what gcloud makes of flags and a config file.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/json_fwd.h"
#include "base/result.h"
#include "client/gcloud_properties.h"

namespace caip::client {

/// --master-accelerator and its like: both keys are mandatory.
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

/// The flags that end up in the Job, parsed and checked one by one. Unset = not given.
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
  std::optional<std::vector<std::string>> user_args;  // set, maybe empty, when `--` was there
};

/// A config file, read. `dates` and `duplicates` are YamlDocument's.
struct SubmitFile {
  const Json* tree = nullptr;  // nullptr: --config was not given
  std::vector<std::string> dates;
  std::vector<std::string> duplicates;
};

/// --scale-tier as gcloud compares it: "standard-1", "STANDARD_1" and "Basic" are names of a tier;
/// "" where it is none. `valid` lists the choices as gcloud does.
std::string ScaleTierOfChoice(std::string_view choice);
const std::vector<std::string>& ScaleTierChoices();

/// The accelerator of `type=nvidia-tesla-t4`; "" where there is none.
std::string AcceleratorOfChoice(std::string_view choice);
const std::vector<std::string>& AcceleratorChoices();

/// True where the file is looked at before packages are built: for its scaleTier.
inline bool FileComesFirst(const SubmitFlags& flags) { return !flags.scale_tier; }

/// The first check: tier against --master-machine-type, image against --runtime-version. With a
/// file that comes first, its shape and its tier too.
Status CheckServerFlags(const SubmitFlags& flags, const SubmitFile& file);

/// The Job that gcloud would send: `flags` over `file`, `package_uris` over all. Errors with
/// violations (JSON pointers into the file) where gcloud crashes on the file.
Result<Json> MergeJob(const SubmitFlags& flags, const SubmitFile& file,
                      const std::vector<std::string>& package_uris);

/// What gcloud does with these words and this file that nobody can have meant: `--strict`.
Status CheckTraps(const SubmitFlags& flags, const SubmitFile& file);

// What the words of `jobs submit training` ask for, as values.

/// --kms-key and the parts that complete it when it is not a full resource name.
struct KmsFlags {
  std::optional<std::string> key;
  std::optional<std::string> keyring;
  std::optional<std::string> location;
  std::optional<std::string> project;
};

/// The job that a submit is to send, and where its parts come from.
struct SubmitRequest {
  GcloudContext gcloud;
  SubmitFlags flags;
  std::optional<std::string> config;          // --config FILE
  std::optional<std::string> package_path;    // --package-path DIR
  std::vector<std::string> packages;          // --packages a,b
  std::optional<std::string> staging_bucket;  // the bare bucket name
  KmsFlags kms;                               // becomes flags.kms_key once the project is known
  bool strict = false;                        // traps of the merge become errors
  Path package_cache;                         // built packages are kept there
};

/// Reads the words that follow `jobs submit training JOB`. Only the command line knows their
/// grammar; whoever has such words (a scenario) is given this function.
using ReadSubmitWords = std::function<Result<SubmitRequest>(const std::vector<std::string>& words)>;

}  // namespace caip::client
