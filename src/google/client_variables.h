#pragma once
// Environment variables that lead Google's client libraries and tools to an emulator
// (docs/service/clients.md, sections 1 and 6). `endpoint` is "http://127.0.0.1:8080".

#include <string>
#include <utility>
#include <vector>

namespace caip::google {

using Variables = std::vector<std::pair<std::string, std::string>>;  // names are unique

/// For libraries that read and write Cloud Storage.
Variables StorageVariables(const std::string& endpoint);

/// For gcloud and gsutil. They keep their configuration in `config_directory`, or, if that is
/// empty, where they do by default: below HOME.
Variables GcloudVariables(const std::string& endpoint, const std::string& config_directory,
                          const std::string& project);

}  // namespace caip::google
