#pragma once
// Tracebacks of replicas name files of the environment in which a package was installed. People
// want to open the files from which they built it.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json_fwd.h"
#include "base/result.h"

namespace caip::cli {

/// Notes in the state directory that the packages at `uris` were built from packages in the
/// directory `parent`: `parent`/trainer for --package-path trainer. Keeps the newest few hundred.
Status KeepPackageSource(const Path& state, const std::vector<std::string>& uris,
                         const Path& parent);

/// Replaces paths in texts for people. One thread.
class OwnPaths {
 public:
  /// Replaces nothing.
  OwnPaths() = default;
  /// Knows the sources that are noted in the state directory when a text first names a package.
  explicit OwnPaths(const Path& state);

  /// The text with <state>/environments/KEY/.../site-packages/trainer/task.py replaced by the file
  /// that the package was built from, if it still exists.
  std::string In(std::string text) const;
  /// Replaces paths in the message of a log entry.
  void ShowIn(Json& entry) const;

 private:
  const std::map<std::string, std::string>& Parents() const;
  std::string SourceOf(const std::string& key, const std::string& file) const;

  Path state_;
  mutable std::optional<std::map<std::string, std::string>> parents_;  // by URI; unset: not read
};

}  // namespace caip::cli
