#pragma once
// Flags and file of `custom-jobs create` and the CustomJob that gcloud makes of them
// (docs/vertex.md).

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.h"
#include "base/result.h"
#include "client/submit_flags.h"
#include "client/vertex/worker_pools.h"

namespace caip::client::vertex {

/// The flags that both kinds of jobs have.
struct JobFlags {
  std::string display_name;
  std::optional<std::string> network;
  std::optional<std::string> service_account;
  std::optional<bool> enable_web_access;  // the last of --enable-... and --no-enable-...
  std::optional<bool> enable_dashboard_access;
  std::optional<std::map<std::string, std::string>> labels;
  std::optional<std::string> kms_key;  // full resource name
};

/// The flags that become fields of a CustomJob, parsed and checked one by one.
struct CustomJobFlags : JobFlags {
  std::vector<PoolFlag> pools;  // in the order of the command line
  std::vector<std::string> python_package_uris;
  std::vector<std::string> args;  // empty: the file's stay
  std::vector<std::string> command;
  std::optional<std::string> persistent_resource_id;
};

/// Adds the words of --args or --command to those before. A repeated word is an error, as in
/// gcloud.
Status AddWords(const std::vector<std::string>& words, std::vector<std::string>& into);

/// Reads the file as gcloud's client does. An error has violations (JSON pointers into the file).
/// Its pools may hold infinity and NaN if those of the flags replace them.
Result<Json> ReadCustomJobSpec(const SubmitFile& file, const CustomJobFlags& flags);

/// Checks the pools of the flags, else those of the file, in gcloud's order.
Status CheckPools(const CustomJobFlags& flags, const Json& spec);

/// The CustomJob that gcloud sends: `flags` override `spec`, which is a read file or empty.
/// `image`: see PoolSpecs.
Json MergeCustomJob(const CustomJobFlags& flags, Json spec, const std::string& image);

/// An error if gcloud would do something with these flags and this file that the user cannot have
/// meant (`--strict`).
Status CheckCustomJobTraps(const CustomJobFlags& flags, const SubmitFile& file);

/// Adds the switches that cannot undo the file's true. `spec` is at `pointer` in the file.
void AddSwitchTraps(const JobFlags& flags, const Json& spec, const std::string& pointer,
                    std::vector<FieldViolation>& traps);

}  // namespace caip::client::vertex
