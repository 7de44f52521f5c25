#pragma once
// The databases of a state directory: their schema versions, and what they hold.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/result.h"

namespace caip::app {

/// A number of things that a database holds.
struct StoreCount {
  std::string_view noun;  // "unfinished jobs"
  const char* sql;        // selects the number
};

/// A database of the state directory.
struct Store {
  std::string_view name;  // "jobs"
  std::string_view file;  // "jobs.db", below the state directory
  int64_t version;        // the schema that this program writes; it reads this one and all earlier
  /// Opens the file as an emulator does, which brings an older schema to this one in one
  /// transaction.
  Status (*migrate)(const Path& file);
  std::vector<StoreCount> counts;
};

/// The directory of all buckets, and the database of the facts about objects that their files
/// cannot hold. Both are below the state directory.
inline constexpr const char* kBuckets = "buckets";
inline constexpr const char* kObjectRecords = "buckets.db";

/// All databases, in the order in which an emulator opens them.
const std::vector<Store>& Stores();

/// The layout of everything in the state directory that is not a database. A program refuses a
/// state with a greater number (version.json).
inline constexpr int64_t kStateLayout = 1;

/// The schema of a database. nullopt: there is no file, or it has no tables yet. kDataLoss: it is
/// not a database. Changes no file.
Result<std::optional<int64_t>> StoredVersion(const Path& file);

/// The schema in the file itself, without its write-ahead log. 0: the log has everything so far.
/// nullopt: there is no file, or it is not a database. Takes a tenth of the time that StoredVersion
/// takes.
std::optional<int64_t> VersionInHeader(const Path& file);

/// The schema in the write-ahead log of the file. nullopt: the log says nothing about it. As fast
/// as VersionInHeader.
std::optional<int64_t> VersionInLog(const Path& file);

/// What <state>/version.json records: the version of caip that used the state last.
struct LastWriter {
  std::string version;  // "0.2.0"
  std::string since;    // RFC 3339: when it first used the state
  int64_t layout = kStateLayout;
};

/// nullopt: no version is recorded, because only caip before 0.2 has used the state.
std::optional<LastWriter> ReadLastWriter(const Path& state);
/// Records this program, unless it is recorded.
Status RecordWriter(const Path& state, std::string_view version, std::string_view now);

}  // namespace caip::app
