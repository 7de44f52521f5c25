#pragma once
// The file of --config: read once, and its mistakes shown with their places.

#include <optional>
#include <string>

#include "base/result.h"
#include "base/yaml.h"
#include "client/submit_flags.h"

namespace caip::client {

class SubmitConfig {
 public:
  /// Errors: the file cannot be read, or is no YAML.
  static Result<SubmitConfig> Load(const std::string& path);

  /// For the merge; valid as long as this is.
  SubmitFile File() const;
  /// `error` with each violation on a line of its own, behind file, line and column.
  std::string Shown(const Error& error) const;
  /// A warning for each key that stands twice.
  std::string DuplicateWarnings() const;

 private:
  std::string PlaceOf(std::string pointer) const;

  std::string path_;
  YamlDocument document_;
};

/// `error` where there is no file: violations are flags.
std::string ShownWithoutFile(const Error& error);

}  // namespace caip::client
