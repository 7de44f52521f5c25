#pragma once
// What the words of `jobs submit training` ask for, as values.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/result.h"
#include "client/gcloud_properties.h"
#include "client/submit_flags.h"

namespace caip::client {

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
