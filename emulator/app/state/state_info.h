#pragma once
// What a state directory holds, without any change to it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.h"
#include "emulator/app/state/upgrade.h"
#include "host/store/state_directory.h"

namespace caip::app {

/// How a database's schema compares with the one that this program writes.
enum class SchemaAge { kMissing, kCurrent, kOld, kNewer, kDamaged };

struct DatabaseInfo {
  const Store* store = nullptr;
  SchemaAge age = SchemaAge::kMissing;
  int64_t version = 0;  // unless it is missing or damaged
  std::string problem;  // of a damaged one
  uint64_t bytes = 0;   // with its write-ahead log
  /// Without those that an old schema does not have.
  std::vector<std::pair<std::string_view, int64_t>> counts;
};

struct FolderInfo {
  std::string name;          // "buckets"
  uint64_t folders = 0;      // directly below it, without hidden ones
  uint64_t shown_files = 0;  // below these
  uint64_t files = 0;        // all
  uint64_t bytes = 0;
};

struct StateInfo {
  Path path;
  std::optional<host::StateOwner> owner;  // the emulator that uses it
  std::optional<LastWriter> last_writer;
  std::vector<DatabaseInfo> databases;  // in the order of Stores()
  std::vector<FolderInfo> folders;      // those that exist, by name
  std::vector<KeptCopy> copies;
  uint64_t bytes = 0;  // of everything
};

/// Reads a state, also while an emulator uses it. kNotFound: it does not exist. A database that
/// cannot be read is kDamaged.
Result<StateInfo> InspectState(const Path& state);

/// The form of `caip state info --json`.
Json StateInfoJson(const StateInfo& info);

/// "current", "old" and so on.
std::string_view SchemaAgeName(SchemaAge age);

}  // namespace caip::app
